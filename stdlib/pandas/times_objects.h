// Objects of times beside pd.Timestamp and pd.Timedelta: np.datetime64, np.timedelta64.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/frame/calendar.h"
#include "runtime/session/value.h"

namespace gasell::pandas {

/// np.datetime64 and np.timedelta64 of nanoseconds (kNotATime: NaT), shown in nanoseconds.
Value datetime64_value(int64_t nanoseconds);
Value timedelta64_value(int64_t nanoseconds);
/// Their nanoseconds; nothing for other values. OutOfBoundsDatetime where they do not fit.
std::optional<int64_t> datetime64_nanoseconds(const Value& v);
std::optional<int64_t> timedelta64_nanoseconds(const Value& v);

}  // namespace gasell::pandas
