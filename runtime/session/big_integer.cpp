// The slots of integers that 64 bits do not hold.
#include "runtime/session/big_integer.h"

#include <cmath>

#include "runtime/session/big_integer_products.h"
#include "runtime/session/number.h"
#include "runtime/session/objects.h"
#include "runtime/session/operations_numbers.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

/// What `a op b` is for two ints; nullopt for @.
std::optional<Value> integer_binary(ast::BinaryOp op, const BigInteger& a, const BigInteger& b);

void require_bits(int64_t bits) {
  if (bits > kMostBits) raise("MemoryError", "an integer of more than 2**26 bits", "math.log and floats tell of larger numbers");
}

Value shifted(const BigInteger& a, const BigInteger& b, bool left) {
  if (b < 0) raise("ValueError", "negative shift count");
  if (left) {
    if (a == 0) return Value::of(0);
    require_bits(b > kMostBits ? kMostBits + 1 : bit_length(a) + static_cast<int64_t>(b));
    return make_integer(a << static_cast<unsigned>(b));
  }
  if (b > bit_length(a)) return Value::of(a < 0 ? -1 : 0);
  const BigInteger unit = BigInteger(1) << static_cast<unsigned>(b);
  BigInteger quotient, rest;
  floor_divide(a, unit, quotient, rest);
  return make_integer(std::move(quotient));
}

/// The nearest double to (q + a part below 1 that is not 0 where `more`) * 2**exponent, for q >= 0 of at least 66 bits or exact.
double nearest(const BigInteger& q, bool more, int64_t exponent, const char* too_large) {
  if (q == 0) return 0;
  const int64_t bits = bit_length(q), top = bits + exponent;
  if (top > 1024) raise("OverflowError", too_large);
  if (top < -1074) return 0;
  const int64_t kept = std::min<int64_t>(53, top + 1074), drop = bits - kept;
  BigInteger head = q;
  if (drop > 0) {
    head >>= static_cast<unsigned>(drop);
    const BigInteger rest = q - (head << static_cast<unsigned>(drop)), half = BigInteger(1) << static_cast<unsigned>(drop - 1);
    if (rest > half || (rest == half && (more || (head & 1) != 0))) ++head;
  }
  const double value =
      std::ldexp(static_cast<double>(static_cast<uint64_t>(head)), static_cast<int>(exponent + std::max<int64_t>(drop, 0)));
  if (std::isinf(value)) raise("OverflowError", too_large);
  return value;
}

double true_divide(const BigInteger& a, const BigInteger& b) {
  if (b == 0) raise("ZeroDivisionError", "division by zero");
  const BigInteger x = abs(a), y = abs(b);
  const int64_t shift = 66 + bit_length(y) - bit_length(x);
  BigInteger numerator = x, denominator = y, quotient, rest;
  if (shift > 0)
    numerator <<= static_cast<unsigned>(shift);
  else
    denominator <<= static_cast<unsigned>(-shift);
  divide_qr(numerator, denominator, quotient, rest);
  const double value = nearest(quotient, rest != 0, -shift, "integer division result too large for a float");
  return (a < 0) != (b < 0) ? -value : value;
}

std::optional<Value> integer_binary(ast::BinaryOp op, const BigInteger& a, const BigInteger& b) {
  using enum ast::BinaryOp;
  switch (op) {
    case add: return make_integer(a + b);
    case sub: return make_integer(a - b);
    case mul: require_bits(bit_length(a) + bit_length(b)); return make_integer(product(a, b));
    case div: return Value::of(true_divide(a, b));
    case floordiv:
    case mod: {
      if (b == 0) raise("ZeroDivisionError", op == mod ? "integer modulo by zero" : "integer division or modulo by zero");
      BigInteger quotient, rest;
      floor_divide(a, b, quotient, rest);
      return make_integer(std::move(op == mod ? rest : quotient));
    }
    case pow:
      if (b < 0) {
        if (a == 0) raise("ZeroDivisionError", "0.0 cannot be raised to a negative power");
        return float_pow(to_double(a), to_double(b));
      }
      return make_integer(integer_power(a, b));
    case lshift: return shifted(a, b, true);
    case rshift: return shifted(a, b, false);
    case bit_and: return make_integer(a & b);
    case bit_or: return make_integer(a | b);
    case bit_xor: return make_integer(a ^ b);
    default: return {};
  }
}

/// -1, 0 or 1 as a lies to b; 2 for nan.
int order_to_float(const BigInteger& a, double b) {
  if (std::isnan(b)) return 2;
  if (std::isinf(b)) return b > 0 ? -1 : 1;
  const BigInteger whole(std::trunc(b));
  return a < whole ? -1 : a > whole ? 1 : 0;  // what 64 bits do not hold has no doubles with a fraction beside it
}

