// Every construct: the tree and the exact places of its nodes.
#include "catch.h"
#include "parse.h"

using namespace gasell;
using namespace gasell::test;

namespace {

/// The tree of an expression that stands alone on the first line, without the lines around it.
std::string tree(const std::string& expression) {
  const std::string text = dumped(expression + "\n");
  const size_t start = text.find('\n', text.find("ExprStmt")) + 1;
  std::string out;
  for (size_t at = start; at < text.size();) {
    const size_t end = text.find('\n', at);
    out += text.substr(at + 4, end - at - 4) + "\n";
    at = end + 1;
  }
  return out;
}

}  // namespace

TEST_CASE("literals") {
  CHECK(tree("None") == "None @1:1-1:5\n");
  CHECK(tree("...") == "Ellipsis @1:1-1:4\n");
  CHECK(tree("True") == "True @1:1-1:5\n");
  CHECK(tree("1_000") == "Int 1000 @1:1-1:6\n");
  CHECK(tree("0xFf") == "Int 255 @1:1-1:5\n");
  CHECK(tree("0o17") == "Int 15 @1:1-1:5\n");
  CHECK(tree("0B101") == "Int 5 @1:1-1:6\n");
  CHECK(tree("00") == "Int 0 @1:1-1:3\n");
  CHECK(tree("1e-3") == "Float 0.001 @1:1-1:5\n");
  CHECK(tree("1.") == "Float 1.0 @1:1-1:3\n");
  CHECK(tree(".5") == "Float 0.5 @1:1-1:3\n");
  CHECK(tree("012.5") == "Float 12.5 @1:1-1:6\n");
  CHECK(tree("1e999") == "Float 1e999 @1:1-1:6\n");
  CHECK(tree("2j") == "Float 2j @1:1-1:3\n");
  CHECK(tree("1_0.2_5E+1J") == "Float 102.5j @1:1-1:12\n");
}

TEST_CASE("integers of 64 bits") {
  CHECK(tree("9223372036854775807") == "Int 9223372036854775807 @1:1-1:20\n");
  CHECK(tree("-9223372036854775808") == "Int -9223372036854775808 @1:1-1:21\n");
  CHECK(tree("-0x8000_0000_0000_0000") == "Int -9223372036854775808 @1:1-1:23\n");
  CHECK(tree("-9223372036854775807") == "Unary - @1:1-1:21\n  Int 9223372036854775807 @1:2-1:21\n");
  CHECK(tree("9223372036854775808") == "Int 9223372036854775808 @1:1-1:20\n");
  CHECK(tree("-9223372036854775808 ** 2") ==
        "Unary - @1:1-1:26\n  Binary ** @1:2-1:26\n    Int 9223372036854775808 @1:2-1:21\n    Int 2 @1:25-1:26\n");
  CHECK(tree("0xFFFF_FFFF_FFFF_FFFFF") == "Int 0xfffffffffffffffff @1:1-1:23\n");
  CHECK(failure_line("x = 1" + std::string(5000, '0')).find("SyntaxError 1:5-1:5006 Exceeds the limit (4300 digits)") != std::string::npos);
}

TEST_CASE("bytes") {
  CHECK(tree("b'a\\x00\\377' rb'\\n'") == "Bytes b\"a\\x00\\xff\\\\n\" @1:1-1:20\n");
  CHECK(failure_line("b'a' 'b'").find("cannot mix bytes and nonbytes literals") != std::string::npos);
  CHECK(failure_line("b'\u00e9'").find("bytes can only contain ASCII literal characters") != std::string::npos);
  CHECK(failure_line("b'\\x1'").find("(value error) invalid \\x escape at position 0") != std::string::npos);
}

