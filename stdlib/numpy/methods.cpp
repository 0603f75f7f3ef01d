// Methods and properties of arrays; NumPy scalars have those that make sense for them.
#include "stdlib/numpy/methods.h"
#include "runtime/array/chunk_sizes.h"
#include "runtime/device/parse_bytes.h"
#include "runtime/session/list_sequence.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "lang/diagnostic.h"
#include "stdlib/library.h"
#include "stdlib/library_object.h"
#include "stdlib/numpy/array_flags.h"
#include "stdlib/numpy/chunks.h"
#include "stdlib/numpy/exchange.h"
#include "stdlib/numpy/host.h"
#include "stdlib/numpy/memory_order.h"
#include "stdlib/numpy/products.h"
#include "stdlib/numpy/typed.h"
#include "stdlib/numpy/ufunc.h"

namespace gasell::numpy {
namespace {

using Args = std::span<Value>;

/// An array of a method's self: arrays share their memory, NumPy scalars become 0-d arrays.
Array self_array(const Value& v) {
  if (const auto* a = v.as<NdArray>()) return a->array;
  return Array(v.as<ArrayLike>()->node());
}
NodeRef self_node(const Value& v) { return v.as<ArrayLike>()->node(); }
Value shared(Array a) { return Value::make<NdArray>(std::move(a)); }

Value reshape(Interpreter& in, Args args) {  // *shape, order, copy
  const Array a = self_array(args[0]);
  if (args[1].as<Tuple>()->items.empty()) raise("TypeError", "reshape() takes exactly 1 argument (0 given)");
  if (order_letter(in, args[2], 'C') == 'K') raise("ValueError", "order 'K' is not permitted for reshaping");
  const bool fortran = !to_axis_order(in, args[2], 2, &a).empty();
  const auto& extents = args[1].as<Tuple>()->items;
  Shape shape = extents.size() == 1 && extents[0].is_none() ? a.shape() : shape_argument(in, extents, a.size());
  const auto reversed = [](const Array& x) {
    std::vector<int> axes;
    for (int k = x.rank(); k-- > 0;) axes.push_back(k);
    return transposed(x, axes);
  };
  if (shape.empty() && args[0].as<NumpyScalar>()) return args[0];
  if (fortran) std::reverse(shape.begin(), shape.end());
  Array result = fortran ? reversed(reversed(a).reshape(shape)) : a.reshape(shape);
  if (is_missing(args[3]) || args[3].is_none()) return shared(std::move(result));
  if (truth(in, args[3])) return wrap_array(result.node());
  if (!result.same_memory(a)) raise("ValueError", "Unable to avoid creating a copy while reshaping.");
  return shared(std::move(result));
}
Value transpose(Interpreter& in, Args args) {
  const Array a = self_array(args[0]);
  std::vector<Value> order = args[1].as<Tuple>()->items;
  if (order.size() == 1 && !order[0].is_int()) order = order[0].is_none() ? std::vector<Value>{} : to_vector(in, order[0]);
  std::vector<int> axes;
  if (order.empty())
    for (int k = a.rank(); k-- > 0;) axes.push_back(k);
  if (!order.empty() && static_cast<int>(order.size()) != a.rank()) raise("ValueError", "axes don't match array");
  for (const Value& v : order) axes.push_back(to_axis(in, v, a.rank()));
  return shared(transposed(a, axes));
}
/// astype's dtype, allowed by the casting rule.
DType checked_cast(Interpreter& in, const NodeRef& x, const Value& dtype, const Value& casting) {
  const DType from = x->dtype;
  const DType to = to_dtype(in, dtype).value_or(DType::f64);
  const std::string rule = str(in, casting);
  const bool allowed = rule == "unsafe"      ? true
                       : rule == "same_kind" ? can_cast(from, to, Casting::same_kind)
                       : rule == "safe"      ? promote(from, to) == to
                                             : from == to;
  if (!allowed)
    raise("TypeError", std::string("Cannot cast ") + (x->rank() ? "array data" : "scalar") + " from dtype('" + std::string(name_of(from)) +
                           "') to dtype('" + std::string(name_of(to)) + "') according to the rule '" + rule + "'");
  return to;
}
/// A cast of numbers to times; None for other dtypes.
Value cast_to_typed(Interpreter& in, Args args) {
  const Value dtype = typed_dtype(in, args[1]);
  return dtype.is_none() ? dtype : call_typed(in, "cast_numbers", {args[0], dtype, args[3]});
}
Value astype(Interpreter& in, Args args) {
  if (Value typed = cast_to_typed(in, args); !typed.is_none()) return typed;
  const NodeRef x = self_node(args[0]);
  return wrap(graph::cast(x, checked_cast(in, x, args[1], args[3])));
}
Value array_astype(Interpreter& in, Args args) {
  if (Value typed = cast_to_typed(in, args); !typed.is_none()) return typed;
  const NodeRef x = self_node(args[0]);
  const DType to = checked_cast(in, x, args[1], args[3]);
  const Array& a = args[0].as<NdArray>()->array;
  AxisOrder order = to_axis_order(in, args[2], a.rank(), &a, 'K');
  if (to == x->dtype && !truth(in, args[5]) && order == kept_order(a)) return args[0];
  return with_common_chunks(Value::make<NdArray>(ordered(graph::cast(x, to), std::move(order))), args.first(1));
}
Value copy(Interpreter& in, Args args) {
  const Array a = self_array(args[0]);
  return with_common_chunks(Value::make<NdArray>(ordered(a.node(), to_axis_order(in, args[1], a.rank(), &a))), args.first(1));
}

/// The array with its axes so that C order is the order asked for.
Array in_order(Interpreter& in, const Array& a, const Value& order) {
  const AxisOrder axes = to_axis_order(in, order, a.rank(), &a);
  return axes.empty() ? a : transposed(a, axes);
}
Value flatten(Interpreter& in, Args args) {
  const Array a = in_order(in, self_array(args[0]), args[1]);
  return with_chunks(Value::make<NdArray>(ordered(graph::reshape(a.node(), {a.size()}), {})), reshaped_chunks(a, {a.size()}));
}
Value ravel(Interpreter& in, Args args) {
  const Array a = in_order(in, self_array(args[0]), args[1]);
  return shared(a.reshape({a.size()}));
}
Value squeeze(Interpreter& in, Args args) {
  const Array a = self_array(args[0]);
  std::vector<int> axes;
  if (args[1].is_none()) {
    for (int k = 0; k < a.rank(); ++k)
      if (a.shape()[static_cast<size_t>(k)] == 1) axes.push_back(k);
  } else {
    axes = to_axes(in, args[1], a.rank());
  }
  Shape shape;
  for (int k = 0; k < a.rank(); ++k) {
    const bool drop = std::find(axes.begin(), axes.end(), k) != axes.end();
    if (drop && a.shape()[static_cast<size_t>(k)] != 1)
      raise("ValueError", "cannot select an axis to squeeze out which has size not equal to one");
    if (!drop) shape.push_back(a.shape()[static_cast<size_t>(k)]);
  }
  return shared(a.reshape(shape));
}
Value swapaxes(Interpreter& in, Args args) {
  const Array a = self_array(args[0]);
  std::vector<int> axes;
  for (int k = 0; k < a.rank(); ++k) axes.push_back(k);
  const Value one = Value::of(to_index(in, args[1])), other = Value::of(to_index(in, args[2]));
  const int first = to_axis(in, one, a.rank(), "axis1: "), second = to_axis(in, other, a.rank(), "axis2: ");
  std::swap(axes[static_cast<size_t>(first)], axes[static_cast<size_t>(second)]);
  return shared(transposed(a, axes));
}
Value item(Interpreter& in, Args args) {
  const Array a = self_array(args[0]);
  const auto& index = args[1].as<Tuple>()->items;
  if (index.empty()) {
    if (a.size() != 1) raise("ValueError", "can only convert an array of size 1 to a Python scalar");
    return python_value(a.elements(in.engine())[0]);
  }
  const Value at = index.size() == 1 && !index[0].as<Tuple>() && a.rank() != 1
                       ? array_get(in, a.reshape({a.size()}), index[0])
                       : array_get(in, a, index.size() == 1 ? index[0] : make_tuple(index));
  return python_value(at.as<NumpyScalar>()->value(in));
}
Value tolist_of(const Array::Elements& e, const Shape& shape, size_t axis, int64_t& at) {
  if (axis == shape.size()) return python_value(e[at++]);
  std::vector<Value> items;
  for (int64_t i = 0; i < shape[axis]; ++i) items.push_back(tolist_of(e, shape, axis + 1, at));
  return make_list(std::move(items));
}
Value tolist(Interpreter& in, Args args) {
  const Array a = self_array(args[0]);
  const Array::Elements elements = a.elements(in.engine());
  require_memory(in, elements.count, sizeof(Value));
  int64_t at = 0;
  return tolist_of(elements, a.shape(), 0, at);
}
Value fill(Interpreter& in, Args args) {
  Array a = self_array(args[0]);
  const Operand o = assigned_operand(in, args[1], a.dtype());
  a.assign(in.engine(), o.weak ? assigned_number(o, a.dtype()) : o.node);
  return {};
}
Value clip(Interpreter& in, Args args) {
  const Value result = clipped(in, args[0], args[1], args[2]);
  if (!args[3].is_none()) return give(in, "clip", as_node(in, result), args[3]);
  return with_common_chunks(result.same(args[0]) ? wrap(self_node(args[0])) : result, args.first(1));
}
Value round(Interpreter& in, Args args) {
  const int64_t decimals = is_missing(args[1]) || args[1].is_none() ? 0 : to_index(in, args[1]);
  NodeRef result = rounded(self_node(args[0]), decimals);
  if (args.size() < 3 || args[2].is_none()) return wrap_kept(std::move(result), args.first(1));
  return give(in, "round", std::move(result), args[2]);
}
Value conjugate(Interpreter&, Args args) {
  const Operand operands[] = {{self_node(args[0]), 0}};
  return wrap_kept(apply("conjugate", operands), args.first(1));
}
/// abs(x), divmod(x, y), divmod(y, x).
Value absolute(Interpreter& in, Args args) { return operate(in, *find_ufunc("absolute"), args.first(1)); }
Value divmod(Interpreter& in, Args args) {
  if (!args[1].as<LibraryObject>()) return operate(in, *find_ufunc("divmod"), args.first(2));
  return make_tuple({binary(in, ast::BinaryOp::floordiv, args[0], args[1]), binary(in, ast::BinaryOp::mod, args[0], args[1])});
}
/// round(x[, n]) of a scalar.
Value rounding(Interpreter& in, Args args) {
  const NodeRef given = self_node(args[0]);
  if (is_complex(given->dtype) || given->dtype == DType::boolean)
    raise("TypeError", "type numpy." + std::string(type_of(args[0]).name) + " doesn't define __round__ method");
  const bool whole = is_missing(args[1]) || args[1].is_none();
  const NodeRef x = rounded(given, whole ? 0 : to_index(in, args[1]));
  return whole ? *Value::make<NumpyScalar>(x).object()->to_int(in) : wrap(x);
}
Value compute(Interpreter& in, Args args) {
  check_scheduler(in, args[1]);
  if (auto* a = args[0].as<NdArray>()) {
    a->array.force(in.engine(), a->array.rank() == 0);
    return a->array.rank() == 0 ? wrap_scalar(a->array.elements(in.engine())[0]) : args[0];
  }
  args[0].as<NumpyScalar>()->value(in);
  return args[0];
}
Value persist_scalar(Interpreter& in, Args args) {
  check_scheduler(in, args[1]);
  args[0].as<NumpyScalar>()->compute(in);
  return args[0];
}
Value rechunk(Interpreter& in, Args args) {  // chunks, threshold, block_size_limit, balance, method
  Array a = self_array(args[0]);
  int64_t bytes = kAutoBytes;
  if (const auto* text = args[3].as<Str>())
    bytes = parse_bytes(text->value);
  else if (!args[3].is_none())
    bytes = static_cast<int64_t>(to_double(in, args[3]));
  a.set_requested_chunks(to_chunks(in, args[1], a, a.requested_chunks(), bytes));
  Value result = shared(std::move(a));
  if (!truth(in, args[4])) return result;
  return call(in, *library_member(in, "_dask", "with_balanced_chunks"), {{result}, {}});
}

Value shape_property(Interpreter&, const Value& self) { return from_shape(self_array(self).shape()); }
Value chunks_property(Interpreter&, const Value& self) { return chunks_value(self_array(self)); }
/// How many chunks along each axis, how many there are, and the extents of the first.
Value numblocks(Interpreter& in, const Value& self) {
  std::vector<Value> counts;
  const Value chunks = chunks_property(in, self);
  for (const Value& pieces : chunks.as<Tuple>()->items) counts.push_back(Value::of(pieces.object()->length(in)));
  return make_tuple(std::move(counts));
}
/// What a function of dask.array makes of the array.
constexpr char kBlocks[] = "block_view", kPoints[] = "point_view";
template <const char* function>
Value dask_part(Interpreter& in, const Value& self) {
  return call(in, *library_member(in, "_dask", function), {{self}, {}});
}
Value npartitions(Interpreter& in, const Value& self) {
  int64_t n = 1;
  const Value counts = numblocks(in, self);
  for (const Value& count : counts.as<Tuple>()->items) n *= count.as_int();
  return Value::of(n);
}
Value chunksize(Interpreter& in, const Value& self) {
  std::vector<Value> extents;
  const Value chunks = chunks_property(in, self);
  for (const Value& pieces : chunks.as<Tuple>()->items) extents.push_back(pieces.as<Tuple>()->items[0]);
  return make_tuple(std::move(extents));
}
Value ndim(Interpreter&, const Value& self) { return Value::of(self_array(self).rank()); }
Value size(Interpreter&, const Value& self) { return Value::of(self_array(self).size()); }
Value itemsize(Interpreter&, const Value& self) { return Value::of(gasell::size_of(self_array(self).dtype())); }
Value nbytes(Interpreter&, const Value& self) {
  const Array a = self_array(self);
  return Value::of(a.size() * gasell::size_of(a.dtype()));
}
Value dtype(Interpreter&, const Value& self) { return dtype_object(self_node(self)->dtype); }
Value strides(Interpreter&, const Value& self) {
  const Array a = self_array(self);
  Shape bytes = a.strides();
  for (int64_t& s : bytes) s *= gasell::size_of(a.dtype());
  return from_shape(bytes);
}
Value turned(Interpreter&, const Value& self) {
  const Array a = self_array(self);
  if (!self.as<NdArray>()) return self;
  std::vector<int> axes;
  for (int k = a.rank(); k-- > 0;) axes.push_back(k);
  return shared(transposed(a, axes));
}
Value with_last_axes_exchanged(const Value& self) {
  const Array a = self_array(self);
  if (a.rank() < 2) raise("ValueError", "matrix transpose with ndim < 2 is undefined");
  std::vector<int> axes;
  for (int k = 0; k < a.rank(); ++k) axes.push_back(k);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return shared(transposed(a, axes));
}
/// A part of complex numbers: read-only, for a write would not reach them.
Value part(const Value& self, ScalarOp op) {
  const NodeRef node = graph::map(op, {self_node(self)});
  if (!self.as<NdArray>()) return wrap(node);
  const Array values(node);
  Array::Axes axes;
  for (int k = 0; k < values.rank(); ++k) axes.push_back({k, 0, 1});
  return shared(values.view(values.shape(), std::move(axes), true));
}
Value real_part(Interpreter&, const Value& self) {
  return self.as<NdArray>() && !is_complex(self_node(self)->dtype) ? shared(self_array(self)) : part(self, ScalarOp::real);
}
Value imaginary_part(Interpreter&, const Value& self) { return part(self, ScalarOp::imag); }
void set_part(Interpreter& in, const Value& self, const Value& value, bool real) {
  Array a = self_array(self);
  const NodeRef given = as_node(in, value), node = a.node();
  if (!is_complex(a.dtype())) {
    if (!real) raise("TypeError", "array does not have imaginary part to set");
    return a.assign(in.engine(), given);
  }
  const DType type = real_of(a.dtype());
  const NodeRef part = graph::broadcast_to(graph::cast(given, type), a.shape()),
                other = graph::map(real ? ScalarOp::imag : ScalarOp::real, {node});
  a.assign(in.engine(), graph::map(ScalarOp::make_complex, real ? std::vector<NodeRef>{part, other} : std::vector<NodeRef>{other, part}));
}

}  // namespace

Shape shape_argument(Interpreter& in, const std::vector<Value>& given, int64_t size) {
  Shape shape;
  if (given.size() == 1)
    shape = to_shape(in, given[0]);
  else
    for (const Value& v : given) shape.push_back(to_index(in, v));
  int64_t known = 1;
  int unknown = -1;
  for (size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] < 0) {  // any negative one, to NumPy
      if (unknown >= 0) raise("ValueError", "can only specify one unknown dimension");
      unknown = static_cast<int>(k);
    } else {
      if (__builtin_mul_overflow(known, shape[k], &known)) known = 0;  // no array has so many elements
    }
  }
  if (unknown >= 0) {
    if (known == 0 || size % known != 0) {
      // NumPy's text leaves unknown extents in front out and calls later ones newaxis.
      std::string text;
      size_t k = 0;
      while (k < shape.size() && shape[k] < 0) ++k;
      for (; k < shape.size(); ++k) text += (text.empty() ? "" : ",") + (shape[k] < 0 ? "newaxis" : std::to_string(shape[k]));
      raise("ValueError", "cannot reshape array of size " + std::to_string(size) + " into shape (" + text + ")");
    }
    shape[static_cast<size_t>(unknown)] = size / known;
  }
  return shape;
}

