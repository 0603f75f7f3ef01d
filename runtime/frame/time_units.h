// Moments and durations as counts of a unit, as NumPy's datetime64 and timedelta64 hold them: conversion between units by the proleptic
// Gregorian calendar, texts of ISO 8601. Years of any size; sums and products wrap around at 64 bits as NumPy's do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gasell::frame {

/// From the largest; generic: counts that have no unit yet.
enum class TimeUnit : uint8_t { Y, M, W, D, h, m, s, ms, us, ns, generic };

/// "Y", "M", …, "generic".
std::string_view name_of(TimeUnit unit);
/// "years", "months", …, "generic time units".
std::string_view words_of(TimeUnit unit);
std::optional<TimeUnit> time_unit_named(std::string_view name);
/// Nanoseconds of a unit; 0 of months and years, which have no length; 1 of generic.
int64_t nanoseconds_of(TimeUnit unit);
/// Whether durations of both have a unit in common: years and months have none with the others.
bool have_common_unit(TimeUnit a, TimeUnit b);
/// The finer one; generic takes the other.
TimeUnit finer_unit(TimeUnit a, TimeUnit b);

/// A count of one unit as the count of another, rounded down; kNotATime stays. A month is as long as those of 400 years are on average.
int64_t convert_duration(int64_t count, TimeUnit from, TimeUnit to);
/// The same of units since 1970: months and years begin with their first day.
int64_t convert_moment(int64_t count, TimeUnit from, TimeUnit to);
/// Nanoseconds since 1970, or of a duration; nothing where they do not fit. kNotATime stays.
std::optional<int64_t> moment_nanoseconds(int64_t count, TimeUnit unit);
std::optional<int64_t> duration_nanoseconds(int64_t count, TimeUnit unit);

struct TimeText {
  int64_t count;
  TimeUnit unit;
};
/// What a text of ISO 8601 says ("2024", "-0044-03-15", "2024-01-31T12:00:00.5", "NaT"), in `wanted` or the unit of its last part.
/// Error("ValueError", …) as NumPy words it; NotImplementedError for zones and what nanoseconds do not hold.
TimeText parse_time_text(std::string_view text, std::optional<TimeUnit> wanted);
/// ISO 8601 down to the unit; "NaT".
std::string time_text(int64_t count, TimeUnit unit);

}  // namespace gasell::frame
