// Diagnostics as people and programs see them.
#include "lang/render.h"

#include "catch.h"
#include "parse.h"

using namespace gasell;
using namespace gasell::test;

TEST_CASE("a caret under the exact span") {
  CHECK(render(failure("x = 1\ny = f(a, b c)\n")) ==
        "test.gsl:2:10\n    y = f(a, b c)\n             ^^^\nSyntaxError: invalid syntax. Perhaps you forgot a comma?\n");
  CHECK(render(failure("from . import x\n")) ==
        "test.gsl:1:6\n    from . import x\n         ^\nSyntaxError: relative imports are not part of Gasell\n"
        "hint: name the module or the file itself\n");
}

TEST_CASE("tabs and wide characters keep the caret in place") {
  CHECK(render(failure("if x:\n\ty = 1 2\n")) == "test.gsl:2:8\n    \ty = 1 2\n    \t      ^\nSyntaxError: invalid syntax\n");
  CHECK(render(failure("'日本' + $\n")) == "test.gsl:1:8\n    '日本' + $\n             ^\nSyntaxError: invalid syntax\n");
}

TEST_CASE("an error at the end of a line, and of the text") {
  CHECK(render(failure("x = 1 +\n")) == "test.gsl:1:8\n    x = 1 +\n           ^\nSyntaxError: invalid syntax\n");
  CHECK(render(failure("x = (\n")) == "test.gsl:1:5\n    x = (\n        ^\nSyntaxError: '(' was never closed\n");
}

TEST_CASE("secondary labels follow") {
  CHECK(render(failure("f(\n]\n")) ==
        "test.gsl:2:1\n    ]\n    ^\nSyntaxError: closing parenthesis ']' does not match opening parenthesis '(' on line 1\n"
        "test.gsl:1:2\n    f(\n     - opened here\n");
}

TEST_CASE("a span of several lines is shown on its first") {
  const auto source = std::make_shared<Source>("a.gsl", "f(1,\n  2)\n");
  const Diagnostic d{Blame::user, "ValueError", "no", Label{source, {0, 9}, {}}, {}, {}};
  CHECK(render(d) == "a.gsl:1:1\n    f(1,\n    ^^^^\nValueError: no\n");
}

TEST_CASE("colour") {
  const std::string text = render(failure("$\n"), {true});
  CHECK(text.find("\x1b[1;31mSyntaxError\x1b[0m") != std::string::npos);
  CHECK(text.find("\x1b[1;31m^") != std::string::npos);
}

TEST_CASE("a diagnostic without a place") {
  CHECK(render(Error("MemoryError", "too large", "ask for less").diagnostic()) == "MemoryError: too large\nhint: ask for less\n");
}

TEST_CASE("long lines are shown in part") {
  const std::string text = render(failure("x = '" + std::string(5000, 'a') + "' $ + '" + std::string(5000, 'b') + "'\n"));
  CHECK(text.size() < 600);
  CHECK(text.find("…") != std::string::npos);
}

TEST_CASE("JSON for programs") {
  CHECK(
      render_json(failure("x = (1]\n")) ==
      R"({"kind":"SyntaxError","message":"closing parenthesis ']' does not match opening parenthesis '('","blame":"user","file":"test.gsl","line":1,"column":7,)"
      R"("end_line":1,"end_column":8,"labels":[{"file":"test.gsl","line":1,"column":5,"end_line":1,"end_column":6,"text":"opened here"}]})");
  CHECK(render_json(failure("async\n")).find("\"blame\":\"limitation\"") != std::string::npos);
}

TEST_CASE("did you mean") {
  CHECK(did_you_mean("arnage", {"range", "arange", "array"}) == "arange");
  CHECK(did_you_mean("lenght", {"len", "length"}) == "length");
  CHECK(did_you_mean("prnit", {"print", "pi"}) == "print");
  CHECK(did_you_mean("xyz", {"abc", "def"}).empty());
  CHECK(did_you_mean("a", {"b"}).empty());
  CHECK(did_you_mean("seperator", {"iterator", "sep"}).empty());
  CHECK(did_you_mean("int", {"inf", "uint"}) == "uint");
  CHECK(did_you_mean("lne", {"len"}) == "len");
  CHECK(did_you_mean("dataframe", {"DataFrame", "data_frame"}) == "DataFrame");
  CHECK(did_you_mean("frame", {"_frame"}).empty());
}
