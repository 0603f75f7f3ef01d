// Functions of np that stack, flip and compare whole arrays: all said through joins, views, ufuncs and reductions.
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

Value all_of(Interpreter& in, NodeRef x) { return Value::of(truth(in, wrap(reduce(in, "all", x, Value(), missing(), false, 0)))); }

Value array_equal(Interpreter& in, Args args) {
  const NodeRef a = as_node(in, args[0]), b = as_node(in, args[1]);
  if (a->shape != b->shape) return Value::of(false);
  const Operand operands[] = {{a, 0}, {b, 0}};
  return all_of(in, apply("equal", operands));
}

/// |a - b| <= atol + rtol * |b|, or equal (infinities).
NodeRef close_to(Interpreter& in, Args args) {
  const NodeRef a = as_node(in, args[0]), b = as_node(in, args[1]);
  const auto binary = [](const char* name, NodeRef x, NodeRef y) {
    const Operand operands[] = {{std::move(x), 0}, {std::move(y), 0}};
    return apply(name, operands);
  };
  const auto size_of = [](NodeRef x) {
    const Operand operands[] = {{std::move(x), 0}};
    return apply("absolute", operands);
  };
  const auto number = [&](const Value& v) { return graph::constant(Scalar::of_float(to_double(in, v))); };
  const NodeRef bound = binary("add", number(args[3]), binary("multiply", number(args[2]), size_of(b)));
  const Operand finite[] = {{b, 0}};
  const NodeRef near = binary("logical_and", binary("less_equal", size_of(binary("subtract", a, b)), bound), apply("isfinite", finite));
  NodeRef result = binary("logical_or", near, binary("equal", a, b));
  if (truth(in, args[4])) {
    const Operand of_a[] = {{a, 0}};
    result = binary("logical_or", result, binary("logical_and", apply("isnan", of_a), apply("isnan", finite)));
  }
  return result;
}
Value isclose(Interpreter& in, Args args) { return wrap(close_to(in, args)); }
Value allclose(Interpreter& in, Args args) { return all_of(in, close_to(in, args)); }

Value divmod(Interpreter& in, Args args) {
  return make_tuple({binary(in, ast::BinaryOp::floordiv, wrap(as_node(in, args[0])), args[1]), binary(in, ast::BinaryOp::mod, wrap(as_node(in, args[0])), args[1])});
}

}  // namespace

std::vector<NativeFunction> shape_functions() {
  static constexpr const char* kClose = "a, b, rtol=1e-05, atol=1e-08, equal_nan=False";
  return {
      {"flip", "m, axis=None", flip, "A view with the order along the axes reversed."},
      {"vstack", "tup", vstack, "Stacked as rows."},
      {"hstack", "tup", hstack, "Joined side by side."},
      {"column_stack", "tup", column_stack, "One-dimensional arrays as columns."},
      {"array_equal", "a1, a2", array_equal, "Whether shapes and all elements are equal."},
      {"isclose", kClose, isclose, "Whether |a - b| <= atol + rtol * |b|, element by element."},
      {"allclose", kClose, allclose, "Whether all elements are close."},
      {"divmod", "x1, x2, /", divmod, "(x1 // x2, x1 % x2)."},
  };
}

}  // namespace gasell::numpy
