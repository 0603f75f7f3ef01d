// The loops of scan.h, for a file that includes this one after it has defined, in an unnamed namespace:
//   struct Word { explicit Word(const char* p); uint64_t equal(char c) const; uint64_t high() const; };   64 bytes
//   uint64_t prefix_xor(uint64_t bits);                            bit i: the exclusive-or of the bits 0 to i
//   uint32_t* put_positions(uint64_t bits, uint32_t base, uint32_t* to);   may write 64 elements; returns the end
// and, where the machine needs it, has switched on instructions for all that follows.

namespace gasell::csv {
namespace {

/// f(word, position, how many bytes of the word count) over a text; the last word is filled up with zeros.
template <class F>
inline void over_words(const char* begin, const char* end, const F& f) {
  const char* p = begin;
  for (; end - p >= 64; p += 64) f(Word(p), p - begin, ~uint64_t{0});
  if (p == end) return;
  char rest[64] = {};
  std::memcpy(rest, p, static_cast<size_t>(end - p));
  f(Word(rest), p - begin, (uint64_t{1} << (end - p)) - 1);
}

PieceFacts facts_of(const char* begin, const char* end, char before, const Dialect& dialect) {
  PieceFacts facts;
  uint64_t inside = 0;  // all ones: the word begins within quotes, if the piece begins outside
  uint64_t high = 0, any_carriage = 0, strays[2] = {0, 0}, blanks[2] = {0, 0}, lone[2] = {0, 0};
  uint64_t feed_before[2] = {before == '\n', 0}, carriage_before[2] = {before == '\r', 0};
  bool opens_well = before == dialect.separator || before == '\n' || before == '\r' || (dialect.quote && before == dialect.quote);
  over_words(begin, end, [&](const Word& word, int64_t position, uint64_t counts) {
    const uint64_t feeds = word.equal('\n'), carriages = word.equal('\r');
    const uint64_t quotes = dialect.quote ? word.equal(dialect.quote) & counts : 0;
    high |= word.high();
    any_carriage |= carriages;
    uint64_t quoted = inside;
    if (quotes) {
      quoted ^= prefix_xor(quotes);
      const uint64_t good = ((word.equal(dialect.separator) | feeds | carriages | quotes) << 1) | opens_well;
      strays[0] |= quotes & quoted & ~good;
      strays[1] |= quotes & ~quoted & ~good;
    }
    for (int state = 0; state < 2; ++state) {
      const uint64_t outside = state ? quoted : ~quoted;
      const uint64_t ends = feeds & outside;
      uint64_t starts = (ends << 1) | feed_before[state];
      feed_before[state] = ends >> 63;
      const uint64_t returns = carriages & outside;
      if (returns | carriage_before[state]) {
        const uint64_t alone = ((returns << 1) | carriage_before[state]) & ~feeds & counts;
        lone[state] |= alone;
        starts |= alone;
        carriage_before[state] = returns >> 63;
      }
      starts &= counts;
      if (!starts) continue;
      if (facts.first_line[state] < 0) facts.first_line[state] = position + __builtin_ctzll(starts);
      facts.lines[state] += __builtin_popcountll(starts);
      blanks[state] |= starts & (feeds | carriages | word.equal(' ') | word.equal('\t'));
    }
    inside = static_cast<uint64_t>(static_cast<int64_t>(quoted) >> 63);
    const uint64_t last = uint64_t{1} << 63;
    opens_well = (feeds | carriages | quotes | word.equal(dialect.separator)) & last;
  });
  facts.odd_quotes = inside != 0;
  // The state behind the last byte: a partial word's zeros keep what the last quote said.
  facts.carriage = any_carriage != 0;
  facts.high = high != 0;
  for (int state = 0; state < 2; ++state) {
    facts.stray[state] = strays[state] != 0;
    facts.blank[state] = blanks[state] != 0;
    facts.lone_carriage[state] = lone[state] != 0;
  }
  return facts;
}

int64_t fields_of(const char* begin, const char* end, const Dialect& dialect, uint32_t* positions, int64_t& lines) {
  uint64_t inside = 0;
  uint32_t* to = positions;
  int64_t feeds_found = 0;
  over_words(begin, end, [&](const Word& word, int64_t position, uint64_t counts) {
    const uint64_t feeds = word.equal('\n');
    uint64_t ends = (feeds | word.equal(dialect.separator)) & counts;
    uint64_t outside = ~inside;
    if (const uint64_t quotes = dialect.quote ? word.equal(dialect.quote) & counts : 0) {
      const uint64_t quoted = inside ^ prefix_xor(quotes);
      inside = static_cast<uint64_t>(static_cast<int64_t>(quoted) >> 63);
      outside = ~quoted;
    }
    ends &= outside;
    feeds_found += __builtin_popcountll(feeds & ends);
    to = put_positions(ends, static_cast<uint32_t>(position), to);
  });
  lines = feeds_found;
  return to - positions;
}

}  // namespace
}  // namespace gasell::csv
