// The module _dask.
#include <sstream>

#include "runtime/array/chunk_sizes.h"
#include "runtime/session/function.h"
#include "runtime/session/types.h"
#include "stdlib/dask/module.h"
#include "stdlib/library.h"
#include "stdlib/modules.h"
#include "stdlib/numpy/chunks.h"
#include "stdlib/numpy/methods.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

Value check_scheduler(Interpreter& in, Args args) {
  numpy::check_scheduler(in, args[0]);
  return {};
}

/// parameter_names(function): of a function of the script or the library; of others there is none to be told.
Value parameter_names(Interpreter&, Args args) {
  std::vector<Value> names;
  if (const auto* function = args[0].as<Function>())
    for (const std::string& name : function->parameter_names()) names.push_back(make_str(name));
  return make_tuple(std::move(names));
}

Value compute_arrays(Interpreter& in, Args args) {
  numpy::compute_together(in, to_vector(in, args[0]));
  return {};
}

/// common_chunks(arrays): a tuple of extents for each axis of the shape that the arrays are broadcast to.
Value common_chunks(Interpreter& in, Args args) {
  std::vector<Array> arrays;
  for (const Value& v : to_vector(in, args[0])) {
    const auto* array = v.as<numpy::NdArray>();
    arrays.push_back(array ? array->array : Array(numpy::as_node(in, v)));
  }
  std::vector<graph::Shape> shapes;
  std::vector<const Array*> pointers;
  for (const Array& a : arrays) {
    shapes.push_back(a.shape());
    pointers.push_back(&a);
  }
  const graph::Shape shape = graph::broadcast_shapes(shapes);
  const Array::Chunks chunks = gasell::common_chunks(pointers, shape);
  std::vector<Value> axes;
  for (size_t k = 0; k < shape.size(); ++k) {
    std::vector<Value> extents;
    const std::vector<int64_t> whole{std::max<int64_t>(shape[k], 1)};
    for (const int64_t n : chunk_extents(k < chunks.size() ? chunks[k] : whole, shape[k])) extents.push_back(Value::of(n));
    axes.push_back(make_tuple(std::move(extents)));
  }
  return make_tuple(std::move(axes));
}

/// graph_lines(arrays): what computes them, a text a node: "%2 = add %0 %1 : int64[10]", operands first.
Value graph_lines(Interpreter& in, Args args) {
  std::vector<graph::NodeRef> roots;
  for (const Value& v : to_vector(in, args[0])) roots.push_back(numpy::as_node(in, v));
  std::vector<Value> lines;
  std::istringstream text(graph::print(roots));
  for (std::string line; std::getline(text, line);) lines.push_back(make_str(line));
  return make_list(std::move(lines));
}

/// dashboard_link(): the address of the program's dashboard, which starts now where it did not before.
Value dashboard_link(Interpreter& in, Args) {
  if (!in.dashboard_link) raise("NotImplementedError", "the dashboard is not in this program: gasell has one");
  return make_str(in.dashboard_link());
}

}  // namespace

Value make_dask_natives(Interpreter&) {
  static const std::vector<NativeFunction> kFunctions = {
      {"check_scheduler", "scheduler", check_scheduler, "ValueError for what is no scheduler of Dask's."},
      {"parameter_names", "function", parameter_names, "The names of a function's parameters."},
      {"compute_arrays", "arrays", compute_arrays, "Evaluates arrays and NumPy scalars in one plan."},
      {"graph_lines", "arrays", graph_lines, "The graph that arrays wait for, a text a node."},
      {"dashboard_link", "", dashboard_link, "The address of a page that shows what runs."},
      {"common_chunks", "arrays", common_chunks, "The chunks of a result that has the boundaries of all arrays."},
  };
  register_zarr_exceptions();
  static const std::vector<NativeFunction> kZarr = zarr_functions();
  const Value module = Value::make<LibraryModule>("_dask");
  for (const auto* functions : {&kFunctions, &kZarr, &task_functions(), &board_functions()})
    for (const NativeFunction& f : *functions) set_member(module, f.name, Value::make<Builtin>(f));
  return module;
}

}  // namespace gasell