Array transposed(const Array& a, const std::vector<int>& order) {
  Shape shape(order.size());
  Array::Axes axes(order.size());
  std::vector<bool> seen(order.size(), false);
  for (size_t out = 0; out < order.size(); ++out) {
    const auto from = static_cast<size_t>(order[out]);
    if (seen[from]) raise("ValueError", "repeated axis in transpose");
    seen[from] = true;
    shape[out] = a.shape()[from];
    axes[from] = {static_cast<int>(out), 0, 1};
  }
  return a.view(std::move(shape), std::move(axes));
}

Value clipped(Interpreter& in, const Value& x, const Value& low, const Value& high) {
  const Operand given = operand(in, x);
  // Python's ints that the type does not hold have no number of it beyond them.
  const auto is_beyond = [&](const Value& bound) {
    return bound.is_int() && !given.weak && is_integer(given.node->dtype) &&
           Scalar::of_int(bound.as_int()).cast(given.node->dtype).i != bound.as_int();
  };
  Value result = x;
  for (const auto& [bound, name, is_low] : {std::tuple{low, "maximum", true}, std::tuple{high, "minimum", false}}) {
    if (bound.is_none() || (is_beyond(bound) && is_low == (bound.as_int() < 0))) continue;
    const Operand operands[] = {operand(in, bound), operand(in, result)};  // of equals (zeros of either sign) the second stays
    result = wrap(apply(name, operands));
  }
  return result;
}

