// math: gcd, lcm, factorial, comb, perm, isqrt.
#include <cmath>

#include "runtime/session/big_integer_products.h"
#include "runtime/session/objects.h"
#include "stdlib/math.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

Value gcd(Interpreter& in, Args args) {
  BigInteger r = 0;
  for (const Value& v : args[0].as<Tuple>()->items) r = common_divisor(std::move(r), abs(to_big_index(in, v)));
  return make_integer(r);
}

Value lcm(Interpreter& in, Args args) {
  BigInteger r = 1;
  for (const Value& v : args[0].as<Tuple>()->items) r = boost::multiprecision::lcm(r, to_big_index(in, v));
  return make_integer(abs(r));
}

/// The product of the ints first … last, by halves: the factors of a multiplication are of about one size.
BigInteger product(Interpreter& in, int64_t first, int64_t last) {
  poll(in);
  if (first > last) return 1;
  if (last - first < 8) {
    BigInteger r = first;
    for (int64_t i = first + 1; i <= last; ++i) r *= i;
    return r;
  }
  const int64_t middle = first + (last - first) / 2;
  return gasell::product(product(in, first, middle), product(in, middle + 1, last));
}

/// A product of so many factors of at most that size: MemoryError where it has more bits than an int may have.
void require_product(int64_t factors, int64_t largest) {
  if (factors > 1 && static_cast<double>(factors) * std::log2(static_cast<double>(largest)) > 1.5 * static_cast<double>(kMostBits))
    raise("MemoryError", "an integer of more than 2**26 bits", "math.lgamma and math.log tell of larger numbers");
}

Value factorial(Interpreter& in, Args args) {
  const int64_t n = to_index(in, args[0]);
  if (n < 0) raise("ValueError", "factorial() not defined for negative values");
  require_product(n, n);
  return make_integer(product(in, 2, n));
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
  require_product(k, n);
  return make_integer(product(in, n - k + 1, n) / product(in, 2, k));
}

Value perm(Interpreter& in, Args args) {
  if (args[1].is_none()) return factorial(in, args);
  const int64_t n = to_index(in, args[0]), k = to_index(in, args[1]);
  need_not_negative(n, "n");
  need_not_negative(k, "k");
  if (k > n) return Value::of(0);
  require_product(k, n);
  return make_integer(product(in, n - k + 1, n));
}

Value isqrt(Interpreter& in, Args args) {
  const BigInteger n = to_big_index(in, args[0]);
  if (n < 0) raise("ValueError", "isqrt() argument must be nonnegative");
  return make_integer(whole_root(n));
}

}  // namespace

std::vector<NativeFunction> math_integer_functions() {
  return {
      {"gcd", "*integers", gcd, "The greatest common divisor."},
      {"lcm", "*integers", lcm, "The least common multiple."},
      {"factorial", "n, /", factorial, "n!"},
      {"comb", "n, k, /", comb, "Ways to choose k of n without order."},
      {"perm", "n, k=None, /", perm, "Ways to choose k of n in order."},
      {"isqrt", "n, /", isqrt, "The whole part of the square root."},
  };
}

}  // namespace gasell
