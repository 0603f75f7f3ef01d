// Durations from text, in the forms of pd.Timedelta.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "lang/diagnostic.h"
#include "runtime/frame/calendar.h"
#include "runtime/frame/time_parsing.h"
#include "runtime/frame/time_parsing_text.h"

namespace gasell::frame {
namespace {

[[noreturn]] void refuse(std::string message) { throw Error("ValueError", std::move(message)); }

constexpr int64_t kWeek = 7 * kDay;
__extension__ typedef __int128 Int128;

constexpr std::pair<std::string_view, int64_t> kUnits[] = {{"W", kWeek},
                                                           {"w", kWeek},
                                                           {"weeks", kWeek},
                                                           {"week", kWeek},
                                                           {"D", kDay},
                                                           {"d", kDay},
                                                           {"days", kDay},
                                                           {"day", kDay},
                                                           {"hours", kHour},
                                                           {"hour", kHour},
                                                           {"hr", kHour},
                                                           {"h", kHour},
                                                           {"H", kHour},
                                                           {"m", kMinute},
                                                           {"minute", kMinute},
                                                           {"min", kMinute},
                                                           {"minutes", kMinute},
                                                           {"T", kMinute},
                                                           {"t", kMinute},
                                                           {"s", kSecond},
                                                           {"seconds", kSecond},
                                                           {"sec", kSecond},
                                                           {"second", kSecond},
                                                           {"S", kSecond},
                                                           {"ms", kMillisecond},
                                                           {"milliseconds", kMillisecond},
                                                           {"millisecond", kMillisecond},
                                                           {"milli", kMillisecond},
                                                           {"millis", kMillisecond},
                                                           {"L", kMillisecond},
                                                           {"l", kMillisecond},
                                                           {"us", kMicrosecond},
                                                           {"microseconds", kMicrosecond},
                                                           {"microsecond", kMicrosecond},
                                                           {"µs", kMicrosecond},
                                                           {"micro", kMicrosecond},
                                                           {"micros", kMicrosecond},
                                                           {"u", kMicrosecond},
                                                           {"U", kMicrosecond},
                                                           {"ns", 1},
                                                           {"nanoseconds", 1},
                                                           {"nano", 1},
                                                           {"nanos", 1},
                                                           {"nanosecond", 1},
                                                           {"n", 1},
                                                           {"N", 1}};

int64_t unit_of(std::string_view name) {
  if (name == "M" || name == "Y" || name == "y")
    refuse("Units 'M', 'Y' and 'y' do not represent unambiguous timedelta values and are not supported.");
  if (const auto unit = timedelta_unit(name)) return *unit;
  refuse("invalid unit abbreviation: " + std::string(name));
}

/// Digits and what stands behind their point, times a unit: exact, below a nanosecond cut off.
Int128 scaled(std::string_view whole, std::string_view fraction, int64_t unit) {
  Int128 value = 0;
  for (const char c : whole) {
    value = value * 10 + (c - '0');
    if (value > INT64_MAX) break;
  }
  value *= unit;
  Int128 part = 0, ten = 1;
  for (const char c : fraction.substr(0, 15)) part = part * 10 + (c - '0'), ten *= 10;
  return value + part * unit / ten;
}

/// Sums are wider than what they must fit into in the end: "-106752 days +00:12:43.145224193" is the least duration.
int64_t narrowed(Int128 total) {
  if (total > INT64_MAX || total <= INT64_MIN) throw Error("OutOfBoundsTimedelta", "Python int too large to convert to C long");
  return static_cast<int64_t>(total);
}

/// "P1DT2H3M4.5S".
int64_t parse_iso_duration(std::string_view text, std::string_view whole) {
  const auto bad = [&] { refuse("Invalid ISO 8601 Duration format - " + std::string(whole)); };
  Int128 total = 0;
  bool in_time = false, any = false;
  text.remove_prefix(1);
  while (!text.empty()) {
    if (text[0] == 'T' && !in_time) {
      in_time = true;
      text.remove_prefix(1);
      continue;
    }
    const size_t digits = count_digits(text, 0);
    size_t end = digits;
    std::string_view fraction;
    if (end < text.size() && text[end] == '.') {
      const size_t more = count_digits(text, end + 1);
      fraction = text.substr(end + 1, more);
      end += 1 + more;
    }
    if (digits == 0 || end >= text.size()) bad();
    int64_t unit = 0;
    switch (text[end]) {
      case 'W': unit = in_time ? 0 : kWeek; break;
      case 'D': unit = in_time ? 0 : kDay; break;
      case 'H': unit = in_time ? kHour : 0; break;
      case 'M': unit = in_time ? kMinute : 0; break;
      case 'S': unit = in_time ? kSecond : 0; break;
      default: break;
    }
    if (unit == 0) bad();
    total += scaled(text.substr(0, digits), fraction, unit);
    narrowed(total);
    any = true;
    text.remove_prefix(end + 1);
  }
  if (!any) bad();
  return narrowed(total);
}

/// What is read piece by piece: "1 days", "02:03:04.5", "3h".
class DurationReader {
 public:
  explicit DurationReader(std::string_view text) : text_(text) {}

