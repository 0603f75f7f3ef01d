#include "stdlib/pandas/column_object.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/frame/dictionary.h"
#include "runtime/session/iterators.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/types.h"
#include "stdlib/datetime/objects.h"
#include "stdlib/library.h"
#include "stdlib/library_object.h"
#include "stdlib/numpy/time_scalars.h"
#include "stdlib/numpy/typed.h"
#include "stdlib/pandas/library_values.h"
#include "stdlib/pandas/object_texts.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell::pandas {
namespace {

/// The bits under which an index has a number: of integers the value, of floats the value as a double, so that 1 and 1.0 meet.
int64_t key_of_number(const Scalar& v, DType stored) {
  if (is_float(stored)) {
    const double d = v.as_double();
    return std::bit_cast<int64_t>(d == 0 ? 0.0 : d);
  }
  return v.i;
}

/// Element `row` of an array in memory. Of a large one that a GPU holds, no more than the elements around it come home.
Scalar element(const NodeRef& values, int64_t row) {
  constexpr int64_t kAround = 1 << 20;
  const auto& buffer = *values->as<graph::BufferNode>();
  const auto& storage = static_cast<const HostStorage&>(*buffer.storage);
  const int64_t at = (buffer.offset + row * buffer.strides.at(0)) * size_of(values->dtype);
  const int64_t begin = at / kAround * kAround;
  return Scalar::load(static_cast<const char*>(storage.read(begin, std::min(begin + kAround, storage.bytes()))) + at, values->dtype);
}

}  // namespace

ColumnIndex::ColumnIndex(Engine& engine, Column& column) {
  if (column.type.logical == Logical::text) column = frame::with_distinct_texts(engine, column);
  const frame::ColumnData data = frame::read(engine, column);
  const DType dtype = column.values->dtype;
  first_.reserve(static_cast<size_t>(data.count));
  int64_t missing = 0;
  for (int64_t i = 0; i < data.count; ++i) {
    if (data.valid && !data.valid[i]) {
      unique_ = unique_ && ++missing == 1;
      continue;
    }
    const int64_t key = key_of_number(Scalar::load(data.as<char>() + i * size_of(dtype), dtype), dtype);
    if (first_.emplace(key, i).second) continue;
    unique_ = false;
    more_[key].push_back(i);
  }
}

int64_t ColumnIndex::first(int64_t key) const {
  const auto found = first_.find(key);
  return found == first_.end() ? -1 : found->second;
}

std::vector<int64_t> ColumnIndex::rows(int64_t key) const {
  std::vector<int64_t> rows;
  if (const int64_t row = first(key); row >= 0) rows.push_back(row);
  if (const auto found = more_.find(key); found != more_.end()) rows.insert(rows.end(), found->second.begin(), found->second.end());
  return rows;
}

namespace {

/// What _pandas.name(arguments) gives.
Value from_library(Interpreter& in, const char* name, std::vector<Value> arguments) {
  return gasell::call(in, *library_member(in, "_pandas", name), {std::move(arguments), {}});
}

/// A method that is a function of the library: name(array, argument …).
template <const char* name>
Value library_method(Interpreter& in, std::span<Value> args) {
  return from_library(in, name, std::vector<Value>(args.begin(), args.end()));
}
constexpr char kConverted[] = "converted_array", kReshaped[] = "reshaped_texts", kItem[] = "item_of_texts", kTaken[] = "taken_texts",
               kRepeated[] = "repeated_texts", kLeast[] = "least_text", kGreatest[] = "greatest_text", kOrdered[] = "ordered_texts";

Value itself(Interpreter&, std::span<Value> args) { return args[0]; }

std::optional<Value> operation(Interpreter& in, ast::BinaryOp op, const Value& left, const Value& right, const Value& other) {
  static constexpr const char* kNames[] = {"add",    "sub",    "mul",    "truediv", "floordiv", "mod", "pow",
                                           "matmul", "lshift", "rshift", "and",     "or",       "xor"};
  if (other.as<LibraryObject>() && !numpy::is_typed_array(other)) return std::nullopt;  // a Series answers
  return from_library(in, "array_operation", {make_str(kNames[static_cast<int>(op)]), left, right});
}

}  // namespace

Value list_of_column(Interpreter& in, Column& column) {
  require_memory(in, column.size(), sizeof(Value));
  std::vector<Value> values;
  values.reserve(static_cast<size_t>(column.size()));
  for (int64_t i = 0; i < column.size(); ++i) {
    Value v = cell(in, column, i);
    if (auto* s = v.as<numpy::NumpyScalar>()) v = numpy::python_value(s->value(in));
    values.push_back(std::move(v));
  }
  return make_list(std::move(values));
}

