// Between the script's values and graph nodes.
#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "lang/diagnostic.h"
#include "runtime/device/device.h"
#include "runtime/session/big_integer.h"
#include "runtime/session/dict.h"
#include "runtime/session/types.h"
#include "stdlib/library_object.h"
#include "stdlib/numpy/methods.h"
#include "stdlib/numpy/ndarray.h"
#include "stdlib/numpy/nested.h"
#include "stdlib/numpy/typed.h"
#include "stdlib/numpy/ufunc.h"

namespace gasell::numpy {
namespace {

/// What an array has of an integer that int64 does not hold: a number of uint64.
Operand unsigned_operand(const BigInt& big) {
  if (big.value < 0 || big.value > std::numeric_limits<uint64_t>::max())
    raise("NotImplementedError", "an array of integers beyond 64 bits is not in Gasell");
  Scalar value = Scalar::of_int(static_cast<int64_t>(static_cast<uint64_t>(big.value)));
  value.type = DType::u64;
  return {graph::constant(value), 0};
}

/// Collects a nested sequence: its shape, its leaves in C order and their dtype.
class NestedReader {
 public:
  explicit NestedReader(Interpreter& in) : in_(in), nested_(in) {}

  NodeRef read(const Value& v, std::optional<DType> dtype) {
    dtype_ = dtype;
    nested_.walk(v, [this](const Value& element, size_t depth) { leaf(element, depth); });
    if (!dtype) {  // Python's numbers are no weaker than others here
      for (const Operand& leaf : leaves_) dtype = dtype ? promote(*dtype, leaf.node->dtype) : leaf.node->dtype;
      if (!dtype) dtype = DType::f64;
    }
    if (has_big_ && is_integer(*dtype) && *dtype != DType::u64) raise("OverflowError", "Python int too large to convert to C long");
    const Shape& shape = nested_.shape();
    const int64_t count = graph::size_of(shape);
    auto storage =
        std::dynamic_pointer_cast<HostStorage>(in_.engine().device().allocate(std::max<int64_t>(1, graph::bytes_of({count}, *dtype))));
    char* to = static_cast<char*>(storage->write());
    for (const Operand& leaf : leaves_) {
      const NodeRef cast = leaf.weak ? assigned_number(leaf, *dtype) : graph::cast(leaf.node, *dtype);
      if (const auto* c = cast->as<graph::ConstantNode>(); c && cast->shape.empty()) {
        c->value.store(to);
        to += gasell::size_of(*dtype);
      } else {
        const Array::Elements e = Array(cast).elements(in_.engine());
        std::memcpy(to, e.data, static_cast<size_t>(e.count * gasell::size_of(*dtype)));
        to += e.count * gasell::size_of(*dtype);
      }
    }
    return graph::buffer(storage, *dtype, shape, graph::contiguous_strides(shape), 0);
  }

 private:
  void add(Operand o, size_t depth) {
    const Shape& inner = o.node->shape;
    for (size_t k = 0; k < inner.size(); ++k) nested_.extent(depth + k, inner[k]);
    nested_.end(depth + inner.size());
    leaves_.push_back(std::move(o));
  }

  void leaf(const Value& v, size_t depth) {
    auto o = v.is_none() && dtype_ ? assigned_operand(in_, v, *dtype_) : try_operand(in_, v);
    if (const auto* big = v.as<BigInt>()) {
      o = unsigned_operand(*big);
      has_big_ = true;
    }
    if (!o && v.as<Str>())
      raise("NotImplementedError", depth > 1 ? "an array of texts has one axis in Gasell" : "an array of texts is not taken here");
    const std::string_view type = type_of(v).name;
    if (!o && (type == "datetime64" || type == "timedelta64" || type == "Timestamp" || type == "Timedelta" || type == "NaTType"))
      raise("NotImplementedError", "an array of times is not in Gasell", "pd.Series and pd.to_datetime hold them");
    if (!o && type == "bytes") raise("NotImplementedError", "an array of bytes is not in Gasell");
    if (!o) raise("TypeError", "an array cannot hold values of type '" + type_of(v).name + "'");
    add(std::move(*o), depth);
  }

