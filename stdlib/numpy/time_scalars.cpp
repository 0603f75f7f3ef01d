#include "stdlib/numpy/time_scalars.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/frame/calendar.h"
#include "runtime/frame/time_parsing.h"
#include "runtime/session/number.h"
#include "runtime/session/types.h"
#include "stdlib/datetime/objects.h"
#include "stdlib/numpy/methods.h"
#include "stdlib/numpy/typed.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell::numpy {

using namespace frame;

namespace {

const TimeScalar& self_of(const Value& v) { return *v.as<TimeScalar>(); }
Value moment_value(int64_t count, TimeUnit unit) { return Value::make<TimeScalar>(true, count, unit); }
Value duration_value(int64_t count, TimeUnit unit) { return Value::make<TimeScalar>(false, count, unit); }

/// As dtypes print it in messages: "<m8[D]".
std::string dtype_text(bool moment, TimeUnit unit) {
  return std::string(moment ? "<M8" : "<m8") + (unit == TimeUnit::generic ? "" : fmt::format("[{}]", name_of(unit)));
}

/// Sums that wrap around.
int64_t add_wrapping(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
int64_t subtract_wrapping(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)); }

[[noreturn]] void refuse_units(TimeUnit a, TimeUnit b) {
  raise("TypeError", fmt::format("Cannot get a common metadata divisor for Numpy datetime metadata [{}] and [{}] because they have "
                                 "incompatible nonlinear base time units.",
                                 name_of(a), name_of(b)));
}

TimeUnit common_unit(const TimeScalar& a, const TimeScalar& b) {
  if (!(a.moment && b.moment) && !have_common_unit(a.unit, b.unit)) refuse_units(a.unit, b.unit);
  return finer_unit(a.unit, b.unit);
}

/// A number of Python's or NumPy's beside a time.
struct Factor {
  bool whole;
  int64_t i;
  double d;
};
std::optional<Factor> factor_of(Interpreter& in, const Value& v) {
  if (v.is_int() || v.is_bool()) return Factor{true, v.as_int(), static_cast<double>(v.as_int())};
  if (v.is_float()) return Factor{false, 0, v.as_float()};
  if (auto* scalar = v.as<NumpyScalar>()) {
    const Scalar& s = scalar->value(in);
    if (is_complex(s.type)) return {};
    return Factor{s.is_integral(), s.i, s.as_double()};
  }
  return {};
}

bool is_python_time(const Value& v) { return v.as<datetime::PlainDate>() || v.as<datetime::DateTime>() || v.as<datetime::Duration>(); }

std::string_view name_of(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::add: return "add";
    case ast::BinaryOp::sub: return "subtract";
    case ast::BinaryOp::mul: return "multiply";
    case ast::BinaryOp::div: return "divide";
    case ast::BinaryOp::floordiv: return "floor_divide";
    case ast::BinaryOp::mod: return "remainder";
    case ast::BinaryOp::pow: return "power";
    default: return "";
  }
}

std::string_view name_of(ast::CompareOp op) {
  switch (op) {
    case ast::CompareOp::eq: return "equal";
    case ast::CompareOp::ne: return "not_equal";
    case ast::CompareOp::lt: return "less";
    case ast::CompareOp::le: return "less_equal";
    case ast::CompareOp::gt: return "greater";
    default: return "greater_equal";
  }
}

/// An operator with an array, or of operands that have no such loop: what the ufunc of the array of no axes gives, or says.
std::optional<Value> by_ufunc(Interpreter& in, ast::BinaryOp op, const Value& a, const Value& b) {
  const std::string_view name = name_of(op);
  if (name.empty()) return {};
  return call_typed(in, "operate", {make_str(std::string(name)), a, b});
}

Value shift(const TimeScalar& moment, const TimeScalar& by, bool back) {
  if (!have_common_unit(moment.unit, by.unit) && by.unit <= TimeUnit::M)
    raise("UFuncTypeError", fmt::format("Cannot cast ufunc '{}' input 1 from dtype('{}') to dtype('{}') with casting rule 'same_kind'",
                                        back ? "subtract" : "add", dtype_text(false, by.unit), dtype_text(false, moment.unit)));
  const TimeUnit unit = finer_unit(moment.unit, by.unit);
  const int64_t start = count_in(moment, unit), step = count_in(by, unit);
  if (start == kNotATime || step == kNotATime) return moment_value(kNotATime, unit);
  return moment_value(back ? subtract_wrapping(start, step) : add_wrapping(start, step), unit);
}

