// What the classes of datetime share: parts in their ranges, texts of ISO 8601.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "runtime/frame/time_formatting.h"
#include "stdlib/datetime/objects.h"
#include "stdlib/named_tuple.h"

namespace gasell::datetime {
namespace {

/// So many digits from `at` on, which goes behind them; nothing where there are fewer.
std::optional<int64_t> digits(std::string_view text, size_t& at, size_t count) {
  if (at + count > text.size()) return {};
  int64_t value = 0;
  for (size_t end = at + count; at < end; ++at) {
    if (text[at] < '0' || text[at] > '9') return {};
    value = value * 10 + (text[at] - '0');
  }
  return value;
}

bool take(std::string_view text, size_t& at, char c) { return at < text.size() && text[at] == c && (++at, true); }

/// Hours, minutes, seconds and a fraction, with colons or without; microseconds.
std::optional<int64_t> iso_time_of_day(std::string_view text) {
  std::array<int64_t, 3> parts{};
  size_t at = 0;
  bool colons = false;
  int64_t fraction = 0;
  for (size_t k = 0; k < 3; ++k) {
    if (k > 0) {
      if (at == text.size()) break;
      const bool colon = take(text, at, ':');
      if (k == 1) colons = colon;
      if (colon != colons) return {};
    }
    const auto part = digits(text, at, 2);
    if (!part) return {};
    parts[k] = *part;
    if (k == 2 && at < text.size()) {
      if (!take(text, at, '.') && !take(text, at, ',')) return {};
      const size_t begin = at;
      while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
      if (at == begin || at != text.size()) return {};
      std::string six(text.substr(begin, 6));
      six.resize(6, '0');
      size_t first = 0;
      fraction = *digits(six, first, 6);
    }
  }
  if (at != text.size() || parts[0] > 23 || parts[1] > 59 || parts[2] > 59) return {};
  return parts[0] * kMicrosAnHour + parts[1] * kMicrosAMinute + parts[2] * kMicrosASecond + fraction;
}

}  // namespace

int64_t part_argument(Interpreter& in, const Value& v, int64_t otherwise) { return is_missing(v) ? otherwise : to_index(in, v); }

int64_t date_argument(Interpreter& in, std::span<Value> args) {
  static constexpr const char* kNames[] = {"year", "month", "day"};
  for (size_t k = 0; k < 3; ++k)
    if (is_missing(args[k])) raise("TypeError", fmt::format("function missing required argument '{}' (pos {})", kNames[k], k + 1));
  return checked_days(to_index(in, args[0]), to_index(in, args[1]), to_index(in, args[2]));
}

int64_t checked_days(int64_t year, int64_t month, int64_t day) {
  if (year < 1 || year > 9999) raise("ValueError", fmt::format("year {} is out of range", year));
  if (month < 1 || month > 12) raise("ValueError", "month must be in 1..12");
  if (day < 1 || day > frame::days_in_month(year, static_cast<int>(month))) raise("ValueError", "day is out of range for month");
  return frame::days_from_date(year, static_cast<int>(month), day);
}

int64_t checked_clock(int64_t hour, int64_t minute, int64_t second, int64_t microsecond) {
  if (hour < 0 || hour > 23) raise("ValueError", "hour must be in 0..23");
  if (minute < 0 || minute > 59) raise("ValueError", "minute must be in 0..59");
  if (second < 0 || second > 59) raise("ValueError", "second must be in 0..59");
  if (microsecond < 0 || microsecond > 999'999) raise("ValueError", "microsecond must be in 0..999999");
  return hour * kMicrosAnHour + minute * kMicrosAMinute + second * kMicrosASecond + microsecond;
}

bool holds(ast::CompareOp op, Int128 a, Int128 b) {
  using enum ast::CompareOp;
  switch (op) {
    case eq: return a == b;
    case ne: return a != b;
    case lt: return a < b;
    case le: return a <= b;
    case gt: return a > b;
    default: return a >= b;
  }
}

std::string date_text(int64_t days) {
  const frame::Date d = frame::date_from_days(days);
  return fmt::format("{:04}-{:02}-{:02}", d.year, d.month, d.day);
}

std::string clock_text(int64_t micros, std::string_view precision) {
  const int64_t fraction = micros % kMicrosASecond;
  const std::string hours = fmt::format("{:02}", micros / kMicrosAnHour),
                    minutes = hours + fmt::format(":{:02}", micros / kMicrosAMinute % 60);
  const std::string seconds = minutes + fmt::format(":{:02}", micros / kMicrosASecond % 60);
  if (precision == "auto") return fraction ? seconds + fmt::format(".{:06}", fraction) : seconds;
  if (precision == "hours") return hours;
  if (precision == "minutes") return minutes;
  if (precision == "seconds") return seconds;
  if (precision == "milliseconds") return seconds + fmt::format(".{:03}", fraction / 1000);
  if (precision == "microseconds") return seconds + fmt::format(".{:06}", fraction);
  raise("ValueError", "Unknown timespec value");
}

std::string offset_text(const Clock& clock) { return clock.zone ? frame::offset_text(static_cast<int32_t>(clock.offset()), true) : ""; }

std::string strftime(const Clock& clock, std::string_view format) {
  const frame::Date date = frame::date_from_days(clock.days());
  const int64_t time = clock.of_day();
  const frame::Moment moment{date.year,
                             date.month,
                             date.day,
                             static_cast<int>(time / kMicrosAnHour),
                             static_cast<int>(time / kMicrosAMinute % 60),
                             static_cast<int>(time / kMicrosASecond % 60),
                             static_cast<int>(time % kMicrosASecond * 1000)};
  return frame::strftime_text(format, moment, clock.zone, frame::floor_divide(clock.utc(), kMicrosASecond));
}

std::optional<int64_t> parse_iso_date(std::string_view text) {
  size_t at = 0;
  const auto year = digits(text, at, 4);
  if (!year || *year < 1) return {};
  const bool dashes = take(text, at, '-');
  if (take(text, at, 'W')) {
    const auto week = digits(text, at, 2);
    std::optional<int64_t> day = 1;
    if (week && at < text.size()) {
      if (take(text, at, '-') != dashes) return {};
      day = digits(text, at, 1);
    }
    if (!week || !day || at != text.size() || *day < 1 || *day > 7) return {};
    const int64_t fourth = frame::days_from_date(*year, 1, 4), found = fourth - frame::weekday(fourth) + (*week - 1) * 7 + *day - 1;
    if (frame::iso_week(found).week != *week || found < kFirstDay || found > kLastDay) return {};
    return found;
  }
  const auto month = digits(text, at, 2);
  if (!month || take(text, at, '-') != dashes) return {};
  const auto day = digits(text, at, 2);
  if (!day || at != text.size() || *month < 1 || *month > 12 || *day < 1 || *day > frame::days_in_month(*year, static_cast<int>(*month)))
    return {};
  return frame::days_from_date(*year, static_cast<int>(*month), *day);
}

std::optional<Clock> parse_iso_clock(std::string_view text) {
  const size_t sign = text.find_first_of("+-Z");
  const auto time = iso_time_of_day(text.substr(0, sign));
  if (!time) return {};
  if (sign == text.npos) return Clock{*time, nullptr};
  if (text[sign] == 'Z') return sign + 1 == text.size() ? std::optional(Clock{*time, &frame::TimeZone::named("UTC")}) : std::nullopt;
  const auto offset = iso_time_of_day(text.substr(sign + 1));
  if (!offset || *offset % kMicrosAMinute != 0) return {};
  const auto seconds = static_cast<int32_t>(*offset / kMicrosASecond);
  return Clock{*time, &frame::TimeZone::named(seconds == 0 ? "UTC" : frame::offset_text(text[sign] == '-' ? -seconds : seconds, true))};
}

Value iso_calendar_value(int64_t days) {
  const frame::IsoWeek week = frame::iso_week(days);
  return make_named_result("datetime", "datetime.IsoCalendarDate", {"year", "week", "weekday"},
                           {Value::of(week.year), Value::of(week.week), Value::of(week.day)});
}

std::optional<Value> TypeWithConstants::get_attribute(Interpreter& in, std::string_view name) {
  if (auto known = constants_.find(name); known != constants_.end()) return known->second();
  return TypeObject::get_attribute(in, name);
}

}  // namespace gasell::datetime