  int64_t read() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == ',') {
        ++at_;
      } else if (c == '-' || c == '+') {
        if (c == '-' && (any_ || negative_)) refuse("only leading negative signs are allowed");
        if (c == '-') negative_ = true;
        ++at_;
      } else if (is_digit(c)) {
        amount();
      } else {
        refuse("unit abbreviation w/o a number");
      }
    }
    if (!any_) refuse(at_ == 0 ? "no units specified" : "unit abbreviation w/o a number");
    return narrowed(negative_ ? -total_ : total_);
  }

 private:
  void amount() {
    const std::string_view whole = digits();
    if (at_ < text_.size() && text_[at_] == ':') return clock(whole);
    std::string_view fraction;
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      fraction = digits();
    }
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalpha(static_cast<unsigned char>(text_[at_])) || static_cast<unsigned char>(text_[at_]) >= 0x80))
      ++at_;
    const std::string_view unit = text_.substr(begin, at_ - begin);
    if (unit.empty()) {
      if (at_ < text_.size()) refuse(any_ ? "have leftover units" : "symbols w/o a number");
      if (any_) refuse("have leftover units");
      if (!fraction.empty() || text_.back() == '.') refuse("no units specified");
      add(scaled(whole, {}, 1));  // nanoseconds
      return;
    }
    add(scaled(whole, fraction, unit_of(unit)));
  }

  void clock(std::string_view hours) {
    // Of "-1 days 02:00:00" only the days are negative.
    if (any_ && std::exchange(negative_, false)) total_ = -total_;
    ++at_;
    const std::string_view minutes = digits();
    if (minutes.empty() || minutes.size() > 2 || at_ >= text_.size() || text_[at_] != ':') refuse("expected hh:mm:ss format");
    ++at_;
    const std::string_view seconds = digits();
    if (seconds.empty() || seconds.size() > 2) refuse("expected hh:mm:ss format");
    std::string_view fraction;
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      fraction = digits();
    }
    add(scaled(hours, {}, kHour));
    add(scaled(minutes, {}, kMinute));
    add(scaled(seconds, fraction, kSecond));
  }

  std::string_view digits() {
    const size_t count = count_digits(text_, at_);
    at_ += count;
    return text_.substr(at_ - count, count);
  }
  void add(Int128 part) {
    total_ += part;
    any_ = true;
  }

  const std::string_view text_;
  size_t at_ = 0;
  Int128 total_ = 0;
  bool any_ = false;
  bool negative_ = false;  // what follows
};

}  // namespace

std::optional<int64_t> timedelta_unit(std::string_view name) {
  if (name == "M") return {};
  const auto same_letters = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  for (const auto& [known, unit] : kUnits)
    if (std::equal(known.begin(), known.end(), name.begin(), name.end(), same_letters)) return unit;
  return {};
}

int64_t parse_timedelta(std::string_view text) {
  if (is_missing_time(text)) return kNotATime;
  const bool negative = text.starts_with("-P");
  if (text[0] == 'P' || negative) {
    const int64_t value = parse_iso_duration(text.substr(negative), text);
    return negative ? -value : value;
  }
  return DurationReader(text).read();
}

int64_t scaled_time(double number, int64_t unit) {
  if (std::isnan(number)) return kNotATime;
  const double whole = std::trunc(number);
  const double nanoseconds = whole * static_cast<double>(unit);
  if (std::abs(nanoseconds) >= 9.2233720368547758e18)
    throw Error("OutOfBoundsTimedelta", "Cannot cast " + std::to_string(number) + " to 'ns' without overflow.");
  // The fraction is rounded to as many digits as the unit has below it, before it is scaled.
  int digits = 0;
  for (int64_t u = unit; u >= 10; u /= 10) ++digits;
  const double scale = std::pow(10.0, digits);
  const double fraction = std::nearbyint((number - whole) * scale) / scale;
  return static_cast<int64_t>(whole) * unit + static_cast<int64_t>(fraction * static_cast<double>(unit));
}

}  // namespace gasell::frame
