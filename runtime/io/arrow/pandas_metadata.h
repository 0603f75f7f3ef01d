// The note that pandas leaves in Parquet and Arrow files (key "pandas"): which columns are the rows' labels, and types that Arrow has not.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/engine.h"
#include "runtime/io/arrow/tables.h"

namespace gasell::arrow {

struct PandasNote {
  RowLabels labels;
  bool integer_names = false;
  std::vector<std::string> label_columns;    // more than one: an index of several levels
  std::map<std::string, std::string> types;  // of columns, as NumPy and pandas name them: "Int64", "datetime64[ns]"
};
/// Of a text that is not pandas' note: nothing in it.
PandasNote read_pandas_note(const std::string& json);
std::string write_pandas_note(Engine& engine, const Table& table);

}  // namespace gasell::arrow
