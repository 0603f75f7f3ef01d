// The proleptic Gregorian calendar over nanoseconds since 1970-01-01: fields of dates for single values and as array graphs (which fuse
// with what uses them and run wherever arrays do), steps by months and business days, frequencies such as "15min" or "W-MON".
//
// Conversions between days and dates follow Howard Hinnant's "chrono-compatible low-level date algorithms": years begin in March, eras have
// 400 years.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/frame/column.h"

namespace gasell::frame {

inline constexpr int64_t kMicrosecond = 1'000, kMillisecond = 1'000'000, kSecond = 1'000'000'000;
inline constexpr int64_t kMinute = 60 * kSecond, kHour = 60 * kMinute, kDay = 24 * kHour;

// ---- single dates ----
struct Date {
  int64_t year;
  int month, day;  // from 1
};
/// Days since 1970-01-01. `month` from 1 to 12; `day` may lie outside of the month.
int64_t days_from_date(int64_t year, int month, int64_t day);
Date date_from_days(int64_t days);
inline bool is_leap_year(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }
int days_in_month(int64_t year, int month);
/// 0: Monday … 6: Sunday.
int weekday(int64_t days);
/// From 1.
int day_of_year(const Date& date);
struct IsoWeek {
  int64_t year;
  int week, day;  // 1 to 53; 1: Monday … 7: Sunday
};
IsoWeek iso_week(int64_t days);

inline int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }
/// The multiple of b below a may be none of int64, as the beginning of the first day that has nanoseconds.
inline int64_t floor_modulo(int64_t a, int64_t b) {
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// A moment in parts.
struct Moment {
  int64_t year = 1970;
  int month = 1, day = 1, hour = 0, minute = 0, second = 0;
  int nanosecond = 0;  // 0 to 999'999'999
};
Moment moment_of(int64_t nanoseconds);
/// Nothing outside of what 64 bits of nanoseconds hold (1677-09-21 00:12:43.145224193 to 2262-04-11 23:47:16.854775807). Fields are in
/// their ranges.
std::optional<int64_t> nanoseconds_of(const Moment& moment);
/// a + b, a * b, or nothing where they do not fit 64 bits (or give NaT).
std::optional<int64_t> checked_add(int64_t a, int64_t b);
std::optional<int64_t> checked_multiply(int64_t a, int64_t b);

/// The same day of the month and time `months` later; the month's last day where it is shorter. NaT stays; NaT where it does not fit.
int64_t add_months(int64_t nanoseconds, int64_t months);
/// Whole business days (Monday to Friday) later, as pandas' BusinessDay rolls.
int64_t add_business_days(int64_t nanoseconds, int64_t count);

// ---- fields as array graphs ----
enum class TimeField : uint8_t {
  year,
  month,
  day,
  hour,
  minute,
  second,
  microsecond,
  nanosecond,  // microsecond: 0 to 999999; nanosecond: 0 to 999
  day_of_week,
  day_of_year,
  quarter,
  days_in_month,
  iso_year,
  iso_week,
  iso_day,
  is_month_start,
  is_month_end,
  is_quarter_start,
  is_quarter_end,
  is_year_start,
  is_year_end,
  is_leap_year,
};
/// A field of local nanoseconds: i32, or boolean for is_…, which is false for NaT; the integers of NaT rows are arbitrary.
NodeRef time_field(TimeField field, const NodeRef& nanoseconds);
/// The same of one value, for what is not NaT.
int64_t time_field(TimeField field, int64_t nanoseconds);
std::optional<TimeField> time_field_from_name(std::string_view name);  // pandas' names

enum class DurationField : uint8_t { days, seconds, microseconds, nanoseconds };
/// Days are i64, the others i32: 0 to 86399, 999999, 999. NaT rows are arbitrary.
NodeRef duration_field(DurationField field, const NodeRef& nanoseconds);
int64_t duration_field(DurationField field, int64_t nanoseconds);
std::optional<DurationField> duration_field_from_name(std::string_view name);
/// Seconds as f64, NaN for NaT.
NodeRef total_seconds(const NodeRef& nanoseconds);

enum class Rounding : uint8_t { floor, ceil, round };  // round: to the nearest, ties to the even multiple
/// To multiples of `unit` nanoseconds; NaT stays.
NodeRef rounded_time(Rounding how, const NodeRef& nanoseconds, int64_t unit);
int64_t rounded_time(Rounding how, int64_t nanoseconds, int64_t unit);
/// Nodes with NaT where `nanoseconds` has it.
NodeRef keep_missing(const NodeRef& nanoseconds, const NodeRef& result);

// ---- frequencies ----
/// pandas' offset aliases with a count in front: "D", "15min", "2h", "W-MON", "MS", "QE", "YS-JUL", "B", "BME" …
struct Frequency {
  enum class Unit : uint8_t {
    tick,
    week,
    business_day,
    month_start,
    month_end,
    quarter_start,
    quarter_end,
    year_start,
    year_end
  } unit = Unit::tick;
  int64_t count = 1;      // ticks: nanoseconds; else how many units
  int anchor = 0;         // weeks: the weekday; quarters and years: the month (1 to 12) in which they start or end
  std::string text;       // normalised, as pandas' freqstr gives it
  bool business = false;  // months, quarters and years: their first or last day from Monday to Friday ("BME", "BQS")

  bool is_fixed() const { return unit == Unit::tick; }
  bool operator==(const Frequency&) const = default;
};
/// Throws Error("ValueError", "Invalid frequency: …").
Frequency parse_frequency(std::string_view text);
/// So many nanoseconds, named by the largest unit that divides them.
Frequency tick_frequency(int64_t nanoseconds);
/// The moment itself where it is on the frequency, else the next (or the one before): pandas' rollforward and rollback.
int64_t roll_forward(const Frequency& frequency, int64_t nanoseconds);
int64_t roll_back(const Frequency& frequency, int64_t nanoseconds);
bool is_on_offset(const Frequency& frequency, int64_t nanoseconds);
/// nanoseconds + times * frequency, as pandas adds an offset: what is not on it rolls first. NaT where it does not fit.
int64_t add_frequency(const Frequency& frequency, int64_t nanoseconds, int64_t times = 1);

}  // namespace gasell::frame
