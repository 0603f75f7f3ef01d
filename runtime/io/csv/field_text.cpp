#include "runtime/io/csv/field_text.h"

#include <fmt/compile.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/frame/calendar.h"

namespace gasell::csv {
namespace {

template <int kDigits>
char* put_digits(char* to, int value) {
  for (int i = kDigits - 1; i >= 0; --i, value /= 10) to[i] = static_cast<char>('0' + value % 10);
  return to + kDigits;
}

template <class T>
char* put_shortest(char* to, T value) {
  char* const end = fmt::format_to(to, FMT_COMPILE("{}"), value);
  if (std::isinf(value) || std::any_of(to, end, [](char c) { return c == '.' || c == 'e'; })) return end;
  std::memcpy(end, ".0", 2);
  return end + 2;
}

}  // namespace

char* put_float(char* to, double value) {
  // Most numbers in tables have few decimals. Of at most 15 digits no two decimals are the same double, so where the quotient of two
  // integers below 2**53, which is rounded once, gives the number, theirs are the shortest digits.
  constexpr double kScale = 1e4;
  const double scaled = std::nearbyint(value * kScale);
  if (!(std::abs(scaled) < 1e15) || scaled / kScale != value || scaled == 0) return put_shortest(to, value);
  const auto digits = static_cast<uint64_t>(std::abs(scaled));
  if (value < 0) *to++ = '-';
  to = put_integer(to, digits / 10000);
  *to++ = '.';
  char* end = put_digits<4>(to, static_cast<int>(digits % 10000));
  while (end > to + 1 && end[-1] == '0') --end;
  return end;
}

char* put_float(char* to, float value) { return put_shortest(to, value); }

char* put_integer(char* to, int64_t value) { return fmt::format_to(to, FMT_COMPILE("{}"), value); }
char* put_integer(char* to, uint64_t value) { return fmt::format_to(to, FMT_COMPILE("{}"), value); }

char* put_time(char* to, int64_t ns, frame::TimePrecision precision) {
  const frame::Moment m = frame::moment_of(ns);
  to = put_digits<4>(to, static_cast<int>(m.year));
  *to++ = '-';
  to = put_digits<2>(to, m.month);
  *to++ = '-';
  to = put_digits<2>(to, m.day);
  if (precision == frame::TimePrecision::date) return to;
  *to++ = ' ';
  to = put_digits<2>(to, m.hour);
  *to++ = ':';
  to = put_digits<2>(to, m.minute);
  *to++ = ':';
  to = put_digits<2>(to, m.second);
  if (precision == frame::TimePrecision::seconds) return to;
  *to++ = '.';
  if (precision == frame::TimePrecision::milliseconds) return put_digits<3>(to, m.nanosecond / 1'000'000);
  if (precision == frame::TimePrecision::microseconds) return put_digits<6>(to, m.nanosecond / 1000);
  return put_digits<9>(to, m.nanosecond);
}

}  // namespace gasell::csv
