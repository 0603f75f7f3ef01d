// Numbers of up to some sixteen digits, eight characters at a time. The functions may read up to 16 bytes behind the text's end.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace gasell::csv {

inline uint64_t load_8(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}

/// The number that 1 to 8 digits are; false where there is something else. Three multiplications combine neighbouring digits, pairs and
/// fours, as in D. Lemire's "Quickly parsing eight digits".
inline bool parse_up_to_8(const char* p, int64_t length, uint64_t& value) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t v = (load_8(p) ^ 0x3030303030303030U) << (64 - 8 * length);  // what is shifted in are leading zeros
  if (((v + 0x7676767676767676U) | v) & 0x8080808080808080U) return false;
  v = (v * 2561) >> 8;
  v = ((v & 0x00ff00ff00ff00ffU) * 6553601) >> 16;
  value = ((v & 0x0000ffff0000ffffU) * 42949672960001U) >> 32;
  return true;
}

/// 1 to 18 digits.
inline bool parse_up_to_18(const char* p, int64_t length, uint64_t& value) {
  if (length <= 8) return parse_up_to_8(p, length, value);
  uint64_t low = 0;
  if (length > 18 || !parse_up_to_8(p + length - 8, 8, low)) return false;
  uint64_t high = 0;
  if (length <= 16) {
    if (!parse_up_to_8(p, length - 8, high)) return false;
  } else {
    uint64_t top = 0;
    if (!parse_up_to_8(p, length - 16, top) || !parse_up_to_8(p + length - 16, 8, high)) return false;
    high += top * 100000000;
  }
  value = high * 100000000 + low;
  return true;
}

/// An integer with or without a sign.
inline bool parse_integer(const char* p, const char* end, int64_t& value) {
  const bool negative = *p == '-';
  p += negative;
  uint64_t magnitude;
  if (end <= p || !parse_up_to_18(p, end - p, magnitude)) return false;
  value = negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
  return true;
}

inline constexpr double kPowersOf10[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                         1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr uint64_t kIntegerPowersOf10[] = {
    1,          10,          100,          1000,          10000,          100000,          1000000,          10000000,         100000000,
    1000000000, 10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000, 1000000000000000, 10000000000000000};

/// The double nearest to a decimal fraction without an exponent whose digits fit 53 bits, so that one division rounds once (W. Clinger,
/// "How to Read Floating Point Numbers Accurately"); false: another way has to tell.
inline bool parse_decimal(const char* p, const char* end, double& value) {
  const bool negative = *p == '-';
  p += negative;
  const int64_t length = end - p;
  if (length <= 0) return false;
  const uint64_t points = load_8(p) ^ 0x2e2e2e2e2e2e2e2eU;
  const uint64_t zero = (points - 0x0101010101010101U) & ~points & 0x8080808080808080U;
  const int64_t whole_digits = zero ? std::countr_zero(zero) / 8 : 8;
  uint64_t digits = 0;
  int64_t fraction_digits = 0;
  if (whole_digits >= length) {
    if (!parse_up_to_8(p, length, digits)) return false;
  } else {
    if (!zero || (whole_digits > 0 && !parse_up_to_8(p, whole_digits, digits))) return false;
    fraction_digits = length - whole_digits - 1;
    if (fraction_digits > 0) {
      uint64_t fraction;
      if (fraction_digits <= 8) {
        if (!parse_up_to_8(p + whole_digits + 1, fraction_digits, fraction)) return false;
      } else if (whole_digits + fraction_digits > 18 || !parse_up_to_18(p + whole_digits + 1, fraction_digits, fraction)) {
        return false;
      }
      if (fraction_digits > 16) return false;
      digits = digits * kIntegerPowersOf10[fraction_digits] + fraction;
      if (digits > uint64_t{1} << 53) return false;
    } else if (whole_digits == 0) {
      return false;
    }
  }
  const double magnitude = static_cast<double>(static_cast<int64_t>(digits)) / kPowersOf10[fraction_digits];
  value = negative ? -magnitude : magnitude;
  return true;
}

}  // namespace gasell::csv
