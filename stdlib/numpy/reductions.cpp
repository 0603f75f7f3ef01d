// sum, mean, argmax and the like: NumPy's dtype rules over graph reductions.
#include <algorithm>
#include <map>

#include "compiler/graph/variance_part.h"
#include "lang/diagnostic.h"
#include "runtime/array/chunk_sizes.h"
#include "runtime/session/dict.h"
#include "stdlib/library_object.h"
#include "stdlib/numpy/chunks.h"
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

/// What a call of a reduction gives; missing() where the function has no such parameter or it was left out.
struct Call {
  std::string_view name;
  Value a, axis, dtype, out, keepdims, ddof = missing(), initial = missing(), where = missing(), mean = missing();
};

bool given(const Value& v) { return !is_missing(v) && !v.is_none(); }

NodeRef number_like(double value, DType type) { return graph::constant(Scalar::of_float(value).cast(type)); }

/// The elements where the mask is true, `other` elsewhere.
NodeRef masked(const NodeRef& x, const NodeRef& mask, double other) {
  return graph::map(ScalarOp::select, {mask, x, number_like(other, x->dtype)});
}

/// Sums by their numbers of elements. NumPy adds in a dtype of whole numbers where that is asked for, and wraps around in it; float16 may
/// not hold the numbers of elements.
NodeRef mean_of(const NodeRef& sum, const NodeRef& count) {
  const DType real = (is_float(sum->dtype) && sum->dtype != DType::f16) || is_complex(sum->dtype) ? sum->dtype : DType::f64;
  return graph::cast(graph::map(ScalarOp::div, {graph::cast(sum, real), graph::cast(count, real)}), sum->dtype);
}

/// var and std with a mask or a known mean, and of float16, of which each step is rounded: the mean of squared distances over what the mask
/// keeps.
NodeRef masked_variance(Interpreter& in, const Call& c, NodeRef x, const NodeRef& mask, int64_t ddof, bool keepdims) {
  const auto wanted = to_dtype(in, c.dtype);
  x = graph::cast(x, wanted ? *wanted : mean_type(x->dtype));
  const DType real = x->dtype == DType::f16 ? DType::f64 : real_of(x->dtype);
  const NodeRef everywhere = graph::broadcast_to(mask, graph::broadcast_shapes({x->shape, mask->shape}));
  const auto count = [&](bool keep) { return reduce(in, "sum", everywhere, c.axis, Value(), keep, 0); };
  const auto sum = [&](const NodeRef& v, bool keep) { return reduce(in, "sum", masked(v, everywhere, 0), c.axis, Value(), keep, 0); };
  const NodeRef mean = given(c.mean) ? graph::cast(as_node(in, c.mean), x->dtype) : mean_of(sum(x, true), count(true));
  const NodeRef apart = graph::map(ScalarOp::sub, {x, mean});
  NodeRef square = graph::map(ScalarOp::mul, {apart, apart});
  if (is_complex(x->dtype)) square = graph::map(ScalarOp::real, {graph::map(ScalarOp::mul, {apart, graph::map(ScalarOp::conj, {apart})})});
  const NodeRef degrees = graph::map(
      ScalarOp::max, {graph::map(ScalarOp::sub, {graph::cast(count(keepdims), real), number_like(static_cast<double>(ddof), real)}),
                      number_like(0, real)});
  const NodeRef variance = mean_of(sum(square, keepdims), degrees);
  return c.name == "std" ? graph::map(ScalarOp::sqrt, {variance}) : variance;
}

