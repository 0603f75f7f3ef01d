// Formats of strptime, and guessing them.
#include <algorithm>
#include <cctype>

#include "lang/diagnostic.h"
#include "runtime/frame/calendar.h"
#include "runtime/frame/time_parsing.h"
#include "runtime/frame/time_parsing_text.h"
#include "runtime/frame/time_zones.h"

namespace gasell::frame {

using Status = ParsedTime::Status;

namespace {

/// Characters of a directive's number where it has all its digits; 0: its length varies.
size_t full_width(char directive) {
  switch (directive) {
    case 'Y': return 4;
    case 'm':
    case 'd':
    case 'H':
    case 'M':
    case 'S': return 2;
    default: return 0;
  }
}

/// Two digits, or a number above 99.
int two_digits(const char* p) {
  const unsigned tens = static_cast<unsigned char>(p[0]) - unsigned{'0'}, ones = static_cast<unsigned char>(p[1]) - unsigned{'0'};
  return tens > 9 || ones > 9 ? 1000 : static_cast<int>(tens * 10 + ones);
}

/// What the directives of a format say, until all of them are known.
struct Parts {
  Moment moment{1900, 1, 1, 0, 0, 0, 0};
  int hour12 = -1, afternoon = -1, day_of_year = -1, weekday = -1, week = -1, iso_week = -1;
  bool week_begins_sunday = false;
  std::optional<int64_t> iso_year;
  std::optional<int32_t> offset;

  ParsedTime time() {
    if (hour12 >= 0) moment.hour = afternoon < 0 ? hour12 : hour12 % 12 + 12 * afternoon;
    if (iso_year && iso_week > 0 && weekday >= 0) {
      const int64_t fourth = days_from_date(*iso_year, 1, 4);
      set_days(fourth - frame::weekday(fourth) + (iso_week - 1) * 7 + weekday);
    } else if (week >= 0 && weekday >= 0) {
      const int64_t first = days_from_date(moment.year, 1, 1);
      const int begin = week_begins_sunday ? (frame::weekday(first) + 1) % 7 : frame::weekday(first);
      const int day = week_begins_sunday ? (weekday + 1) % 7 : weekday;
      set_days(first + (week == 0 ? day - begin : (7 - begin) % 7 + 7 * (week - 1) + day));
    } else if (day_of_year > 0) {
      set_days(days_from_date(moment.year, 1, 1) + day_of_year - 1);
    }
    return checked_time(moment, offset);
  }

 private:
  void set_days(int64_t days) {
    const Date date = date_from_days(days);
    moment.year = date.year, moment.month = date.month, moment.day = date.day;
  }
};

size_t word_length(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end]))) ++end;
  return end - at;
}

/// The longest name of a month or weekday that begins at `at`.
template <class Find>
bool take_name(std::string_view text, size_t& at, bool full, int missing, Find find, int& value) {
  for (size_t length = full ? word_length(text, at) : std::min<size_t>(3, word_length(text, at)); length >= 3; --length) {
    if (!full && length != 3) return false;
    value = find(text.substr(at, length));
    if (value != missing && (!full || length > 3 || equal_letters(text.substr(at, 3), "may"))) {
      at += length;
      return true;
    }
  }
  return false;
}

}  // namespace

TimeFormat::TimeFormat(std::string_view format) : text_(format) {
  bool fixed = true;
  for (size_t i = 0; i < format.size(); ++i) {
    const char c = format[i];
    if (c != '%') {
      const bool blank = std::isspace(static_cast<unsigned char>(c));
      if (blank && !steps_.empty() && steps_.back().directive == 0 && steps_.back().literal == ' ') continue;
      steps_.push_back({0, blank ? ' ' : c});
      ++fixed_length_;
      continue;
    }
    if (++i == format.size()) throw Error("ValueError", "stray % in format '" + text_ + "'");
    const char directive = format[i];
    if (directive == '%') {
      steps_.push_back({0, '%'});
      ++fixed_length_;
      continue;
    }
    if (std::string_view("aAbBdHIjmMpSfyYzZwuUWGV").find(directive) == std::string_view::npos)
      throw Error("ValueError", std::string("'") + directive + "' is a bad directive in format '" + text_ + "'");
    steps_.push_back({directive, 0});
    fixed = fixed && full_width(directive) > 0;
    fixed_length_ += full_width(directive);
  }
  if (!fixed) fixed_length_ = 0;
}

