// Integers that 64 bits do not hold. An int of a script is an immediate 64-bit value wherever it fits, and one of these objects where it
// does not: no BigInt ever holds a value that fits, so that equal ints have one form.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/session/value.h"

namespace gasell {

using BigInteger = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<>, boost::multiprecision::et_off>;

class BigInt final : public Object {
 public:
  explicit BigInt(BigInteger v) : value(std::move(v)) {}
  const Type& type() const override;  // int
  std::string repr(Interpreter&) override;
  std::string format(Interpreter&, std::string_view spec) override;
  bool truth(Interpreter&) override { return true; }
  int64_t hash(Interpreter&) override;
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;
  std::optional<Value> binary(Interpreter&, ast::BinaryOp, const Value&) override;
  std::optional<Value> reflected(Interpreter&, ast::BinaryOp, const Value&) override;
  Value unary(Interpreter&, ast::UnaryOp) override;
  std::optional<Value> to_int(Interpreter&) override { return Value::of(this); }
  std::optional<Value> to_float(Interpreter&) override;
  std::optional<Value> to_complex(Interpreter&) override;
  std::optional<int64_t> to_index(Interpreter&) override;  // OverflowError

  const BigInteger value;
};

/// The int of this value, in the one form it has.
Value make_integer(BigInteger v);
/// Whether it is an int of any size, or a bool.
bool is_integer(const Value& v);
/// Its value; v is an integer by is_integer().
BigInteger integer_of(const Value& v);
/// operator.index(v) of any size: TypeError "'float' object cannot be interpreted as an integer".
BigInteger to_big_index(Interpreter& in, const Value& v);

/// Bits of the absolute value.
int64_t bit_length(const BigInteger& v);
/// The nearest double, ties to even. OverflowError "int too large to convert to float".
double to_double(const BigInteger& v);
/// Digits of |v| in the base of the format's letter: d, b, o, x or X. ValueError for more decimal digits than Python writes.
std::string big_digits(const BigInteger& v, char type);
/// format(v, spec) under a spec that is not empty.
std::string format_big_int(const BigInteger& v, std::string_view spec);
/// The value of digits of a base from 2 to 36, without sign and underscores. ValueError for more decimal digits than Python reads.
BigInteger parse_digits(std::string_view digits, int base);
/// a // b and a % b, rounding down; b is not 0.
void floor_divide(const BigInteger& a, const BigInteger& b, BigInteger& quotient, BigInteger& rest);
/// pow(a, b, m). ValueError for m = 0 and for a base without inverse.
BigInteger power_modulo(Interpreter& in, const BigInteger& a, const BigInteger& b, const BigInteger& m);
/// a ** n. MemoryError for results of more than kMostBits.
BigInteger integer_power(BigInteger a, const BigInteger& n);

/// Integers have at most so many bits (8 MiB): beyond, one multiplication takes longer than somebody waits for, and MemoryError says so.
inline constexpr int64_t kMostBits = int64_t{1} << 26;
/// The most decimal digits that are read and written, as CPython's sys.set_int_max_str_digits() has it; 0: any.
int64_t& most_decimal_digits();

}  // namespace gasell
