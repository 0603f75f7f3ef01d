// The arithmetic of ints, floats and complex numbers where it is more than a C++ operator.
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "runtime/session/number.h"
#include "runtime/session/objects.h"

namespace gasell {
namespace {

constexpr std::string_view kRangeError = "(34, 'Numerical result out of range')";

uint64_t magnitude_of(int64_t v) { return v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v); }

std::complex<double> multiply(std::complex<double> a, std::complex<double> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Smith's division; nullopt for a zero divisor.
std::optional<std::complex<double>> quotient(std::complex<double> a, std::complex<double> b) {
  const double real = std::abs(b.real()), imaginary = std::abs(b.imag());
  if (real >= imaginary) {
    if (real == 0) return std::nullopt;
    const double ratio = b.imag() / b.real(), denominator = b.real() + b.imag() * ratio;
    return std::complex<double>((a.real() + a.imag() * ratio) / denominator, (a.imag() - a.real() * ratio) / denominator);
  }
  if (imaginary >= real) {
    const double ratio = b.real() / b.imag(), denominator = b.real() * ratio + b.imag();
    return std::complex<double>((a.real() * ratio + a.imag()) / denominator, (a.imag() * ratio - a.real()) / denominator);
  }
  return std::complex<double>(std::nan(""), std::nan(""));
}

/// x ** n by squaring.
std::complex<double> power(std::complex<double> x, int n) {
  std::complex<double> result = 1;
  for (; n > 0; n >>= 1, x = multiply(x, x)) {
    if (n & 1) result = multiply(result, x);
  }
  return result;
}

double parse_plain(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc::result_out_of_range ? HUGE_VAL : value;
}

}  // namespace

void raise_int_overflow(std::string_view operation) {
  raise("OverflowError", "the integer result of " + std::string(operation) + " does not fit 64 bits",
        "ints have 64 bits in Gasell; use floats for larger numbers");
}

int64_t float_to_int(double v) {
  if (std::isnan(v)) raise("ValueError", "cannot convert float NaN to integer");
  if (std::isinf(v)) raise("OverflowError", "cannot convert float infinity to integer");
  if (v >= 0x1p63 || v < -0x1p63) raise_int_overflow("int()");
  return static_cast<int64_t>(v);
}

double round_to_digits(double v, int64_t digits) {
  if (!std::isfinite(v) || digits > 323) return v;
  if (digits < -308) return 0.0 * v;
  char buffer[800];
  std::string text;
  if (digits >= 0) {
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, std::abs(v), std::chars_format::fixed, static_cast<int>(digits)).ptr;
    text.assign(buffer, end);
  } else {
    const double whole = std::trunc(std::abs(v));
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, whole, std::chars_format::fixed, 0).ptr;
    std::string all(buffer, end);
    const auto cut = static_cast<size_t>(-digits);
    if (all.size() < cut) all.insert(0, cut - all.size(), '0');
    std::string kept = "0" + all.substr(0, all.size() - cut);
    const std::string dropped = all.substr(all.size() - cut);
    bool up = dropped[0] > '5';
    if (dropped[0] == '5') {
      const bool tie = dropped.find_first_not_of('0', 1) == std::string::npos && whole == std::abs(v);
      up = !tie || (kept.back() - '0') % 2 == 1;
    }
    if (up) {
      size_t at = kept.size() - 1;
      while (kept[at] == '9') kept[at--] = '0';
      ++kept[at];
    }
    text = kept + std::string(cut, '0');
  }
  const double result = parse_plain(text);
  if (std::isinf(result)) raise("OverflowError", "rounded value too large to represent");
  return std::copysign(result, v);
}

double float_mod(double a, double b) {
  if (b == 0) raise("ZeroDivisionError", "float modulo");
  double r = std::fmod(a, b);
  if (r != 0) {
    if ((b < 0) != (r < 0)) r += b;
  } else {
    r = std::copysign(0.0, b);
  }
  return r;
}