std::optional<Value> durations(ast::BinaryOp op, const TimeScalar& x, const TimeScalar& y) {
  using enum ast::BinaryOp;
  const TimeUnit unit = common_unit(x, y);
  const int64_t a = count_in(x, unit), b = count_in(y, unit);
  const bool missing = a == kNotATime || b == kNotATime;
  switch (op) {
    case add: return duration_value(missing ? kNotATime : add_wrapping(a, b), unit);
    case sub: return duration_value(missing ? kNotATime : subtract_wrapping(a, b), unit);
    case mod: return duration_value(missing || b == 0 ? kNotATime : floor_modulo(a, b), unit);
    case div: return wrap_scalar(Scalar::of_float(missing ? __builtin_nan("") : static_cast<double>(a) / static_cast<double>(b)));
    case floordiv: return wrap_scalar(Scalar::of_int(missing || b == 0 ? 0 : floor_divide(a, b)));
    default: return {};
  }
}

int64_t whole_part(double v) { return v >= -9223372036854775808.0 && v < 9223372036854775808.0 ? static_cast<int64_t>(v) : kNotATime; }

std::optional<Value> scaled(ast::BinaryOp op, const TimeScalar& x, const Factor& by) {
  using enum ast::BinaryOp;
  if (op == mul) {
    if (x.count == kNotATime) return duration_value(kNotATime, x.unit);
    if (by.whole) return duration_value(static_cast<int64_t>(static_cast<uint64_t>(x.count) * static_cast<uint64_t>(by.i)), x.unit);
    return duration_value(whole_part(static_cast<double>(x.count) * by.d), x.unit);
  }
  if (op != div && op != floordiv) return {};
  if (x.count == kNotATime || (by.whole ? by.i == 0 : by.d == 0)) return duration_value(kNotATime, x.unit);
  if (by.whole) return duration_value(x.count / by.i, x.unit);
  return duration_value(whole_part(static_cast<double>(x.count) / by.d), x.unit);
}

std::optional<TimeUnit> unit_of_argument(Interpreter& in, const Value& v) {
  if (v.is_none()) return {};
  if (v.as<Tuple>()) raise("NotImplementedError", "multiples of units of times are not in Gasell");
  return unit_argument(gasell::str(in, v));
}

Value construct_datetime64(Interpreter& in, std::span<Value> args) {
  const auto [count, unit] = moment_of(in, args[0], unit_of_argument(in, args[1]));
  return moment_value(count, unit);
}
Value construct_timedelta64(Interpreter& in, std::span<Value> args) {
  const auto [count, unit] = duration_of(in, args[0], unit_of_argument(in, args[1]));
  return duration_value(count, unit);
}

Value item(Interpreter&, std::span<Value> args) {
  const TimeScalar& t = self_of(args[0]);
  return python_time(t.moment, t.count, t.unit);
}
/// A method that the array of no axes has.
template <const char* name>
Value by_array(Interpreter& in, std::span<Value> args) {
  std::vector<Value> given(args.begin(), args.end());
  given.insert(given.begin(), make_str(name));
  return call_typed(in, "method_of_scalar", std::move(given));
}
constexpr char kAstype[] = "astype", kView[] = "view", kReshape[] = "reshape";

Value absolute(Interpreter& in, std::span<Value> args) { return call_typed(in, "operate", {make_str("absolute"), args[0]}); }
Value quotient_and_rest(Interpreter& in, std::span<Value> args) {
  return make_tuple(
      {gasell::binary(in, ast::BinaryOp::floordiv, args[0], args[1]), gasell::binary(in, ast::BinaryOp::mod, args[0], args[1])});
}

Value dtype_of(Interpreter& in, const Value& v) {
  const TimeScalar& t = self_of(v);
  return call_typed(in, "time_dtype", {make_str(t.moment ? "M" : "m"), make_str(std::string(frame::name_of(t.unit)))});
}

