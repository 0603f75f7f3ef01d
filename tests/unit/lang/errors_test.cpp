// Messages and carets of what is wrong before anything runs. Where CPython 3.12 has a message, ours is the same.
#include "catch.h"
#include "parse.h"

using namespace gasell;
using namespace gasell::test;

TEST_CASE("syntax errors") {
  const std::pair<const char*, const char*> kCases[] = {
      {"x = 3 +\n", "1:8-1:8 invalid syntax"},
      {"a b\n", "1:3-1:4 invalid syntax"},
      {"[a b]\n", "1:2-1:5 invalid syntax. Perhaps you forgot a comma?"},
      {"f(a, b c)\n", "1:6-1:9 invalid syntax. Perhaps you forgot a comma?"},
      {"f'{a b}'\n", "1:4-1:7 invalid syntax. Perhaps you forgot a comma?"},
      {"print x\n", "1:1-1:8 Missing parentheses in call to 'print'. Did you mean print(...)?"},
      {"if x\n  y\n", "1:5-1:5 expected ':'"},
      {"if x y: pass\n", "1:6-1:7 invalid syntax"},
      {"else x\n", "1:1-1:5 invalid syntax"},
      {"if a: b\nelse\n", "2:5-2:5 expected ':'"},
      {"if x = 3: pass\n", "1:4-1:7 invalid syntax. Maybe you meant '==' or ':=' instead of '='?"},
      {"if x.a = 3: pass\n", "1:4-1:7 cannot assign to attribute here. Maybe you meant '==' instead of '='?"},
      {"1 = x\n", "1:1-1:2 cannot assign to literal here. Maybe you meant '==' instead of '='?"},
      {"f() = 1\n", "1:1-1:4 cannot assign to function call here. Maybe you meant '==' instead of '='?"},
      {"a + 1 = 2\n", "1:1-1:6 cannot assign to expression here. Maybe you meant '==' instead of '='?"},
      {"a, f() = 3\n", "1:4-1:7 cannot assign to function call here. Maybe you meant '==' instead of '='?"},
      {"True = 1\n", "1:1-1:5 cannot assign to True"},
      {"(a, 1) = 2\n", "1:5-1:6 cannot assign to literal"},
      {"a < b = 3\n", "1:1-1:6 cannot assign to comparison"},
      {"lambda: 0 = 1\n", "1:1-1:10 cannot assign to lambda"},
      {"*a = 1\n", "1:1-1:3 starred assignment target must be in a list or tuple"},
      {"*a, *b = 1\n", "1:5-1:7 multiple starred expressions in assignment"},
      {"x = *a\n", "1:5-1:7 can't use starred expression here"},
      {"(*a)\n", "1:2-1:4 cannot use starred expression here"},
      {"f() += 1\n", "1:1-1:4 'function call' is an illegal expression for augmented assignment"},
      {"(a, b) += 1\n", "1:1-1:7 'tuple' is an illegal expression for augmented assignment"},
      {"(a, b): int\n", "1:1-1:7 only single target (not tuple) can be annotated"},
      {"f(): int = 1\n", "1:1-1:4 illegal target for annotation"},
      {"del f()\n", "1:5-1:8 cannot delete function call"},
      {"for f() in y: pass\n", "1:5-1:8 cannot assign to function call"},
      {"[x for 1 in y]\n", "1:8-1:9 cannot assign to literal"},
      {"with a as 1: pass\n", "1:11-1:12 cannot assign to literal"},
      {"x := 1\n", "1:3-1:5 invalid syntax"},
      {"(a.b := 1)\n", "1:2-1:5 cannot use assignment expressions with attribute"},
      {"a = 5 if b\n", "1:5-1:11 expected 'else' after 'if' expression"},
      {"a + not b\n", "1:5-1:8 invalid syntax"},
      {"if = 1\n", "1:4-1:5 invalid syntax"},
      {"a.if\n", "1:3-1:5 invalid syntax"},
      {"f(a=1, 2)\n", "1:8-1:9 positional argument follows keyword argument"},
      {"f(**k, 1)\n", "1:8-1:9 positional argument follows keyword argument unpacking"},
      {"f(**k, *a)\n", "1:8-1:10 iterable argument unpacking follows keyword argument unpacking"},
      {"f(a=1, a=2)\n", "1:8-1:11 keyword argument repeated: a"},
      {"f(a.b=1)\n", "1:3-1:7 expression cannot contain assignment, perhaps you meant \"==\"?"},
      {"f(True=1)\n", "1:3-1:8 cannot assign to True"},
      {"f(a=)\n", "1:4-1:5 expected argument value expression"},
      {"f(*a=1)\n", "1:3-1:6 cannot assign to iterable argument unpacking"},
      {"f(x for x in y, 1)\n", "1:3-1:15 Generator expression must be parenthesized"},
      {"[x, y for x in z]\n", "1:2-1:6 did you forget parentheses around the comprehension target?"},
      {"[*a for a in b]\n", "1:2-1:4 iterable unpacking cannot be used in comprehension"},
      {"{**a for a in b}\n", "1:2-1:4 dict unpacking cannot be used in dict comprehension"},
      {"{1: 2, 3}\n", "1:8-1:9 ':' expected after dictionary key"},
      {"{1: }\n", "1:3-1:4 expression expected after dictionary key and ':'"},
      {"{1: *a}\n", "1:5-1:6 cannot use a starred expression in a dictionary value"},
      {"def f:\n  pass\n", "1:6-1:7 expected '('"},
      {"def f(a, a): pass\n", "1:10-1:11 duplicate argument 'a' in function definition"},
      {"def f(a=1, b): pass\n", "1:12-1:13 parameter without a default follows parameter with a default"},
      {"def f(*): pass\n", "1:7-1:8 named arguments must follow bare *"},
      {"def f(/, a): pass\n", "1:7-1:8 at least one argument must precede /"},
      {"def f(a, /, b, /): pass\n", "1:16-1:17 / may appear only once"},
      {"def f(*a, /): pass\n", "1:11-1:12 / must be ahead of *"},
      {"def f(*a, *b): pass\n", "1:11-1:13 * argument may appear only once"},
      {"def f(**a, b): pass\n", "1:12-1:13 arguments cannot follow var-keyword argument"},
      {"def f(*a=1): pass\n", "1:10-1:11 var-positional argument cannot have default value"},
      {"def f(a, (b, c)): pass\n", "1:10-1:16 Function parameters cannot be parenthesized"},
      {"def f(a=): pass\n", "1:8-1:9 expected default value expression"},
      {"from a import b,\n", "1:16-1:17 trailing comma not allowed without surrounding parentheses"},
      {"import a from b\n", "1:10-1:14 Did you mean to use 'from ... import ...' instead?"},
      {"try: pass\n", "1:10-1:10 expected 'except' or 'finally' block"},
      {"try: pass\nexcept: pass\nexcept A: pass\n", "2:1-2:7 default 'except:' must be last"},
      {"try: pass\nexcept A, B: pass\n", "2:9-2:10 multiple exception types must be parenthesized"},
      {"return 1\n", "1:1-1:9 'return' outside function"},
      {"break\n", "1:1-1:6 'break' outside loop"},
      {"for x in y:\n  def f():\n    continue\n", "3:5-3:13 'continue' not properly in loop"},
      {"1abc\n", "1:1-1:3 invalid decimal literal"},
      {"0x\n", "1:1-1:3 invalid hexadecimal literal"},
      {"0b12\n", "1:1-1:5 invalid digit '2' in binary literal"},
      {"012\n", "1:1-1:4 leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers"},
      {"1__0\n", "1:1-1:4 invalid decimal literal"},
      {"f'{a = b}'\n", "1:8-1:9 f-string: expecting '!', or ':', or '}'"},
      {"f'{1 +}'\n", "1:7-1:7 invalid syntax"},
      {"f'{lambda x: 1}'\n", "1:4-1:12 f-string: lambda expressions are not allowed without parentheses"},
      {"f'{a:{b:{c:{d}}}}'\n", "1:12-1:13 f-string: expressions nested too deeply"},
      {"x = $\n", "1:5-1:6 invalid syntax"},
      {"@a\nx = 1\n", "2:1-2:2 invalid syntax"},
  };
  for (const auto& [text, expected] : kCases) {
    INFO(text);
    CHECK(failure_line(text) == std::string("SyntaxError ") + expected);
  }
}