NodeRef rounded(const NodeRef& x, int64_t decimals) {
  if (decimals != static_cast<int32_t>(decimals))  // NumPy keeps it in a C int
    raise("OverflowError", std::string("signed integer is ") + (decimals > 0 ? "greater than maximum" : "less than minimum"));
  if (kind(x->dtype) == 'b') {
    if (decimals != 0)
      raise("UFuncTypeError", std::string("Cannot cast ufunc '") + (decimals > 0 ? "multiply" : "divide") +
                                  "' output from dtype('float64') to dtype('bool') with casting rule 'same_kind'");
    return graph::cast(x, DType::f16);
  }
  if (!is_float(x->dtype) && !is_complex(x->dtype)) {
    return decimals >= 0 ? x : graph::cast(rounded(graph::cast(x, DType::f64), decimals), x->dtype);
  }
  if (is_complex(x->dtype))
    return graph::map(ScalarOp::make_complex,
                      {rounded(graph::map(ScalarOp::real, {x}), decimals), rounded(graph::map(ScalarOp::imag, {x}), decimals)});
  if (decimals == 0) return graph::map(ScalarOp::rint, {x});
  double power = 1;
  for (int64_t k = std::min<int64_t>(std::abs(decimals), 400); k > 0; --k) power *= 10;  // infinite long before
  const NodeRef scale = graph::constant(Scalar::of_float(power).cast(x->dtype));
  const ScalarOp there = decimals > 0 ? ScalarOp::mul : ScalarOp::div, back = decimals > 0 ? ScalarOp::div : ScalarOp::mul;
  return graph::map(back, {graph::map(ScalarOp::rint, {graph::map(there, {x, scale})}), scale});
}

