// The format mini-language, [[fill]align][sign][z][#][0][width][grouping][.precision][type], and the layout of digits it steers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gasell {

struct FormatSpec {
  char32_t fill = ' ';
  char align = '<';
  bool align_given = false;
  char sign = 0;  // '+', '-', ' ' or 0
  bool no_negative_zero = false;
  bool alternate = false;
  int64_t width = -1;      // code points; -1: not given
  char grouping = 0;       // ',' or '_'
  int64_t precision = -1;  // -1: not given
  char32_t type = 0;       // 0: not given
};

/// Parses a spec. ValueError as CPython words it; `type_name` is the formatted object's.
FormatSpec parse_format_spec(std::string_view spec, char default_align, std::string_view type_name);
[[noreturn]] void raise_unknown_format_code(char32_t code, std::string_view type_name);

/// Pads `text` to the spec's width.
std::string pad(std::string_view text, const FormatSpec& spec);

/// A number's text in parts, for zero padding and grouping.
struct NumberParts {
  bool negative = false;
  std::string prefix;  // "0x"
  std::string digits;  // before the point: these are grouped
  std::string rest;    // point, fraction, exponent, '%'; "inf" and "nan" with no digits
};
std::string assemble(const NumberParts& parts, const FormatSpec& spec);

/// Decimal digits of a non-negative number: value = 0.DIGITS * 10^point.
struct Decimal {
  std::string digits;
  int point = 1;
};
/// From the text of to_chars in scientific form: "1.25e-03".
Decimal decimal_from_scientific(std::string_view text);
/// The text of a Decimal, filled with zeros to `digit_count` significant digits. With an exponent "1.25e-03", else positional; ".0" is
/// added to a positional text without a fraction when `dot_zero`; the point stays without digits after it when `keep_point`.
std::string decimal_text(const Decimal& d, bool exponent, int digit_count, bool dot_zero, bool keep_point, char exponent_letter);

/// Text of |v| for a float presentation type: 'e', 'f', 'g' (also upper case) with that precision, 'r': shortest. `dot_zero` as
/// decimal_text; `alternate` is '#'. Digits behind a double's last one are zeros: they cost what they take. MemoryError for more than a
/// text is padded with.
std::string float_digits(double v, char type, int precision, bool dot_zero, bool alternate);

/// %-formatting and format() share it: digits of v in the base of type b, o, d, x, X.
std::string int_digits(uint64_t magnitude, char type);

}  // namespace gasell
