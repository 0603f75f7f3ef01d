#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "lang/diagnostic.h"
#include "runtime/device/workers.h"
#include "runtime/frame/dictionary.h"
#include "runtime/frame/operator_report.h"
#include "runtime/io/csv/blocks.h"
#include "runtime/io/csv/column_reader.h"
#include "runtime/io/csv/csv.h"
#include "runtime/io/csv/layout.h"
#include "runtime/io/csv/scan.h"
#include "runtime/io/csv/text.h"
#include "runtime/io/csv/tokenizer.h"
#include "runtime/io/csv/utf8.h"
#include "runtime/io/os_error.h"

namespace gasell::csv {
namespace {

constexpr int64_t kChunkBytes = 64 << 10;
constexpr int64_t kReadable = 32;  // bytes behind a chunk
constexpr size_t kSampledBlocks = 24;
constexpr int kSampledRows = 100;
constexpr int kFewRows = 16;  // of the other blocks of large files

/// A block of one of the texts; its rows are counted over all texts.
struct Piece {
  const Text* text;
  Block block;
};

/// What one thread works with.
struct Scratch {
  std::vector<uint32_t> positions;
  std::string text;
  Fields fields;
};

class Scan : public std::enable_shared_from_this<Scan> {
 public:
  Scan(Engine& engine, std::vector<Text> texts, const CsvOptions& options, const std::function<void(const std::string&)>& warn);
  /// All columns; those of large files are read when somebody looks at them, together with others that are wanted then.
  CsvTable read();

 private:
  /// What is known of a column before it is read.
  struct Known {
    int64_t field = 0;
    ValueRules rules;
    Kind kind = Kind::nothing;
    bool missing = false;  // values of it are missing
    bool is_later = false;
    DateFormat dates;
    std::optional<WantedType> wanted;
    bool announced = false;
    std::optional<frame::Column> column;  // read, but not taken
  };
  struct Wanted {
    int64_t field;
    size_t reader;
    ColumnPart* part;
  };

  void drop_lines();
  void find_pieces();
  void keep_rows(int64_t begin_dropped);
  ValueRules rules_of(int64_t field) const;
  std::optional<WantedType> type_of(int64_t field) const;
  void look_at_samples();
  bool reads_later() const;
  frame::Column later(size_t column);
  /// A part of a column that is to be there, which is read if it is not.
  template <class F>
  auto part_of(size_t column, const F& take);
  std::vector<frame::Column> load(const std::vector<size_t>& columns);
  void in_order(const std::function<void(size_t)>& f);
  void read_piece(const Piece& piece, std::vector<Wanted> wanted);
  void read_chunk(const Chunk& chunk, const Piece& piece, int64_t row, const std::vector<Wanted>& wanted);
  /// Lines of a piece from `at` on, a byte at a time; returns the rows.
  int64_t read_lines(const Piece& piece, const char*& at, int64_t rows_left, Scratch& scratch);
  [[noreturn]] void refuse_long(const Piece& piece, const char* at, int64_t found) const;
  [[noreturn]] void refuse_value(const Piece& piece, int64_t field, const WrongValue& wrong) const;
  int64_t line_of(const Piece& piece, const char* at) const;
  std::unique_ptr<Scratch> take_scratch();
  void give_scratch(std::unique_ptr<Scratch> scratch);