  Interpreter& in_;
  std::optional<DType> dtype_;  // that was asked for
  NestedShape nested_;
  bool has_big_ = false;
  std::vector<Operand> leaves_;
};

}  // namespace

Value wrap(NodeRef node) { return node->shape.empty() ? Value::make<NumpyScalar>(std::move(node)) : wrap_array(std::move(node)); }
Value wrap_reduced(Interpreter& in, NodeRef node) {
  if (node->shape.empty())
    if (const std::optional<Scalar> value = in.engine().small_value(node)) return wrap_scalar(*value);
  return wrap(std::move(node));
}
Value wrap_array(NodeRef node) { return Value::make<NdArray>(Array(std::move(node))); }
Value wrap_scalar(const Scalar& value) { return Value::make<NumpyScalar>(value); }

Value python_value(const Scalar& v) {
  switch (kind(v.type)) {
    case 'b': return Value::of(v.i != 0);
    case 'u':
      if (v.type == DType::u64 && v.i < 0) raise("OverflowError", "the uint64 value " + scalar_str(v) + " does not fit an int of 64 bits");
      return Value::of(v.i);
    case 'i': return Value::of(v.i);
    case 'f': return Value::of(v.c.real());
    default: return Value::make<Complex>(v.c);
  }
}

std::optional<Operand> try_operand(Interpreter& in, const Value& v) {
  if (v.is_bool()) return Operand{graph::constant(Scalar::of_bool(v.as_int() != 0)), 'b'};
  if (v.is_int()) return Operand{graph::constant(Scalar::of_int(v.as_int())), 'i'};
  if (v.is_float()) return Operand{graph::constant(Scalar::of_float(v.as_float())), 'f'};
  if (const auto* c = v.as<Complex>()) return Operand{graph::constant(Scalar::of_complex(c->value)), 'c'};
  if (const auto* a = v.as<ArrayLike>()) return Operand{a->node(), 0};
  if (is_sequence(v)) return Operand{NestedReader(in).read(v, {}), 0};
  if (type_of(v).name == "range") return Operand{NestedReader(in).read(make_list(to_vector(in, v)), {}), 0};
  if (auto* object = v.as<LibraryObject>()) {
    const Value array = object->try_call(in, "__array__");
    if (!array.is_absent()) return try_operand(in, array);
  }
  return {};
}

bool is_column(const Value& v) { return v.is_object() && type_of(v).module == "pandas.arrays"; }

Operand operand(Interpreter& in, const Value& v) {
  if (auto o = try_operand(in, v)) return std::move(*o);
  if (is_column(v)) raise("TypeError", "an array of texts, times or categories cannot be used as an array of numbers");
  if (v.as<BigInt>()) raise("NotImplementedError", "integers beyond 64 bits are not taken by array functions in Gasell");
  if (is_typed_array(v)) raise("TypeError", "an array of times, texts or records cannot be used as an array of numbers");
  raise("TypeError", "'" + type_of(v).name + "' cannot be used as an array");
}

Operand assigned_operand(Interpreter& in, const Value& v, DType dtype) {
  if (!v.is_none()) return operand(in, v);
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  switch (kind(dtype)) {
    case 'b': return {graph::constant(Scalar::of_bool(false)), 'b'};
    case 'f': return {graph::constant(Scalar::of_float(kNaN)), 'f'};
    case 'c': return {graph::constant(Scalar::of_complex({kNaN, kNaN})), 'c'};
    default: raise("TypeError", "int() argument must be a string, a bytes-like object or a real number, not 'NoneType'");
  }
}

namespace {

/// What is no array of numbers is one of objects to NumPy, where no arithmetic refuses it.
void refuse_object(const Value& v) {
  if (v.is_none()) raise("NotImplementedError", "an array of None is not in Gasell: it has no arrays of objects");
}

}  // namespace

NodeRef as_node(Interpreter& in, const Value& v, std::optional<DType> dtype) {
  if (is_sequence(v) || type_of(v).name == "range") return NestedReader(in).read(is_sequence(v) ? v : make_list(to_vector(in, v)), dtype);
  if (!dtype) {
    refuse_object(v);
    return operand(in, v).node;
  }
  const Operand o = assigned_operand(in, v, *dtype);
  return o.weak ? assigned_number(o, *dtype) : graph::cast(o.node, *dtype);
}

Array as_array(Interpreter& in, const Value& v) {
  if (const auto* a = v.as<NdArray>()) return a->array;
  return Array(as_node(in, v));
}

bool is_foreign_dtype(std::string_view name) {
  if (name.find(',') != std::string_view::npos) {  // "i4,f8": fields
    for (size_t begin = 0, end; begin <= name.size(); begin = end + 1) {
      end = std::min(name.find(',', begin), name.size());
      std::string_view field = name.substr(begin, end - begin);
      while (field.starts_with(' ')) field.remove_prefix(1);
      if (!dtype_from_name(field) && !(field.find(',') == std::string_view::npos && is_foreign_dtype(field))) return false;
    }
    return true;
  }
  if (!name.empty() && std::string_view("<>=|").find(name[0]) != std::string_view::npos) {
    const bool swapped = name[0] == '>';
    name.remove_prefix(1);
    if (swapped && dtype_from_name(name)) return true;
  }
  static constexpr std::string_view kNames[] = {"longdouble", "clongdouble", "float128", "complex256", "object", "str", "bytes", "void"};
  if (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames)) return true;
  if (name.starts_with("datetime64") || name.starts_with("timedelta64") || name == "f16" || name == "c32") return true;
  if (name.empty() || std::string_view("OSUMmVgGa").find(name[0]) == std::string_view::npos) return false;
  return std::all_of(name.begin() + 1, name.end(), [&](char ch) {
    return (ch >= '0' && ch <= '9') || ch == '[' || ch == ']' || (ch >= 'a' && ch <= 'z') ||
           (ch >= 'A' && ch <= 'Z' && name.ends_with(']'));
  });
}

