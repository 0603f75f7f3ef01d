#include "runtime/io/csv/dates.h"

namespace gasell::csv {
namespace {

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

/// Reads a text from the left.
struct Reader {
  const char* at;
  const char* end;

  bool take(char c) {
    if (at == end || *at != c) return false;
    ++at;
    return true;
  }
  bool two(int& value) {
    if (end - at < 2 || !is_digit(at[0]) || !is_digit(at[1])) return false;
    value = (at[0] - '0') * 10 + (at[1] - '0');
    at += 2;
    return true;
  }
  bool four(int& value) {
    int high, low;
    if (!two(high) || !two(low)) return false;
    value = high * 100 + low;
    return true;
  }
  /// 1 to 9 digits of a second, as nanoseconds.
  bool fraction(int64_t& nanoseconds) {
    nanoseconds = 0;
    int count = 0;
    for (; at < end && is_digit(*at); ++at, ++count)
      if (count < 9) nanoseconds = nanoseconds * 10 + (*at - '0');
    if (count == 0) return false;
    for (; count < 9; ++count) nanoseconds *= 10;
    return true;
  }
  /// Z, +02:00, +0200 or +02, in seconds.
  bool zone(int64_t& seconds) {
    seconds = 0;
    if (take('Z') || take('z')) return true;
    const bool negative = at < end && *at == '-';
    if (!negative && (at == end || *at != '+')) return false;
    ++at;
    int hours = 0, minutes = 0;
    if (!two(hours)) return false;
    if (at < end) {
      take(':');
      if (!two(minutes)) return false;
    }
    seconds = (hours * 60 + minutes) * (negative ? -60 : 60);
    return minutes < 60 && hours < 24;
  }
};

bool is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }
int days_in(int year, int month) {
  constexpr int kLengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kLengths[month - 1];
}

/// Days since 1970-01-01: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms".
int64_t days_from_civil(int year, int month, int day) {
  year -= month <= 2;
  const int era = (year >= 0 ? year : year - 399) / 400;
  const int year_of_era = year - era * 400;
  const int day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return static_cast<int64_t>(era) * 146097 + day_of_era - 719468;
}

struct Moment {
  int year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0;
  int64_t nanoseconds = 0, zone = 0;

  std::optional<int64_t> count() const {
    if (month < 1 || month > 12 || day < 1 || day > days_in(year, month) || hour > 23 || minute > 59 || second > 59) return {};
    const int64_t seconds = days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - zone;
    int64_t result;
    if (__builtin_mul_overflow(seconds, int64_t{1000000000}, &result) || __builtin_add_overflow(result, nanoseconds, &result)) return {};
    if (result == INT64_MIN) return {};
    return result;
  }
};

std::optional<int64_t> parse_iso(std::string_view text, const DateFormat& format) {
  Reader in{text.data(), text.data() + text.size()};
  Moment moment;
  const bool dashes = format.dashes;
  if (!in.four(moment.year) || (dashes && !in.take('-')) || !in.two(moment.month) || (dashes && !in.take('-')) || !in.two(moment.day))
    return {};
  if (format.between) {
    if (!in.take(format.between) || !in.two(moment.hour) || !in.take(':') || !in.two(moment.minute)) return {};
    if (format.seconds && (!in.take(':') || !in.two(moment.second))) return {};
    if (format.fraction && (!in.take('.') || !in.fraction(moment.nanoseconds))) return {};
    if (format.zone && !in.zone(moment.zone)) return {};
  }
  return in.at == in.end ? moment.count() : std::nullopt;
}

std::optional<DateFormat> guess_iso(std::string_view text) {
  DateFormat format;
  format.form = DateFormat::Form::iso;
  Reader in{text.data(), text.data() + text.size()};
  int unused;
  if (!in.four(unused)) return {};
  format.dashes = in.take('-');
  if (!in.two(unused) || (format.dashes && !in.take('-')) || !in.two(unused)) return {};
  if (in.at < in.end) {
    if (*in.at != ' ' && *in.at != 'T') return {};
    format.between = *in.at++;
    if (!in.two(unused) || !in.take(':') || !in.two(unused)) return {};
    format.seconds = in.take(':');
    if (format.seconds && !in.two(unused)) return {};
    int64_t nanoseconds, zone;
    format.fraction = format.seconds && in.take('.');
    if (format.fraction && !in.fraction(nanoseconds)) return {};
    format.zone = in.at < in.end;
    if (format.zone && !in.zone(zone)) return {};
  }
  if (in.at != in.end || !parse_iso(text, format)) return {};
  return format;
}

}  // namespace

DateFormat free_format(bool day_first) {
  DateFormat format;
  format.form = DateFormat::Form::free;
  format.day_first = day_first;
  return format;
}

DateFormat format_of(const std::string& strptime) {
  DateFormat format;
  format.form = DateFormat::Form::general;
  format.general = std::make_shared<frame::TimeFormat>(strptime);
  format.zone = strptime.find("%z") != std::string::npos;
  const auto iso = [&](std::string_view rest) {
    if (rest.empty()) return true;
    if (rest[0] != ' ' && rest[0] != 'T') return false;
    format.between = rest[0];
    rest.remove_prefix(1);
    format.seconds = rest.find("%S") != std::string_view::npos;
    format.fraction = rest.find("%f") != std::string_view::npos;
    return rest == "%H:%M" || rest == "%H:%M:%S" || rest == "%H:%M:%S.%f" || rest == "%H:%M:%S%z" || rest == "%H:%M:%S.%f%z";
  };
  for (const std::string_view date : {"%Y-%m-%d", "%Y%m%d"})
    if (strptime.starts_with(date) && iso(std::string_view(strptime).substr(date.size()))) {
      format.form = DateFormat::Form::iso;
      format.dashes = date.size() == 8;
    }
  return format;
}

std::optional<DateFormat> guess_format(std::string_view text, bool day_first) {
  if (auto iso = guess_iso(text)) return iso;
  DateFormat format;
  if (const std::optional<std::string> strptime = frame::guess_time_format(text, day_first)) {
    format = format_of(*strptime);
  } else {
    format = free_format(day_first);
  }
  if (!parse_date(text, format)) return {};
  return format;
}

std::optional<int64_t> parse_date(std::string_view text, const DateFormat& format) {
  if (format.form == DateFormat::Form::iso) return parse_iso(text, format);
  if (format.form == DateFormat::Form::none) return {};
  const frame::ParsedTime time =
      format.form == DateFormat::Form::free ? frame::parse_free_time(text, format.day_first) : format.general->parse(text);
  if (!time.ok() || time.utc() == frame::kNotATime) return {};
  return time.utc();
}

}  // namespace gasell::csv
