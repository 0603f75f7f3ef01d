// Text of numbers and numbers from text, as CPython writes and reads them; the numeric operations that are more than a C++ operator.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/session/value.h"

namespace gasell {

/// Room for the product of two 64-bit ints.
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

// ---- text ----
/// repr and str of a float: the shortest text that reads back as the same double, with an exponent outside [1e-4, 1e16); "inf", "nan".
std::string float_repr(double v);
/// As float_repr, of the shortest text that reads back as the same float (NumPy's float32).
std::string float_repr(float v);
/// "(1+2j)", "1j", "(-0-1j)".
std::string complex_repr(std::complex<double> v);

// ---- reading; ValueError with CPython's words ----
/// int(text, base): blanks around, sign, underscores, prefixes; base 0 or 2 to 36. ValueError, also for more decimal digits than Python
/// reads.
Value parse_integer(std::string_view text, int64_t base = 10);
/// The same; nullopt where the text is none. `base` is one of those.
std::optional<Value> read_integer(std::string_view text, int64_t base);
std::string no_integer(std::string_view text, int64_t base);  // what int() says of such a text
/// The same of an int of 64 bits: OverflowError beyond.
int64_t parse_int(std::string_view text, int64_t base = 10);
double parse_float(std::string_view text);
std::optional<double> read_float(std::string_view text);  // nullopt where the text is none
std::string no_float(std::string_view text);
std::complex<double> parse_complex(std::string_view text);

// ---- arithmetic ----
/// OverflowError: an int result beyond 64 bits. `operation` is the operator or function as the user wrote it: "+", "<<",
/// "math.factorial()".
[[noreturn]] void raise_int_overflow(std::string_view operation);
/// int(v): truncates. OverflowError for infinities, ValueError for nan.
Value float_to_integer(double v);
/// The same of an int of 64 bits: OverflowError beyond.
int64_t float_to_int(double v);
/// a op b of two ints whose result may need more than 64 bits (big_integer.h): the slow path of int_binary.
[[gnu::noinline]] Value big_binary(ast::BinaryOp op, int64_t a, int64_t b);
/// round(v, digits), correctly rounded from the exact binary value, ties to even.
double round_to_digits(double v, int64_t digits);
/// a // b and a % b of floats, with the sign of b. ZeroDivisionError for b == 0.
double float_floordiv(double a, double b);
double float_mod(double a, double b);
/// a ** b of floats; where the result is complex (negative base, fractional exponent) a Complex. ZeroDivisionError, OverflowError as
/// CPython.
Value float_pow(double a, double b);
/// a // b and a % b of ints, rounding down. ZeroDivisionError "integer division or modulo by zero" for b == 0.
int64_t int_floordiv(int64_t a, int64_t b);
int64_t int_mod(int64_t a, int64_t b);
/// a ** b of ints: an int, or a float for negative b. ZeroDivisionError.
Value int_pow(int64_t a, int64_t b);
/// pow(a, b, m): negative b by the modular inverse.
int64_t int_pow_mod(int64_t a, int64_t b, int64_t m);
/// a / b of ints, correctly rounded.
double int_truediv(int64_t a, int64_t b);
/// Order of an int and a double by exact value: -1, 0, 1; 2 when b is nan.
int compare_int_float(int64_t a, double b);

std::complex<double> complex_divide(std::complex<double> a, std::complex<double> b);
std::complex<double> complex_pow(std::complex<double> a, std::complex<double> b);

/// hash() of numbers: equal numbers of different types have equal hashes.
int64_t hash_int(int64_t v);
int64_t hash_float(double v);
int64_t hash_complex(std::complex<double> v);

// ---- format(v, spec): format.cpp ----
std::string format_int(int64_t v, std::string_view spec, std::string_view type_name = "int");
std::string format_float(double v, std::string_view spec, std::string_view type_name = "float");
std::string format_complex(std::complex<double> v, std::string_view spec);
std::string format_str(std::string_view v, std::string_view spec);
/// Format of a bool: with an empty spec "True", else as int.
std::string format_bool(bool v, std::string_view spec);

}  // namespace gasell
