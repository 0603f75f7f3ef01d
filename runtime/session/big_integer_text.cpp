// The digits of integers that 64 bits do not hold, and their whole-number functions.
#include <fmt/format.h>

#include "runtime/device/sandbox.h"
#include "runtime/session/big_integer_products.h"

namespace gasell {
namespace {

[[noreturn]] void raise_too_many_digits(std::string_view of_what) {
  raise("ValueError", fmt::format("Exceeds the limit ({} digits) for integer string conversion{}; use sys.set_int_max_str_digits() to "
                                  "increase the limit",
                                  most_decimal_digits(), of_what));
}

int digit_value(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

}  // namespace

int64_t& most_decimal_digits() {
  struct Limit {
    int64_t digits = 4300;
  };
  return state_of_session<Limit>().digits;
}

int64_t bit_length(const BigInteger& v) { return v == 0 ? 0 : static_cast<int64_t>(msb(abs(v))) + 1; }

std::string big_digits(const BigInteger& v, char type) {
  const BigInteger magnitude = abs(v);
  switch (type) {
    case 'x': return magnitude.str(0, std::ios::hex);
    case 'X': return magnitude.str(0, std::ios::hex | std::ios::uppercase);
    case 'o': return magnitude.str(0, std::ios::oct);
    case 'b': {
      std::string out;
      for (const char c : magnitude.str(0, std::ios::hex))
        for (int bit = 3; bit >= 0; --bit) out += static_cast<char>('0' + (digit_value(c) >> bit & 1));
      return out.substr(std::min(out.find('1'), out.size() - 1));
    }
    default: break;
  }
  const int64_t most = most_decimal_digits();
  // A bit more than log10(2) digits a bit: what is surely too long is not written first.
  if (most > 0 && bit_length(magnitude) * 30102 / 100000 > most) raise_too_many_digits("");
  std::string digits = magnitude.str();
  if (most > 0 && static_cast<int64_t>(digits.size()) > most) raise_too_many_digits("");
  return digits;
}

BigInteger parse_digits(std::string_view digits, int base) {
  const bool power_of_two = (base & (base - 1)) == 0;
  const int64_t most = most_decimal_digits();
  if (!power_of_two && most > 0 && static_cast<int64_t>(digits.size()) > most)
    raise_too_many_digits(fmt::format(": value has {} digits", digits.size()));
  // Digits are gathered in 64 bits before they are put to the number.
  int64_t most_together = 1;
  for (uint64_t unit = static_cast<uint64_t>(base); unit <= UINT64_MAX / static_cast<uint64_t>(base); unit *= static_cast<uint64_t>(base))
    ++most_together;
  BigInteger value = 0;
  while (!digits.empty()) {
    const std::string_view part = digits.substr(0, static_cast<size_t>(most_together));
    digits.remove_prefix(part.size());
    uint64_t together = 0, unit = 1;
    for (const char c : part)
      together = together * static_cast<uint64_t>(base) + static_cast<uint64_t>(digit_value(c)), unit *= static_cast<uint64_t>(base);
    value = value * unit + together;
  }
  return value;
}

void floor_divide(const BigInteger& a, const BigInteger& b, BigInteger& quotient, BigInteger& rest) {
  divide_whole(abs(a), abs(b), quotient, rest);
  if ((a < 0) != (b < 0)) quotient = -quotient;
  if (a < 0) rest = -rest;
  if (rest != 0 && (rest < 0) != (b < 0)) {
    rest += b;
    --quotient;
  }
}

BigInteger integer_power(BigInteger a, const BigInteger& n) {
  if (n == 0 || a == 1) return 1;
  if (a == 0) return 0;
  if (a == -1) return (n & 1) != 0 ? -1 : 1;
  if (n > kMostBits || (bit_length(a) - 1) * static_cast<int64_t>(n) > kMostBits)
    raise("MemoryError", "an integer of more than 2**26 bits", "math.log and floats tell of larger numbers");
  BigInteger power = a;
  for (int64_t bit = bit_length(n) - 2; bit >= 0; --bit) {
    power = product(power, power);
    if (bit_test(n, static_cast<unsigned>(bit))) power = product(power, a);
  }
  return power;
}

BigInteger power_modulo(Interpreter& in, const BigInteger& a, const BigInteger& b, const BigInteger& m) {
  if (m == 0) raise("ValueError", "pow() 3rd argument cannot be 0");
  const BigInteger modulus = abs(m);
  BigInteger unused, base;
  floor_divide(a, modulus, unused, base);
  if (b < 0) {  // the inverse, by the extended Euclidean algorithm
    BigInteger r0 = modulus, r1 = base, t0 = 0, t1 = 1;
    while (r1 != 0) {
      const BigInteger q = r0 / r1;
      r0 = std::exchange(r1, r0 - q * r1);
      t0 = std::exchange(t1, t0 - q * t1);
    }
    if (r0 != 1) raise("ValueError", "base is not invertible for the given modulus");
    base = t0 < 0 ? BigInteger(t0 + modulus) : t0;
  }
  BigInteger result = BigInteger(1) % modulus;
  const BigInteger exponent = abs(b);
  for (int64_t bit = bit_length(exponent) - 1; bit >= 0; --bit) {
    poll(in);
    result = result * result % modulus;
    if (bit_test(exponent, static_cast<unsigned>(bit))) result = result * base % modulus;
  }
  return m < 0 && result != 0 ? BigInteger(result + m) : result;
}

}  // namespace gasell
