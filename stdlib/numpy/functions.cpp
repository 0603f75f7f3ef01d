// Functions of np that rearrange, join and choose; the rest that is neither a ufunc nor a reduction.
#include <algorithm>
#include <cmath>
#include <limits>

#include "lang/diagnostic.h"
#include "runtime/device/device.h"
#include "runtime/io/npy.h"
#include "runtime/session/bytes.h"
#include "stdlib/library.h"
#include "stdlib/library_object.h"
#include "stdlib/numpy/chunks.h"
#include "stdlib/numpy/host.h"
#include "stdlib/numpy/memory_order.h"
#include "stdlib/numpy/methods.h"
#include "stdlib/numpy/products.h"
#include "stdlib/numpy/typed.h"
#include "stdlib/numpy/ufunc.h"

namespace gasell::numpy {
namespace {

using Args = std::span<Value>;

Value shared(Array a) { return Value::make<NdArray>(std::move(a)); }

Value reshape(Interpreter& in, Args args) {
  const Value self = args[0].as<NumpyScalar>() ? args[0] : shared(as_array(in, args[0]));
  return call(in, get_attribute(in, self, "reshape"), {{args[1]}, {{"order", args[2]}, {"copy", args[3]}}});
}
Value ravel(Interpreter& in, Args args) { return call(in, get_attribute(in, shared(as_array(in, args[0])), "ravel"), {{args[1]}, {}}); }
/// As many axes as there are.
std::vector<int> permutation(Interpreter& in, const Value& given, int rank) {
  const Shape numbers = to_shape(in, given);
  if (static_cast<int>(numbers.size()) != rank) raise("ValueError", "axes don't match array");
  std::vector<int> axes;
  for (const int64_t n : numbers) axes.push_back(to_axis(in, Value::of(n), rank));
  return axes;
}
Value transpose(Interpreter& in, Args args) {
  const Array a = as_array(in, args[0]);
  std::vector<int> axes;
  if (args[1].is_none())
    for (int k = a.rank(); k-- > 0;) axes.push_back(k);
  else
    axes = permutation(in, args[1], a.rank());
  return args[0].as<NumpyScalar>() ? args[0] : shared(transposed(a, axes));
}
Value swapaxes(Interpreter& in, Args args) {
  return call(in, get_attribute(in, shared(as_array(in, args[0])), "swapaxes"), {{args[1], args[2]}, {}});
}
Value squeeze(Interpreter& in, Args args) {
  const Value result = call(in, get_attribute(in, shared(as_array(in, args[0])), "squeeze"), {{args[1]}, {}});
  return args[0].as<NumpyScalar>() ? args[0] : result;
}
Value moveaxis(Interpreter& in, Args args) {
  const Array a = as_array(in, args[0]);
  const std::vector<int> from = to_axis_tuple(in, args[1], a.rank(), "source: "),
                         to = to_axis_tuple(in, args[2], a.rank(), "destination: ");
  if (from.size() != to.size()) raise("ValueError", "`source` and `destination` arguments must have the same number of elements");
  std::vector<int> order;
  for (int k = 0; k < a.rank(); ++k)
    if (std::find(from.begin(), from.end(), k) == from.end()) order.push_back(k);
  std::vector<std::pair<int, int>> moves;
  for (size_t k = 0; k < from.size(); ++k) moves.emplace_back(to[k], from[k]);
  std::sort(moves.begin(), moves.end());
  for (const auto& [at, axis] : moves) order.insert(order.begin() + at, axis);
  return shared(transposed(a, order));
}
Value expand_dims(Interpreter& in, Args args) {
  if (args[1].is_none()) raise("TypeError", "'NoneType' object cannot be interpreted as an integer");
  const Array a = as_array(in, args[0]);
  const int rank = a.rank() + (args[1].as<Tuple>() || args[1].as<List>() ? static_cast<int>(to_vector(in, args[1]).size()) : 1);
  const bool several = args[1].as<Tuple>() || args[1].as<List>();
  const std::vector<int> axes = several ? to_axis_tuple(in, args[1], rank) : std::vector<int>{to_axis(in, args[1], rank)};
  Shape shape = a.shape();
  std::vector<int> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  for (int k : sorted) shape.insert(shape.begin() + k, 1);
  return shared(a.reshape(shape));
}
Value broadcast_to(Interpreter& in, Args args) {
  truth(in, args[2]);
  const Array a = as_array(in, args[0]);
  if (const auto* extents = args[1].as<NdArray>(); extents && extents->array.rank() > 1 && extents->array.shape()[0] > 0)
    truth(in, args[1].object()->get_item(in, Value::of(0)));
  const Shape shape = to_shape(in, args[1]);
  const size_t extra = shape.size() - std::min(shape.size(), a.shape().size());
  Array::Axes axes;
  bool fits = shape.size() >= a.shape().size();
  for (size_t k = 0; fits && k < a.shape().size(); ++k) {
    const int out = static_cast<int>(k + extra);
    fits = a.shape()[k] == shape[k + extra] || a.shape()[k] == 1;
    axes.push_back(a.shape()[k] == shape[k + extra] ? graph::ViewAxis{out, 0, 1} : graph::ViewAxis{-1, 0, 0});
  }
  if (shape.empty() && a.rank() > 0) raise("ValueError", "cannot broadcast a non-scalar to a scalar array");
  if (shape.size() < a.shape().size()) raise("ValueError", "input operand has more dimensions than allowed by the axis remapping");
  if (!fits)
    raise("ValueError", "operands could not be broadcast together with remapped shapes [original->remapped]: " +
                            graph::to_string(a.shape()) + "  and requested shape " + graph::to_string(shape));
  return shared(a.view(shape, axes, true));
}

/// The arrays of a sequence in one dtype: `dtype` where it is given, as the casting rule allows it. Python's numbers are cast whatever they
/// lose; where they are arrays first, they are no weaker than others.
std::vector<NodeRef> parts_of(Interpreter& in, const Value& sequence, const Value& dtype, const Value& casting, bool arrays_first) {
  std::vector<Operand> operands;
  for (const Value& v : to_vector(in, sequence)) {
    operands.push_back(operand(in, v));
    if (arrays_first) operands.back().weak = 0;
  }
  if (operands.empty()) raise("ValueError", "need at least one array to concatenate");
  const DType type = to_dtype(in, dtype).value_or(common_type(operands));
  const bool unsafe = casting.as<Str>() && casting.as<Str>()->value == "unsafe";
  std::vector<NodeRef> parts;
  for (const Operand& o : operands) {
    if (o.weak) {
      parts.push_back(graph::cast(o.node, type));
      continue;
    }
    if (!unsafe && !can_cast(o.node->dtype, type, Casting::same_kind))
      raise("TypeError", "Cannot cast array data from dtype('" + std::string(name_of(o.node->dtype)) + "') to dtype('" +
                             std::string(name_of(type)) + "') according to the rule 'same_kind'");
    parts.push_back(graph::cast(o.node, type));
  }
  return parts;
}
NodeRef join(std::vector<NodeRef> parts, int axis) {
  for (size_t k = 0; k < parts.size(); ++k) {
    if (parts[k]->rank() != parts[0]->rank())
      raise("ValueError", "all the input arrays must have same number of dimensions, but the array at index 0 has " +
                              std::to_string(parts[0]->rank()) + " dimension(s) and the array at index " + std::to_string(k) + " has " +
                              std::to_string(parts[k]->rank()) + " dimension(s)");
    for (int d = 0; d < parts[0]->rank(); ++d)
      if (d != axis && parts[k]->shape[static_cast<size_t>(d)] != parts[0]->shape[static_cast<size_t>(d)])
        raise("ValueError", "all the input array dimensions except for the concatenation axis must match exactly, but along dimension " +
                                std::to_string(d) + ", the array at index 0 has size " +
                                std::to_string(parts[0]->shape[static_cast<size_t>(d)]) + " and the array at index " + std::to_string(k) +
                                " has size " + std::to_string(parts[k]->shape[static_cast<size_t>(d)]));
  }
  return graph::concatenate(std::move(parts), axis);
}
/// Whether one of several arrays holds texts.
bool any_texts(const std::vector<Value>& arrays) {
  return std::ranges::any_of(arrays, [](const Value& v) {
    const auto* list = v.as<List>();
    return is_column(v) || (list && std::ranges::any_of(list->items, [](const Value& item) { return item.as<Str>() != nullptr; }));
  });
}

/// The result of a join: an array of its own, in the order that the parts lie in where they agree, or what is in `out`.
Value joined_value(Interpreter& in, NodeRef node, std::span<const Value> parts, const Value& out) {
  if (const auto* array = out.as<NdArray>()) {
    if (array->array.rank() != node->rank()) raise("ValueError", "Output array has wrong dimensionality");
    if (array->array.shape() != node->shape) raise("ValueError", "Output array is the wrong shape");
  }
  if (!out.is_none()) return give(in, "concatenate", node, out);
  AxisOrder order = kept_order(parts, node->rank());
  return Value::make<NdArray>(ordered(std::move(node), std::move(order)));
}

Value concatenate(Interpreter& in, Args args) {
  const std::vector<Value> arrays = to_vector(in, args[0]);
  if (args[3].is_none() && args[2].is_none() && any_texts(arrays))
    return call(in, *library_member(in, "_pandas", "joined_texts"), {{make_list(arrays), args[1]}, {}});
  std::vector<NodeRef> parts = parts_of(in, args[0], args[3], args[4], false);
  if (args[1].is_none()) {
    for (NodeRef& p : parts) p = graph::reshape(p, {p->size()});
    return joined_value(in, join(std::move(parts), 0), {}, args[2]);
  }
  if (parts[0]->rank() == 0) {
    to_plain_axis(in, args[1], std::numeric_limits<int>::max());  // what is no number is refused first
    raise("ValueError", "zero-dimensional arrays cannot be concatenated");
  }
  const int axis = to_plain_axis(in, args[1], parts[0]->rank());
  return with_joined_chunks(joined_value(in, join(std::move(parts), axis), arrays, args[2]), arrays, axis);
}
Value stack(Interpreter& in, Args args) {
  std::vector<NodeRef> parts = parts_of(in, args[0], args[3], args[4], true);
  const int axis = to_axis(in, args[1], parts[0]->rank() + 1);
  const Shape common = parts[0]->shape;
  for (NodeRef& p : parts) {
    if (p->shape != common) raise("ValueError", "all input arrays must have the same shape");
    Shape shape = common;
    shape.insert(shape.begin() + axis, 1);
    p = graph::reshape(p, shape);
  }
  return with_stacked_chunks(joined_value(in, join(std::move(parts), axis), {}, args[2]), to_vector(in, args[0]), axis);
}

/// Whether a choice of np.where may be texts or times, which columns hold.
bool may_be_column(const Value& v) { return v.as<Str>() || v.as<LibraryObject>() || is_column(v) || type_of(v).name == "Timestamp"; }

Value where(Interpreter& in, Args args) {
  const bool a_missing = is_missing(args[1]), b_missing = is_missing(args[2]);
  if (a_missing != b_missing) raise("ValueError", "either both or neither of x and y should be given");
  const NodeRef condition = graph::cast(as_node(in, args[0]), DType::boolean);
  if (a_missing && condition->shape.empty())
    raise("ValueError", "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.");
  if (a_missing) return nonzero(in, Array(condition));
  if (may_be_column(args[1]) || may_be_column(args[2])) {
    const Value column = call(in, *library_member(in, "_pandas", "where_column"), {{wrap(condition), args[1], args[2]}, {}});
    if (!column.is_none()) return column;
  }
  const Operand operands[] = {operand(in, args[1]), operand(in, args[2])};
  const DType type = common_type(operands);
  const NodeRef chosen =
      graph::map(ScalarOp::select, {condition, graph::cast(operands[0].node, type), graph::cast(operands[1].node, type)});
  return chosen->rank() == 0 ? wrap_array(chosen) : wrap_kept(chosen, args.first(3));  // never a scalar
}
/// A result for each element of `x`, written into `out` or with the chunks of `x`.
Value with_chunks_of(const Value& x, Value result, const Value& out) {
  return out.is_none() || is_missing(out) ? with_common_chunks(std::move(result), {&x, 1}) : result;
}
Value clip(Interpreter& in, Args args) {
  if (is_missing(args[1]) != is_missing(args[2]))
    raise("TypeError", std::string("clip() missing 1 required positional argument: '") + (is_missing(args[1]) ? "a_min" : "a_max") + "'");
  if (!is_missing(args[1]) && (!is_missing(args[4]) || !is_missing(args[5])))
    raise("ValueError", "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.");
  const Value &low = is_missing(args[1]) ? args[4] : args[1], &high = is_missing(args[2]) ? args[5] : args[2];
  if (const Value own = own_answer(in, "clip", args[0], {is_missing(low) ? Value() : low, is_missing(high) ? Value() : high});
      !own.is_absent())
    return own;
  if (!low.is_none() && !is_missing(low) && !high.is_none() && !is_missing(high))
    graph::broadcast_shapes({as_node(in, args[0])->shape, as_node(in, low)->shape, as_node(in, high)->shape});
  const auto unbounded = [](const Value& v) { return v.is_none() || is_missing(v); };
  if (unbounded(low) && unbounded(high)) {
    const Operand operands[] = {operand(in, args[0])};
    return give(in, "positive", apply("positive", operands), args[3]);
  }
  const Value x = operand(in, args[0]).weak ? wrap(as_node(in, args[0])) : args[0];
  const Value result = clipped(in, x, is_missing(low) ? Value() : low, is_missing(high) ? Value() : high);
  return with_chunks_of(args[0], give(in, "clip", as_node(in, result), args[3]), args[3]);
}
Value round(Interpreter& in, Args args) {
  if (const Value own = own_answer(in, "round", args[0], {is_missing(args[1]) ? Value::of(0) : args[1]}); !own.is_absent()) return own;
  const int64_t decimals = is_missing(args[1]) ? 0 : to_index(in, args[1]);
  NodeRef x = as_node(in, args[0]);
  if (decimals < 0 && is_integer(x->dtype) && !args[2].is_none()) x = graph::cast(x, DType::f64);  // as `out` has to hold it
  return with_chunks_of(args[0], give_reduced(in, "round", rounded(x, decimals), args[2]), args[2]);
}
Value scaled(Interpreter& in, const Value& v, double factor) {
  const Operand operands[] = {operand(in, v), {graph::constant(Scalar::of_float(factor)), 'f'}};
  return wrap(apply("multiply", operands));
}
Value part_of(Interpreter& in, const Value& v, const char* name) {
  const bool is_number = v.is_bool() || v.is_int() || v.is_float() || v.as<Complex>();
  return get_attribute(in, v.as<ArrayLike>() || is_number ? v : wrap(as_node(in, v)), name);
}
Value real(Interpreter& in, Args args) { return part_of(in, args[0], "real"); }
Value imag(Interpreter& in, Args args) { return part_of(in, args[0], "imag"); }
Value angle(Interpreter& in, Args args) {
  Operand x = operand(in, args[0]), y{graph::constant(Scalar::of_int(0)), 'i'};
  if (is_complex(x.node->dtype)) {
    y = {graph::map(ScalarOp::imag, {x.node}), 0};
    x = {graph::map(ScalarOp::real, {x.node}), 0};
  }
  const Operand operands[] = {y, x};
  const Value a = with_common_chunks(wrap(apply("arctan2", operands)), args.first(1));
  return truth(in, args[1]) ? scaled(in, a, 180.0 / M_PI) : a;
}
Value matmul_of(Interpreter& in, Args args) {
  if (args[2].is_none())
    if (std::optional<Value> made = gpu_product(in, args[0], args[1])) return *std::move(made);
  const Operand a = operand(in, args[0]), b = operand(in, args[1]);
  const NodeRef result = matmul(a, b);
  if (const auto* out = args[2].as<NdArray>()) {
    check_output_cast("matmul", result->dtype, out->array.dtype(), Casting::same_kind);
    const size_t cores = (a.node->rank() > 1 ? 1 : 0) + (b.node->rank() > 1 ? 1 : 0);
    const Shape &held = out->array.shape(), &made = result->shape;
    if (held.size() < cores ||
        !std::equal(made.end() - static_cast<std::ptrdiff_t>(cores), made.end(), held.end() - static_cast<std::ptrdiff_t>(cores)))
      raise("ValueError", "matmul: Output operand 0 has a mismatch in its core dimensions, with gufunc signature (n?,k),(k,m?)->(n?,m?)");
  }
  Value product = give(in, "matmul", result, args[2]);
  return args[2].is_none() ? with_product_chunks(std::move(product), args[0], args[1]) : product;
}
/// The extents of anything; what is no array has none.
Shape shape_of(Interpreter& in, const Value& v) { return v.is_none() ? Shape{} : as_node(in, v)->shape; }
Value shape(Interpreter& in, Args args) {
  return is_column(args[0]) ? get_attribute(in, args[0], "shape") : from_shape(shape_of(in, args[0]));
}
Value ndim(Interpreter& in, Args args) {
  return is_column(args[0]) ? get_attribute(in, args[0], "ndim") : Value::of(static_cast<int64_t>(shape_of(in, args[0]).size()));
}
Value size(Interpreter& in, Args args) {
  if (is_column(args[0]) && args[1].is_none()) return get_attribute(in, args[0], "size");
  const Shape shape = shape_of(in, args[0]);
  if (args[1].is_none()) return Value::of(graph::size_of(shape));
  int64_t n = 1;
  for (int axis : to_axis_tuple(in, args[1], static_cast<int>(shape.size()))) n *= shape[static_cast<size_t>(axis)];
  return Value::of(n);
}
Value copy(Interpreter& in, Args args) {
  truth(in, args[2]);
  const Array a = as_array(in, args[0]);
  return Value::make<NdArray>(ordered(a.node(), to_axis_order(in, args[1], a.rank(), &a, 'K')));
}
Value result_type(Interpreter& in, Args args) {
  std::vector<Operand> operands;
  for (const Value& v : args[0].as<Tuple>()->items) {
    if (v.is_none())
      operands.push_back({graph::constant(Scalar::of_float(0)), 0});
    else if (v.as<TypeObject>() || v.as<DTypeObject>() || v.as<Str>() || v.as<List>() || v.as<Tuple>())
      operands.push_back({graph::constant(Scalar::of_int(0).cast(*to_dtype(in, v))), 0});
    else
      operands.push_back(operand(in, v));
  }
  return dtype_object(common_type(operands));
}
Value promote_types(Interpreter& in, Args args) { return dtype_object(promote(*to_dtype(in, args[0]), *to_dtype(in, args[1]))); }
Value can_cast(Interpreter& in, Args args) {
  const auto* array = args[0].as<NdArray>();
  const DType from = array ? array->array.dtype() : *to_dtype(in, args[0]), to = *to_dtype(in, args[1]);
  return Value::of(can_cast(from, to, casting_of(in, args[2])));
}

const std::string& file_name(const Value& v) {
  if (const auto* s = v.as<Str>()) return s->value;
  raise("TypeError", "expected str, bytes or os.PathLike object, not " + type_of(v).name);
}

/// What the header of a .npy file says as a value of the language.
Value literal_value(const PythonLiteral& literal) {
  const auto all = [](const std::vector<PythonLiteral>& items) {
    std::vector<Value> values;
    for (const PythonLiteral& item : items) values.push_back(literal_value(item));
    return values;
  };
  if (const auto* text = literal.as<std::string>()) return make_str(*text);
  if (const auto* number = literal.as<int64_t>()) return Value::of(*number);
  if (const auto* tuple = literal.as<PythonLiteral::Tuple>()) return make_tuple(all(tuple->items));
  if (const auto* list = literal.as<PythonLiteral::List>()) return make_list(all(list->items));
  return {};
}

/// The array of a file: lazy over the mapped file. Writes stay in memory, unless `mode`, which is np.load's mmap_mode, says otherwise.
Value array_of_file(Interpreter& in, NpyArray file, const std::string& mode) {
  if (mode != "c" && file.dtype == DType::u8 && !file.named.as<PythonLiteral::None>())
    raise("NotImplementedError", "np.load(mmap_mode='" + mode + "') of texts and records is not in Gasell", "they are read at once");
  const auto made = [&](Value array) {
    return file.named.as<PythonLiteral::None>() ? array : call_typed(in, "of_file", {literal_value(file.named), array});
  };
  if (mode == "r+") return made(Value::make<NdArray>(Array::over(file.storage, file.dtype, file.shape)));
  if (file.byte_swapped) {  // the other byte order: converted on reading
    const auto width = static_cast<size_t>(gasell::size_of(real_of(file.dtype)));
    const int64_t bytes = graph::size_of(file.shape) * gasell::size_of(file.dtype);
    auto native = std::dynamic_pointer_cast<HostStorage>(in.engine().device().allocate(std::max<int64_t>(1, bytes)));
    const char* from = static_cast<const char*>(file.storage->read()) + file.offset * gasell::size_of(file.dtype);
    char* to = static_cast<char*>(native->write());
    for (int64_t at = 0; at < bytes; at += static_cast<int64_t>(width)) std::reverse_copy(from + at, from + at + width, to + at);
    file.storage = native;
    file.offset = 0;
  }
  const Array array(graph::buffer(file.storage, file.dtype, file.shape, file.strides, file.offset));
  if (mode == "c") return made(Value::make<NdArray>(array));
  Array::Axes same;
  for (int k = 0; k < array.rank(); ++k) same.push_back({k, 0, 1});
  return made(Value::make<NdArray>(array.view(array.shape(), std::move(same), true)));
}

/// np.load.
Value load(Interpreter& in, Args args) {
  const std::string mode = args[1].is_none() ? "c" : str(in, args[1]);
  if (mode != "c" && mode != "r" && mode != "r+")
    raise("ValueError", mode == "w+" ? "mode 'w+' makes a new file: use np.save"
                                     : "mode must be one of ['r', 'c', 'r+'] (got " + repr(in, args[1]) + ")");
  const std::string& path = file_name(args[0]);
  if (is_zip_archive(path)) return call(in, *library_member(in, "numpy.lib.npyio", "opened"), {{args[0]}, {}});
  return array_of_file(in, open_npy(path, in.engine().device().budget(), mode == "r+"), mode);
}

/// np.save: computes straight into the file, so that arrays larger than memory stream.
Value save(Interpreter& in, Args args) {
  save_array(in, args[0], args[1], {});
  return {};
}

Value array_repr_of(Interpreter& in, Args args) { return make_str(array_repr(in, as_array(in, args[0]))); }
Value array_str_of(Interpreter& in, Args args) { return make_str(array_str(in, as_array(in, args[0]))); }

}  // namespace

Value npy_array(Interpreter& in, Args args) {
  const std::string_view file = args[0].as<Bytes>()->value;
  return array_of_file(in, npy_in_memory(file, str(in, args[1]), in.engine().device().budget()), "c");
}

void save_array(Interpreter& in, const Value& file, const Value& array, std::string_view descr) {
  std::string path = file_name(file);
  if (!path.ends_with(".npy")) path += ".npy";
  const NodeRef x = as_node(in, array);
  NpyWriter writer(path, x->dtype, x->shape, false, descr);
  if (const auto* b = x->as<graph::BufferNode>(); b && b->strides == graph::contiguous_strides(x->shape)) {
    const Array::Elements e = Array(x).elements(in.engine());
    writer.write(0, e.data, e.count * gasell::size_of(x->dtype));
    std::dynamic_pointer_cast<HostStorage>(e.keep_alive)->check();
  } else if (x->size()) {
    in.engine().force_into(x, writer.storage(), graph::contiguous_strides(x->shape), 0);
  }
  writer.commit();
}

Value dot_of(Interpreter& in, Args args) {
  const auto* matrix = args[0].as<NdArray>();
  if (args[2].is_none() && matrix && matrix->array.rank() == 2)
    if (std::optional<Value> made = gpu_product(in, args[0], args[1])) return *std::move(made);
  const Operand a = operand(in, args[0]), b = operand(in, args[1]);
  const NodeRef result = dot(a, b);
  const auto* out = args[2].as<NdArray>();
  if (!out && !args[2].is_none()) raise("TypeError", "'out' must be an array");
  // Integers by a single number are multiplied, not added up by BLAS, and may be broadcast into `out`.
  const bool multiplied = (a.node->rank() == 0 || b.node->rank() == 0) && !is_float(result->dtype) && !is_complex(result->dtype);
  if (out && !multiplied) {
    if (out->array.dtype() != result->dtype || out->array.rank() != result->rank() || !is_contiguous(out->array, false))
      raise("ValueError", "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)");
    if (out->array.shape() != result->shape) raise("ValueError", "output array has wrong dimensions");
  }
  Value product = give(in, "dot", result, args[2]);
  const bool of_matrices = !out && std::max(a.node->rank(), b.node->rank()) <= 2;
  return of_matrices ? with_product_chunks(std::move(product), args[0], args[1]) : product;
}

std::vector<NativeFunction> misc_functions() {
  return {
      {"reshape", "a, /, shape, order='C', *, copy=None", reshape, "The same elements in another shape."},
      {"ravel", "a, order='C'", ravel, "One-dimensional."},
      {"transpose", "a, axes=None", transpose, "A view with its axes permuted."},
      {"swapaxes", "a, axis1, axis2", swapaxes, "A view with two axes exchanged."},
      {"squeeze", "a, axis=None", squeeze, "Without axes of extent 1."},
      {"moveaxis", "a, source, destination", moveaxis, "A view with axes moved."},
      {"expand_dims", "a, axis", expand_dims, "With new axes of extent 1."},
      {"broadcast_to", "array, shape, subok=False", broadcast_to, "A read-only view of that shape."},
      {"concatenate", "arrays, /, axis=0, out=None, *, dtype=None, casting='same_kind'", concatenate, "Joined along an axis that exists."},
      {"stack", "arrays, axis=0, out=None, *, dtype=None, casting='same_kind'", stack, "Joined along a new axis."},
      {"where", "condition, x=_missing, y=_missing, /", where,
       "x where the condition holds, else y; the indices of what is true without them."},
      {"clip", "a, a_min=missing, a_max=missing, out=None, *, min=missing, max=missing", clip, "Elements limited to [a_min, a_max]."},
      {"round", "a, decimals=0, out=None", round, "Rounded to even at that decimal."},
      {"around", "a, decimals=0, out=None", round, "Rounded to even at that decimal."},
      {"real", "val", real, "Real part."},
      {"imag", "val", imag, "Imaginary part."},
      {"angle", "z, deg=False", angle, "The argument of complex numbers."},
      {"dot", "a, b, out=None", dot_of, "Sums of products over the last axis of a and the last but one of b."},
      {"matmul",
       "x1, x2, /, out=None, *, dtype: Refused=None, casting: Refused='same_kind', order: Order='K', subok: Unused=True, signature: "
       "Refused=None, axes: Refused=None",
       matmul_of, "Matrix products of the last two axes."},
      {"shape", "a", shape, "Extents."},
      {"ndim", "a", ndim, "Number of axes."},
      {"size", "a, axis=None", size, "Number of elements."},
      {"copy", "a, order='K', subok=False", copy, "An array of its own."},
      {"result_type", "*arrays_and_dtypes", result_type, "The dtype NumPy 2's promotion gives."},
      {"promote_types", "type1, type2", promote_types, "The smallest dtype both can be cast to safely."},
      {"can_cast", "from_, to, casting='safe'", can_cast, "Whether a cast may be done under a rule."},
      {"load",
       "file, mmap_mode=None, allow_pickle=False, fix_imports: Unused=True, encoding: Unused='ASCII', *, max_header_size: Unused=10000",
       load, "The array of a .npy file, mapped: read as it is needed."},
      {"save", "file, arr, allow_pickle=True", save, "Writes a .npy file; what is not computed yet streams into it."},
      {"array_repr", "arr, max_line_width: Refused=None, precision: Refused=None, suppress_small: Refused=None", array_repr_of,
       "repr of an array."},
      {"array_str", "a, max_line_width: Refused=None, precision: Refused=None, suppress_small: Refused=None", array_str_of,
       "str of an array."},
  };
}

}  // namespace gasell::numpy