Type time_type(const char* name, const NativeFunction& constructor) {
  Type t{name, "numpy", &object_type()};
  t.second_base = &generic_type();
  t.constructor = &constructor;
  t.methods = {{"astype", "dtype", &by_array<kAstype>, "The count of units, or another unit."},
               {"view", "dtype", &by_array<kView>, "The count of units."},
               {"reshape", "shape", &by_array<kReshape>, "An array of this one element."},
               {"item", "", &item, "A date, a datetime or a timedelta; a count where these do not hold it; None of NaT."},
               {"__abs__", "", &absolute, "Without its sign."},
               {"__divmod__", "other", &quotient_and_rest, "(self // other, self % other)."},
               {"tolist", "", &item, "A date, a datetime or a timedelta; a count where these do not hold it; None of NaT."}};
  t.properties = {{"dtype", &dtype_of, nullptr, "The dtype, with its unit."},
                  {"ndim", [](Interpreter&, const Value&) { return Value::of(0); }, nullptr, ""},
                  {"size", [](Interpreter&, const Value&) { return Value::of(1); }, nullptr, ""},
                  {"itemsize", [](Interpreter&, const Value&) { return Value::of(8); }, nullptr, ""},
                  {"nbytes", [](Interpreter&, const Value&) { return Value::of(8); }, nullptr, ""},
                  {"shape", [](Interpreter&, const Value&) { return make_tuple({}); }, nullptr, ""}};
  return t;
}

}  // namespace

const Type& datetime64_type() {
  static const NativeFunction constructor{"datetime64", "value=None, unit=None, /", &construct_datetime64, "A moment of NumPy."};
  static const Type type = time_type("datetime64", constructor);
  return type;
}
const Type& timedelta64_type() {
  static const NativeFunction constructor{"timedelta64", "value=0, unit=None, /", &construct_timedelta64, "A duration of NumPy."};
  static const Type type = time_type("timedelta64", constructor);
  return type;
}

int64_t count_in(const TimeScalar& scalar, TimeUnit unit) {
  return scalar.moment ? convert_moment(scalar.count, scalar.unit, unit) : convert_duration(scalar.count, scalar.unit, unit);
}

Value python_time(bool moment, int64_t count, TimeUnit unit) {
  if (count == kNotATime) return {};
  if (unit == TimeUnit::generic || unit == TimeUnit::ns) return Value::of(count);
  if (!moment) {
    if (unit <= TimeUnit::M) return Value::of(count);
    const Int128 micros = Int128{count} * (nanoseconds_of(unit) / kMicrosecond);
    constexpr int64_t kMostDays = 999'999'999;
    const Int128 most = Int128{kMostDays} * datetime::kMicrosADay;
    return micros > most || micros < -most ? Value::of(count) : datetime::duration_value(micros);
  }
  const int64_t days = convert_moment(count, unit, TimeUnit::D);
  if (days < datetime::kFirstDay || days > datetime::kLastDay) return Value::of(count);
  if (unit <= TimeUnit::D) return datetime::date_value(days);
  return datetime::datetime_value({convert_moment(count, unit, TimeUnit::us), nullptr});
}

TimeUnit unit_argument(std::string_view name) {
  if (const auto unit = time_unit_named(name)) return *unit;
  const size_t digits = name.find_first_not_of("0123456789");
  if (digits > 0 && digits != name.npos && time_unit_named(name.substr(digits)))
    raise("NotImplementedError", fmt::format("multiples of units of times ({}) are not in Gasell", name));
  if (name == "ps" || name == "fs" || name == "as")
    raise("NotImplementedError", fmt::format("times finer than nanoseconds ({}) are not in Gasell", name));
  raise("TypeError", fmt::format("Invalid datetime unit \"{}\" in metadata", name));
}

