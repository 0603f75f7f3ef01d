// Names to places.
#include "lang/scopes.h"

#include "catch.h"
#include "parse.h"

using namespace gasell;
using namespace gasell::test;

namespace {

const ast::FunctionDef& function(const ast::Body& body, size_t index) { return std::get<ast::FunctionDef>(body.at(index)->node); }

/// "name: place" of every name in the order of the dump, with the scopes' own lines.
std::string places(const std::string& text) {
  const std::string all = shape(*parse(text));
  std::string out;
  for (size_t at = 0; at < all.size();) {
    size_t end = all.find('\n', at);
    std::string line = all.substr(all.find_first_not_of(' ', at), end - all.find_first_not_of(' ', at));
    at = end + 1;
    if (line.rfind("locals: ", 0) == 0 || line.rfind("cells: ", 0) == 0) out += "[" + line + "] ";
    if (const size_t name = line.find("Name "); name != std::string::npos) out += line.substr(name + 5) + "; ";
  }
  return out;
}

}  // namespace

TEST_CASE("the top level's names are global") {
  CHECK(places("a = b\nfor c in d: e\n") == "a global; b global; c global; d global; e global; ");
  CHECK(places("global a\na = 1") == "a global; ");
}

TEST_CASE("what a function binds is local, parameters first") {
  CHECK(places("def f(a, *b, c=g, **d):\n  e = a\n  return h\n") == "[locals: a, b, c, d, e] g global; e local 4; a local 0; h global; ");
  CHECK(places("def f():\n  for a in x: pass\n  with y as b: pass\n  import c.d\n  from m import n as o\n  def g(): pass\n  del p\n  q: "
               "int\n  (r := 1)\n"
               "  try: pass\n  except E as s: pass\n")
            .find("[locals: a, b, c, o, g, p, q, r, s]") == 0);
  CHECK(places("def f():\n  a += 1\n") == "[locals: a] a local 0; ");
}

TEST_CASE("captured names live in cells") {
  const auto module = parse("def f(a, b):\n  c = 1\n  def g():\n    def h(): return a, c\n    return h\n  return g\n");
  const auto& f = function(module->body, 0);
  CHECK(f.scope.locals == std::vector<std::string>{"a", "b", "c", "g"});
  CHECK(f.scope.cell_of_local == std::vector<int>{0, -1, 1, -1});
  CHECK(f.scope.cells == std::vector<std::string>{"a", "c"});
  CHECK(f.scope.own_cells == 2);
  CHECK(f.scope.captured.empty());
  const auto& g = function(f.body, 1);
  CHECK(g.scope.own_cells == 0);
  CHECK(g.scope.cells == std::vector<std::string>{"a", "c"});
  REQUIRE(g.scope.captured.size() == 2);
  CHECK(g.scope.captured[1].kind == ast::Binding::Kind::cell);
  CHECK(g.scope.captured[1].slot == 1);
  const auto& h = function(g.body, 0);
  CHECK(h.scope.cells == std::vector<std::string>{"a", "c"});
  CHECK(places("def f():\n  x = 1\n  def g():\n    nonlocal x\n    x = 2\n") ==
        "[locals: x, g] [cells: x (own: 1)] x cell 0; [cells: x (own: 0)] x cell 0; ");
}

TEST_CASE("own cells come before taken ones") {
  CHECK(places("def f(a):\n  def g(b):\n    return lambda: (a, b)\n")
            .find("[locals: b] [cells: b, a (own: 1)] [cells: a, b (own: 0)] a cell 0; b cell 1; ") != std::string::npos);
}

TEST_CASE("defaults, decorators and annotations belong to the enclosing scope") {
  CHECK(places("def f(a):\n  @a\n  def g(x: a = a) -> a: return x\n") ==
        "[locals: a, g] a local 0; [locals: x] a local 0; a local 0; a local 0; x local 0; ");
}

TEST_CASE("comprehensions are functions whose first iterable is evaluated outside") {
  CHECK(places("def f(a):\n  return [x + a for x in a]\n") ==
        "[locals: a] [cells: a (own: 1)] [locals: .0, x] [cells: a (own: 0)] x local 1; a cell 0; x local 1; a cell 0; ");
  CHECK(places("[x for x in x]") == "[locals: .0, x] x local 1; x local 1; x global; ");
  CHECK(places("[lambda: x for x in y]") == "[locals: .0, x] [cells: x (own: 1)] [cells: x (own: 0)] x cell 0; x cell 0; y global; ");
  CHECK(places("[(y := x) for x in z]") == "[locals: .0, x] y global; x local 1; x local 1; z global; ");
  CHECK(places("def f():\n  [(y := x) for x in z]\n  return y\n") ==
        "[locals: y] [cells: y (own: 1)] [locals: .0, x] [cells: y (own: 0)] y cell 0; x local 1; x local 1; z global; y cell 0; ");
}

TEST_CASE("declarations") {
  CHECK(places("def f():\n  global x\n  x = 1\n  def g(): return x\n") == "[locals: g] x global; x global; ");
  const std::pair<const char*, const char*> kErrors[] = {
      {"def f():\n  print(x)\n  global x\n", "3:3-3:11 name 'x' is used prior to global declaration"},
      {"def f():\n  x = 1\n  global x\n", "3:3-3:11 name 'x' is assigned to before global declaration"},
      {"def f(x):\n  global x\n", "2:3-2:11 name 'x' is parameter and global"},
      {"def f():\n  x: int\n  global x\n", "3:3-3:11 annotated name 'x' can't be global"},
      {"def f():\n  global x\n  x: int\n", "3:3-3:4 annotated name 'x' can't be global"},
      {"def f():\n  global x\n  nonlocal x\n", "3:3-3:13 name 'x' is nonlocal and global"},
      {"nonlocal x\n", "1:1-1:11 nonlocal declaration not allowed at module level"},
      {"x = 1\ndef f():\n  nonlocal x\n", "3:3-3:13 no binding for nonlocal 'x' found"},
      {"[(x := 1) for x in y]\n", "1:3-1:4 assignment expression cannot rebind comprehension iteration variable 'x'"},
      {"[x for x in (y := 1)]\n", "1:14-1:15 assignment expression cannot be used in a comprehension iterable expression"},
  };
  for (const auto& [text, expected] : kErrors) {
    INFO(text);
    CHECK(failure_line(text) == std::string("SyntaxError ") + expected);
  }
}