/// Reductions with where=: what the mask leaves out becomes the identity.
NodeRef masked_reduction(Interpreter& in, const Call& c, const NodeRef& x, const NodeRef& mask, bool keepdims) {
  const std::string_view name = c.name;
  if (name == "sum") return reduce(in, name, masked(x, mask, 0), c.axis, c.dtype, keepdims, 0);
  if (name == "prod") return reduce(in, name, masked(x, mask, 1), c.axis, c.dtype, keepdims, 0);
  if (name == "any" || name == "all")
    return reduce(in, name, masked(graph::cast(x, DType::boolean), mask, name == "all"), c.axis, Value(), keepdims, 0);
  if (name == "mean") {
    const auto wanted = to_dtype(in, c.dtype);
    const DType type = wanted ? *wanted : mean_type(x->dtype);  // float16 is added as float32 unless asked for
    const NodeRef terms = graph::cast(x, wanted ? type : arithmetic_type(type));
    const NodeRef sum = reduce(in, "sum", masked(terms, mask, 0), c.axis, c.dtype, keepdims, 0);
    const NodeRef everywhere = graph::broadcast_to(mask, graph::broadcast_shapes({x->shape, mask->shape}));
    return graph::cast(mean_of(sum, reduce(in, "sum", everywhere, c.axis, Value(), keepdims, 0)), type);
  }
  if (is_missing(c.initial))
    raise("ValueError", "reduction operation '" + std::string(name == "min" ? "minimum" : "maximum") +
                            "' does not have an identity, so to use a where mask one has to specify 'initial'");
  const NodeRef initial = graph::cast(as_node(in, c.initial), x->dtype);
  return reduce(in, name, graph::map(ScalarOp::select, {mask, x, initial}), c.axis, c.dtype, keepdims, 0);
}

/// `result` combined with initial=.
NodeRef with_initial(std::string_view name, const NodeRef& result, const NodeRef& initial) {
  const ScalarOp op = name == "sum" ? ScalarOp::add : name == "prod" ? ScalarOp::mul : name == "min" ? ScalarOp::min : ScalarOp::max;
  return graph::map(op, {result, graph::cast(initial, result->dtype)});
}

/// The reduction of an empty axis is `initial` alone.
NodeRef reduce_with_initial(Interpreter& in, const Call& c, const NodeRef& x, bool keepdims) {
  const NodeRef initial = as_node(in, c.initial);
  if ((c.name == "min" || c.name == "max") && x->size() == 0) {
    const NodeRef shape = reduce(in, "sum", x, c.axis, Value(), keepdims, 0);
    return graph::broadcast_to(graph::cast(initial, x->dtype), shape->shape);
  }
  return with_initial(c.name, reduce(in, c.name, x, c.axis, c.dtype, keepdims, 0), initial);
}

/// where=: booleans. TypeError for numbers, which are no mask.
NodeRef mask_of(Interpreter& in, const Value& where) {
  const NodeRef mask = as_node(in, where);
  if (mask->dtype != DType::boolean)
    raise("TypeError",
          "Cannot cast array data from dtype('" + std::string(name_of(mask->dtype)) + "') to dtype('bool') according to the rule 'safe'");
  return mask;
}

Value reduce_call(Interpreter& in, const Call& c) {
  // The least integers name parts of a variance (variance_part.h); as a float, what follows them is the same number.
  const int64_t ddof = is_missing(c.ddof) ? 0 : std::max(to_index(in, c.ddof), graph::ddof_of(graph::VariancePart::spread) + 1);
  const bool keepdims = truth_or(in, c.keepdims, false);
  const bool everything = is_missing(c.where) || (c.where.is_bool() && c.where.as_int());
  const NodeRef x = as_node(in, c.a);
  NodeRef result;
  const bool deviation = c.name == "var" || c.name == "std";
  const auto wanted = to_dtype(in, c.dtype);
  if (deviation && wanted && !is_float(*wanted) && !(is_complex(*wanted) && is_complex(x->dtype)))
    raise("NotImplementedError", "np." + std::string(c.name) + "(dtype='" + std::string(name_of(*wanted)) + "') is not in Gasell",
          "a floating-point dtype is what it computes in");
  const bool rounded = wanted.value_or(x->dtype) == DType::f16;
  if (deviation && (!everything || given(c.mean) || rounded))
    result = masked_variance(in, c, x, everything ? graph::constant(Scalar::of_bool(true)) : mask_of(in, c.where), ddof, keepdims);
  else if (!everything)
    result = masked_reduction(in, c, x, mask_of(in, c.where), keepdims);
  else if (!is_missing(c.initial))
    result = reduce_with_initial(in, c, x, keepdims);
  else
    result = reduce(in, c.name, x, c.axis, c.dtype, keepdims, ddof);
  if (!everything && !is_missing(c.initial)) result = with_initial(c.name, result, as_node(in, c.initial));
  static const std::map<std::string_view, std::string_view> kUfuncs = {
      {"sum", "add"}, {"prod", "multiply"}, {"min", "minimum"}, {"max", "maximum"}};
  const auto ufunc = kUfuncs.find(c.name);
  Value reduced = give_reduced(in, ufunc == kUfuncs.end() ? c.name : ufunc->second, result, c.out, Casting::unsafe);
  const auto* whole = c.a.as<NdArray>();
  if (!whole || whole->array.requested_chunks().empty() || c.axis.is_none() || is_missing(c.axis)) return reduced;
  return with_chunks(std::move(reduced), reduced_chunks(whole->array, to_axes(in, c.axis, whole->array.rank()), keepdims));
}

