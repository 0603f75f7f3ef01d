// Columns made of what scripts give, and conversions between types.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/frame/dictionary.h"
#include "runtime/frame/groups.h"
#include "runtime/session/number.h"
#include "runtime/session/types.h"
#include "stdlib/numpy/typed.h"
#include "stdlib/pandas/column_object.h"
#include "stdlib/pandas/library_values.h"
#include "stdlib/pandas/object_texts.h"
#include "stdlib/pandas/texts.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell::pandas {
namespace {

using frame::NewValues;

/// pandas' dtype "boolean", which holds missing values, and takes no numbers but 0 and 1.
bool is_nullable_truth(const ColumnType& type) { return type.is_number() && type.nullable && type.dtype == DType::boolean; }

[[noreturn]] void raise_no_truth() { raise("TypeError", "Need to pass bool-like values"); }

/// What kinds of values a sequence holds.
struct Kinds {
  int64_t none = 0, nan = 0, not_available = 0, not_a_time = 0, boolean = 0, integer = 0, floating = 0, complex = 0, text = 0, time = 0,
          delta = 0, date = 0, clock = 0, own = 0;
  std::string other, zone;
  bool zones_differ = false;
  std::vector<DType> scalars;  // NumPy's, different ones
  int64_t missing() const { return none + nan + not_available + not_a_time; }
};

Kinds kinds_of(Interpreter& in, const std::vector<Value>& values) {
  Kinds k;
  for (const Value& v : values) {
    if (v.is_none())
      ++k.none;
    else if (v.is_bool())
      ++k.boolean;
    else if (v.is_int())
      ++k.integer;
    else if (v.is_float())
      ++(std::isnan(v.as_float()) ? k.nan : k.floating);
    else if (v.as<Str>())
      ++k.text;
    else if (v.as<Complex>())
      ++k.complex;
    else if (v.same(na_value()))
      ++k.not_available;
    else if (v.same(nat_value()))
      ++k.not_a_time;
    else if (auto* s = v.as<numpy::NumpyScalar>()) {
      const DType t = s->dtype();
      if (std::find(k.scalars.begin(), k.scalars.end(), t) == k.scalars.end()) k.scalars.push_back(t);
      ++(t == DType::boolean                    ? k.boolean
         : is_integer(t)                        ? k.integer
         : is_complex(t)                        ? k.complex
         : std::isnan(s->value(in).as_double()) ? k.nan
                                                : k.floating);
    } else if (is_library_value(v))
      ++k.own;
    else if (const std::string objects = objects_of(v); !objects.empty())
      ++(objects == "date" ? k.date : k.clock);
    else if (to_timedelta(in, v))
      ++k.delta;
    else if (const auto time = time_scalar(v))
      k.zones_differ = k.zones_differ || (k.time > 0 && k.zone != time->second), ++k.time, k.zone = time->second;
    else
      k.other = type_of(v).name;
  }
  return k;
}

Column texts(Interpreter& in, const std::vector<Value>& values) {
  frame::DistinctTexts distinct;
  NewValues codes(in.engine(), DType::i32, static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i)
    codes.as<int32_t>()[i] = is_missing_value(in, values[i]) ? -1 : distinct.add(gasell::str(in, values[i]));
  return {frame::text_type(), codes.node(), nullptr, distinct.finish()};
}

/// How many different kinds of values there are that one column of pandas holds as objects alone.
int different(const Kinds& k) {
  return (k.text > 0) + (k.boolean > 0) + (k.integer + k.floating + k.complex > 0) + (k.time > 0) + (k.delta > 0) + (k.date > 0) +
         (k.clock > 0) + (k.own > 0);
}

Column of_list(Interpreter& in, const std::vector<Value>& values, const std::optional<ColumnType>& wanted) {
  if (wanted && has_library_values(*wanted)) return of_list(in, values, {});  // cast() knows how they are made
  const Kinds k = kinds_of(in, values);
  const auto count = static_cast<int64_t>(values.size());
  const int64_t numbers = k.boolean + k.integer + k.floating + k.complex;
  const bool as_objects = wanted && wanted->objects == kAnyObject;
  if (wanted && wanted->logical == Logical::text && !as_objects && k.other.empty()) return texts(in, values);
  if (!k.other.empty() || different(k) > 1 || k.zones_differ || (as_objects && k.text + k.date + k.clock == 0))
    return object_column(in, values);
  if (k.own > 0) return column_of_library_values(in, values);
  if (k.text > 0) return texts(in, values);
  if (k.date > 0 || k.clock > 0) {
    Column column = texts(in, values);
    column.type.objects = k.date > 0 ? "date" : "time";
    return column;
  }
  if (k.time > 0 || k.delta > 0 || (k.not_a_time > 0 && numbers == 0)) {
    NewValues ns(in.engine(), DType::i64, count);
    for (int64_t i = 0; i < count; ++i) {
      const Value& v = values[static_cast<size_t>(i)];
      ns.as<int64_t>()[i] = is_missing_value(in, v) ? frame::kNotATime : k.delta > 0 ? *to_timedelta(in, v) : *to_timestamp(in, v);
    }
    return {k.delta > 0 ? frame::timedelta_type() : frame::datetime_type(k.zone), ns.node()};
  }
  if (numbers == 0 && !(wanted && wanted->is_number()) && k.nan == 0) return texts(in, values);  // empty, or all None: pandas' object
  const bool validity = k.not_available > 0 || (k.boolean > 0 && k.missing() > 0) || (wanted && wanted->nullable);
  const bool truths = k.boolean > 0 && k.boolean == numbers;
  DType dtype = k.complex > 0                                 ? DType::c128
                : truths                                      ? DType::boolean
                : k.floating > 0 || k.nan > 0 || numbers == 0 ? DType::f64
                : k.boolean > 0                               ? DType::boolean
                : k.none > 0 && !validity                     ? DType::f64
                                                              : DType::i64;
  // Scalars of one type keep it.
  const bool only_scalars = std::none_of(values.begin(), values.end(), [](const Value& v) { return !v.as<numpy::NumpyScalar>(); });
  if (k.scalars.size() == 1 && only_scalars) dtype = k.scalars[0];
  if (wanted && wanted->is_number() && k.missing() > 0 && wanted->nullable) dtype = k.floating > 0 ? DType::f64 : wanted->dtype;
  NewValues stored(in.engine(), dtype, count);
  std::optional<NewValues> valid;
  if (validity) valid.emplace(in.engine(), DType::boolean, count);
  const Scalar nan = is_float(dtype) || is_complex(dtype) ? Scalar::of_float(std::nan("")) : Scalar::of_int(0);
  for (int64_t i = 0; i < count; ++i) {
    const Value& v = values[static_cast<size_t>(i)];
    const bool missing = is_missing_value(in, v);
    const Scalar scalar = missing ? nan : Array(numpy::operand(in, v).node).elements(in.engine())[0];
    if (wanted && is_nullable_truth(*wanted) && !missing) {
      const double x = scalar.as_double();
      if (x != 0 && x != 1) raise_no_truth();
    }
    if (wanted && wanted->is_number() && !wanted->nullable && v.is_int() && is_integer(wanted->dtype) &&
        scalar.cast(wanted->dtype).cast(DType::i64).i != scalar.i)
      raise("OverflowError", "The elements provided in the data cannot all be casted to the dtype " + std::string(name_of(wanted->dtype)));
    scalar.cast(dtype).store(stored.as<char>() + i * size_of(dtype));
    if (valid) valid->as<bool>()[i] = !missing;
  }
  return {frame::number_type(dtype, validity), stored.node(), valid ? valid->node() : nullptr};
}

/// The categories of a list are found among what is there: integers beside None stay integers, and of nothing but missing values they are
/// floats.
Column categories_of_list(Interpreter& in, const std::vector<Value>& values) {
  std::vector<Value> there;
  for (const Value& v : values)
    if (!is_missing_value(in, v)) there.push_back(v);
  const ColumnType category{Logical::category, DType::i32};
  if (there.size() == values.size()) return cast(in, of_list(in, values, category), category);
  Column column =
      cast(in, there.empty() ? frame::number_column(graph::constant(Scalar::of_float(0), {0})) : of_list(in, there, category), category);
  const frame::ColumnData data = frame::read(in.engine(), column);
  NewValues codes(in.engine(), DType::i32, static_cast<int64_t>(values.size()));
  for (size_t i = 0, k = 0; i < values.size(); ++i) codes.as<int32_t>()[i] = is_missing_value(in, values[i]) ? -1 : data.as<int32_t>()[k++];
  column.values = codes.node();
  return column;
}

std::string capital_free(const std::string& name) {
  std::string lower;
  for (char c : name) lower += static_cast<char>(std::tolower(c));
  return lower;
}

/// Numbers as integers of a type that holds all of them.
NodeRef converted_exactly(Interpreter& in, const NodeRef& values, DType to, const std::string& hint) {
  // Floats beyond a narrow type have no defined value in it, but in the widest.
  const NodeRef wide = is_float(values->dtype) && to != DType::u64 ? graph::cast(values, DType::i64) : values;
  const NodeRef made = graph::cast(wide, to);
  const NodeRef zero = graph::constant(Scalar::of_int(0, to), values->shape), from_zero = graph::cast(zero, values->dtype);
  const NodeRef back = graph::cast(to == DType::u64 ? made : graph::cast(made, DType::i64), values->dtype);
  const NodeRef changed = graph::map(ScalarOp::ne, {back, values});
  const NodeRef turned = graph::map(ScalarOp::ne, {graph::map(ScalarOp::lt, {made, zero}), graph::map(ScalarOp::lt, {values, from_zero})});
  if (Array(graph::reduce(graph::ReduceOp::any, graph::map(ScalarOp::logical_or, {changed, turned}), {0})).elements(in.engine())[0].i)
    raise("TypeError", "cannot safely cast non-equivalent " + std::string(name_of(values->dtype)) + " to " + std::string(name_of(to)),
          hint);
  return made;
}

Column texts_of_numbers(Interpreter& in, const Column& column) {
  Column source = column;
  const int64_t count = source.size();
  frame::DistinctTexts distinct;
  NewValues codes(in.engine(), DType::i32, count);
  for (int64_t i = 0; i < count; ++i) {
    const Value v = cell(in, source, i);
    codes.as<int32_t>()[i] = v.same(na_value()) ? -1 : distinct.add(gasell::str(in, v));
  }
  return {frame::text_type(), codes.node(), nullptr, distinct.finish()};
}

Column numbers_of_texts(Interpreter& in, const Column& column, const ColumnType& to) {
  Column source = column;
  const frame::ColumnData data = frame::read(in.engine(), source);
  std::vector<Value> read(static_cast<size_t>(source.dictionary->size()), Value::absent());
  std::vector<Value> values;
  for (int64_t i = 0; i < data.count; ++i) {
    const int32_t code = data.as<int32_t>()[i];
    if (code < 0) {
      values.push_back(Value());
      continue;
    }
    Value& known = read[static_cast<size_t>(code)];
    if (known.is_absent()) {
      const Value text = make_str(std::string((*source.dictionary)[code]));
      known = to.dtype == DType::boolean ? Value::of(!text.as<Str>()->value.empty())
              : is_integer(to.dtype)     ? Value::of(parse_int(text.as<Str>()->value))
                                         : *text.object()->to_float(in);
    }
    values.push_back(known);
  }
  return cast(in, of_list(in, values, to), to);
}

/// Numbers as nullable truth values: TypeError where one is neither 0 nor 1.
Column truths_of_numbers(Interpreter& in, const Column& column, const ColumnType& to) {
  const NodeRef missing = frame::missing_mask(column);
  const auto equal_to = [&](double x) {
    return graph::map(ScalarOp::eq, {column.values, graph::constant(Scalar::of_float(x).cast(column.type.dtype), column.values->shape)});
  };
  NodeRef truth = equal_to(1);
  NodeRef fits = graph::map(ScalarOp::logical_or, {truth, equal_to(0)});
  if (missing) fits = graph::map(ScalarOp::logical_or, {fits, missing});
  if (!Array(graph::reduce(graph::ReduceOp::all, fits, {0})).elements(in.engine())[0].i) raise_no_truth();
  return {to, truth, missing ? graph::map(ScalarOp::logical_not, {missing}) : nullptr};
}

}  // namespace

