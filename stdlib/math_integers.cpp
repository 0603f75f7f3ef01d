// math: gcd, lcm, factorial, comb, perm, isqrt.
#include <cmath>
#include <numeric>

#include "runtime/session/number.h"
#include "runtime/session/objects.h"
#include "stdlib/math.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

uint64_t magnitude(int64_t v) { return v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v); }

Value as_value(uint64_t v, const char* function) {
  if (v > static_cast<uint64_t>(INT64_MAX)) raise_int_overflow(function);
  return Value::of(static_cast<int64_t>(v));
}

Value gcd(Interpreter& in, Args args) {
  uint64_t r = 0;
  for (const Value& v : args[0].as<Tuple>()->items) r = std::gcd(r, magnitude(to_index(in, v)));
  return as_value(r, "math.gcd()");
}

Value lcm(Interpreter& in, Args args) {
  uint64_t r = 1;
  for (const Value& v : args[0].as<Tuple>()->items) {
    const uint64_t m = magnitude(to_index(in, v));
    if (m == 0)
      r = 0;
    else if (r != 0 && __builtin_mul_overflow(r / std::gcd(r, m), m, &r))
      raise_int_overflow("math.lcm()");
  }
  return as_value(r, "math.lcm()");
}

Value factorial(Interpreter& in, Args args) {
  const int64_t n = to_index(in, args[0]);
  if (n < 0) raise("ValueError", "factorial() not defined for negative values");
  if (n > 20) raise_int_overflow("math.factorial()");
  int64_t r = 1;
  for (int64_t i = 2; i <= n; ++i) r *= i;
  return Value::of(r);
}

void need_not_negative(int64_t v, const char* name) {
  if (v < 0) raise("ValueError", std::string(name) + " must be a non-negative integer");
}

Value comb(Interpreter& in, Args args) {
  const int64_t n = to_index(in, args[0]);
  int64_t k = to_index(in, args[1]);
  need_not_negative(n, "n");
  need_not_negative(k, "k");
  if (k > n) return Value::of(0);
  k = std::min(k, n - k);
  // Each product of i factors is divisible by i!, so the division is exact; the product needs more than 64 bits.
  UInt128 r = 1;
  for (int64_t i = 1; i <= k; ++i) {
    r = r * static_cast<uint64_t>(n - k + i) / static_cast<uint64_t>(i);
    if (r > static_cast<uint64_t>(INT64_MAX)) raise_int_overflow("math.comb()");
  }
  return Value::of(static_cast<int64_t>(r));
}

Value perm(Interpreter& in, Args args) {
  if (args[1].is_none()) return factorial(in, args);
  const int64_t n = to_index(in, args[0]), k = to_index(in, args[1]);
  need_not_negative(n, "n");
  need_not_negative(k, "k");
  if (k > n) return Value::of(0);
  int64_t r = 1;
  for (int64_t i = 0; i < k; ++i) {
    if (__builtin_mul_overflow(r, n - i, &r)) raise_int_overflow("math.perm()");
  }
  return Value::of(r);
}

Value isqrt(Interpreter& in, Args args) {
  const int64_t n = to_index(in, args[0]);
  if (n < 0) raise("ValueError", "isqrt() argument must be nonnegative");
  auto r = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  while (r > 0 && static_cast<Int128>(r) * r > n) --r;
  while (static_cast<Int128>(r + 1) * (r + 1) <= n) ++r;
  return Value::of(r);
}

}  // namespace

std::vector<NativeFunction> math_integer_functions() {
  return {
      {"gcd", "*integers", gcd, "The greatest common divisor."},
      {"lcm", "*integers", lcm, "The least common multiple; OverflowError beyond 64 bits."},
      {"factorial", "n, /", factorial, "n!; OverflowError above 20."},
      {"comb", "n, k, /", comb, "Ways to choose k of n without order; OverflowError beyond 64 bits."},
      {"perm", "n, k=None, /", perm, "Ways to choose k of n in order; OverflowError beyond 64 bits."},
      {"isqrt", "n, /", isqrt, "The whole part of the square root."},
  };
}

}  // namespace gasell
