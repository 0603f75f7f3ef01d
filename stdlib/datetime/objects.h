// What the module datetime has, with Python's range (years 1 to 9999) and resolution (microseconds): dates, times of day, moments,
// durations, zones.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/frame/calendar.h"
#include "runtime/frame/time_zones.h"
#include "runtime/session/interpreter.h"
#include "runtime/session/number.h"
#include "runtime/session/objects.h"

namespace gasell::datetime {

inline constexpr int64_t kMicrosASecond = 1'000'000, kMicrosAMinute = 60 * kMicrosASecond, kMicrosAnHour = 60 * kMicrosAMinute,
                         kMicrosADay = 24 * kMicrosAnHour;
/// Days since 1970-01-01 of the first and the last date.
inline constexpr int64_t kFirstDay = -719'162, kLastDay = 2'932'896;

const Type& date_type();
const Type& time_type();
const Type& datetime_type();   // derives from date; pd.Timestamp derives from it
const Type& timedelta_type();  // pd.Timedelta derives from it
const Type& timezone_type();
const Type& zone_info_type();

class PlainDate final : public Object {
 public:
  explicit PlainDate(int64_t d) : days(d) {}
  const Type& type() const override { return date_type(); }
  std::string repr(Interpreter&) override;
  std::string str(Interpreter&) override;
  std::string format(Interpreter&, std::string_view spec) override;
  int64_t hash(Interpreter&) override { return hash_int(days); }
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;
  std::optional<Value> binary(Interpreter&, ast::BinaryOp, const Value&) override;
  std::optional<Value> reflected(Interpreter&, ast::BinaryOp, const Value&) override;
  const int64_t days;  // since 1970
};

/// A time of day without a zone.
class TimeOfDay final : public Object {
 public:
  explicit TimeOfDay(int64_t us) : micros(us) {}
  const Type& type() const override { return time_type(); }
  std::string repr(Interpreter&) override;
  std::string str(Interpreter&) override;
  std::string format(Interpreter&, std::string_view spec) override;
  int64_t hash(Interpreter&) override { return hash_int(micros); }
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;
  const int64_t micros;  // since midnight
};

/// A moment by its own clock: of a zone, or of none.
struct Clock {
  int64_t micros = 0;  // since 1970-01-01 00:00 by the clock
  const frame::TimeZone* zone = nullptr;
  int64_t days() const { return frame::floor_divide(micros, kMicrosADay); }
  int64_t of_day() const { return frame::floor_modulo(micros, kMicrosADay); }
  /// Seconds east of UTC; what the clock shows twice is the earlier moment.
  int64_t offset() const { return zone ? zone->of_local(frame::floor_divide(micros, kMicrosASecond)).first : 0; }
  int64_t utc() const { return micros - offset() * kMicrosASecond; }
};

class DateTime final : public Object {
 public:
  explicit DateTime(Clock c) : clock(c) {}
  const Type& type() const override { return datetime_type(); }
  std::string repr(Interpreter&) override;
  std::string str(Interpreter&) override;
  std::string format(Interpreter&, std::string_view spec) override;
  int64_t hash(Interpreter&) override;
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;
  std::optional<Value> binary(Interpreter&, ast::BinaryOp, const Value&) override;
  std::optional<Value> reflected(Interpreter&, ast::BinaryOp, const Value&) override;
  const Clock clock;
};

class Duration final : public Object {
 public:
  explicit Duration(Int128 us) : micros(us) {}
  const Type& type() const override { return timedelta_type(); }
  std::string repr(Interpreter&) override;
  std::string str(Interpreter&) override;
  bool truth(Interpreter&) override { return micros != 0; }
  int64_t hash(Interpreter&) override;
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;
  std::optional<Value> binary(Interpreter&, ast::BinaryOp, const Value&) override;
  std::optional<Value> reflected(Interpreter&, ast::BinaryOp, const Value&) override;
  Value unary(Interpreter&, ast::UnaryOp) override;
  /// Whole days, rounded down, and the microseconds behind them.
  int64_t days() const;
  int64_t rest() const { return static_cast<int64_t>(micros - Int128{days()} * kMicrosADay); }
  const Int128 micros;
};

/// datetime.timezone or zoneinfo.ZoneInfo.
class Zone final : public Object {
 public:
  explicit Zone(const frame::TimeZone& z) : zone(z) {}
  const Type& type() const override;
  std::string repr(Interpreter&) override;
  std::string str(Interpreter&) override;
  int64_t hash(Interpreter&) override;
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;
  const frame::TimeZone& zone;
};

// ---- to values ----
Value date_value(int64_t days);                 // OverflowError outside of the years 1 to 9999
Value datetime_value(Clock clock);              // OverflowError, as above
Value duration_value(Int128 micros);            // OverflowError from 1'000'000'000 days on
Value zone_value(const frame::TimeZone* zone);  // None for null
/// datetime.IsoCalendarDate of days since 1970.
Value iso_calendar_value(int64_t days);

// ---- from values ----
/// The clock of a datetime or a pd.Timestamp, whose nanoseconds are dropped; nothing for other values.
std::optional<Clock> clock_of(const Value& v);
/// Days of a date, which a datetime is not here.
std::optional<int64_t> days_of_date(const Value& v);
/// The zone of an argument `tz`: a timezone, a ZoneInfo, None; TypeError for others.
const frame::TimeZone* zone_argument(const Value& v);
/// Microseconds of a timedelta or a pd.Timedelta, whose nanoseconds are dropped; nothing for other values.
std::optional<Int128> duration_micros(const Value& v);

// ---- what the classes share ----
/// ValueError as Python words it where a part is outside of its range.
int64_t checked_days(int64_t year, int64_t month, int64_t day);
/// Days of the arguments year, month and day, the first three; TypeError where one is left out.
int64_t date_argument(Interpreter& in, std::span<Value> args);
int64_t checked_clock(int64_t hour, int64_t minute, int64_t second, int64_t microsecond);
bool holds(ast::CompareOp op, Int128 a, Int128 b);
std::string date_text(int64_t days);
/// "10:11:12.000013"; `precision` is isoformat's timespec.
std::string clock_text(int64_t micros, std::string_view precision = "auto");
/// "+01:00"; nothing without a zone.
std::string offset_text(const Clock& clock);
std::string strftime(const Clock& clock, std::string_view format);
/// What fromisoformat takes: days of a date; microseconds and a zone of a time of day. Nothing for other texts.
std::optional<int64_t> parse_iso_date(std::string_view text);
std::optional<Clock> parse_iso_clock(std::string_view text);
/// The arguments year, month and day, hour … where they are given, else those of what is replaced.
int64_t part_argument(Interpreter& in, const Value& v, int64_t otherwise);

/// A class with constants: date.min, timedelta.resolution.
class TypeWithConstants final : public TypeObject {
 public:
  using Constants = std::map<std::string, Value (*)(), std::less<>>;
  TypeWithConstants(const Type& t, Constants c) : TypeObject(t), constants_(std::move(c)) {}
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override;

 private:
  const Constants constants_;
};

}  // namespace gasell::datetime