namespace {

/// What NumPy takes as a dtype with fields, or of several elements: [('x', float), …], {'names': …, 'formats': …}, (float, 3).
bool is_structure(const Value& v) {
  if (const auto* list = v.as<List>()) {
    return std::all_of(list->items.begin(), list->items.end(), [](const Value& field) {
      const auto* parts = field.as<Tuple>();
      return parts && (parts->items.size() == 2 || parts->items.size() == 3);
    });
  }
  if (auto* dict = v.as<Dict>())
    return std::any_of(dict->entries().begin(), dict->entries().end(), [](const Dict::Entry& entry) {
      const auto* key = entry.key.as<Str>();
      return key && (key->value == "names" || (entry.value.as<Tuple>() && entry.value.as<Tuple>()->items.size() > 1));
    });
  const auto* pair = v.as<Tuple>();
  return pair && pair->items.size() == 2;
}

}  // namespace

std::optional<DType> to_dtype(Interpreter& in, const Value& v) {
  if (v.is_none() || is_missing(v)) return {};
  if (const auto* d = v.as<DTypeObject>()) return d->dtype;
  if (const auto* scalar = v.as<NumpyScalar>()) return scalar->node()->dtype;
  const auto foreign = [](const std::string& name) { raise("NotImplementedError", "the dtype " + name + " is not in Gasell yet"); };
  if (const auto* s = v.as<Str>()) {
    if (const auto d = dtype_from_name(s->value)) return d;
    if (is_foreign_dtype(s->value)) foreign(s->value);
    raise("TypeError", "data type '" + s->value + "' not understood");
  }
  if (const auto* t = v.as<TypeObject>()) {
    if (const auto d = dtype_of_type(t->described)) return d;
    if (t->described.name == "str" || t->described.name == "object") foreign(t->described.name);
    if (t->described.name == "datetime64" || t->described.name == "timedelta64") foreign(t->described.name);
  }
  if (is_structure(v))
    raise("NotImplementedError", "a dtype of several elements without names is not in Gasell",
          "fields have names: [('x', float), ('v', float, (3,))]");
  raise("TypeError", "Cannot interpret '" + repr(in, v) + "' as a data type");
}

Shape to_shape(Interpreter& in, const Value& v) {
  if (v.is_bool()) raise("TypeError", "expected a sequence of integers or a single integer, got '" + repr(in, v) + "'");
  if (v.is_int()) return {v.as_int()};
  const auto* array = v.as<NdArray>();
  if (v.is_object() && !is_sequence(v) && !(array && array->array.rank() > 0)) {
    if (const auto i = v.object()->to_index(in)) return {*i};
  }
  if (v.is_float()) raise("TypeError", "expected a sequence of integers or a single integer, got '" + repr(in, v) + "'");
  Shape shape;
  for (const Value& item : to_vector(in, v)) {
    if (item.is_bool()) raise("TypeError", "an integer is required");
    shape.push_back(to_index(in, item));
  }
  return shape;
}

Value from_shape(const Shape& shape) {
  std::vector<Value> items;
  for (int64_t n : shape) items.push_back(Value::of(n));
  return make_tuple(std::move(items));
}

int to_axis(Interpreter& in, const Value& v, int rank, const char* prefix) {
  const int64_t axis = to_index(in, v);
  if (axis < -rank || axis >= rank)
    raise("AxisError",
          std::string(prefix) + "axis " + std::to_string(axis) + " is out of bounds for array of dimension " + std::to_string(rank));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

int to_plain_axis(Interpreter& in, const Value& v, int rank) {
  if (v.is_bool()) raise("TypeError", "an integer is required for the axis");
  return to_axis(in, v, rank);
}

namespace {

void check_distinct(const std::vector<int>& axes, const char* message) {
  if (std::set<int>(axes.begin(), axes.end()).size() != axes.size()) raise("ValueError", message);
}

}  // namespace

std::vector<int> to_axes(Interpreter& in, const Value& v, int rank) {
  std::vector<int> axes;
  if (v.is_none() || is_missing(v)) {
    for (int k = 0; k < rank; ++k) axes.push_back(k);
  } else if (const auto* tuple = v.as<Tuple>()) {
    for (const Value& item : tuple->items) axes.push_back(to_plain_axis(in, item, rank));
    check_distinct(axes, "duplicate value in 'axis'");
  } else if (rank == 0 && !v.is_bool() && (to_index(in, v) == 0 || to_index(in, v) == -1)) {
    return axes;
  } else {
    axes.push_back(to_plain_axis(in, v, rank));
  }
  return axes;
}

std::vector<int> to_axis_tuple(Interpreter& in, const Value& v, int rank, const char* prefix) {
  const auto* array = v.as<NdArray>();
  const bool several = is_sequence(v) || (array && array->array.rank() > 0);
  const bool single = v.is_int() || v.is_bool() || (v.is_object() && !several && v.object()->to_index(in));
  std::vector<int> axes;
  for (const Value& item : single ? std::vector<Value>{v} : to_vector(in, v)) axes.push_back(to_axis(in, item, rank, prefix));
  check_distinct(axes, "repeated axis");
  return axes;
}

}  // namespace gasell::numpy
