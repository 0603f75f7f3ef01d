// Columns as CSV text: what pandas' to_csv writes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/engine.h"
#include "runtime/frame/column.h"

namespace gasell::csv {

enum class Quoting : uint8_t { minimal, all, non_numeric, none };

struct WriteOptions {
  char separator = ',';
  std::string missing;       // na_rep
  std::string float_format;  // of printf, as "%.2f"; empty: the shortest text that reads back as the same number
  std::string date_format;   // of strftime; empty: what a column's times need
  bool header = true;
  Quoting quoting = Quoting::minimal;
  char quote = '"';
  bool double_quote = true;  // quotes in quoted fields are doubled; else `escape` stands before them
  char escape = 0;           // zero: none
  char decimal = '.';
  std::string line_end = "\n";
  std::vector<std::vector<std::string>> lines_above = {};  // of names, before the header: the levels of columns' labels
};

/// Writes the names and the rows, in parts as they are made: rows are made into text on all cores, some thousands at a time. Throws
/// Error("Error", "need to escape, but no escapechar set") as Python's csv module, ValueError for a format that is none, and what `put`
/// throws.
void write_csv(Engine& engine, const std::vector<std::string>& names, std::vector<frame::Column> columns, const WriteOptions& options,
               const std::function<void(std::string_view)>& put);

}  // namespace gasell::csv
