// What time.localtime() and datetime's timetuple() give.
#pragma once

#include <array>

#include "runtime/session/value.h"

namespace gasell {

/// time.struct_time of year, month, day, hour, minute, second, weekday (0: Monday), day of the year, and whether it is summer time (-1:
/// unknown).
Value struct_time(const std::array<int64_t, 9>& parts);

}  // namespace gasell
