// datetime.time.
#include <fmt/format.h>

#include "runtime/session/type_objects.h"
#include "runtime/session/types.h"
#include "stdlib/datetime/objects.h"

namespace gasell::datetime {
namespace {

using Args = std::span<Value>;

const TimeOfDay& self_of(const Value& v) { return *v.as<TimeOfDay>(); }

void refuse_zone(const Value& zone) {
  if (!zone.is_none() && !is_missing(zone))
    raise("NotImplementedError", "datetime.time(tzinfo=) is not in Gasell yet", "moments have zones: datetime(…, tzinfo=)");
}

Value construct(Interpreter& in, Args args) {
  refuse_zone(args[4]);
  if (to_index(in, args[5]) != 0) raise("NotImplementedError", "datetime.time(fold=1) is not in Gasell");
  return Value::make<TimeOfDay>(checked_clock(to_index(in, args[0]), to_index(in, args[1]), to_index(in, args[2]), to_index(in, args[3])));
}

template <int64_t unit, int64_t count>
Value part(Interpreter&, const Value& v) {
  return Value::of(self_of(v).micros / unit % count);
}

Value of_iso_text(Interpreter& in, Args args) {
  const auto* text = args[0].as<Str>();
  if (!text) raise("TypeError", "fromisoformat: argument must be str");
  const std::string_view plain = text->value;
  const auto clock = parse_iso_clock(plain.starts_with('T') ? plain.substr(1) : plain);
  if (!clock) raise("ValueError", "Invalid isoformat string: " + gasell::repr(in, args[0]));
  if (clock->zone) raise("NotImplementedError", "datetime.time with a time zone is not in Gasell yet");
  return Value::make<TimeOfDay>(clock->micros);
}

Value replace(Interpreter& in, Args args) {
  const int64_t t = self_of(args[0]).micros;
  refuse_zone(args[5]);
  return Value::make<TimeOfDay>(
      checked_clock(part_argument(in, args[1], t / kMicrosAnHour), part_argument(in, args[2], t / kMicrosAMinute % 60),
                    part_argument(in, args[3], t / kMicrosASecond % 60), part_argument(in, args[4], t % kMicrosASecond)));
}

}  // namespace

const Type& time_type() {
  static const NativeFunction constructor{"time", "hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0", &construct,
                                          "A time of day."};
  static const Type type = [] {
    Type t{"time", "datetime", &object_type()};
    t.constructor = &constructor;
    t.properties = {{"hour", &part<kMicrosAnHour, 24>, nullptr, ""},
                    {"minute", &part<kMicrosAMinute, 60>, nullptr, ""},
                    {"second", &part<kMicrosASecond, 60>, nullptr, ""},
                    {"microsecond", &part<1, kMicrosASecond>, nullptr, ""},
                    {"tzinfo", [](Interpreter&, const Value&) { return Value(); }, nullptr, "None."}};
    t.static_methods = {{"fromisoformat", "time_string, /", &of_iso_text, "A time of day from ISO 8601."}};
    t.methods = {
        {"isoformat", "timespec='auto'",
         [](Interpreter& in, Args a) { return make_str(clock_text(self_of(a[0]).micros, gasell::str(in, a[1]))); }, "10:11:12"},
        {"strftime", "format",
         [](Interpreter& in, Args a) {
           return make_str(
               strftime({frame::days_from_date(1900, 1, 1) * kMicrosADay + self_of(a[0]).micros, nullptr}, gasell::str(in, a[1])));
         },
         "The time as text."},
        {"replace", "hour=object, minute=object, second=object, microsecond=object, tzinfo=None", &replace, "The time with other fields."}};
    return t;
  }();
  static const bool registered = register_type_object(
      type,
      Value::make<TypeWithConstants>(type, TypeWithConstants::Constants{{"min", [] { return Value::make<TimeOfDay>(0); }},
                                                                        {"max", [] { return Value::make<TimeOfDay>(kMicrosADay - 1); }},
                                                                        {"resolution", [] { return duration_value(1); }}}));
  (void)registered;
  return type;
}

std::string TimeOfDay::repr(Interpreter&) {
  std::string text = fmt::format("datetime.time({}, {}", micros / kMicrosAnHour, micros / kMicrosAMinute % 60);
  const int64_t second = micros / kMicrosASecond % 60, micro = micros % kMicrosASecond;
  if (second || micro) text += fmt::format(", {}", second);
  if (micro) text += fmt::format(", {}", micro);
  return text + ")";
}
std::string TimeOfDay::str(Interpreter&) { return clock_text(micros); }
std::string TimeOfDay::format(Interpreter&, std::string_view spec) {
  return spec.empty() ? clock_text(micros) : strftime({frame::days_from_date(1900, 1, 1) * kMicrosADay + micros, nullptr}, spec);
}

std::optional<Value> TimeOfDay::compare(Interpreter&, ast::CompareOp op, const Value& other) {
  const auto* t = other.as<TimeOfDay>();
  return t ? std::optional(Value::of(holds(op, micros, t->micros))) : std::nullopt;
}

}  // namespace gasell::datetime
