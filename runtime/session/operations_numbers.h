// The operators of immediate numbers (bool, int, float), inline: the interpreter's hot path.
#pragma once

#include <cmath>
#include <optional>

#include "runtime/session/number.h"
#include "runtime/session/value.h"

namespace gasell {

inline bool is_number(const Value& v) { return v.is_int() || v.is_float() || v.is_bool(); }
inline double number_as_double(const Value& v) { return v.is_float() ? v.as_float() : static_cast<double>(v.as_int()); }

/// a op b where both are ints (or bools taken as ints); a BigInt where 64 bits do not hold the result. ZeroDivisionError, ValueError as
/// Python words them.
template <ast::BinaryOp op>
inline Value int_binary(int64_t a, int64_t b) {
  using enum ast::BinaryOp;
  int64_t r = 0;
  if constexpr (op == add) {
    if (__builtin_add_overflow(a, b, &r)) [[unlikely]]
      return big_binary(op, a, b);
    return Value::of(r);
  } else if constexpr (op == sub) {
    if (__builtin_sub_overflow(a, b, &r)) [[unlikely]]
      return big_binary(op, a, b);
    return Value::of(r);
  } else if constexpr (op == mul) {
    if (__builtin_mul_overflow(a, b, &r)) [[unlikely]]
      return big_binary(op, a, b);
    return Value::of(r);
  } else if constexpr (op == div) {
    return Value::of(int_truediv(a, b));
  } else if constexpr (op == floordiv) {
    if (b == -1) [[unlikely]]
      return big_binary(op, a, b);
    return Value::of(int_floordiv(a, b));
  } else if constexpr (op == mod) {
    return Value::of(int_mod(a, b));
  } else if constexpr (op == pow) {
    return int_pow(a, b);
  } else if constexpr (op == lshift) {
    if (b < 0) raise("ValueError", "negative shift count");
    if (a == 0) return Value::of(int64_t{0});
    if (b > 62 || (a << b) >> b != a) return big_binary(op, a, b);
    return Value::of(static_cast<int64_t>(static_cast<uint64_t>(a) << b));
  } else if constexpr (op == rshift) {
    if (b < 0) raise("ValueError", "negative shift count");
    return Value::of(a >> (b > 63 ? 63 : b));
  } else if constexpr (op == bit_and) {
    return Value::of(a & b);
  } else if constexpr (op == bit_or) {
    return Value::of(a | b);
  } else {
    static_assert(op == bit_xor);
    return Value::of(a ^ b);
  }
}

/// Which operators floats have.
constexpr bool is_float_operator(ast::BinaryOp op) {
  using enum ast::BinaryOp;
  return op == add || op == sub || op == mul || op == div || op == floordiv || op == mod || op == pow;
}

template <ast::BinaryOp op>
inline Value float_binary(double a, double b) {
  using enum ast::BinaryOp;
  if constexpr (op == add) {
    return Value::of(a + b);
  } else if constexpr (op == sub) {
    return Value::of(a - b);
  } else if constexpr (op == mul) {
    return Value::of(a * b);
  } else if constexpr (op == div) {
    if (b == 0) [[unlikely]]
      raise("ZeroDivisionError", "float division by zero");
    return Value::of(a / b);
  } else if constexpr (op == floordiv) {
    return Value::of(float_floordiv(a, b));
  } else if constexpr (op == mod) {
    return Value::of(float_mod(a, b));
  } else {
    static_assert(op == pow);
    return float_pow(a, b);
  }
}

/// a op b for two numbers; nullopt where numbers have no such operator (matmul, bits of floats).
template <ast::BinaryOp op>
inline std::optional<Value> number_binary(const Value& a, const Value& b) {
  using enum ast::BinaryOp;
  if (a.is_float() || b.is_float()) {
    if constexpr (is_float_operator(op)) return float_binary<op>(number_as_double(a), number_as_double(b));
    return {};
  }
  if constexpr (op == matmul) {
    return {};
  } else {
    if constexpr (op == bit_and || op == bit_or || op == bit_xor) {
      if (a.is_bool() && b.is_bool()) return Value::of(int_binary<op>(a.as_int(), b.as_int()).as_int() != 0);
    }
    return int_binary<op>(a.as_int(), b.as_int());
  }
}

/// The order of two values of one ordered C++ type under an ordering comparison.
template <ast::CompareOp op, class T>
inline bool ordered(T a, T b) {
  using enum ast::CompareOp;
  if constexpr (op == eq) {
    return a == b;
  } else if constexpr (op == ne) {
    return a != b;
  } else if constexpr (op == lt) {
    return a < b;
  } else if constexpr (op == le) {
    return a <= b;
  } else if constexpr (op == gt) {
    return a > b;
  } else {
    static_assert(op == ge);
    return a >= b;
  }
}

template <ast::CompareOp op>
inline bool number_compare(const Value& a, const Value& b) {
  if (a.is_float() && b.is_float()) return ordered<op>(a.as_float(), b.as_float());
  if (!a.is_float() && !b.is_float()) return ordered<op>(a.as_int(), b.as_int());
  int order = a.is_float() ? compare_int_float(b.as_int(), a.as_float()) : compare_int_float(a.as_int(), b.as_float());
  if (order == 2) return op == ast::CompareOp::ne;
  return ordered<op>(a.is_float() ? -order : order, 0);
}

}  // namespace gasell
