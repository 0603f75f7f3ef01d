// ISO 8601 and the free forms of dates.
#include "runtime/frame/time_parsing.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>

#include "runtime/frame/calendar.h"
#include "runtime/frame/time_formatting.h"
#include "runtime/frame/time_parsing_text.h"

namespace gasell::frame {

using Status = ParsedTime::Status;

int64_t ParsedTime::utc() const {
  if (!ok()) return kNotATime;
  return offset ? checked_add(local, -static_cast<int64_t>(*offset) * kSecond).value_or(kNotATime) : local;
}

bool is_missing_time(std::string_view text) {
  if (text.empty()) return true;
  if (text.size() > 4) return false;
  for (const std::string_view missing : {"NaT", "nat", "NAT", "nan", "NaN", "NAN", "None", "<NA>"})
    if (text == missing) return true;
  return false;
}

ParsedTime checked_time(const Moment& moment, std::optional<int32_t> offset) {
  ParsedTime result;
  const auto bad = [&](const char* problem) {
    result.status = Status::bad_date;
    result.problem = problem;
    return result;
  };
  if (moment.month < 1 || moment.month > 12) return bad("month must be in 1..12");
  if (moment.day < 1 || moment.day > days_in_month(moment.year, moment.month)) return bad("day is out of range for month");
  if (moment.hour < 0 || moment.hour > 23) return bad("hour must be in 0..23");
  if (moment.minute < 0 || moment.minute > 59) return bad("minute must be in 0..59");
  if (moment.second < 0 || moment.second > 59) return bad("second must be in 0..59");
  const auto local = nanoseconds_of(moment);
  result.status = local ? Status::ok : Status::out_of_bounds;
  result.local = local.value_or(0);
  result.offset = offset;
  return result;
}

int month_of_name(std::string_view word) {
  if (word.size() < 3) return 0;
  for (int month = 1; month <= 12; ++month) {
    const std::string_view name = month_name(month);
    if (equal_letters(word, name) || equal_letters(word, name.substr(0, 3)) || (month == 9 && equal_letters(word, "sept"))) return month;
  }
  return 0;
}

int weekday_of_name(std::string_view word) {
  for (int day = 0; day < 7; ++day)
    if (equal_letters(word, weekday_name(day)) || equal_letters(word, weekday_name(day).substr(0, 3))) return day;
  return -1;
}

std::optional<int32_t> read_offset(std::string_view text, size_t& at) {
  if (at >= text.size()) return {};
  if (text[at] == 'Z' || text[at] == 'z') {
    ++at;
    return 0;
  }
  if (text[at] != '+' && text[at] != '-') return {};
  size_t end = at + 1;
  int hours = 0, minutes = 0, seconds = 0;
  const size_t digits = count_digits(text, end);
  if (digits != 1 && digits != 2 && digits != 4 && digits != 6) return {};
  if (digits >= 4) {
    hours = number_at(text, end, 2), minutes = number_at(text, end + 2, 2);
    if (digits == 6) seconds = number_at(text, end + 4, 2);
    end += digits;
  } else {
    hours = number_at(text, end, digits);
    end += digits;
    if (end + 2 < text.size() && text[end] == ':' && count_digits(text, end + 1) >= 2) {
      minutes = number_at(text, end + 1, 2);
      end += 3;
      if (end + 2 < text.size() && text[end] == ':' && count_digits(text, end + 1) >= 2) seconds = number_at(text, end + 1, 2), end += 3;
    }
  }
  if (hours > 23 || minutes > 59 || seconds > 59) return {};
  const int32_t offset = hours * 3600 + minutes * 60 + seconds;
  const bool negative = text[at] == '-';
  at = end;
  return negative ? -offset : offset;
}

int read_fraction(std::string_view text, size_t& at) {
  int value = 0, digits = 0;
  for (; at < text.size() && is_digit(text[at]); ++at, ++digits)
    if (digits < 9) value = value * 10 + (text[at] - '0');
  for (; digits < 9; ++digits) value *= 10;
  return value;
}

namespace {

ParsedTime missing_time() {
  ParsedTime result;
  result.status = Status::missing;
  return result;
}

}  // namespace

ParsedTime parse_iso_time(std::string_view text) {
  if (is_missing_time(text)) return missing_time();
  ParsedTime none;
  Moment m;
  size_t at = 0;
  while (at < text.size() && text[at] == ' ') ++at;
  const auto take_number = [&](int& field, size_t least, size_t most) {
    const size_t digits = std::min(count_digits(text, at), most);
    if (digits < least) return false;
    field = number_at(text, at, digits);
    at += digits;
    return true;
  };
  if (count_digits(text, at) < 4) return none;
  m.year = number_at(text, at, 4);
  at += 4;
  const auto end = [&] { return at >= text.size(); };
  if (end()) return checked_time(m, {});
  const bool separated = !is_digit(text[at]);
  const char separator = text[at];
  if (separated) {
    if (separator != '-' && separator != '/' && separator != '.' && separator != ' ') return none;
    ++at;
    if (!take_number(m.month, 1, 2)) return none;
    if (!end()) {
      if (text[at] != separator) return none;
      ++at;
      if (!take_number(m.day, 1, 2)) return none;
    }
  } else {
    const size_t digits = count_digits(text, at);
    if (digits != 4 && digits != 8 && digits != 10) return none;  // 202001 is not a month
    m.month = number_at(text, at, 2), m.day = number_at(text, at + 2, 2);
    at += 4;
    if (digits > 4) {
      m.hour = number_at(text, at, 2), m.minute = number_at(text, at + 2, 2);
      if (digits == 10) m.second = number_at(text, at + 4, 2);
      return at + digits - 4 == text.size() ? checked_time(m, {}) : none;
    }
  }
  if (end()) return checked_time(m, {});
  if (text[at] != 'T' && text[at] != ' ' && text[at] != 't') return none;
  ++at;
  if (end()) return checked_time(m, {});
  const size_t digits = count_digits(text, at);
  if (digits == 4 || digits == 6) {
    m.hour = number_at(text, at, 2), m.minute = number_at(text, at + 2, 2);
    if (digits == 6) m.second = number_at(text, at + 4, 2);
    at += digits;
  } else {
    if (!take_number(m.hour, 1, 2)) return none;
    if (!end() && text[at] == ':') {
      ++at;
      if (!take_number(m.minute, 1, 2)) return none;
      if (!end() && text[at] == ':') {
        ++at;
        if (!take_number(m.second, 1, 2)) return none;
      }
    }
  }
  if (!end() && (text[at] == '.' || text[at] == ',') && at + 1 < text.size() && is_digit(text[at + 1]))
    m.nanosecond = read_fraction(text, ++at);
  size_t zone = at;
  while (zone < text.size() && text[zone] == ' ') ++zone;
  if (zone == text.size()) return checked_time(m, {});
  const auto offset = read_offset(text, zone);
  return offset && zone == text.size() ? checked_time(m, offset) : none;
}

namespace {

/// The pieces of a free text: runs of digits, runs of letters, and single other characters.
struct Token {
  enum class Kind : uint8_t { digits, letters, other } kind;
  std::string_view text;
};
std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    Token::Kind kind = Token::Kind::other;
    if (is_digit(text[i])) {
      kind = Token::Kind::digits;
      while (end < text.size() && is_digit(text[end])) ++end;
    } else if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      kind = Token::Kind::letters;
      while (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end]))) ++end;
    }
    tokens.push_back({kind, text.substr(i, end - i)});
    i = end;
  }
  return tokens;
}

