// Text of numbers and numbers from text.
#include "runtime/session/number.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "fast_float/fast_float.h"
#include "runtime/session/big_integer.h"
#include "runtime/session/format_spec.h"
#include "runtime/session/str_text.h"

namespace gasell {
namespace {

/// The shortest digits of a finite non-negative value and where the point stands: value = 0.DIGITS * 10^point.
template <class F>
Decimal shortest_digits(F v) {
  if (v == 0) return {"0", 1};
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific).ptr;
  return decimal_from_scientific({buffer, static_cast<size_t>(end - buffer)});
}

template <class F>
std::string shortest_text(F v, bool dot_zero) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  const Decimal d = shortest_digits(std::abs(v));
  const bool exponent = d.point <= -4 || d.point > 16;
  return (std::signbit(v) ? "-" : "") + decimal_text(d, exponent, static_cast<int>(d.digits.size()), dot_zero, false, 'e');
}

/// Digits of other scripts as ASCII, any white space as ' ': what the number parsers work on. Nullopt: a code point that no number holds.
std::optional<std::string> to_ascii_number(std::string_view text) {
  if (is_ascii(text)) {
    std::string out(text);
    for (char& c : out) {
      if (is_space(static_cast<unsigned char>(c))) c = ' ';
    }
    return out;
  }
  std::string out;
  for (const char32_t c : decode(text)) {
    if (is_space(c))
      out += ' ';
    else if (c < 128)
      out += static_cast<char>(c);
    else if (const int digit = decimal_digit(c); digit >= 0)
      out += static_cast<char>('0' + digit);
    else
      return std::nullopt;
  }
  return out;
}

std::string_view strip_blanks(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
bool equals_ignoring_case(std::string_view a, std::string_view lower_b) {
  if (a.size() != lower_b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower_b[i]) return false;
  }
  return true;
}

/// Digits with single underscores between them, from `at`; the underscores left out. Moves `at` past them. False: a misplaced underscore.
bool read_digits(std::string_view s, size_t& at, std::string& out) {
  bool digit_before = false;
  while (at < s.size()) {
    if (is_digit(s[at])) {
      out += s[at];
      digit_before = true;
    } else if (s[at] == '_') {
      if (!digit_before || at + 1 >= s.size() || !is_digit(s[at + 1])) return false;
      digit_before = false;
    } else {
      break;
    }
    ++at;
  }
  return true;
}

/// A float at the start of `s`; nullopt: none. Moves `at` past it.
std::optional<double> read_float(std::string_view s, size_t& at) {
  size_t p = at;
  bool negative = false;
  if (p < s.size() && (s[p] == '+' || s[p] == '-')) negative = s[p++] == '-';
  const auto word = [&](std::string_view w) { return equals_ignoring_case(s.substr(p, w.size()), w); };
  if (word("infinity") || word("inf")) {
    at = p + (word("infinity") ? 8 : 3);
    return negative ? -HUGE_VAL : HUGE_VAL;
  }
  if (word("nan")) {
    at = p + 3;
    return std::copysign(std::nan(""), negative ? -1.0 : 1.0);
  }
  std::string digits;
  if (!read_digits(s, p, digits)) return std::nullopt;
  const bool whole = !digits.empty();
  bool fraction = false;
  if (p < s.size() && s[p] == '.') {
    digits += '.';
    ++p;
    const size_t before = digits.size();
    if (!read_digits(s, p, digits)) return std::nullopt;
    fraction = digits.size() > before;
  }
  if (!whole && !fraction) return std::nullopt;
  if (p < s.size() && (s[p] == 'e' || s[p] == 'E')) {
    size_t q = p + 1;
    std::string exponent = "e";
    if (q < s.size() && (s[q] == '+' || s[q] == '-')) exponent += s[q++];
    const size_t before = exponent.size();
    if (!read_digits(s, q, exponent)) return std::nullopt;
    if (exponent.size() > before) {
      digits += exponent;
      p = q;
    }
  }
  double value = 0;
  fast_float::from_chars(digits.data(), digits.data() + digits.size(), value);
  at = p;
  return negative ? -value : value;
}

int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  const char l = lower(c);
  return l >= 'a' && l <= 'z' ? l - 'a' + 10 : 99;
}

}  // namespace

std::string float_repr(double v) { return shortest_text(v, true); }
std::string float_repr(float v) { return shortest_text(v, true); }

std::string complex_repr(std::complex<double> v) {
  const std::string imaginary = shortest_text(v.imag(), false);
  if (v.real() == 0 && !std::signbit(v.real())) return imaginary + "j";
  return "(" + shortest_text(v.real(), false) + (imaginary.front() == '-' ? "" : "+") + imaginary + "j)";
}

std::string no_integer(std::string_view text, int64_t base) {
  return "invalid literal for int() with base " + std::to_string(base) + ": " + str_repr(text);
}
std::string no_float(std::string_view text) { return "could not convert string to float: " + str_repr(text); }

