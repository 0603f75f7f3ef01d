// What to read of a CSV file and how; pandas' parameters of read_csv.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/frame/column.h"
#include "runtime/io/csv/dialect.h"
#include "runtime/io/remote/remote.h"

namespace gasell::csv {

enum class BadLines : uint8_t { error, warn, skip };
enum class Compression : uint8_t { infer, none, gzip, zstd };
enum class Encoding : uint8_t { utf8, latin1, utf16 };
/// What becomes of bytes that are not UTF-8: an error, the replacement character, nothing, "\xe9".
enum class BadBytes : uint8_t { refuse, replace, drop, escape };

/// A column by name or by position.
struct ColumnKey {
  std::string name;
  int64_t position = -1;  // from 0; -1: by name
};

/// What a column is read as, said by the user.
struct WantedType {
  frame::ColumnType type;
  std::string shown;  // "int8": the type in the user's words, for errors
};

struct CsvOptions {
  Dialect dialect;
  bool sniff_separator = false;  // sep=None: one of , ; tab | : and space
  /// The row of the names, counted behind skiprows and without blank lines and comments; -1: none. Not set: 0, or -1 where `names` are
  /// given.
  std::optional<int64_t> header;
  std::optional<std::vector<std::string>> names;
  bool no_index = false;                      // index_col=False: rows that are longer than the header lose what is too much
  std::optional<std::vector<ColumnKey>> use;  // usecols
  std::optional<WantedType> type;             // dtype of all columns
  std::vector<std::pair<ColumnKey, WantedType>> types;
  std::vector<ColumnKey> dates;  // parse_dates
  std::string date_format;       // strptime's; empty: that of the column's first value
  bool day_first = false;
  int64_t skip_rows = 0;
  std::vector<int64_t> skip_lines;  // sorted lines from 0 that are skipped
  int64_t skip_footer = 0;
  std::optional<int64_t> rows;       // nrows
  std::vector<std::string> missing;  // na_values, for all columns
  std::vector<std::pair<ColumnKey, std::vector<std::string>>> missing_of;
  bool default_missing = true;  // keep_default_na
  bool find_missing = true;     // na_filter
  char thousands = 0;
  char decimal = '.';
  std::vector<std::string> true_values, false_values;
  Encoding encoding = Encoding::utf8;
  BadBytes bad_bytes = BadBytes::refuse;
  Compression compression = Compression::infer;
  BadLines bad_lines = BadLines::error;
  remote::StorageOptions storage;         // for files of other machines
  int64_t block_bytes = 0;                // of a task; 0: chosen
  int64_t later_from = int64_t{1} << 29;  // bytes from which on columns are read when they are used
};

}  // namespace gasell::csv