TEST_CASE("indentation errors") {
  CHECK(failure_line("  x\n") == "IndentationError 1:3-1:3 unexpected indent");
  CHECK(failure_line("x\n  y\n") == "IndentationError 2:3-2:3 unexpected indent");
  CHECK(failure_line("if x:\ny\n") == "IndentationError 2:1-2:2 expected an indented block after 'if' statement on line 1");
  CHECK(failure_line("def f():\n") == "IndentationError 1:9-1:9 expected an indented block after function definition on line 1");
  CHECK(failure_line("if x:\n  y\nelse:\nz") == "IndentationError 4:1-4:2 expected an indented block after 'else' statement on line 3");
}

TEST_CASE("what Python has and Gasell has not is refused by name") {
  const std::pair<const char*, const char*> kCases[] = {
      {"async def f(): pass\n", "1:1-1:6 async is not part of Gasell"},
      {"x = await y\n", "1:5-1:10 await is not part of Gasell"},
      {"[x async for x in y]\n", "1:4-1:9 asynchronous comprehensions are not part of Gasell"},
      {"type X = int\n", "1:1-1:5 type statements are not part of Gasell"},
      {"from x import *\n", "1:15-1:16 star-imports are not part of Gasell"},
      {"from . import x\n", "1:6-1:7 relative imports are not part of Gasell"},
      {"try: pass\nexcept* A: pass\n", "2:7-2:8 exception groups (except*) are not part of Gasell"},
      {"def f[T](x): pass\n", "1:6-1:7 type parameters are not part of Gasell"},
  };
  for (const auto& [text, expected] : kCases) {
    INFO(text);
    CHECK(failure_line(text) == std::string("limitation SyntaxError ") + expected);
  }
}
