// sum, mean, argmax and the like: NumPy's dtype rules over graph reductions.
#include <algorithm>
#include <map>

#include "lang/diagnostic.h"
#include "stdlib/numpy/methods.h"
#include "stdlib/numpy/ufunc.h"

namespace gasell::numpy {
namespace {

using graph::ReduceOp;

DType sum_type(DType t) {
  if (kind(t) == 'b' || kind(t) == 'i') return DType::i64;
  return kind(t) == 'u' ? DType::u64 : t;
}
DType mean_type(DType t) { return is_float(t) || is_complex(t) ? t : DType::f64; }

NodeRef keep_dimensions(const NodeRef& reduced, const Shape& shape, const std::vector<int>& axes) {
  Shape wide = shape;
  for (int a : axes) wide[static_cast<size_t>(a)] = 1;
  return graph::reshape(reduced, wide);
}

bool truth_or(Interpreter& in, const Value& v, bool otherwise) { return is_missing(v) ? otherwise : truth(in, v); }

/// Arguments every reduction of np takes: a, axis, dtype, out, keepdims, then ddof.
Value reduce_call(Interpreter& in, std::string_view name, const Value& a, const Value& axis, const Value& dtype, const Value& out, const Value& keepdims, const Value& ddof) {
  const int64_t degrees = is_missing(ddof) ? 0 : to_index(in, ddof);
  const NodeRef result = reduce(in, name, as_node(in, a), axis, dtype, truth_or(in, keepdims, false), degrees);
  if (!is_missing(out) && !out.is_none()) {
    auto* target = out.as<NdArray>();
    if (!target) raise("TypeError", "output must be an array");
    target->array.assign(in.engine(), result);
    return out;
  }
  return wrap(result);
}

constexpr const char* kNames[] = {"sum", "prod", "mean", "std", "var", "min", "max", "any", "all", "argmin", "argmax", "amin", "amax"};
constexpr size_t kCount = std::size(kNames);

std::string_view canonical_name(std::string_view name) { return name == "amin" ? "min" : name == "amax" ? "max" : name; }

std::string signature(std::string_view name, const char* first) {
  const std::string a = first;
  if (name == "std" || name == "var") return a + "axis=None, dtype=None, out=None, ddof=0, keepdims=False";
  if (name == "sum" || name == "prod" || name == "mean") return a + "axis=None, dtype=None, out=None, keepdims=False";
  return a + "axis=None, out=None, keepdims=False";
}

template <size_t index>
Value entry(Interpreter& in, std::span<Value> args) {
  const std::string_view name = kNames[index];
  if (name == "std" || name == "var") return reduce_call(in, name, args[0], args[1], args[2], args[3], args[5], args[4]);
  if (name == "sum" || name == "prod" || name == "mean") return reduce_call(in, name, args[0], args[1], args[2], args[3], args[4], missing());
  return reduce_call(in, canonical_name(name), args[0], args[1], missing(), args[2], args[3], missing());
}

template <size_t... index>
std::vector<NativeFunction> table(const char* first, std::index_sequence<index...>) {
  std::vector<NativeFunction> functions;
  (functions.push_back({kNames[index], signature(kNames[index], first), &entry<index>, "Reduces over `axis` (an int, a tuple, or None for all axes)."}), ...);
  return functions;
}

}  // namespace

NodeRef reduce(Interpreter& in, std::string_view name, const NodeRef& given, const Value& axis, const Value& dtype, bool keepdims, int64_t ddof) {
  static const std::map<std::string_view, ReduceOp> kOps = {{"sum", ReduceOp::sum}, {"prod", ReduceOp::prod},     {"min", ReduceOp::min},       {"max", ReduceOp::max},   {"any", ReduceOp::any}, {"all", ReduceOp::all},
                                                            {"mean", ReduceOp::mean}, {"argmin", ReduceOp::argmin}, {"argmax", ReduceOp::argmax}, {"var", ReduceOp::var}, {"std", ReduceOp::var}};
  const ReduceOp op = kOps.at(name);
  const std::optional<DType> wanted = to_dtype(in, dtype);
  NodeRef x = given;
  std::vector<int> axes;
  if ((op == ReduceOp::argmin || op == ReduceOp::argmax) && axis.as<Tuple>()) raise("TypeError", "'tuple' object cannot be interpreted as an integer");
  // NumPy lets 0-d arrays be reduced along axis 0 or -1.
  const bool of_nothing = x->rank() == 0 && op != ReduceOp::mean && op != ReduceOp::var && axis.is_int() && (axis.as_int() == 0 || axis.as_int() == -1);
  if (!of_nothing) axes = to_axes(in, axis, x->rank());
  if (op == ReduceOp::sum || op == ReduceOp::prod) x = graph::cast(x, wanted ? *wanted : sum_type(x->dtype));
  if (op == ReduceOp::mean || op == ReduceOp::var) x = graph::cast(x, wanted ? *wanted : mean_type(x->dtype));
  if ((op == ReduceOp::mean) && !is_float(x->dtype) && !is_complex(x->dtype)) x = graph::cast(x, DType::f64);
  if (op == ReduceOp::sum && x->dtype == DType::boolean) x = graph::cast(x, DType::i64);
  NodeRef result = graph::reduce(op, x, axes, ddof);
  if (op == ReduceOp::mean && wanted) result = graph::cast(result, *wanted);
  if (name == "std") result = graph::map(ScalarOp::sqrt, {result});
  std::sort(axes.begin(), axes.end());
  return keepdims ? keep_dimensions(result, x->shape, axes) : result;
}

std::vector<NativeFunction> reduction_functions() { return table("a, ", std::make_index_sequence<kCount>()); }

std::vector<NativeFunction> reduction_methods() { return table("self, ", std::make_index_sequence<kCount - 2>()); }

}  // namespace gasell::numpy