ParsedTime TimeFormat::parse_fixed(std::string_view text) const {
  Moment m{1900, 1, 1, 0, 0, 0, 0};
  const char* p = text.data();
  int worst = 0;  // above 99 where something is no digit
  for (const Step step : steps_) {
    switch (step.directive) {
      case 0:
        if (*p++ != step.literal) return {};
        continue;
      case 'Y': {
        const int high = two_digits(p), low = two_digits(p + 2);
        worst = std::max({worst, high, low});
        m.year = high * 100 + low;
        p += 4;
        continue;
      }
      case 'm': m.month = two_digits(p); break;
      case 'd': m.day = two_digits(p); break;
      case 'H': m.hour = two_digits(p); break;
      case 'M': m.minute = two_digits(p); break;
      default: m.second = two_digits(p);
    }
    p += 2;
  }
  if (worst > 99 || m.month - 1u > 11 || m.day - 1u > 30 || m.hour > 23 || m.minute > 59 || m.second > 59) return {};
  return checked_time(m);
}

ParsedTime TimeFormat::parse(std::string_view text, bool exact) const {
  if (fixed_length_ != 0 && text.size() == fixed_length_) {
    const ParsedTime quick = parse_fixed(text);
    if (quick.ok()) return quick;
  }
  if (is_missing_time(text)) {
    ParsedTime missing;
    missing.status = Status::missing;
    return missing;
  }
  Parts parts;
  Moment& m = parts.moment;
  size_t at = 0;
  const auto number = [&](int& field, size_t most, int low, int high) {
    const size_t digits = std::min(count_digits(text, at), most);
    for (size_t take = digits; take > 0; --take) {
      const int value = number_at(text, at, take);
      if (value < low || value > high) continue;
      field = value;
      at += take;
      return true;
    }
    return false;
  };
  for (const Step step : steps_) {
    bool ok = true;
    int value = 0;
    switch (step.directive) {
      case 0:
        if (step.literal == ' ') {
          ok = at < text.size() && std::isspace(static_cast<unsigned char>(text[at]));
          while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
        } else {
          ok = at < text.size() &&
               std::tolower(static_cast<unsigned char>(text[at])) == std::tolower(static_cast<unsigned char>(step.literal));
          ++at;
        }
        break;
      case 'Y':
        ok = count_digits(text, at) >= 4;
        if (ok) m.year = number_at(text, at, 4), at += 4;
        break;
      case 'y':
        ok = count_digits(text, at) >= 2;
        if (ok) m.year = number_at(text, at, 2), m.year += m.year <= 68 ? 2000 : 1900, at += 2;
        break;
      case 'm': ok = number(m.month, 2, 1, 12); break;
      case 'd':
        if (at + 1 < text.size() && text[at] == ' ' && is_digit(text[at + 1])) ++at;
        ok = number(m.day, 2, 1, 31);
        break;
      case 'H': ok = number(m.hour, 2, 0, 23); break;
      case 'I': ok = number(parts.hour12, 2, 1, 12); break;
      case 'M': ok = number(m.minute, 2, 0, 59); break;
      case 'S': ok = number(m.second, 2, 0, 61); break;
      case 'f':
        ok = at < text.size() && is_digit(text[at]);
        if (ok) m.nanosecond = read_fraction(text.substr(0, std::min(text.size(), at + 9)), at);
        break;
      case 'j': ok = number(parts.day_of_year, 3, 1, 366); break;
      case 'p':
        ok = at + 2 <= text.size() && (equal_letters(text.substr(at, 2), "am") || equal_letters(text.substr(at, 2), "pm"));
        if (ok) parts.afternoon = equal_letters(text.substr(at, 2), "pm"), at += 2;
        break;
      case 'b': ok = take_name(text, at, false, 0, month_of_name, m.month); break;
      case 'B': ok = take_name(text, at, true, 0, month_of_name, m.month); break;
      case 'a': ok = take_name(text, at, false, -1, weekday_of_name, parts.weekday); break;
      case 'A': ok = take_name(text, at, true, -1, weekday_of_name, parts.weekday); break;
      case 'w':
        ok = number(value, 1, 0, 6);
        parts.weekday = (value + 6) % 7;
        break;
      case 'u':
        ok = number(value, 1, 1, 7);
        parts.weekday = value - 1;
        break;
      case 'U':
      case 'W':
        ok = number(parts.week, 2, 0, 53);
        parts.week_begins_sunday = step.directive == 'U';
        break;
      case 'V': ok = number(parts.iso_week, 2, 1, 53); break;
      case 'G':
        ok = count_digits(text, at) >= 4;
        if (ok) parts.iso_year = number_at(text, at, 4), at += 4;
        break;
      case 'z':
        parts.offset = read_offset(text, at);
        ok = parts.offset.has_value();
        break;
      case 'Z': {
        const size_t length = word_length(text, at);
        const std::string_view name = text.substr(at, length);
        ok = equal_letters(name, "UTC") || equal_letters(name, "GMT") || equal_letters(name, "Z");
        parts.offset = 0;
        at += length;
        break;
      }
      default: ok = false;
    }
    if (!ok) return {};
  }
  if (at > text.size()) return {};
  if (exact && at < text.size()) {
    ParsedTime trailing;
    trailing.status = Status::trailing;
    trailing.read = at;
    return trailing;
  }
  if (m.second > 59) m.second = 59;
  return parts.time();
}

