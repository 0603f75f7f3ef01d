// Keys in, texts out: blocks, history, search, completion, cuts.
#include "tools/editor/editing.h"

#include <random>
#include <string>

#include "catch.h"
#include "lang/parser.h"
#include "tools/editor/screen.h"

using namespace gasell;
using namespace gasell::editor;

namespace {

class Session {
 public:
  Session() {
    services.complete = [this](std::string_view text, size_t cursor) {
      size_t begin = cursor;
      while (begin > 0 && std::isalnum(static_cast<unsigned char>(text[begin - 1]))) --begin;
      Completion found{begin, {}};
      for (const std::string& word : words)
        if (word.starts_with(text.substr(begin, cursor - begin))) found.candidates.push_back(word);
      return found;
    };
    services.detail = [](std::string_view, size_t, const std::string& candidate) { return candidate + "()"; };
    services.call_hint = [](std::string_view, size_t) { return std::nullopt; };
    services.is_complete = [](const std::string& text) { return completeness(text + "\n") != Completeness::incomplete; };
    services.is_builtin = [](std::string_view) { return false; };
    services.suggests = [] { return true; };
    services.mistake = [](const std::string& text) -> std::optional<Mistake> {
      const size_t at = text.find('$');
      if (at == std::string::npos) return std::nullopt;
      return Mistake{{static_cast<uint32_t>(at), static_cast<uint32_t>(at + 1)}, "no dollars"};
    };
    begin();
  }

  void begin(Mode mode = Mode::entry) {
    editing.begin(mode, ">>> ", "... ");
    last = Editing::Outcome::goes_on;
  }
  /// Presses what a terminal would send, key by key, until something is accepted.
  std::string press(std::string_view bytes) {
    KeyDecoder decoder;
    decoder.feed(bytes);
    while (auto key = decoder.next(true)) {
      last = editing.handle(*key, false);
      if (last == Editing::Outcome::accepted) {
        const std::string result = editing.result();
        history.add(result);
        begin();
        return result;
      }
    }
    return shown();
  }
  std::string shown() const { return std::string(editing.buffer().before_cursor()) + "|" + std::string(editing.buffer().after_cursor()); }
  std::string below() {
    std::string out;
    for (const StyledLine& line : editing.view(80, 24).below) {
      for (const auto& part : line) out += part.first;
      out += "\n";
    }
    return out;
  }

  std::vector<std::string> words = {"alpha", "alphabet", "beta"};
  History history{{}};
  Services services;
  Editing editing{history, services};
  Editing::Outcome last;
};

constexpr const char* kUp = "\033[A";
constexpr const char* kDown = "\033[B";

}  // namespace

TEST_CASE("blocks are indented, end with an empty line, and come back as one") {
  Session s;
  CHECK(s.press("def f(x):\rif x:\rreturn 1\relse:\rreturn 2\r\r") ==
        "def f(x):\n    if x:\n        return 1\n    else:\n        return 2");
  CHECK(s.press("f(1)\r") == "f(1)");
  s.press(kUp);
  s.press(kUp);
  CHECK(s.press("\r") == "def f(x):\n    if x:\n        return 1\n    else:\n        return 2");
}

TEST_CASE("a recalled block can be edited in its lines") {
  Session s;
  s.press("for i in x:\rprint(i)\r\r");
  s.press(kUp);
  s.press("\033[D");  // another key: from here on arrows go through its lines
  CHECK(s.press(kUp) == "for i in x:|\n    print(i)");
  CHECK(s.press("  # all") == "for i in x:  # all|\n    print(i)");
  s.press("\033[1;5F");
  CHECK(s.press("\r\r") == "for i in x:  # all\n    print(i)");
}

TEST_CASE("brackets, decorators and strings want more lines") {
  Session s;
  CHECK(s.press("f(\r1,\r)") == "f(\n    1,\n)|");
  CHECK(s.press("\r") == "f(\n    1,\n)");
  CHECK(s.press("@a\r") == "@a\n|");
  CHECK(s.press("def g(): pass\r\r") == "@a\ndef g(): pass");
  CHECK(s.press("x = '''a\r  b'''\r") == "x = '''a\n  b'''");
  CHECK(s.press("x\033\r") == "x\n|");  // Alt-Enter: a line more in any case
}