std::pair<int64_t, TimeUnit> moment_of(Interpreter&, const Value& v, std::optional<TimeUnit> unit) {
  const auto as_wanted = [&](int64_t count, TimeUnit own) {
    const TimeUnit wanted = unit.value_or(own);
    return std::pair{convert_moment(count, own, wanted), wanted};
  };
  if (v.is_none() || pandas::is_nat(v)) return {kNotATime, unit.value_or(TimeUnit::generic)};
  if (const auto* s = v.as<Str>()) {
    const TimeText text = parse_time_text(s->value, unit);
    return {text.count, text.unit};
  }
  if (v.is_int()) {
    if (!unit) raise("ValueError", "Converting an integer to a NumPy datetime requires a specified unit");
    return {v.as_int(), *unit};
  }
  if (const auto* t = v.as<TimeScalar>(); t && t->moment) return as_wanted(t->count, t->unit);
  if (const auto days = datetime::days_of_date(v)) return as_wanted(*days, TimeUnit::D);
  if (const auto clock = datetime::clock_of(v)) {
    if (clock->zone)
      raise("NotImplementedError", "np.datetime64 of a moment with a zone is not in Gasell", "it has none: convert to UTC before");
    return as_wanted(clock->micros, TimeUnit::us);
  }
  raise("ValueError", "Could not convert object to NumPy datetime");
}

std::pair<int64_t, TimeUnit> duration_of(Interpreter&, const Value& v, std::optional<TimeUnit> unit) {
  const TimeUnit wanted = unit.value_or(TimeUnit::generic);
  if (v.is_none() || pandas::is_nat(v)) return {kNotATime, wanted};
  if (const auto* s = v.as<Str>()) {
    if (s->value == "NaT" || s->value == "nat") return {kNotATime, wanted};
    return {parse_int(s->value), wanted};
  }
  if (v.is_int()) return {v.as_int(), wanted};
  if (const auto* t = v.as<TimeScalar>(); t && !t->moment) {
    if (unit && !have_common_unit(t->unit, *unit))
      raise("TypeError", fmt::format("Cannot cast NumPy timedelta64 scalar from metadata [{}] to [{}] according to the rule 'same_kind'",
                                     frame::name_of(t->unit), frame::name_of(*unit)));
    return {count_in(*t, unit.value_or(t->unit)), unit.value_or(t->unit)};
  }
  if (const auto micros = datetime::duration_micros(v)) {
    const TimeUnit own = unit.value_or(TimeUnit::us);
    return {convert_duration(static_cast<int64_t>(*micros), TimeUnit::us, own), own};
  }
  if (const auto* scalar = v.as<NumpyScalar>(); scalar && is_integer(scalar->dtype()) && scalar->known())
    return {scalar->known()->i, wanted};
  raise("ValueError", "Could not convert object to NumPy timedelta");
}

std::string TimeScalar::repr(Interpreter&) {
  const std::string name(frame::name_of(unit));
  if (!moment)
    return "np.timedelta64(" + (count == kNotATime ? "'NaT'" : std::to_string(count)) +
           (unit == TimeUnit::generic ? "" : ",'" + name + "'") + ")";
  const bool shown = unit == TimeUnit::h || count == kNotATime;
  return "np.datetime64('" + time_text(count, unit) + "'" + (shown ? ",'" + name + "'" : "") + ")";
}
std::string TimeScalar::str(Interpreter&) {
  if (moment || count == kNotATime) return time_text(count, unit);
  return std::to_string(count) + " " + std::string(words_of(unit));
}
std::string TimeScalar::format(Interpreter& in, std::string_view spec) {
  if (spec.empty()) return str(in);
  return gasell::format(in, moment || count == kNotATime ? make_str(str(in)) : python_time(moment, count, unit), spec);
}

/// Equal times have equal counts of nanoseconds, be it modulo 2^64.
int64_t TimeScalar::hash(Interpreter&) {
  if (count == kNotATime || unit == TimeUnit::generic) return hash_int(count);
  if (!moment && unit <= TimeUnit::M) return hash_int(convert_duration(count, unit, TimeUnit::M));
  return hash_int(count_in(*this, TimeUnit::ns));
}