int64_t now_in_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// A year of two digits lies at most fifty years ahead.
int full_year(int value, size_t digits) {
  if (digits > 2) return value;
  const auto now = static_cast<int>(date_from_days(floor_divide(now_in_seconds(), 86400)).year);
  int year = now / 100 * 100 + value;
  if (year >= now + 50) year -= 100;
  if (year < now - 50) year += 100;
  return year;
}

/// "2020Q2", "2020-Q2", "2Q2020", "2Q20".
std::optional<ParsedTime> parse_quarter(std::string_view text) {
  const size_t q = text.find_first_of("Qq");
  if (q == text.npos || text.size() < 4 || text.size() > 7) return {};
  std::string_view left = text.substr(0, q), right = text.substr(q + 1);
  if (!left.empty() && left.back() == '-') left.remove_suffix(1);
  if (!right.empty() && right.front() == '-') right.remove_prefix(1);
  if (left.empty() || right.empty() || count_digits(left, 0) != left.size() || count_digits(right, 0) != right.size()) return {};
  const bool year_first = left.size() > 1;
  const std::string_view year = year_first ? left : right, quarter = year_first ? right : left;
  if (quarter.size() != 1 || (year.size() != 4 && year.size() != 2)) return {};
  const int number = quarter[0] - '0';
  ParsedTime result;
  if (number < 1 || number > 4) {
    result.status = Status::bad_date;
    result.problem = "Incorrect quarterly string is given, quarter must be between 1 and 4";
    return result;
  }
  Moment m;
  m.year = year.size() == 4 ? number_at(year, 0, 4) : 2000 + number_at(year, 0, 2);
  m.month = number * 3 - 2;
  return checked_time(m, {});
}

