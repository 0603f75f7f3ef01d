// Columns of Parquet files read.
#include <atomic>
#include <deque>

#include "lang/diagnostic.h"
#include "runtime/device/workers.h"
#include "runtime/io/arrow/parquet_scan.h"
#include "runtime/io/os_error.h"
#include "runtime/primitives/operator_report.h"
#include "runtime/primitives/scratch.h"

namespace gasell::arrow {

/// A field that is being read.
struct ParquetScan::Target {
  explicit Target(ParquetField& f) : field(f) {}
  ParquetField& field;
  std::optional<frame::NewValues> values, validity;
  std::optional<TextRows> text_rows;
  std::vector<std::vector<TextPart>> texts;  // a group; where there are no text_rows
  std::atomic<bool> as_said = true;          // the bytes of text_rows
};

template <class F>
void ParquetScan::read_chunk(const ParquetField& field, const RowGroup& group, bool coded, const F& f) {
  const GasellArrow& library = plugin();
  ArrowProblem problem{};
  Stream stream;
  const auto place = static_cast<int64_t>(place_of(*group.file, field.name));
  const int kind =
      library.parquet_read(group.file->file.get(), group.group, place, coded ? kCodedTexts : kPlainTexts, stream.get(), &problem);
  if (kind != kArrowFine && group.file->elsewhere) group.file->elsewhere->rethrow();
  check(kind, problem, group.file->path, field.name);
  const auto damaged = [&](const std::string& why) {
    return Error("ValueError", in_quotes(group.file->path.string()) + ", column " + in_quotes(field.name) + ": " + why);
  };
  const auto ask = [&](int failed) {
    if (!failed) return;
    if (group.file->elsewhere) group.file->elsewhere->rethrow();
    const char* const why = stream->get_last_error(stream.get());
    throw damaged(why ? why : "cannot be read");
  };
  Schema schema;
  ask(stream->get_schema(stream.get(), schema.get()));
  // Texts come as codes or as they are; what the schema of the file says of categories holds for the pieces, too.
  const auto type = schema->n_children == 1 ? field_type(*schema->children[0]) : std::nullopt;
  if (!type) throw damaged("its type changed");
  const FieldType& layout = *type;
  int64_t row = 0;
  while (true) {
    check_interrupt(engine_);
    ArrayData piece;
    ask(stream->get_next(stream.get(), piece.get()));
    if (!piece) break;
    if (piece->n_children != 1 || piece->length > group.rows - row) throw damaged("it has more values than its row group has rows");
    const int64_t count = piece->length;
    const ArrowArray& array = *piece->children[0];
    f(layout, piece, array, group.first_row + row);
    row += count;
  }
  if (row != group.rows)
    throw damaged("it has " + std::to_string(row) + " values, but its row group has " + std::to_string(group.rows) + " rows");
}

void ParquetScan::read_targets(const std::vector<Target*>& targets) {
  const auto width = static_cast<int64_t>(targets.size());
  in_parallel(static_cast<int64_t>(groups_.size()) * width, [&](int64_t task) {
    const auto g = static_cast<size_t>(task / width);
    Target& t = *targets[static_cast<size_t>(task % width)];
    const ParquetField& field = t.field;
    if (t.text_rows) {
      int64_t at = field.text_begins[g];
      const int64_t end = field.text_begins[g + 1];
      bool fits = t.as_said;
      if (fits)
        read_chunk(field, groups_[g], false, [&](const FieldType& layout, const ArrayData&, const ArrowArray& array, int64_t row) {
          fits = fits && t.text_rows->put(layout, array, row, at, end, field.name);
        });
      if (!fits || at != end) t.as_said = false;
      return;
    }
    const bool is_text = field.is_text();
    const bool coded = is_text && field.coded[g];
    read_chunk(field, groups_[g], coded, [&](const FieldType& layout, ArrayData& piece, const ArrowArray& array, int64_t row) {
      if (is_text)
        t.texts[g].push_back({std::move(piece), &array, layout, row});
      else
        put_values(layout, array, t.values->as<char>(), t.validity ? t.validity->as<bool>() : nullptr, row, field.name);
    });
  });
}

void ParquetScan::read_announced() {
  std::deque<Target> targets;
  std::vector<Target*> all, again;
  for (ParquetField& field : fields_) {
    if (!std::exchange(field.announced, false) || field.is_read) continue;
    Target& t = targets.emplace_back(field);
    all.push_back(&t);
    if (!field.text_begins.empty()) {
      t.text_rows.emplace(engine_, rows_, field.text_begins.back());
    } else if (field.is_text()) {
      t.texts.resize(groups_.size());
    } else {
      t.values.emplace(engine_, field.type.type.dtype, rows_);
      if (field.has_validity) t.validity.emplace(engine_, DType::boolean, rows_);
    }
  }
  OperatorTimer timer("scan", rows_);
  read_targets(all);
  for (Target* t : all) {
    if (t->as_said) continue;
    t->text_rows.reset();
    t->texts.resize(groups_.size());
    again.push_back(t);
  }
  read_targets(again);
  for (Target& t : targets) {
    ParquetField& field = t.field;
    if (field.is_text()) {
      std::vector<TextPart> parts;
      for (auto& of_group : t.texts)
        for (TextPart& part : of_group) parts.push_back(std::move(part));
      JoinedTexts joined = t.text_rows ? t.text_rows->finish()
                                       : join_texts(engine_, parts, rows_, field.type.type.logical == frame::Logical::category, field.name);
      field.values = joined.codes.storage;
      field.texts = std::move(joined.dictionary);
    } else {
      field.values = t.values->storage;
      if (t.validity) field.validity = t.validity->storage;
    }
    field.is_read = true;
  }
  timer.finish(rows_, counted(targets.size(), "column"));
}

}  // namespace gasell::arrow
