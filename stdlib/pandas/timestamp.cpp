// pd.Timestamp.
#include "stdlib/pandas/timestamp.h"
#include "runtime/device/sandbox.h"

#include <chrono>
#include <cmath>

#include "lang/diagnostic.h"
#include "runtime/frame/time_formatting.h"
#include "runtime/frame/time_parsing.h"
#include "runtime/session/number.h"
#include "runtime/session/type_objects.h"
#include "runtime/session/types.h"
#include "stdlib/datetime/objects.h"
#include "stdlib/library.h"
#include "stdlib/numpy/ndarray.h"
#include "stdlib/pandas/offsets.h"
#include "stdlib/pandas/times_objects.h"

namespace gasell::pandas {

using namespace frame;
using datetime::holds;

namespace {

const Timestamp& self_of(const Value& v) { return *v.as<Timestamp>(); }

Value made(int64_t ns, const TimeZone* zone) { return ns == kNotATime ? nat_value() : Value::make<Timestamp>(ns, zone); }

/// A local time of a zone, as pd.Timestamp's constructor places it.
Value placed(int64_t local, const TimeZone* zone, const LocalTimeChoice& choice = {}) {
  return made(zone ? utc_of_local(*zone, local, choice.ambiguous, choice.nonexistent, choice.shift) : local, zone);
}

Value moved(const Timestamp& t, int64_t by) {
  if (by == kNotATime) return nat_value();
  const auto sum = checked_add(t.nanoseconds, by);
  if (!sum) raise("OutOfBoundsDatetime", "Out of bounds nanosecond timestamp: " + t.text(' '));
  return made(*sum, t.zone);
}

[[noreturn]] void refuse_text(const ParsedTime& parsed, std::string_view text) {
  const std::string shown(text);
  switch (parsed.status) {
    case ParsedTime::Status::bad_date: raise("DateParseError", std::string(parsed.problem) + ": " + shown);
    case ParsedTime::Status::out_of_bounds: raise("OutOfBoundsDatetime", "Out of bounds nanosecond timestamp: " + shown);
    default: raise("DateParseError", "Unknown datetime string format, unable to parse: " + shown);
  }
}

Value of_text(std::string_view text, const TimeZone* zone) {
  const ParsedTime parsed = parse_free_time(text);
  if (parsed.status == ParsedTime::Status::missing) return nat_value();
  if (!parsed.ok()) refuse_text(parsed, text);
  if (!parsed.offset) return placed(parsed.local, zone);
  return made(parsed.utc(), zone ? zone : &TimeZone::named(*parsed.offset == 0 ? "UTC" : offset_text(*parsed.offset, true)));
}

int64_t integer_argument(Interpreter& in, const Value& v, int64_t otherwise) {
  return v.is_none() || is_missing(v) ? otherwise : to_index(in, v);
}

Value of_parts(const Moment& m, const TimeZone* zone) {
  const ParsedTime checked = checked_time(m);
  if (checked.status == ParsedTime::Status::bad_date) raise("ValueError", checked.problem);
  if (!checked.ok()) raise("OutOfBoundsDatetime", "Out of bounds nanosecond timestamp");
  return placed(checked.local, zone);
}

Value construct(Interpreter& in, std::span<Value> args) {
  enum { input, year, month, day, hour, minute, second, microsecond, tzinfo, nanosecond, tz, unit };
  const TimeZone* zone = zone_argument(in, args[tz].is_none() ? args[tzinfo] : args[tz]);
  const auto given = [&](int k) { return !args[k].is_none() && !is_missing(args[k]); };
  const bool parts_by_position = args[input].is_int() && given(year);
  if (parts_by_position || (is_missing(args[input]) && given(year))) {
    // Positional parts are one place further left: the first parameter is the year.
    const auto part = [&](int k, int64_t otherwise) { return integer_argument(in, args[parts_by_position ? k - 1 : k], otherwise); };
    if (!given(parts_by_position ? year : month)) raise("TypeError", "function missing required argument 'month' (pos 2)");
    if (!given(parts_by_position ? month : day)) raise("TypeError", "function missing required argument 'day' (pos 3)");
    Moment m;
    m.year = part(year, 1970);
    m.month = static_cast<int>(part(month, 1)), m.day = static_cast<int>(part(day, 1));
    const int64_t parts[] = {part(hour, 0), part(minute, 0), part(second, 0), part(microsecond, 0)};
    m.hour = static_cast<int>(parts[0]), m.minute = static_cast<int>(parts[1]), m.second = static_cast<int>(parts[2]);
    m.nanosecond = static_cast<int>(parts[3] * 1000 + integer_argument(in, args[nanosecond], 0));
    return of_parts(m, zone);
  }
  const Value& v = args[input];
  if (is_missing(v)) raise("TypeError", "function missing required argument 'year' (pos 1)");
  if (v.is_none() || is_nat(v) || is_na(v)) return nat_value();
  if (const auto* s = v.as<Str>()) return of_text(s->value, zone);
  if (const auto* t = v.as<Timestamp>()) {
    if (!zone) return v;
    return t->zone ? made(t->nanoseconds, zone) : placed(t->nanoseconds, zone);
  }
  if (const auto scalar = time_scalar(v)) {
    if (scalar->second.empty()) return placed(scalar->first, zone);
    return zone ? made(scalar->first, zone) : timestamp_value(scalar->first, scalar->second);
  }
  Value number = v;
  if (auto* scalar = v.as<numpy::NumpyScalar>()) number = numpy::python_value(scalar->value(in));
  if (number.is_int() || number.is_float()) {
    int64_t size = 1;
    if (given(unit)) {
      const std::string name = gasell::str(in, args[unit]);
      const auto known = timedelta_unit(name);
      if (!known) raise("ValueError", "Unrecognized unit " + name);
      size = *known;
    }
    int64_t ns;
    if (number.is_float()) {
      if (std::isnan(number.as_float())) return nat_value();
      ns = scaled_time(number.as_float(), size);
    } else {
      const auto scaled = checked_multiply(number.as_int(), size);
      if (!scaled)
        raise("OutOfBoundsDatetime", "cannot convert input with unit '" + (given(unit) ? gasell::str(in, args[unit]) : "ns") + "'");
      ns = *scaled;
    }
    return made(ns, zone);
  }
  raise("TypeError",
        "Cannot convert input [" + gasell::str(in, v) + "] of type " + gasell::repr(in, type_object(type_of(v))) + " to Timestamp");
}

int64_t now_nanoseconds() {
  require_clock("reading clocks");
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count() * kMicrosecond;
}

/// Now, by the clock of a zone; without one by the machine's.
Value now(Interpreter& in, std::span<Value> args) {
  const TimeZone* zone = zone_argument(in, args[0]);
  if (zone) return made(now_nanoseconds(), zone);
  require_clock("reading clocks");
  const std::time_t seconds = std::time(nullptr);
  std::tm local{};
  localtime_r(&seconds, &local);
  return made(now_nanoseconds() + local.tm_gmtoff * kSecond, nullptr);
}

const std::vector<NativeFunction>& static_methods() {
  static const std::vector<NativeFunction> kMethods = {
      {"now", "tz=None", &now, "The moment of the call."},
      {"today", "tz=None", &now, "The moment of the call."},
      {"utcnow", "", [](Interpreter&, std::span<Value>) { return made(now_nanoseconds(), &TimeZone::named("UTC")); }, "Now in UTC."},
      {"fromtimestamp", "timestamp, tz=None",
       [](Interpreter& in, std::span<Value> args) {
         return made(scaled_time(to_double(in, args[0]), kSecond), zone_argument(in, args[1]));
       },
       "Seconds since 1970 as a Timestamp."},
      {"fromisoformat", "date_string",
       [](Interpreter& in, std::span<Value> args) {
         const std::string text = gasell::str(in, args[0]);
         if (!parse_iso_time(text).ok()) raise("ValueError", "Invalid isoformat string: " + gasell::repr(in, args[0]));
         return of_text(text, nullptr);
       },
       "A Timestamp from ISO 8601."},
      {"strptime", "date_string, format",
       [](Interpreter&, std::span<Value>) -> Value {
         raise("NotImplementedError", "Timestamp.strptime() is not implemented. Use to_datetime() to parse date strings.");
       },
       "Refused, as by pandas."},
      {"combine", "date, time",
       [](Interpreter& in, std::span<Value> args) {
         return made(
             *to_timestamp(in, call(in, get_attribute(in, type_object(datetime::datetime_type()), "combine"), {{args[0], args[1]}, {}})),
             nullptr);
       },
       "A date with a time of day."},
      {"fromisocalendar", "year, week, day",
       [](Interpreter& in, std::span<Value> args) {
         return made(*to_timestamp(in, call(in, get_attribute(in, type_object(datetime::date_type()), "fromisocalendar"),
                                            {{args[0], args[1], args[2]}, {}})),
                     nullptr);
       },
       "The midnight of ISO 8601's year, week and weekday."},
      {"fromordinal", "ordinal, tz=None",
       [](Interpreter& in, std::span<Value> args) {
         const int64_t ordinal = to_index(in, args[0]);
         if (ordinal < 1) raise("ValueError", "ordinal must be >= 1");
         const auto nanoseconds = checked_multiply(ordinal - 719163, kDay);
         if (!nanoseconds) raise("OutOfBoundsDatetime", "Out of bounds nanosecond timestamp: day " + std::to_string(ordinal));
         return placed(*nanoseconds, zone_argument(in, args[1]));
       },
       "Days since year 1 as a Timestamp."},
  };
  return kMethods;
}

template <Rounding how>
Value round_to(Interpreter& in, std::span<Value> args) {
  const Timestamp& t = self_of(args[0]);
  const int64_t unit = fixed_frequency_argument(in, args[1]);
  const int64_t rounded = rounded_time(how, t.local(), unit);
  if (rounded == kNotATime)
    raise("OutOfBoundsDatetime", "Cannot round " + t.text(' ') + " to freq=" + gasell::str(in, args[1]) + " without overflow");
  return placed(rounded, t.zone, local_time_choice(in, args[2], args[3]));
}

Value tz_localize(Interpreter& in, std::span<Value> args) {
  const Timestamp& t = self_of(args[0]);
  const TimeZone* zone = zone_argument(in, args[1]);
  if (!zone) return made(t.local(), nullptr);
  if (t.zone) raise("TypeError", "Cannot localize tz-aware Timestamp, use tz_convert for conversions");
  return placed(t.nanoseconds, zone, local_time_choice(in, args[2], args[3]));
}

Value tz_convert(Interpreter& in, std::span<Value> args) {
  const Timestamp& t = self_of(args[0]);
  if (!t.zone) raise("TypeError", "Cannot convert tz-naive Timestamp, use tz_localize to localize");
  return made(t.nanoseconds, zone_argument(in, args[1]));
}

Value replace(Interpreter& in, std::span<Value> args) {
  enum { self, year, month, day, hour, minute, second, microsecond, nanosecond, tzinfo };
  const Timestamp& t = self_of(args[self]);
  Moment m = moment_of(t.local());
  const auto part = [&](int k, int old) { return static_cast<int>(integer_argument(in, args[k], old)); };
  m.year = part(year, static_cast<int>(m.year));
  m.month = part(month, m.month), m.day = part(day, m.day), m.hour = part(hour, m.hour), m.minute = part(minute, m.minute);
  m.second = part(second, m.second);
  m.nanosecond = part(microsecond, m.nanosecond / 1000) * 1000 + part(nanosecond, m.nanosecond % 1000);
  return of_parts(m, is_missing(args[tzinfo]) ? t.zone : zone_argument(in, args[tzinfo]));
}

Value isoformat(Interpreter& in, std::span<Value> args) {
  const Timestamp& t = self_of(args[0]);
  const std::string separator = gasell::str(in, args[1]), precision = gasell::str(in, args[2]);
  const int64_t local = t.local();
  const std::string date = time_text(local, TimePrecision::date);
  std::string clock;
  if (precision == "auto")
    clock = timestamp_text(local).substr(date.size() + 1);
  else if (precision == "hours")
    clock = time_text(local, TimePrecision::seconds).substr(date.size() + 1, 2);
  else if (precision == "minutes")
    clock = time_text(local, TimePrecision::seconds).substr(date.size() + 1, 5);
  else
    clock = time_text(local, precision == "seconds"        ? TimePrecision::seconds
                             : precision == "milliseconds" ? TimePrecision::milliseconds
                             : precision == "microseconds" ? TimePrecision::microseconds
                             : precision == "nanoseconds"  ? TimePrecision::nanoseconds
                                                           : (raise("ValueError", "Unknown timespec value"), TimePrecision::seconds))
                .substr(date.size() + 1);
  return make_str(date + separator + clock + (t.zone ? offset_text(offset_of_utc(*t.zone, t.nanoseconds), true) : ""));
}

std::vector<NativeFunction> methods() {
  return {
      {"strftime", "format",
       [](Interpreter& in, std::span<Value> args) {
         const Timestamp& t = self_of(args[0]);
         return make_str(strftime_text(gasell::str(in, args[1]), t.local(), t.zone, t.nanoseconds));
       },
       "The moment as text."},
      {"isoformat", "sep='T', timespec='auto'", &isoformat, "The moment as ISO 8601."},
      {"date", "", [](Interpreter&, std::span<Value> args) { return datetime::date_value(floor_divide(self_of(args[0]).local(), kDay)); },
       "Its date."},
      {"time", "",
       [](Interpreter&, std::span<Value> args) {
         return Value::make<datetime::TimeOfDay>(floor_modulo(self_of(args[0]).local(), kDay) / kMicrosecond);
       },
       "Its time of day."},
      {"normalize", "",
       [](Interpreter&, std::span<Value> args) {
         const Timestamp& t = self_of(args[0]);
         return placed(rounded_time(Rounding::floor, t.local(), kDay), t.zone);
       },
       "Midnight of the day."},
      {"floor", "freq, ambiguous='raise', nonexistent='raise'", &round_to<Rounding::floor>, "Down to a multiple of freq."},
      {"ceil", "freq, ambiguous='raise', nonexistent='raise'", &round_to<Rounding::ceil>, "Up to a multiple of freq."},
      {"round", "freq, ambiguous='raise', nonexistent='raise'", &round_to<Rounding::round>, "To the nearest multiple of freq."},
      {"tz_localize", "tz, ambiguous='raise', nonexistent='raise'", &tz_localize, "The same local time in a zone, or in none."},
      {"tz_convert", "tz", &tz_convert, "The same moment in another zone."},
      {"astimezone", "tz", &tz_convert, "The same moment in another zone."},
      {"replace", "year=None, month=None, day=None, hour=None, minute=None, second=None, microsecond=None, nanosecond=None, tzinfo=object",
       &replace, "The moment with other fields."},
      {"day_name", "locale=None",
       [](Interpreter&, std::span<Value> args) {
         return make_str(std::string(weekday_name(weekday(floor_divide(self_of(args[0]).local(), kDay)))));
       },
       "\"Monday\" …"},
      {"month_name", "locale=None",
       [](Interpreter&, std::span<Value> args) { return make_str(std::string(month_name(moment_of(self_of(args[0]).local()).month))); },
       "\"January\" …"},
      {"timestamp", "",
       [](Interpreter&, std::span<Value> args) {
         return Value::of(static_cast<double>(floor_divide(self_of(args[0]).nanoseconds, 1000)) / 1e6);
       },
       "Seconds since 1970."},
      {"weekday", "", [](Interpreter&, std::span<Value> args) { return Value::of(weekday(floor_divide(self_of(args[0]).local(), kDay))); },
       "0: Monday."},
      {"isoweekday", "",
       [](Interpreter&, std::span<Value> args) { return Value::of(weekday(floor_divide(self_of(args[0]).local(), kDay)) + 1); },
       "1: Monday."},
      {"isocalendar", "",
       [](Interpreter&, std::span<Value> args) { return datetime::iso_calendar_value(floor_divide(self_of(args[0]).local(), kDay)); },
       "ISO 8601's year, week and weekday."},
      {"toordinal", "",
       [](Interpreter&, std::span<Value> args) { return Value::of(floor_divide(self_of(args[0]).local(), kDay) + 719163); },
       "Days since year 1."},
      {"ctime", "",
       [](Interpreter&, std::span<Value> args) {
         return make_str(strftime_text("%a %b %e %H:%M:%S %Y", self_of(args[0]).local(), nullptr, 0));
       },
       "As C's ctime."},
      {"tzname", "",
       [](Interpreter&, std::span<Value> args) {
         const Timestamp& t = self_of(args[0]);
         return t.zone ? make_str(std::string(t.zone->abbreviation(t.zone->at(floor_divide(t.nanoseconds, kSecond))))) : Value();
       },
       "The zone's abbreviation."},
      {"utcoffset", "",
       [](Interpreter&, std::span<Value> args) {
         const Timestamp& t = self_of(args[0]);
         return t.zone ? timedelta_value(offset_of_utc(*t.zone, t.nanoseconds) * kSecond) : Value();
       },
       "How far the local time is ahead of UTC."},
      {"as_unit", "unit, round_ok=True", &in_unit, "Itself: nanoseconds are the only unit, others are refused."},
      {"to_pydatetime", "warn=True",
       [](Interpreter&, std::span<Value> args) { return datetime::datetime_value(*datetime::clock_of(args[0])); },
       "As datetime.datetime, without nanoseconds."},
      {"to_datetime64", "", [](Interpreter&, std::span<Value> args) { return datetime64_value(self_of(args[0]).nanoseconds); },
       "As np.datetime64."},
      {"to_numpy", "dtype=None, copy=False",
       [](Interpreter&, std::span<Value> args) { return datetime64_value(self_of(args[0]).nanoseconds); }, "As np.datetime64."},
  };
}

template <TimeField field>
Value get_field(Interpreter&, const Value& v) {
  const int64_t value = time_field(field, self_of(v).local());
  return field >= TimeField::is_month_start ? Value::of(value != 0) : Value::of(value);
}

Value get_zone(Interpreter&, const Value& v) { return self_of(v).zone ? make_str(self_of(v).zone->name()) : Value(); }

std::vector<Type::Property> properties() {
  using F = TimeField;
  return {
      {"year", &get_field<F::year>, nullptr, ""},
      {"month", &get_field<F::month>, nullptr, ""},
      {"day", &get_field<F::day>, nullptr, ""},
      {"hour", &get_field<F::hour>, nullptr, ""},
      {"minute", &get_field<F::minute>, nullptr, ""},
      {"second", &get_field<F::second>, nullptr, ""},
      {"microsecond", &get_field<F::microsecond>, nullptr, ""},
      {"nanosecond", &get_field<F::nanosecond>, nullptr, ""},
      {"dayofweek", &get_field<F::day_of_week>, nullptr, ""},
      {"day_of_week", &get_field<F::day_of_week>, nullptr, ""},
      {"dayofyear", &get_field<F::day_of_year>, nullptr, ""},
      {"day_of_year", &get_field<F::day_of_year>, nullptr, ""},
      {"quarter", &get_field<F::quarter>, nullptr, ""},
      {"week", &get_field<F::iso_week>, nullptr, ""},
      {"weekofyear", &get_field<F::iso_week>, nullptr, ""},
      {"days_in_month", &get_field<F::days_in_month>, nullptr, ""},
      {"daysinmonth", &get_field<F::days_in_month>, nullptr, ""},
      {"is_month_start", &get_field<F::is_month_start>, nullptr, ""},
      {"is_month_end", &get_field<F::is_month_end>, nullptr, ""},
      {"is_quarter_start", &get_field<F::is_quarter_start>, nullptr, ""},
      {"is_quarter_end", &get_field<F::is_quarter_end>, nullptr, ""},
      {"is_year_start", &get_field<F::is_year_start>, nullptr, ""},
      {"is_year_end", &get_field<F::is_year_end>, nullptr, ""},
      {"is_leap_year", &get_field<F::is_leap_year>, nullptr, ""},
      {"value", [](Interpreter&, const Value& v) { return Value::of(self_of(v).nanoseconds); }, nullptr, "Nanoseconds since 1970, UTC."},
      {"asm8", [](Interpreter&, const Value& v) { return datetime64_value(self_of(v).nanoseconds); }, nullptr, ""},
      {"tz", &get_zone, nullptr, "The zone's name, or None."},
      {"tzinfo", &get_zone, nullptr, "The zone's name, or None."},
      {"unit", [](Interpreter&, const Value&) { return make_str("ns"); }, nullptr, ""},
      {"fold", [](Interpreter&, const Value&) { return Value::of(0); }, nullptr, ""},
  };
}

}  // namespace

const Type& timestamp_type() {
  static const NativeFunction constructor{"Timestamp",
                                          "ts_input=object, year=None, month=None, day=None, hour=None, minute=None, second=None, "
                                          "microsecond=None, tzinfo=None, *, nanosecond=None, tz=None, "
                                          "unit=None, fold=None",
                                          &construct, "A moment with a resolution of nanoseconds."};
  static const Type type = [] {
    Type t{"Timestamp", "pandas._libs.tslibs.timestamps", &datetime::datetime_type()};
    t.constructor = &constructor;
    t.methods = methods();
    t.static_methods = static_methods();
    t.properties = properties();
    return t;
  }();
  static const bool registered =
      register_type_object(type, Value::make<datetime::TypeWithConstants>(
                                     type, datetime::TypeWithConstants::Constants{{"min", [] { return timestamp_value(INT64_MIN + 1); }},
                                                                                  {"max", [] { return timestamp_value(INT64_MAX); }},
                                                                                  {"resolution", [] { return timedelta_value(1); }}}));
  (void)registered;
  return type;
}

std::string Timestamp::text(char between) const {
  return timestamp_text(local(), between) + (zone ? offset_text(offset_of_utc(*zone, nanoseconds), true) : "");
}

std::string Timestamp::repr(Interpreter&) {
  if (!zone) return "Timestamp('" + timestamp_text(nanoseconds) + "')";
  const std::string offset = offset_text(offset_of_utc(*zone, nanoseconds), false);
  return "Timestamp('" + timestamp_text(local()) + offset + "', tz='" + zone->name() + "')";
}

std::string Timestamp::str(Interpreter&) { return text(' '); }

std::string Timestamp::format(Interpreter&, std::string_view spec) {
  return spec.empty() ? text(' ') : strftime_text(spec, local(), zone, nanoseconds);
}

int64_t Timestamp::hash(Interpreter&) { return hash_int(nanoseconds); }

std::optional<Value> Timestamp::compare(Interpreter&, ast::CompareOp op, const Value& other) {
  if (is_nat(other)) return Value::of(op == ast::CompareOp::ne);
  Int128 right;
  bool aware;
  if (const auto* t = other.as<Timestamp>()) {
    right = t->nanoseconds, aware = t->zone;
  } else if (const auto clock = datetime::clock_of(other)) {
    right = Int128{clock->utc()} * 1000, aware = clock->zone;
  } else if (datetime::days_of_date(other)) {
    return {};
  } else if (const auto scalar = time_scalar(other)) {
    right = scalar->first, aware = false;
    if (right == kNotATime) return Value::of(op == ast::CompareOp::ne);
  } else {
    return {};
  }
  const bool equality = op == ast::CompareOp::eq || op == ast::CompareOp::ne;
  if (aware != (zone != nullptr)) {
    if (equality) return Value::of(op == ast::CompareOp::ne);
    raise("TypeError", "Cannot compare tz-naive and tz-aware timestamps");
  }
  return Value::of(holds(op, nanoseconds, right));
}

std::optional<Value> Timestamp::binary(Interpreter& in, ast::BinaryOp op, const Value& other) {
  using enum ast::BinaryOp;
  if (op != add && op != sub) return {};
  if (is_nat(other)) return nat_value();
  if (op == sub) {
    if (const auto clock = datetime::clock_of(other); clock && (clock->zone != nullptr) != (zone != nullptr))
      raise("TypeError", "Cannot subtract tz-naive and tz-aware datetime-like objects.");
    if (const auto right = time_scalar(other)) {
      if (right->first == kNotATime) return nat_value();
      int64_t difference;
      if (__builtin_sub_overflow(nanoseconds, right->first, &difference))
        raise("OutOfBoundsDatetime",
              "Result is too large for pandas.Timedelta. Convert inputs to datetime.datetime with 'Timestamp.to_pydatetime()' before "
              "subtracting.");
      return timedelta_value(difference);
    }
  }
  if (const auto by = to_timedelta(in, other)) return moved(*this, op == sub && *by != kNotATime ? -*by : *by);
  if (other.is_int())
    raise("TypeError",
          "Addition/subtraction of integers and integer-arrays with Timestamp is no longer supported.  Instead of adding/subtracting `n`, "
          "use `n * obj.freq`");
  return {};
}

std::optional<Value> Timestamp::reflected(Interpreter& in, ast::BinaryOp op, const Value& other) {
  if (op == ast::BinaryOp::add) return binary(in, op, other);
  if (op == ast::BinaryOp::sub)
    if (const auto moment = time_scalar(other))
      return timestamp_value(moment->first, moment->second).object()->binary(in, op, Value::of(this));
  return {};
}

Value timestamp_value(int64_t ns, const std::string& zone) { return made(ns, zone.empty() ? nullptr : &TimeZone::named(zone)); }

std::optional<std::pair<int64_t, std::string>> time_scalar(const Value& v) {
  if (const auto* t = v.as<Timestamp>()) return std::pair{t->nanoseconds, t->zone ? t->zone->name() : std::string()};
  if (is_nat(v)) return std::pair{kNotATime, std::string()};
  if (const auto ns = datetime64_nanoseconds(v)) return std::pair{*ns, std::string()};
  if (const auto* t = v.as<datetime::DateTime>()) {
    const auto ns = checked_multiply(t->clock.utc(), 1000);
    if (!ns)
      raise("OutOfBoundsDatetime",
            "Out of bounds nanosecond timestamp: " + datetime::date_text(t->clock.days()) + " " + datetime::clock_text(t->clock.of_day()));
    return std::pair{*ns, t->clock.zone ? t->clock.zone->name() : std::string()};
  }
  if (const auto days = datetime::days_of_date(v)) {
    const auto ns = checked_multiply(*days, kDay);
    if (!ns) raise("OutOfBoundsDatetime", "Out of bounds nanosecond timestamp: " + datetime::date_text(*days) + " 00:00:00");
    return std::pair{*ns, std::string()};
  }
  return {};
}

std::optional<int64_t> to_timestamp(Interpreter&, const Value& v) {
  if (const auto scalar = time_scalar(v)) return scalar->first;
  if (const auto* s = v.as<Str>()) {
    const ParsedTime parsed = parse_free_time(s->value);
    if (parsed.ok()) return parsed.utc();
    if (parsed.status == ParsedTime::Status::missing) return kNotATime;
  }
  return {};
}

const TimeZone* zone_argument(Interpreter& in, const Value& v) {
  if (v.is_none() || is_missing(v)) return nullptr;
  if (v.as<datetime::Zone>()) return datetime::zone_argument(v);
  if (!v.as<Str>()) raise("TypeError", "time zones are given by their names, as in tz='Europe/Berlin', not as '" + type_of(v).name + "'");
  return &TimeZone::named(gasell::str(in, v));
}

LocalTimeChoice local_time_choice(Interpreter& in, const Value& ambiguous, const Value& nonexistent) {
  LocalTimeChoice choice;
  if (ambiguous.is_bool()) {
    choice.ambiguous = ambiguous.as_int() ? Ambiguous::first : Ambiguous::second;
  } else if (!is_missing(ambiguous) && !ambiguous.is_none()) {
    const std::string word = gasell::str(in, ambiguous);
    if (word == "NaT")
      choice.ambiguous = Ambiguous::nat;
    else if (word != "raise")
      raise("ValueError", "The ambiguous argument must be a bool, 'raise' or 'NaT' here", "'infer' and arrays are not in Gasell");
  }
  if (is_missing(nonexistent) || nonexistent.is_none()) return choice;
  if (const auto shift = to_timedelta(in, nonexistent)) {
    choice.nonexistent = Nonexistent::shift_by;
    choice.shift = *shift;
    return choice;
  }
  const std::string word = gasell::str(in, nonexistent);
  if (word == "NaT")
    choice.nonexistent = Nonexistent::nat;
  else if (word == "shift_forward")
    choice.nonexistent = Nonexistent::shift_forward;
  else if (word == "shift_backward")
    choice.nonexistent = Nonexistent::shift_backward;
  else if (word != "raise")
    raise("ValueError", "The nonexistent argument must be one of 'raise', 'NaT', 'shift_forward', 'shift_backward' or a timedelta object");
  return choice;
}

Value in_unit(Interpreter& in, std::span<Value> args) {
  call(in, *library_member(in, "_pandas", "check_unit"), {{args[1]}, {}});
  return args[0];
}

}  // namespace gasell::pandas