const Type& ColumnObject::type() const {
  static const Type type{
      "ndarray",  // what scripts take it for
      "pandas.arrays",
      &object_type(),
      {{"tolist", "", [](Interpreter& in, std::span<Value> args) { return list_of_column(in, column_of(args[0])); },
        "The values as a list."},
       {"copy", "order='C'", itself, "The same values, which never change."},
       {"ravel", "order='C'", itself, "The same values, which have one axis."},
       {"flatten", "order='C'", itself, "The same values, which have one axis."},
       {"squeeze", "axis=None", itself, "The same values, which have one axis."},
       {"transpose", "*axes", itself, "The same values, which have one axis."},
       {"reshape", "*shape, order='C'", library_method<kReshaped>, "The same values, which have one axis; NotImplementedError for more."},
       {"item", "*args", library_method<kItem>, "One value."},
       {"take", "indices, axis=None, out=None, mode='raise'", library_method<kTaken>, "The values at places."},
       {"repeat", "repeats, axis=None", library_method<kRepeated>, "Each value so many times."},
       {"min", "axis=None", library_method<kLeast>, "The first value in their order."},
       {"max", "axis=None", library_method<kGreatest>, "The last value in their order."},
       {"argsort", "axis=-1, kind=None, order=None", library_method<kOrdered>, "The places of the values in their order."},
       {"astype", "dtype", library_method<kConverted>, "The values in another type."}},
      {{"shape", [](Interpreter&, const Value& self) { return make_tuple({Value::of(column_of(self).size())}); }, nullptr, "(values,)"},
       {"size", [](Interpreter&, const Value& self) { return Value::of(column_of(self).size()); }, nullptr, "The number of values."},
       {"ndim", [](Interpreter&, const Value&) { return Value::of(1); }, nullptr, "1."},
       {"T", [](Interpreter&, const Value& self) { return self; }, nullptr, "The same values, which have one axis."},
       {"dtype", [](Interpreter& in, const Value& self) { return from_library(in, "dtype_of", {self}); }, nullptr,
        "The type of the values."}}};
  return type;
}

std::optional<Value> ColumnObject::get_attribute(Interpreter& in, std::string_view name) {
  if (auto found = Object::get_attribute(in, name)) return found;
  const Value numbers = numpy::wrap_array(graph::constant(Scalar::of_int(0), {0}));
  if (numbers.object()->get_attribute(in, name))
    raise("NotImplementedError", "ndarray." + std::string(name) + " of texts, times and categories is not in Gasell");
  return std::nullopt;
}

void ColumnObject::set_item(Interpreter&, const Value&, const Value&) {
  raise("NotImplementedError", "arrays of texts, times and categories do not change in Gasell", "np.where() gives one with other values");
}

std::optional<Value> ColumnObject::binary(Interpreter& in, ast::BinaryOp op, const Value& other) {
  return operation(in, op, Value::of(this), other, other);
}
std::optional<Value> ColumnObject::reflected(Interpreter& in, ast::BinaryOp op, const Value& other) {
  return operation(in, op, other, Value::of(this), other);
}
Value ColumnObject::unary(Interpreter& in, ast::UnaryOp op) {
  if (op == ast::UnaryOp::logical_not) return Object::unary(in, op);
  const char* const name = op == ast::UnaryOp::neg ? "neg" : op == ast::UnaryOp::pos ? "pos" : "invert";
  return from_library(in, "array_of", {from_library(in, "unary", {make_str(name), Value::of(this)})});
}

const ColumnIndex& ColumnObject::index(Interpreter& in) {
  if (!index_) index_ = std::make_unique<ColumnIndex>(in.engine(), column);
  return *index_;
}

std::string ColumnObject::str(Interpreter& in) {
  CellFormat format;
  format.leading_space = false;
  format.quoted = true;
  std::string text = "[";
  const std::vector<std::string> cells = format_cells(in, column, format);
  for (size_t k = 0; k < cells.size(); ++k) text += (k ? " " : "") + cells[k];
  return text + "]";
}
std::string ColumnObject::repr(Interpreter& in) {
  CellFormat format;
  format.leading_space = false;
  format.quoted = true;
  std::string text = "array([";
  const std::vector<std::string> cells = format_cells(in, column, format);
  for (size_t k = 0; k < cells.size(); ++k) text += (k ? ", " : "") + cells[k];
  return text + "], dtype=" + frame::dtype_name(in.engine(), column) + ")";
}

Value ColumnObject::get_item(Interpreter& in, const Value& index) {
  const int64_t count = column.size();
  if (auto* s = index.as<SliceObject>()) {
    const auto range = s->indices(in, count);
    return wrap_column(frame::slice(in.engine(), column, range.start, range.start + range.count * range.step, range.step));
  }
  if (index.as<numpy::NdArray>() || index.as<List>() || index.as<ColumnObject>() || index.as<LibraryObject>())
    return from_library(in, "column_part", {Value::of(this), index});
  if (index.is_none() || index.as<Tuple>() || type_of(index).name == "ellipsis")
    return from_library(in, "column_at", {Value::of(this), index});
  const int64_t given = gasell::to_index(in, index), row = given < 0 ? given + count : given;
  if (row < 0 || row >= count)
    raise("IndexError", "index " + std::to_string(given) + " is out of bounds for axis 0 with size " + std::to_string(count));
  return cell(in, column, row);
}

