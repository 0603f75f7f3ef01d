#include "stdlib/pandas/library_values.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>

#include "runtime/frame/dictionary.h"
#include "runtime/session/types.h"
#include "stdlib/library.h"
#include "stdlib/library_object.h"
#include "stdlib/pandas/offsets.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell::pandas {
namespace {

using Args = std::span<Value>;
using frame::NewValues;

constexpr uint64_t kSign = uint64_t{1} << 63;
constexpr size_t kDigits = 16;  // of a bound

/// The object where it is one of this class ("pandas.Period").
const LibraryObject* of_class(const Value& v, std::string_view texts) {
  const auto* object = v.as<LibraryObject>();
  return object && object->class_value().as<LibraryClass>()->texts() == texts ? object : nullptr;
}

Value from_library(Interpreter& in, const char* module, const char* name, std::vector<Value> arguments) {
  return gasell::call(in, *library_member(in, module, name), {std::move(arguments), {}});
}

/// "int64" of "interval[int64, right]".
std::string bounds_of(std::string_view type) { return std::string(type.substr(9, type.rfind(',') - 9)); }
std::string closed_of(std::string_view type) { return std::string(type.substr(type.rfind(',') + 2, type.size() - type.rfind(',') - 3)); }

/// A bound as a number that stands to others as the bounds do.
uint64_t ordered(const Scalar& bound) {
  if (!is_float(bound.type)) return bound.type == DType::u64 ? static_cast<uint64_t>(bound.i) : static_cast<uint64_t>(bound.i) ^ kSign;
  const double x = bound.as_double();
  const auto bits = std::bit_cast<uint64_t>(x == 0 ? 0.0 : x);
  return bits & kSign ? ~bits : bits | kSign;
}
Scalar unordered(uint64_t number, DType type) {
  if (!is_float(type)) return Scalar::of_int(static_cast<int64_t>(type == DType::u64 ? number : number ^ kSign), type);
  return Scalar::of_float(std::bit_cast<double>(number & kSign ? number ^ kSign : ~number)).cast(type);
}

std::string text_of(const Scalar& left, const Scalar& right) { return fmt::format("{:016x}{:016x}", ordered(left), ordered(right)); }
Scalar bound_of(std::string_view text, bool right, DType type) {
  const char* const at = text.data() + (right ? kDigits : 0);
  uint64_t number = 0;
  std::from_chars(at, at + kDigits, number, 16);
  return unordered(number, type);
}

/// One value as it stands in a column of a type; nothing where it is none of its values.
std::optional<Scalar> stored(Interpreter& in, const Value& v, const ColumnType& type) {
  if (type.is_number()) {
    if (v.as<Str>()) return {};
    const auto number = numpy::try_operand(in, v);
    if (!number || number->node->rank() != 0) return {};
    const Scalar given = Array(number->node).elements(in.engine())[0];
    const Scalar made = given.cast(type.dtype);
    if (made.as_double() != given.as_double()) return {};
    return made;
  }
  const auto ns = type.logical == Logical::datetime ? to_timestamp(in, v) : to_timedelta(in, v);
  if (!ns) return {};
  return Scalar::of_int(*ns);
}

Value bound_value(Interpreter& in, const Scalar& bound, const ColumnType& type) {
  if (type.logical == Logical::datetime) return timestamp_value(bound.i, type.zone);
  if (type.logical == Logical::timedelta) return timedelta_value(bound.i);
  return numpy::wrap_scalar(bound);
}

/// periods(ordinals, freq): NaT where an ordinal is the smallest integer.
Value periods(Interpreter& in, Args args) {
  return wrap_column({frame::period_type(gasell::str(in, args[1])), graph::cast(numpy::as_array(in, args[0]).node(), DType::i64)});
}

/// intervals(left, right, type): of two columns of the type that the intervals' bounds have; missing where one of both is.
Value intervals(Interpreter& in, Args args) {
  Column left = column_of(args[0]), right = column_of(args[1]);
  ColumnType type = frame::text_type();
  type.objects = gasell::str(in, args[2]);
  frame::force(in.engine(), {&left, &right});
  const frame::ColumnData l = frame::read(in.engine(), left), r = frame::read(in.engine(), right);
  const DType dtype = left.type.dtype;
  const auto at = [&](const frame::ColumnData& data, int64_t i) {
    return Scalar::load(static_cast<const char*>(data.values) + i * size_of(dtype), dtype);
  };
  const auto missing = [&](const frame::ColumnData& data, int64_t i) {
    if (data.valid && !data.valid[i]) return true;
    return is_float(dtype) ? std::isnan(at(data, i).as_double()) : !left.type.is_number() && at(data, i).i == frame::kNotATime;
  };
  frame::DistinctTexts distinct;
  NewValues codes(in.engine(), DType::i32, l.count);
  for (int64_t i = 0; i < l.count; ++i)
    codes.as<int32_t>()[i] = missing(l, i) || missing(r, i) ? -1 : distinct.add(text_of(at(l, i), at(r, i)));
  return wrap_column({type, codes.node(), nullptr, distinct.finish()});
}

/// interval_sides(column): (left, right) of the different intervals of a column, as codes() numbers them.
Value interval_sides(Interpreter& in, Args args) {
  const Column column = frame::with_distinct_texts(in.engine(), column_of(args[0]));
  const ColumnType type = to_column_type(in, make_str(bounds_of(column.type.objects)));
  std::vector<Value> sides;
  for (const bool right : {false, true}) {
    NewValues bounds(in.engine(), type.dtype, column.dictionary->size());
    for (int64_t k = 0; k < bounds.count; ++k)
      bound_of((*column.dictionary)[k], right, type.dtype).store(bounds.as<char>() + k * size_of(type.dtype));
    sides.push_back(wrap_column({type, bounds.node()}));
  }
  return make_tuple(std::move(sides));
}

}  // namespace