TEST_CASE("strings") {
  CHECK(tree("'a\\n\\t\\\\\\'\"'") == "String \"a\\n\\t\\\\'\\\"\" @1:1-1:13\n");
  CHECK(tree("'a' \"b\" '''c'''") == "String \"abc\" @1:1-1:16\n");
  CHECK(tree("r'\\n'") == "String \"\\\\n\" @1:1-1:6\n");
  CHECK(tree("'\\x41\\u00e9\\U0001F600\\101\\0'") == "String \"Aé😀A\\x00\" @1:1-1:29\n");
  CHECK(tree("'\\d\\\nx'") == "String \"\\\\dx\" @1:1-2:3\n");
  CHECK(tree("'''a\r\nb'''") == "String \"a\\nb\" @1:1-2:5\n");
  CHECK(failure_line("'\\N{BULLET}'") == "limitation SyntaxError 1:2-1:4 \\N{...} escapes are not part of Gasell");
  CHECK(failure_line("'\\ud800'") == "limitation SyntaxError 1:2-1:8 a lone surrogate cannot stand in a Gasell string");
  CHECK(failure_line("'a\\x1'") ==
        "SyntaxError 1:3-1:6 (unicode error) 'unicodeescape' codec can't decode bytes in position 1-3: truncated \\xXX escape");
}

TEST_CASE("f-strings") {
  CHECK(tree("f'a{x}b'") == "FString @1:1-1:9\n  \"a\"\n  field\n    Name x global @1:5-1:6\n  \"b\"\n");
  CHECK(tree("f'{x!r:>{w}.2f}'") ==
        "FString @1:1-1:17\n  field !r\n    Name x global @1:4-1:5\n    spec: \">\"\n    spec: field\n      Name w global @1:10-1:11\n    "
        "spec: \".2f\"\n");
  CHECK(tree("f'{ x + 1 = }'") ==
        "FString @1:1-1:15\n  field !r \" x + 1 = \"\n    Binary + @1:5-1:10\n      Name x global @1:5-1:6\n      Int 1 @1:9-1:10\n");
  CHECK(tree("f'{x=:5}'") == "FString @1:1-1:10\n  field \"x=\"\n    Name x global @1:4-1:5\n    spec: \"5\"\n");
  CHECK(tree("f'{{}}' 'b' f'{x}'") == "FString @1:1-1:19\n  \"{}b\"\n  field\n    Name x global @1:16-1:17\n");
  CHECK(tree("f'{x['a']}'") ==
        "FString @1:1-1:12\n  field\n    Subscript @1:4-1:10\n      Name x global @1:4-1:5\n      String \"a\" @1:6-1:9\n");
  CHECK(tree("f'{x!=y}'").find("!=: Name y") != std::string::npos);
  CHECK(tree("f'{x:=5}'").find("spec: \"=5\"") != std::string::npos);
  CHECK(tree("rf'\\d{x}'").find("\"\\\\d\"") != std::string::npos);
  CHECK(tree("f'{(lambda: 1)()}'").find("Lambda") != std::string::npos);
  CHECK(tree("f'''{\nx # comment\n}'''").find("Name x global @2:1-2:2") != std::string::npos);
  CHECK(tree("f'{*a, b}'").find("Tuple @1:4-1:9") != std::string::npos);
}

TEST_CASE("operators bind as in Python") {
  const std::pair<const char*, const char*> kSame[] = {
      {"a + b * c", "a + (b * c)"},
      {"a - b - c", "(a - b) - c"},
      {"a ** b ** c", "a ** (b ** c)"},
      {"-a ** -b", "-(a ** (-b))"},
      {"2 ** -1 * 3", "(2 ** (-1)) * 3"},
      {"not a == b", "not (a == b)"},
      {"not a and b or c", "((not a) and b) or c"},
      {"a or b and c", "a or (b and c)"},
      {"a | b ^ c & d << e + f * ~g", "a | (b ^ (c & (d << (e + (f * (~g))))))"},
      {"a @ b % c // d / e", "(((a @ b) % c) // d) / e"},
      {"a if b else c if d else e", "a if b else (c if d else e)"},
      {"lambda: a if b else c", "lambda: (a if b else c)"},
      {"a < b == c", "a < b == c"},
      {"a.b[c](d).e", "(((a.b)[c])(d)).e"},
      {"-a.b", "-(a.b)"},
      {"not not a", "not (not a)"},
      {"a in b is not c not in d", "a in b is not c not in d"},
      {"- - a", "-(-a)"},
      {"~a ** b", "~(a ** b)"},
      {"a * -b", "a * (-b)"},
      {"a and not b", "a and (not b)"},
      {"a == b or c != d", "(a == b) or (c != d)"},
  };
  for (const auto& [plain, bracketed] : kSame) {
    INFO(plain);
    CHECK(shape(*parse(plain)) == shape(*parse(bracketed)));
  }
  CHECK(shape(*parse("(a < b) < c")) != shape(*parse("a < b < c")));
  CHECK(shape(*parse("(a and b) and c")) != shape(*parse("a and b and c")));
}

