// Variances of parts of an array, which somebody brings together: those of a cluster's tasks.
#include "compiler/graph/variance_part.h"
#include "stdlib/library.h"
#include "stdlib/numpy/host.h"

namespace gasell::numpy {
namespace {

using Args = std::span<Value>;
using graph::VariancePart;

/// variance_parts(a, axis): what the engine's variance of these elements is made of.
Value variance_parts(Interpreter& in, Args args) {
  const NodeRef x = graph::cast(as_array(in, args[0]).node(), DType::f64);
  std::vector<int> axes;
  if (args[1].is_none())
    for (int k = 0; k < x->rank(); ++k) axes.push_back(k);
  else
    axes.push_back(to_axis(in, args[1], x->rank()));
  std::vector<Value> parts;
  for (const VariancePart part : {VariancePart::shift, VariancePart::offset, VariancePart::spread})
    parts.push_back(wrap_array(graph::reduce(graph::ReduceOp::var, x, axes, graph::ddof_of(part))));
  return make_tuple(std::move(parts));
}

}  // namespace

std::vector<NativeFunction> variance_functions() {
  return {{"variance_parts", "a, axis", variance_parts, "(shift, offset, spread) of real elements, of which the variance is made."}};
}

}  // namespace gasell::numpy