double float_floordiv(double a, double b) {
  if (b == 0) raise("ZeroDivisionError", "float floor division by zero");
  double r = std::fmod(a, b);
  double quotient = (a - r) / b;  // a - r is close to a multiple of b
  if (r != 0 && (b < 0) != (r < 0)) quotient -= 1.0;
  if (quotient == 0) return std::copysign(0.0, a / b);
  double floored = std::floor(quotient);
  if (quotient - floored > 0.5) floored += 1.0;
  return floored;
}

Value float_pow(double a, double b) {
  if (a == 0 && b < 0) raise("ZeroDivisionError", "0.0 cannot be raised to a negative power");
  if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b)) return Value::make<Complex>(complex_pow(a, b));
  const double r = std::pow(a, b);
  if (std::isinf(r) && std::isfinite(a) && std::isfinite(b)) raise("OverflowError", std::string(kRangeError));
  return Value::of(r);
}

int64_t int_floordiv(int64_t a, int64_t b) {
  if (b == 0) raise("ZeroDivisionError", "integer division or modulo by zero");
  if (b == -1) {
    if (a == INT64_MIN) raise_int_overflow("//");
    return -a;
  }
  const int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

int64_t int_mod(int64_t a, int64_t b) {
  if (b == 0) raise("ZeroDivisionError", "integer modulo by zero");
  if (b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

Value int_pow(int64_t a, int64_t b) {
  if (b < 0) {
    if (a == 0) raise("ZeroDivisionError", "0.0 cannot be raised to a negative power");
    return float_pow(static_cast<double>(a), static_cast<double>(b));
  }
  if (a == 0 || a == 1) return Value::of(b == 0 ? int64_t{1} : a);
  if (a == -1) return Value::of(b % 2 == 0 ? int64_t{1} : int64_t{-1});
  const int64_t base = a, exponent = b;
  int64_t result = 1;
  while (true) {
    if ((b & 1) != 0 && __builtin_mul_overflow(result, a, &result)) return big_binary(ast::BinaryOp::pow, base, exponent);
    b >>= 1;
    if (b == 0) return Value::of(result);
    if (__builtin_mul_overflow(a, a, &a)) return big_binary(ast::BinaryOp::pow, base, exponent);
  }
}

int64_t int_pow_mod(int64_t a, int64_t b, int64_t m) {
  if (m == 0) raise("ValueError", "pow() 3rd argument cannot be 0");
  const Int128 modulus = m < 0 ? -static_cast<Int128>(m) : m;
  Int128 base = a % modulus;
  if (base < 0) base += modulus;
  if (b < 0) {
    // The inverse by the extended Euclidean algorithm; b is negated without overflow by inverting first.
    Int128 r0 = modulus, r1 = base, t0 = 0, t1 = 1;
    while (r1 != 0) {
      const Int128 q = r0 / r1;
      r0 = std::exchange(r1, r0 - q * r1);
      t0 = std::exchange(t1, t0 - q * t1);
    }
    if (r0 != 1) raise("ValueError", "base is not invertible for the given modulus");
    base = t0 < 0 ? t0 + modulus : t0;
  }
  Int128 result = 1 % modulus;
  for (uint64_t n = magnitude_of(b); n != 0; n >>= 1, base = base * base % modulus) {
    if (n & 1) result = result * base % modulus;
  }
  if (m < 0 && result != 0) result += m;
  return static_cast<int64_t>(result);
}

double int_truediv(int64_t a, int64_t b) {
  if (b == 0) raise("ZeroDivisionError", "division by zero");
  const uint64_t x = magnitude_of(a), y = magnitude_of(b);
  constexpr uint64_t kExact = uint64_t{1} << 53;
  const double sign = (a < 0) != (b < 0) ? -1.0 : 1.0;
  if (x <= kExact && y <= kExact) return static_cast<double>(a) / static_cast<double>(b);
  // A quotient of 62 or 63 bits whose last bit says whether more follows: converting it rounds once, and right.
  const int shift = std::max(0, 62 + static_cast<int>(std::bit_width(y)) - static_cast<int>(std::bit_width(x)));
  const UInt128 numerator = static_cast<UInt128>(x) << shift;
  uint64_t q = static_cast<uint64_t>(numerator / y);
  if (numerator % y != 0) q |= 1;
  return sign * std::ldexp(static_cast<double>(q), -shift);
}

int compare_int_float(int64_t a, double b) {
  if (std::isnan(b)) return 2;
  if (b >= 0x1p63) return -1;
  if (b < -0x1p63) return 1;
  const auto whole = static_cast<int64_t>(b);
  if (a != whole) return a < whole ? -1 : 1;
  const double fraction = b - static_cast<double>(whole);
  return fraction > 0 ? -1 : fraction < 0 ? 1 : 0;
}

std::complex<double> complex_divide(std::complex<double> a, std::complex<double> b) {
  const auto q = quotient(a, b);
  if (!q) raise("ZeroDivisionError", "complex division by zero");
  return *q;
}

std::complex<double> complex_pow(std::complex<double> a, std::complex<double> b) {
  const auto zero_base = []() { raise("ZeroDivisionError", "0.0 to a negative or complex power"); };
  std::complex<double> r;
  if (b.imag() == 0 && b.real() == std::floor(b.real()) && std::abs(b.real()) <= 100) {
    const int n = static_cast<int>(b.real());
    r = power(a, std::abs(n));
    if (n < 0) {
      const auto inverse = quotient(1.0, r);
      if (!inverse) zero_base();
      r = *inverse;
    }
  } else if (a == 0.0) {
    if (b.imag() != 0 || b.real() < 0) zero_base();
  } else {
    const double absolute = std::hypot(a.real(), a.imag()), angle = std::atan2(a.imag(), a.real());
    double length = std::pow(absolute, b.real()), phase = angle * b.real();
    if (b.imag() != 0) {
      length /= std::exp(angle * b.imag());
      phase += b.imag() * std::log(absolute);
    }
    if (std::isinf(phase)) zero_base();  // what CPython makes of the C library's domain error
    r = {length * std::cos(phase), length * std::sin(phase)};
  }
  if (std::isinf(r.real()) || std::isinf(r.imag())) raise("OverflowError", "complex exponentiation");
  return r;
}

namespace {
/// Python's modulus of number hashes.
constexpr int kHashBits = 61;
constexpr uint64_t kHashModulus = (uint64_t{1} << kHashBits) - 1;
}  // namespace

int64_t hash_int(int64_t v) {
  auto h = static_cast<int64_t>(magnitude_of(v) % kHashModulus);
  if (v < 0) h = -h;
  return h == -1 ? -2 : h;
}

int64_t hash_float(double v) {
  if (std::isinf(v)) return v > 0 ? 314159 : -314159;
  if (std::isnan(v)) return 0;
  int exponent = 0;
  double m = std::frexp(std::abs(v), &exponent);
  uint64_t x = 0;
  while (m != 0) {
    x = ((x << 28) & kHashModulus) | x >> (kHashBits - 28);
    m *= 268435456.0;  // 2**28
    exponent -= 28;
    const auto y = static_cast<uint64_t>(m);
    m -= static_cast<double>(y);
    x += y;
    if (x >= kHashModulus) x -= kHashModulus;
  }
  exponent = exponent >= 0 ? exponent % kHashBits : kHashBits - 1 - (-1 - exponent) % kHashBits;
  x = ((x << exponent) & kHashModulus) | x >> (kHashBits - exponent);
  const int64_t h = v < 0 ? -static_cast<int64_t>(x) : static_cast<int64_t>(x);
  return h == -1 ? -2 : h;
}

int64_t hash_complex(std::complex<double> v) {
  const uint64_t h = static_cast<uint64_t>(hash_float(v.real())) + 1000003U * static_cast<uint64_t>(hash_float(v.imag()));
  return h == UINT64_MAX ? -2 : static_cast<int64_t>(h);
}

}  // namespace gasell
