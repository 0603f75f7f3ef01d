#include "runtime/io/csv/scan.h"

#include <random>
#include <string>
#include <vector>

#include "catch.h"

using namespace gasell::csv;

namespace {

/// What scan.h says, a byte at a time.
PieceFacts slow_facts(const std::string& text, char before, const Dialect& d, bool inside[2]) {
  PieceFacts facts;
  for (const int state : {0, 1}) {
    bool quoted = state;
    char last = before;
    bool last_outside = state == 0;
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (last_outside && (last == '\n' || (last == '\r' && c != '\n'))) {
        ++facts.lines[state];
        if (facts.first_line[state] < 0) facts.first_line[state] = static_cast<int64_t>(i);
        facts.blank[state] |= c == ' ' || c == '\t' || c == '\n' || c == '\r';
        facts.lone_carriage[state] |= last == '\r';
      }
      const bool opens = c == d.quote && !quoted;
      if (opens) facts.stray[state] |= !(last == d.separator || last == '\n' || last == '\r' || last == d.quote);
      if (c == d.quote) quoted = !quoted;
      last = c;
      last_outside = !quoted;
      facts.carriage |= c == '\r';
      facts.high |= (c & 0x80) != 0;
    }
    inside[state] = quoted;
  }
  facts.odd_quotes = inside[0];
  return facts;
}

}  // namespace

TEST_CASE("pieces of CSV text are scanned as a byte at a time says") {
  std::mt19937 random(1);
  const std::string letters = ",,,\n\n\"\"\r ab\t\xc3\xa9x12345678901234567890";
  const Dialect dialect;
  int seen = 0;
  for (int run = 0; run < 3000; ++run) {
    std::string text(random() % 300, ' ');
    const size_t kinds = run % 3 == 0 ? letters.size() : 8 + random() % (letters.size() - 8);
    for (char& c : text) c = letters[random() % kinds];
    const char before = run % 2 ? '\n' : letters[random() % letters.size()];
    bool inside[2];
    const PieceFacts expected = slow_facts(text, before, dialect, inside);
    for (const ScanFunctions* const* functions = all_scan_functions(); *functions; ++functions) {
      INFO((*functions)->name << " run " << run);
      const PieceFacts facts = (*functions)->facts(text.data(), text.data() + text.size(), before, dialect);
      CHECK(facts.odd_quotes == expected.odd_quotes);
      CHECK(facts.carriage == expected.carriage);
      CHECK(facts.high == expected.high);
      for (const int state : {0, 1}) {
        INFO("state " << state);
        CHECK(facts.lines[state] == expected.lines[state]);
        CHECK(facts.first_line[state] == expected.first_line[state]);
        CHECK(facts.blank[state] == expected.blank[state]);
        CHECK(facts.stray[state] == expected.stray[state]);
        CHECK(facts.lone_carriage[state] == expected.lone_carriage[state]);
      }
      std::vector<uint32_t> positions(text.size() + kSlack), wanted;
      int64_t lines = 0, wanted_lines = 0;
      bool quoted = false;
      for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') quoted = !quoted;
        if (!quoted && (text[i] == ',' || text[i] == '\n')) wanted.push_back(static_cast<uint32_t>(i));
        wanted_lines += !quoted && text[i] == '\n';
      }
      const int64_t count = (*functions)->fields(text.data(), text.data() + text.size(), dialect, positions.data(), lines);
      positions.resize(static_cast<size_t>(count));
      CHECK(positions == wanted);
      CHECK(lines == wanted_lines);
      ++seen;
    }
  }
  CHECK(seen >= 3000);
}
