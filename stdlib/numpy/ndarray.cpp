// The slots of arrays: operators, truth, iteration, indexing.
#include "stdlib/numpy/ndarray.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lang/diagnostic.h"
#include "runtime/session/iterators.h"
#include "runtime/session/types.h"
#include "stdlib/library.h"
#include "stdlib/library_object.h"
#include "stdlib/numpy/chunks.h"
#include "stdlib/numpy/floating_point_errors.h"
#include "stdlib/numpy/memory_order.h"
#include "stdlib/numpy/methods.h"
#include "stdlib/numpy/products.h"
#include "stdlib/numpy/ufunc.h"

namespace gasell::numpy {
namespace {

/// Names in the order of an enumeration of operators, as ufuncs.
template <size_t count>
std::array<const Ufunc*, count> ufuncs_of(const char* const (&names)[count]) {
  std::array<const Ufunc*, count> result;
  std::transform(std::begin(names), std::end(names), result.begin(), [](const char* name) { return find_ufunc(name); });
  return result;
}
/// Of all but matmul, which is none.
const Ufunc& ufunc_of(ast::BinaryOp op) {
  static const auto kUfuncs = ufuncs_of({"add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power", "matmul",
                                         "left_shift", "right_shift", "bitwise_and", "bitwise_or", "bitwise_xor"});
  return *kUfuncs[static_cast<size_t>(op)];
}
const Ufunc& ufunc_of(ast::CompareOp op) {
  static const auto kUfuncs = ufuncs_of({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"});
  return *kUfuncs[static_cast<size_t>(op)];
}

/// The function that NumPy's operator takes for an array of inexact numbers to a power, whose zeros and infinities are others than power's.
const char* named_power(const Value& a, const Value& exponent) {
  const auto* array = a.as<NdArray>();
  if (!array || !(is_float(array->array.dtype()) || is_complex(array->array.dtype()))) return nullptr;
  if (exponent.is_float() && exponent.as_float() == 0.5) return "sqrt";
  return exponent.is_int() && !exponent.is_bool() && exponent.as_int() == -1 ? "reciprocal" : nullptr;
}

std::optional<Value> operate_on_two(Interpreter& in, ast::BinaryOp op, const Value& a, const Value& b) {
  const bool arrays = a.as<NdArray>() || b.as<NdArray>();
  if (!arrays) {
    bool plain = true;
    if (auto result = number_arithmetic(op, a, b, plain)) {
      if (!plain) check_numbers(in, ufunc_of(op), true, std::array{a, b}, *result);
      return result;
    }
  }
  if (a.as<LibraryObject>() || b.as<LibraryObject>()) return {};  // a Series has a say of its own
  auto left = try_operand(in, a), right = try_operand(in, b);
  if (!left || !right) return {};
  if (op == ast::BinaryOp::matmul) {
    if (std::optional<Value> made = gpu_product(in, a, b)) return made;
    return with_product_chunks(wrap_reduced(in, matmul(*left, *right)), a, b);
  }
  const Operand operands[] = {std::move(*left), std::move(*right)};
  if (op == ast::BinaryOp::pow) {
    check_integer_power(in, operands);
    if (const char* function = named_power(a, b)) return wrap_kept(apply(function, {operands, 1}), std::span(&a, 1));
  }
  // A sequence times a NumPy integer is repeated, as with Python's.
  if (op == ast::BinaryOp::mul && !arrays)
    for (const auto& [sequence, count] : {std::pair{&a, &b}, std::pair{&b, &a}})
      if (const auto* n = count->as<NumpyScalar>(); n && is_integer(n->dtype()) && (sequence->as<List>() || sequence->as<Tuple>()))
        return sequence->object()->reflected(in, op, *count);
  const Value given[] = {a, b};
  Value result = wrap_kept(apply(ufunc_of(op), operands), given);
  if (!arrays) check_numbers(in, ufunc_of(op), true, given, result);
  return result;
}

/// Iterates over the first axis.
class ArrayIterator : public Object {
 public:
  explicit ArrayIterator(Array a) : array_(std::move(a)) {}
  const Type& type() const override {
    static const Type kType{"iterator", "builtins"};
    return kType;
  }
  Value iterate(Interpreter&) override { return Value::of(this); }
  std::optional<Value> next(Interpreter& in) override {
    if (at_ >= array_.shape()[0]) return {};
    return array_get(in, array_, Value::of(at_++));
  }

 private:
  Array array_;
  int64_t at_ = 0;
};

Scalar only_element(Interpreter& in, NdArray& a) {
  if (a.array.rank() != 0) raise("TypeError", "only 0-dimensional arrays can be converted to Python scalars");
  return a.array.elements(in.engine())[0];
}

/// np.ndarray(shape, dtype, buffer): elements of an array of that dtype from a byte on, in another shape.
Value array_over(const Array& buffer, DType dtype, const Shape& shape, int64_t offset) {
  const int64_t width = size_of(dtype), count = graph::size_of(shape);
  if (buffer.dtype() != dtype || offset % width != 0)
    raise("NotImplementedError",
          fmt::format("an array of {} at byte {} of an array of {} is not in Gasell", name_of(dtype), offset, name_of(buffer.dtype())),
          "a buffer of the same dtype, and whole elements before the first");
  if (buffer.strides() != graph::contiguous_strides(buffer.shape())) raise("ValueError", "ndarray is not C-contiguous");
  if (offset < 0 || offset / width + count > buffer.size()) raise("TypeError", "buffer is too small for requested array");
  return Value::make<NdArray>(buffer.reshape({buffer.size()}).view({count}, {{0, offset / width, 1}}).reshape(shape));
}

Value construct(Interpreter& in, std::span<Value> args) {
  const DType dtype = to_dtype(in, args[1]).value_or(DType::f64);
  const Shape shape = to_shape(in, args[0]);
  const Value& memory = args[6].is_none() ? args[2] : args[6];
  const std::string order = args[5].is_none() ? "C" : str(in, args[5]);
  if (!args[4].is_none() || (order != "C" && shape.size() > 1 && !memory.is_none()))
    raise("NotImplementedError", "np.ndarray with strides= or in another order than C's is not in Gasell",
          "np.lib.stride_tricks.as_strided; .T of the array");
  if (memory.is_none()) return wrap_array(graph::constant(Scalar::of_int(0).cast(dtype), shape));
  const int64_t offset = gasell::to_index(in, args[3]);
  if (auto* other = memory.as<ArrayMemory>()) return Value::make<NdArray>(other->array(in, dtype, shape, offset));
  if (auto* array = memory.as<NdArray>()) return array_over(array->array, dtype, shape, offset);
  raise("NotImplementedError", "np.ndarray over a " + std::string(type_of(memory).name) + " is not in Gasell", "np.frombuffer reads bytes");
}

}  // namespace

const Type& ndarray_type() {
  static const NativeFunction kConstructor{
      "ndarray", "shape, dtype=None, buffer=None, offset=0, strides=None, order=None, memptr=None", construct,
      "An array to be filled, as np.empty; with buffer= (memptr= in CuPy) one over memory that is there."};
  static const Type type = [] {
    Type t{"ndarray", "numpy"};
    t.methods = array_methods();
    t.properties = array_properties();
    t.constructor = &kConstructor;
    return t;
  }();
  return type;
}

std::optional<Value> ArrayLike::compare(Interpreter& in, ast::CompareOp op, const Value& other) {
  if (auto result = number_comparison(op, Value::of(this), other)) return result;
  if (other.as<LibraryObject>()) return {};
  auto right = try_operand(in, other);
  if (auto* scalar = dynamic_cast<NumpyScalar*>(this); scalar && right && right->node->rank() == 0) {
    // Single numbers are compared for an `if`: each is computed once, and kept for the next question.
    scalar->value(in);
    if (auto* second = other.as<NumpyScalar>()) second->value(in);
    right = try_operand(in, other);
  }
  if (!right) {  // nothing an array can hold equals none of its elements
    if (!(other.is_none() || other.as<Str>()) || (op != ast::CompareOp::eq && op != ast::CompareOp::ne)) return {};
    return wrap(graph::constant(Scalar::of_bool(op == ast::CompareOp::ne), node()->shape));
  }
  const Operand operands[] = {{node(), 0}, *right};
  const Value given[] = {Value::of(this), other};
  return wrap_kept(apply(ufunc_of(op), operands), given);
}
std::optional<Value> ArrayLike::binary(Interpreter& in, ast::BinaryOp op, const Value& other) {
  return operate_on_two(in, op, Value::of(this), other);
}
std::optional<Value> ArrayLike::reflected(Interpreter& in, ast::BinaryOp op, const Value& other) {
  return operate_on_two(in, op, other, Value::of(this));
}

std::optional<Value> ArrayLike::get_attribute(Interpreter& in, std::string_view name) {
  return library_method(in, *this, "numpy.ndarray", name, Object::get_attribute(in, name));
}
std::vector<std::string> ArrayLike::attribute_names(Interpreter& in) {
  return with_library_names(Object::attribute_names(in), "numpy.ndarray");
}

Value ArrayLike::unary(Interpreter& in, ast::UnaryOp op) {
  const Value self = Value::of(this);
  switch (op) {
    case ast::UnaryOp::neg: return operate(in, *find_ufunc("negative"), {&self, 1});
    case ast::UnaryOp::invert: return operate(in, *find_ufunc("invert"), {&self, 1});
    default: return wrap_kept(node(), {&self, 1});
  }
}

std::string NdArray::repr(Interpreter& in) { return array_repr(in, array); }
std::string NdArray::str(Interpreter& in) { return array_str(in, array); }
std::string NdArray::format(Interpreter& in, std::string_view spec) {
  if (spec.empty() && array.rank() > 0) return str(in);
  if (array.rank() == 0) return gasell::format(in, python_value(array.elements(in.engine())[0]), spec);
  raise("TypeError", "unsupported format string passed to numpy.ndarray.__format__");
}

bool NdArray::truth(Interpreter& in) {
  if (array.size() == 1) return array.elements(in.engine())[0].cast(DType::boolean).i != 0;
  if (array.size() == 0)
    raise("ValueError", "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty.");
  raise("ValueError", "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()");
}
int64_t NdArray::hash(Interpreter&) { raise("TypeError", "unhashable type: 'numpy.ndarray'"); }

std::optional<Value> NdArray::in_place(Interpreter& in, ast::BinaryOp op, const Value& other) {
  auto right = try_operand(in, other);
  if (!right) return {};
  Operand operands[] = {{node(), 0}, *right};
  if (op == ast::BinaryOp::pow) check_integer_power(in, operands);
  const char* const name = op == ast::BinaryOp::matmul ? "matmul" : ufunc_of(op).name;
  NodeRef result;
  if (op == ast::BinaryOp::matmul) {
    if (array.rank() < 1 || right->node->rank() < 2)
      raise("ValueError",
            "inplace matrix multiplication requires the first operand to have at least one and the second at least two dimensions.");
    result = matmul(operands[0], *right);
  } else {
    result = apply(ufunc_of(op), operands);
  }
  if (!array.writable()) raise("ValueError", "output array is read-only");
  if (!can_cast(result->dtype, array.dtype(), Casting::same_kind))
    raise("UFuncTypeError",
          std::string("Cannot cast ufunc '") + name + "' output from dtype('" + std::string(name_of(result->dtype)) + "') to dtype('" +
              std::string(name_of(array.dtype())) + "') with casting rule 'same_kind'",
          "without '=' in the operator a new array of dtype " + std::string(name_of(result->dtype)) + " is made");
  if (op == ast::BinaryOp::matmul && result->shape != array.shape())
    raise("ValueError", "matmul: Output operand 0 has a mismatch in its core dimension " + std::to_string(array.rank() - 1) +
                            ", with gufunc signature (n?,k),(k,m?)->(n?,m?) (size " + std::to_string(array.shape().back()) +
                            " is different from " + std::to_string(result->shape.back()) + ")");
  if (result->shape != array.shape())
    raise("ValueError", "non-broadcastable output operand with shape " + graph::to_string(array.shape()) +
                            " doesn't match the broadcast shape " + graph::to_string(result->shape));
  // Nobody but the result keeps the graphs of temporaries, lest the memory they read is copied before it is written.
  operands[0].node.reset();
  operands[1].node.reset();
  right.reset();
  if (auto* temporary = other.as<NdArray>(); temporary && temporary != this && temporary->is_temporary()) {
    temporary->disown();
    temporary->array = Array(graph::constant(Scalar::of_bool(false)));
  }
  array.assign(in.engine(), std::move(result));
  return Value::of(this);
}

int64_t NdArray::length(Interpreter&) {
  if (array.rank() == 0) raise("TypeError", "len() of unsized object");
  return array.shape()[0];
}

bool NdArray::contains(Interpreter& in, const Value& item) {
  const auto equal = compare(in, ast::CompareOp::eq, item);
  if (!equal) return false;
  NodeRef node = equal->as<ArrayLike>()->node();
  std::vector<int> axes;
  for (int k = 0; k < node->rank(); ++k) axes.push_back(k);
  return Array(graph::reduce(graph::ReduceOp::any, node, axes)).elements(in.engine())[0].i != 0;
}

Value NdArray::get_item(Interpreter& in, const Value& index) { return array_get(in, array, index); }
void NdArray::set_item(Interpreter& in, const Value& index, const Value& value) { array_set(in, array, index, value); }

Value NdArray::iterate(Interpreter& in) {
  if (array.rank() == 0) raise("TypeError", "iteration over a 0-d array");
  array.force(in.engine());  // element by element next
  return Value::make<ArrayIterator>(array);
}

std::optional<Value> NdArray::to_int(Interpreter& in) {
  if (is_complex(array.dtype())) raise("TypeError", "int() argument must be a string, a bytes-like object or a real number, not 'complex'");
  return NumpyScalar(only_element(in, *this)).to_int(in);
}
std::optional<Value> NdArray::to_float(Interpreter& in) {
  if (is_complex(array.dtype())) raise("TypeError", "float() argument must be a string or a real number, not 'complex'");
  return NumpyScalar(only_element(in, *this)).to_float(in);
}
std::optional<Value> NdArray::to_complex(Interpreter& in) { return NumpyScalar(only_element(in, *this)).to_complex(in); }
std::optional<int64_t> NdArray::to_index(Interpreter& in) {
  if (array.rank() != 0 || !is_integer(array.dtype())) raise("TypeError", "only integer scalar arrays can be converted to a scalar index");
  return python_value(only_element(in, *this)).as_int();
}

void NdArray::set_attribute(Interpreter& in, std::string_view name, const Value& value) {
  if (name == "shape") {
    const Array reshaped = array.reshape(shape_argument(in, {value}, array.size()));
    if (!reshaped.same_memory(array))
      raise("AttributeError", "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape.");
    array = reshaped;
    return;
  }
  Object::set_attribute(in, name, value);
}

}  // namespace gasell::numpy
