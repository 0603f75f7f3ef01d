// Colours, indentation and pastes.
#include <string>

#include "catch.h"
#include "tools/editor/highlight.h"
#include "tools/editor/indent.h"
#include "tools/editor/paste.h"

using namespace gasell;
using namespace gasell::editor;

namespace {

/// A letter for the style of each byte.
std::string styled(std::string_view text) {
  std::string out;
  for (const Style style : highlight(text, scan_tokens(text), [](std::string_view name) { return name == "len" || name == "np"; })) {
    static constexpr std::string_view kLetters = " >kcbd@1s#.!";
    out += kLetters[static_cast<size_t>(style)];
  }
  return out;
}

}  // namespace

TEST_CASE("colours of a text") {
  CHECK(styled("@njit\ndef f(x=1):") == "@@@@@ kkk d. .1..");
  CHECK(styled("return None # ok") == "kkkkkk cccc ####");
  CHECK(styled("len(np.len) + 'a'") == "bbb.bb.   . . sss");
  CHECK(styled("%time len(x)") == "!!!!! bbb. .");
  CHECK(styled("!ls -l 'a'") == "!!!!!!!!!!");
  CHECK(styled("@a.b(len)\nx") == "@@.@.bbb.  ");
  CHECK(styled("") == "");
}

TEST_CASE("the bracket at the cursor and its pair") {
  const std::string text = "f(a[1], '(')";
  const auto tokens = scan_tokens(text);
  const auto pair = [&](size_t cursor) {
    const auto found = bracket_pair(text, tokens, cursor);
    return found ? std::pair(tokens[found->first].span.begin, tokens[found->second].span.begin) : std::pair(99u, 99u);
  };
  CHECK(pair(12) == std::pair(11u, 1u));
  CHECK(pair(1) == std::pair(1u, 11u));
  CHECK(pair(6) == std::pair(5u, 3u));
  CHECK(pair(9) == std::pair(99u, 99u));
  const auto wrong = bracket_pair("(]", scan_tokens("(]"), 2);
  REQUIRE(wrong);
  CHECK(wrong->first == wrong->second);
  CHECK(open_bracket(text, tokens, 5) == 3u);
  CHECK(open_bracket(text, tokens, 7) == 1u);
  CHECK_FALSE(open_bracket(text, tokens, 12));
}

TEST_CASE("indentation of the next line") {
  const auto blanks = [](std::string_view text) { return static_cast<int>(indentation_after(text).size()); };
  CHECK(blanks("x = 1") == 0);
  CHECK(blanks("if x:") == 4);
  CHECK(blanks("if x:  # really") == 4);
  CHECK(blanks("if x:\n    y = 1") == 4);
  CHECK(blanks("def f():\n    for x in y:\n        return x") == 4);
  CHECK(blanks("def f():\n    pass") == 0);
  CHECK(blanks("returned = 1") == 0);
  CHECK(blanks("f(") == 4);
  CHECK(blanks("f(a,") == 2);
  CHECK(blanks("x = {\n    'a': 1,") == 4);
  CHECK(blanks("def f(a,\n      b):") == 4);
  CHECK(blanks("d = {'a':") == 5);
  CHECK(blanks("x = '''abc:") == 0);
  CHECK(blanks("if x:\n    y = [1,\n         2]") == 4);
}

TEST_CASE("lines that belong further left") {
  CHECK(changed_indentation("if x:\n    y\n    else:") == 0);
  CHECK(changed_indentation("if x:\n    y\nelse:") == std::nullopt);
  CHECK(changed_indentation("for a in b:\n    if x:\n        y\n        elif z:") == 4);
  CHECK(changed_indentation("for a in b:\n    if x:\n        y\n    else:") == std::nullopt);
  CHECK(changed_indentation("try:\n    y\n    except ValueError:") == 0);
  CHECK(changed_indentation("try:\n    if x:\n        y\n        finally:") == 0);
  CHECK(changed_indentation("x = 1\n    else:") == std::nullopt);
  CHECK(changed_indentation("f(\n    a,\n    )") == 0);
  CHECK(changed_indentation("f(\n    a)") == std::nullopt);
  CHECK(changed_indentation("else:") == std::nullopt);
}

TEST_CASE("pastes become the text of a file") {
  CHECK(cleaned_paste("a\r\nb\rc\n") == "a\nb\nc");
  CHECK(cleaned_paste("a\n\n") == "a");
  CHECK(cleaned_paste("x = 'a\tb'\x01\x7f") == "x = 'a\tb'");
  CHECK(cleaned_paste("if x:\n\ty\n\t\tz") == "if x:\n    y\n        z");
  CHECK(cleaned_paste("    if x:\n        y\n\n    z") == "if x:\n    y\n\nz");
  CHECK(cleaned_paste("  x") == "  x");
  CHECK(cleaned_paste("a = 1 + \\\n  2") == "a = 1 + \\\n  2");
}

TEST_CASE("transcripts of sessions lose their prompts and what they showed") {
  CHECK(cleaned_paste(">>> x = 1\n>>> x\n1\n>>> def f():\n...     return 2\n...\n>>> f()\n2\n") ==
        "x = 1\nx\ndef f():\n    return 2\n\nf()");
  CHECK(cleaned_paste(
            "In [1]: x = 1\n\nIn [2]: for i in x:\n   ...:     print(i)\n   ...: \nOut[2]: 5\n\nIn [3]: y\nOut[3]: \narray([1])\n") ==
        "x = 1\nfor i in x:\n    print(i)\n\ny");
  CHECK(cleaned_paste("    >>> x = 1\n    >>> x") == "x = 1\nx");
  CHECK(cleaned_paste("x = [\n...\n]") == "x = [\n...\n]");
  CHECK(cleaned_paste(">>>") == "");
}