std::vector<NativeFunction> array_methods() {
  std::vector<NativeFunction> methods = {
      {"reshape", "*shape, order='C', copy=None", reshape, "The same elements in another shape; a view where the layout allows it."},
      {"transpose", "*axes", transpose, "A view with its axes permuted (reversed when none are given)."},
      {"astype", "dtype, order='K', casting='unsafe', subok: Unused=True, copy=True", array_astype, "The elements converted to dtype."},
      {"copy", "order='C'", copy, "An array of its own with the same elements."},
      {"flatten", "order='C'", flatten, "A one-dimensional copy."},
      {"ravel", "order='C'", ravel, "One-dimensional; a view where the layout allows it."},
      {"squeeze", "axis=None", squeeze, "Without axes of extent 1."},
      {"swapaxes", "axis1, axis2", swapaxes, "A view with two axes exchanged."},
      {"item", "*index", item, "One element as a Python scalar."},
      {"tolist", "", tolist, "Nested lists of Python scalars."},
      {"fill", "value", fill, "Sets every element."},
      {"clip", "min=None, max=None, out=None", clip, "Elements limited to [min, max]."},
      {"round", "decimals=0, out=None", round, "Rounded to even at that decimal."},
      {"conj", "", conjugate, "Complex conjugate."},
      {"conjugate", "", conjugate, "Complex conjugate."},
      {"dot", "b, out=None", dot_of, "Sums of products over the last axis of this and the last but one of b."},
      {"__abs__", "", absolute, "abs(x)."},
      {"__divmod__", "other", divmod, "divmod(x, other)."},
      {"compute", kHowToCompute, compute, "Evaluates now; gives the array, or a NumPy scalar for a 0-d one."},
      {"persist", kHowToCompute, compute, "Evaluates now and keeps the result."},
      {"rechunk", "chunks='auto', threshold: Unused=None, block_size_limit=None, balance=False, method: Unused=None", rechunk,
       "The same array with other chunks asked for."},
  };
  for (NativeFunction& f : reduction_methods()) methods.push_back(std::move(f));
  for (NativeFunction& f : exchange_methods()) methods.push_back(std::move(f));
  return methods;
}