std::optional<Value> TimeScalar::compare(Interpreter& in, ast::CompareOp op, const Value& other) {
  const auto answer = [&](int64_t a, int64_t b) { return wrap_scalar(Scalar::of_bool(datetime::holds(op, a, b))); };
  if (const auto* t = other.as<TimeScalar>()) {
    if (t->moment == moment) {
      const TimeUnit unit_of_both = common_unit(*this, *t);
      if (count == kNotATime || t->count == kNotATime) return wrap_scalar(Scalar::of_bool(op == ast::CompareOp::ne));
      return answer(count_in(*this, unit_of_both), count_in(*t, unit_of_both));
    }
  } else if (other.as<pandas::Timestamp>() || other.as<pandas::Timedelta>()) {
    const auto ns = moment ? moment_nanoseconds(count, unit) : duration_nanoseconds(count, unit);
    if (!ns || moment != (other.as<pandas::Timestamp>() != nullptr)) return {};
    return (moment ? pandas::timestamp_value(*ns) : pandas::timedelta_value(*ns)).object()->compare(in, op, other);
  } else if (is_python_time(other)) {
    const Value own = python_time(moment, count, unit);
    return own.is_object() ? own.object()->compare(in, op, other) : std::nullopt;
  } else if (const auto factor = moment ? std::nullopt : factor_of(in, other); factor && factor->whole) {
    return count == kNotATime ? wrap_scalar(Scalar::of_bool(op == ast::CompareOp::ne)) : answer(count, factor->i);
  } else if (other.as<NdArray>()) {
    return call_typed(in, "operate", {make_str(std::string(name_of(op))), Value::of(this), other});
  }
  if (op == ast::CompareOp::eq || op == ast::CompareOp::ne) {
    const bool scalar = !other.is_object() || other.as<Str>() || other.as<NumpyScalar>() || other.as<TimeScalar>();
    return scalar ? std::optional(wrap_scalar(Scalar::of_bool(op == ast::CompareOp::ne))) : std::nullopt;
  }
  if (other.as<TimeScalar>() || factor_of(in, other))
    return call_typed(in, "operate", {make_str(std::string(name_of(op))), Value::of(this), other});
  return {};
}

std::optional<Value> TimeScalar::binary(Interpreter& in, ast::BinaryOp op, const Value& other) {
  using enum ast::BinaryOp;
  if (const auto* t = other.as<TimeScalar>()) {
    if (moment && t->moment && op == sub) {
      const TimeUnit finer = finer_unit(unit, t->unit);
      if (count == kNotATime || t->count == kNotATime) return duration_value(kNotATime, finer);
      return duration_value(subtract_wrapping(count_in(*this, finer), count_in(*t, finer)), finer);
    }
    if (moment && !t->moment && (op == add || op == sub)) return shift(*this, *t, op == sub);
    if (!moment && t->moment && op == add) return shift(*t, *this, false);
    if (!moment && !t->moment)
      if (auto made = durations(op, *this, *t)) return made;
    return by_ufunc(in, op, Value::of(this), other);
  }
  if (const auto factor = factor_of(in, other)) {
    if ((op == add || op == sub) && factor->whole) {
      if (moment) return shift(*this, TimeScalar(false, factor->i, TimeUnit::generic), op == sub);
      return durations(op, *this, TimeScalar(false, factor->i, TimeUnit::generic));
    }
    if (!moment)
      if (auto made = scaled(op, *this, *factor)) return made;
    return by_ufunc(in, op, Value::of(this), other);
  }
  if (is_python_time(other)) return gasell::binary(in, op, python_time(moment, count, unit), other);
  if (other.as<NdArray>()) return by_ufunc(in, op, Value::of(this), other);
  return {};
}

std::optional<Value> TimeScalar::reflected(Interpreter& in, ast::BinaryOp op, const Value& other) {
  using enum ast::BinaryOp;
  if (const auto factor = factor_of(in, other)) {
    if (op == add || (op == mul && !moment)) return binary(in, op, other);
    if (op == sub && factor->whole && !moment) return durations(op, TimeScalar(false, factor->i, TimeUnit::generic), *this);
    return by_ufunc(in, op, other, Value::of(this));
  }
  if (is_python_time(other)) return gasell::binary(in, op, other, python_time(moment, count, unit));
  if (other.as<NdArray>()) return by_ufunc(in, op, other, Value::of(this));
  return {};
}

Value TimeScalar::unary(Interpreter& in, ast::UnaryOp op) {
  if (moment) return Object::unary(in, op);
  if (op == ast::UnaryOp::neg) return duration_value(count == kNotATime ? count : -count, unit);
  return op == ast::UnaryOp::pos ? Value::of(this) : Object::unary(in, op);
}

std::vector<std::pair<std::string, Value>> time_members() {
  return {{"datetime64", type_object(datetime64_type())}, {"timedelta64", type_object(timedelta64_type())}};
}

}  // namespace gasell::numpy
