// int, bool and float as types: constructors, methods, properties.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "runtime/session/arguments.h"
#include "runtime/session/big_integer.h"
#include "runtime/session/bytes.h"
#include "runtime/session/number.h"
#include "runtime/session/objects.h"
#include "runtime/session/str.h"
#include "runtime/session/str_text.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

uint64_t magnitude(int64_t v) { return v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v); }

Value construct_int(Interpreter& in, Args args) {
  const Value& v = args[0];
  if (!is_missing(args[1])) {
    if (is_missing(v)) raise("TypeError", "int() missing string argument");
    const int64_t base = to_index(in, args[1]);
    const auto* s = v.as<Str>();
    if (const auto* b = v.as<BytesLike>()) return parse_integer_of_bytes(in, *b, base);
    if (!s) raise("TypeError", "int() can't convert non-string with explicit base");
    return parse_integer(s->value, base);
  }
  if (is_missing(v)) return Value::of(0);
  if (v.is_int()) return v;
  if (v.is_bool()) return Value::of(v.as_int());
  if (v.is_float()) return float_to_integer(v.as_float());
  if (const auto* s = v.exactly<Str>()) {
    if (std::optional<Value> i = read_integer(s->value, 10)) return *std::move(i);
    return fail(in, "ValueError", no_integer(s->value, 10));
  }
  if (v.is_object()) {
    if (const auto i = v.object()->to_int(in)) return *i;
    if (const auto i = v.object()->to_index(in)) return Value::of(*i);
  }
  raise("TypeError", "int() argument must be a string, a bytes-like object or a real number, not '" + type_of(v).name + "'");
}

Value construct_float(Interpreter& in, Args args) {
  const Value& v = args[0];
  if (v.is_float()) return v;
  if (v.is_int() || v.is_bool()) return Value::of(static_cast<double>(v.as_int()));
  if (const auto* s = v.exactly<Str>()) {
    if (const std::optional<double> f = read_float(s->value)) return Value::of(*f);
    return fail(in, "ValueError", no_float(s->value));
  }
  if (v.is_object() && !v.as<Complex>()) {
    if (const auto f = v.object()->to_float(in)) return *f;
    if (const auto i = v.object()->to_index(in)) return Value::of(static_cast<double>(*i));
  }
  raise("TypeError", "float() argument must be a string or a real number, not '" + type_of(v).name + "'");
}

Value construct_bool(Interpreter& in, Args args) { return Value::of(truth(in, args[0])); }

/// The receiver of an int's method: an int of any size, or a bool.
Value self_as_int(Interpreter&, const Value& self) { return self.is_bool() ? Value::of(self.as_int()) : self; }

Value int_ratio(Interpreter& in, Args args) { return make_tuple({self_as_int(in, args[0]), Value::of(1)}); }

Value bit_length_of(Interpreter&, Args args) {
  if (const auto* big = args[0].as<BigInt>()) return Value::of(bit_length(big->value));
  return Value::of(static_cast<int64_t>(std::bit_width(magnitude(args[0].as_int()))));
}

Value bit_count_of(Interpreter&, Args args) {
  if (const auto* big = args[0].as<BigInt>()) return Value::of(std::ranges::count(big_digits(big->value, 'b'), '1'));
  return Value::of(static_cast<int64_t>(std::popcount(magnitude(args[0].as_int()))));
}

/// The receiver of a float's method: a float, or an object of a type derived from it (np.float64).
double self_float(Interpreter& in, const Value& self) {
  return self.is_float() ? self.as_float() : self.object()->to_float(in)->as_float();
}

Value float_ratio(Interpreter& in, Args args) {
  const double v = self_float(in, args[0]);
  if (std::isinf(v)) raise("OverflowError", "cannot convert Infinity to integer ratio");
  if (std::isnan(v)) raise("ValueError", "cannot convert NaN to integer ratio");
  int exponent = 0;
  double m = std::frexp(v, &exponent);
  for (int i = 0; i < 300 && m != std::floor(m); ++i) {
    m *= 2;
    --exponent;
  }
  const BigInteger numerator(m);
  if (exponent > 0) return make_tuple({make_integer(numerator << static_cast<unsigned>(exponent)), Value::of(1)});
  return make_tuple({make_integer(numerator), make_integer(BigInteger(1) << static_cast<unsigned>(-exponent))});
}

Value float_hex(Interpreter& in, Args args) {
  const double v = self_float(in, args[0]);
  if (!std::isfinite(v)) return make_str(float_repr(v));
  const std::string sign = std::signbit(v) ? "-" : "";
  if (v == 0) return make_str(sign + "0x0.0p+0");
  const auto bits = std::bit_cast<uint64_t>(v);
  const int field = static_cast<int>(bits >> 52 & 0x7FF);
  const int exponent = field == 0 ? -1022 : field - 1023;
  std::string out = sign + (field == 0 ? "0x0." : "0x1.");
  for (int shift = 48; shift >= 0; shift -= 4) out += "0123456789abcdef"[bits >> shift & 15];
  return make_str(out + "p" + (exponent < 0 ? "-" : "+") + std::to_string(std::abs(exponent)));
}

