#include "stdlib/dask/module.h"

#include "stdlib/library.h"
#include "stdlib/modules.h"
#include "stdlib/numpy/chunks.h"

namespace gasell {

Value make_dask(Interpreter&) {
  static const std::vector<NativeFunction> kFunctions = numpy::dask_functions();
  const Value module = Value::make<LibraryModule>("dask");
  for (const NativeFunction& f : kFunctions) set_member(module, f.name, Value::make<Builtin>(f));
  return module;
}

Value make_dask_array(Interpreter& in) {
  const Value numpy = in.import_module("numpy", nullptr);
  const auto part = [&](const char* name) { return *numpy.object()->get_attribute(in, name); };
  const Value module = Value::make<LibraryModule>("dask.array", numpy);
  set_member(module, "overlap", Value::make<LibraryModule>("dask.array.overlap"));
  for (const char* name : {"linalg", "random"})
    set_member(module, name, Value::make<LibraryModule>(std::string("dask.array.") + name, part(name)));
  return module;
}

Value make_dask_dataframe(Interpreter& in) { return Value::make<LibraryModule>("dask.dataframe", in.import_module("pandas", nullptr)); }

}  // namespace gasell
