// The format mini-language. The expected texts are CPython 3.11's.
#include "catch.h"
#include "runtime/session/number.h"
#include "runtime/session/objects.h"

using namespace gasell;

namespace {

template <class F>
std::string raised(F f) {
  try {
    f();
  } catch (const Raised& e) {
    return e.value.as<Exception>()->args.at(0).as<Str>()->value;
  }
  return "";
}

}  // namespace

TEST_CASE("ints by a spec") {
  CHECK(format_int(1234567, ",") == "1,234,567");
  CHECK(format_int(255, "#010x") == "0x000000ff");
  CHECK(format_int(-5, "08d") == "-0000005");
  CHECK(format_int(1234, "010,") == "00,001,234");
  CHECK(format_int(1234, "09,") == "0,001,234");
  CHECK(format_int(1234, "08,") == "0,001,234");
  CHECK(format_int(3735928559, "_x") == "dead_beef");
  CHECK(format_int(97, "c") == "a");
  CHECK(format_int(5, "\u00e9^5") == "\u00e9\u00e95\u00e9\u00e9");
  CHECK(format_int(1, "e") == "1.000000e+00");
  CHECK(format_int(7, " d") == " 7");
  CHECK(format_bool(true, "") == "True");
  CHECK(format_bool(true, "3") == "  1");
}

TEST_CASE("floats by a spec") {
  CHECK(format_float(1234567.891, ",.2f") == "1,234,567.89");
  CHECK(format_float(3.14159, "+.3e") == "+3.142e+00");
  CHECK(format_float(0.5, "%") == "50.000000%");
  CHECK(format_float(1, "10") == "       1.0");
  CHECK(format_float(12345.678, ".3") == "1.23e+04");
  CHECK(format_float(1, "#g") == "1.00000");
  CHECK(format_float(-0.0, "z.1f") == "0.0");
  CHECK(format_float(-0.04, "z.1f") == "0.0");
  CHECK(format_float(0.1, ".20f") == "0.10000000000000000555");
  CHECK(format_float(2.5, ".0f") == "2");
  CHECK(format_float(-HUGE_VAL, "010") == "-000000inf");
}

TEST_CASE("complex numbers and strings by a spec") {
  CHECK(format_complex({1, 2}, ".1f") == "1.0+2.0j");
  CHECK(format_complex({1, 2}, ">8") == "  (1+2j)");
  CHECK(format_str("abc", "*^7.2") == "**ab***");
  CHECK(format_str("abc", "05") == "abc00");
}

TEST_CASE("wrong specs are refused in CPython's words") {
  CHECK(raised([] { format_int(1, "y"); }) == "Unknown format code 'y' for object of type 'int'");
  CHECK(raised([] { format_int(1, "yy"); }) == "Invalid format specifier 'yy' for object of type 'int'");
  CHECK(raised([] { format_int(1, ".3"); }) == "Precision not allowed in integer format specifier");
  CHECK(raised([] { format_int(1, ",x"); }) == "Cannot specify ',' with 'x'.");
  CHECK(raised([] { format_int(1, ",_"); }) == "Cannot specify both ',' and '_'.");
  CHECK(raised([] { format_int(1, "."); }) == "Format specifier missing precision");
  CHECK(raised([] { format_float(1, "d"); }) == "Unknown format code 'd' for object of type 'float'");
  CHECK(raised([] { format_str("a", "+"); }) == "Sign not allowed in string format specifier");
  CHECK(raised([] { format_str("a", "=5"); }) == "'=' alignment not allowed in string format specifier");
  CHECK(raised([] { format_complex({1, 1}, "05"); }) == "Zero padding is not allowed in complex format specifier");
  CHECK(raised([] { format_int(-1, "c"); }) == "%c arg not in range(0x110000)");
}
