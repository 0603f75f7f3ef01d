// Views and conversions that the library's functions are written with.
#include <algorithm>

#include "stdlib/numpy/host.h"
#include "stdlib/numpy/methods.h"
#include "stdlib/numpy/ufunc_object.h"

namespace gasell::numpy {
namespace {

using Args = std::span<Value>;

/// as_array(x, dtype): np.asarray without evaluating anything.
Value lazy_array(Interpreter& in, Args args) {
  const auto dtype = to_dtype(in, args[1]);
  if (const auto* a = args[0].as<NdArray>(); a && (!dtype || *dtype == a->array.dtype())) return args[0];
  return wrap_array(as_node(in, args[0], dtype));
}

/// wrap(x): NumPy's rule for results: a 0-d array becomes a scalar.
Value scalar_or_array(Interpreter& in, Args args) {
  const NodeRef node = as_node(in, args[0]);
  return node->shape.empty() ? wrap(node) : args[0];
}

/// diagonal(a, offset, axis1, axis2): a read-only view; axes are not negative and not the same.
Value diagonal(Interpreter& in, Args args) {
  const Array a = as_array(in, args[0]);
  const int64_t offset = to_index(in, args[1]);
  const int first = to_axis(in, args[2], a.rank(), "axis1: "), second = to_axis(in, args[3], a.rank(), "axis2: ");
  if (first == second) raise("ValueError", "axis1 and axis2 cannot be the same");
  const int64_t down = std::max<int64_t>(0, -offset), right = std::max<int64_t>(0, offset);
  const int64_t count =
      std::max<int64_t>(0, std::min(a.shape()[static_cast<size_t>(first)] - down, a.shape()[static_cast<size_t>(second)] - right));
  Shape shape;
  Array::Axes axes(static_cast<size_t>(a.rank()));
  for (int k = 0; k < a.rank(); ++k) {
    if (k == first || k == second) continue;
    axes[static_cast<size_t>(k)] = {static_cast<int>(shape.size()), 0, 1};
    shape.push_back(a.shape()[static_cast<size_t>(k)]);
  }
  axes[static_cast<size_t>(first)] = {static_cast<int>(shape.size()), count ? down : 0, 1};
  axes[static_cast<size_t>(second)] = {static_cast<int>(shape.size()), count ? right : 0, 1};
  shape.push_back(count);
  Array diagonals = a.view(std::move(shape), std::move(axes));
  diagonals.set_writable(false);  // as NumPy's: whoever wants to may write
  return Value::make<NdArray>(std::move(diagonals));
}

/// view_as(a, dtype): the same memory as elements of another dtype.
Value view_as(Interpreter& in, Args args) {
  return Value::make<NdArray>(as_array(in, args[0]).view_as(in.engine(), *to_dtype(in, args[1])));
}

/// normalize_axis(axis, rank, prefix): AxisError where it is none.
Value normalize_axis(Interpreter& in, Args args) {
  return Value::of(to_axis(in, args[0], static_cast<int>(to_index(in, args[1])), str(in, args[2]).c_str()));
}

/// plain_axis(axis, rank): the same where NumPy takes no truth value as an axis.
Value plain_axis(Interpreter& in, Args args) { return Value::of(to_plain_axis(in, args[0], static_cast<int>(to_index(in, args[1])))); }

/// along(a, axis): the array and the axis of one of NumPy's loops along an axis: flat without one, and 0-d arrays as vectors.
Value along(Interpreter& in, Args args) {
  Array a = as_array(in, args[0]);
  if (args[1].is_none() || a.rank() == 0) a = a.reshape({a.size()});
  const int axis = args[1].is_none() ? 0 : to_plain_axis(in, args[1], a.rank());
  return make_tuple({Value::make<NdArray>(std::move(a)), Value::of(axis)});
}

Value tuple_of(const std::vector<int>& axes) {
  std::vector<Value> values;
  for (int a : axes) values.push_back(Value::of(a));
  return make_tuple(std::move(values));
}

/// normalize_axes(axis, rank, prefix): a tuple for None, an int or what gives ints.
Value normalize_axes(Interpreter& in, Args args) {
  const int rank = static_cast<int>(to_index(in, args[1]));
  return tuple_of(args[0].is_none() ? to_axes(in, args[0], rank) : to_axis_tuple(in, args[0], rank, str(in, args[2]).c_str()));
}

/// reduced_axes(axis, rank): a tuple for what reductions take as their axes.
Value reduced_axes(Interpreter& in, Args args) { return tuple_of(to_axes(in, args[0], static_cast<int>(to_index(in, args[1])))); }

/// give(result, out, name): the result, or out with the result in it.
Value give_out(Interpreter& in, Args args) {
  if (args[1].is_none()) return args[0];
  return give(in, str(in, args[2]), as_node(in, args[0]), args[1], truth(in, args[3]) ? Casting::unsafe : Casting::same_kind);
}

/// give_reduced(result, out, name): the same where out must have the shape of the result.
Value give_reduced_out(Interpreter& in, Args args) {
  if (args[1].is_none()) return args[0];
  return give_reduced(in, str(in, args[2]), as_node(in, args[0]), args[1], truth(in, args[3]) ? Casting::unsafe : Casting::same_kind);
}

Value dtypes(std::initializer_list<DType> types) {
  std::vector<Value> values;
  for (const DType t : types) values.push_back(dtype_object(t));
  return make_tuple(std::move(values));
}

/// loop_dtypes(ufunc, *dtypes): what its loop for operands of these dtypes takes them as, and gives; None for what is none of np's.
Value loop_dtypes(Interpreter& in, Args args) {
  const Ufunc* f = ufunc_of(args[0]);
  if (!f) return {};
  std::vector<Operand> operands;
  for (const Value& v : args[1].as<Tuple>()->items) operands.push_back({graph::constant(Scalar::of_int(0).cast(*to_dtype(in, v))), 0});
  const Loop& loop = resolve(f->name, f->loops, operands);
  return dtypes({loop.in[0], loop.in[1], loop.out[0]});
}

/// reduction_dtypes(ufunc, elements, dtype, out): what a reduction of elements of a dtype starts with and gives, and what it takes each
/// element as. `dtype` and `out`, a dtype, may be None. Ufuncs that are none of np's take elements as they are, or as dtype=.
Value reduction_dtypes(Interpreter& in, Args args) {
  const DType elements = *to_dtype(in, args[1]);
  const std::optional<DType> dtype = to_dtype(in, args[2]);
  const Ufunc* f = ufunc_of(args[0]);
  if (!f) return dtypes({dtype.value_or(elements), dtype.value_or(elements)});
  const Loop& loop = resolve_reduction(f->name, f->loops, elements, dtype, to_dtype(in, args[3]));
  return dtypes({loop.in[0], loop.in[1]});
}

Value shares_memory(Interpreter&, Args args) {
  const auto *a = args[0].as<NdArray>(), *b = args[1].as<NdArray>();
  return Value::of(a && b && a->array.same_memory(b->array));
}

/// weak_kind(x): 'b', 'i', 'f' or 'c' for Python's numbers, '' for what has a dtype.
Value weak_kind(Interpreter& in, Args args) {
  const auto o = try_operand(in, args[0]);
  return make_str(o && o->weak ? std::string(1, o->weak) : std::string());
}

}  // namespace

std::vector<NativeFunction> view_functions() {
  return {
      {"as_array", "x, dtype=None", lazy_array, "np.asarray without evaluating."},
      {"scalar_or_array", "x", scalar_or_array, "A scalar for a 0-d array, else itself."},
      {"diagonal", "a, offset, axis1, axis2", diagonal, "A read-only view."},
      {"view_as", "a, dtype", view_as, "The same memory as elements of another dtype."},
      {"normalize_axis", "axis, rank, prefix=''", normalize_axis, "Counted from the front."},
      {"plain_axis", "axis, rank", plain_axis, "Counted from the front; no truth value."},
      {"along", "a, axis", along, "The array and the axis of a loop along an axis."},
      {"normalize_axes", "axis, rank, prefix=''", normalize_axes, "Counted from the front, as a tuple."},
      {"reduced_axes", "axis, rank", reduced_axes, "The axes of a reduction, as a tuple."},
      {"give", "result, out, name, any_cast=False", give_out,
       "The result, or out with the result in it; the cast must be of the same kind."},
      {"give_reduced", "result, out, name, any_cast=False", give_reduced_out, "The same where out must have the shape of the result."},
      {"loop_dtypes", "ufunc, *dtypes", loop_dtypes, "What a ufunc takes operands of dtypes as, and gives."},
      {"reduction_dtypes", "ufunc, elements, dtype, out", reduction_dtypes, "What a reduction gives, and takes elements as."},
      {"shares_memory", "a, b", shares_memory, "Whether writes to one may show in the other."},
      {"weak_kind", "x", weak_kind, "The kind of a Python number, else ''."},
  };
}

}  // namespace gasell::numpy
