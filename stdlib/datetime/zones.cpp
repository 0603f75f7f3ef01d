// datetime.timezone, zoneinfo.ZoneInfo, and the modules datetime and zoneinfo.
#include <fmt/format.h>

#include "runtime/frame/time_formatting.h"
#include "runtime/session/type_objects.h"
#include "runtime/session/types.h"
#include "stdlib/bindings.h"
#include "stdlib/datetime/objects.h"
#include "stdlib/modules.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell {
namespace datetime {

using frame::TimeZone;

namespace {

using Args = std::span<Value>;

const Zone& self_of(const Value& v) { return *v.as<Zone>(); }

/// Offsets that are no zone of the database are named UTC, or UTC+01:00.
bool is_fixed(const TimeZone& zone) { return zone.name().starts_with("UTC"); }
int32_t fixed_offset(const TimeZone& zone) { return zone.at(0).seconds; }

Value construct_timezone(Interpreter&, Args args) {
  const auto offset = duration_micros(args[0]);
  if (!offset) raise("TypeError", "timezone() argument 1 must be datetime.timedelta, not " + type_of(args[0]).name);
  if (!is_missing(args[1])) raise("NotImplementedError", "timezone(name=) is not in Gasell: zones of fixed offsets are named by them");
  if (*offset <= -kMicrosADay || *offset >= kMicrosADay)
    raise("ValueError", "offset must be a timedelta strictly between -timedelta(hours=24) and timedelta(hours=24).");
  if (*offset % kMicrosASecond != 0) raise("NotImplementedError", "offsets of fractions of seconds are not in Gasell");
  const auto seconds = static_cast<int32_t>(*offset / kMicrosASecond);
  return Value::make<Zone>(TimeZone::named(seconds == 0 ? "UTC" : frame::offset_text(seconds, true)));
}

Value construct_zone_info(Interpreter& in, Args args) {
  const std::string key = gasell::str(in, args[0]);
  try {
    return Value::make<Zone>(TimeZone::named(key));
  } catch (const Error&) {
    raise("ZoneInfoNotFoundError", "No time zone found with key " + key);
  }
}

/// The offset, abbreviation … of a moment that is given, which zones of fixed offsets need not look at.
Clock clock_argument(const Value& self, const Value& moment) {
  const auto clock = clock_of(moment);
  return {clock ? clock->micros : 0, &self_of(self).zone};
}

std::vector<NativeFunction> zone_methods() {
  return {{"utcoffset", "dt, /", [](Interpreter&, Args a) { return duration_value(clock_argument(a[0], a[1]).offset() * kMicrosASecond); },
           "How far its clock is ahead of UTC."},
          {"tzname", "dt, /", [](Interpreter&, Args a) { return make_str(strftime(clock_argument(a[0], a[1]), "%Z")); },
           "Its abbreviation at a moment."}};
}

const Type& tzinfo_type() {
  static const Type type{"tzinfo", "datetime", &object_type()};
  return type;
}

void register_zone_exceptions() {
  static const Type not_found{"ZoneInfoNotFoundError", "zoneinfo._common", exception_type("KeyError")};
  static const bool registered = (register_exception(not_found), true);
  (void)registered;
}

}  // namespace

const Type& timezone_type() {
  static const NativeFunction constructor{"timezone", "offset, name=object", &construct_timezone, "A zone of a fixed offset from UTC."};
  static const Type type = [] {
    Type t{"timezone", "datetime", &tzinfo_type()};
    t.constructor = &constructor;
    t.methods = zone_methods();
    return t;
  }();
  static const bool registered = register_type_object(
      type,
      Value::make<TypeWithConstants>(type, TypeWithConstants::Constants{{"utc", [] { return zone_value(&TimeZone::named("UTC")); }}}));
  (void)registered;
  return type;
}

const Type& zone_info_type() {
  static const NativeFunction constructor{"ZoneInfo", "key", &construct_zone_info, "A zone of the IANA database."};
  static const Type type = [] {
    Type t{"ZoneInfo", "zoneinfo", &tzinfo_type()};
    t.constructor = &constructor;
    t.methods = zone_methods();
    t.properties = {{"key", [](Interpreter&, const Value& v) { return make_str(self_of(v).zone.name()); }, nullptr, "Its name."}};
    return t;
  }();
  return type;
}

const Type& Zone::type() const { return is_fixed(zone) ? timezone_type() : zone_info_type(); }

std::string Zone::repr(Interpreter& in) {
  if (!is_fixed(zone)) return "zoneinfo.ZoneInfo(key='" + zone.name() + "')";
  if (zone.is_utc()) return "datetime.timezone.utc";
  return "datetime.timezone(" + gasell::repr(in, duration_value(fixed_offset(zone) * kMicrosASecond)) + ")";
}
std::string Zone::str(Interpreter&) { return zone.name(); }
int64_t Zone::hash(Interpreter&) {
  return is_fixed(zone) ? fixed_offset(zone) : static_cast<int64_t>(std::hash<std::string>{}(zone.name()) >> 2);
}

std::optional<Value> Zone::compare(Interpreter&, ast::CompareOp op, const Value& other) {
  const auto* z = other.as<Zone>();
  if (!z || (op != ast::CompareOp::eq && op != ast::CompareOp::ne)) return {};
  return Value::of((&zone == &z->zone) == (op == ast::CompareOp::eq));
}

Value zone_value(const TimeZone* zone) { return zone ? Value::make<Zone>(*zone) : Value(); }

const TimeZone* zone_argument(const Value& v) {
  if (v.is_none() || is_missing(v)) return nullptr;
  const auto* z = v.as<Zone>();
  if (!z) raise("TypeError", "tzinfo argument must be None or of a tzinfo subclass, not type '" + type_of(v).name + "'");
  return &z->zone;
}

std::optional<Clock> clock_of(const Value& v) {
  if (const auto* d = v.as<DateTime>()) return d->clock;
  if (const auto* t = v.as<pandas::Timestamp>()) return Clock{frame::floor_divide(t->local(), 1000), t->zone};
  return {};
}

std::optional<Int128> duration_micros(const Value& v) {
  if (const auto* d = v.as<Duration>()) return d->micros;
  if (const auto* t = v.as<pandas::Timedelta>()) return frame::floor_divide(t->nanoseconds, 1000);
  return {};
}

}  // namespace datetime

Value make_datetime(Interpreter&) {
  using namespace datetime;
  Value module = Value::make<Module>("datetime");
  set_member(module, "date", type_object(date_type()));
  set_member(module, "time", type_object(time_type()));
  set_member(module, "datetime", type_object(datetime_type()));
  set_member(module, "timedelta", type_object(timedelta_type()));
  set_member(module, "timezone", type_object(timezone_type()));
  set_member(module, "tzinfo", type_object(tzinfo_type()));
  set_member(module, "UTC", zone_value(&frame::TimeZone::named("UTC")));
  set_member(module, "MINYEAR", Value::of(1));
  set_member(module, "MAXYEAR", Value::of(9999));
  return module;
}

Value make_zoneinfo(Interpreter&) {
  datetime::register_zone_exceptions();
  Value module = Value::make<Module>("zoneinfo");
  set_member(module, "ZoneInfo", type_object(datetime::zone_info_type()));
  return module;
}

}  // namespace gasell
