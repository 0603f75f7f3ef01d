// np.flip and np.divmod.
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
  for (int k : to_axes(in, args[1], a.rank()))
    axes[static_cast<size_t>(k)] = {k, std::max<int64_t>(0, shape[static_cast<size_t>(k)] - 1), -1};
  return shared(a.view(std::move(shape), std::move(axes)));
}

Value divmod(Interpreter& in, Args args) {
  return make_tuple({binary(in, ast::BinaryOp::floordiv, wrap(as_node(in, args[0])), args[1]),
                     binary(in, ast::BinaryOp::mod, wrap(as_node(in, args[0])), args[1])});
}

}  // namespace

std::vector<NativeFunction> shape_functions() {
  return {
      {"flip", "m, axis=None", flip, "A view with the order along the axes reversed."},
      {"divmod", "x1, x2, /", divmod, "(x1 // x2, x1 % x2)."},
  };
}

}  // namespace gasell::numpy
