// Arrow IPC and ORC files as columns, read and written as a whole.
#include <algorithm>
#include <climits>
#include <cstring>

#include "lang/diagnostic.h"
#include "runtime/device/sandbox.h"
#include "runtime/io/arrow/decode.h"
#include "runtime/io/arrow/encode.h"
#include "runtime/io/arrow/pandas_metadata.h"
#include "runtime/io/arrow/sink.h"
#include "runtime/io/arrow/source.h"
#include "runtime/io/arrow/tables.h"
#include "runtime/io/os_error.h"
#include "runtime/primitives/scratch.h"

namespace gasell::arrow {
namespace {

/// The pieces of a table, which live as long as what is made of them.
struct Pieces {
  Schema schema;
  std::vector<std::shared_ptr<ArrayData>> arrays;
  int64_t rows = 0;
};

/// A piece of another library's may be a part of its columns: afterwards they are of the piece's rows.
void check_piece(const Schema& schema, ArrayData& piece, const std::string& shown) {
  if (piece->n_children != schema->n_children)
    throw Error("ValueError", in_quotes(shown) + " has another number of columns than its schema");
  if (piece->null_count > 0)
    throw Error("NotImplementedError", in_quotes(shown) + " has rows that are missing as a whole, which is not in Gasell's frames", {},
                Blame::limitation);
  for (int64_t k = 0; k < piece->n_children; ++k) {
    ArrowArray& child = *piece->children[k];
    if (child.length < piece->offset + piece->length)
      throw Error("ValueError", in_quotes(shown) + " has a column of fewer rows than the table");
    if (piece->offset > 0 && child.null_count != 0) child.null_count = -1;  // of the whole column
    child.offset += piece->offset;
    child.length = piece->length;
  }
  piece->offset = 0;
}

Pieces read_pieces(Engine& engine, Stream& stream, const std::string& shown) {
  Pieces pieces;
  const auto ask = [&](int failed) {
    if (!failed) return;
    const char* const why = stream->get_last_error(stream.get());
    throw Error("ValueError", in_quotes(shown) + ": " + (why ? why : "cannot be read"));
  };
  ask(stream->get_schema(stream.get(), pieces.schema.get()));
  while (true) {
    check_interrupt(engine);
    auto piece = std::make_shared<ArrayData>();
    ask(stream->get_next(stream.get(), piece->get()));
    if (!*piece) return pieces;
    check_piece(pieces.schema, *piece, shown);
    pieces.rows = added_rows(pieces.rows, (*piece)->length, shown);
    pieces.arrays.push_back(std::move(piece));
  }
}

/// The values of a column where they lie, if they lie as ours do and none is missing; else null.
graph::NodeRef lent_values(const std::shared_ptr<ArrayData>& piece, int64_t k, const FieldType& type, const Lender& lender) {
  const ArrowArray& array = *(*piece)->children[k];
  if (!lies_as_ours(type, array)) return nullptr;
  const int width = size_of(type.type.dtype);
  const char* const data = static_cast<const char*>(array.buffers[1]) + array.offset * width;
  const int64_t count = (*piece)->length;
  if (lender) return lender(data, type.type.dtype, count);
  HostStorageRef storage = external(const_cast<char*>(data), count * width, false, [piece] {});
  return graph::buffer(std::move(storage), type.type.dtype, {count}, {1}, 0);
}

frame::Column column_of_pieces(Engine& engine, const Pieces& pieces, int64_t k, const FieldType& type, const std::string& name,
                               const Lender& lender) {
  frame::Column column;
  column.type = type.type;
  if (type.type.has_codes()) {
    std::vector<TextPart> parts;
    int64_t row = 0;
    for (const auto& piece : pieces.arrays) {
      parts.push_back({{}, (*piece)->children[k], type, row});
      row += (*piece)->length;
    }
    JoinedTexts joined = join_texts(engine, parts, pieces.rows, type.type.logical == frame::Logical::category, name);
    column.values = joined.codes.node();
    if (type.type.logical == frame::Logical::text)
      column.dictionary = std::move(joined.dictionary);
    else
      column.categories = std::make_shared<frame::Column>(frame::text_column(engine, std::move(joined.dictionary)));
    return column;
  }
  if (pieces.arrays.size() == 1)
    if (const graph::NodeRef lent = lent_values(pieces.arrays[0], k, type, lender)) {
      column.values = lent;
      return column;
    }
  const bool any_missing = !tells_missing(type) && std::any_of(pieces.arrays.begin(), pieces.arrays.end(),
                                                               [&](const auto& p) { return (*p)->children[k]->null_count != 0; });
  frame::NewValues values(engine, type.type.dtype, pieces.rows);
  std::optional<frame::NewValues> validity;
  if (any_missing) validity.emplace(engine, DType::boolean, pieces.rows);
  int64_t row = 0;
  for (const auto& piece : pieces.arrays) {
    put_values(type, *(*piece)->children[k], values.as<char>(), validity ? validity->as<bool>() : nullptr, row, name);
    row += (*piece)->length;
  }
  column.values = values.node();
  if (validity) column.validity = validity->node();
  return column;
}

/// The type of categories that are numbers or times, which Parquet files have not; nothing for other types.
std::optional<FieldType> number_categories(const ArrowSchema& schema) {
  const auto values = schema.dictionary ? field_type(*schema.dictionary) : std::nullopt;
  const auto codes = values && !values->type.has_codes() ? field_type(ArrowSchema{schema.format}) : std::nullopt;
  return codes && is_integer(codes->type.dtype) ? values : std::nullopt;
}

frame::Column categories_of_pieces(Engine& engine, const Pieces& pieces, int64_t k, const FieldType& type, const std::string& name) {
  const ArrowSchema& schema = *pieces.schema->children[k];
  const FieldType code_type = *field_type(ArrowSchema{schema.format});
  const ArrowArray* const first = pieces.arrays.empty() ? nullptr : (*pieces.arrays[0])->children[k]->dictionary;
  const auto values_of = [&](const ArrowArray* dictionary) {
    frame::NewValues values(engine, type.type.dtype, dictionary ? dictionary->length : 0);
    if (dictionary) put_values(type, *dictionary, values.as<char>(), nullptr, 0, name);
    return values;
  };
  frame::NewValues values = values_of(first);
  frame::NewValues codes(engine, DType::i32, pieces.rows);
  int32_t* to = codes.as<int32_t>();
  for (const auto& piece : pieces.arrays) {
    const ArrowArray& array = *(*piece)->children[k];
    frame::NewValues own = values_of(array.dictionary);
    if (own.count != values.count ||
        std::memcmp(own.as<char>(), values.as<char>(), static_cast<size_t>(own.count * size_of(own.dtype))) != 0)
      throw Error("NotImplementedError", "column " + in_quotes(name) + " has other categories in other parts of the file");
    frame::NewValues wide(engine, code_type.type.dtype, array.length), valid(engine, DType::boolean, array.length);
    put_values(code_type, array, wide.as<char>(), valid.as<bool>(), 0, name);
    for (int64_t i = 0; i < array.length; ++i) {
      const int64_t code = Scalar::load(wide.as<char>() + i * size_of(wide.dtype), wide.dtype).i;
      if (valid.as<bool>()[i] && (code < 0 || code >= values.count))
        throw Error("ValueError", "column " + in_quotes(name) + " of the file is damaged: its codes lie outside of its categories");
      *to++ = valid.as<bool>()[i] ? static_cast<int32_t>(code) : -1;
    }
  }
  frame::Column column{{frame::Logical::category, DType::i32}, codes.node()};
  column.type.ordered = schema.flags & ARROW_FLAG_DICTIONARY_ORDERED;
  column.categories = std::make_shared<frame::Column>(frame::Column{type.type, values.node()});
  return column;
}

}  // namespace

Table read_table(Engine& engine, Format format, const std::filesystem::path& path, const std::optional<std::vector<std::string>>& columns,
                 const remote::StorageOptions& storage) {
  require_plugins("reading files of Arrow and ORC");
  if (!remote::is_remote(path.string())) require_readable(path);
  const GasellArrow& library = plugin();
  std::vector<const char*> names;
  if (columns)
    for (const std::string& name : *columns) names.push_back(name.c_str());
  Stream stream;
  ArrowProblem problem{};
  const RemoteSourceRef elsewhere = remote_source(engine, path, storage);
  ArrowSource lent{};
  if (elsewhere) lent = elsewhere->lend();
  const int kind = library.table_read(format == Format::orc ? kOrc : kFeather, path.c_str(), elsewhere ? &lent : nullptr,
                                      columns ? names.data() : nullptr, static_cast<int64_t>(names.size()), stream.get(), &problem);
  if (elsewhere) elsewhere->rethrow();
  check(kind, problem, path);
  return read_stream(engine, std::move(stream), path.string());
}

Table read_stream(Engine& engine, Stream stream, const std::string& shown, const Lender& lender) {
  const Pieces pieces = read_pieces(engine, stream, shown);
  const PandasNote note = read_pandas_note(metadata_value(*pieces.schema, "pandas"));
  Table table;
  table.rows = pieces.rows;
  table.labels = note.labels;
  table.integer_names = note.integer_names;
  if (note.label_columns.size() > 1)
    throw Error("NotImplementedError", in_quotes(shown) + " has an index of several levels, which is not in Gasell",
                "write it with reset_index()");
  for (int64_t k = 0; k < pieces.schema->n_children; ++k) {
    const ArrowSchema& child = *pieces.schema->children[k];
    auto type = field_type(child);
    const auto of_numbers = number_categories(child);
    if (of_numbers) {
      table.names.emplace_back(child.name);
      table.columns.push_back(categories_of_pieces(engine, pieces, k, *of_numbers, child.name));
      continue;
    }
    if (!type)
      throw Error(
          "NotImplementedError",
          in_quotes(shown) + ": column " + in_quotes(child.name) + " is of type " + shown_type(child) + ", which is not in Gasell's frames",
          "columns=[…] reads the others");
    if (const auto noted = note.types.find(child.name); noted != note.types.end() && type->type.is_number() && !noted->second.empty())
      type->type.nullable = std::isupper(static_cast<unsigned char>(noted->second[0])) || noted->second == "boolean";
    table.names.emplace_back(child.name);
    table.columns.push_back(column_of_pieces(engine, pieces, k, *type, child.name, lender));
  }
  if (table.labels.kind == RowLabels::Kind::column &&
      std::find(table.names.begin(), table.names.end(), table.labels.column) == table.names.end())
    table.labels = {};
  return table;
}

namespace {

/// Rows of a table as a stream; lives as long as the stream.
struct Rows {
  const Encoder* encoder;
  std::string note;
  int64_t rows_a_piece, next = 0;
  bool begun = false;  // a table without rows is one empty piece: ORC takes its columns from the first
  std::string error;
};

template <class F>
int answer(ArrowArrayStream* stream, const F& f) noexcept {
  Rows& rows = *static_cast<Rows*>(stream->private_data);
  try {
    f(rows);
    return 0;
  } catch (const std::exception& error) {
    rows.error = error.what();
    return 5;  // EIO
  }
}

template <class T>
void hand_over(Owned<T> from, T* to) {
  *to = *from;
  from->release = nullptr;
}

}  // namespace

Stream write_stream(Engine& engine, const Table& table) {
  struct Whole {
    Encoder encoder;
    std::string note;
    ArrayData rows;
  };
  auto whole = std::make_unique<Whole>(Whole{Encoder(engine, table.names, table.columns, true), write_pandas_note(engine, table), {}});
  whole->rows = whole->encoder.rows(0, whole->encoder.size());
  Stream stream;
  stream->get_schema = [](ArrowArrayStream* s, ArrowSchema* out) {
    try {
      auto& w = *static_cast<Whole*>(s->private_data);
      hand_over(w.encoder.schema(w.note), out);
      return 0;
    } catch (const std::exception&) {
      return 12;  // ENOMEM
    }
  };
  stream->get_next = [](ArrowArrayStream* s, ArrowArray* out) {
    auto& w = *static_cast<Whole*>(s->private_data);
    *out = *w.rows;
    w.rows->release = nullptr;
    return 0;
  };
  stream->get_last_error = [](ArrowArrayStream*) -> const char* { return "out of memory"; };
  stream->release = [](ArrowArrayStream* s) {
    delete static_cast<Whole*>(s->private_data);
    s->release = nullptr;
  };
  stream->private_data = whole.release();
  return stream;
}

void write_table(Engine& engine, Format format, const std::filesystem::path& path, const Table& table, const WriteOptions& options) {
  require_plugins("writing files of Arrow and ORC");
  const GasellArrow& library = plugin();
  const std::string note = write_pandas_note(engine, table);
  const Encoder encoder(engine, table.names, table.columns, true);
  Rows rows{&encoder, note, 1 << 16, 0, false, {}};
  ArrowArrayStream stream{};
  stream.get_schema = [](ArrowArrayStream* s, ArrowSchema* out) {
    return answer(s, [&](Rows& r) { hand_over(r.encoder->schema(r.note), out); });
  };
  stream.get_next = [](ArrowArrayStream* s, ArrowArray* out) {
    return answer(s, [&](Rows& r) {
      const int64_t end = std::min(r.encoder->size(), r.next + r.rows_a_piece);
      if (r.next == end && r.begun) {
        *out = ArrowArray{};
        return;
      }
      hand_over(r.encoder->rows(r.next, end), out);
      r.begun = true;
      r.next = end;
    });
  };
  stream.get_last_error = [](ArrowArrayStream* s) -> const char* { return static_cast<Rows*>(s->private_data)->error.c_str(); };
  stream.release = [](ArrowArrayStream* s) { s->release = nullptr; };
  stream.private_data = &rows;
  const ArrowWriting how{options.codec.c_str(), options.level.value_or(INT_MIN)};
  FileSink sink(path);
  ArrowProblem problem{};
  sink.check(library.table_write(format == Format::orc ? kOrc : kFeather, sink.sink(), &stream, &how, &problem), problem);
  sink.commit();
}

}  // namespace gasell::arrow
