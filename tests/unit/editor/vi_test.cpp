// vi's keys.
#include "tools/editor/vi.h"

#include <string>

#include "catch.h"

using namespace gasell::editor;

namespace {

/// The text with a bar at the cursor after `keys` in normal mode at the beginning of `text`; Escape is '\033'. In insert mode keys are
/// typed.
std::string after(std::string_view text, std::string_view keys, size_t cursor = 0) {
  Buffer buffer;
  buffer.replace_all(text);
  buffer.move_to(cursor);
  KillRing cuts;
  Vi vi;
  vi.leave_insert(buffer);
  buffer.move_to(cursor);
  for (const char c : keys) {
    Key key{Key::Code::character, std::string(1, c)};
    if (c == '\033') key = {Key::Code::escape};
    if (vi.is_normal()) {
      vi.handle(key, buffer, cuts, [](bool) {});
    } else if (c == '\033') {
      vi.leave_insert(buffer);
    } else {
      buffer.insert(key.text);
    }
  }
  return std::string(buffer.before_cursor()) + (vi.is_normal() ? "|" : "^") + std::string(buffer.after_cursor());
}

}  // namespace

TEST_CASE("motions") {
  CHECK(after("one.two three", "w") == "one|.two three");
  CHECK(after("one.two three", "ww") == "one.|two three");
  CHECK(after("one.two three", "W") == "one.two |three");
  CHECK(after("one.two three", "e") == "on|e.two three");
  CHECK(after("one.two three", "$") == "one.two thre|e");
  CHECK(after("one.two three", "$b") == "one.two |three");
  CHECK(after("one.two three", "$B0") == "|one.two three");
  CHECK(after("one two three", "2w") == "one two |three");
  CHECK(after("one two three", "fe;") == "one two thr|ee");
  CHECK(after("one two three", "fe;;,") == "one two thr|ee");
  CHECK(after("one two three", "tt") == "one| two three");
  CHECK(after("  ab\ncd", "jk^") == "  |ab\ncd");
  CHECK(after("a\nb\nc", "G") == "a\nb\n|c");
  CHECK(after("a\nb\nc", "Ggg") == "|a\nb\nc");
}

TEST_CASE("operators") {
  CHECK(after("one two three", "dw") == "|two three");
  CHECK(after("one two three", "2dw") == "|three");
  CHECK(after("one two three", "cwX\033") == "|X two three");
  CHECK(after("one two three", "wD") == "one| ");
  CHECK(after("one two three", "wd0") == "|two three");
  CHECK(after("one two three", "de") == "| two three");
  CHECK(after("f(a, b)", "f(lct)x") == "f(x^)");
  CHECK(after("a\nb\nc", "jdd") == "a\n|c");
  CHECK(after("a\nb\nc", "jddp") == "a\nc\n|b");
  CHECK(after("a\nb", "yyp") == "a\n|a\nb");
  CHECK(after("ab", "xp") == "b|a");
  CHECK(after("abc", "ylp") == "a|abc");
  CHECK(after("  x = 1", "wccy") == "y^");
}

TEST_CASE("insertions and the rest") {
  CHECK(after("ab", "iX") == "X^ab");
  CHECK(after("ab", "aX\033") == "a|Xb");
  CHECK(after("  ab", "IX") == "  X^ab");
  CHECK(after("ab", "A!") == "ab!^");
  CHECK(after("  ab", "oX") == "  ab\n  X^");
  CHECK(after("ab", "OX") == "X^\nab");
  CHECK(after("abc", "rX") == "|Xbc");
  CHECK(after("abc", "~~") == "AB|c");
  CHECK(after("a\n  b", "J") == "a| b");
  CHECK(after("abc", "xxu") == "|bc");
  CHECK(after("abc", "d\033x") == "|bc");
}