constexpr const char* kNames[] = {"sum", "prod", "mean", "std", "var", "min", "max", "any", "all", "argmin", "argmax", "amin", "amax"};
constexpr size_t kCount = std::size(kNames);

std::string_view canonical_name(std::string_view name) { return name == "amin" ? "min" : name == "amax" ? "max" : name; }

std::string signature(std::string_view name, const char* first) {
  const std::string a = first;
  if (name == "std" || name == "var")
    return a + "axis=None, dtype=None, out=None, ddof=missing, keepdims=False, *, where=True, mean=missing, correction=missing";
  if (name == "sum" || name == "prod") return a + "axis=None, dtype=None, out=None, keepdims=False, initial=missing, where=True";
  if (name == "mean") return a + "axis=None, dtype=None, out=None, keepdims=False, *, where=True";
  if (name == "argmin" || name == "argmax") return a + "axis=None, out=None, *, keepdims=False";
  if (name == "any" || name == "all") return a + "axis=None, out=None, keepdims=False, *, where=True";
  return a + "axis=None, out=None, keepdims=False, initial=missing, where=True";
}

/// The answer of an object that has one, for a call that says no more than its axis and ddof.
Value answer_of_object(Interpreter& in, std::string_view name, std::span<Value> args) {
  if (!args[0].as<LibraryObject>()) return Value::absent();
  const bool deviation = name == "std" || name == "var";
  std::vector<std::pair<std::string, Value>> keywords{{"axis", args[1]}};
  if (deviation) keywords.emplace_back("ddof", !is_missing(args[8]) ? args[8] : is_missing(args[4]) ? Value::of(0) : args[4]);
  return own_answer(in, name, args[0], {}, std::move(keywords));
}

template <size_t index>
Value entry(Interpreter& in, std::span<Value> args) {
  const std::string_view name = canonical_name(kNames[index]);
  if (const Value own = answer_of_object(in, name, args); !own.is_absent()) return own;
  if (name == "std" || name == "var") {
    if (!is_missing(args[8]) && !is_missing(args[4])) raise("ValueError", "ddof and correction can't be provided simultaneously.");
    return reduce_call(
        in, {name, args[0], args[1], args[2], args[3], args[5], is_missing(args[8]) ? args[4] : args[8], missing(), args[6], args[7]});
  }
  if (name == "sum" || name == "prod")
    return reduce_call(in, {name, args[0], args[1], args[2], args[3], args[4], missing(), args[5], args[6]});
  if (name == "mean") return reduce_call(in, {name, args[0], args[1], args[2], args[3], args[4], missing(), missing(), args[5]});
  if (name == "argmin" || name == "argmax") return reduce_call(in, {name, args[0], args[1], missing(), args[2], args[3]});
  if (name == "any" || name == "all")
    return reduce_call(in, {name, args[0], args[1], missing(), args[2], args[3], missing(), missing(), args[4]});
  return reduce_call(in, {name, args[0], args[1], missing(), args[2], args[3], missing(), args[4], args[5]});
}

