// Unicode text: properties, case, repr. The expected values are CPython 3.11's (Unicode 14).
#include "catch.h"
#include "runtime/session/str_text.h"

using namespace gasell;

TEST_CASE("UTF-8 by code points") {
  CHECK(code_point_count("h\u00e9llo\U0001F600") == 6);
  CHECK(byte_offset("h\u00e9llo", 2) == 3);
  CHECK(byte_offset("h\u00e9", 9) == 3);
  CHECK(encode(decode("a\u00e9\u20ac\U0001F600")) == "a\u00e9\u20ac\U0001F600");
  CHECK(decode("a\xff z") == U"a\uFFFD z");
  CHECK(is_ascii("0123456789abcdef"));
  CHECK_FALSE(is_ascii("0123456789abcde\u00e9"));
}

TEST_CASE("case by full mapping") {
  CHECK(to_upper("stra\u00dfe \ufb01") == "STRASSE FI");
  CHECK(to_lower("\u0391\u03a3 \u03a3\u0391\u03a3.") == "\u03b1\u03c2 \u03c3\u03b1\u03c2.");
  CHECK(to_lower("\u0130") == "i\u0307");
  CHECK(to_title("they're bill's \u01c6") == "They'Re Bill'S \u01c5");
  CHECK(capitalize("\u00dfA") == "Ssa");
  CHECK(swap_case("aB\u00df") == "AbSS");
  CHECK(case_fold("\u00dfA") == "ssa");
}

TEST_CASE("properties") {
  CHECK(is_digit_like(U'\u00b2'));
  CHECK_FALSE(is_decimal(U'\u00b2'));
  CHECK(is_numeric(U'\u00bd'));
  CHECK(is_numeric(U'\u4e09'));
  CHECK(decimal_digit(U'\u0663') == 3);
  CHECK(decimal_digit(U'\U0001D7D9') == 1);
  CHECK(is_lower(U'\u00aa'));
  CHECK(is_upper(U'\u2160'));
  CHECK(is_space(U'\u3000'));
  CHECK_FALSE(is_space(U'\u200b'));
  CHECK(is_identifier("\u00e91"));
  CHECK_FALSE(is_identifier("1a"));
}

TEST_CASE("repr chooses quotes and escapes") {
  CHECK(str_repr("it's") == "\"it's\"");
  CHECK(str_repr("a\"b'c") == "'a\"b\\'c'");
  CHECK(str_repr("\n\t\r\\") == "'\\n\\t\\r\\\\'");
  CHECK(str_repr(std::string("\0\x7f", 2)) == "'\\x00\\x7f'");
  CHECK(str_repr("\u00a0\u200b\u00e9") == "'\\xa0\\u200b\u00e9'");
  CHECK(str_repr("\u00e9\U0001F600", true) == "'\\xe9\\U0001f600'");
}
