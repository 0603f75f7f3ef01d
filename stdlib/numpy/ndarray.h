// Arrays, NumPy scalars and dtypes as the script sees them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/array/array.h"
#include "runtime/session/interpreter.h"
#include "runtime/session/objects.h"

namespace gasell::numpy {

using graph::NodeRef;
using graph::Shape;

const Type& ndarray_type();
/// np.float64 and its like.
const Type& scalar_type(DType dtype);
const Type& dtype_type();
/// The dtype whose scalar type this is: np.float64, and Python's int, float, bool, complex.
std::optional<DType> dtype_of_type(const Type& type);

/// Slots that arrays and NumPy scalars share: both take part in operators as arrays do.
class ArrayLike : public Object {
 public:
  virtual NodeRef node() const = 0;
  std::optional<Value> compare(Interpreter& in, ast::CompareOp op, const Value& other) override;
  std::optional<Value> binary(Interpreter& in, ast::BinaryOp op, const Value& other) override;
  std::optional<Value> reflected(Interpreter& in, ast::BinaryOp op, const Value& other) override;
  Value unary(Interpreter& in, ast::UnaryOp op) override;
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override;
  std::vector<std::string> attribute_names(Interpreter& in) override;
};

class NdArray : public ArrayLike {
 public:
  /// The first object of an array that is no view stands for its memory's owner (a.base of views).
  explicit NdArray(Array a) : array(std::move(a)) {
    if (array.owns() && !array.owner()) array.set_owner(this);
  }
  ~NdArray() override { disown(); }
  NdArray(const NdArray&) = delete;
  NdArray& operator=(const NdArray&) = delete;
  const Type& type() const override { return ndarray_type(); }
  void disown() {
    if (array.owner() == this) array.set_owner(nullptr);
  }
  NodeRef node() const override { return array.node(); }
  std::string repr(Interpreter& in) override;
  std::string str(Interpreter& in) override;
  std::string format(Interpreter& in, std::string_view spec) override;
  bool truth(Interpreter& in) override;
  int64_t hash(Interpreter& in) override;
  std::optional<Value> in_place(Interpreter& in, ast::BinaryOp op, const Value& other) override;
  int64_t length(Interpreter& in) override;
  bool contains(Interpreter& in, const Value& item) override;
  Value get_item(Interpreter& in, const Value& index) override;
  void set_item(Interpreter& in, const Value& index, const Value& value) override;
  Value iterate(Interpreter& in) override;
  std::optional<Value> to_int(Interpreter& in) override;
  std::optional<Value> to_float(Interpreter& in) override;
  std::optional<Value> to_complex(Interpreter& in) override;
  std::optional<int64_t> to_index(Interpreter& in) override;
  void set_attribute(Interpreter& in, std::string_view name, const Value& value) override;

  Array array;
};

/// Memory that is no array's, of which np.ndarray makes one.
class ArrayMemory : public Object {
 public:
  /// An array in C order from byte `offset` on.
  virtual Array array(Interpreter& in, DType dtype, const Shape& shape, int64_t offset) = 0;
};

/// np.float64(1.5). The result of a full reduction is one too, computed when something looks at it.
class NumpyScalar : public ArrayLike {
 public:
  explicit NumpyScalar(const Scalar& s) : dtype_(s.type), value_(s) {}
  explicit NumpyScalar(NodeRef lazy) : dtype_(lazy->dtype) {
    if (const auto* constant = lazy->as<graph::ConstantNode>())
      value_ = constant->value;
    else
      lazy_ = std::move(lazy);
  }
  const Type& type() const override { return scalar_type(dtype_); }
  NodeRef node() const override { return value_ ? graph::constant(*value_) : lazy_; }
  DType dtype() const { return dtype_; }
  /// Null: it waits to be computed.
  const Scalar* known() const { return value_ ? &*value_ : nullptr; }
  /// Computes it where that has not happened.
  const Scalar& value(Interpreter& in);
  /// The same, but it stays where it was computed, on a GPU.
  void compute(Interpreter& in);
  /// What somebody else has computed of node().
  void set_value(const Scalar& value) { value_ = value, lazy_.reset(); }

  std::string repr(Interpreter& in) override;
  std::string str(Interpreter& in) override;
  std::string format(Interpreter& in, std::string_view spec) override;
  bool truth(Interpreter& in) override;
  int64_t hash(Interpreter& in) override;
  std::optional<Value> to_int(Interpreter& in) override;
  std::optional<Value> to_float(Interpreter& in) override;
  std::optional<Value> to_complex(Interpreter& in) override;
  std::optional<int64_t> to_index(Interpreter& in) override;
  Value get_item(Interpreter& in, const Value& index) override;