Value float_from_hex(Interpreter&, Args args) {
  std::string s(need_str(args[0], "bad argument type for built-in operation: "));
  const auto fail = []() { raise("ValueError", "invalid hexadecimal floating-point string"); };
  while (!s.empty() && is_space(static_cast<unsigned char>(s.front()))) s.erase(0, 1);
  while (!s.empty() && is_space(static_cast<unsigned char>(s.back()))) s.pop_back();
  s = to_lower(s);
  size_t at = 0;
  bool negative = false;
  if (at < s.size() && (s[at] == '+' || s[at] == '-')) negative = s[at++] == '-';
  const std::string_view rest = std::string_view(s).substr(at);
  if (rest == "inf" || rest == "infinity") return Value::of(negative ? -HUGE_VAL : HUGE_VAL);
  if (rest == "nan") return Value::of(std::copysign(std::nan(""), negative ? -1.0 : 1.0));
  if (rest.starts_with("0x")) at += 2;
  // Digits beyond 64 bits only mark that something follows, so that ldexp rounds once.
  uint64_t mantissa = 0;
  int64_t exponent = 0;
  bool any = false, point = false, sticky = false;
  for (; at < s.size(); ++at) {
    const char c = s[at];
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) break;
    any = true;
    if (mantissa >> 58 == 0) {
      mantissa = mantissa << 4 | static_cast<uint64_t>(digit);
      if (point) exponent -= 4;
    } else {
      sticky |= digit != 0;
      if (!point) exponent += 4;
    }
  }
  if (!any) fail();
  if (at < s.size() && s[at] == 'p') {
    size_t used = 0;
    const std::string tail = s.substr(at + 1);
    if (tail.empty() || tail.find_first_not_of("+-0123456789") != tail.npos || tail.size() > 9) fail();
    try {
      exponent += std::stoll(tail, &used);
    } catch (const std::exception&) {
      fail();
    }
    if (used != tail.size()) fail();
    at = s.size();
  }
  if (at != s.size()) fail();
  if (sticky) mantissa |= 1;
  // Round to the precision the result has (subnormals have less), then scale exactly.
  const int width = static_cast<int>(std::bit_width(mantissa));
  const int64_t top = width + exponent;
  if (mantissa != 0 && top > 1024) raise("OverflowError", "hexadecimal value too large to represent as a float");
  double value = 0;
  if (mantissa != 0 && top >= -1074) {
    const int64_t kept = std::min<int64_t>(53, top + 1074);
    const int64_t drop = std::max<int64_t>(0, width - kept);
    uint64_t head = drop >= 64 ? 0 : mantissa >> drop;
    const uint64_t tail = drop == 0    ? 0
                          : drop >= 64 ? mantissa
                                       : mantissa & ((uint64_t{1} << drop) - 1),
                   half = drop == 0 ? 1 : uint64_t{1} << (drop - 1);
    if (tail > half || (tail == half && drop > 0 && (head & 1) != 0)) ++head;
    value = std::ldexp(static_cast<double>(head), static_cast<int>(exponent + drop));
    if (std::isinf(value)) raise("OverflowError", "hexadecimal value too large to represent as a float");
  }
  return Value::of(negative ? -value : value);
}

Value zero(Interpreter&, const Value&) { return Value::of(0); }
Value one(Interpreter&, const Value&) { return Value::of(1); }
Value self_value(Interpreter&, const Value& self) { return self; }
Value float_zero(Interpreter&, const Value&) { return Value::of(0.0); }

}  // namespace

const Type& int_type() {
  static const NativeFunction constructor{"int", "x=missing, /, base=missing", construct_int, "An integer from a number or from text."};
  static const Type t{"int",
                      "builtins",
                      &object_type(),
                      {{"bit_length", "self, /", bit_length_of, "How many bits the absolute value takes."},
                       {"bit_count", "self, /", bit_count_of, "How many bits of the absolute value are 1."},
                       {"conjugate", "self, /", [](Interpreter& in, Args a) { return self_as_int(in, a[0]); }, "The number itself."},
                       {"to_bytes", "self, /, length=1, byteorder='big', *, signed=False", int_to_bytes, "The number as so many bytes."},
                       {"as_integer_ratio", "self, /", int_ratio, "(self, 1)."}},
                      {{"real", self_as_int, nullptr, "The number itself."},
                       {"imag", zero, nullptr, "0."},
                       {"numerator", self_as_int, nullptr, "The number itself."},
                       {"denominator", one, nullptr, "1."}},
                      &constructor,
                      {{"from_bytes", "bytes, byteorder='big', *, signed=False", int_from_bytes, "The number that bytes stand for."}}};
  return t;
}

const Type& bool_type() {
  static const NativeFunction constructor{"bool", "x=False, /", construct_bool, "The truth of an object."};
  static const Type t{"bool", "builtins", &int_type(), {}, {}, &constructor};
  return t;
}

const Type& float_type() {
  static const NativeFunction constructor{"float", "x=0.0, /", construct_float, "A float from a number or from text."};
  static const Type t{"float",
                      "builtins",
                      &object_type(),
                      {{"is_integer", "self, /",
                        [](Interpreter& in, Args a) {
                          const double v = self_float(in, a[0]);
                          return Value::of(std::isfinite(v) && v == std::floor(v));
                        },
                        "Whether it has no fraction."},
                       {"as_integer_ratio", "self, /", float_ratio, "Two ints whose quotient is exactly the number."},
                       {"hex", "self, /", float_hex, "Exact hexadecimal text."},
                       {"conjugate", "self, /", [](Interpreter&, Args a) { return a[0]; }, "The number itself."}},
                      {{"real", self_value, nullptr, "The number itself."}, {"imag", float_zero, nullptr, "0.0."}},
                      &constructor,
                      {{"fromhex", "string, /", float_from_hex, "The float of a hexadecimal text; ValueError, OverflowError."}}};
  return t;
}

}  // namespace gasell
