// Between NumPy's times and nanoseconds, and the members of pandas that are about times.
#include "stdlib/pandas/times_objects.h"

#include "stdlib/numpy/time_scalars.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell::pandas {

using namespace frame;

Value datetime64_value(int64_t ns) { return Value::make<numpy::TimeScalar>(true, ns, TimeUnit::ns); }
Value timedelta64_value(int64_t ns) { return Value::make<numpy::TimeScalar>(false, ns, TimeUnit::ns); }

std::optional<int64_t> datetime64_nanoseconds(const Value& v) {
  const auto* t = v.as<numpy::TimeScalar>();
  if (!t || !t->moment) return {};
  const auto ns = moment_nanoseconds(t->count, t->unit);
  if (!ns) raise("OutOfBoundsDatetime", "Out of bounds nanosecond timestamp");
  return ns;
}
std::optional<int64_t> timedelta64_nanoseconds(const Value& v) {
  const auto* t = v.as<numpy::TimeScalar>();
  if (!t || t->moment) return {};
  const auto ns = duration_nanoseconds(t->count, t->unit);
  if (!ns) raise("OutOfBoundsTimedelta", "Cannot cast a duration to unit='ns' without overflow");
  return ns;
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

}  // namespace gasell::pandas
