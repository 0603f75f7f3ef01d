#include "runtime/frame/time_formatting.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <iterator>

#include "runtime/frame/calendar.h"

namespace gasell::frame {
namespace {

constexpr std::array<std::string_view, 12> kMonthNames = {"January", "February", "March",     "April",   "May",      "June",
                                                          "July",    "August",   "September", "October", "November", "December"};
constexpr std::array<std::string_view, 7> kWeekdayNames = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};

/// ".500000": six digits, nine where there are nanoseconds, nothing for 0.
std::string fraction_text(int nanosecond) {
  if (nanosecond == 0) return {};
  return nanosecond % 1000 == 0 ? fmt::format(".{:06}", nanosecond / 1000) : fmt::format(".{:09}", nanosecond);
}

/// Decimal digits, at least `width` characters with what fills them.
void put_number(std::string& out, int64_t value, int width, char fill) {
  char digits[20];
  int count = 0;
  const bool negative = value < 0;
  uint64_t rest = negative ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  do digits[count++] = static_cast<char>('0' + rest % 10);
  while (rest /= 10);
  if (negative) out += '-';
  for (int k = count; k < width; ++k) out += fill;
  while (count > 0) out += digits[--count];
}

}  // namespace

std::string_view month_name(int month) { return kMonthNames[static_cast<size_t>(month - 1)]; }
std::string_view weekday_name(int weekday) { return kWeekdayNames[static_cast<size_t>(weekday)]; }

TimePrecision precision_of(std::span<const int64_t> times) {
  TimePrecision precision = TimePrecision::date;
  for (const int64_t t : times) {
    if (t == kNotATime || t % kDay == 0) continue;
    const TimePrecision own = t % kSecond == 0        ? TimePrecision::seconds
                              : t % kMillisecond == 0 ? TimePrecision::milliseconds
                              : t % kMicrosecond == 0 ? TimePrecision::microseconds
                                                      : TimePrecision::nanoseconds;
    precision = std::max(precision, own);
    if (precision == TimePrecision::nanoseconds) break;
  }
  return precision;
}

std::string time_text(int64_t ns, TimePrecision precision) {
  if (ns == kNotATime) return "NaT";
  const Moment m = moment_of(ns);
  std::string text = fmt::format("{:04}-{:02}-{:02}", m.year, m.month, m.day);
  if (precision == TimePrecision::date) return text;
  fmt::format_to(std::back_inserter(text), " {:02}:{:02}:{:02}", m.hour, m.minute, m.second);
  switch (precision) {
    case TimePrecision::milliseconds: fmt::format_to(std::back_inserter(text), ".{:03}", m.nanosecond / 1'000'000); break;
    case TimePrecision::microseconds: fmt::format_to(std::back_inserter(text), ".{:06}", m.nanosecond / 1000); break;
    case TimePrecision::nanoseconds: fmt::format_to(std::back_inserter(text), ".{:09}", m.nanosecond); break;
    default: break;
  }
  return text;
}

std::string timestamp_text(int64_t ns, char between) {
  if (ns == kNotATime) return "NaT";
  const Moment m = moment_of(ns);
  return fmt::format("{:04}-{:02}-{:02}{}{:02}:{:02}:{:02}", m.year, m.month, m.day, between, m.hour, m.minute, m.second) +
         fraction_text(m.nanosecond);
}

std::string offset_text(int32_t seconds, bool colon) {
  const int32_t size = std::abs(seconds);
  std::string text = fmt::format("{}{:02}{}{:02}", seconds < 0 ? '-' : '+', size / 3600, colon ? ":" : "", size / 60 % 60);
  if (size % 60 != 0) text += fmt::format("{}{:02}", colon ? ":" : "", size % 60);
  return text;
}

std::string timedelta_repr_text(int64_t ns) {
  if (ns == kNotATime) return "NaT";
  const int64_t days = floor_divide(ns, kDay), rest = floor_modulo(ns, kDay);
  return fmt::format("{} days {}{:02}:{:02}:{:02}", days, days < 0 ? "+" : "", rest / kHour, rest / kMinute % 60, rest / kSecond % 60) +
         fraction_text(static_cast<int>(rest % kSecond));
}

