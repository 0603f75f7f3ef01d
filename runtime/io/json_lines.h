// Tables of JSON objects, one a line, as pandas' read_json(lines=True) and to_json(orient='records') have them.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/engine.h"
#include "runtime/frame/column.h"

namespace gasell {

struct JsonTable {
  std::vector<std::string> names;  // in the order of their first appearance
  std::vector<frame::Column> columns;
  int64_t rows = 0;
};

/// Types are those of read_csv: integers, floats, booleans, texts; texts that are numbers become numbers, as do floats without fractions
/// integers. A name that an object lacks is missing there. Throws Error: ValueError with pandas' words and the line; NotImplementedError
/// for objects and lists within objects, and for columns of booleans and texts. `rows`: only so many.
JsonTable read_json_lines(Engine& engine, const std::vector<std::filesystem::path>& paths, std::optional<int64_t> rows = {});
JsonTable read_json_lines_text(Engine& engine, std::string_view text, std::optional<int64_t> rows = {});

struct JsonOptions {
  bool lines = true;  // else one list of all objects
  bool iso_dates = false;
  int precision = 10;  // digits behind a float's point
  bool force_ascii = true;
  int64_t date_unit = 1000000;  // nanoseconds
};
/// Writes the rows as objects, in parts.
void write_json_records(Engine& engine, const std::vector<std::string>& names, std::vector<frame::Column> columns,
                        const JsonOptions& options, const std::function<void(std::string_view)>& put);

}  // namespace gasell