/// A float's operators with an int beyond 64 bits.
std::optional<Value> float_with(ast::BinaryOp op, double a, double b) {
  using enum ast::BinaryOp;
  switch (op) {
    case add: return float_binary<add>(a, b);
    case sub: return float_binary<sub>(a, b);
    case mul: return float_binary<mul>(a, b);
    case div: return float_binary<div>(a, b);
    case floordiv: return float_binary<floordiv>(a, b);
    case mod: return float_binary<mod>(a, b);
    case pow: return float_binary<pow>(a, b);
    default: return {};
  }
}

}  // namespace

const Type& BigInt::type() const { return int_type(); }
std::string BigInt::repr(Interpreter&) { return (value < 0 ? "-" : "") + big_digits(value, 'd'); }
std::string BigInt::format(Interpreter& in, std::string_view spec) { return spec.empty() ? repr(in) : format_big_int(value, spec); }

int64_t BigInt::hash(Interpreter&) {
  constexpr int64_t kModulus = (int64_t{1} << 61) - 1;
  const auto rest = static_cast<int64_t>(abs(value) % kModulus);
  const int64_t h = value < 0 ? -rest : rest;
  return h == -1 ? -2 : h;
}

std::optional<Value> BigInt::compare(Interpreter&, ast::CompareOp op, const Value& other) {
  int order = 0;
  if (is_integer(other))
    order = value.compare(integer_of(other));
  else if (other.is_float())
    order = order_to_float(value, other.as_float());
  else
    return {};
  using enum ast::CompareOp;
  if (order == 2) return Value::of(op == ne);
  switch (op) {
    case eq: return Value::of(order == 0);
    case ne: return Value::of(order != 0);
    case lt: return Value::of(order < 0);
    case le: return Value::of(order <= 0);
    case gt: return Value::of(order > 0);
    case ge: return Value::of(order >= 0);
    default: return {};
  }
}

std::optional<Value> BigInt::binary(Interpreter&, ast::BinaryOp op, const Value& other) {
  if (is_integer(other)) return integer_binary(op, value, integer_of(other));
  if (other.is_float()) return float_with(op, gasell::to_double(value), other.as_float());
  return {};
}

std::optional<Value> BigInt::reflected(Interpreter&, ast::BinaryOp op, const Value& other) {
  if (is_integer(other)) return integer_binary(op, integer_of(other), value);
  if (other.is_float()) return float_with(op, other.as_float(), gasell::to_double(value));
  return {};
}

Value BigInt::unary(Interpreter&, ast::UnaryOp op) {
  if (op == ast::UnaryOp::pos) return Value::of(this);
  return make_integer(op == ast::UnaryOp::neg ? BigInteger(-value) : BigInteger(-value - 1));
}

std::optional<Value> BigInt::to_float(Interpreter&) { return Value::of(gasell::to_double(value)); }
std::optional<Value> BigInt::to_complex(Interpreter&) { return Value::make<Complex>(std::complex<double>(gasell::to_double(value), 0)); }
std::optional<int64_t> BigInt::to_index(Interpreter&) { raise("OverflowError", "cannot fit 'int' into an index-sized integer"); }

Value make_integer(BigInteger v) {
  static const BigInteger kLeast(INT64_MIN), kMost(INT64_MAX);
  if (v >= kLeast && v <= kMost) return Value::of(static_cast<int64_t>(v));
  return Value::make<BigInt>(std::move(v));
}

bool is_integer(const Value& v) { return v.is_int() || v.is_bool() || v.as<BigInt>(); }

BigInteger integer_of(const Value& v) {
  const auto* big = v.as<BigInt>();
  return big ? big->value : BigInteger(v.as_int());
}

BigInteger to_big_index(Interpreter& in, const Value& v) { return is_integer(v) ? integer_of(v) : BigInteger(to_index(in, v)); }

double to_double(const BigInteger& v) {
  const double value = nearest(abs(v), false, 0, "int too large to convert to float");
  return v < 0 ? -value : value;
}

Value big_binary(ast::BinaryOp op, int64_t a, int64_t b) { return *integer_binary(op, BigInteger(a), BigInteger(b)); }

Value float_to_integer(double v) {
  if (std::abs(v) < 0x1p63 || !std::isfinite(v)) return Value::of(float_to_int(v));
  return make_integer(BigInteger(std::trunc(v)));
}

}  // namespace gasell
