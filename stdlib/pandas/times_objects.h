// Objects of times beside pd.Timestamp and pd.Timedelta: datetime.date, datetime.time, np.datetime64, np.timedelta64.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/frame/calendar.h"
#include "runtime/session/value.h"

namespace gasell::pandas {

/// datetime.date of days since 1970; datetime.time of nanoseconds since midnight.
Value date_value(int64_t days);
Value time_of_day_value(int64_t nanoseconds);
std::optional<int64_t> date_days(const Value& v);
bool is_date(const Value& v);

/// np.datetime64 and np.timedelta64 of nanoseconds (kNotATime: NaT), shown in nanoseconds.
Value datetime64_value(int64_t nanoseconds);
Value timedelta64_value(int64_t nanoseconds);
/// Their nanoseconds; nothing for other values. OutOfBoundsDatetime where they do not fit.
std::optional<int64_t> datetime64_nanoseconds(const Value& v);
std::optional<int64_t> timedelta64_nanoseconds(const Value& v);

/// Whether a op b, for eq to ge.
bool holds(ast::CompareOp op, int64_t a, int64_t b);

}  // namespace gasell::pandas
