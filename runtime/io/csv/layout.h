// The head of a CSV file: its names, how many fields its records have, and where they begin.
#pragma once

#include <string>
#include <vector>

#include "runtime/io/csv/options.h"
#include "runtime/io/csv/text.h"
#include "runtime/io/csv/tokenizer.h"

namespace gasell::csv {

struct Layout {
  std::vector<std::string> names;  // one a field; empty for those of the index
  int64_t index_columns = 0;
  bool numbered = false;
  bool cut_long_records = false;  // records with more fields lose them
  std::vector<int64_t> fields;    // those that are wanted, in order (usecols)
  int64_t begin = 0;              // of the first record, in the text
  int64_t first_line = 1;         // its line in the file

  int64_t stride() const { return static_cast<int64_t>(names.size()); }
};

/// Throws Error: EmptyDataError, ValueError, ParserError.
Layout layout_of(const Text& text, const CsvOptions& options);
/// The separator that parts the first lines of a text most evenly.
char sniffed_separator(const Text& text, const CsvOptions& options);
/// A file as messages name it.
std::string shown_file(const Text& text);
/// pandas' error of a record that the end of the file cuts (Line::unclosed or Line::escaping), which begins at `line` of the file.
[[noreturn]] void refuse_cut(const Text& text, Line found, int64_t line);
/// Where a key is among the names; -1: nowhere.
int64_t find_column(const Layout& layout, const ColumnKey& key);

}  // namespace gasell::csv