// ---- guessing ----

namespace {

class Guess {
 public:
  Guess(std::string_view text, bool dayfirst) : text_(text), dayfirst_(dayfirst) {}

  std::optional<std::string> format() {
    while (at_ < text_.size() && text_[at_] == ' ') put(1);
    if (!date()) return {};
    if (at_ < text_.size() && !clock()) return {};
    while (at_ < text_.size() && text_[at_] == ' ') put(1);
    if (at_ != text_.size()) return {};
    const ParsedTime check = TimeFormat(format_).parse(text_);
    return check.ok() ? std::optional(format_) : std::nullopt;
  }

 private:
  size_t digits(size_t ahead = 0) const { return count_digits(text_, at_ + ahead); }
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  /// Literals.
  void put(size_t count) {
    format_ += text_.substr(at_, count);
    at_ += count;
  }
  void put(const char* directive, size_t count) {
    format_ += directive;
    at_ += count;
  }

  bool date() { return digits() > 0 ? date_of_numbers() : date_of_words(); }

  bool date_of_numbers() {
    const size_t first = digits();
    if (first == 8 || first == 14) {
      put("%Y%m%d", 8);
      if (first == 14) put("%H%M%S", 6);
      return true;
    }
    if (first == 4) {
      put("%Y", 4);
      if (at_ == text_.size()) return true;
      const char separator = peek();
      if (separator != '-' && separator != '/' && separator != '.' && separator != ' ') return false;
      put(1);
      const size_t month = digits();
      if (month < 1 || month > 2) return false;
      if (peek(month) != separator) {
        if (month != 2) return false;
        put("%m", month);
        return at_ == text_.size();
      }
      const size_t day = digits(month + 1);
      if (day < 1 || day > 2) return false;
      const bool day_before = dayfirst_ && number_at(text_, at_ + month + 1, day) <= 12;
      put(day_before ? "%d" : "%m", month);
      put(1);
      put(day_before ? "%m" : "%d", day);
      return true;
    }
    if (first > 2) return false;
    if (word_length(text_, at_ + first) >= 3 || word_length(text_, at_ + first + 1) >= 3) {
      put("%d", first);
      if (!std::isalpha(static_cast<unsigned char>(peek()))) put(1);
      if (!month_name_part()) return false;
      if (digits() == 0 && at_ < text_.size()) put(1);
      if (digits() != 4) return false;
      put("%Y", 4);
      return true;
    }
    const char separator = peek(first);
    if (separator != '-' && separator != '/' && separator != '.' && separator != ' ') return false;
    const size_t second = digits(first + 1);
    if (second < 1 || second > 2 || peek(first + 1 + second) != separator || digits(first + second + 2) != 4) return false;
    const int a = number_at(text_, at_, first), b = number_at(text_, at_ + first + 1, second);
    const bool day_before = a > 12 || (dayfirst_ && b <= 12);
    put(day_before ? "%d" : "%m", first);
    put(1);
    put(day_before ? "%m" : "%d", second);
    put(1);
    put("%Y", 4);
    return true;
  }

