// Tables of CSV files as columns of frames: what pandas.read_csv gives, read on all cores.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "runtime/engine.h"
#include "runtime/frame/column.h"
#include "runtime/io/csv/options.h"

namespace gasell::csv {

struct CsvTable {
  std::vector<std::string> names;  // one a column, in the file's order
  std::vector<frame::Column> columns;
  int64_t rows = 0;
  int64_t index_columns = 0;  // the first columns are the index: rows have so many fields more than the header; their names are empty
  bool numbered = false;      // there is no header, so that the columns are 0, 1, 2 …: `names` holds these numbers
};

/// Several files are read as one, one behind the other; their headers must be equal.
/// Types: a column is what all its values are, the first of int64, uint64, float64, bool, text; integers and booleans with missing values
/// keep their type and get a validity. Files of any size are read so, though only samples are looked at before.
/// Throws what pandas throws, with its message and with file, line and column: Error of the kinds ParserError, EmptyDataError, ValueError,
/// UnicodeDecodeError, OverflowError; the errors of files.
/// `warn`: is told what BadLines::warn skips.
CsvTable read_csv(Engine& engine, const std::vector<std::filesystem::path>& paths, const CsvOptions& options,
                  const std::function<void(const std::string&)>& warn = {});
/// Of a text in memory, as of a StringIO.
CsvTable read_csv_text(Engine& engine, std::string_view text, const CsvOptions& options,
                       const std::function<void(const std::string&)>& warn = {});
/// The files that a pattern with *, ? and [...] names, sorted; the path itself where it has none of these. Of this machine, or of another
/// ("s3://bucket/trips-*.csv").
std::vector<std::filesystem::path> files_of(const std::string& pattern, const remote::StorageOptions& storage = {});

}  // namespace gasell::csv
