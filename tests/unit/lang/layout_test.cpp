// The layout pass: marks, blanks, and where each byte came from.
#include "lang/layout.h"

#include "catch.h"
#include "parse.h"

using namespace gasell;
using namespace gasell::test;

namespace {

/// Marks made visible: '>' indent, '<' dedent, ';' newline.
std::string laid(const std::string& text) {
  std::string shown = lay_out(std::make_shared<Source>("test.gsl", text)).text;
  for (char& c : shown) c = c == kIndentMark ? '>' : c == kDedentMark ? '<' : c == kNewlineMark ? '$' : c;
  return shown;
}

}  // namespace

TEST_CASE("lines, blanks and comments") {
  CHECK(laid("a\nb") == "a$b$");
  CHECK(laid("a   +\tb # sum\n\n   # nothing\nc\n") == "a + b$c$");
  CHECK(laid("") == "");
  CHECK(laid("\n\n  \n# only this") == "");
  CHECK(laid("a\r\nb\rc\n") == "a$b$c$");
  CHECK(laid("\xEF\xBB\xBF"
             "a\n") == "a$");
  CHECK(laid("\f\na\n") == "a$");
}

TEST_CASE("joined lines") {
  CHECK(laid("a = \\\n  b\n") == "a = b$");
  CHECK(laid("f(a,\n  # first\n  b)\nc") == "f(a, b)$c$");
  CHECK(laid("x = [\n1,\n\n2]\n") == "x = [ 1, 2]$");
  CHECK(laid("if x:\n  \\\n  y\n") == "if x:$>y$<");
}

TEST_CASE("blocks") {
  CHECK(laid("if a:\n  b\n  c\nd\n") == "if a:$>b$c$<d$");
  CHECK(laid("if a:\n if b:\n  c\n") == "if a:$>if b:$>c$<<");
  CHECK(laid("if a:\n\tb\n\tc\n") == "if a:$>b$c$<");
  CHECK(laid("if a:\n  b\n# comment at the margin\n  c\n") == "if a:$>b$c$<");
}

TEST_CASE("strings are copied as they stand") {
  CHECK(laid("'a  # b'  # c\n") == "'a  # b'$");
  CHECK(laid("\"\"\"a\n  'b' \"c\" (\n\"\"\" + 1") == "\"\"\"a\n  'b' \"c\" (\n\"\"\" + 1$");
  CHECK(laid("r'\\'' '\\\\'") == "r'\\'' '\\\\'$");
  CHECK(laid("f'{a[\"b\"]:{w}}}}  {{' #") == "f'{a[\"b\"]:{w}}}}  {{'$");
  CHECK(laid("f'{f'{1}'  # inner\n}'") == "f'{f'{1}'  # inner\n}'$");
}

TEST_CASE("every byte knows its place in the source") {
  const std::string text = "a  =  (b,\n   c)  # d\nif x:\n    y\n";
  const LaidOut out = lay_out(std::make_shared<Source>("test.gsl", text));
  REQUIRE(out.offsets.size() == out.text.size() + 1);
  for (size_t i = 0; i < out.text.size(); ++i) {
    const char c = out.text[i];
    if (static_cast<unsigned char>(c) > ' ') CHECK(text[out.offsets[i]] == c);
    if (c == kNewlineMark) CHECK(text[out.offsets[i]] == '\n');
  }
  CHECK(out.offsets.back() == text.size());
}

TEST_CASE("what the layout refuses") {
  CHECK(failure_line("f(a, [b\n") == "SyntaxError 1:6-1:7 '[' was never closed");
  CHECK(failure_line("a)\n") == "SyntaxError 1:2-1:3 unmatched ')'");
  CHECK(failure_line("(a]\n") == "SyntaxError 1:3-1:4 closing parenthesis ']' does not match opening parenthesis '('");
  CHECK(failure_line("(a\n]\n") == "SyntaxError 2:1-2:2 closing parenthesis ']' does not match opening parenthesis '(' on line 1");
  CHECK(failure_line("if a:\n  b\n c\n") == "IndentationError 3:1-3:2 unindent does not match any outer indentation level");
  CHECK(failure_line("if a:\n\tb\n        c\n") == "TabError 3:1-3:9 inconsistent use of tabs and spaces in indentation");
  CHECK(failure_line("x = 'abc\ny") == "SyntaxError 1:5-1:6 unterminated string literal (detected at line 1)");
  CHECK(failure_line("\nx = '''abc\ny\n") == "SyntaxError 2:5-2:8 unterminated triple-quoted string literal (detected at line 3)");
  CHECK(failure_line("f'abc") == "SyntaxError 1:1-1:3 unterminated f-string literal (detected at line 1)");
  CHECK(failure_line("a \\ b\n") == "SyntaxError 1:4-1:5 unexpected character after line continuation character");
  CHECK(failure_line("a \\") == "SyntaxError 1:3-1:4 unexpected EOF while parsing");
  CHECK(failure_line("x = “a”") == "SyntaxError 1:5-1:6 invalid character '“' (U+201C)");
  CHECK(failure_line("x =\u00a0"
                     "1") == "SyntaxError 1:4-1:5 invalid non-printable character U+00A0");
  CHECK(failure_line("x = \x01") == "SyntaxError 1:5-1:6 invalid non-printable character U+0001");
  CHECK(failure_line(std::string("x\0y", 3)) == "SyntaxError 1:2-1:3 source code cannot contain null bytes");
  CHECK(failure_line("x = '\xff'").find("SyntaxError 1:6-1:7 (unicode error) 'utf-8' codec can't decode byte 0xff in position 5") == 0);
  CHECK(failure_line("f'}'") == "SyntaxError 1:3-1:4 f-string: single '}' is not allowed");
  CHECK(failure_line("f'{}'") == "SyntaxError 1:4-1:5 f-string: valid expression required before '}'");
  CHECK(failure_line("f'{a)}'") == "SyntaxError 1:5-1:6 f-string: unmatched ')'");
  CHECK(failure_line("f'{a!x}'") == "SyntaxError 1:6-1:7 f-string: invalid conversion character 'x': expected 's', 'r', or 'a'");
}

TEST_CASE("a hundred levels of indentation, no more") {
  auto nest = [](int levels) {
    std::string text;
    for (int i = 0; i < levels; ++i) text += std::string(static_cast<size_t>(i), ' ') + "if x:\n";
    return text + std::string(static_cast<size_t>(levels), ' ') + "pass\n";
  };
  CHECK(failure_line(nest(99)) == "none");
  CHECK(failure(nest(100)).message == "too many levels of indentation");
  CHECK(failure(nest(100)).kind == "IndentationError");
}
