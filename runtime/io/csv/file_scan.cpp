#include "runtime/io/csv/file_scan.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <numeric>
#include <utility>

#include "lang/diagnostic.h"
#include "runtime/device/workers.h"
#include "runtime/io/os_error.h"
#include "runtime/primitives/operator_report.h"

namespace gasell::csv {
namespace {

constexpr int64_t kManyRows = 10'000'000;

}  // namespace

FileScan::FileScan(Engine& engine, std::vector<Text> texts, const CsvOptions& options, const std::function<void(const std::string&)>& warn)
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
void FileScan::drop_lines() {
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

void FileScan::find_pieces() {
  const int64_t fields = options_.bad_lines == BadLines::error || layout_.cut_long_records ? 0 : layout_.stride();
  for (size_t i = 0; i < texts_.size(); ++i) {
    std::optional<int64_t> wanted;
    if (options_.rows) wanted = std::max<int64_t>(0, *options_.rows - rows_);
    const Blocks found =
        find_blocks(texts_[i], layouts_[i].begin, layouts_[i].first_line, options_, fields, wanted, engine_.interrupt_flag());
    is_cut_ |= found.is_cut;
    for (Block block : found.blocks) {
      if (block.rows == 0 && options_.bad_lines == BadLines::error) continue;
      block.first_row += rows_;
      pieces_.push_back({&texts_[i], block});
    }
    rows_ += found.rows;
  }
  if (is_cut_ && options_.skip_footer)
    throw Error(
        "ParserError",
        "unexpected end of data. Error could possibly be due to parsing errors in the skipped footer rows (the skipfooter keyword is "
        "only applied after Python's csv library has parsed all rows).");
  int64_t keep = std::max<int64_t>(0, rows_ - options_.skip_footer);
  if (options_.rows) keep = std::min(keep, *options_.rows);
  if (keep == rows_) return;
  rows_ = keep;
  while (!pieces_.empty() && pieces_.back().block.first_row >= keep) pieces_.pop_back();
  if (!pieces_.empty()) pieces_.back().block.rows = std::min(pieces_.back().block.rows, keep - pieces_.back().block.first_row);
}

/// f(0) to f(count - 1), on all cores; of several exceptions, that of the first is thrown.
void FileScan::in_order(size_t count, const std::function<void(size_t)>& f) {
  std::atomic<size_t> failed{SIZE_MAX};
  std::exception_ptr failure;
  in_parallel(static_cast<int64_t>(count), [&](int64_t task) {
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

std::vector<frame::Column> FileScan::load(const std::vector<size_t>& columns, const std::vector<Piece>& pieces, int64_t rows) {
  OperatorTimer timer("scan", rows);
  readers_.clear();
  for (const size_t i : columns) {
    const Known& known = columns_[i];
    std::optional<ColumnReader::Promise> promised;
    if (known.is_later) promised = ColumnReader::Promise{known.missing};
    readers_.push_back(std::make_unique<ColumnReader>(engine_, rows, known.rules, known.kind, known.wanted, known.dates, promised));
  }
  std::vector<std::vector<ColumnPart>> parts(pieces.size());
  for (auto& of_piece : parts) of_piece.resize(columns.size());
  std::vector<std::vector<size_t>> open(pieces.size());
  for (auto& of_piece : open) {
    of_piece.resize(columns.size());
    std::iota(of_piece.begin(), of_piece.end(), size_t{0});
  }
  // Once; and again where a value deep in a file made a column another kind.
  for (bool again = true; again;) {
    in_order(pieces.size(), [&](size_t k) {
      if (open[k].empty()) return;
      std::vector<Wanted> wanted;
      for (const size_t i : open[k]) wanted.push_back({columns_[columns[i]].field, i, &parts[k][i]});
      read_piece(pieces[k], std::move(wanted));
    });
    for (auto& reader : readers_) reader->restart();
    again = false;
    for (size_t k = 0; k < pieces.size(); ++k) {
      open[k].clear();
      for (size_t i = 0; i < columns.size(); ++i)
        if (!readers_[i]->settle(pieces[k].block.first_row, pieces[k].block.rows, parts[k][i])) open[k].push_back(i);
      again |= !open[k].empty();
    }
  }
  std::vector<int64_t> first_rows;
  for (const Piece& piece : pieces) first_rows.push_back(piece.block.first_row);
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
    readers_[i] = nullptr;
  }
  readers_.clear();
  scratches_.clear();
  // What was allocated a block would be kept by the C library beside the budget.
  if (rows >= kManyRows) malloc_trim(0);
  if (!columns.empty()) timer.finish(rows, counted(columns.size(), "column"));
  return results;
}

}  // namespace gasell::csv
