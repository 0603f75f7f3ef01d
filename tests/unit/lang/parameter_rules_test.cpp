// Parameters that library texts take and do not read.
#include "lang/parameter_rules.h"

#include "catch.h"
#include "parse.h"

using namespace gasell;
using namespace gasell::test;

namespace {

/// What is said of a text, a line each.
std::string said(const std::string& text) {
  std::string all;
  for (const UnreadParameter& p : unread_parameters(*parse(text))) all += p.message.substr(0, p.message.find(':')) + "\n";
  return all;
}

}  // namespace

TEST_CASE("a parameter that is never read has a rule") {
  CHECK(said("def f(a, b):\n    return a\n") == "f never reads its parameter 'b'\n");
  CHECK(said("def f(a, b: Refused = None, c: Unused = 1, d: Sort = None, axis: Rows = 0, **more: Refused):\n    return a\n") == "");
  CHECK(said("def f(*rest, **more):\n    return 1\n") == "f never reads its parameter 'rest'\nf never reads its parameter 'more'\n");
  CHECK(said("g = lambda x: 1\n") == "lambda never reads its parameter 'x'\n");
  CHECK(said("def f(a):\n    a = 1\n") == "f never reads its parameter 'a'\n");
}

TEST_CASE("reads are found wherever they stand") {
  CHECK(said("def f(a, b, c, d, e):\n    if a:\n        for x in b:\n            pass\n    g = lambda: c\n    def h(y=d):\n        return "
             "f'{e}{y}'\n") == "");
  CHECK(said("def f(a):\n    a += 1\n") == "");
  CHECK(said("def f(a):\n    a.b = 1\n") == "");
}

TEST_CASE("objects of methods and names of protocols are left out") { CHECK(said("def f(self, _kind):\n    return 1\n") == ""); }

TEST_CASE("a constructor without a body keeps its parameters") {
  CHECK(said("def __init__(self, a, b: Unused = 1):\n    \"\"\"Kept.\"\"\"\n") == "");
  CHECK(said("def __init__(self, a):\n    pass\n") == "__init__ never reads its parameter 'a'\n");
  CHECK(said("def make(self, a):\n    \"\"\"Not a constructor.\"\"\"\n") == "make never reads its parameter 'a'\n");
}

TEST_CASE("a rule on a parameter that is read is an error") {
  CHECK(said("def f(a: Refused = None):\n    return a\n") == "f reads its parameter 'a', which has the rule of one that is not read\n");
  CHECK(said("def f(a: int = 0):\n    return a\n") == "");
}
