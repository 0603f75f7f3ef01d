// The text and its cursor, undo, cuts; characters.
#include "tools/editor/buffer.h"

#include <string>

#include "catch.h"
#include "tools/editor/characters.h"

using namespace gasell::editor;

namespace {

/// The text with a bar where the cursor is.
std::string shown(const Buffer& buffer) { return std::string(buffer.before_cursor()) + "|" + std::string(buffer.after_cursor()); }

Buffer with(std::string_view before, std::string_view after) {
  Buffer buffer;
  buffer.replace_all(std::string(before) + std::string(after));
  buffer.move_to(before.size());
  return buffer;
}

void type(Buffer& buffer, std::string_view text) {
  for (size_t at = 0, next = 0; at < text.size(); at = next) buffer.insert(text.substr(at, (next = next_character(text, at)) - at));
}

}  // namespace

TEST_CASE("characters are what a person sees as one") {
  const std::string text = "e\u0301日👩‍👩‍👧🇩🇪x";
  size_t at = 0;
  std::vector<size_t> ends;
  while (at < text.size()) ends.push_back(at = next_character(text, at));
  CHECK(ends == std::vector<size_t>{3, 6, 24, 32, 33});
  for (size_t i = 1; i < ends.size(); ++i) CHECK(previous_character(text, ends[i]) == ends[i - 1]);
  CHECK(width_of("e\u0301日x") == 4);
  CHECK(fitting("日本語", 5) == "日本");
  CHECK(next_character("\xff\xfe", 0) == 1);
}

TEST_CASE("words of a text") {
  Buffer b = with("", "np.sum(a_b, 10)");
  std::vector<size_t> stops;
  while (b.cursor() < b.text().size()) b.move_to(b.word_right()), stops.push_back(b.cursor());
  CHECK(stops == std::vector<size_t>{2, 6, 10, 14, 15});
  stops.clear();
  while (b.cursor() > 0) b.move_to(b.word_left()), stops.push_back(b.cursor());
  CHECK(stops == std::vector<size_t>{12, 7, 3, 0});
}

TEST_CASE("lines up and down keep their column") {
  Buffer b = with("long line", "\nab\n日本語日本");
  CHECK(b.move_down());
  CHECK(shown(b) == "long line\nab|\n日本語日本");
  CHECK(b.move_down());
  CHECK(shown(b) == "long line\nab\n日本語日|本");
  CHECK_FALSE(b.move_down());
  CHECK(b.move_up());
  CHECK(b.move_up());
  CHECK(b.cursor() == 9);
  CHECK_FALSE(b.move_up());
}

TEST_CASE("undo takes back words and changes") {
  Buffer b;
  type(b, "one two");
  b.erase(3, 7);
  CHECK(shown(b) == "one|");
  CHECK(b.undo());
  CHECK(b.text() == "one two");
  CHECK(b.undo());
  CHECK(shown(b) == "one |");
  CHECK(b.redo());
  CHECK(shown(b) == "one two|");
  CHECK(b.undo());
  CHECK(b.undo());
  CHECK(b.undo());
  CHECK(shown(b) == "|");
  CHECK_FALSE(b.undo());
  while (b.redo()) continue;
  CHECK(shown(b) == "one|");
  b.insert("x");
  CHECK_FALSE(b.redo());
}

TEST_CASE("cuts that follow each other are one") {
  KillRing cuts;
  cuts.cut("b", false);
  cuts.cut("c", false);
  cuts.cut("a", true);
  CHECK(cuts.get(0) == "abc");
  cuts.rest();
  cuts.cut("d", false);
  CHECK(cuts.get(0) == "d");
  CHECK(cuts.get(1) == "abc");
  CHECK(cuts.get(2) == "d");
}
