// np.flip.
#include <algorithm>

#include "lang/diagnostic.h"
#include "stdlib/numpy/methods.h"

namespace gasell::numpy {
namespace {

using Args = std::span<Value>;

Value shared(Array a) { return Value::make<NdArray>(std::move(a)); }

Value flip(Interpreter& in, Args args) {
  const Array a = as_array(in, args[0]);
  Shape shape = a.shape();
  Array::Axes axes;
  for (int k = 0; k < a.rank(); ++k) axes.push_back({k, 0, 1});
  for (int k : args[1].is_none() ? to_axes(in, args[1], a.rank()) : to_axis_tuple(in, args[1], a.rank()))
    axes[static_cast<size_t>(k)] = {k, std::max<int64_t>(0, shape[static_cast<size_t>(k)] - 1), -1};
  return a.rank() == 0 ? wrap(a.node()) : shared(a.view(std::move(shape), std::move(axes)));
}

}  // namespace

std::vector<NativeFunction> shape_functions() {
  return {
      {"flip", "m, axis=None", flip, "A view with the order along the axes reversed."},
  };
}

}  // namespace gasell::numpy