std::string timedelta_iso_text(int64_t ns) {
  if (ns == kNotATime) return "NaT";
  const int64_t days = floor_divide(ns, kDay), rest = floor_modulo(ns, kDay);
  std::string text = fmt::format("P{}DT{}H{}M{}", days, rest / kHour, rest / kMinute % 60, rest / kSecond % 60);
  if (const auto fraction = static_cast<int>(rest % kSecond)) {
    std::string digits = fmt::format("{:09}", fraction);
    digits.erase(digits.find_last_not_of('0') + 1);
    text += "." + digits;
  }
  return text + "S";
}

void TimeWriter::write(std::string& out, int64_t local, int64_t utc) const {
  write(out, format_, moment_of(local), floor_divide(utc, kSecond));
}

void TimeWriter::write(std::string& out, std::string_view format, const Moment& m, int64_t utc_seconds) const {
  const auto days = [&] { return days_from_date(m.year, m.month, m.day); };
  const auto day = [&] { return weekday(days()); };
  const auto of_year = [&] { return day_of_year({m.year, m.month, m.day}); };
  const auto again = [&](std::string_view other) { write(out, other, m, utc_seconds); };
  const auto hour12 = [&] { return m.hour % 12 == 0 ? 12 : m.hour % 12; };
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      out += format[i];
      continue;
    }
    char directive = format[++i];
    const bool unpadded = directive == '-' && i + 1 < format.size();  // glibc's %-d
    if (unpadded) directive = format[++i];
    const auto number = [&](int64_t value, int width, char fill = '0') { put_number(out, value, unpadded ? 1 : width, fill); };
    switch (directive) {
      case 'a': out += weekday_name(day()).substr(0, 3); break;
      case 'A': out += weekday_name(day()); break;
      case 'w': number((day() + 1) % 7, 1); break;
      case 'u': number(day() + 1, 1); break;
      case 'd': number(m.day, 2); break;
      case 'e': number(m.day, 2, ' '); break;
      case 'b':
      case 'h': out += month_name(m.month).substr(0, 3); break;
      case 'B': out += month_name(m.month); break;
      case 'm': number(m.month, 2); break;
      case 'y': number(floor_modulo(m.year, 100), 2); break;
      case 'C': number(floor_divide(m.year, 100), 2); break;
      case 'Y': number(m.year, 1); break;
      case 'H': number(m.hour, 2); break;
      case 'k': number(m.hour, 2, ' '); break;
      case 'I': number(hour12(), 2); break;
      case 'l': number(hour12(), 2, ' '); break;
      case 'p': out += m.hour < 12 ? "AM" : "PM"; break;
      case 'P': out += m.hour < 12 ? "am" : "pm"; break;
      case 'M': number(m.minute, 2); break;
      case 'S': number(m.second, 2); break;
      case 'f': number(m.nanosecond / 1000, 6); break;
      case 'z':
        if (zone_) out += offset_text(zone_->at(utc_seconds).seconds, false);
        break;
      case 'Z':
        if (zone_) out += zone_->abbreviation(zone_->at(utc_seconds));
        break;
      case 'j': number(of_year(), 3); break;
      case 'U': number((of_year() - 1 + 7 - (day() + 1) % 7) / 7, 2); break;
      case 'W': number((of_year() - 1 + 7 - day()) / 7, 2); break;
      case 'G': number(iso_week(days()).year, 4); break;
      case 'V': number(iso_week(days()).week, 2); break;
      case 'g': number(iso_week(days()).year % 100, 2); break;
      case 'c': again("%a %b %e %H:%M:%S %Y"); break;
      case 'x':
      case 'D': again("%m/%d/%y"); break;
      case 'X':
      case 'T': again("%H:%M:%S"); break;
      case 'R': again("%H:%M"); break;
      case 'r': again("%I:%M:%S %p"); break;
      case 'F': again("%Y-%m-%d"); break;
      case 's': number(utc_seconds, 1); break;
      case 'n': out += '\n'; break;
      case 't': out += '\t'; break;
      case '%': out += '%'; break;
      default: out += unpadded ? "%-" : "%", out += directive;
    }
  }
}

std::string strftime_text(std::string_view format, int64_t local, const TimeZone* zone, int64_t utc) {
  std::string out;
  TimeWriter(format, zone).write(out, local, utc);
  return out;
}

std::string strftime_text(std::string_view format, const Moment& moment, const TimeZone* zone, int64_t utc_seconds) {
  std::string out;
  TimeWriter(format, zone).write(out, format, moment, utc_seconds);
  return out;
}

}  // namespace gasell::frame
