// The REPL's question, answered as Python's codeop does.
#include "catch.h"
#include "lang/parser.h"

using namespace gasell;

TEST_CASE("complete, incomplete or wrong") {
  const std::pair<const char*, Completeness> kCases[] = {
      {"", Completeness::complete},
      {"x = 1", Completeness::complete},
      {"x = 1\n", Completeness::complete},
      {"# comment", Completeness::complete},
      {"if x: y", Completeness::incomplete},
      {"match x:\n", Completeness::incomplete},
      {"match x:\n  case 1:\n", Completeness::incomplete},
      {"match x:\n  case 1: y\n", Completeness::incomplete},
      {"match x:\n  case 1: y\n\n", Completeness::complete},
      {"if x: y\n\n", Completeness::complete},
      {"def f(): pass\nx", Completeness::complete},
      {"x = (1,", Completeness::incomplete},
      {"f(\n", Completeness::incomplete},
      {"[1, 2", Completeness::incomplete},
      {"x = '''abc", Completeness::incomplete},
      {"x = '''abc\n\n", Completeness::incomplete},
      {"f'''{x", Completeness::incomplete},
      {"x = 1 + \\", Completeness::incomplete},
      {"x = 1 + \\\n", Completeness::incomplete},
      {"if x:", Completeness::incomplete},
      {"if x:\n", Completeness::incomplete},
      {"def f(a):", Completeness::incomplete},
      {"def f(a):\n  return a", Completeness::incomplete},
      {"def f(a):\n  return a\n", Completeness::incomplete},
      {"def f(a):\n  return a\n\n", Completeness::complete},
      {"if x:\n  y\nelse:", Completeness::incomplete},
      {"if x:\n  y\nelse:\n  z\n\n", Completeness::complete},
      {"for x in y:\n  if x:\n", Completeness::incomplete},
      {"try:\n  x\n", Completeness::incomplete},
      {"try:\n  x\nexcept E:\n  y\n\n", Completeness::complete},
      {"@jit", Completeness::incomplete},
      {"@jit\n", Completeness::incomplete},
      {"@jit\n\n", Completeness::incomplete},
      {"@jit\n\n# c\ndef f(): pass\n\n", Completeness::complete},
      {"@jit\ndef f():", Completeness::incomplete},
      {"x = 'abc", Completeness::invalid},
      {"x = )", Completeness::invalid},
      {"a b", Completeness::invalid},
      {"x = 3 +", Completeness::invalid},
      {"if x\n", Completeness::invalid},
      {"  x", Completeness::invalid},
      {"class A:", Completeness::incomplete},
      {"if x:\n\n", Completeness::invalid},
  };
  for (const auto& [text, expected] : kCases) {
    INFO(text);
    CHECK(static_cast<int>(completeness(text)) == static_cast<int>(expected));
  }
}
