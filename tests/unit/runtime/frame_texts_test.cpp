// Functions of texts and Python's regular expressions.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "catch.h"
#include "lang/diagnostic.h"
#include "runtime/frame/text_functions.h"

using namespace gasell;
using namespace gasell::frame;

namespace {

Column texts(Engine& engine, const std::vector<std::string>& values) {
  DictionaryBuilder builder;
  for (const std::string& v : values) builder.add(v);
  return text_column(engine, builder.finish(false));
}

std::vector<std::string> values_of(Engine& engine, Column column) {
  const ColumnData data = read(engine, column);
  std::vector<std::string> values;
  for (int64_t i = 0; i < data.count; ++i) {
    const int32_t code = data.as<int32_t>()[i];
    values.push_back(code < 0 ? "<NA>" : std::string((*column.dictionary)[code]));
  }
  return values;
}

std::string replaced(const char* pattern, const char* with, std::string_view text, int64_t flags = 0) {
  const auto regex = Regex::compile(pattern, flags);
  Regex::Matcher match(*regex);
  std::string out;
  replace_matches(text, match, RegexTemplate(with, *regex), -1, out);
  return out;
}

bool found(const char* pattern, std::string_view text, Regex::Matcher::Where where = Regex::Matcher::Where::anywhere) {
  Regex::Matcher match(*Regex::compile(pattern));
  return match.find(text, 0, where);
}

std::string message(const char* pattern) {
  try {
    Regex::compile(pattern);
  } catch (const Error& error) {
    return error.diagnostic().message;
  }
  return "";
}

}  // namespace

TEST_CASE("texts are changed once each, whatever rows have them") {
  Engine engine;
  std::vector<std::string> many;
  for (int i = 0; i < 30000; ++i) many.push_back("Text " + std::to_string(i % 7000));
  Column column = with_distinct_texts(engine, texts(engine, many));
  CHECK(column.dictionary->size() == 7000);
  std::atomic<int> calls = 0;
  const Column upper = map_texts(engine, column, TextFunction([&](std::string_view text, std::string& out) {
                                   ++calls;
                                   if (text.ends_with("99")) return false;
                                   out = text;
                                   out += "!";
                                   return true;
                                 }));
  CHECK(calls == 7000);
  const auto values = values_of(engine, upper);
  for (size_t i = 0; i < many.size(); ++i) REQUIRE(values[i] == (many[i].ends_with("99") ? "<NA>" : many[i] + "!"));
  const Column lengths =
      measure_texts(engine, upper, DType::i64, TextMeasure([](std::string_view text) { return std::optional<double>(text.size()); }));
  REQUIRE(lengths.validity);
  Column copy = lengths;
  const ColumnData data = read(engine, copy);
  for (size_t i = 0; i < many.size(); ++i) {
    REQUIRE(data.valid[i] == (values[i] != "<NA>"));
    if (data.valid[i]) REQUIRE(data.as<int64_t>()[i] == static_cast<int64_t>(values[i].size()));
  }
}

TEST_CASE("many texts are numbered, each once, in the order of their first appearance") {
  Engine engine;
  for (const int different : {1, 500, 90000, 2000000}) {  // and more than the tables of threads take
    std::vector<std::string> many;
    for (int i = 0; i < (different > 1000000 ? 1200000 : 150000); ++i)
      many.push_back(i % 7 == 3 ? "" : std::string(static_cast<size_t>(i % 3), 'x') + std::to_string(i * 7919L % different));
    Column column = texts(engine, many);
    const int64_t rows[] = {5, -1, 3, 149999, 3};
    const Column few = take(engine, column, rows, 5, true);
    Column found = with_distinct_texts(engine, column);
    std::map<std::string, int32_t> numbers;
    const ColumnData data = read(engine, found);
    for (size_t i = 0; i < many.size(); ++i) {
      const int32_t number = numbers.try_emplace(many[i], static_cast<int32_t>(numbers.size())).first->second;
      if (data.as<int32_t>()[i] != number) FAIL("text " << i);
    }
    REQUIRE(found.dictionary->is_distinct());
    REQUIRE(found.dictionary->size() == static_cast<int64_t>(numbers.size()));
    for (const auto& [text, number] : numbers) REQUIRE((*found.dictionary)[number] == text);
    CHECK(values_of(engine, with_distinct_texts(engine, few)) == std::vector<std::string>{many[5], "<NA>", many[3], many[149999], many[3]});
    CHECK(with_distinct_texts(engine, few).dictionary == found.dictionary);
  }
}

TEST_CASE("texts that are all different keep their numbers and their memory") {
  Engine engine;
  for (const int count : {100, 50000, 900000}) {
    std::vector<std::string> many;
    for (int i = 0; i < count; ++i) many.push_back(std::to_string(i));
    const Column column = texts(engine, many), found = with_distinct_texts(engine, column);
    CHECK(!column.dictionary->is_distinct());
    CHECK(found.dictionary->is_distinct());
    CHECK(found.dictionary->offsets() == column.dictionary->offsets());
    CHECK(found.values == column.values);
    CHECK(values_of(engine, found) == many);
  }
}