TEST_CASE("a paste waits to be read, and runs whole") {
  Session s;
  const std::string text = "@njit\n\ndef f(x):\n    y = x\n\n    return y\n";
  CHECK(s.press("\033[200~" + text + "\033[201~") == "@njit\n\ndef f(x):\n    y = x\n\n    return y|");
  CHECK(s.press("\r") == "@njit\n\ndef f(x):\n    y = x\n\n    return y");
  CHECK(s.press("f(\033[200~1,\t2\033[201~)\r") == "f(1,\t2)");
  s.begin(Mode::line);
  CHECK(s.press("\033[200~a\nb\033[201~") == "a b|");
}

TEST_CASE("text that comes faster than it is typed keeps its own indentation") {
  Session s;
  std::string text = "for i in x:\n    for j in i:\n        print(j)";
  for (const char c : text) s.editing.handle(c == '\n' ? Key{Key::Code::enter} : Key{Key::Code::character, std::string(1, c)}, true);
  CHECK(s.editing.buffer().text() == text);
}

TEST_CASE("earlier entries by how they begin") {
  Session s;
  for (const char* entry : {"x = 1\r", "y = 2\r", "x = 3\r", "x = 3\r"}) s.press(entry);
  CHECK(s.press(kUp) == "x = 3|");
  CHECK(s.press(kUp) == "y = 2|");
  CHECK(s.press(kDown) == "x = 3|");
  CHECK(s.press(kDown) == "|");
  s.press("x");
  CHECK(s.press(std::string(kUp) + kUp) == "x = 1|");
  CHECK(s.press(kUp) == "x = 1|");
  CHECK(s.press(std::string(kDown) + kDown) == "x|");
  CHECK(s.press("\x1f\x1f") == "x = 1|");  // undo goes the way back
}

TEST_CASE("the suggestion is taken whole or by words") {
  Session s;
  s.press("np.linspace(0, 1)\r");
  s.press("np");
  CHECK(s.editing.view(80, 24).suggestion == ".linspace(0, 1)");
  CHECK(s.press("\033f") == "np.linspace|");
  CHECK(s.press("\033[C") == "np.linspace(0, 1)|");
  s.begin();
  s.press("np.linspace(\033[D");
  CHECK(s.editing.view(80, 24).suggestion.empty());
}

TEST_CASE("searching the history") {
  Session s;
  for (const char* entry : {"a = one\r", "b = two\r", "c = one\r"}) s.press(entry);
  CHECK(s.press("draft\x12one") == "c = |one");
  CHECK(s.below() == "search: one\n");
  CHECK(s.press("\x12") == "a = |one");
  CHECK(s.press("\x13") == "c = |one");
  CHECK(s.press("x") == "c = |one");
  CHECK(s.below() == "not in the history: onex\n");
  CHECK(s.press("\x7f\x12") == "a = |one");
  CHECK(s.press("\x07") == "draft|");
  CHECK(s.press("\x12two\r") == "b = two");
  CHECK(s.press("\x12two\033[D") == "b =| two");
}

TEST_CASE("completion: one candidate, what they share, a list") {
  Session s;
  CHECK(s.press("be\t") == "beta|");
  CHECK(s.press(" al\t") == "beta alpha|");
  CHECK(s.press("\t") == "beta alpha|");
  CHECK(s.below() == " alpha     alpha() \n alphabet  alphabet() \n");
  CHECK(s.press("\t\t") == "beta alphabet|");
  CHECK(s.press("\033[Z") == "beta alpha|");
  CHECK(s.press("\033[B\r") == "beta alphabet|");
  CHECK(s.below().empty());
  CHECK(s.press("\x17"
                "alpha\t\t\033") == "beta alpha|");
  CHECK(s.press("\x17"
                "alpha\tb") == "beta alphab|");  // typing makes the list shorter
  CHECK(s.below() == " alphabet  alphabet() \n");
  CHECK(s.press("\033") == "beta alphab|");
  CHECK(s.press("\x15\t") == "    |");
  CHECK(s.press("\033[Z") == "|");
  CHECK(s.press("zz\t") == "zz|");
  CHECK(s.last == Editing::Outcome::beeps);
}

TEST_CASE("cuts and what is taken back") {
  Session s;
  CHECK(s.press("one two three\x17\x17") == "one |");
  CHECK(s.press("\x19") == "one two three|");
  CHECK(s.press("\x01\x0b\x19\x19") == "one two threeone two three|");
  s.begin();
  CHECK(s.press("a.b c\033b\033d\x19\033y") == "a.b one two three|");
  s.begin();
  CHECK(s.press("abc\x14\x02\x14") == "abc|");
  CHECK(s.press("\x01\033u") == "ABC|");
  CHECK(s.press("\x01\033c") == "Abc|");
}

