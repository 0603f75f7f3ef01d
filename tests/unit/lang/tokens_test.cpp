// The words of texts that are right, wrong or half written.
#include "lang/tokens.h"

#include <string>

#include "catch.h"

using namespace gasell;

namespace {

/// Each token as a letter and its text: "n:x".
std::string shown(std::string_view text) {
  std::string out;
  for (const Token& token : scan_tokens(text)) {
    static constexpr std::string_view kLetters = "nk1sc.()$?";
    out += (out.empty() ? "" : " ") + std::string(1, kLetters[static_cast<size_t>(token.kind)]) + ":";
    out += token.kind == TokenKind::line_end ? "" : std::string(text.substr(token.span.begin, token.span.end - token.span.begin));
    if (token.unfinished) out += "~";
  }
  return out;
}

}  // namespace

TEST_CASE("tokens of a text that is right") {
  CHECK(shown("def f(x): # twice\n  return x*2.5e3") == "k:def n:f (:( n:x ):) .:: c:# twice $: k:return n:x .:* 1:2.5e3");
  CHECK(shown("α = 'ä' \"b\"") == "n:α .:= s:'ä' s:\"b\"");
  CHECK(shown("x = '''a\nb''' + r'\\'") == "n:x .:= s:'''a\nb''' .:+ s:r'\\'~");
  CHECK(shown("0x1F .5 1_000j") == "1:0x1F 1:.5 1:1_000j");
  CHECK(shown("") == "");
}

TEST_CASE("tokens of f-strings") {
  CHECK(shown("f'a{x + 1!r:>{w}}b'") == "s:f'a{ n:x .:+ 1:1 s:!r:>{w}}b'");
  CHECK(shown("f'{{x}} {y}'") == "s:f'{{x}} { n:y s:}'");
  CHECK(shown("f'{d[\"k\"]}'") == "s:f'{ n:d (:[ s:\"k\" ):] s:}'");
}

TEST_CASE("tokens of a text that is wrong or unfinished") {
  CHECK(shown("x = 'abc\ny") == "n:x .:= s:'abc~ $: n:y");
  CHECK(shown("'''abc\ny") == "s:'''abc\ny~");
  CHECK(shown("f'{x") == "s:f'{x~");
  CHECK(shown("f'{}' + 1") == "s:f'{}' .:+ 1:1");
  CHECK(shown("1x 08 a$b") == "?:1x ?:08 n:a ?:$ n:b");
  CHECK(shown("\xff\x01 x") == "?:\xff ?:\x01 n:x");
  CHECK(shown("([{") == "(:( (:[ (:{");
}
