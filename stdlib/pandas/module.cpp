// The modules pandas and cudf: one library, and what its texts are made with.
#include "stdlib/pandas/module.h"

#include "stdlib/library.h"
#include "stdlib/library_object.h"
#include "stdlib/modules.h"
#include "stdlib/pandas/column_object.h"
#include "stdlib/pandas/csv.h"
#include "stdlib/pandas/offsets.h"
#include "stdlib/pandas/parquet.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell {

Value make_pandas(Interpreter& in) {
  const Value module = Value::make<LibraryModule>("pandas");
  for (auto& [name, value] : pandas::time_members()) set_member(module, name, value);
  set_member(module, "plotting", Value::make<LibraryModule>("pandas.plotting"));
  set_member(module, "errors", make_pandas_errors(in));
  set_member(module, "testing", Value::make<LibraryModule>("pandas.testing"));
  const Value api = Value::make<LibraryModule>("pandas.api");
  set_member(api, "types", Value::make<LibraryModule>("pandas.api.types"));
  set_member(module, "api", api);
  set_member(module, "offsets", make_pandas_offsets(in));
  const Value series = Value::make<LibraryModule>("pandas.tseries");
  set_member(series, "offsets", make_pandas_offsets(in));
  set_member(module, "tseries", series);
  set_member(module, "DateOffset", type_object(pandas::date_offset_type()));
  return module;
}

Value make_cudf(Interpreter& in) { return Value::make<LibraryModule>("cudf", in.import_module("pandas", nullptr)); }

Value make_pandas_library(Interpreter&) { return Value::make<LibraryModule>("_pandas"); }

Value make_frame_natives(Interpreter&) {
  register_pandas_errors();
  static const std::vector<NativeFunction> functions = [] {
    std::vector<NativeFunction> all = library_object_functions();
    // One file a line, so that lines are added side by side.
    for (auto part : {
             pandas::row_functions(),
             pandas::cell_functions(),
             pandas::csv_functions(),
             pandas::expression_functions(),
             pandas::gpu_functions(),
             pandas::json_functions(),
             pandas::label_functions(),
             pandas::library_value_functions(),
             pandas::operator_functions(),
             pandas::parquet_functions(),
             pandas::relational_functions(),
             pandas::window_functions(),
         })
      for (NativeFunction& f : part) all.push_back(std::move(f));
    return all;
  }();
  return make_module("_frame", functions);
}

}  // namespace gasell