std::vector<Type::Property> array_properties() {
  return {
      {"shape", shape_property, [](Interpreter& in, const Value& self, const Value& v) { self.object()->set_attribute(in, "shape", v); },
       "Extents, a tuple of ints."},
      {"ndim", ndim, nullptr, "Number of axes."},
      {"size", size, nullptr, "Number of elements."},
      {"itemsize", itemsize, nullptr, "Bytes of an element."},
      {"nbytes", nbytes, nullptr, "Bytes of all elements."},
      {"dtype", dtype, nullptr, "The element type."},
      {"flags", array_flags, nullptr, "How the memory lies, and whose it is: a.flags.c_contiguous, a.flags.writeable = False."},
      {"base", array_base, nullptr, "The array whose memory a view shows; None for an array of its own."},
      {"strides", strides, nullptr, "Bytes from an element to the next along each axis."},
      {"_meta",
       [](Interpreter&, const Value& self) {
         const Array a = self_array(self);
         return wrap(graph::constant(Scalar::of_int(0, a.dtype()), Shape(a.shape().size(), 0)));
       },
       nullptr, "An array without elements, of the same rank and dtype."},
      {"chunks", chunks_property, nullptr, "Extents of the chunks along each axis, as in Dask."},
      {"numblocks", numblocks, nullptr, "How many chunks along each axis, as in Dask."},
      {"npartitions", npartitions, nullptr, "How many chunks, as in Dask."},
      {"chunksize", chunksize, nullptr, "Extents of the first chunk, as in Dask."},
      {"blocks", dask_part<kBlocks>, nullptr, "Blocks by their places, as in Dask."},
      {"partitions", dask_part<kBlocks>, nullptr, "Blocks by their places, as in Dask."},
      {"vindex", dask_part<kPoints>, nullptr, "Elements at the points of several lists, as in Dask."},
      {"T", turned, nullptr, "The array with its axes reversed: a view."},
      {"real", real_part, [](Interpreter& in, const Value& self, const Value& v) { set_part(in, self, v, true); }, "Real part."},
      {"imag", imaginary_part, [](Interpreter& in, const Value& self, const Value& v) { set_part(in, self, v, false); }, "Imaginary part."},
      {"mT", [](Interpreter&, const Value& self) { return with_last_axes_exchanged(self); }, nullptr,
       "The array with its last two axes exchanged: a view."},
      {"device", [](Interpreter&, const Value&) { return make_str("cpu"); }, nullptr, "'cpu'."},
      {"flat", [](Interpreter& in, const Value& self) { return flat_iterator(as_array(in, self)); },
       [](Interpreter& in, const Value& self, const Value& v) {
         set_item(in, flat_iterator(as_array(in, self)), Value::make<SliceObject>(Value(), Value(), Value()), v);
       },
       "The elements in C order."},
      {"__array_interface__", array_interface, nullptr, "Where the elements lie, for other libraries."},
      {"__cuda_array_interface__", cuda_array_interface, nullptr, "Where they lie on a GPU."},
  };
}

