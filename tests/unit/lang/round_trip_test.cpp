// print() gives text that parses back to the same tree.
#include "catch.h"
#include "lang/parser.h"

using namespace gasell;

namespace {

ast::ModuleRef parse(std::string text) { return parse_module(std::make_shared<Source>("test.gsl", std::move(text))); }

}  // namespace

TEST_CASE("a printed program prints the same again") {
  const std::string first =
      print(*parse("def f(a, /, b=1, *, c: int = 2, **d) -> float:\n  return [x for x in a if b]\nprint(f'{f(1)!r:>{b}}', -2 ** -3)\n"));
  CHECK(print(*parse(first)) == first);
}
