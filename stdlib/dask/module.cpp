#include "stdlib/dask/module.h"

#include "runtime/session/types.h"
#include "stdlib/library.h"
#include "stdlib/modules.h"

namespace gasell {

Value make_dask(Interpreter& in) {
  const Value module = Value::make<LibraryModule>("dask");
  set_member(module, "config", make_dask_config(in));
  set_member(module, "datasets", make_dask_datasets(in));
  for (const char* name : {"base", "callbacks", "local", "multiprocessing", "threaded"})
    set_member(module, name, Value::make<LibraryModule>(std::string("dask.") + name));
  return module;
}

Value make_dask_config(Interpreter&) { return Value::make<LibraryModule>("dask.config"); }

Value make_dask_array(Interpreter& in) {
  const Value numpy = in.import_module("numpy", nullptr);
  const auto part = [&](const char* name) { return *numpy.object()->get_attribute(in, name); };
  const Value module = Value::make<LibraryModule>("dask.array", numpy);
  set_member(module, "overlap", Value::make<LibraryModule>("dask.array.overlap"));
  set_member(module, "stats", Value::make<LibraryModule>("dask.array.stats"));
  for (const char* name : {"fft", "linalg", "ma", "random"})
    set_member(module, name, Value::make<LibraryModule>(std::string("dask.array.") + name, part(name)));
  return module;
}

Value make_dask_dataframe(Interpreter& in) {
  const Value module = Value::make<LibraryModule>("dask.dataframe", in.import_module("pandas", nullptr));
  set_member(module, "io", Value::make<LibraryModule>("dask.dataframe.io"));
  return module;
}

Value make_dask_bag(Interpreter& in) {
  const Value module = Value::make<LibraryModule>("dask.bag");
  set_member(module, "random", make_dask_bag_random(in));
  return module;
}

Value make_dask_bag_random(Interpreter&) { return Value::make<LibraryModule>("dask.bag.random"); }

Value make_dask_datasets(Interpreter&) { return Value::make<LibraryModule>("dask.datasets"); }

Value make_dask_diagnostics(Interpreter&) { return Value::make<LibraryModule>("dask.diagnostics"); }

const std::vector<const Type*>& task_exceptions() {
  static const Type cancelled{"CancelledError", "concurrent.futures._base", exception_type("Exception")};
  static const Type future_cancelled{"FutureCancelledError", "distributed.client", &cancelled};
  static const Type closed{"ClosedClientError", "distributed.client", exception_type("Exception")};
  static const std::vector<const Type*> types = [] {
    for (const Type* type : {&cancelled, &future_cancelled, &closed}) register_exception(*type);
    return std::vector<const Type*>{&cancelled, &future_cancelled, &closed};
  }();
  return types;
}

Value make_dask_distributed(Interpreter&) {
  const Value module = Value::make<LibraryModule>("dask.distributed");
  for (const Type* type : task_exceptions()) set_member(module, type->name, type_object(*type));
  set_member(module, "TimeoutError", type_object(*exception_type("TimeoutError")));
  return module;
}

Value make_concurrent_futures(Interpreter&) { return Value::make<LibraryModule>("concurrent.futures"); }

Value make_joblib(Interpreter&) { return Value::make<LibraryModule>("joblib"); }

Value make_dask_cudf(Interpreter& in) { return Value::make<LibraryModule>("dask_cudf", in.import_module("dask.dataframe", nullptr)); }

Value make_dask_cuda(Interpreter& in) { return Value::make<LibraryModule>("dask_cuda", in.import_module("dask.distributed", nullptr)); }

}  // namespace gasell
