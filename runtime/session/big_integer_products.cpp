#include "runtime/session/big_integer_products.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/device/sandbox.h"

namespace gasell {
namespace {

constexpr int64_t kPiece = int64_t{1} << 16;       // bits of a factor that is multiplied at once
constexpr int64_t kMostAtOnce = int64_t{1} << 34;  // products of bits, of a division: a few milliseconds

void check_end() {
  if (Sandbox* const sandbox = current_sandbox().get()) sandbox->check_end();
}

/// Of what is not negative, by Karatsuba's three products of halves.
BigInteger whole_product(const BigInteger& a, const BigInteger& b) {
  const int64_t of_a = bit_length(a), of_b = bit_length(b);
  if (of_a < of_b) return whole_product(b, a);
  check_end();
  if (of_b == 0) return 0;
  if (of_a <= kPiece || of_a <= kMostAtOnce / of_b / 4) return a * b;
  const auto half = static_cast<unsigned>((of_a + 1) / 2);
  const BigInteger above = a >> half, below = a - (above << half);
  if (of_b <= static_cast<int64_t>(half)) return BigInteger(whole_product(above, b) << half) + whole_product(below, b);
  const BigInteger above_b = b >> half, below_b = b - (above_b << half);
  const BigInteger high = whole_product(above, above_b), low = whole_product(below, below_b);
  const BigInteger middle = whole_product(above + below, above_b + below_b) - high - low;
  return BigInteger(high << (2 * half)) + BigInteger(middle << half) + low;
}

}  // namespace

BigInteger product(const BigInteger& a, const BigInteger& b) {
  if (std::max(bit_length(a), bit_length(b)) <= kPiece) return a * b;
  const BigInteger whole = whole_product(abs(a), abs(b));
  return (a < 0) != (b < 0) ? BigInteger(-whole) : whole;
}

void divide_whole(const BigInteger& a, const BigInteger& b, BigInteger& quotient, BigInteger& rest) {
  const int64_t of_a = bit_length(a), of_b = bit_length(b), step = std::max<int64_t>(64, kMostAtOnce / of_b);
  if (of_a - of_b <= step) return divide_qr(a, b, quotient, rest);
  // As by hand: a digit of `step` bits after the other.
  quotient = 0;
  rest = 0;
  for (int64_t at = (of_a - 1) / step * step; at >= 0; at -= step) {
    check_end();
    const auto digit = static_cast<unsigned>(step);
    const BigInteger above = a >> static_cast<unsigned>(at), part = above - (BigInteger(above >> digit) << digit);
    BigInteger of_digit, left;
    divide_qr(BigInteger(rest << digit) + part, b, of_digit, left);
    quotient = BigInteger(quotient << digit) + of_digit;
    rest = std::move(left);
  }
}

BigInteger common_divisor(BigInteger a, BigInteger b) {
  while (bit_length(b) > kPiece) {
    check_end();
    BigInteger quotient, rest;
    divide_whole(a, b, quotient, rest);
    a = std::exchange(b, std::move(rest));
  }
  return b == 0 ? a : BigInteger(gcd(b, BigInteger(a % b)));
}

BigInteger whole_root(const BigInteger& n) {
  if (n == 0) return 0;
  // Newton's steps, each with twice the bits of the one before, so that the last costs as much as all others (as CPython's math.isqrt).
  const int64_t half = (bit_length(n) - 1) / 2;
  BigInteger root = 1, quotient, rest;
  int64_t done = 0;
  for (int shift = std::bit_width(static_cast<uint64_t>(half)) - 1; shift >= 0; --shift) {
    const int64_t before = std::exchange(done, half >> shift);
    divide_whole(n >> static_cast<unsigned>(2 * half - before - done + 1), root, quotient, rest);
    root = BigInteger(root << static_cast<unsigned>(done - before - 1)) + quotient;
  }
  return product(root, root) > n ? BigInteger(root - 1) : root;
}

}  // namespace gasell
