// Megabytes of nesting: a located error, quickly, on any stack; and what is just within the limits works.
#include <chrono>
#include <thread>

#include "catch.h"
#include "parse.h"

using namespace gasell;
using namespace gasell::test;

namespace {

std::string repeat(const std::string& text, size_t count) {
  std::string out;
  out.reserve(text.size() * count);
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

constexpr size_t kMany = 1'000'000;

}  // namespace

TEST_CASE("megabytes of one token end in a located error") {
  for (const char* piece : {"(",      "[",       "{",  "-",  "~",         "not ",  "lambda:", "lambda x=", "2**",   "x if y else ",
                            "(x if ", "f'{",     "f(", "a[", "(a:=",      "[-",    "*",       "x:",        "if x:", "elif ",
                            "'",      "f'{f\"{", "@",  "1e", "(lambda:(", "else:", "yield ",  "await "}) {
    INFO(piece);
    const auto start = std::chrono::steady_clock::now();
    const Diagnostic d = failure(repeat(piece, kMany / std::string(piece).size()));
    CHECK_FALSE(d.kind.empty());
    CHECK(d.primary.has_value());
    CHECK(render(d).size() < 2000);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
  }
}

TEST_CASE("a thousand levels pass, one more does not") {
  auto nested = [](const std::string& open, const std::string& inner, const std::string& close, size_t n) {
    return "x = " + repeat(open, n) + inner + repeat(close, n) + "\n";
  };
  const std::tuple<const char*, const char*, const char*> kKinds[] = {{"(", "a", ")"},    {"[", "a", "]"},       {"f(", "a", ")"},
                                                                      {"a[", "a", "]"},   {"-", "a", ""},        {"not ", "a", ""},
                                                                      {"a ** ", "a", ""}, {"lambda: ", "a", ""}, {"a if b else ", "c", ""}};
  for (const auto& [open, inner, close] : kKinds) {
    INFO(open);
    const auto module = parse(nested(open, inner, close, 1000));
    CHECK(shape(*parse(print(*module))) == shape(*module));
    CHECK_FALSE(failure(nested(open, inner, close, 1001)).kind.empty());
  }
}

TEST_CASE("long flat chains") {
  for (const char* piece : {"a + ", "a and ", "a < ", "a, ", "a = ", "b - "}) {
    INFO(piece);
    const auto module = parse(repeat(piece, 9'999) + "a\n");
    CHECK(shape(*parse(print(*module))) == shape(*module));
  }
  CHECK(failure_line("a" + repeat(".b", 9'999) + "\n") == "none");
  CHECK(failure("a" + repeat("()", 100'000) + "\n").blame == Blame::limitation);
  CHECK(failure(repeat("a + ", 100'000) + "a\n").message == "the program is too deeply nested here (more than 12000 terms or levels)");
  CHECK(failure_line(repeat("a and ", 100'000) + "a\n") == "none");
}

TEST_CASE("deep trees are taken apart on a small stack") {
  ast::ModuleRef module = parse(repeat("a + ", 9'999) + "a\n" + "x = " + repeat("[", 1000) + repeat("]", 1000) + "\n");
  std::thread([&] { module.reset(); }).join();
  CHECK(module == nullptr);
}
