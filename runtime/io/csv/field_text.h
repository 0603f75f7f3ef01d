// Numbers and times as the text of fields, into memory that is there.
#pragma once

#include <cstdint>

#include "runtime/frame/time_formatting.h"

namespace gasell::csv {

/// No text of these functions is longer.
inline constexpr int kLongestField = 48;

/// The shortest digits that read back as the same number, as Python places them: "2.5", "1e-05", "-inf"; not of NaN. All return the end of
/// the text.
char* put_float(char* to, double value);
char* put_float(char* to, float value);
char* put_integer(char* to, int64_t value);
char* put_integer(char* to, uint64_t value);
/// "2020-01-31 10:11:12.500", of local nanoseconds; not of NaT.
char* put_time(char* to, int64_t local_nanoseconds, frame::TimePrecision precision);

}  // namespace gasell::csv