ColumnType to_column_type(Interpreter& in, const Value& v) {
  if (auto* t = v.as<TypeObject>()) {
    if (&t->described == &str_type()) return frame::text_type();
    if (&t->described == &object_type()) return any_object_type();
    if (auto d = numpy::dtype_of_type(t->described)) return frame::number_type(*d);
  }
  if (auto* d = v.as<numpy::DTypeObject>()) return frame::number_type(d->dtype);
  std::string name;
  if (auto* s = v.as<Str>())
    name = s->value;
  else
    name = gasell::str(in, v);  // a dtype object of pandas
  if (name == "object" || name == "O") return any_object_type();
  if (name == "str" || name == "string") return frame::text_type();
  if (name == "category") return {Logical::category, DType::i32};
  if (name == "timedelta64[ns]" || name == "m8[ns]") return frame::timedelta_type();
  if (name == "datetime64[ns]" || name == "M8[ns]") return frame::datetime_type();
  if (name.starts_with("datetime64[ns, ") && name.ends_with("]")) return frame::datetime_type(name.substr(15, name.size() - 16));
  if (name == "boolean") return frame::number_type(DType::boolean, true);
  if (auto type = library_type_named(in, name)) return *type;
  if (name.size() >= 4 && std::isupper(name[0]))  // Int8, not NumPy's letters
    if (auto d = dtype_from_name(capital_free(name)); d && !is_complex(*d)) return frame::number_type(*d, true);
  if (auto d = dtype_from_name(name)) return frame::number_type(*d);
  raise("TypeError", "data type '" + name + "' not understood");
}

