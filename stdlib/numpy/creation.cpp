// Arrays from nothing: zeros, arange, linspace and the like; from values: array, asarray.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>

#include "lang/diagnostic.h"
#include "runtime/session/number.h"
#include "stdlib/library.h"
#include "stdlib/library_object.h"
#include "stdlib/numpy/chunks.h"
#include "stdlib/numpy/memory_order.h"
#include "stdlib/numpy/methods.h"
#include "stdlib/numpy/typed.h"
#include "stdlib/numpy/ufunc.h"

namespace gasell::numpy {
namespace {

using Args = std::span<Value>;

Value with_chunks(Interpreter& in, NodeRef node, const Value& chunks, AxisOrder order = {}) {
  Array a = ordered(std::move(node), std::move(order));
  request_chunks(in, a, chunks);
  return Value::make<NdArray>(std::move(a));
}

DType dtype_or(Interpreter& in, const Value& v, DType otherwise) { return to_dtype(in, v).value_or(otherwise); }

/// copy= of np.array: the array itself where nothing has to be converted.
bool may_share(Interpreter& in, const Value& given, const std::optional<DType>& dtype, const Value& copy) {
  if (is_missing(copy) || (!copy.is_none() && truth(in, copy))) return false;
  const auto* a = given.as<NdArray>();
  if (a && (!dtype || *dtype == a->array.dtype())) return true;
  if (!copy.is_none())
    raise("ValueError",
          "Unable to avoid copy while creating an array as requested.\nIf using `np.array(obj, copy=False)` replace it with "
          "`np.asarray(obj)` to allow a copy when needed (no behavior change in NumPy "
          "1.x).\nFor more details, see https://numpy.org/devdocs/numpy_2_0_migration_guide.html#adapting-to-changes-in-the-copy-keyword.");
  return false;
}

/// A list or tuple with a text in it, or a column, as np.array takes it: a column, or numbers where `dtype` says so. None otherwise.
Value text_array(Interpreter& in, const Value& v, const Value& dtype) {
  const auto* list = v.as<List>();
  const auto* tuple = v.as<Tuple>();
  const auto has_text = [](const std::vector<Value>& items) {
    return std::ranges::any_of(items, [](const Value& item) { return item.as<Str>() != nullptr; });
  };
  if (auto* object = v.as<LibraryObject>())  // a Series of times
    if (Value array = object->try_call(in, "__array__"); is_typed(array))
      return call_typed(in, "asarray", {array, is_missing(dtype) ? Value() : dtype});
  const bool texts = (list && has_text(list->items)) || (tuple && has_text(tuple->items));
  return texts || is_column(v) ? call(in, *library_member(in, "_pandas", "text_array"), {{v, dtype}, {}}) : Value();
}

/// Whether memory is as order= asks for.
bool lies_as(Interpreter& in, const Array& a, const Value& order) {
  const char letter = order_letter(in, order, 'K');
  return letter == 'K' || letter == 'A' || is_contiguous(a, letter == 'F');
}

/// order= of an array of lists: 'A' and 'K' are C order.
AxisOrder order_of_new(Interpreter& in, const Value& order, int rank) {
  return order_letter(in, order, 'C') == 'F' ? to_axis_order(in, order, rank) : AxisOrder{};
}

Value array(Interpreter& in, Args args) {
  if (Value texts = text_array(in, args[0], args[1]); !texts.is_none()) return texts;
  const auto dtype = to_dtype(in, args[1]);
  const int64_t least = is_missing(args[3]) ? 0 : to_index(in, args[3]);
  const auto* given = args[0].as<NdArray>();
  AxisOrder order = given ? to_axis_order(in, args[5], given->array.rank(), &given->array, 'K') : AxisOrder{};
  if (may_share(in, args[0], dtype, args[2]) && lies_as(in, given->array, args[5])) {
    const Array a = given->array;
    if (a.rank() >= least) return args[0];
    Shape shape(static_cast<size_t>(least - a.rank()), 1);
    shape.insert(shape.end(), a.shape().begin(), a.shape().end());
    return Value::make<NdArray>(a.reshape(shape));
  }
  NodeRef node = as_node(in, args[0], dtype);
  if (node->rank() < least) {
    Shape shape(static_cast<size_t>(least - node->rank()), 1);
    shape.insert(shape.end(), node->shape.begin(), node->shape.end());
    node = graph::reshape(node, shape);
    order = {};
  }
  if (!given) order = order_of_new(in, args[5], node->rank());
  return with_chunks(in, std::move(node), args[4], std::move(order));
}
/// (a, dtype, order, chunks): the array itself where nothing has to be converted or moved.
Value asarray(Interpreter& in, Args args) {
  if (Value texts = text_array(in, args[0], args[1]); !texts.is_none()) return texts;
  const auto dtype = to_dtype(in, args[1]);
  const auto* a = args[0].as<NdArray>();
  if (a && (!dtype || *dtype == a->array.dtype()) && lies_as(in, a->array, args[2])) {
    a->array.force(in.engine());
    return args[0];
  }
  NodeRef node = as_node(in, args[0], dtype);
  AxisOrder order = a ? to_axis_order(in, args[2], node->rank(), &a->array, 'K') : order_of_new(in, args[2], node->rank());
  return Value::make<NdArray>(ordered(std::move(node), std::move(order)));
}
/// The same with copy= behind device=.
Value asarray_or_copy(Interpreter& in, Args args) {
  const Value& copy = args[5];
  if (is_missing(copy) || copy.is_none()) return asarray(in, args);
  if (!truth(in, copy)) {
    may_share(in, args[0], to_dtype(in, args[1]), copy);  // raises where one has to be made
    return asarray(in, args);
  }
  Value given[] = {args[0], args[1], copy, Value::of(0), args[3], args[2].is_none() ? make_str("K") : args[2]};
  return array(in, given);
}
Value contiguous(Interpreter& in, const Value& of, const Value& dtype, const Value& chunks, std::string order) {
  Value given[] = {of, dtype, make_str(std::move(order)), chunks};
  const Value result = asarray(in, given);
  const auto* a = result.as<NdArray>();
  return a && a->array.rank() == 0 ? Value::make<NdArray>(a->array.reshape({1})) : result;
}
Value ascontiguousarray(Interpreter& in, Args args) { return contiguous(in, args[0], args[1], args[2], "C"); }
Value asfortranarray(Interpreter& in, Args args) { return contiguous(in, args[0], args[1], args[2], "F"); }
Value constant_array(Interpreter& in, Args args, double value) {
  const Shape shape = to_shape(in, args[0]);
  AxisOrder order = to_axis_order(in, args[2], static_cast<int>(shape.size()));
  return with_chunks(in, graph::constant(Scalar::of_float(value).cast(dtype_or(in, args[1], DType::f64)), shape), args[3],
                     std::move(order));
}
Value zeros(Interpreter& in, Args args) { return constant_array(in, args, 0); }
Value ones(Interpreter& in, Args args) { return constant_array(in, args, 1); }
/// A value in a shape, like one that is assigned to such an array: leading axes of extent 1 fall away.
NodeRef filled(NodeRef value, const Shape& shape) {
  Shape own = value->shape;
  while (own.size() > shape.size() && own.front() == 1) own.erase(own.begin());
  return graph::broadcast_to(graph::reshape(value, own), shape);
}
Value full(Interpreter& in, Args args) {
  const auto dtype = to_dtype(in, args[2]);
  if (!dtype && args[1].as<Str>()) {
    const Shape texts = to_shape(in, args[0]);
    if (texts.size() != 1) raise("NotImplementedError", "an array of texts has one axis in Gasell");
    return call(in, *library_member(in, "_pandas", "constant_column"), {{args[1], Value::of(texts[0])}, {}});
  }
  const Operand o = dtype ? assigned_operand(in, args[1], *dtype) : operand(in, args[1]);
  NodeRef value = o.node;
  if (dtype) value = o.weak ? cast_weak(value, *dtype) : graph::cast(value, *dtype);
  const Shape shape = to_shape(in, args[0]);
  AxisOrder order = to_axis_order(in, args[3], static_cast<int>(shape.size()));
  return with_chunks(in, filled(value, shape), args[4], std::move(order));
}
/// zeros_like and its like: the order is that of `x`, along whose axes another shape of as many goes, too.
Value new_like(Interpreter& in, const Value& x, NodeRef node, const Value& order) {
  const Array a = as_array(in, x);
  AxisOrder axes = to_axis_order(in, order, node->rank(), &a, 'K');
  if (axes.size() != static_cast<size_t>(node->rank())) axes = {};
  Array::Chunks chunks = node->shape == a.shape() ? a.requested_chunks() : Array::Chunks{};
  return numpy::with_chunks(Value::make<NdArray>(ordered(std::move(node), std::move(axes))), std::move(chunks));
}
Value like(Interpreter& in, Args args, double value) {
  const NodeRef x = as_node(in, args[0]);
  const Shape shape = args[4].is_none() || is_missing(args[4]) ? x->shape : to_shape(in, args[4]);
  return new_like(in, args[0], graph::constant(Scalar::of_float(value).cast(dtype_or(in, args[1], x->dtype)), shape), args[2]);
}
Value zeros_like(Interpreter& in, Args args) { return like(in, args, 0); }
Value ones_like(Interpreter& in, Args args) { return like(in, args, 1); }
Value full_like(Interpreter& in, Args args) {
  const NodeRef x = as_node(in, args[0]);
  const DType dtype = dtype_or(in, args[2], x->dtype);
  const Operand o = assigned_operand(in, args[1], dtype);
  const Shape shape = args[5].is_none() || is_missing(args[5]) ? x->shape : to_shape(in, args[5]);
  return new_like(in, args[0], filled(o.weak ? cast_weak(o.node, dtype) : graph::cast(o.node, dtype), shape), args[3]);
}

/// The count of a range in float64, where the greatest int64 is 2**63: NumPy wraps around at it, and has nothing.
int64_t arange_count(double count) {
  if (!(std::fabs(count) <= 0x1p63))
    raise("ValueError", std::isnan(count) ? "arange: cannot compute length" : "Maximum allowed size exceeded");
  return count > 0 && count < 0x1p63 ? static_cast<int64_t>(count) : 0;
}

/// arange's count: ceil((stop - start) / step), as NumPy computes it: in the dtypes of its numbers, whose ends wrap around.
Value arange(Interpreter& in, Args args) {
  to_dtype(in, args[3]);  // what is not there is told before what it would take
  std::vector<Operand> given;
  Value start = args[0], stop = args[1], step = args[2];
  if (is_missing(stop) || stop.is_none()) stop = start, start = Value::of(0);
  if (is_missing(step) || step.is_none()) step = Value::of(1);
  for (const Value& v : {start, stop, step}) {
    if (const auto* array = v.as<NdArray>(); array && array->array.size() != 1) truth(in, v);
    given.push_back(operand(in, v));
    if (is_complex(given.back().node->dtype)) raise("NotImplementedError", "np.arange of complex numbers is not in Gasell");
  }
  const DType dtype = dtype_or(in, args[3], promote(DType::i64, common_type(given)));
  if (kind(dtype) == 'b') {
    const NodeRef numbers =
        as_node(in, call(in, get_attribute(in, in.import_module("numpy", nullptr), "arange"), {{start, stop, step}, {}}));
    if (numbers->size() > 2) raise("TypeError", "arange() is only supported for booleans when the result has at most length 2.");
    return wrap_array(graph::cast(numbers, dtype));
  }
  const bool integral = start.is_int() && stop.is_int() && step.is_int();
  if (integral && is_integer(dtype)) {
    const int64_t a = start.as_int(), b = stop.as_int(), s = step.as_int();
    if (s == 0) raise("ZeroDivisionError", "division by zero");
    const bool empty = s > 0 ? b <= a : a <= b;
    const auto way = static_cast<Int128>(b) - a;  // past 64 bits between the ends of their range
    const Int128 count = empty ? 0 : (way - (s > 0 ? 1 : -1)) / s + 1;
    const int64_t n = arange_count(static_cast<double>(count)) > 0 ? static_cast<int64_t>(count) : 0;
    return with_chunks(in, graph::iota(n, Scalar::of_int(a).cast(dtype), Scalar::of_int(s).cast(dtype)), args[4]);
  }
  const double a = to_double(in, start), s = to_double(in, step);
  if (s == 0) raise("ZeroDivisionError", "division by zero");
  const int64_t n =
      arange_count(std::ceil(to_double(in, binary(in, ast::BinaryOp::div, binary(in, ast::BinaryOp::sub, stop, start), step))));
  // NumPy fills from the first two elements: the step is their difference as rounded.
  const double second = n > 0 ? to_double(in, binary(in, ast::BinaryOp::add, start, step)) : a, delta = second - a;
  NodeRef values = graph::iota(n, Scalar::of_float(a), Scalar::of_float(delta));
  if (a == 0 && std::signbit(a)) {  // -0 and no steps would be 0
    const NodeRef index = graph::iota(n, Scalar::of_int(0), Scalar::of_int(1));
    values = graph::map(ScalarOp::select, {graph::map(ScalarOp::eq, {index, graph::constant(Scalar::of_int(0))}),
                                           graph::constant(Scalar::of_float(a)), values});
  }
  if (is_integer(dtype))
    return with_chunks(in,
                       graph::iota(n, Scalar::of_float(a).cast(dtype),
                                   Scalar::of_int(Scalar::of_float(second).cast(dtype).i - Scalar::of_float(a).cast(dtype).i).cast(dtype)),
                       args[4]);
  return with_chunks(in, graph::cast(values, dtype), args[4]);
}

/// An axis, which may be the only one of a sequence.
int to_one_axis(Interpreter& in, const Value& v, int rank) {
  if (!v.as<Tuple>() && !v.as<List>()) return to_axis(in, v, rank);
  const std::vector<int> axes = to_axis_tuple(in, v, rank);
  if (axes.size() != 1) raise("ValueError", "`source` and `destination` arguments must have the same number of elements");
  return axes[0];
}

/// Elements that can be looked at without computing anything: of a number, or few in the host's memory.
template <class T>
struct AtHand {
  T number{};
  const T* elements = &number;
  int64_t step = 0;
};
/// False where there are none.
template <class T>
bool find(const NodeRef& x, AtHand<T>& found) {
  constexpr int64_t kFew = 256;
  if (const auto* constant = x->as<graph::ConstantNode>()) {
    found.number = static_cast<T>(constant->value.as_double());
    return true;
  }
  const auto* buffer = x->as<graph::BufferNode>();
  if (!buffer || gasell::size_of(x->dtype) != sizeof(T) || !is_float(x->dtype) || x->size() > kFew || x->rank() > 1) return false;
  const auto& memory = static_cast<const HostStorage&>(*buffer->storage);
  if (!memory.has_host_memory() || memory.copies()) return false;
  found.elements = static_cast<const T*>(memory.read()) + buffer->offset;
  found.step = x->size() > 1 ? buffer->strides[0] : 0;
  return true;
}

/// Whether no step of a linspace is 0, as far as its ends are at hand: of vectors as long as each other, and of numbers. `least`: what is
/// not 0 after a division by any number of intervals.
template <class T>
bool has_real_steps(const NodeRef& start, const NodeRef& stop, T least) {
  AtHand<T> a, b;
  if ((start->size() != 1 && stop->size() != 1 && start->shape != stop->shape) || !find(start, a) || !find(stop, b)) return false;
  const int64_t count = a.step == 0 && b.step == 0 ? 1 : std::max(start->size(), stop->size());
  bool all = true;
  for (int64_t k = 0; k < count; ++k) all &= std::abs(b.elements[k * b.step] - a.elements[k * a.step]) > least;
  return all;
}
bool has_steps(const NodeRef& start, const NodeRef& stop, DType type) {
  if (type == DType::f64) return has_real_steps<double>(start, stop, 1e-280);
  if (type == DType::f32) return has_real_steps<float>(start, stop, 1e-20F);
  const auto *a = start->as<graph::ConstantNode>(), *b = stop->as<graph::ConstantNode>();
  return a && b && std::abs(b->value.cast(type).c - a->value.cast(type).c) > 1e-10;
}

/// linspace between arrays, complex or single precision numbers: start + i * step along a new axis, the last one exactly stop.
Value linspace_of_arrays(Interpreter& in, const Args& args, const NodeRef& start, const NodeRef& stop, DType type, int64_t n, bool endpoint,
                         bool retstep) {
  const NodeRef a = graph::cast(start, type), b = graph::cast(stop, type);
  const int64_t intervals = endpoint ? n - 1 : n;
  const auto number = [&](double v) { return graph::constant(Scalar::of_float(v).cast(type)); };
  const NodeRef width = graph::map(ScalarOp::sub, {b, a});
  const NodeRef step = intervals > 0 ? graph::map(ScalarOp::div, {width, number(static_cast<double>(intervals))})
                                     : graph::map(ScalarOp::mul, {width, number(std::nan(""))});
  Shape wide(static_cast<size_t>(width->rank()) + 1, 1);
  wide[0] = n;
  const NodeRef index = graph::reshape(graph::iota(n, Scalar::of_float(0), Scalar::of_float(1)), wide);
  NodeRef x = graph::map(ScalarOp::mul, {graph::cast(index, type), intervals > 0 ? step : width});
  if (intervals > 0 && !has_steps(start, stop, type)) {  // where one step is 0, it may be what is left of a small width
    NodeRef nothing = graph::map(ScalarOp::eq, {step, number(0)});
    std::vector<int> all(static_cast<size_t>(step->rank()));
    std::iota(all.begin(), all.end(), 0);
    if (!all.empty()) nothing = graph::reduce(graph::ReduceOp::any, nothing, all);
    const NodeRef share = graph::map(ScalarOp::div, {graph::cast(index, type), number(static_cast<double>(intervals))});
    x = graph::map(ScalarOp::select, {nothing, graph::map(ScalarOp::mul, {share, width}), x});
  }
  x = graph::map(ScalarOp::add, {x, a});
  if (endpoint && n > 1)
    x = graph::map(ScalarOp::select, {graph::map(ScalarOp::eq, {index, graph::constant(Scalar::of_float(static_cast<double>(n - 1)))}),
                                      graph::broadcast_to(b, x->shape), x});
  const DType dtype = dtype_or(in, args[5], type);
  if (is_integer(dtype)) x = graph::map(ScalarOp::floor, {x});
  std::vector<int> order;
  for (int k = 1; k < x->rank(); ++k) order.push_back(k);
  order.insert(order.begin() + to_one_axis(in, args[7], x->rank()), 0);
  Array result(graph::transpose(graph::cast(x, dtype), order));
  return retstep ? make_tuple({Value::make<NdArray>(std::move(result)), wrap(step)}) : Value::make<NdArray>(std::move(result));
}

Value linspace(Interpreter& in, Args args) {
  const int64_t n = is_missing(args[2]) ? 50 : to_index(in, args[2]);
  if (n < 0) raise("ValueError", "Number of samples, " + std::to_string(n) + ", must be non-negative.");
  const bool endpoint = is_missing(args[3]) || truth(in, args[3]), retstep = !is_missing(args[4]) && truth(in, args[4]);
  const auto ranged = [&](const Value& v) { return v.as<List>() || v.as<Tuple>() ? Operand{as_node(in, v), 0} : operand(in, v); };
  const Operand ends[] = {ranged(args[0]), ranged(args[1])};
  const DType type = promote_weak(common_type(ends), 'f');
  if (ends[0].node->rank() > 0 || ends[1].node->rank() > 0 || type != DType::f64)
    return linspace_of_arrays(in, args, ends[0].node, ends[1].node, type, n, endpoint, retstep);
  to_one_axis(in, args[7], 1);
  const double a = to_double(in, args[0]), b = to_double(in, args[1]);
  const int64_t intervals = endpoint ? n - 1 : n;
  const double step = intervals > 0 ? (b - a) / static_cast<double>(intervals) : std::nan("");
  const NodeRef index = graph::iota(n, Scalar::of_float(0), Scalar::of_float(1));
  auto number = [](double v) { return graph::constant(Scalar::of_float(v)); };
  NodeRef x =
      intervals > 0 && step != 0 ? graph::map(ScalarOp::add, {graph::map(ScalarOp::mul, {index, number(step)}), number(a)})
      : intervals > 0
          ? graph::map(
                ScalarOp::add,
                {graph::map(ScalarOp::mul, {graph::map(ScalarOp::div, {index, number(static_cast<double>(intervals))}), number(b - a)}),
                 number(a)})
          : graph::map(ScalarOp::add, {graph::map(ScalarOp::mul, {index, number(b - a)}), number(a)});
  if (endpoint && n > 1)  // the last one exactly
    x = graph::map(ScalarOp::select,
                   {graph::map(ScalarOp::eq, {index, number(static_cast<double>(n - 1))}), graph::broadcast_to(number(b), {n}), x});
  const DType dtype = dtype_or(in, args[5], DType::f64);
  if (is_integer(dtype)) x = graph::map(ScalarOp::floor, {x});
  const Value result = with_chunks(in, graph::cast(x, dtype), args[6]);
  return retstep ? make_tuple({result, wrap_scalar(Scalar::of_float(step))}) : result;
}

NodeRef eye_node(int64_t rows, int64_t columns, int64_t k, DType dtype) {
  // Element (i, j) is one where its C-order index is i * (columns + 1) + k: rows and columns as index grids.
  const NodeRef i =
      graph::broadcast_to(graph::reshape(graph::iota(rows, Scalar::of_int(0), Scalar::of_int(1)), {rows, 1}), {rows, columns});
  const NodeRef j = graph::broadcast_to(graph::iota(columns, Scalar::of_int(0), Scalar::of_int(1)), {rows, columns});
  return graph::cast(graph::map(ScalarOp::eq, {graph::map(ScalarOp::sub, {j, i}), graph::constant(Scalar::of_int(k))}), dtype);
}
/// A number of rows or columns, which no truth value is.
int64_t to_extent(Interpreter& in, const Value& v) {
  if (v.is_bool()) raise("TypeError", "an integer is required");
  return to_index(in, v);
}
Value eye(Interpreter& in, Args args) {
  const int64_t rows = to_extent(in, args[0]), columns = args[1].is_none() || is_missing(args[1]) ? rows : to_extent(in, args[1]);
  return with_chunks(in, eye_node(rows, columns, is_missing(args[2]) ? 0 : to_index(in, args[2]), dtype_or(in, args[3], DType::f64)),
                     args[5], to_axis_order(in, args[4], 2));
}
Value identity(Interpreter& in, Args args) {
  const int64_t n = to_extent(in, args[0]);
  return wrap_array(eye_node(n, n, 0, dtype_or(in, args[1], DType::f64)));
}

}  // namespace

std::vector<NativeFunction> creation_functions() {
  return {
      {"array",
       "object, dtype=None, *, copy=True, ndmin=0, chunks=None, order='K', subok: Unused=False, ndmax: Refused=0, like: "
       "Refused=None",
       array, "An array of nested sequences, numbers or another array."},
      {"asanyarray", "a, dtype=None, order=None, *, chunks=None, device: Device=None, copy=None, like: Refused=None", asarray_or_copy,
       "As asarray."},
      {"asfortranarray", "a, dtype=None, *, chunks=None, like: Refused=None", asfortranarray,
       "As asarray; a copy where the memory is not in Fortran order."},
      {"asarray", "a, dtype=None, order=None, *, chunks=None, device: Device=None, copy=None, like: Refused=None", asarray_or_copy,
       "The array itself, evaluated, or a new one made of `a`."},
      {"ascontiguousarray", "a, dtype=None, *, chunks=None, like: Refused=None", ascontiguousarray,
       "As asarray, with at least one axis; a copy where the memory is not in C order."},
      {"from_array", "object, dtype=None, *, copy=True, ndmin=0, chunks=None", array, "As array."},
      {"zeros", "shape, dtype=None, order='C', *, chunks=None, device: Device=None, like: Refused=None", zeros,
       "All zeros; float64 unless dtype says otherwise."},
      {"ones", "shape, dtype=None, order='C', *, chunks=None, device: Device=None, like: Refused=None", ones, "All ones."},
      {"empty", "shape, dtype=None, order='C', *, chunks=None, device: Device=None, like: Refused=None", zeros,
       "An array to be filled (with zeros until then)."},
      {"full", "shape, fill_value, dtype=None, order='C', *, chunks=None, device: Device=None, like: Refused=None", full,
       "All the same value."},
      {"zeros_like", "a, dtype=None, order='K', subok: Unused=True, shape=None, *, device: Device=None", zeros_like,
       "Zeros of the shape and dtype of `a`."},
      {"ones_like", "a, dtype=None, order='K', subok: Unused=True, shape=None, *, device: Device=None", ones_like,
       "Ones of the shape and dtype of `a`."},
      {"empty_like", "a, dtype=None, order='K', subok: Unused=True, shape=None, *, device: Device=None", zeros_like,
       "An array like `a`, to be filled."},
      {"full_like", "a, fill_value, dtype=None, order='K', subok: Unused=True, shape=None, *, device: Device=None", full_like,
       "The same value everywhere, like `a`."},
      {"arange", "start, stop=None, step=None, dtype=None, *, chunks=None, device: Device=None, like: Refused=None", arange,
       "start, start + step, … below stop."},
      {"linspace", "start, stop, num=50, endpoint=True, retstep=False, dtype=None, *, chunks=None, axis=0, device: Device=None", linspace,
       "num values spread evenly over [start, stop]."},
      {"eye", "N, M=None, k=0, dtype=None, order='C', *, chunks=None, device: Device=None, like: Refused=None", eye,
       "Ones on the k-th diagonal."},
      {"identity", "n, dtype=None, *, like: Refused=None", identity, "The identity matrix."},
  };
}

}  // namespace gasell::numpy
