// Tables of JSON objects, one a line or in one list, as pandas' read_json and to_json(orient='records') have them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/engine.h"
#include "runtime/frame/column.h"
#include "runtime/io/csv/options.h"

namespace gasell {

struct JsonTable {
  std::vector<std::string> names;  // in the order of their first appearance
  std::vector<frame::Column> columns;
  std::vector<bool> truths_as_numbers;  // of each column: whether it held booleans beside numbers
  int64_t rows = 0;
};

/// Where the objects are: one a line, or all in a list.
enum class JsonForm : uint8_t { lines, list };

/// Types are those of read_csv: integers, floats, booleans, texts; texts that are numbers are such beside numbers alone. A name that an
/// object lacks is missing there. Throws Error: ValueError with pandas' words and the line; NotImplementedError for objects and lists
/// within objects, and for columns of booleans and texts. `rows`: only so many. Of `coding` it is the encoding, and what becomes of bytes
/// that are none of its, that count.
JsonTable read_json(Engine& engine, const std::vector<std::filesystem::path>& paths, JsonForm form, std::optional<int64_t> rows = {},
                    const csv::CsvOptions& coding = {});
JsonTable read_json_text(Engine& engine, std::string_view text, JsonForm form, std::optional<int64_t> rows = {});

/// How a table is laid out: an object a row, one a line or all in a list; or pandas' orient= of the other names.
enum class JsonLayout : uint8_t { lines, records, columns, index, split, values };
struct JsonOptions {
  JsonLayout layout = JsonLayout::lines;
  bool with_labels = true;  // of split
  bool iso_dates = false;
  int precision = 10;  // digits behind a float's point
  bool force_ascii = true;
  int64_t date_unit = 1000000;  // nanoseconds
};
/// Writes a table in parts. `name_values`: the names as JSON, of split. `labels`: those of the rows; unused by lines, records and values.
void write_json(Engine& engine, const std::vector<std::string>& names, const std::vector<std::string>& name_values,
                std::vector<frame::Column> columns, frame::Column labels, const JsonOptions& options,
                const std::function<void(std::string_view)>& put);
/// Writes one column: `layout` is index, split (of this name, as JSON) or values.
void write_json_series(Engine& engine, const std::string& name_value, frame::Column column, frame::Column labels,
                       const JsonOptions& options, const std::function<void(std::string_view)>& put);

}  // namespace gasell