Column object_column(Interpreter& in, const std::vector<Value>& values) {
  if (std::all_of(values.begin(), values.end(), [&](const Value& v) { return v.as<Str>() || is_missing_value(in, v); }))
    return texts(in, values);
  frame::DistinctTexts distinct;
  NewValues codes(in.engine(), DType::i32, static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    if (is_missing_value(in, values[i])) {
      codes.as<int32_t>()[i] = code_of_missing(values[i]);
      continue;
    }
    const auto text = encode_object(in, values[i]);
    if (!text) raise("TypeError", "a column cannot hold values of type '" + type_of(values[i]).name + "'");
    codes.as<int32_t>()[i] = distinct.add(*text);
  }
  return {any_object_type(), codes.node(), nullptr, distinct.finish()};
}

Column make_column(Interpreter& in, const Value& values, const std::optional<ColumnType>& wanted) {
  Column column = [&]() -> Column {
    if (auto* c = values.as<ColumnObject>()) return c->column;
    if (auto* a = values.as<numpy::NdArray>()) {
      if (a->array.rank() != 1)
        raise("ValueError", "Data must be 1-dimensional, got ndarray of shape " + graph::to_string(a->array.shape()) + " instead");
      return frame::number_column(a->array.node());
    }
    if (numpy::is_typed_array(values)) return column_of(numpy::call_typed(in, "as_column", {values}));
    if (wanted && wanted->logical == Logical::category) return categories_of_list(in, to_vector(in, values));
    return of_list(in, to_vector(in, values), wanted);
  }();
  return wanted ? cast(in, column, *wanted) : column;
}