TEST_CASE("places of operators and parentheses") {
  CHECK(tree("(a) + b * (c)") ==
        "Binary + @1:1-1:14\n  Name a global @1:2-1:3\n  Binary * @1:7-1:14\n    Name b global @1:7-1:8\n    Name c global @1:12-1:13\n");
  CHECK(tree("a < b <= c") == "Compare @1:1-1:11\n  Name a global @1:1-1:2\n  <: Name b global @1:5-1:6\n  <=: Name c global @1:10-1:11\n");
  CHECK(tree("a  is  not  b") == "Compare @1:1-1:14\n  Name a global @1:1-1:2\n  is not: Name b global @1:13-1:14\n");
  CHECK(tree("x if t else y") ==
        "Conditional @1:1-1:14\n  test: Name t global @1:6-1:7\n  body: Name x global @1:1-1:2\n  orelse: Name y global @1:13-1:14\n");
  const auto module = parse("a  +  b");
  const auto& sum = std::get<ast::Binary>(std::get<ast::ExprStmt>(module->body[0]->node).value->node);
  CHECK(sum.op_span == Span{3, 4});
}

TEST_CASE("displays and comprehensions") {
  CHECK(tree("()") == "Tuple @1:1-1:3\n");
  CHECK(tree("a,") == "Tuple @1:1-1:3\n  Name a global @1:1-1:2\n");
  CHECK(tree("(a, *b)") == "Tuple @1:1-1:8\n  Name a global @1:2-1:3\n  Starred @1:5-1:7\n    Name b global @1:6-1:7\n");
  CHECK(tree("[a, b,]") == "List @1:1-1:8\n  Name a global @1:2-1:3\n  Name b global @1:5-1:6\n");
  CHECK(tree("{}") == "Dict @1:1-1:3\n");
  CHECK(tree("{a, *b}") == "Set @1:1-1:8\n  Name a global @1:2-1:3\n  Starred @1:5-1:7\n    Name b global @1:6-1:7\n");
  CHECK(tree("{a: 1, **b}") == "Dict @1:1-1:12\n  key: Name a global @1:2-1:3\n  value: Int 1 @1:5-1:6\n  **: Name b global @1:10-1:11\n");
  CHECK(tree("[x for x, y in z if x if y for w in v]") ==
        "ListComprehension @1:1-1:39\n  locals: .0, x, y, w\n  element: Name x local 1 @1:2-1:3\n  for: Tuple @1:8-1:12\n"
        "    Name x local 1 @1:8-1:9\n    Name y local 2 @1:11-1:12\n  in: Name z global @1:16-1:17\n  if: Name x local 1 @1:21-1:22\n"
        "  if: Name y local 2 @1:26-1:27\n  for: Name w local 3 @1:32-1:33\n  in: Name v global @1:37-1:38\n");
  CHECK(tree("{k: v for k, v in d}").find("DictComprehension @1:1-1:21") == 0);
  CHECK(tree("{k for k in d}").find("SetComprehension @1:1-1:15") == 0);
  CHECK(tree("(k for k in d)").find("Generator @1:1-1:15") == 0);
}

