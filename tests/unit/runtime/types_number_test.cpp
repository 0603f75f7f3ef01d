// Text of numbers, numbers from text, arithmetic. The expected values are CPython 3.11's.
#include <cmath>
#include <limits>

#include "catch.h"
#include "runtime/session/big_integer.h"
#include "runtime/session/number.h"
#include "runtime/session/objects.h"

using namespace gasell;

namespace {

/// The message of the Python exception that a call raises, after its name; "" when it raises none.
template <class F>
std::string raised(F f) {
  try {
    f();
  } catch (const Raised& e) {
    const auto& x = *e.value.as<Exception>();
    return x.type().name + ": " + x.args.at(0).as<Str>()->value;
  }
  return "";
}

}  // namespace

TEST_CASE("float_repr is the shortest text that reads back, laid out as CPython does") {
  CHECK(float_repr(0.1) == "0.1");
  CHECK(float_repr(0.1 + 0.2) == "0.30000000000000004");
  CHECK(float_repr(1e15) == "1000000000000000.0");
  CHECK(float_repr(1e16) == "1e+16");
  CHECK(float_repr(1e22) == "1e+22");
  CHECK(float_repr(123456789012345678.0) == "1.2345678901234568e+17");
  CHECK(float_repr(0.0001) == "0.0001");
  CHECK(float_repr(0.00001) == "1e-05");
  CHECK(float_repr(-0.0) == "-0.0");
  CHECK(float_repr(5e-324) == "5e-324");
  CHECK(float_repr(1.7976931348623157e308) == "1.7976931348623157e+308");
  CHECK(float_repr(HUGE_VAL) == "inf");
  CHECK(float_repr(-HUGE_VAL) == "-inf");
  CHECK(float_repr(std::nan("")) == "nan");
  CHECK(float_repr(0.1F) == "0.1");
  CHECK(float_repr(16777216.0F) == "16777216.0");
}

TEST_CASE("complex_repr leaves out a positive zero real part only") {
  CHECK(complex_repr({1, 2}) == "(1+2j)");
  CHECK(complex_repr({0, 1}) == "1j");
  CHECK(complex_repr({-0.0, -1}) == "(-0-1j)");
  CHECK(complex_repr({1e16, 0.5}) == "(1e+16+0.5j)");
  CHECK(complex_repr({std::nan(""), HUGE_VAL}) == "(nan+infj)");
}

TEST_CASE("parse_int takes what int() takes") {
  CHECK(parse_int(" 12_000\n") == 12000);
  CHECK(parse_int("-0x1f", 16) == -31);
  CHECK(parse_int("0b101", 0) == 5);
  CHECK(parse_int("zz", 36) == 1295);
  CHECK(parse_int("-9223372036854775808") == INT64_MIN);
  CHECK(parse_int("\u0661\u0662") == 12);
  CHECK(raised([] { parse_int("12__0"); }) == "ValueError: invalid literal for int() with base 10: '12__0'");
  CHECK(raised([] { parse_int("010", 0); }) == "ValueError: invalid literal for int() with base 0: '010'");
  CHECK(raised([] { parse_int("1.5"); }) == "ValueError: invalid literal for int() with base 10: '1.5'");
  CHECK(raised([] { parse_int("1", 37); }) == "ValueError: int() base must be >= 2 and <= 36, or 0");
  CHECK(raised([] { parse_int("9223372036854775808"); }).starts_with("OverflowError: "));
}

TEST_CASE("parse_float and parse_complex take what float() and complex() take") {
  CHECK(parse_float("1e3") == 1000);
  CHECK(parse_float(" 1_000.5 ") == 1000.5);
  CHECK(parse_float("-Infinity") == -HUGE_VAL);
  CHECK(std::isnan(parse_float("nan")));
  CHECK(parse_float("1e400") == HUGE_VAL);
  CHECK(raised([] { parse_float("1__0"); }) == "ValueError: could not convert string to float: '1__0'");
  CHECK(raised([] { parse_float(""); }) == "ValueError: could not convert string to float: ''");
  CHECK(parse_complex("1+2j") == std::complex<double>(1, 2));
  CHECK(parse_complex(" (-j) ") == std::complex<double>(0, -1));
  CHECK(raised([] { parse_complex("1 + 2j"); }) == "ValueError: complex() arg is a malformed string");
}

TEST_CASE("round_to_digits rounds the exact binary value, ties to even") {
  CHECK(round_to_digits(2.675, 2) == 2.67);
  CHECK(round_to_digits(0.125, 2) == 0.12);
  CHECK(round_to_digits(1250.0, -2) == 1200.0);
  CHECK(round_to_digits(1350.0, -2) == 1400.0);
  CHECK(round_to_digits(99.5, -2) == 100.0);
  CHECK(std::signbit(round_to_digits(-0.4, 0)));
}

TEST_CASE("division and modulo round down and follow the divisor's sign") {
  CHECK(int_floordiv(-7, 2) == -4);
  CHECK(int_mod(-7, 2) == 1);
  CHECK(int_mod(7, -2) == -1);
  CHECK(int_mod(INT64_MIN, -1) == 0);
  CHECK(raised([] { int_floordiv(INT64_MIN, -1); }).starts_with("OverflowError: "));
  CHECK(float_floordiv(-7.5, 2) == -4.0);
  CHECK(float_mod(-7.5, 2) == 0.5);
  CHECK(std::signbit(float_mod(6, -3)));
  CHECK(int_truediv(9007199254740993, 3) == 3002399751580331.0);
  CHECK(int_truediv(INT64_MIN, -1) == 0x1p63);
}

TEST_CASE("powers") {
  CHECK(int_pow(2, 62).as_int() == int64_t{1} << 62);
  CHECK(int_pow(2, -1).as_float() == 0.5);
  CHECK(int_pow(2, 63).as<BigInt>() != nullptr);
  CHECK(raised([] { int_pow(0, -1); }) == "ZeroDivisionError: 0.0 cannot be raised to a negative power");
  CHECK(int_pow_mod(3, -1, 7) == 5);
  CHECK(int_pow_mod(3, 4, -5) == -4);
  CHECK(raised([] { int_pow_mod(2, -1, 4); }) == "ValueError: base is not invertible for the given modulus");
  CHECK(float_pow(-8, 1.0 / 3).as<Complex>() != nullptr);
  CHECK(raised([] { complex_pow(0, -1); }) == "ZeroDivisionError: 0.0 to a negative or complex power");
}

TEST_CASE("hashes of equal numbers are equal, and CPython's") {
  CHECK(hash_float(1.0) == hash_int(1));
  CHECK(hash_int(-1) == -2);
  CHECK(hash_float(0.5) == 1152921504606846976);
  CHECK(hash_complex({0, 1}) == 1000003);
  CHECK(compare_int_float((int64_t{1} << 53) + 1, 0x1p53) == 1);
  CHECK(compare_int_float(1, std::nan("")) == 2);
}
