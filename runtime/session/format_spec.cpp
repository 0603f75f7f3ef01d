#include "runtime/session/format_spec.h"

#include <charconv>
#include <cmath>

#include "runtime/session/str_text.h"
#include "runtime/session/value.h"

namespace gasell {
namespace {

/// No double has more digits: 1074 behind the point, or 767 from the first that is not 0.
constexpr int kMostFraction = 1074, kMostSignificant = 767;

bool is_align(char32_t c) { return c == '<' || c == '>' || c == '=' || c == '^'; }

/// Groups of `size` digits from the right, at least `minimum` code points in all (zeros in front).
std::string group_digits(const std::string& digits, char separator, int size, int64_t minimum) {
  require_width(minimum);
  std::string reversed;
  auto remaining = static_cast<int64_t>(digits.size());
  bool first = true;
  while (true) {
    const int64_t wanted = std::max<int64_t>(std::min<int64_t>(size, std::max(remaining, minimum)), 1);
    if (!first) reversed += separator;
    first = false;
    for (int64_t i = 0; i < wanted; ++i) {
      if (remaining > 0)
        reversed += digits[static_cast<size_t>(--remaining)];
      else
        reversed += '0';
    }
    minimum -= wanted;
    if (remaining <= 0 && minimum <= 0) break;
    minimum -= 1;
  }
  return {reversed.rbegin(), reversed.rend()};
}

}  // namespace

void raise_unknown_format_code(char32_t code, std::string_view type_name) {
  std::string shown;
  if (code > 32 && code < 128) {
    shown = static_cast<char>(code);
  } else {
    char hex[16];
    const auto end = std::to_chars(hex, hex + sizeof hex, static_cast<uint32_t>(code), 16).ptr;
    shown = "\\x" + std::string(hex, end);
  }
  raise("ValueError", "Unknown format code '" + shown + "' for object of type '" + std::string(type_name) + "'");
}

FormatSpec parse_format_spec(std::string_view text, char default_align, std::string_view type_name) {
  const std::u32string s = decode(text);
  FormatSpec f;
  f.align = default_align;
  size_t at = 0;
  bool fill_given = false;
  if (s.size() >= 2 && is_align(s[1])) {
    f.fill = s[0];
    f.align = static_cast<char>(s[1]);
    f.align_given = fill_given = true;
    at = 2;
  } else if (!s.empty() && is_align(s[0])) {
    f.align = static_cast<char>(s[0]);
    f.align_given = true;
    at = 1;
  }
  const auto peek = [&]() { return at < s.size() ? s[at] : U'\0'; };
  if (peek() == '+' || peek() == '-' || peek() == ' ') f.sign = static_cast<char>(s[at++]);
  if (peek() == 'z') f.no_negative_zero = true, ++at;
  if (peek() == '#') f.alternate = true, ++at;
  if (!fill_given && peek() == '0') {
    f.fill = '0';
    if (!f.align_given && default_align == '>') f.align = '=';
    ++at;
  }
  const auto number = [&](int64_t limit) -> int64_t {
    int64_t value = -1;
    for (int digit; at < s.size() && (digit = decimal_digit(s[at])) >= 0; ++at) {
      value = std::max<int64_t>(value, 0);
      if (value > (INT64_MAX - digit) / 10) raise("ValueError", "Too many decimal digits in format string");
      value = value * 10 + digit;
    }
    if (value > limit) raise("ValueError", "Too many decimal digits in format string");
    return value;
  };
  f.width = number(INT64_MAX);
  if (peek() == ',') f.grouping = ',', ++at;
  if (peek() == '_') {
    if (f.grouping != 0) raise("ValueError", "Cannot specify both ',' and '_'.");
    f.grouping = '_';
    ++at;
  }
  if (peek() == ',' && f.grouping == '_') raise("ValueError", "Cannot specify both ',' and '_'.");
  if (peek() == '.') {
    ++at;
    const int64_t precision = number(INT64_MAX);
    if (precision < 0) raise("ValueError", "Format specifier missing precision");
    f.precision = precision;
  }
  if (s.size() - at > 1) {
    raise("ValueError", "Invalid format specifier '" + std::string(text) + "' for object of type '" + std::string(type_name) + "'");
  }
  if (at < s.size()) f.type = s[at];
  if (f.grouping != 0) {
    const auto one_of = [&](std::u32string_view set) { return set.find(f.type) != set.npos; };
    const bool allowed = f.type == 0 || one_of(U"defgEG%F") || (f.grouping == '_' && one_of(U"boxX"));
    if (!allowed) {
      std::string shown;
      append_utf8(shown, f.type);
      raise("ValueError", std::string("Cannot specify '") + f.grouping + "' with '" + shown + "'.");
    }
  }
  return f;
}

std::string pad(std::string_view text, const FormatSpec& spec) {
  const int64_t missing_width = spec.width - code_point_count(text);
  if (missing_width <= 0) return std::string(text);
  const int64_t left = spec.align == '>' ? missing_width : spec.align == '^' ? missing_width / 2 : 0;
  return repeated(spec.fill, left) + std::string(text) + repeated(spec.fill, missing_width - left);
}

std::string assemble(const NumberParts& parts, const FormatSpec& spec) {
  std::string sign;
  if (parts.negative)
    sign = "-";
  else if (spec.sign == '+' || spec.sign == ' ')
    sign = spec.sign;
  const auto around = static_cast<int64_t>(sign.size() + parts.prefix.size() + parts.rest.size());
  std::string digits = parts.digits;
  if (spec.grouping != 0 && !digits.empty()) {
    const int size = spec.grouping == '_' && (spec.type == 'b' || spec.type == 'o' || spec.type == 'x' || spec.type == 'X') ? 4 : 3;
    digits = group_digits(digits, spec.grouping, size, spec.fill == '0' && spec.align == '=' ? spec.width - around : 0);
  }
  const int64_t padding = std::max<int64_t>(0, spec.width - around - static_cast<int64_t>(digits.size()));
  int64_t left = 0, inside = 0;
  switch (spec.align) {
    case '>': left = padding; break;
    case '^': left = padding / 2; break;
    case '=': inside = padding; break;
    default: break;
  }
  return repeated(spec.fill, left) + sign + parts.prefix + repeated(spec.fill, inside) + digits + parts.rest +
         repeated(spec.fill, padding - left - inside);
}

Decimal decimal_from_scientific(std::string_view text) {
  Decimal d;
  const size_t e = text.find('e');
  for (const char c : text.substr(0, e)) {
    if (c != '.') d.digits += c;
  }
  std::string_view exponent = text.substr(e + 1);
  if (exponent.front() == '+') exponent.remove_prefix(1);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), d.point);
  ++d.point;
  return d;
}