TEST_CASE("calls and subscripts") {
  CHECK(tree("f(a, *b, c=1, **d)") ==
        "Call @1:1-1:19\n  callee: Name f global @1:1-1:2\n  Name a global @1:3-1:4\n  Starred @1:6-1:8\n    Name b global @1:7-1:8\n"
        "  c= @1:10-1:13\n    Int 1 @1:12-1:13\n  ** @1:15-1:18\n    Name d global @1:17-1:18\n");
  CHECK(tree("f(x for x in y)").find("Generator @1:2-1:16") != std::string::npos);
  CHECK(tree("f((x for x in y), z)").find("Generator @1:3-1:17") != std::string::npos);
  CHECK(tree("f(a := 1)").find("NamedExpr @1:3-1:9") != std::string::npos);
  CHECK(tree("a.b.c") == "Attribute c @1:1-1:6\n  Attribute b @1:1-1:4\n    Name a global @1:1-1:2\n");
  CHECK(tree("a[1:2, ::-1, ..., None]") ==
        "Subscript @1:1-1:24\n  Name a global @1:1-1:2\n  Tuple @1:3-1:23\n    Slice @1:3-1:6\n      lower: Int 1 @1:3-1:4\n      upper: "
        "Int 2 @1:5-1:6\n"
        "    Slice @1:8-1:12\n      step: Unary - @1:10-1:12\n        Int 1 @1:11-1:12\n    Ellipsis @1:14-1:17\n    None @1:19-1:23\n");
  CHECK(tree("a[:]") == "Subscript @1:1-1:5\n  Name a global @1:1-1:2\n  Slice @1:3-1:4\n");
  CHECK(tree("a[*b]").find("Tuple @1:3-1:5") != std::string::npos);
  CHECK(tree("a[b,]").find("Tuple @1:3-1:5") != std::string::npos);
  CHECK(tree("a[x:=1]").find("NamedExpr") != std::string::npos);
}

TEST_CASE("parameters") {
  CHECK(tree("lambda a, /, b=1, *c, d, e=2, **f: 0") ==
        "Lambda @1:1-1:37\n  locals: a, b, c, d, e, f\n  parameter: positional-only a @1:8-1:9\n  parameter: b @1:14-1:17\n    default: "
        "Int 1 @1:16-1:17\n"
        "  parameter: *c @1:19-1:21\n  parameter: keyword-only d @1:23-1:24\n  parameter: keyword-only e @1:26-1:29\n    default: Int 2 "
        "@1:28-1:29\n"
        "  parameter: **f @1:31-1:34\n  Int 0 @1:36-1:37\n");
  CHECK(dumped("@d\ndef f(a: int = 1, *, b) -> g: pass\n") ==
        "Module\n  FunctionDef f global @2:1-2:35\n    decorator: Name d global @1:2-1:3\n    locals: a, b\n    parameter: a @2:7-2:17\n"
        "      annotation: Name int global @2:10-2:13\n      default: Int 1 @2:16-2:17\n    parameter: keyword-only b @2:22-2:23\n"
        "    returns: Name g global @2:28-2:29\n    Pass @2:31-2:35\n");
}

TEST_CASE("simple statements") {
  CHECK(dumped("a = b, *c = d\n") ==
        "Module\n  Assign @1:1-1:14\n    target: Name a global @1:1-1:2\n    target: Tuple @1:5-1:10\n      Name b global @1:5-1:6\n"
        "      Starred @1:8-1:10\n        Name c global @1:9-1:10\n    value: Name d global @1:13-1:14\n");
  for (const char* op : {"+=", "-=", "*=", "/=", "//=", "%=", "**=", "@=", "<<=", ">>=", "&=", "|=", "^="})
    CHECK(dumped(std::string("a[0] ") + op + " 1\n").find(std::string("AugAssign ") + op + " @1:1") != std::string::npos);
  CHECK(dumped("a: int = 3") ==
        "Module\n  AnnAssign @1:1-1:11\n    target: Name a global @1:1-1:2\n    annotation: Name int global @1:4-1:7\n    value: Int 3 "
        "@1:10-1:11\n");
  CHECK(dumped("a; b;\n") == "Module\n  ExprStmt @1:1-1:2\n    Name a global @1:1-1:2\n  ExprStmt @1:4-1:5\n    Name b global @1:4-1:5\n");
  CHECK(dumped("import a.b as c, d.e\n") == "Module\n  Import @1:1-1:21\n    a.b as c global @1:8-1:16\n    d.e global @1:18-1:21\n");
  CHECK(dumped("from a.b import (c as d, e,)\n") ==
        "Module\n  ImportFrom a.b @1:1-1:29\n    c as d global @1:18-1:24\n    e global @1:26-1:27\n");
  CHECK(dumped("assert a, b\n") == "Module\n  Assert @1:1-1:12\n    Name a global @1:8-1:9\n    message: Name b global @1:11-1:12\n");
  CHECK(dumped("del a, (b[0], c.d)\n").find("Delete @1:1-1:19") != std::string::npos);
  CHECK(dumped("raise a from b\n") == "Module\n  Raise @1:1-1:15\n    Name a global @1:7-1:8\n    from: Name b global @1:14-1:15\n");
  CHECK(dumped("raise\n") == "Module\n  Raise @1:1-1:6\n");
  CHECK(dumped("def f():\n  global a, b\n  return\n").find("Global a, b @2:3-2:14") != std::string::npos);
}

