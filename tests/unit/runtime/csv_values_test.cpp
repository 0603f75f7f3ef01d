#include "runtime/io/csv/values.h"

#include <cstdlib>
#include <random>
#include <string>

#include "catch.h"
#include "runtime/io/csv/dates.h"
#include "runtime/io/csv/numbers.h"

using namespace gasell::csv;

namespace {

bool fast_decimal(const std::string& text, double& value) {
  const std::string padded = text + std::string(32, '7');
  return parse_decimal(padded.data(), padded.data() + text.size(), value);
}
bool fast_integer(const std::string& text, int64_t& value) {
  const std::string padded = text + std::string(32, '7');
  return parse_integer(padded.data(), padded.data() + text.size(), value);
}

}  // namespace

TEST_CASE("decimal fractions are the nearest doubles") {
  std::mt19937_64 random(1);
  int fast = 0;
  for (int i = 0; i < 200000; ++i) {
    std::string text = random() % 3 ? "" : "-";
    for (uint64_t k = random() % 10; k > 0; --k) text += static_cast<char>('0' + random() % 10);
    if (random() % 4) text += ".";
    for (uint64_t k = random() % 17; k > 0; --k) text += static_cast<char>('0' + random() % 10);
    double value;
    char* end;
    const double expected = std::strtod(text.c_str(), &end);
    if (!fast_decimal(text, value)) continue;
    ++fast;
    INFO(text);
    REQUIRE(end == text.c_str() + text.size());
    REQUIRE(value == expected);
  }
  CHECK(fast > 50000);
  double value;
  for (const char* text :
       {"", "-", ".", "-.", "1.2.3", "1e5", "a", "1a", "1.a", "--1", "1-", " 1", "1 ", "12345678a", "123456789.", "inf"}) {
    INFO(text);
    CHECK(!fast_decimal(text, value));
  }
  CHECK((fast_decimal("-0", value) && std::signbit(value)));
  CHECK((fast_decimal(".5", value) && value == 0.5));
  CHECK((fast_decimal("5.", value) && value == 5));
}

TEST_CASE("integers are read or refused") {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100000; ++i) {
    const auto number = static_cast<int64_t>(random() >> (random() % 60 + 4)) * (i % 2 ? 1 : -1);
    int64_t value = 0;
    const bool read = fast_integer(std::to_string(number), value);
    if (std::abs(number) < 1000000000000000000) REQUIRE(read);
    if (read) REQUIRE(value == number);
  }
  int64_t value;
  for (const char* text : {"", "-", "1.", "a", "1a", "12345678a", "123456789012345678901", "1 ", "+1", "--1", "1234567/", "1234567:"}) {
    INFO(text);
    CHECK(!fast_integer(text, value));
  }
}

TEST_CASE("kinds of values") {
  const ValueRules rules;
  const auto kind = [&](const char* text) { return static_cast<int>(kind_of(text, rules)); };
  for (const char* text : {"1", "-1", "+7", " 12 ", "007", "9223372036854775807", "-9223372036854775808"})
    CHECK(kind(text) == static_cast<int>(Kind::i64));
  for (const char* text : {"9223372036854775808", "18446744073709551615"}) CHECK(kind(text) == static_cast<int>(Kind::u64));
  for (const char* text : {"18446744073709551616", "-9223372036854775809"}) CHECK(kind(text) == static_cast<int>(Kind::integer));
  for (const char* text : {"1.", ".5", "1e5", "-1E-5", "inf", "-Infinity", "+iNf", "1.5 "})
    CHECK(kind(text) == static_cast<int>(Kind::f64));
  for (const char* text : {"True", "false", "TRUE", "fAlse"}) CHECK(kind(text) == static_cast<int>(Kind::boolean));
  for (const char* text : {"", " ", "1_0", "0x10", "abc", "1,5", "--1", "e5", "nan"}) CHECK(kind(text) == static_cast<int>(Kind::text));

  ValueRules german;
  german.decimal = ',';
  german.thousands = '.';
  CHECK(parse_float_text("1.234.567,5", german) == 1234567.5);
  CHECK(parse_integer_text("1.234", german)->magnitude == 1234);
  ValueRules grouped;
  grouped.thousands = ',';
  CHECK(parse_integer_text("-1,234", grouped)->magnitude == 1234);
}

TEST_CASE("a column's kind is the first that all its values are") {
  CHECK(wider(Kind::nothing, Kind::i64) == Kind::i64);
  CHECK(wider(Kind::i64, Kind::f64) == Kind::f64);
  CHECK(wider(Kind::f64, Kind::i64) == Kind::f64);
  CHECK(wider(Kind::i64, Kind::u64) == Kind::u64);
  CHECK(wider(Kind::u64, Kind::i64) == Kind::integer);
  CHECK(wider(Kind::boolean, Kind::i64) == Kind::text);
  CHECK(wider(Kind::i64, Kind::boolean) == Kind::text);
  CHECK(wider(Kind::datetime, Kind::text) == Kind::text);
  CHECK(wider(Kind::boolean, Kind::boolean) == Kind::boolean);
}

TEST_CASE("datetimes") {
  const auto read = [](const char* text, bool day_first = false) -> std::optional<int64_t> {
    const auto format = guess_format(text, day_first);
    return format ? parse_date(text, *format) : std::nullopt;
  };
  CHECK(read("1970-01-01") == 0);
  CHECK(read("2009-01-01 00:00:01") == 1230768001000000000);
  CHECK(read("2024-02-29T23:59:59.123456789") == 1709251199123456789);
  CHECK(read("20240229") == 1709164800000000000);
  CHECK(read("2024-02-29 10:30") == 1709202600000000000);
  CHECK(read("2024-02-29T12:00:00+02:00") == 1709200800000000000);
  CHECK(read("2024-02-29T10:00:00Z") == 1709200800000000000);
  CHECK(read("02/29/2024") == 1709164800000000000);
  CHECK(read("29/02/2024") == 1709164800000000000);
  CHECK(read("03/04/2024", true) == read("2024-04-03"));
  CHECK(read("2/29/2024 1:30:00 PM") == 1709213400000000000);
  CHECK(read("1677-09-21 00:12:43") == std::nullopt);
  for (const char* wrong : {"", "2023-02-29", "2024-01-01 25:00:00", "abc", "2024-01-01 10:00:00x"}) {
    INFO(wrong);
    CHECK(!read(wrong));
  }
  const auto other = guess_format("2024-01-01", false);
  CHECK(!parse_date("2024-01-01 10:00:00", *other));
  CHECK(parse_date("17 May 2024", format_of("%d %b %Y")) == read("2024-05-17"));
  CHECK(parse_date("2024-138", format_of("%Y-%j")) == read("2024-05-17"));
  CHECK_THROWS(format_of("%Q"));
}
