// format(v, spec) of the built-in types.
#include <climits>
#include <cmath>
#include <functional>
#include <optional>

#include "runtime/session/big_integer.h"
#include "runtime/session/format_spec.h"
#include "runtime/session/number.h"
#include "runtime/session/str_text.h"

namespace gasell {
namespace {

bool is_float_type(char32_t type) { return type != 0 && std::u32string_view(U"eEfFgGn%").find(type) != std::u32string_view::npos; }

/// Splits the text of a float into the digits before the point and the rest.
NumberParts split_float(bool negative, const std::string& text) {
  size_t n = 0;
  while (n < text.size() && text[n] >= '0' && text[n] <= '9') ++n;
  return {negative, "", text.substr(0, n), text.substr(n)};
}

/// True when a formatted text holds a digit other than 0, before any exponent.
bool shows_zero(const std::string& text) {
  for (const char c : text) {
    if (c == 'e' || c == 'E') break;
    if ((c >= '1' && c <= '9') || c == 'n' || c == 'i' || c == 'N' || c == 'I') return false;
  }
  return true;
}

struct FloatStyle {
  char type;
  int precision;
  bool dot_zero;
};

/// Type and precision that a spec asks for; the type '%' is left to the caller. ValueError for a precision that is no C int.
FloatStyle float_style(const FormatSpec& spec, bool dot_zero_by_default) {
  if (spec.precision > INT_MAX) raise("ValueError", "precision too big");
  const int precision = static_cast<int>(spec.precision);
  if (spec.type == 0) return {precision < 0 ? 'r' : 'g', precision, dot_zero_by_default};
  const char type = spec.type == 'n' ? 'g' : spec.type == '%' ? 'f' : static_cast<char>(spec.type);
  return {type, precision < 0 ? 6 : precision, false};
}

}  // namespace

std::string format_float(double v, std::string_view text, std::string_view type_name) {
  if (text.empty()) return float_repr(v);
  const FormatSpec spec = parse_format_spec(text, '>', type_name);
  if (spec.type != 0 && !is_float_type(spec.type)) raise_unknown_format_code(spec.type, type_name);
  if (spec.type == '%') v *= 100;
  const FloatStyle style = float_style(spec, true);
  std::string digits = float_digits(v, style.type, style.precision, style.dot_zero, spec.alternate);
  const bool negative = std::signbit(v) && !std::isnan(v) && !(spec.no_negative_zero && shows_zero(digits));
  if (spec.type == '%') digits += '%';
  return assemble(split_float(negative, digits), spec);
}

namespace {

/// An int of any size under a spec that is not empty.
struct Whole {
  bool negative;
  std::function<std::string(char type)> digits;
  std::function<double()> as_double;
  std::optional<int64_t> as_code;  // nothing where 64 bits do not hold it
};

std::string format_whole(const Whole& v, std::string_view text, std::string_view type_name) {
  const FormatSpec spec = parse_format_spec(text, '>', type_name);
  if (spec.type != 'n' && is_float_type(spec.type)) return format_float(v.as_double(), text, type_name);
  if (spec.type != 0 && std::u32string_view(U"bcdoxXn").find(spec.type) == std::u32string_view::npos)
    raise_unknown_format_code(spec.type, type_name);
  if (spec.precision >= 0) raise("ValueError", "Precision not allowed in integer format specifier");
  if (spec.no_negative_zero) raise("ValueError", "Negative zero coercion (z) not allowed in integer format specifier");
  if (spec.type == 'c') {
    if (spec.sign != 0) raise("ValueError", "Sign not allowed with integer format specifier 'c'");
    if (spec.alternate) raise("ValueError", "Alternate form (#) not allowed with integer format specifier 'c'");
    if (!v.as_code) raise("OverflowError", "Python int too large to convert to C long");
    if (*v.as_code < 0 || *v.as_code > 0x10FFFF) raise("OverflowError", "%c arg not in range(0x110000)");
    NumberParts parts;
    append_utf8(parts.digits, static_cast<char32_t>(*v.as_code));
    FormatSpec padding = spec;
    if (padding.align == '=') padding.align = '>';
    return pad(parts.digits, padding);
  }
  const char type = spec.type == 0 || spec.type == 'n' ? 'd' : static_cast<char>(spec.type);
  NumberParts parts{v.negative, "", v.digits(type), ""};
  if (spec.alternate && type != 'd') parts.prefix = std::string("0") + type;
  return assemble(parts, spec);
}

}  // namespace

std::string format_int(int64_t v, std::string_view text, std::string_view type_name) {
  if (text.empty()) return std::to_string(v);
  const uint64_t magnitude = v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
  return format_whole({v < 0, [&](char type) { return int_digits(magnitude, type); }, [&] { return static_cast<double>(v); }, v}, text,
                      type_name);
}

std::string format_big_int(const BigInteger& v, std::string_view text) {
  return format_whole({v < 0, [&](char type) { return big_digits(v, type); }, [&] { return to_double(v); }, {}}, text, "int");
}

std::string format_bool(bool v, std::string_view spec) {
  if (spec.empty()) return v ? "True" : "False";
  return format_int(v, spec, "bool");
}

std::string format_complex(std::complex<double> v, std::string_view text) {
  if (text.empty()) return complex_repr(v);
  const FormatSpec spec = parse_format_spec(text, '>', "complex");
  if (spec.type == '%' || (spec.type != 0 && !is_float_type(spec.type))) raise_unknown_format_code(spec.type, "complex");
  if (spec.fill == '0') raise("ValueError", "Zero padding is not allowed in complex format specifier");
  if (spec.align == '=') raise("ValueError", "'=' alignment flag is not allowed in complex format specifier");
  const FloatStyle style = float_style(spec, false);
  const bool skip_real = spec.type == 0 && v.real() == 0 && !std::signbit(v.real());
  FormatSpec bare = spec;
  bare.width = -1;
  bare.fill = U'\0';
  const auto part = [&](double x, char sign) {
    bare.sign = sign;
    const std::string digits = float_digits(x, style.type, style.precision, style.dot_zero, spec.alternate);
    const bool negative = std::signbit(x) && !std::isnan(x) && !(spec.no_negative_zero && shows_zero(digits));
    return assemble(split_float(negative, digits), bare);
  };
  std::string out = skip_real ? "" : part(v.real(), spec.sign);
  out += part(v.imag(), skip_real ? spec.sign : '+') + "j";
  if (spec.type == 0 && !skip_real) out = "(" + out + ")";
  return pad(out, spec);
}

std::string format_str(std::string_view v, std::string_view text) {
  if (text.empty()) return std::string(v);
  const FormatSpec spec = parse_format_spec(text, '<', "str");
  if (spec.type != 0 && spec.type != 's') raise_unknown_format_code(spec.type, "str");
  if (spec.grouping != 0) raise("ValueError", std::string("Cannot specify '") + spec.grouping + "' with 's'.");
  if (spec.sign == ' ') raise("ValueError", "Space not allowed in string format specifier");
  if (spec.sign != 0) raise("ValueError", "Sign not allowed in string format specifier");
  if (spec.no_negative_zero) raise("ValueError", "Negative zero coercion (z) not allowed in string format specifier");
  if (spec.alternate) raise("ValueError", "Alternate form (#) not allowed in string format specifier");
  if (spec.align == '=') raise("ValueError", "'=' alignment not allowed in string format specifier");
  return pad(spec.precision >= 0 ? v.substr(0, byte_offset(v, spec.precision)) : v, spec);
}

}  // namespace gasell