bool is_library_value(const Value& v) { return of_class(v, "pandas.Period") || of_class(v, "pandas.Interval"); }

Value period_value(Interpreter& in, int64_t ordinal, const std::string& frequency) {
  if (ordinal == frame::kNotATime) return nat_value();
  return from_library(in, "_periods", "period_of", {Value::of(ordinal), make_str(frequency)});
}

std::optional<int64_t> ordinal_of(const Value& v, std::string_view frequency) {
  if (is_nat(v)) return frame::kNotATime;
  const auto* period = of_class(v, "pandas.Period");
  if (!period || period->members.at("_freq").as<Str>()->value != frequency) return {};
  return period->members.at("_ordinal").as_int();
}

Value interval_value(Interpreter& in, std::string_view text, std::string_view type) {
  const ColumnType bounds = to_column_type(in, make_str(bounds_of(type)));
  return from_library(in, "_intervals", "interval_of",
                      {bound_value(in, bound_of(text, false, bounds.dtype), bounds),
                       bound_value(in, bound_of(text, true, bounds.dtype), bounds), make_str(closed_of(type))});
}

std::optional<std::string> interval_text(Interpreter& in, const Value& v, std::string_view type) {
  const auto* interval = of_class(v, "pandas.Interval");
  if (!interval || interval->members.at("_closed").as<Str>()->value != closed_of(type)) return {};
  const ColumnType bounds = to_column_type(in, make_str(bounds_of(type)));
  const auto left = stored(in, interval->members.at("_left"), bounds), right = stored(in, interval->members.at("_right"), bounds);
  if (!left || !right) return {};
  return text_of(*left, *right);
}

std::optional<std::vector<Value>> parts_of_library_value(const Value& v) {
  if (const auto* period = of_class(v, "pandas.Period"))
    return std::vector{make_str("period"), period->members.at("_ordinal"), period->members.at("_freq")};
  if (const auto* interval = of_class(v, "pandas.Interval"))
    return std::vector{make_str("interval"), interval->members.at("_left"), interval->members.at("_right"),
                       interval->members.at("_closed")};
  if (const auto* offset = v.as<Offset>(); offset && !offset->parts && !offset->normalize)
    return std::vector{make_str("offset"), make_str(offset->with_count(1).as<Offset>()->frequency_text()), Value::of(offset->count)};
  return {};
}

Value library_value_of_parts(Interpreter& in, const std::vector<Value>& parts) {
  const std::string& maker = parts[0].as<Str>()->value;
  if (maker == "offset") return offset_value(frequency_argument(in, parts[1])).as<Offset>()->with_count(parts[2].as_int());
  const bool period = maker == "period";
  return from_library(in, period ? "_periods" : "_intervals", period ? "period_of" : "interval_of", {parts.begin() + 1, parts.end()});
}

Column column_of_library_values(Interpreter& in, const std::vector<Value>& values) {
  return column_of(from_library(in, "_pandas", "column_of_library_values", {make_list(values)}));
}

std::optional<ColumnType> library_type_named(Interpreter& in, const std::string& name) {
  const bool period = name.starts_with("period[") || name.starts_with("Period[");
  if ((!period && !name.starts_with("interval[")) || !name.ends_with("]")) return {};
  if (period)
    return frame::period_type(
        gasell::str(in, from_library(in, "_periods", "period_frequency", {make_str(name.substr(7, name.size() - 8))})));
  ColumnType type = frame::text_type();
  type.objects = name.find(',') == std::string::npos ? name.substr(0, name.size() - 1) + ", right]" : name;
  return type;
}

Column cast_of_library_values(Interpreter& in, const Column& column, const ColumnType& to) {
  const std::string name = frame::dtype_name(in.engine(), {to, graph::constant(Scalar::of_int(0), {0})});
  return column_of(from_library(in, "_pandas", "cast_of_library_values", {wrap_column(column), make_str(name)}));
}

std::vector<std::string> texts_of_library_values(Interpreter& in, const Column& column, const std::string& missing) {
  Column texts = column_of(from_library(in, "_pandas", "library_value_texts", {wrap_column(column)}));
  const frame::ColumnData codes = frame::read(in.engine(), texts);
  std::vector<std::string> shown;
  for (int64_t i = 0; i < codes.count; ++i) {
    const int32_t code = codes.as<int32_t>()[i];
    shown.push_back(code >= 0 ? std::string((*texts.dictionary)[code]) : column.type.is_interval() ? missing : "NaT");
  }
  return shown;
}

Column written_as_texts(Interpreter& in, const Column& column) {
  if (has_library_values(column.type)) return column_of(from_library(in, "_pandas", "library_value_texts", {wrap_column(column)}));
  if (column.type.logical != Logical::category || !has_library_values(column.categories->type)) return column;
  Column written = column;
  written.categories = std::make_shared<Column>(written_as_texts(in, *column.categories));
  return written;
}

std::vector<NativeFunction> library_value_functions() {
  return {
      {"periods", "ordinals, freq", periods, "A column of periods."},
      {"intervals", "left, right, type", intervals, "A column of intervals between the values of two columns."},
      {"interval_sides", "column", interval_sides, "(left, right) of the different intervals of a column."},
  };
}

}  // namespace gasell::pandas