  bool month_name_part() {
    const size_t length = word_length(text_, at_);
    if (month_of_name(text_.substr(at_, length)) == 0) return false;
    put(length == 3 ? "%b" : "%B", length);
    return true;
  }

  bool date_of_words() {
    size_t length = word_length(text_, at_);
    if (length < 3) return false;
    if (weekday_of_name(text_.substr(at_, length)) >= 0) {
      put(length == 3 ? "%a" : "%A", length);
      if (peek() == ',') put(1);
      if (peek() != ' ') return false;
      put(1);
      if (digits() > 0) return date_of_numbers();
      length = word_length(text_, at_);
    }
    if (!month_name_part()) return false;
    if (peek() != ' ' && peek() != '-') return false;
    put(1);
    const size_t day = digits();
    if (day < 1 || day > 2) return false;
    put("%d", day);
    if (peek() == ',') put(1);
    if (peek() != ' ' && peek() != '-') return false;
    put(1);
    if (digits() != 4) return false;
    put("%Y", 4);
    return true;
  }

  bool clock() {
    if (peek() == ' ' && at_ + 1 == text_.size()) return true;
    if (peek() != 'T' && peek() != ' ') return false;
    put(1);
    const size_t first = digits();
    if (first == 4 || first == 6) {
      put(first == 4 ? "%H%M" : "%H%M%S", first);
    } else {
      if (first < 1 || first > 2) return false;
      const size_t hour_place = format_.size();
      const int hour = number_at(text_, at_, first);
      put("%H", first);
      if (peek() == ':') {
        put(1);
        if (digits() < 1 || digits() > 2) return false;
        put("%M", digits());
        if (peek() == ':') {
          put(1);
          if (digits() < 1 || digits() > 2) return false;
          put("%S", digits());
          if (peek() == '.' && digits(1) >= 1 && digits(1) <= 9) {
            put(1);
            put("%f", digits());
          }
        }
      }
      const size_t blank = peek() == ' ' ? 1 : 0;
      const std::string_view half = text_.substr(std::min(text_.size(), at_ + blank), 2);
      if (equal_letters(half, "am") || equal_letters(half, "pm")) {
        if (equal_letters(half, "pm") || hour == 0 || hour > 12) return false;
        put(blank);
        put("%p", 2);
        format_.replace(hour_place, 2, "%I");
        return true;
      }
    }
    if (peek() == 'Z' || peek() == '+' || peek() == '-') {
      size_t end = at_;
      if (!read_offset(text_, end)) return false;
      put("%z", end - at_);
    } else if (text_.substr(at_) == " UTC") {
      put(1);
      put("%Z", 3);
    }
    return true;
  }

  const std::string_view text_;
  const bool dayfirst_;
  size_t at_ = 0;
  std::string format_;
};

}  // namespace

std::optional<std::string> guess_time_format(std::string_view text, bool dayfirst) { return Guess(text, dayfirst).format(); }

}  // namespace gasell::frame