  Engine& engine_;
  std::vector<Text> texts_;
  CsvOptions options_;
  const std::function<void(const std::string&)> warn_;
  Layout layout_;
  std::vector<Layout> layouts_;  // one a text
  std::vector<Piece> pieces_;
  int64_t rows_ = 0;
  std::vector<Known> columns_;                          // one a wanted field
  std::vector<std::unique_ptr<ColumnReader>> readers_;  // of the columns that are being read
  std::mutex later_mutex_;                              // of what is read later: columns_ and readers_
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> scratches_;
};

std::string shown_file(const Text& text) { return text.shown.empty() ? "the text" : in_quotes(text.shown); }

Scan::Scan(Engine& engine, std::vector<Text> texts, const CsvOptions& options, const std::function<void(const std::string&)>& warn)
    : engine_(engine), texts_(std::move(texts)), options_(options), warn_(warn) {
  if (!options_.skip_lines.empty()) drop_lines();
  if (options_.sniff_separator) options_.dialect.separator = sniffed_separator(texts_[0], options_);
  for (const Text& text : texts_) {
    try {
      layouts_.push_back(layout_of(text, options_));
    } catch (Error& error) {
      if (!text.shown.empty() && error.diagnostic().hint.empty()) error.diagnostic().hint = "in " + in_quotes(text.shown);
      throw;
    }
    if (layouts_.back().names != layouts_[0].names)
      throw Error("ValueError", "The columns of " + in_quotes(text.shown) + " are not those of " + in_quotes(texts_[0].shown),
                  "files that are read together have the same header; usecols= and names= may make them equal");
  }
  layout_ = layouts_[0];
  for (const ColumnKey& key : options_.dates)
    if (find_column(layout_, key) < 0)
      throw Error("ValueError",
                  "Missing column provided to 'parse_dates': '" + (key.position >= 0 ? std::to_string(key.position) : key.name) + "'");
  find_pieces();
  look_at_samples();
}

/// Copies each text without the lines that skiprows lists.
void Scan::drop_lines() {
  for (Text& text : texts_) {
    auto kept = std::make_shared<std::string>();
    Dialect lines = options_.dialect;
    lines.skip_blank_lines = false;
    lines.comment = 0;
    const char* at = text.begin;
    int64_t line = 0;
    for (const int64_t dropped : options_.skip_lines) {
      for (; line <= dropped && at < text.end; ++line) {
        const char* const begin = at;
        skip_line(lines, at, text.end);
        if (line < dropped)
          kept->append(begin, at);
        else
          ++text.dropped_lines;
      }
    }
    kept->append(at, text.end);
    Text rest = text_of(*kept);
    rest.storage = external(kept->data(), static_cast<int64_t>(kept->size()), false, [kept] {});
    rest.shown = text.shown;
    rest.checked = text.checked;
    rest.dropped_lines = text.dropped_lines;
    text = rest;
  }
}

void Scan::find_pieces() {
  const int64_t fields = options_.bad_lines == BadLines::error || layout_.cut_long_records ? 0 : layout_.stride();
  for (size_t i = 0; i < texts_.size(); ++i) {
    std::optional<int64_t> wanted;
    if (options_.rows) wanted = std::max<int64_t>(0, *options_.rows - rows_);
    const Blocks found =
        find_blocks(texts_[i], layouts_[i].begin, layouts_[i].first_line, options_, fields, wanted, engine_.interrupt_flag());
    for (Block block : found.blocks) {
      if (block.rows == 0 && options_.bad_lines == BadLines::error) continue;
      block.first_row += rows_;
      pieces_.push_back({&texts_[i], block});
    }
    rows_ += found.rows;
  }
  int64_t keep = std::max<int64_t>(0, rows_ - options_.skip_footer);
  if (options_.rows) keep = std::min(keep, *options_.rows);
  if (keep == rows_) return;
  rows_ = keep;
  while (!pieces_.empty() && pieces_.back().block.first_row >= keep) pieces_.pop_back();
  if (!pieces_.empty()) pieces_.back().block.rows = std::min(pieces_.back().block.rows, keep - pieces_.back().block.first_row);
}

ValueRules Scan::rules_of(int64_t field) const {
  ValueRules rules;
  std::vector<std::string> missing;
  if (options_.find_missing) {
    if (options_.default_missing) missing = default_missing_texts();
    missing.insert(missing.end(), options_.missing.begin(), options_.missing.end());
    for (const auto& [key, texts] : options_.missing_of)
      if (find_column(layout_, key) == field) missing.insert(missing.end(), texts.begin(), texts.end());
  }
  rules.missing = MissingTexts(std::move(missing));
  rules.decimal = options_.decimal;
  rules.thousands = options_.thousands;
  rules.true_texts = options_.true_values;
  rules.false_texts = options_.false_values;
  return rules;
}

std::optional<WantedType> Scan::type_of(int64_t field) const {
  for (const auto& [key, type] : options_.types)
    if (find_column(layout_, key) == field) return type;
  return options_.type;
}

/// Whether columns are read when they are used.
bool Scan::reads_later() const {
  int64_t bytes = 0;
  for (const Text& text : texts_) bytes += text.end - text.begin;
  return bytes >= options_.later_from && options_.bad_lines == BadLines::error;
}

/// Samples from all over the files say what the columns are.
void Scan::look_at_samples() {
  for (const int64_t field : layout_.fields) {
    Known& known = columns_.emplace_back();
    known.field = field;
    known.rules = rules_of(field);
    known.wanted = type_of(field);
    known.missing = known.wanted && known.wanted->type.nullable;
  }
  std::vector<bool> is_date;
  for (const Known& known : columns_)
    is_date.push_back(std::any_of(options_.dates.begin(), options_.dates.end(),
                                  [&](const ColumnKey& key) { return find_column(layout_, key) == known.field; }));
  Fields fields;
  const size_t step = reads_later() ? 1 : std::max<size_t>(1, pieces_.size() / kSampledBlocks);
  for (size_t k = 0; k < pieces_.size(); k += step) {
    const char* at = pieces_[k].text->begin + pieces_[k].block.begin;
    const char* const end = pieces_[k].text->begin + pieces_[k].block.end;
    const int rows = k % std::max<size_t>(1, pieces_.size() / kSampledBlocks) == 0 ? kSampledRows : kFewRows;
    for (int row = 0; row < rows && row < pieces_[k].block.rows && at < end; ++row) {
      fields.clear();
      if (read_line(options_.dialect, at, end, fields) != Line::record) continue;
      if (fields.size() > layout_.stride() && !layout_.cut_long_records) continue;  // left out, or an error
      for (size_t i = 0; i < columns_.size(); ++i) {
        Known& known = columns_[i];
        const std::string_view text = known.field < fields.size() ? fields[known.field] : std::string_view();
        if (known.rules.missing.contains(text)) {
          known.missing = true;
          continue;
        }
        if (is_date[i]) {
          if (known.kind == Kind::datetime && !parse_date(text, known.dates)) known.kind = Kind::text;
          if (known.kind != Kind::nothing) continue;
          const auto format = options_.date_format.empty() ? guess_format(text, options_.day_first) : format_of(options_.date_format);
          known.kind = format ? Kind::datetime : Kind::text;
          if (format) known.dates = *format;
        } else if (known.kind != Kind::text) {
          const Kind found = kind_of(text, known.rules);
          known.kind = known.kind == Kind::u64 && found == Kind::i64 ? Kind::u64 : wider(known.kind, found);
        }
      }
    }
  }
  for (size_t i = 0; i < columns_.size(); ++i) {
    Known& known = columns_[i];
    if (!is_date[i] || known.kind != Kind::nothing) continue;
    known.kind = Kind::datetime;
    known.dates = options_.date_format.empty() ? free_format(options_.day_first) : format_of(options_.date_format);
  }
}

std::unique_ptr<Scratch> Scan::take_scratch() {
  const std::lock_guard lock(mutex_);
  if (scratches_.empty()) return std::make_unique<Scratch>();
  auto scratch = std::move(scratches_.back());
  scratches_.pop_back();
  return scratch;
}

void Scan::give_scratch(std::unique_ptr<Scratch> scratch) {
  const std::lock_guard lock(mutex_);
  scratches_.push_back(std::move(scratch));
}

int64_t Scan::line_of(const Piece& piece, const char* at) const {
  Dialect lines = options_.dialect;
  lines.skip_blank_lines = false;
  int64_t line = piece.block.first_line;
  for (const char* p = piece.text->begin + piece.block.begin; p < at; ++line) skip_line(lines, p, piece.text->begin + piece.block.end);
  return line;
}

void Scan::refuse_long(const Piece& piece, const char* at, int64_t found) const {
  throw Error(
      "ParserError",
      fmt::format("Error tokenizing data. C error: Expected {} fields in line {}, saw {}\n", layout_.stride(), line_of(piece, at), found),
      fmt::format("in {}; on_bad_lines='skip' leaves such lines out", shown_file(*piece.text)));
}

void Scan::refuse_value(const Piece& piece, int64_t field, const WrongValue& wrong) const {
  const char* at = piece.text->begin + piece.block.begin;
  const char* const end = piece.text->begin + piece.block.end;
  int64_t line = piece.block.first_line;
  Dialect lines = options_.dialect;
  for (int64_t row = 0; at < end; ++line)
    if (skip_line(lines, at, end) != Line::nothing && row++ == wrong.row) break;
  const auto known = std::find_if(columns_.begin(), columns_.end(), [&](const Known& k) { return k.field == field; });
  const std::string text = in_quotes(wrong.text);
  if (!known->wanted) {
    constexpr const char* kNames[] = {"missing values", "bool", "int64", "uint64", "integers", "float64", "dates", "texts"};
    const std::string name = in_quotes(layout_.names[static_cast<size_t>(field)]);
    const bool missing = known->rules.missing.contains(wrong.text);
    const char* better = missing ? known->kind == Kind::boolean ? "'boolean'" : "'Int64'"
                         : wider(known->kind, kind_of(wrong.text, known->rules)) == Kind::f64 ? "'float64'"
                                                                                              : "str";
    throw Error(
        "ValueError",
        fmt::format("column {} seemed to hold {}, but line {} of {} has {}", name, kNames[static_cast<int>(known->kind)], line,
                    shown_file(*piece.text), text),
        fmt::format("columns of large files are read when they are used, as what samples show; dtype={{{}: {}}} in read_csv says what "
                    "this one is",
                    name, better));
  }
  const WantedType type = *known->wanted;
  std::string message = "could not convert string to float: " + text;
  if (type.type.dtype == DType::boolean)
    message = "cannot safely convert passed user dtype of " + type.shown + " for " + text;
  else if (!is_float(type.type.dtype))
    message = "invalid literal for int() with base 10: " + text;
  throw Error("ValueError", message,
              fmt::format("line {} of {}, column {}; na_values=[{}] or another dtype= takes it", line, shown_file(*piece.text),
                          in_quotes(layout_.names[static_cast<size_t>(field)]), text));
}

void Scan::read_chunk(const Chunk& chunk, const Piece& piece, int64_t row, const std::vector<Wanted>& wanted) {
  const Block& block = piece.block;
  for (const Wanted& column : wanted) {
    try {
      readers_[column.reader]->read(chunk, column.field, block.first_row, block.end - block.begin, block.rows, block.first_row + row,
                                    *column.part);
    } catch (const WrongValue& wrong) {
      refuse_value(piece, column.field, wrong);
    }
  }
}

int64_t Scan::read_lines(const Piece& piece, const char*& at, int64_t rows_left, Scratch& scratch) {
  const char* const end = piece.text->begin + piece.block.end;
  const int64_t stride = layout_.stride();
  Fields& fields = scratch.fields;
  fields.clear();
  const char* const begin = at;
  int64_t rows = 0;
  while (at < end && rows < rows_left && at - begin < kChunkBytes) {
    const char* const line = at;
    const int64_t before = fields.size();
    const size_t text_before = fields.text.size();
    const Line found = read_line(options_.dialect, at, end, fields);
    if (found == Line::nothing) continue;
    if (found == Line::unclosed)
      throw Error("ParserError",
                  fmt::format("Error tokenizing data. C error: EOF inside string starting at row {}", line_of(piece, line) - 1),
                  fmt::format("in {}; a quote opens and never closes; quoting=3 takes quotes as text", shown_file(*piece.text)));
    int64_t count = fields.size() - before;
    if (count > stride) {
      if (!layout_.cut_long_records && options_.bad_lines != BadLines::skip) {
        if (options_.bad_lines == BadLines::error) refuse_long(piece, line, count);
        const std::string text = fmt::format("Skipping line {}: expected {} fields, saw {}\n", line_of(piece, line), stride, count);
        const std::lock_guard lock(mutex_);
        if (warn_) warn_(text);
      }
      const int64_t keep = layout_.cut_long_records ? stride : 0;
      fields.ends.resize(static_cast<size_t>(before + keep));
      fields.text.resize(keep ? fields.ends.back() + 1 : text_before);
      if (keep == 0) continue;
      count = keep;
    }
    for (; count < stride; ++count) {
      fields.ends.push_back(static_cast<uint32_t>(fields.text.size()));
      fields.text += '\0';
    }
    ++rows;
  }
  scratch.positions.resize(std::max(scratch.positions.size(), fields.ends.size() + 1));
  scratch.positions[0] = UINT32_MAX;
  std::copy(fields.ends.begin(), fields.ends.end(), scratch.positions.begin() + 1);
  fields.text.append(static_cast<size_t>(kReadable), '\0');
  return rows;
}

void Scan::read_piece(const Piece& piece, std::vector<Wanted> wanted) {
  const Text& text = *piece.text;
  const Block& block = piece.block;
  const char* at = text.begin + block.begin;
  const char* const end = text.begin + block.end;
  if (block.high && !text.checked) check_utf8(at, end, shown_file(text), block.first_line);
  const int64_t stride = layout_.stride();
  std::unique_ptr<Scratch> scratch = take_scratch();
  int64_t chunk_bytes = kChunkBytes;
  for (int64_t row = 0; row < block.rows && at < end;) {
    if (engine_.interrupt_flag()) throw Interrupted();
    Chunk chunk;
    chunk.stride = stride;
    const int64_t length = std::min<int64_t>(chunk_bytes, end - at);
    if (block.plain && length < UINT32_MAX) {
      scratch->positions.resize(std::max(scratch->positions.size(), static_cast<size_t>(length + kSlack + 2)));
      uint32_t* const ends = scratch->positions.data() + 1;
      ends[-1] = UINT32_MAX;
      int64_t lines = 0;
      int64_t fields = scan_functions().fields(at, at + length, options_.dialect, ends, lines);
      int64_t rows = lines;
      const bool no_last_feed =
          at + length == end && (lines == 0 || fields == 0 || ends[fields - 1] != length - 1 || at[length - 1] != '\n');
      if (no_last_feed) {
        ends[fields++] = static_cast<uint32_t>(length);
        ++rows;
      }
      if (rows == 0) {  // a record that is longer than a chunk
        chunk_bytes *= 2;
        continue;
      }
      bool regular = rows * stride <= fields && (!no_last_feed || rows * stride == fields);
      for (int64_t r = 0; regular && r < lines; ++r) regular = at[ends[(r + 1) * stride - 1]] == '\n';
      if (regular) {
        chunk.text = at;
        chunk.ends = ends;
        chunk.rows = std::min(rows, block.rows - row);
        chunk.quote = options_.dialect.quote;
        chunk.carriage = block.carriage;
        if (text.end - (at + length) < kReadable) {
          scratch->text.assign(at, static_cast<size_t>(length));
          scratch->text.append(static_cast<size_t>(kReadable), '\0');
          chunk.text = scratch->text.data();
        }
        read_chunk(chunk, piece, row, wanted);
        row += chunk.rows;
        at += std::min<int64_t>(ends[rows * stride - 1] + 1, length);
        continue;
      }
    }
    chunk.rows = read_lines(piece, at, block.rows - row, *scratch);
    chunk.text = scratch->fields.text.data();
    chunk.ends = scratch->positions.data() + 1;
    if (chunk.rows > 0) read_chunk(chunk, piece, row, wanted);
    row += chunk.rows;
  }
  give_scratch(std::move(scratch));
}

/// f of each piece, on all cores; of several exceptions, that of the first piece is thrown.
void Scan::in_order(const std::function<void(size_t)>& f) {
  std::atomic<size_t> failed{SIZE_MAX};
  std::exception_ptr failure;
  in_parallel(static_cast<int64_t>(pieces_.size()), [&](int64_t task) {
    const auto k = static_cast<size_t>(task);
    if (k > failed) return;
    try {
      f(k);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (k > failed) return;
      failed = k;
      failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
}

std::vector<frame::Column> Scan::load(const std::vector<size_t>& columns) {
  frame::OperatorTimer timer("scan", rows_);
  readers_.clear();
  for (const size_t i : columns) {
    const Known& known = columns_[i];
    std::optional<ColumnReader::Promise> promised;
    if (known.is_later) promised = ColumnReader::Promise{known.missing};
    readers_.push_back(std::make_unique<ColumnReader>(engine_, rows_, known.rules, known.kind, known.wanted, known.dates, promised));
  }
  std::vector<std::vector<ColumnPart>> parts(pieces_.size());
  for (auto& of_piece : parts) of_piece.resize(columns.size());
  std::vector<std::vector<size_t>> open(pieces_.size());
  for (auto& of_piece : open) {
    of_piece.resize(columns.size());
    std::iota(of_piece.begin(), of_piece.end(), size_t{0});
  }
  // Once; and again where a value deep in a file made a column another kind.
  for (bool again = true; again;) {
    in_order([&](size_t k) {
      if (open[k].empty()) return;
      std::vector<Wanted> wanted;
      for (const size_t i : open[k]) wanted.push_back({columns_[columns[i]].field, i, &parts[k][i]});
      read_piece(pieces_[k], std::move(wanted));
    });
    for (auto& reader : readers_) reader->restart();
    again = false;
    for (size_t k = 0; k < pieces_.size(); ++k) {
      open[k].clear();
      for (size_t i = 0; i < columns.size(); ++i)
        if (!readers_[i]->settle(pieces_[k].block.first_row, pieces_[k].block.rows, parts[k][i])) open[k].push_back(i);
      again |= !open[k].empty();
    }
  }
  std::vector<int64_t> first_rows;
  for (const Piece& piece : pieces_) first_rows.push_back(piece.block.first_row);
  std::vector<frame::Column> results;
  for (size_t i = 0; i < columns.size(); ++i) {
    std::vector<ColumnPart*> of_column;
    for (auto& of_piece : parts) of_column.push_back(&of_piece[i]);
    try {
      results.push_back(readers_[i]->finish(std::move(of_column), first_rows));
    } catch (Error& error) {
      const int64_t field = columns_[columns[i]].field;
      if (error.diagnostic().kind == "ValueError" && error.diagnostic().message.ends_with("has NA values"))
        throw Error("ValueError", error.diagnostic().message + " in column " + std::to_string(field),
                    "column " + in_quotes(layout_.names[static_cast<size_t>(field)]) + "; " + error.diagnostic().hint);
      throw;
    }
    for (auto& of_piece : parts) of_piece[i] = ColumnPart{};
  }
  readers_.clear();
  scratches_.clear();
  timer.finish(rows_, frame::counted(columns.size(), "column"));
  return results;
}

template <class F>
auto Scan::part_of(size_t column, const F& take) {
  const std::lock_guard lock(later_mutex_);
  columns_[column].announced = true;
  if (!columns_[column].column) {
    std::vector<size_t> wanted;
    for (size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i].announced && !columns_[i].column) wanted.push_back(i);
    std::vector<frame::Column> read;
    try {
      read = load(wanted);
    } catch (...) {
      // What was wanted beside may be right by itself.
      for (const size_t i : wanted) columns_[i].announced = false;
      throw;
    }
    for (size_t k = 0; k < wanted.size(); ++k) columns_[wanted[k]].column = std::move(read[k]);
  }
  return take(*columns_[column].column);
}

frame::Column Scan::later(size_t column) {
  const Known& known = columns_[column];
  const auto announce = [self = shared_from_this(), column] {
    const std::lock_guard lock(self->later_mutex_);
    if (!self->columns_[column].column) self->columns_[column].announced = true;
  };
  // What is taken is no longer kept here.
  const auto memory = [&](DType dtype, graph::NodeRef frame::Column::* part) {
    auto make = [self = shared_from_this(), column, part] {
      return self->part_of(column, [&](frame::Column& read) {
        const graph::NodeRef node = std::exchange(read.*part, nullptr);
        return std::static_pointer_cast<HostStorage>(node->as<graph::BufferNode>()->storage);
      });
    };
    return graph::buffer(deferred(rows_ * size_of(dtype), std::move(make), announce), dtype, {rows_}, {1}, 0);
  };
  frame::Column result;
  switch (known.kind) {
    case Kind::boolean: result.type = frame::number_type(DType::boolean); break;
    case Kind::i64: result.type = frame::number_type(DType::i64); break;
    case Kind::u64: result.type = frame::number_type(DType::u64); break;
    case Kind::datetime: result.type = frame::datetime_type(known.dates.zone ? "UTC" : ""); break;
    case Kind::text: result.type = frame::text_type(); break;
    default: result.type = frame::number_type(DType::f64);
  }
  if (known.wanted) result.type = known.wanted->type;
  result.values = memory(result.type.dtype, &frame::Column::values);
  if (result.type.is_number() && known.missing && (result.type.nullable || !is_float(result.type.dtype)))
    result.validity = memory(DType::boolean, &frame::Column::validity);
  if (result.type.logical == frame::Logical::text)
    result.dictionary = std::make_shared<frame::Dictionary>(
        [self = shared_from_this(), column] { return self->part_of(column, [](frame::Column& read) { return read.dictionary; }); });
  return result;
}

CsvTable Scan::read() {
  CsvTable table;
  table.rows = rows_;
  table.numbered = layout_.numbered;
  table.index_columns = layout_.index_columns;
  table.columns.resize(columns_.size());
  std::vector<size_t> now;
  for (size_t i = 0; i < columns_.size(); ++i) {
    table.names.push_back(layout_.names[static_cast<size_t>(columns_[i].field)]);
    Known& known = columns_[i];
    // Columns whose samples say nothing, and those with few values that are texts each, are known when they are read.
    const bool unknown = known.kind == Kind::nothing || known.kind == Kind::integer;
    const bool category = known.wanted && known.wanted->type.logical == frame::Logical::category;
    known.is_later = reads_later() && !category && (!unknown || known.wanted);
    if (known.is_later)
      table.columns[i] = later(i);
    else
      now.push_back(i);
  }
  std::vector<frame::Column> read = load(now);
  for (size_t k = 0; k < now.size(); ++k) table.columns[now[k]] = std::move(read[k]);
  return table;
}

}  // namespace

CsvTable read_csv(Engine& engine, const std::vector<std::filesystem::path>& paths, const CsvOptions& options,
                  const std::function<void(const std::string&)>& warn) {
  std::vector<Text> texts;
  for (const std::filesystem::path& path : paths) texts.push_back(open_text(engine, path, options));
  return std::make_shared<Scan>(engine, std::move(texts), options, warn)->read();
}

CsvTable read_csv_text(Engine& engine, std::string_view text, const CsvOptions& options,
                       const std::function<void(const std::string&)>& warn) {
  CsvOptions at_once = options;
  at_once.later_from = INT64_MAX;
  return std::make_shared<Scan>(engine, std::vector{text_of(text)}, at_once, warn)->read();
}

std::vector<std::filesystem::path> files_of(const std::string& pattern) {
  if (pattern.find_first_of("*?[") == std::string::npos || std::filesystem::exists(pattern)) return {pattern};
  glob_t found{};
  const int result = glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::filesystem::path> paths;
  for (size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  globfree(&found);
  if (result != 0 || paths.empty()) throw Error("OSError", in_quotes(pattern) + " resolved to no files");
  return paths;
}

}  // namespace gasell::csv