Value parse_integer(std::string_view text, int64_t base) {
  if (base != 0 && (base < 2 || base > 36)) raise("ValueError", "int() base must be >= 2 and <= 36, or 0");
  if (std::optional<Value> value = read_integer(text, base)) return *std::move(value);
  raise("ValueError", no_integer(text, base));
}

std::optional<Value> read_integer(std::string_view text, int64_t base) {
  const auto ascii = to_ascii_number(text);
  if (!ascii) return {};
  std::string_view s = strip_blanks(*ascii);
  bool negative = false;
  if (!s.empty() && (s.front() == '+' || s.front() == '-')) {
    negative = s.front() == '-';
    s.remove_prefix(1);
  }
  int radix = static_cast<int>(base);
  bool prefix = false;
  if (s.size() > 1 && s[0] == '0') {
    const char letter = lower(s[1]);
    const int named = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
    if (named != 0 && (base == 0 || base == named)) {
      radix = named;
      prefix = true;
      s.remove_prefix(2);
    }
  }
  const bool only_zero = base == 0 && !prefix && !s.empty() && s[0] == '0';  // 010 is no literal, 000 is
  if (radix == 0) radix = 10;
  bool underscore_allowed = prefix, any = false, overflow = false;
  uint64_t magnitude = 0;
  std::string digits;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '_') {
      if (!underscore_allowed || i + 1 == s.size()) return {};
      underscore_allowed = false;
      continue;
    }
    const int digit = digit_value(s[i]);
    if (digit >= radix) return {};
    digits += s[i];
    overflow |= __builtin_mul_overflow(magnitude, static_cast<uint64_t>(radix), &magnitude);
    overflow |= __builtin_add_overflow(magnitude, static_cast<uint64_t>(digit), &magnitude);
    any = underscore_allowed = true;
  }
  if (!any || (only_zero && (magnitude != 0 || overflow))) return {};
  const uint64_t limit = static_cast<uint64_t>(INT64_MAX) + (negative ? 1 : 0);
  if (overflow || magnitude > limit) {
    const BigInteger value = parse_digits(digits, radix);
    return make_integer(negative ? BigInteger(-value) : value);
  }
  return Value::of(negative ? static_cast<int64_t>(0 - magnitude) : static_cast<int64_t>(magnitude));
}

int64_t parse_int(std::string_view text, int64_t base) {
  const Value v = parse_integer(text, base);
  if (!v.is_int()) raise_int_overflow("int()");
  return v.as_int();
}

std::optional<double> read_float(std::string_view text) {
  const auto ascii = to_ascii_number(text);
  if (!ascii) return {};
  const std::string_view s = strip_blanks(*ascii);
  size_t at = 0;
  const auto value = read_float(s, at);
  return value && at == s.size() ? value : std::nullopt;
}

double parse_float(std::string_view text) {
  if (const std::optional<double> value = read_float(text)) return *value;
  raise("ValueError", no_float(text));
}

std::complex<double> parse_complex(std::string_view text) {
  const auto fail = []() { raise("ValueError", "complex() arg is a malformed string"); };
  const auto ascii = to_ascii_number(text);
  if (!ascii) fail();
  for (size_t i = 0; i < ascii->size(); ++i) {
    const bool between_digits = i > 0 && i + 1 < ascii->size() && is_digit((*ascii)[i - 1]) && is_digit((*ascii)[i + 1]);
    if ((*ascii)[i] == '_' && !between_digits) raise("ValueError", "could not convert string to complex: " + str_repr(text));
  }
  std::string_view s = strip_blanks(*ascii);
  if (!s.empty() && s.front() == '(') {
    if (s.back() != ')' || s.size() < 2) fail();
    s = strip_blanks(s.substr(1, s.size() - 2));
  }
  if (s.empty()) fail();
  const auto is_j = [&](size_t at) { return at < s.size() && (s[at] == 'j' || s[at] == 'J'); };
  size_t at = 0;
  std::complex<double> result;
  /// The coefficient of a bare "j", "+j", "-j" at `at`.
  const auto unit = [&]() -> std::optional<double> {
    size_t p = at;
    double sign = 1;
    if (p < s.size() && (s[p] == '+' || s[p] == '-')) sign = s[p++] == '-' ? -1 : 1;
    if (!is_j(p)) return std::nullopt;
    at = p;
    return sign;
  };
  if (const auto first = read_float(s, at)) {
    if (is_j(at)) {
      result = {0, *first};
      ++at;
    } else if (at < s.size() && (s[at] == '+' || s[at] == '-')) {
      auto second = read_float(s, at);
      if (!second) second = unit();
      if (!second || !is_j(at)) fail();
      result = {*first, *second};
      ++at;
    } else {
      result = *first;
    }
  } else if (const auto sign = unit()) {
    result = {0, *sign};
    ++at;
  } else {
    fail();
  }
  if (at != s.size()) fail();
  return result;
}

}  // namespace gasell