class FreeReader {
 public:
  FreeReader(std::string_view text, bool dayfirst, bool yearfirst) : dayfirst_(dayfirst), yearfirst_(yearfirst), tokens_(tokens_of(text)) {}

  ParsedTime read() {
    for (at_ = 0; at_ < tokens_.size();)
      if (!step()) return {};
    return result();
  }

 private:
  struct Number {
    int value;
    size_t digits;
  };

  std::string_view peek(size_t ahead) const { return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead].text : std::string_view(); }
  bool digits_at(size_t ahead) const { return at_ + ahead < tokens_.size() && tokens_[at_ + ahead].kind == Token::Kind::digits; }
  int value_at(size_t ahead) const { return number_at(peek(ahead), 0, std::min<size_t>(peek(ahead).size(), 9)); }

  bool step() {
    const Token& token = tokens_[at_];
    switch (token.kind) {
      case Token::Kind::digits: return number();
      case Token::Kind::letters: return word();
      case Token::Kind::other: break;
    }
    const char c = token.text[0];
    if (has_time_ && !offset_ && (c == '+' || c == '-') && digits_at(1)) return offset();
    ++at_;
    return c == ' ' || c == ',' || c == '-' || c == '/' || c == '.' || c == ';';
  }

  bool number() {
    const std::string_view digits = peek(0);
    if (peek(1) == ":" && digits_at(2)) return clock();
    const size_t blank = peek(1) == " " ? 1 : 0;
    if (const std::string_view half = peek(1 + blank);
        !has_time_ && digits.size() <= 2 && (equal_letters(half, "am") || equal_letters(half, "pm"))) {
      moment_.hour = value_at(0);
      has_time_ = true;
      at_ += 1 + blank;
      return true;
    }
    if (digits.size() == 8 || digits.size() == 12 || digits.size() == 14) {
      if (!numbers_.empty()) return false;
      numbers_ = {{number_at(digits, 0, 4), 4}, {number_at(digits, 4, 2), 2}, {number_at(digits, 6, 2), 2}};
      if (digits.size() > 8) {
        moment_.hour = number_at(digits, 8, 2), moment_.minute = number_at(digits, 10, 2);
        if (digits.size() == 14) moment_.second = number_at(digits, 12, 2);
        has_time_ = true;
      }
      ++at_;
      return true;
    }
    if (digits.size() == 6 && numbers_.empty()) {
      numbers_ = {{number_at(digits, 0, 2), 2}, {number_at(digits, 2, 2), 2}, {number_at(digits, 4, 2), 2}};
      yearfirst_ = true;
      ++at_;
      return true;
    }
    if (digits.size() > 4 || numbers_.size() + (month_ > 0) >= 3) {
      // An hour behind a whole date: "2020-01-01 10".
      if (digits.size() > 2 || has_time_) return false;
      moment_.hour = value_at(0);
      has_time_ = true;
      ++at_;
      return true;
    }
    numbers_.push_back({value_at(0), digits.size()});
    ++at_;
    return true;
  }

  bool clock() {
    if (has_time_) return false;
    has_time_ = true;
    moment_.hour = value_at(0), moment_.minute = value_at(2);
    at_ += 3;
    if (peek(0) == ":" && digits_at(1)) {
      moment_.second = value_at(1);
      at_ += 2;
      if ((peek(0) == "." || peek(0) == ",") && digits_at(1)) {
        size_t place = 0;
        moment_.nanosecond = read_fraction(peek(1), place);
        at_ += 2;
      }
    }
    return true;
  }

  bool offset() {
    std::string text(peek(0));
    text += peek(1);
    at_ += 2;
    if (peek(0) == ":" && digits_at(1)) {
      text += ":" + std::string(peek(1));
      at_ += 2;
    }
    size_t place = 0;
    offset_ = read_offset(text, place);
    return offset_ && place == text.size();
  }

  bool word() {
    const std::string_view word = peek(0);
    ++at_;
    if (equal_letters(word, "am") || equal_letters(word, "pm")) {
      if (!has_time_ || moment_.hour > 12) return false;
      if (moment_.hour == 12) moment_.hour = 0;
      if (equal_letters(word, "pm")) moment_.hour += 12;
      return true;
    }
    if (const int month = month_of_name(word)) {
      if (month_) return false;
      month_ = month;
      return true;
    }
    if (weekday_of_name(word) >= 0) return true;
    if (word == "Z" || word == "UTC" || word == "GMT") {
      if (!has_time_) return false;
      offset_ = 0;
      return true;
    }
    for (const std::string_view filler : {"T", "at", "on", "and", "of", "st", "nd", "rd", "th", "h", "m", "s"})
      if (equal_letters(word, filler)) return true;
    return false;
  }

  ParsedTime result() {
    if (!resolve()) return {};
    return checked_time(moment_, offset_);
  }

  /// Which of the numbers is the year, the month, the day.
  bool resolve() {
    const auto set_year = [&](const Number& n) { moment_.year = full_year(n.value, n.digits); };
    const auto is_year = [](const Number& n) { return n.digits > 2 || n.value > 31; };
    const auto& n = numbers_;
    if (month_) {
      moment_.month = month_;
      if (n.empty() || n.size() > 2) return false;
      if (n.size() == 1) {
        if (!is_year(n[0])) return false;  // a day without a year
        set_year(n[0]);
        return true;
      }
      const bool first = is_year(n[0]) || (yearfirst_ && !is_year(n[1]));
      set_year(n[first ? 0 : 1]);
      moment_.day = n[first ? 1 : 0].value;
      return true;
    }
    if (n.empty()) return today();
    if (n.size() == 1) {
      if (n[0].digits != 4) return false;
      moment_.year = n[0].value;
      return true;
    }
    if (n.size() == 2) {
      const bool first = is_year(n[0]);
      if (!first && !is_year(n[1])) return false;
      set_year(n[first ? 0 : 1]);
      moment_.month = n[first ? 1 : 0].value;
      return true;
    }
    if (is_year(n[0]) || (yearfirst_ && n[1].value <= 12 && n[2].value <= 31)) {
      set_year(n[0]);
      const bool day_before = dayfirst_ && n[2].value <= 12;
      moment_.month = n[day_before ? 2 : 1].value;
      moment_.day = n[day_before ? 1 : 2].value;
      return true;
    }
    set_year(n[2]);
    const bool day_before = n[0].value > 12 || (dayfirst_ && n[1].value <= 12);
    moment_.day = n[day_before ? 0 : 1].value;
    moment_.month = n[day_before ? 1 : 0].value;
    return true;
  }

  /// A time alone is today's.
  bool today() {
    if (!has_time_) return false;
    const Date date = date_from_days(floor_divide(now_in_seconds(), 86400));
    moment_.year = date.year, moment_.month = date.month, moment_.day = date.day;
    return true;
  }

  const bool dayfirst_;
  bool yearfirst_;
  const std::vector<Token> tokens_;
  size_t at_ = 0;
  Moment moment_;
  std::vector<Number> numbers_;
  int month_ = 0;
  bool has_time_ = false;
  std::optional<int32_t> offset_;
};

}  // namespace

ParsedTime parse_free_time(std::string_view text, bool dayfirst, bool yearfirst) {
  const ParsedTime iso = parse_iso_time(text);
  if (iso.status != Status::no_match) return iso;
  if (text == "now" || text == "today") {
    ParsedTime result;
    result.status = Status::ok;
    result.local =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count() * kMicrosecond;
    return result;
  }
  if (const auto quarter = parse_quarter(text)) return *quarter;
  return FreeReader(text, dayfirst, yearfirst).read();
}

}  // namespace gasell::frame