template <size_t... index>
std::vector<NativeFunction> table(const char* first, std::index_sequence<index...>) {
  std::vector<NativeFunction> functions;
  (functions.push_back(
       {kNames[index], signature(kNames[index], first), &entry<index>, "Reduces over `axis` (an int, a tuple, or None for all axes)."}),
   ...);
  return functions;
}

}  // namespace

Value own_answer(Interpreter& in, std::string_view function, const Value& object, std::vector<Value> positional,
                 std::vector<std::pair<std::string, Value>> keywords) {
  auto* asked = object.as<LibraryObject>();
  if (!asked || !asked->has(in, "__array_function__")) return Value::absent();
  Value named = make_dict();
  for (auto& [name, value] : keywords) named.as<Dict>()->insert(in, make_str(name), std::move(value));
  Value answer = asked->call_method(in, "__array_function__", {make_str(std::string(function)), make_tuple(std::move(positional)), named});
  return answer.same(not_implemented()) ? Value::absent() : answer;
}

NodeRef reduce(Interpreter& in, std::string_view name, const NodeRef& given, const Value& axis, const Value& dtype, bool keepdims,
               int64_t ddof) {
  static const std::map<std::string_view, ReduceOp> kOps = {
      {"sum", ReduceOp::sum},       {"prod", ReduceOp::prod}, {"min", ReduceOp::min},   {"max", ReduceOp::max},
      {"any", ReduceOp::any},       {"all", ReduceOp::all},   {"mean", ReduceOp::mean}, {"argmin", ReduceOp::argmin},
      {"argmax", ReduceOp::argmax}, {"var", ReduceOp::var},   {"std", ReduceOp::var}};
  ReduceOp op = kOps.at(name);
  const std::optional<DType> wanted = to_dtype(in, dtype);
  NodeRef x = given;
  std::vector<int> axes;
  if ((op == ReduceOp::argmin || op == ReduceOp::argmax) && axis.as<Tuple>())
    raise("TypeError", "'tuple' object cannot be interpreted as an integer");
  // NumPy counts what it divides by, which needs an axis that is there.
  if ((op == ReduceOp::mean || op == ReduceOp::var) && !axis.is_none() && !is_missing(axis) && !axis.as<Tuple>())
    to_axis(in, axis, x->rank());
  axes = to_axes(in, axis, x->rank());
  if (op == ReduceOp::sum || op == ReduceOp::prod) x = graph::cast(x, wanted ? *wanted : sum_type(x->dtype));
  if (op == ReduceOp::mean || op == ReduceOp::var) x = graph::cast(x, wanted ? *wanted : mean_type(x->dtype));
  if (op == ReduceOp::mean && ((!is_float(x->dtype) && !is_complex(x->dtype)) || wanted == DType::f16)) {
    int64_t count = 1;
    for (const int k : axes) count *= x->shape[static_cast<size_t>(k)];
    return mean_of(reduce(in, "sum", x, axis, dtype, keepdims, 0), graph::constant(Scalar::of_int(count)));
  }
  if (x->dtype == DType::boolean && op == ReduceOp::sum) op = ReduceOp::any;  // with dtype=bool
  if (x->dtype == DType::boolean && op == ReduceOp::prod) op = ReduceOp::all;
  NodeRef result = graph::reduce(op, x, axes, ddof);
  if (name == "std") result = graph::map(ScalarOp::sqrt, {result});
  std::sort(axes.begin(), axes.end());
  return keepdims ? keep_dimensions(result, x->shape, axes) : result;
}

std::vector<NativeFunction> reduction_functions() { return table("a, ", std::make_index_sequence<kCount>()); }

std::vector<NativeFunction> reduction_methods() { return table("self, ", std::make_index_sequence<kCount - 2>()); }

}  // namespace gasell::numpy