TEST_CASE("texts are ranked by their bytes, equal ones the same") {
  Engine engine;
  std::mt19937 random(7);
  for (const char* prefix : {"", "the same at the beginning, "}) {
    std::vector<std::string> many;
    for (int i = 0; i < 100000; ++i) {
      std::string text = prefix;
      for (auto letters = random() % 14; letters > 0; --letters) text += std::string("a\0b\xc3\xbc", 5)[random() % 3];
      if (i % 3 == 0) text += "long ones that differ late " + std::to_string(random() % 500);
      many.push_back(text);
    }
    const Column column = texts(engine, many);
    const std::vector<int32_t>& ranks = column.dictionary->ranks(engine);
    std::vector<std::string> sorted = many;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    for (size_t i = 0; i < many.size(); ++i)
      if (ranks[i] != std::lower_bound(sorted.begin(), sorted.end(), many[i]) - sorted.begin()) FAIL("text " << i);
    const Column distinct = with_distinct_texts(engine, column);
    const std::vector<int32_t>& places = distinct.dictionary->ranks(engine);
    REQUIRE(places.size() == sorted.size());
    for (size_t i = 0; i < places.size(); ++i)
      if ((*distinct.dictionary)[static_cast<int64_t>(i)] != sorted[static_cast<size_t>(places[i])]) FAIL("different text " << i);
  }
  CHECK(texts(engine, {}).dictionary->ranks(engine).empty());
}

TEST_CASE("columns over several dictionaries come to one") {
  Engine engine;
  std::vector<std::string> a, b;
  for (int i = 0; i < 40000; ++i) a.push_back(std::to_string(i % 30000));
  for (int i = 0; i < 50000; ++i) b.push_back(std::to_string(i + 10000));
  const Column first = texts(engine, a), second = texts(engine, b);
  const int64_t rows[] = {39999, -1, 7};
  const std::vector<Column> common = with_common_texts(engine, {first, second, take(engine, first, rows, 3, true)});
  CHECK(common[0].dictionary == common[1].dictionary);
  CHECK(common[0].dictionary == common[2].dictionary);
  CHECK(common[0].dictionary->is_distinct());
  CHECK(common[0].dictionary->size() == 60000);
  CHECK(values_of(engine, common[0]) == a);
  CHECK(values_of(engine, common[1]) == b);
  CHECK(values_of(engine, common[2]) == std::vector<std::string>{"9999", "<NA>", "7"});
}

TEST_CASE("few rows of many texts leave the other texts alone") {
  Engine engine;
  std::vector<std::string> many;
  for (int i = 0; i < 5000; ++i) many.push_back(std::to_string(i));
  const Column all = texts(engine, many);
  const int64_t rows[] = {4000, 3, 3, 4000};
  const Column few = with_used_texts(engine, take(engine, all, rows, 4));
  CHECK(few.dictionary->size() == 2);
  CHECK(values_of(engine, few) == std::vector<std::string>{"4000", "3", "3", "4000"});
}

TEST_CASE("columns of parts are as long as the longest") {
  Engine engine;
  std::vector<std::string> many(9000, "a b");
  many[8999] = "x y z";
  const auto columns = split_texts(engine, texts(engine, many), []() -> TextParts {
    return [](std::string_view text, std::vector<std::optional<std::string>>& parts) { split_text(text, std::nullopt, -1, false, parts); };
  });
  REQUIRE(columns.size() == 3);
  const auto third = values_of(engine, columns[2]);
  CHECK(third[0] == "<NA>");
  CHECK(third[8999] == "z");
}

TEST_CASE("comparisons of texts, missing ones among them") {
  Engine engine;
  Column a = with_distinct_texts(engine, texts(engine, {"b", "a", "é", "a"}));
  Column b = texts(engine, {"b", "b", "z", "a"});
  const auto flags = [&](const NodeRef& node) {
    Column column = number_column(node);
    const ColumnData data = read(engine, column);
    std::string out;
    for (int64_t i = 0; i < data.count; ++i) out += data.as<bool>()[i] ? '1' : '0';
    return out;
  };
  CHECK(flags(compare_texts(engine, a, TextOrder::eq, "a")) == "0101");
  CHECK(flags(compare_texts(engine, a, TextOrder::ne, "none")) == "1111");
  CHECK(flags(compare_texts(engine, a, TextOrder::lt, "b")) == "0101");
  CHECK(flags(compare_texts(engine, a, TextOrder::ge, "b")) == "1010");
  CHECK(flags(compare_texts(engine, a, TextOrder::eq, b)) == "1001");
  CHECK(flags(compare_texts(engine, a, TextOrder::lt, b)) == "0100");
  const int64_t rows[] = {0, -1, 2, -1};
  const Column holes = take(engine, a, rows, 4, true);
  CHECK(flags(compare_texts(engine, holes, TextOrder::eq, "b")) == "1000");
  CHECK(flags(compare_texts(engine, holes, TextOrder::ne, "b")) == "0111");
  CHECK(flags(compare_texts(engine, holes, TextOrder::ge, "a")) == "1010");
  CHECK(flags(compare_texts(engine, holes, TextOrder::eq, b)) == "1000");
}