std::string decimal_text(const Decimal& d, bool exponent, int digit_count, bool dot_zero, bool keep_point, char exponent_letter) {
  std::string digits = d.digits;
  if (static_cast<int>(digits.size()) < digit_count) digits.append(static_cast<size_t>(digit_count) - digits.size(), '0');
  const int point = exponent ? 1 : d.point;
  std::string out;
  if (point <= 0) {
    out = "0." + std::string(static_cast<size_t>(-point), '0') + digits;
  } else if (static_cast<int>(digits.size()) <= point) {
    out = digits + std::string(static_cast<size_t>(point) - digits.size(), '0');
    if (!exponent && dot_zero)
      out += ".0";
    else if (keep_point)
      out += '.';
  } else {
    out = digits.substr(0, static_cast<size_t>(point)) + '.' + digits.substr(static_cast<size_t>(point));
  }
  if (exponent) {
    const int power = d.point - 1;
    const std::string text = std::to_string(std::abs(power));
    out += exponent_letter;
    out += power < 0 ? '-' : '+';
    out += (text.size() < 2 ? "0" : "") + text;
  }
  return out;
}

std::string float_digits(double v, char type, int precision, bool dot_zero, bool alternate) {
  const bool upper = type == 'E' || type == 'F' || type == 'G';
  const char kind = static_cast<char>(upper ? type + 32 : type), letter = upper ? 'E' : 'e';
  v = std::abs(v);
  if (std::isnan(v)) return upper ? "NAN" : "nan";
  if (std::isinf(v)) return upper ? "INF" : "inf";
  if (kind != 'g' || alternate) require_width(precision);
  char buffer[kMostFraction + 400];
  char* const buffer_end = buffer + sizeof buffer;
  const auto scientific = [&](int digits_after) {
    const auto end = std::to_chars(buffer, buffer_end, v, std::chars_format::scientific, std::min(digits_after, kMostSignificant)).ptr;
    return decimal_from_scientific({buffer, static_cast<size_t>(end - buffer)});
  };
  switch (kind) {
    case 'f': {
      const int exact = std::min(precision, kMostFraction);
      const auto end = std::to_chars(buffer, buffer_end, v, std::chars_format::fixed, exact).ptr;
      std::string out(buffer, end);
      out.append(static_cast<size_t>(precision - exact), '0');
      if (precision == 0 && dot_zero)
        out += ".0";
      else if (precision == 0 && alternate)
        out += '.';
      return out;
    }
    case 'e': return decimal_text(scientific(precision), true, precision + 1, false, alternate, letter);
    case 'g': {
      precision = std::max(precision, 1);
      Decimal d = scientific(precision - 1);
      if (v == 0) d.point = 1;
      const bool exponent = d.point <= -4 || d.point > precision - (dot_zero ? 1 : 0);
      if (!alternate) {
        const size_t last = d.digits.find_last_not_of('0');
        d.digits.resize(last == std::string::npos ? 1 : last + 1);
      }
      return decimal_text(d, exponent, alternate ? precision : 0, dot_zero, alternate, letter);
    }
    default: {
      Decimal d{"0", 1};
      if (v != 0) {
        const auto end = std::to_chars(buffer, buffer_end, v, std::chars_format::scientific).ptr;
        d = decimal_from_scientific({buffer, static_cast<size_t>(end - buffer)});
      }
      return decimal_text(d, d.point <= -4 || d.point > 16, 0, dot_zero, alternate, letter);
    }
  }
}

std::string int_digits(uint64_t magnitude, char type) {
  const int base = type == 'b' ? 2 : type == 'o' ? 8 : type == 'x' || type == 'X' ? 16 : 10;
  char buffer[72];
  char* end = std::to_chars(buffer, buffer + sizeof buffer, magnitude, base).ptr;
  if (type == 'X') {
    for (char* p = buffer; p != end; ++p) {
      if (*p >= 'a') *p = static_cast<char>(*p - 32);
    }
  }
  return {buffer, end};
}

}  // namespace gasell
