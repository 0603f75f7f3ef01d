// Functions of np that stack and flip: joins and views.
#include <algorithm>

#include "lang/diagnostic.h"
#include "stdlib/numpy/methods.h"
#include "stdlib/numpy/ufunc.h"

namespace gasell::numpy {
namespace {

using Args = std::span<Value>;

Value shared(Array a) { return Value::make<NdArray>(std::move(a)); }

Value flip(Interpreter& in, Args args) {
  const Array a = as_array(in, args[0]);
  Shape shape = a.shape();
  Array::Axes axes;
  for (int k = 0; k < a.rank(); ++k) axes.push_back({k, 0, 1});
  for (int k : to_axes(in, args[1], a.rank())) axes[static_cast<size_t>(k)] = {k, std::max<int64_t>(0, shape[static_cast<size_t>(k)] - 1), -1};
  return shared(a.view(std::move(shape), std::move(axes)));
}

/// The arrays of a sequence with at least `rank` axes: new ones of extent 1 in front, or behind for columns.
Value joined(Interpreter& in, const Value& sequence, int rank, bool columns, int axis) {
  std::vector<Value> parts;
  bool flat = false;
  for (const Value& v : to_vector(in, sequence)) {
    const Array a = as_array(in, v);
    Shape shape = a.shape();
    flat = flat || a.rank() <= 1;
    while (static_cast<int>(shape.size()) < rank) shape.insert(columns && !shape.empty() ? shape.end() : shape.begin(), 1);
    parts.push_back(shared(a.reshape(shape)));
  }
  if (rank == 1 && flat) axis = 0;  // hstack of vectors
  const NativeFunction* concatenate = nullptr;
  static const std::vector<NativeFunction> functions = misc_functions();
  for (const NativeFunction& f : functions)
    if (f.name == "concatenate") concatenate = &f;
  std::vector<Value> arguments = {make_list(std::move(parts)), Value::of(axis)};
  return concatenate->call(in, arguments);
}
Value vstack(Interpreter& in, Args args) { return joined(in, args[0], 2, false, 0); }
Value hstack(Interpreter& in, Args args) { return joined(in, args[0], 1, false, 1); }
Value column_stack(Interpreter& in, Args args) { return joined(in, args[0], 2, true, 1); }

Value divmod(Interpreter& in, Args args) {
  return make_tuple({binary(in, ast::BinaryOp::floordiv, wrap(as_node(in, args[0])), args[1]), binary(in, ast::BinaryOp::mod, wrap(as_node(in, args[0])), args[1])});
}

}  // namespace

std::vector<NativeFunction> shape_functions() {
  return {
      {"flip", "m, axis=None", flip, "A view with the order along the axes reversed."},
      {"vstack", "tup", vstack, "Stacked as rows."},
      {"hstack", "tup", hstack, "Joined side by side."},
      {"column_stack", "tup", column_stack, "One-dimensional arrays as columns."},
      {"divmod", "x1, x2, /", divmod, "(x1 // x2, x1 % x2)."},
  };
}

}  // namespace gasell::numpy