Value ColumnObject::iterate(Interpreter&) {
  static const Type type = iterator_type_of("iterator");
  int64_t row = 0;
  const Value self = Value::of(this);
  return make_iterator(type, [self, row](Interpreter& in) mutable -> std::optional<Value> {
    Column& column = self.as<ColumnObject>()->column;
    if (row >= column.size()) return {};
    return cell(in, column, row++);
  });
}

std::optional<Value> ColumnObject::compare(Interpreter& in, ast::CompareOp op, const Value& other) {
  static constexpr const char* kNames[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  const Value result = from_library(in, "compare", {make_str(kNames[static_cast<int>(op)]), Value::of(this), other});
  return numpy::wrap_array(column_of(result).values);
}

Value wrap_column(Column column) { return Value::make<ColumnObject>(std::move(column)); }

Column& column_of(const Value& v) {
  if (auto* c = v.as<ColumnObject>()) return c->column;
  raise("TypeError", "a column is expected, not '" + type_of(v).name + "'");
}

std::string objects_of(const Value& v) { return v.as<datetime::PlainDate>() ? "date" : v.as<datetime::TimeOfDay>() ? "time" : ""; }

namespace {
/// A text as what the texts of its column stand for.
Value object_of_text(Interpreter& in, std::string_view text, std::string_view objects) {
  if (objects == kAnyObject) return decode_object(in, text);
  if (objects.starts_with("interval[")) return interval_value(in, text, objects);
  if (objects == "date") return datetime::date_value(datetime::parse_iso_date(text).value_or(0));
  if (objects == "time") return Value::make<datetime::TimeOfDay>(datetime::parse_iso_clock(text).value_or(datetime::Clock()).micros);
  return make_str(std::string(text));
}
}  // namespace

Value cell(Interpreter& in, Column& column, int64_t row) {
  frame::force(in.engine(), {&column});
  const Scalar value = element(column.values, row);
  switch (column.type.logical) {
    case Logical::text:
      if (value.i < 0)
        return column.type.objects == kAnyObject ? missing_of_code(value.i)
               : column.type.is_interval()       ? Value::of(std::nan(""))
                                                 : na_value();
      return object_of_text(in, (*column.dictionary)[value.i], column.type.objects);
    case Logical::category: {
      if (value.i < 0) return Value::of(std::nan(""));
      Column categories = *column.categories;
      return cell(in, categories, value.i);
    }
    case Logical::datetime: return timestamp_value(value.i, column.type.zone);
    case Logical::timedelta: return timedelta_value(value.i);
    case Logical::period: return period_value(in, value.i, column.type.objects);
    case Logical::number: break;
  }
  if (column.validity && element(column.validity, row).i == 0) return na_value();
  return numpy::wrap_scalar(value);
}

bool is_missing_value(Interpreter& in, const Value& v) {
  if (v.is_none() || v.same(na_value()) || v.same(nat_value())) return true;
  if (v.is_float()) return std::isnan(v.as_float());
  if (const auto* t = v.as<numpy::TimeScalar>()) return t->count == frame::kNotATime;
  if (auto* s = v.as<numpy::NumpyScalar>(); s && is_float(s->dtype())) return std::isnan(s->value(in).as_double());
  return false;
}

std::optional<int64_t> key_of(Interpreter& in, const Column& column, const Value& scalar) {
  if (column.type.objects == kAnyObject) {
    const auto text = encode_object(in, scalar);
    const auto code = text ? frame::with_distinct_texts(in.engine(), column).dictionary->find(*text) : std::nullopt;
    if (!code) return {};
    return *code;
  }
  if (column.type.logical == Logical::period) return ordinal_of(scalar, column.type.objects);
  if (column.type.is_interval()) {
    const auto text = interval_text(in, scalar, column.type.objects);
    const auto code = text ? frame::with_distinct_texts(in.engine(), column).dictionary->find(*text) : std::nullopt;
    if (!code) return {};
    return *code;
  }
  if (column.type.logical == Logical::text) {
    if (objects_of(scalar) != column.type.objects || (column.type.objects.empty() && !scalar.as<Str>())) return {};
    const auto code = frame::with_distinct_texts(in.engine(), column).dictionary->find(gasell::str(in, scalar));
    if (!code) return {};
    return *code;
  }
  if (column.type.logical == Logical::category) {
    const auto key = key_of(in, *column.categories, scalar);
    if (!key) return {};
    Column categories = *column.categories;
    const int64_t code = ColumnIndex(in.engine(), categories).first(*key);
    if (code < 0) return {};
    return code;
  }
  if (column.type.logical == Logical::datetime) return to_timestamp(in, scalar);
  if (column.type.logical == Logical::timedelta) return to_timedelta(in, scalar);
  const auto number = numpy::try_operand(in, scalar);
  if (!number || number->node->rank() != 0 || scalar.as<Str>()) return {};
  const Scalar value = Array(number->node).elements(in.engine())[0];
  if (is_float(value.type) && !is_float(column.type.dtype)) {
    const double d = value.as_double();
    if (d != std::trunc(d) || std::abs(d) >= 9.2e18) return {};
    return static_cast<int64_t>(d);
  }
  return key_of_number(value, column.type.dtype);
}

}  // namespace gasell::pandas
