// np.datetime64, np.timedelta64, and the members of pandas and numpy that are about times.
#include "stdlib/pandas/times_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "runtime/frame/time_formatting.h"
#include "runtime/frame/time_parsing.h"
#include "runtime/session/number.h"
#include "runtime/session/types.h"
#include "stdlib/datetime/objects.h"
#include "stdlib/numpy/ndarray.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell::pandas {

using namespace frame;
using datetime::holds;

namespace {

// ---- np.datetime64 and np.timedelta64 ----

/// Units from the largest; months and years have no length.
enum class TimeUnit : uint8_t { Y, M, W, D, h, m, s, ms, us, ns, generic };
constexpr std::array<std::string_view, 11> kUnitNames = {"Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "generic"};
constexpr std::array<int64_t, 11> kUnitSizes = {0, 0, 7 * kDay, kDay, kHour, kMinute, kSecond, kMillisecond, kMicrosecond, 1, 1};
constexpr std::array<std::string_view, 11> kUnitWords = {
    "years", "months", "weeks", "days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds", "generic time units"};

size_t place(TimeUnit unit) { return static_cast<size_t>(unit); }
int64_t size_of_unit(TimeUnit unit) { return kUnitSizes[place(unit)]; }

TimeUnit unit_named(const std::string& name) {
  for (size_t k = 0; k < kUnitNames.size(); ++k)
    if (kUnitNames[k] == name) return static_cast<TimeUnit>(k);
  raise("TypeError", "Invalid datetime unit \"" + name + "\" in metadata");
}

[[noreturn]] void out_of_bounds() { raise("OutOfBoundsDatetime", "Out of bounds nanosecond timestamp"); }

const Type& datetime64_type();
const Type& timedelta64_type();

/// A count of units since 1970, or of a duration; kNotATime: NaT.
class TimeScalar : public Object {
 public:
  TimeScalar(int64_t c, TimeUnit u) : count(c), unit(u) {}
  int64_t hash(Interpreter&) override { return hash_int(count); }
  const int64_t count;
  const TimeUnit unit;
};

int64_t convert(int64_t count, TimeUnit from, TimeUnit to) {
  if (count == kNotATime || from == to) return count;
  if (from == TimeUnit::Y && to == TimeUnit::M) return count * 12;
  if (from == TimeUnit::M && to == TimeUnit::Y) return floor_divide(count, 12);
  if (!size_of_unit(from) || !size_of_unit(to)) raise("TypeError", "Cannot convert between units of days and of months");
  if (size_of_unit(from) >= size_of_unit(to)) {
    const auto product = checked_multiply(count, size_of_unit(from) / size_of_unit(to));
    if (!product) out_of_bounds();
    return *product;
  }
  return floor_divide(count, size_of_unit(to) / size_of_unit(from));
}

/// Moments of months and years lie on their first day.
int64_t convert_moment(int64_t count, TimeUnit from, TimeUnit to) {
  if (count == kNotATime) return count;
  if (from <= TimeUnit::M && to > TimeUnit::M) {
    const int64_t months = from == TimeUnit::Y ? count * 12 : count;
    return convert(days_from_date(1970 + floor_divide(months, 12), static_cast<int>(floor_modulo(months, 12)) + 1, 1), TimeUnit::D, to);
  }
  if (from > TimeUnit::M && to <= TimeUnit::M) {
    const Date d = date_from_days(convert(count, from, TimeUnit::D));
    return to == TimeUnit::Y ? d.year - 1970 : (d.year - 1970) * 12 + d.month - 1;
  }
  return convert(count, from, to);
}

class Datetime64 final : public TimeScalar {
 public:
  using TimeScalar::TimeScalar;
  const Type& type() const override { return datetime64_type(); }
  std::string text() const {
    if (count == kNotATime) return "NaT";
    if (unit == TimeUnit::Y) return fmt::format("{:04}", 1970 + count);
    if (unit == TimeUnit::M) return fmt::format("{:04}-{:02}", 1970 + floor_divide(count, 12), floor_modulo(count, 12) + 1);
    const int64_t days = convert(count, unit, TimeUnit::D);
    const Date d = date_from_days(days);
    std::string out = fmt::format("{:04}-{:02}-{:02}", d.year, d.month, d.day);
    if (unit <= TimeUnit::D) return out;
    const int64_t rest = (count - convert(days, TimeUnit::D, unit)) * size_of_unit(unit);
    out += fmt::format("T{:02}", rest / kHour);
    if (unit >= TimeUnit::m) out += fmt::format(":{:02}", rest / kMinute % 60);
    if (unit >= TimeUnit::s) out += fmt::format(":{:02}", rest / kSecond % 60);
    const std::string fraction = fmt::format("{:09}", rest % kSecond);
    if (unit >= TimeUnit::ms) out += "." + fraction.substr(0, 3 * (place(unit) - place(TimeUnit::s)));
    return out;
  }
  std::string repr(Interpreter&) override {
    const bool unit_shown = unit == TimeUnit::h || unit == TimeUnit::W || count == kNotATime;
    return "np.datetime64('" + text() + "'" + (unit_shown ? ",'" + std::string(kUnitNames[place(unit)]) + "'" : "") + ")";
  }
  std::string str(Interpreter&) override { return text(); }
  std::optional<Value> compare(Interpreter& in, ast::CompareOp op, const Value& other) override {
    const auto* t = other.as<Datetime64>();
    if (!t) {
      const auto* stamp = other.as<Timestamp>();
      return stamp ? timestamp_value(datetime64_nanoseconds(Value::of(this)).value_or(kNotATime)).object()->compare(in, op, other)
                   : std::nullopt;
    }
    if (count == kNotATime || t->count == kNotATime) return numpy::wrap_scalar(Scalar::of_bool(op == ast::CompareOp::ne));
    const TimeUnit finer = std::max(unit, t->unit);
    return numpy::wrap_scalar(Scalar::of_bool(holds(op, convert_moment(count, unit, finer), convert_moment(t->count, t->unit, finer))));
  }
  std::optional<Value> binary(Interpreter& in, ast::BinaryOp op, const Value& other) override;
  std::optional<Value> reflected(Interpreter& in, ast::BinaryOp op, const Value& other) override {
    return op == ast::BinaryOp::add ? binary(in, op, other) : std::nullopt;
  }
};

class Timedelta64 final : public TimeScalar {
 public:
  using TimeScalar::TimeScalar;
  const Type& type() const override { return timedelta64_type(); }
  std::string repr(Interpreter&) override {
    const std::string shown = count == kNotATime ? "'NaT'" : std::to_string(count);
    return "np.timedelta64(" + shown + (unit == TimeUnit::generic ? "" : ",'" + std::string(kUnitNames[place(unit)]) + "'") + ")";
  }
  std::string str(Interpreter&) override {
    return count == kNotATime ? "NaT" : std::to_string(count) + " " + std::string(kUnitWords[place(unit)]);
  }
  std::optional<Value> compare(Interpreter&, ast::CompareOp op, const Value& other) override {
    const auto* t = other.as<Timedelta64>();
    if (!t) return {};
    if (count == kNotATime || t->count == kNotATime) return numpy::wrap_scalar(Scalar::of_bool(op == ast::CompareOp::ne));
    const TimeUnit finer = std::max(unit, t->unit);
    return numpy::wrap_scalar(Scalar::of_bool(holds(op, convert(count, unit, finer), convert(t->count, t->unit, finer))));
  }
  std::optional<Value> binary(Interpreter&, ast::BinaryOp op, const Value& other) override {
    using enum ast::BinaryOp;
    if (const auto* t = other.as<Timedelta64>()) {
      const TimeUnit finer = std::max(unit, t->unit);
      const int64_t a = convert(count, unit, finer), b = convert(t->count, t->unit, finer);
      const bool missing = a == kNotATime || b == kNotATime;
      switch (op) {
        case add: return Value::make<Timedelta64>(missing ? kNotATime : a + b, finer);
        case sub: return Value::make<Timedelta64>(missing ? kNotATime : a - b, finer);
        case mod: return Value::make<Timedelta64>(missing || b == 0 ? kNotATime : floor_modulo(a, b), finer);
        case div:
          return numpy::wrap_scalar(Scalar::of_float(missing ? __builtin_nan("") : static_cast<double>(a) / static_cast<double>(b)));
        case floordiv: return numpy::wrap_scalar(Scalar::of_int(missing || b == 0 ? 0 : floor_divide(a, b)));
        default: return {};
      }
    }
    if (!other.is_int() && !other.is_float()) return {};
    if (count == kNotATime) return Value::of(this);
    if (op == mul)
      return Value::make<Timedelta64>(
          other.is_int() ? count * other.as_int() : static_cast<int64_t>(static_cast<double>(count) * other.as_float()), unit);
    if (op == div)
      return Value::make<Timedelta64>(
          static_cast<int64_t>(static_cast<double>(count) / (other.is_int() ? static_cast<double>(other.as_int()) : other.as_float())),
          unit);
    if (op == floordiv && other.is_int()) return Value::make<Timedelta64>(int_floordiv(count, other.as_int()), unit);
    if (op == add || op == sub) return Value::make<Timedelta64>(op == add ? count + other.as_int() : count - other.as_int(), unit);
    return {};
  }
  std::optional<Value> reflected(Interpreter& in, ast::BinaryOp op, const Value& other) override {
    return op == ast::BinaryOp::mul || op == ast::BinaryOp::add ? binary(in, op, other) : std::nullopt;
  }
  Value unary(Interpreter& in, ast::UnaryOp op) override {
    if (op == ast::UnaryOp::neg) return Value::make<Timedelta64>(count == kNotATime ? count : -count, unit);
    return op == ast::UnaryOp::pos ? Value::of(this) : Object::unary(in, op);
  }
};

std::optional<Value> Datetime64::binary(Interpreter&, ast::BinaryOp op, const Value& other) {
  if (op != ast::BinaryOp::add && op != ast::BinaryOp::sub) return {};
  if (const auto* t = other.as<Datetime64>(); t && op == ast::BinaryOp::sub) {
    const TimeUnit finer = std::max(unit, t->unit);
    if (count == kNotATime || t->count == kNotATime) return Value::make<Timedelta64>(kNotATime, finer);
    return Value::make<Timedelta64>(convert_moment(count, unit, finer) - convert_moment(t->count, t->unit, finer), finer);
  }
  int64_t by;
  TimeUnit finer = unit;
  if (const auto* t = other.as<Timedelta64>()) {
    if (t->unit != TimeUnit::generic) finer = std::max(unit, t->unit);
    by = t->unit == TimeUnit::generic ? t->count : convert(t->count, t->unit, finer);
  } else if (other.is_int()) {
    by = other.as_int();
  } else {
    return {};
  }
  if (count == kNotATime || by == kNotATime) return Value::make<Datetime64>(kNotATime, finer);
  return Value::make<Datetime64>(convert_moment(count, unit, finer) + (op == ast::BinaryOp::add ? by : -by), finer);
}

/// The unit that a text has: its last part.
TimeUnit unit_of_text(std::string_view text) {
  const size_t begin = text.find_first_of("T ");
  if (begin == text.npos) return text.size() <= 4 ? TimeUnit::Y : text.size() <= 7 ? TimeUnit::M : TimeUnit::D;
  const std::string_view clock = text.substr(begin + 1);
  const size_t point = clock.find('.');
  if (point != clock.npos) {
    const size_t digits = clock.size() - point - 1;
    return digits <= 3 ? TimeUnit::ms : digits <= 6 ? TimeUnit::us : TimeUnit::ns;
  }
  const auto colons = std::count(clock.begin(), clock.end(), ':');
  return colons == 0 ? TimeUnit::h : colons == 1 ? TimeUnit::m : TimeUnit::s;
}

Value construct_datetime64(Interpreter& in, std::span<Value> args) {
  const Value& v = args[0];
  const bool unit_given = !args[1].is_none();
  const TimeUnit unit = unit_given ? unit_named(gasell::str(in, args[1])) : TimeUnit::generic;
  if (v.is_none() || is_nat(v)) return Value::make<Datetime64>(kNotATime, unit);
  if (const auto* s = v.as<Str>()) {
    if (is_missing_time(s->value)) return Value::make<Datetime64>(kNotATime, unit);
    const ParsedTime parsed = parse_iso_time(s->value);
    if (!parsed.ok()) raise("ValueError", "Error parsing datetime string \"" + s->value + "\" at position 0");
    const TimeUnit own = unit_given ? unit : unit_of_text(s->value);
    return Value::make<Datetime64>(convert_moment(parsed.utc(), TimeUnit::ns, own), own);
  }
  if (v.is_int()) {
    if (!unit_given) raise("ValueError", "Converting an integer to a NumPy datetime requires a specified unit");
    return Value::make<Datetime64>(v.as_int(), unit);
  }
  if (const auto* d = v.as<Datetime64>()) return unit_given ? Value::make<Datetime64>(convert_moment(d->count, d->unit, unit), unit) : v;
  if (const auto scalar = time_scalar(v)) {
    const TimeUnit own = unit_given ? unit : datetime::days_of_date(v) ? TimeUnit::D : TimeUnit::us;
    return Value::make<Datetime64>(convert_moment(scalar->first, TimeUnit::ns, own), own);
  }
  raise("ValueError", "Could not convert object to NumPy datetime");
}

Value construct_timedelta64(Interpreter& in, std::span<Value> args) {
  const Value& v = args[0];
  const bool unit_given = !args[1].is_none();
  const TimeUnit unit = unit_given ? unit_named(gasell::str(in, args[1])) : TimeUnit::generic;
  if (v.is_none() || is_nat(v)) return Value::make<Timedelta64>(kNotATime, unit);
  if (const auto* s = v.as<Str>()) {
    if (is_missing_time(s->value)) return Value::make<Timedelta64>(kNotATime, unit);
    return Value::make<Timedelta64>(parse_int(s->value), unit);
  }
  if (const auto* d = v.as<Timedelta64>()) return unit_given ? Value::make<Timedelta64>(convert(d->count, d->unit, unit), unit) : v;
  if (const auto nanoseconds = to_timedelta(in, v)) {
    const TimeUnit own = unit_given ? unit : TimeUnit::us;
    return Value::make<Timedelta64>(convert(*nanoseconds, TimeUnit::ns, own), own);
  }
  return Value::make<Timedelta64>(to_index(in, v), unit);
}

/// x.astype('datetime64[s]'), x.astype('int64').
Value astype(Interpreter& in, std::span<Value> args) {
  const auto* moment = args[0].as<Datetime64>();
  const auto* scalar = args[0].as<TimeScalar>();
  if (const auto* s = args[1].as<Str>()) {
    const std::string_view name = s->value;
    const std::string_view opening = moment ? "datetime64[" : "timedelta64[";
    if (name.starts_with(opening) && name.ends_with("]")) {
      const TimeUnit unit = unit_named(std::string(name.substr(opening.size(), name.size() - opening.size() - 1)));
      if (moment) return Value::make<Datetime64>(convert_moment(scalar->count, scalar->unit, unit), unit);
      return Value::make<Timedelta64>(convert(scalar->count, scalar->unit, unit), unit);
    }
  }
  const auto dtype = numpy::to_dtype(in, args[1]);
  return numpy::wrap_scalar(Scalar::of_int(scalar->count).cast(dtype.value_or(DType::i64)));
}

std::vector<NativeFunction> scalar_methods() { return {{"astype", "dtype", &astype, "The count of units, or another unit."}}; }

const Type& datetime64_type() {
  static const NativeFunction constructor{"datetime64", "value=None, unit=None, /", &construct_datetime64, "A moment of NumPy."};
  static const Type type = [] {
    Type t{"datetime64", "numpy", &object_type()};
    t.constructor = &constructor;
    t.methods = scalar_methods();
    return t;
  }();
  return type;
}
const Type& timedelta64_type() {
  static const NativeFunction constructor{"timedelta64", "value=0, unit=None, /", &construct_timedelta64, "A duration of NumPy."};
  static const Type type = [] {
    Type t{"timedelta64", "numpy", &object_type()};
    t.constructor = &constructor;
    t.methods = scalar_methods();
    return t;
  }();
  return type;
}

}  // namespace

Value datetime64_value(int64_t ns) { return Value::make<Datetime64>(ns, TimeUnit::ns); }
Value timedelta64_value(int64_t ns) { return Value::make<Timedelta64>(ns, TimeUnit::ns); }

std::optional<int64_t> datetime64_nanoseconds(const Value& v) {
  const auto* t = v.as<Datetime64>();
  return t ? std::optional(convert_moment(t->count, t->unit == TimeUnit::generic ? TimeUnit::ns : t->unit, TimeUnit::ns)) : std::nullopt;
}
std::optional<int64_t> timedelta64_nanoseconds(const Value& v) {
  const auto* t = v.as<Timedelta64>();
  return t ? std::optional(convert(t->count, t->unit == TimeUnit::generic ? TimeUnit::ns : t->unit, TimeUnit::ns)) : std::nullopt;
}

void register_time_exceptions() {
  static const bool registered = [] {
    static const Type types[] = {{"OutOfBoundsDatetime", "pandas._libs.tslibs.np_datetime", exception_type("ValueError")},
                                 {"OutOfBoundsTimedelta", "pandas._libs.tslibs.np_datetime", exception_type("ValueError")},
                                 {"DateParseError", "pandas._libs.tslibs.parsing", exception_type("ValueError")},
                                 {"UnknownTimeZoneError", "pytz.exceptions", exception_type("KeyError")},
                                 {"AmbiguousTimeError", "pytz.exceptions", exception_type("Exception")},
                                 {"NonExistentTimeError", "pytz.exceptions", exception_type("Exception")}};
    for (const Type& type : types) register_exception(type);
    return true;
  }();
  (void)registered;
}

std::vector<std::pair<std::string, Value>> time_members() {
  register_time_exceptions();
  return {
      {"Timestamp", type_object(timestamp_type())}, {"Timedelta", type_object(timedelta_type())}, {"NaT", nat_value()}, {"NA", na_value()}};
}

std::vector<std::pair<std::string, Value>> numpy_time_members() {
  register_time_exceptions();
  return {{"datetime64", type_object(datetime64_type())}, {"timedelta64", type_object(timedelta64_type())}};
}

}  // namespace gasell::pandas
