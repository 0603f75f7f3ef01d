#include "runtime/io/csv/file_scan.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/diagnostic.h"
#include "runtime/io/csv/scan.h"
#include "runtime/io/csv/utf8.h"
#include "runtime/io/os_error.h"

namespace gasell::csv {
namespace {

constexpr int64_t kChunkBytes = 64 << 10;
constexpr int64_t kReadable = 32;  // bytes behind a chunk

}  // namespace

std::unique_ptr<Scratch> FileScan::take_scratch() {
  const std::lock_guard lock(mutex_);
  if (scratches_.empty()) return std::make_unique<Scratch>();
  auto scratch = std::move(scratches_.back());
  scratches_.pop_back();
  return scratch;
}

void FileScan::give_scratch(std::unique_ptr<Scratch> scratch) {
  const std::lock_guard lock(mutex_);
  scratches_.push_back(std::move(scratch));
}

int64_t FileScan::line_of(const Piece& piece, const char* at) const {
  Dialect lines = options_.dialect;
  lines.skip_blank_lines = false;
  int64_t line = piece.block.first_line;
  for (const char* p = piece.text->begin + piece.block.begin; p < at; ++line) skip_line(lines, p, piece.text->begin + piece.block.end);
  return line;
}

void FileScan::refuse_long(const Piece& piece, const char* at, int64_t found) const {
  throw Error(
      "ParserError",
      fmt::format("Error tokenizing data. C error: Expected {} fields in line {}, saw {}\n", layout_.stride(), line_of(piece, at), found),
      fmt::format("in {}; on_bad_lines='skip' leaves such lines out", shown_file(*piece.text)));
}

void FileScan::refuse_value(const Piece& piece, int64_t field, const WrongValue& wrong) const {
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

void FileScan::read_chunk(const Chunk& chunk, const Piece& piece, int64_t row, const std::vector<Wanted>& wanted) {
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

int64_t FileScan::read_lines(const Piece& piece, const char*& at, int64_t rows_left, Scratch& scratch) {
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
    if (found == Line::unclosed || found == Line::escaping) refuse_cut(*piece.text, found, line_of(piece, line));
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

void FileScan::read_piece(const Piece& piece, std::vector<Wanted> wanted) {
  const Text& text = *piece.text;
  const Block& block = piece.block;
  const char* at = text.begin + block.begin;
  const char* const end = text.begin + block.end;
  if (block.high && !text.checked) check_utf8(at, end, text.origin(), shown_file(text), 1 + text.dropped_lines);
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
  for (const Wanted& column : wanted) readers_[column.reader]->close(*column.part);
  give_scratch(std::move(scratch));
  text.let_go(block.begin, block.end);
}

}  // namespace gasell::csv
