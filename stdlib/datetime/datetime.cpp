// datetime.datetime.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <ctime>

#include "runtime/device/sandbox.h"
#include "runtime/frame/time_formatting.h"
#include "runtime/frame/time_parsing.h"
#include "runtime/session/type_objects.h"
#include "runtime/session/types.h"
#include "stdlib/datetime/objects.h"
#include "stdlib/struct_time.h"

namespace gasell::datetime {

using frame::TimeZone;

namespace {

using Args = std::span<Value>;

/// Of a datetime or a Timestamp.
Clock self_of(const Value& v) { return *clock_of(v); }

/// What the clock of a zone shows, or of this machine where there is none.
Clock clock_at(int64_t utc_micros, const TimeZone* zone) {
  const int64_t seconds = frame::floor_divide(utc_micros, kMicrosASecond);
  if (zone) return {utc_micros + zone->at(seconds).seconds * kMicrosASecond, zone};
  const auto when = static_cast<std::time_t>(seconds);
  std::tm local{};
  localtime_r(&when, &local);
  return {utc_micros + local.tm_gmtoff * kMicrosASecond, nullptr};
}

/// Seconds east of UTC that this machine's clock is at a local time.
int64_t machine_offset(int64_t micros) {
  const int64_t days = frame::floor_divide(micros, kMicrosADay);
  const frame::Date d = frame::date_from_days(days);
  std::tm local{};
  local.tm_year = static_cast<int>(d.year - 1900), local.tm_mon = d.month - 1, local.tm_mday = d.day, local.tm_isdst = -1;
  local.tm_sec = static_cast<int>(frame::floor_modulo(micros, kMicrosADay) / kMicrosASecond);
  const std::time_t seconds = std::mktime(&local);
  return frame::floor_divide(micros, kMicrosASecond) - static_cast<int64_t>(seconds);
}

int64_t now_micros() {
  require_clock("reading clocks");
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

const TimeZone* zone_or(const Value& v, const TimeZone* otherwise) { return is_missing(v) ? otherwise : zone_argument(v); }

void refuse_fold(Interpreter& in, const Value& fold) {
  if (to_index(in, fold) != 0)
    raise("NotImplementedError", "datetime(fold=1) is not in Gasell",
          "moments of timezone.utc and of pandas tell two that a clock shows alike apart");
}

Value construct(Interpreter& in, Args args) {
  refuse_fold(in, args[8]);
  const int64_t days = date_argument(in, args);
  const int64_t time = checked_clock(to_index(in, args[3]), to_index(in, args[4]), to_index(in, args[5]), to_index(in, args[6]));
  return datetime_value({days * kMicrosADay + time, zone_argument(args[7])});
}

Value of_timestamp(Interpreter& in, Args args) {
  const double seconds = to_double(in, args[0]);
  if (std::isnan(seconds)) raise("ValueError", "cannot convert float NaN to integer");
  if (std::abs(seconds) > 1e12) raise("ValueError", fmt::format("year is out of range: {}", float_repr(seconds)));
  return datetime_value(clock_at(static_cast<int64_t>(std::nearbyint(seconds * 1e6)), zone_argument(args[1])));
}

Value of_iso_text(Interpreter& in, Args args) {
  const auto* given = args[0].as<Str>();
  if (!given) raise("TypeError", "fromisoformat: argument must be str");
  const std::string_view text = given->value;
  // The date ends where its form does: 2020-01-31, 20200131, 2020-W05-5, 2020-W05, 2020W055, 2020W05.
  for (const size_t length : {10, 8, 7}) {
    if (text.size() < length) continue;
    const auto days = parse_iso_date(text.substr(0, length));
    if (!days) continue;
    if (text.size() == length) return datetime_value({*days * kMicrosADay, nullptr});
    const auto clock = text.size() > length + 1 ? parse_iso_clock(text.substr(length + 1)) : std::nullopt;
    if (clock) return datetime_value({*days * kMicrosADay + clock->micros, clock->zone});
  }
  raise("ValueError", "Invalid isoformat string: " + gasell::repr(in, args[0]));
}

Value parse(Interpreter& in, Args args) {
  for (int k : {0, 1})
    if (!args[static_cast<size_t>(k)].as<Str>())
      raise("TypeError", fmt::format("strptime() argument {} must be str, not {}", k + 1, type_of(args[static_cast<size_t>(k)]).name));
  const std::string &text = args[0].as<Str>()->value, &format = args[1].as<Str>()->value;
  const frame::ParsedTime parsed = frame::TimeFormat(format).parse(text);
  using Status = frame::ParsedTime::Status;
  switch (parsed.status) {
    case Status::ok: break;
    case Status::trailing: raise("ValueError", "unconverted data remains: " + text.substr(parsed.read));
    case Status::bad_date:
      if (std::string_view(parsed.problem) == "day is out of range for month") raise("ValueError", parsed.problem);
      [[fallthrough]];
    case Status::out_of_bounds:
      if (parsed.status == Status::out_of_bounds)
        raise("NotImplementedError", "strptime of years before 1678 and after 2261 is not in Gasell",
              "datetime(year, month, day) makes them");
      [[fallthrough]];
    default: raise("ValueError", "time data " + gasell::repr(in, args[0]) + " does not match format " + gasell::repr(in, args[1]));
  }
  const TimeZone* zone = parsed.offset ? &TimeZone::named(*parsed.offset == 0 ? "UTC" : frame::offset_text(*parsed.offset, true)) : nullptr;
  return datetime_value({frame::floor_divide(parsed.local, 1000), zone});
}

Value combine(Interpreter&, Args args) {
  const auto clock = clock_of(args[0]);
  const auto days = clock ? std::optional(clock->days()) : days_of_date(args[0]);
  const auto* time = args[1].as<TimeOfDay>();
  if (!days) raise("TypeError", "combine() argument 1 must be datetime.date, not " + type_of(args[0]).name);
  if (!time) raise("TypeError", "combine() argument 2 must be datetime.time, not " + type_of(args[1]).name);
  return datetime_value({*days * kMicrosADay + time->micros, zone_or(args[2], nullptr)});
}

Value replace(Interpreter& in, Args args) {
  refuse_fold(in, args[9]);
  const Clock c = self_of(args[0]);
  const frame::Date d = frame::date_from_days(c.days());
  const int64_t t = c.of_day();
  const int64_t days =
      checked_days(part_argument(in, args[1], d.year), part_argument(in, args[2], d.month), part_argument(in, args[3], d.day));
  const int64_t time = checked_clock(part_argument(in, args[4], t / kMicrosAnHour), part_argument(in, args[5], t / kMicrosAMinute % 60),
                                     part_argument(in, args[6], t / kMicrosASecond % 60), part_argument(in, args[7], t % kMicrosASecond));
  return datetime_value({days * kMicrosADay + time, zone_or(args[8], c.zone)});
}

Value isoformat(Interpreter& in, Args args) {
  const Clock c = self_of(args[0]);
  return make_str(date_text(c.days()) + gasell::str(in, args[1]) + clock_text(c.of_day(), gasell::str(in, args[2])) + offset_text(c));
}

Value as_timezone(Interpreter&, Args args) {
  const Clock c = self_of(args[0]);
  const int64_t utc = c.zone ? c.utc() : c.micros - machine_offset(c.micros) * kMicrosASecond;
  const TimeZone* zone = zone_or(args[1], nullptr);
  if (zone) return datetime_value(clock_at(utc, zone));
  const auto offset = static_cast<int32_t>((clock_at(utc, nullptr).micros - utc) / kMicrosASecond);
  return datetime_value(clock_at(utc, &TimeZone::named(offset == 0 ? "UTC" : frame::offset_text(offset, true))));
}

Value time_tuple(Interpreter&, Args args) {
  const Clock c = self_of(args[0]);
  const frame::Date d = frame::date_from_days(c.days());
  const int64_t t = c.of_day();
  int daylight = -1;
  if (c.zone) daylight = c.zone->at(frame::floor_divide(c.utc(), kMicrosASecond)).daylight;
  return struct_time({d.year, d.month, d.day, t / kMicrosAnHour, t / kMicrosAMinute % 60, t / kMicrosASecond % 60, frame::weekday(c.days()),
                      frame::day_of_year(d), daylight});
}

Value seconds_since_1970(Interpreter&, Args args) {
  const Clock c = self_of(args[0]);
  const int64_t utc = c.zone ? c.utc() : c.micros - machine_offset(c.micros) * kMicrosASecond;
  return Value::of(static_cast<double>(utc) / 1e6);
}

template <int64_t unit, int64_t count>
Value part(Interpreter&, const Value& v) {
  return Value::of(self_of(v).of_day() / unit % count);
}

std::vector<NativeFunction> static_methods() {
  return {
      {"now", "tz=None", [](Interpreter&, Args a) { return datetime_value(clock_at(now_micros(), zone_argument(a[0]))); },
       "The moment of the call."},
      {"today", "", [](Interpreter&, Args) { return datetime_value(clock_at(now_micros(), nullptr)); }, "The moment of the call."},
      {"utcnow", "", [](Interpreter&, Args) { return datetime_value({now_micros(), nullptr}); },
       "The moment of the call in UTC, without a zone."},
      {"fromtimestamp", "timestamp, tz=None", &of_timestamp, "Seconds since 1970 as a moment."},
      {"utcfromtimestamp", "timestamp, /",
       [](Interpreter& in, Args a) { return datetime_value({static_cast<int64_t>(std::nearbyint(to_double(in, a[0]) * 1e6)), nullptr}); },
       "Seconds since 1970 as a moment in UTC, without a zone."},
      {"fromordinal", "ordinal, /",
       [](Interpreter& in, Args a) { return datetime_value({(to_index(in, a[0]) + kFirstDay - 1) * kMicrosADay, nullptr}); },
       "The midnight of days since year 1."},
      {"fromisoformat", "date_string, /", &of_iso_text, "A moment from ISO 8601."},
      {"fromisocalendar", "year, week, day",
       [](Interpreter& in, Args a) {
         const Value date =
             gasell::call(in, gasell::get_attribute(in, type_object(date_type()), "fromisocalendar"), {{a[0], a[1], a[2]}, {}});
         return datetime_value({date.as<PlainDate>()->days * kMicrosADay, nullptr});
       },
       "The midnight of ISO 8601's year, week and weekday."},
      {"strptime", "date_string, format, /", &parse, "A moment from a text of a format."},
      {"combine", "date, time, tzinfo=object", &combine, "A date with a time of day."},
  };
}

std::vector<NativeFunction> methods() {
  return {
      {"date", "", [](Interpreter&, Args a) { return date_value(self_of(a[0]).days()); }, "Its date."},
      {"time", "", [](Interpreter&, Args a) { return Value::make<TimeOfDay>(self_of(a[0]).of_day()); }, "Its time of day."},
      {"isoformat", "sep='T', timespec='auto'", &isoformat, "The moment as ISO 8601."},
      {"strftime", "format", [](Interpreter& in, Args a) { return make_str(strftime(self_of(a[0]), gasell::str(in, a[1]))); },
       "The moment as text."},
      {"ctime", "", [](Interpreter&, Args a) { return make_str(strftime(self_of(a[0]), "%a %b %e %H:%M:%S %Y")); }, "As C's ctime."},
      {"timestamp", "", &seconds_since_1970, "Seconds since 1970."},
      {"timetuple", "", &time_tuple, "Nine numbers, as time.localtime() gives them."},
      {"astimezone", "tz=object", &as_timezone, "The same moment in another zone."},
      {"utcoffset", "",
       [](Interpreter&, Args a) {
         const Clock c = self_of(a[0]);
         return c.zone ? duration_value(c.offset() * kMicrosASecond) : Value();
       },
       "How far the clock is ahead of UTC."},
      {"tzname", "",
       [](Interpreter&, Args a) {
         const Clock c = self_of(a[0]);
         return c.zone ? make_str(strftime(c, "%Z")) : Value();
       },
       "The zone's abbreviation."},
      {"replace",
       "year=object, month=object, day=object, hour=object, minute=object, second=object, microsecond=object, tzinfo=object, *, fold=0",
       &replace, "The moment with other fields."},
  };
}

}  // namespace

const Type& datetime_type() {
  static const NativeFunction constructor{
      "datetime", "year=object, month=object, day=object, hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0", &construct,
      "A moment with a resolution of microseconds."};
  static const Type type = [] {
    Type t{"datetime", "datetime", &date_type()};
    t.constructor = &constructor;
    t.static_methods = static_methods();
    t.methods = methods();
    t.properties = {{"hour", &part<kMicrosAnHour, 24>, nullptr, ""},
                    {"minute", &part<kMicrosAMinute, 60>, nullptr, ""},
                    {"second", &part<kMicrosASecond, 60>, nullptr, ""},
                    {"microsecond", &part<1, kMicrosASecond>, nullptr, ""},
                    {"tzinfo", [](Interpreter&, const Value& v) { return zone_value(self_of(v).zone); }, nullptr, "The zone, or None."},
                    {"fold", [](Interpreter&, const Value&) { return Value::of(0); }, nullptr, ""}};
    return t;
  }();
  static const bool registered = register_type_object(
      type, Value::make<TypeWithConstants>(
                type, TypeWithConstants::Constants{{"min", [] { return datetime_value({kFirstDay * kMicrosADay, nullptr}); }},
                                                   {"max", [] { return datetime_value({(kLastDay + 1) * kMicrosADay - 1, nullptr}); }},
                                                   {"resolution", [] { return duration_value(1); }}}));
  (void)registered;
  return type;
}

std::string DateTime::repr(Interpreter& in) {
  const frame::Date d = frame::date_from_days(clock.days());
  const int64_t t = clock.of_day(), second = t / kMicrosASecond % 60, micro = t % kMicrosASecond;
  std::string text =
      fmt::format("datetime.datetime({}, {}, {}, {}, {}", d.year, d.month, d.day, t / kMicrosAnHour, t / kMicrosAMinute % 60);
  if (second || micro) text += fmt::format(", {}", second);
  if (micro) text += fmt::format(", {}", micro);
  if (clock.zone) text += ", tzinfo=" + gasell::repr(in, zone_value(clock.zone));
  return text + ")";
}

std::string DateTime::str(Interpreter&) { return date_text(clock.days()) + " " + clock_text(clock.of_day()) + offset_text(clock); }
std::string DateTime::format(Interpreter& in, std::string_view spec) { return spec.empty() ? str(in) : strftime(clock, spec); }

/// As the Timestamp that equals it, where nanoseconds have room for it.
int64_t DateTime::hash(Interpreter&) {
  const auto nanoseconds = frame::checked_multiply(clock.utc(), 1000);
  return hash_int(nanoseconds.value_or(clock.utc()));
}

std::optional<Value> DateTime::compare(Interpreter&, ast::CompareOp op, const Value& other) {
  const bool equality = op == ast::CompareOp::eq || op == ast::CompareOp::ne;
  const auto* t = other.as<DateTime>();
  if (!t) {
    if (other.as<PlainDate>() && !equality) raise("TypeError", "can't compare datetime.datetime to datetime.date");
    return {};
  }
  if ((t->clock.zone == nullptr) != (clock.zone == nullptr)) {
    if (equality) return Value::of(op == ast::CompareOp::ne);
    raise("TypeError", "can't compare offset-naive and offset-aware datetimes");
  }
  if (t->clock.zone == clock.zone) return Value::of(holds(op, clock.micros, t->clock.micros));
  return Value::of(holds(op, clock.utc(), t->clock.utc()));
}

std::optional<Value> DateTime::binary(Interpreter&, ast::BinaryOp op, const Value& other) {
  if (op != ast::BinaryOp::add && op != ast::BinaryOp::sub) return {};
  if (const auto* t = other.as<DateTime>(); t && op == ast::BinaryOp::sub) {
    if ((t->clock.zone == nullptr) != (clock.zone == nullptr)) raise("TypeError", "can't subtract offset-naive and offset-aware datetimes");
    return duration_value(t->clock.zone == clock.zone ? clock.micros - t->clock.micros : clock.utc() - t->clock.utc());
  }
  const auto by = duration_micros(other);
  if (!by) return {};
  const Int128 sum = op == ast::BinaryOp::add ? clock.micros + *by : clock.micros - *by;
  if (sum < Int128{kFirstDay} * kMicrosADay || sum >= (Int128{kLastDay} + 1) * kMicrosADay)
    raise("OverflowError", "date value out of range");
  return datetime_value({static_cast<int64_t>(sum), clock.zone});
}

std::optional<Value> DateTime::reflected(Interpreter& in, ast::BinaryOp op, const Value& other) {
  return op == ast::BinaryOp::add ? binary(in, op, other) : std::nullopt;
}

Value datetime_value(Clock clock) {
  if (clock.days() < kFirstDay || clock.days() > kLastDay) raise("OverflowError", "date value out of range");
  return Value::make<DateTime>(clock);
}

}  // namespace gasell::datetime
