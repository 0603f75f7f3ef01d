// datetime.date.
#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "runtime/device/sandbox.h"
#include "runtime/session/type_objects.h"
#include "runtime/session/types.h"
#include "stdlib/datetime/objects.h"
#include "stdlib/struct_time.h"

namespace gasell::datetime {

using frame::Date;

namespace {

using Args = std::span<Value>;

/// Days of a date, a datetime or a Timestamp: their class derives from date.
int64_t self_days(const Value& v) {
  if (const auto clock = clock_of(v)) return clock->days();
  return v.as<PlainDate>()->days;
}

int64_t today() {
  require_clock("reading clocks");
  const std::time_t seconds = std::time(nullptr);
  std::tm local{};
  localtime_r(&seconds, &local);
  return frame::days_from_date(local.tm_year + 1900, local.tm_mon + 1, local.tm_mday);
}

Value of_timestamp(Interpreter& in, Args args) {
  const auto seconds = static_cast<std::time_t>(float_to_int(std::floor(to_double(in, args[0]))));
  std::tm local{};
  localtime_r(&seconds, &local);
  return date_value(frame::days_from_date(local.tm_year + 1900, local.tm_mon + 1, local.tm_mday));
}

Value of_iso_text(Interpreter& in, Args args) {
  const auto* text = args[0].as<Str>();
  if (!text) raise("TypeError", "fromisoformat: argument must be str");
  const auto days = parse_iso_date(text->value);
  if (!days) raise("ValueError", "Invalid isoformat string: " + gasell::repr(in, args[0]));
  return date_value(*days);
}

Value of_iso_calendar(Interpreter& in, Args args) {
  const int64_t year = to_index(in, args[0]), week = to_index(in, args[1]), day = to_index(in, args[2]);
  if (year < 1 || year > 9999) raise("ValueError", fmt::format("Year is out of range: {}", year));
  const int64_t fourth = frame::days_from_date(year, 1, 4), days = fourth - frame::weekday(fourth) + (week - 1) * 7 + day - 1;
  if (week < 1 || week > 53 || frame::iso_week(days - day + 1).week != week) raise("ValueError", fmt::format("Invalid week: {}", week));
  if (day < 1 || day > 7) raise("ValueError", fmt::format("Invalid weekday: {} (range is [1, 7])", day));
  return date_value(days);
}

Value replace(Interpreter& in, Args args) {
  const Date d = frame::date_from_days(self_days(args[0]));
  return date_value(
      checked_days(part_argument(in, args[1], d.year), part_argument(in, args[2], d.month), part_argument(in, args[3], d.day)));
}

/// The nine numbers of Python's struct_time.
Value time_tuple(Interpreter&, Args args) {
  const int64_t days = self_days(args[0]);
  const Date d = frame::date_from_days(days);
  return struct_time({d.year, d.month, d.day, 0, 0, 0, frame::weekday(days), frame::day_of_year(d), -1});
}

}  // namespace

const Type& date_type() {
  static const NativeFunction constructor{"date", "year=object, month=object, day=object",
                                          [](Interpreter& in, Args a) { return date_value(date_argument(in, a)); },
                                          "A date of the Gregorian calendar."};
  static const Type type = [] {
    Type t{"date", "datetime", &object_type()};
    t.constructor = &constructor;
    t.properties = {
        {"year", [](Interpreter&, const Value& v) { return Value::of(frame::date_from_days(self_days(v)).year); }, nullptr, ""},
        {"month", [](Interpreter&, const Value& v) { return Value::of(frame::date_from_days(self_days(v)).month); }, nullptr, ""},
        {"day", [](Interpreter&, const Value& v) { return Value::of(frame::date_from_days(self_days(v)).day); }, nullptr, ""}};
    t.static_methods = {
        {"today", "", [](Interpreter&, Args) { return date_value(today()); }, "The date of the call."},
        {"fromtimestamp", "timestamp, /", &of_timestamp, "The local date of seconds since 1970."},
        {"fromordinal", "ordinal, /", [](Interpreter& in, Args a) { return date_value(to_index(in, a[0]) + kFirstDay - 1); },
         "The date of days since year 1."},
        {"fromisoformat", "date_string, /", &of_iso_text, "A date from ISO 8601."},
        {"fromisocalendar", "year, week, day", &of_iso_calendar, "The date of ISO 8601's year, week and weekday."},
    };
    t.methods = {
        {"isoformat", "", [](Interpreter&, Args a) { return make_str(date_text(self_days(a[0]))); }, "2020-01-31"},
        {"weekday", "", [](Interpreter&, Args a) { return Value::of(frame::weekday(self_days(a[0]))); }, "0: Monday."},
        {"isoweekday", "", [](Interpreter&, Args a) { return Value::of(frame::weekday(self_days(a[0])) + 1); }, "1: Monday."},
        {"isocalendar", "", [](Interpreter&, Args a) { return iso_calendar_value(self_days(a[0])); }, "ISO 8601's year, week and weekday."},
        {"toordinal", "", [](Interpreter&, Args a) { return Value::of(self_days(a[0]) - kFirstDay + 1); }, "Days since year 1."},
        {"strftime", "format",
         [](Interpreter& in, Args a) { return make_str(strftime({self_days(a[0]) * kMicrosADay, nullptr}, gasell::str(in, a[1]))); },
         "The date as text."},
        {"ctime", "",
         [](Interpreter&, Args a) { return make_str(strftime({self_days(a[0]) * kMicrosADay, nullptr}, "%a %b %e %H:%M:%S %Y")); },
         "As C's ctime."},
        {"replace", "year=object, month=object, day=object", &replace, "The date with other fields."},
        {"timetuple", "", &time_tuple, "Nine numbers, as time.localtime() gives them."},
    };
    return t;
  }();
  static const bool registered = register_type_object(
      type, Value::make<TypeWithConstants>(type, TypeWithConstants::Constants{{"min", [] { return date_value(kFirstDay); }},
                                                                              {"max", [] { return date_value(kLastDay); }},
                                                                              {"resolution", [] { return duration_value(kMicrosADay); }}}));
  (void)registered;
  return type;
}

std::string PlainDate::repr(Interpreter&) {
  const Date d = frame::date_from_days(days);
  return fmt::format("datetime.date({}, {}, {})", d.year, d.month, d.day);
}
std::string PlainDate::str(Interpreter&) { return date_text(days); }
std::string PlainDate::format(Interpreter&, std::string_view spec) {
  return spec.empty() ? date_text(days) : strftime({days * kMicrosADay, nullptr}, spec);
}

std::optional<Value> PlainDate::compare(Interpreter&, ast::CompareOp op, const Value& other) {
  const auto* d = other.as<PlainDate>();
  return d ? std::optional(Value::of(holds(op, days, d->days))) : std::nullopt;
}

std::optional<Value> PlainDate::binary(Interpreter&, ast::BinaryOp op, const Value& other) {
  const auto* d = other.as<PlainDate>();
  if (op == ast::BinaryOp::sub && d) return duration_value(Int128{days - d->days} * kMicrosADay);
  const auto by = duration_micros(other);
  if (!by || (op != ast::BinaryOp::add && op != ast::BinaryOp::sub)) return {};
  const int64_t whole = Duration(*by).days();
  return date_value(op == ast::BinaryOp::add ? days + whole : days - whole);
}

std::optional<Value> PlainDate::reflected(Interpreter& in, ast::BinaryOp op, const Value& other) {
  return op == ast::BinaryOp::add ? binary(in, op, other) : std::nullopt;
}

Value date_value(int64_t days) {
  if (days < kFirstDay || days > kLastDay) raise("OverflowError", "date value out of range");
  return Value::make<PlainDate>(days);
}

std::optional<int64_t> days_of_date(const Value& v) {
  const auto* d = v.as<PlainDate>();
  return d ? std::optional(d->days) : std::nullopt;
}

}  // namespace gasell::datetime