 private:
  DType dtype_;
  std::optional<Scalar> value_;
  NodeRef lazy_;
};

/// a op b of numbers that are known: of one dtype, float64 with int64, or either beside a number of Python's that it takes as it is. Most
/// of what loops over single elements do. Nothing: it is no such case. `plain` becomes false where check_numbers has to look at it.
std::optional<Value> number_arithmetic(ast::BinaryOp op, const Value& a, const Value& b, bool& plain);
std::optional<Value> number_comparison(ast::CompareOp op, const Value& a, const Value& b);

/// The one object of a dtype: `a.dtype is np.dtype(float)` holds.
const Value& dtype_object(DType dtype);

class DTypeObject : public Object {
 public:
  explicit DTypeObject(DType d) : dtype(d) {}
  const Type& type() const override { return dtype_type(); }
  std::string repr(Interpreter& in) override;
  std::string str(Interpreter& in) override {
    (void)in;
    return std::string(name_of(dtype));
  }
  int64_t hash(Interpreter& in) override;
  std::optional<Value> compare(Interpreter& in, ast::CompareOp op, const Value& other) override;

  const DType dtype;
};

// ---- from and to values ----

/// An array value: 0-d results become NumPy scalars, as NumPy has it.
Value wrap(NodeRef node);
/// The result of a reduction: a number of few elements is computed at once, so that it holds on to no memory that is written later, and
/// what is made of it is arithmetic.
Value wrap_reduced(Interpreter& in, NodeRef node);
/// An array even where it is 0-d.
Value wrap_array(NodeRef node);
Value wrap_scalar(const Scalar& value);
/// None, bool, int, float or complex of the language.
Value python_value(const Scalar& value);

/// What stands for an array in a call: arrays, NumPy scalars, Python numbers (weak in promotion), nested sequences.
struct Operand {
  NodeRef node;
  char weak = 0;  // 'b', 'i', 'f', 'c': a Python scalar of that kind; 0: it has a dtype
};
/// nullopt: v is nothing an array can be made of.
std::optional<Operand> try_operand(Interpreter& in, const Value& v);
/// TypeError where v is no array.
Operand operand(Interpreter& in, const Value& v);
/// Of what is put into an array of this dtype: None is NaN there, or False. TypeError for None among whole numbers.
Operand assigned_operand(Interpreter& in, const Value& v, DType dtype);
/// np.asarray(v, dtype): ValueError for ragged nesting.
NodeRef as_node(Interpreter& in, const Value& v, std::optional<DType> dtype = {});
/// The array object itself, or a new one made of v.
Array as_array(Interpreter& in, const Value& v);

/// A dtype argument: None or missing → nothing; np.float64, 'f4', float, dtype objects. TypeError else.
std::optional<DType> to_dtype(Interpreter& in, const Value& v);
/// A dtype that NumPy has and Gasell has not: 'O', 'S5', 'M8[ns]', '>f8'.
bool is_foreign_dtype(std::string_view name);
/// A shape argument: an int or a sequence of ints.
Shape to_shape(Interpreter& in, const Value& v);
Value from_shape(const Shape& shape);
/// An axis argument, negative ones counted from the end. AxisError; `prefix` opens the message: "axis1: ".
int to_axis(Interpreter& in, const Value& v, int rank, const char* prefix = "");
/// The same where NumPy takes no truth value as an axis.
int to_plain_axis(Interpreter& in, const Value& v, int rank);
/// The axes of a reduction: None or missing → all; an int or a tuple; none where 0-d arrays are reduced along axis 0 or -1. No truth
/// values; ValueError "duplicate value in 'axis'".
std::vector<int> to_axes(Interpreter& in, const Value& v, int rank);
/// The axes of a function that is none of NumPy's loops: an int or whatever gives ints.
std::vector<int> to_axis_tuple(Interpreter& in, const Value& v, int rank, const char* prefix = "");

/// Turns the result of a Python scalar into dtype: OverflowError "Python integer 300 out of bounds for int8".
NodeRef cast_weak(const NodeRef& node, DType dtype);
/// A Python number that is stored in an array of dtype: a float goes into integers by int(), and must fit.
NodeRef assigned_number(const Operand& number, DType dtype);

// ---- printing (print.cpp) ----
std::string array_repr(Interpreter& in, const Array& array);
std::string array_str(Interpreter& in, const Array& array);
/// A scalar as str() shows it.
std::string scalar_str(const Scalar& value);

// ---- indexing (indexing.cpp) ----
Value array_get(Interpreter& in, const Array& array, const Value& index);
void array_set(Interpreter& in, Array& array, const Value& index, const Value& value);

}  // namespace gasell::numpy