std::vector<NativeFunction> scalar_methods() {
  std::vector<NativeFunction> methods = {
      {"item", "*index", item, "The value as a Python scalar."},
      {"tolist", "", tolist, "The value as a Python scalar."},
      {"astype", "dtype, order='K', casting='unsafe', subok: Unused=True, copy=True", astype, "Converted to dtype."},
      {"copy", "order: Order='C'", [](Interpreter&, Args args) { return args[0]; }, "Itself."},
      {"round", "decimals=0, out=None", round, "Rounded to even at that decimal."},
      {"conj", "", conjugate, "Complex conjugate."},
      {"conjugate", "", conjugate, "Complex conjugate."},
      {"clip", "min=None, max=None, out=None", clip, "Limited to [min, max]."},
      {"reshape", "*shape, order='C', copy=None", reshape, "An array of that shape."},
      {"ravel", "order='C'", ravel, "An array of one element."},
      {"flatten", "order='C'", flatten, "An array of one element."},
      {"tobytes", "order='C'", to_bytes, "The value's memory as bytes."},
      {"is_integer", "",
       [](Interpreter& in, Args args) {
         const Scalar& v = args[0].as<NumpyScalar>()->value(in);
         return Value::of(v.is_integral() || v.c.real() == std::floor(v.c.real()));
       },
       "Whether the value is a whole number."},
      {"__abs__", "", absolute, "abs(x)."},
      {"__divmod__", "other", divmod, "divmod(x, other)."},
      {"__round__", "ndigits=missing", rounding, "round(x, ndigits)."},
      {"bit_count", "",
       [](Interpreter& in, Args args) {
         const Scalar& v = args[0].as<NumpyScalar>()->value(in);
         if (!is_integer(v.type))
           raise("AttributeError", "'numpy." + std::string(name_of(v.type)) + "' object has no attribute 'bit_count'");
         return Value::of(std::popcount(static_cast<uint64_t>(is_signed(v.type) && v.i < 0 ? -v.i : v.i)));
       },
       "Ones in the binary form of the absolute value."},
      {"compute", kHowToCompute, compute, "Evaluates now."},
      {"persist", kHowToCompute, persist_scalar, "Evaluates now; the result stays where it was computed."},
  };
  for (NativeFunction& f : reduction_methods()) methods.push_back(std::move(f));
  return methods;
}

std::vector<Type::Property> scalar_properties() {
  std::vector<Type::Property> properties = array_properties();
  for (Type::Property& p : properties) p.set = nullptr;
  return properties;
}

}  // namespace gasell::numpy