Column cast(Interpreter& in, const Column& column, const ColumnType& to) {
  const ColumnType& from = column.type;
  if (from == to) return column;
  if (to.objects != kAnyObject && to.logical != Logical::category && (has_library_values(from) || has_library_values(to)))
    return cast_of_library_values(in, from.logical == Logical::category ? take_categories(in, column) : column, to);
  if (to.objects == kAnyObject) {
    if (from.logical == Logical::text && !from.is_interval()) return column;  // texts are objects as they are
    Column source = from.logical == Logical::category ? take_categories(in, column) : column;
    if (source.type.logical == Logical::text && !source.type.is_interval()) return source;
    std::vector<Value> values;
    for (int64_t i = 0; i < source.size(); ++i) values.push_back(cell(in, source, i));
    return object_column(in, values);
  }
  if (from.objects == kAnyObject) {
    Column objects = column;
    std::vector<Value> values;
    for (int64_t i = 0; i < objects.size(); ++i) values.push_back(cell(in, objects, i));
    if (to.logical == Logical::category)
      raise("NotImplementedError", "categories of lists, or of values of several types, are not in Gasell");
    return cast(in, texts(in, values), to);
  }
  Column result = column;
  result.type = to;
  if (to.logical == Logical::text && from.is_time()) return time_texts(in, column);
  if (to.logical == Logical::category && from.logical == Logical::category) return column;
  if (to.logical == Logical::category) {
    // The different values, sorted, are the categories; their groups' numbers are the codes.
    Engine& engine = in.engine();
    const frame::GroupsRef groups = frame::group_rows(engine, {column});
    frame::NewValues codes(engine, DType::i32, groups->rows());
    std::copy(groups->ids(), groups->ids() + groups->rows(), codes.as<int32_t>());
    result.values = codes.node();
    result.validity = nullptr;
    result.dictionary = nullptr;
    result.categories = std::make_shared<Column>(frame::take(engine, column, groups->first_rows(), groups->count()));
    return result;
  }
  if (to.logical == Logical::text)
    return from.logical == Logical::category ? cast(in, take_categories(in, column), to) : texts_of_numbers(in, column);
  if (from.logical == Logical::category) return cast(in, take_categories(in, column), to);
  if (from.logical == Logical::text && is_nullable_truth(to) && column.size() > 0) raise_no_truth();
  if (from.logical == Logical::text && to.is_number()) return numbers_of_texts(in, column, to);
  if (from.logical == Logical::text && to.is_time()) return times_of_texts(in, column, to);
  if (to.is_number() && from.is_number()) {
    if (is_nullable_truth(to) && !from.nullable && from.dtype != DType::boolean) return truths_of_numbers(in, column, to);
    const bool to_whole = !is_float(to.dtype) && !is_complex(to.dtype);
    if (is_float(from.dtype) && to_whole && to.dtype != DType::boolean) {
      const NodeRef missing = frame::missing_mask(column);
      if (to.nullable) {
        NodeRef valid = graph::map(ScalarOp::logical_not, {missing});
        const NodeRef known =
            graph::map(ScalarOp::select, {valid, column.values, graph::constant(Scalar::of_float(0, from.dtype), column.values->shape)});
        result.values = converted_exactly(in, known, to.dtype, "round() before");
        result.validity = valid;
        return result;
      }
      const NodeRef bad = graph::map(ScalarOp::logical_not, {graph::map(ScalarOp::isfinite, {column.values})});
      if (Array(graph::reduce(graph::ReduceOp::any, bad, {0})).elements(in.engine())[0].i)
        raise("IntCastingNaNError", "Cannot convert non-finite values (NA or inf) to integer", "'Int64' keeps what is missing");
    }
    if (column.validity && !to.nullable && !(is_float(to.dtype))) {
      const NodeRef all = graph::reduce(graph::ReduceOp::all, column.validity, {0});
      if (!Array(all).elements(in.engine())[0].i) raise("ValueError", "cannot convert NA to integer", "'Int64' keeps what is missing");
      result.validity = nullptr;
    }
    const bool may_not_fit = is_integer(from.dtype) && is_integer(to.dtype) && to.nullable && to.dtype != from.dtype;
    result.values = may_not_fit ? converted_exactly(in, column.values, to.dtype, "") : graph::cast(column.values, to.dtype);
    if (column.validity && is_float(to.dtype) && !to.nullable) {
      result.values = graph::map(ScalarOp::select, {column.validity, result.values,
                                                    graph::constant(Scalar::of_float(std::nan(""), to.dtype), result.values->shape)});
      result.validity = nullptr;
    }
    return result;
  }
  if (to.is_number() && from.is_time() && to.dtype == DType::i64) return frame::number_column(column.values);
  if (to.is_time() && from.is_number() && is_integer(from.dtype)) {
    result.values = graph::cast(column.values, DType::i64);
    result.validity = nullptr;
    return result;
  }
  raise("TypeError",
        "cannot convert a column of " + frame::dtype_name(in.engine(), column) + " to " + frame::dtype_name(in.engine(), result));
}

Column take_categories(Interpreter& in, const Column& column) {
  Column source = column;
  const frame::ColumnData data = frame::read(in.engine(), source);
  std::vector<int64_t> rows(data.as<int32_t>(), data.as<int32_t>() + data.count);
  return frame::take(in.engine(), *column.categories, rows.data(), data.count, true);
}

}  // namespace gasell::pandas