TEST_CASE("compound statements") {
  CHECK(dumped("if a:\n  b\nelif c: d\nelse:\n  e\n") ==
        "Module\n  If @1:1-5:4\n    test: Name a global @1:4-1:5\n    ExprStmt @2:3-2:4\n      Name b global @2:3-2:4\n    else: If "
        "@3:1-5:4\n"
        "      test: Name c global @3:6-3:7\n      ExprStmt @3:9-3:10\n        Name d global @3:9-3:10\n      else: ExprStmt @5:3-5:4\n    "
        "    Name e global @5:3-5:4\n");
  CHECK(dumped("while a:\n  break\nelse:\n  pass\n") ==
        "Module\n  While @1:1-4:7\n    test: Name a global @1:7-1:8\n    Break @2:3-2:8\n    else: Pass @4:3-4:7\n");
  CHECK(dumped("for a, b in c, d: continue\n") ==
        "Module\n  For @1:1-1:27\n    target: Tuple @1:5-1:9\n      Name a global @1:5-1:6\n      Name b global @1:8-1:9\n    iter: Tuple "
        "@1:13-1:17\n"
        "      Name c global @1:13-1:14\n      Name d global @1:16-1:17\n    Continue @1:19-1:27\n");
  CHECK(dumped("with a as b, c: pass\n") == dumped("with a as b, c: pass\n"));
  CHECK(shape(*parse("with (a as b, c,): pass\n")) == shape(*parse("with a as b, c: pass\n")));
  CHECK(dumped("with (a, b) as c: pass\n").find("context: Tuple @1:6-1:12") != std::string::npos);
  CHECK(dumped("with (a).b as c[0], (yy): pass\n").find("as: Subscript @1:15-1:19") != std::string::npos);
  CHECK(dumped("try:\n  a\nexcept b as c:\n  d\nexcept:\n  e\nelse:\n  f\nfinally:\n  g\n") ==
        "Module\n  Try @1:1-10:4\n    ExprStmt @2:3-2:4\n      Name a global @2:3-2:4\n    Except c global @3:1-4:4\n      type: Name b "
        "global @3:8-3:9\n"
        "      ExprStmt @4:3-4:4\n        Name d global @4:3-4:4\n    Except @5:1-6:4\n      ExprStmt @6:3-6:4\n        Name e global "
        "@6:3-6:4\n"
        "    else: ExprStmt @8:3-8:4\n      Name f global @8:3-8:4\n    finally: ExprStmt @10:3-10:4\n      Name g global @10:3-10:4\n");
}

TEST_CASE("columns count code points") { CHECK(tree("'é' + x").find("Name x global @1:7-1:8") != std::string::npos); }

TEST_CASE("names are compared in normal form") {
  CHECK(tree("ﬁ") == "Name fi global @1:1-1:2\n");
  CHECK(tree("größe_1").find("Name größe_1") == 0);
}

TEST_CASE("soft keywords are names") {
  CHECK(failure_line("match = 1\ncase = match\ntype = case\nprint(match, type(case))\nmatch.x[1](2)\nmatch[0] = 1\nmatch (1, 2)\n") ==
        "none");
}

TEST_CASE("a word may follow a number") { CHECK(shape(*parse("1if 2else 3")) == shape(*parse("1 if 2 else 3"))); }