TEST_CASE("slices and padding count code points") {
  const auto sliced = [](std::string_view text, std::optional<int64_t> a, std::optional<int64_t> b, int64_t step) {
    std::string out;
    slice_text(text, a, b, step, out);
    return out;
  };
  CHECK(sliced("aé漢b", 1, 3, 1) == "é漢");
  CHECK(sliced("aé漢b", -2, {}, 1) == "漢b");
  CHECK(sliced("aé漢b", {}, {}, -1) == "b漢éa");
  CHECK(sliced("aé漢b", {}, {}, 2) == "a漢");
  CHECK(sliced("abc", 5, {}, 1).empty());
  std::string out;
  pad_text("é", 4, Side::both, "*", out);
  CHECK(out == "*é**");
  CHECK(find_text("aéaé", "é", true, 0, {}) == 3);
  CHECK(find_text("aéaé", "é", false, 2, {}) == 3);
  CHECK(find_text("abc", "", false, 5, {}) == -1);
  CHECK(strip_text("\u3000 x\u00a0", Side::both, {}) == "x");
  CHECK(wrap_text("the quick brown fox", 10) == "the quick\nbrown fox");
}

TEST_CASE("patterns mean what they mean in Python") {
  CHECK(found(R"(\d)", "٣"));
  CHECK_FALSE(found(R"((?a)\d)", "٣"));
  CHECK(found(R"(a\Z)", "ba"));
  CHECK_FALSE(found(R"(a\Z)", "a\n"));
  CHECK(found("a$", "a\n"));
  CHECK(found("[[]", "["));
  CHECK(found("[]]", "]"));
  CHECK(found(R"(\v)", "\x0b"));
  CHECK_FALSE(found(R"(\v)", "\n"));
  CHECK(found(R"(\u00e9)", "é"));
  CHECK(found("a{,2}b", "aab", Regex::Matcher::Where::whole));
  CHECK(found("(?P<x>a)(?P=x)", "aa"));
  CHECK(found("(?i)É", "é"));
  CHECK(found("a|ab", "ab", Regex::Matcher::Where::whole));
  CHECK_FALSE(found("b", "ab", Regex::Matcher::Where::at_start));
  CHECK(replaced("x*", "-", "abxd") == "-a-b--d-");
  CHECK(replaced("(a)(b)?", R"([\2\1])", "aab") == "[a][ba]");
  CHECK(replaced("(?P<n>.)", R"(\g<n>\g<1>)", "é") == "éé");
  CHECK(replaced("a", R"(\n)", "a") == "\n");
}

TEST_CASE("patterns with mistakes are refused in Python's words") {
  CHECK(message("(a") == "missing ), unterminated subpattern at position 0");
  CHECK(message("a)") == "unbalanced parenthesis at position 1");
  CHECK(message("*a") == "nothing to repeat at position 0");
  CHECK(message("[a") == "unterminated character set at position 0");
  CHECK(message(R"(\h)") == R"(bad escape \h at position 0)");
  CHECK(message(R"(\K)") == R"(bad escape \K at position 0)");
  CHECK(message("(?R)") == "unknown extension ?R at position 1");
  CHECK(message("(?<n>a)") == "unknown extension ?<n at position 1");
  CHECK(message("(*FAIL)") == "nothing to repeat at position 1");
  CHECK(message("a(?i)b") == "global flags not at the start of the expression at position 1");
  CHECK(message("(?<=a+)b") == "look-behind requires fixed-width pattern");
  CHECK_THROWS_AS(RegexTemplate(R"(\3)", *Regex::compile("(a)")), Error);
  CHECK_THROWS_AS(RegexTemplate(R"(\g<no>)", *Regex::compile("(a)")), Error);
  // A text that a pattern would take exponential time for ends with an error, not never.
  Regex::Matcher match(*Regex::compile("(a+)+$"));
  CHECK_THROWS_AS(match.find(std::string(40, 'a') + "b", 0), Error);
}

TEST_CASE("texts that are no UTF-8 are searched without harm") {
  CHECK_FALSE(found("é", "\xff\xfe"));
  CHECK(found("b",
              "\xff"
              "b"));
}

TEST_CASE("numbers of texts") {
  CHECK(number_of_text(" 12 ")->integer == 12);
  CHECK(number_of_text("12")->whole);
  CHECK_FALSE(number_of_text("1.5")->whole);
  CHECK(number_of_text("-.5e3")->real == -500);
  CHECK(number_of_text("inf")->real > 1e308);
  for (const char* none : {"", " ", "x", "1x", "1 2", "nan", "1_000", "0x10", "+-1", "--1"}) CHECK_FALSE(number_of_text(none));
}