TEST_CASE("keys of a line") {
  Session s;
  CHECK(s.press("if a:\rb c\033[H") == "if a:\n    |b c");
  CHECK(s.press("\033[H") == "if a:\n|    b c");
  CHECK(s.press("\033[F\033[1;5D") == "if a:\n    b |c");
  CHECK(s.press("\033[1;5H") == "|if a:\n    b c");
  CHECK(s.press("\033[3~\033[3;5~") == "| a:\n    b c");
  s.begin();
  CHECK(s.press("if a:\rx\x7f\x7f") == "if a:\n|");  // Backspace goes back a level
  s.press("\x03");
  CHECK(s.last == Editing::Outcome::interrupted);
  s.begin();
  s.press("\x04");
  CHECK(s.last == Editing::Outcome::ended);
  s.press("\x18\x05");
  CHECK(s.last == Editing::Outcome::edits_beside);
}

TEST_CASE("mistakes are shown when nobody types, but not where one is writing") {
  Session s;
  s.press("a $ b");
  CHECK(s.editing.idle());
  CHECK(s.below() == "no dollars\n");
  CHECK(s.editing.view(80, 24).styles[2] == Style::mistake);
  s.press("c");
  CHECK(s.below().empty());
  s.begin();
  s.press("a $");
  CHECK_FALSE(s.editing.idle());
  s.begin();
  s.press("'$ b");
  CHECK_FALSE(s.editing.idle());
}

TEST_CASE("any keys leave a text of whole characters, a cursor between two, and a view that fits") {
  for (const bool vi : {false, true}) {
    std::mt19937 random(vi ? 11 : 5);
    static const std::vector<std::string> kKeys = {"a",
                                                   "b(",
                                                   ")",
                                                   "日",
                                                   "e\u0301",
                                                   "\r",
                                                   "\t",
                                                   "\033[Z",
                                                   "\033[A",
                                                   "\033[B",
                                                   "\033[C",
                                                   "\033[D",
                                                   "\033[H",
                                                   "\033[F",
                                                   "\033[1;5C",
                                                   "\033[3~",
                                                   "\x7f",
                                                   "\x01",
                                                   "\x05",
                                                   "\x0b",
                                                   "\x17",
                                                   "\x19",
                                                   "\033y",
                                                   "\x1f",
                                                   "\033/",
                                                   "\x12",
                                                   "\x13",
                                                   "\x07",
                                                   "\033",
                                                   "\x14",
                                                   "\033u",
                                                   "\033c",
                                                   "\033[5~",
                                                   "\033[6~",
                                                   "'",
                                                   "\"\"\"",
                                                   "if x:",
                                                   "else:",
                                                   "al",
                                                   "\033\r",
                                                   "\x15",
                                                   "\033d",
                                                   "\033[200~in\n  text\033[201~",
                                                   "\x18",
                                                   "{",
                                                   "]",
                                                   "%tim",
                                                   "f'{"};
    for (int round = 0; round < 40; ++round) {
      Session s;
      s.editing.use_vi(vi);
      s.begin();
      Screen screen;
      size_t top = 0;
      for (int step = 0; step < 120; ++step) {
        s.press(kKeys[random() % kKeys.size()]);
        if (s.last == Editing::Outcome::interrupted || s.last == Editing::Outcome::ended) s.begin();
        if (random() % 8 == 0) s.editing.idle();
        const std::string& text = s.editing.buffer().text();
        const size_t cursor = s.editing.buffer().cursor();
        REQUIRE(cursor <= text.size());
        if (cursor < text.size()) REQUIRE((text[cursor] & 0xc0) != 0x80);
        const int columns = 12 + static_cast<int>(random() % 40), rows = 3 + static_cast<int>(random() % 20);
        const View view = s.editing.view(columns, rows);
        const Frame frame = compose(view, columns, rows, top);
        REQUIRE(static_cast<int>(frame.rows.size()) <= rows);
        for (const Frame::Row& row : frame.rows) REQUIRE(row.width <= columns);
        REQUIRE(frame.cursor_row < static_cast<int>(frame.rows.size()));
        screen.draw(frame, columns);
      }
    }
  }
}
