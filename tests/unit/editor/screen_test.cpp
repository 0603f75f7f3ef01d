// Views on rows and columns, and what is written so that a terminal shows them.
#include "tools/editor/screen.h"

#include <random>
#include <string>

#include "catch.h"
#include "terminal_model.h"
#include "tools/editor/plain_row.h"
#include "tools/editor/view.h"

using namespace gasell::editor;
using namespace gasell::editor::test;

namespace {

View view_of(std::string_view text, size_t cursor) {
  View view;
  view.prompt = ">>> ";
  view.more_prompt = "... ";
  view.text = text;
  view.cursor = cursor;
  return view;
}

}  // namespace

TEST_CASE("lines wrap, and the cursor is where its character is") {
  size_t top = 0;
  TerminalModel terminal(10, 6);
  Screen screen;
  const auto show = [&](const View& view) { terminal.write(screen.draw(compose(view, 10, 6, top), 10)); };
  show(view_of("abcdef", 6));
  CHECK(terminal.lines() == std::vector<std::string>{">>> abcdef"});
  CHECK(terminal.row() == 1);
  CHECK(terminal.column() == 0);
  show(view_of("abcdefg日本\nx", 13));
  CHECK(terminal.lines() == std::vector<std::string>{">>> abcdef", "g日本", "... x"});
  CHECK(terminal.row() == 1);
  CHECK(terminal.column() == 5);
  show(view_of("a\tb", 1));
  CHECK(terminal.lines() == std::vector<std::string>{">>> a   b"});
}

TEST_CASE("a text that is longer than the window shows what is around the cursor") {
  std::string text = "line0";
  for (int k = 1; k < 20; ++k) text += "\nline" + std::to_string(k);
  size_t top = 0;
  TerminalModel terminal(20, 4);
  Screen screen;
  const auto show = [&](size_t cursor) {
    terminal.write(screen.draw(compose(view_of(text, cursor), 20, 4, top), 20));
    return terminal.lines();
  };
  CHECK(show(text.size()) == std::vector<std::string>{"... line16", "... line17", "... line18", "... line19"});
  CHECK(show(text.find("line17")).front() == "... line16");
  CHECK(show(text.find("line3")).front() == "... line3");
  CHECK(show(0).front() == ">>> line0");
  terminal.write(screen.draw({}, 20) + screen.finish(compose_whole(view_of(text, text.size()), 20), 20));
  CHECK(terminal.lines() == std::vector<std::string>{"... line17", "... line18", "... line19"});
}

TEST_CASE("what stands below gives way to the text") {
  View view = view_of("a\nb", 0);
  view.suggestion = "rest\nmore";
  view.below = {{{"one", Style::hint}}, {{"two, which is too long", Style::hint}}, {{"three", Style::hint}}};
  size_t top = 0;
  TerminalModel terminal(12, 4);
  terminal.write(Screen().draw(compose(view, 12, 4, top), 12));
  CHECK(terminal.lines() == std::vector<std::string>{">>> a", "... brest", "one", "two, which"});
  CHECK(terminal.row() == 0);
}

TEST_CASE("only what differs is written") {
  Screen screen;
  screen.set_theme(*Theme::named("dark", 256));
  size_t top = 0;
  screen.draw(compose(view_of("abc", 3), 40, 10, top), 40);
  CHECK(screen.draw(compose(view_of("abc", 3), 40, 10, top), 40).empty());
  CHECK(screen.draw(compose(view_of("abcd", 4), 40, 10, top), 40) == "d");
  CHECK(screen.draw(compose(view_of("abcd", 2), 40, 10, top), 40) == "\033[2D");
  CHECK(screen.draw(compose(view_of("abc", 2), 40, 10, top), 40) == "\033[1C\033[K\b");
}

TEST_CASE("any views one after the other are shown as they are") {
  std::mt19937 random(7);
  const auto below = [&](uint32_t n) { return static_cast<size_t>(random() % n); };
  static const std::vector<std::string> kPieces = {"a", "bc", " ", "日", "\n", "e\u0301", "\n\n", "xyzxyz", "語本"};
  for (int round = 0; round < 30; ++round) {
    const int columns = 6 + static_cast<int>(below(20)), rows = 3 + static_cast<int>(below(8));
    TerminalModel terminal(columns, rows);
    Screen screen;
    screen.set_theme(*Theme::named("light", 16));
    size_t top = 0;
    std::string text;
    for (int step = 0; step < 60; ++step) {
      if (below(4) == 0) text.clear();
      for (size_t k = below(4); k > 0; --k) text += kPieces[below(9)];
      size_t cursor = 0;
      for (size_t k = below(30); k > 0; --k) cursor = next_character(text, cursor);
      View view = view_of(text, cursor);
      view.styles.assign(text.size(), below(2) ? Style::plain : Style::keyword);
      for (size_t k = below(4); k > 0; --k) view.below.push_back({{kPieces[below(4)], Style::hint}, {"more", Style::menu}});
      const Frame frame = compose(view, columns, rows, top);
      REQUIRE(static_cast<int>(frame.rows.size()) <= rows);
      terminal.write(screen.draw(frame, columns));
      TerminalModel fresh(columns, rows);
      Screen other;
      fresh.write(other.draw(frame, columns));
      std::vector<std::string> shown = terminal.lines(), wanted = fresh.lines();
      const size_t offset = static_cast<size_t>(terminal.row() - frame.cursor_row);
      REQUIRE(terminal.column() == std::min(frame.cursor_column, columns - 1));
      shown.erase(shown.begin(), shown.begin() + static_cast<std::ptrdiff_t>(std::min(offset, shown.size())));
      REQUIRE(shown == wanted);
    }
  }
}

TEST_CASE("a window of another width is drawn anew") {
  Screen screen;
  size_t top = 0;
  screen.draw(compose(view_of("0123456789abcdef", 16), 20, 5, top), 20);  // fills the row: the cursor stands on the next
  CHECK(screen.resized(10) == "\r\033[2A\033[J");
}

TEST_CASE("one row of a terminal without sequences") {
  PlainRow row;
  TerminalModel terminal(12, 5);
  terminal.write(row.draw(view_of("abc", 3), 12));
  terminal.write(row.draw(view_of("ab", 1), 12));
  CHECK(terminal.lines() == std::vector<std::string>{">>> ab"});
  CHECK(terminal.column() == 5);
  terminal.write(row.draw(view_of("abcdefghijkl", 12), 12));
  CHECK(terminal.lines() == std::vector<std::string>{">>> fghijkl"});
  terminal.write(row.draw(view_of("f(\n  x", 6), 12));
  CHECK(terminal.lines() == std::vector<std::string>{">>> f(", "...   x"});
  terminal.write(row.show("one  two"));
  terminal.write(row.finish(view_of("f(\n  x)", 7), 12));
  CHECK(terminal.lines() == std::vector<std::string>{">>> f(", "...   x", "one  two", "...   x)"});
}
