#include "runtime/io/csv/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "lang/diagnostic.h"

namespace gasell::csv {
namespace {

/// How many bytes the character at `p`, which is none of ASCII's, has; 0: it is none.
int character_bytes(const char* p, const char* end) {
  const auto byte = [&](int i) { return p + i < end ? static_cast<uint8_t>(p[i]) : 0U; };
  const auto follows = [&](int i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(0), second = byte(1);
  if (first >= 0xc2 && first < 0xe0) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first < 0xf0) {
    if (!follows(1) || !follows(2) || (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0)) return 0;
    return 3;
  }
  if (first >= 0xf0 && first < 0xf5) {
    if (!follows(1) || !follows(2) || !follows(3) || (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90)) return 0;
    return 4;
  }
  return 0;
}

/// How many bytes from `at` on could begin a character.
int64_t good_bytes(const char* at, const char* end) {
  const auto first = static_cast<uint8_t>(*at);
  if (first < 0xc2 || first >= 0xf5) return 0;
  const int64_t wanted = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  int64_t good = 1;
  for (; good < wanted && at + good < end; ++good) {
    const auto byte = static_cast<uint8_t>(at[good]);
    const bool second = good == 1;
    const unsigned low = second && first == 0xe0 ? 0xa0 : second && first == 0xf0 ? 0x90 : 0x80;
    const unsigned high = second && first == 0xed ? 0x9f : second && first == 0xf4 ? 0x8f : 0xbf;
    if (byte < low || byte > high) break;
  }
  return good;
}

[[noreturn]] void refuse(const char* at, const char* end, const char* origin, const std::string& shown, int64_t first_line) {
  const int64_t good = good_bytes(at, end), position = at - origin;
  const std::string where = good > 1 ? fmt::format("bytes in position {}-{}", position, position + good - 1)
                                     : fmt::format("byte 0x{:02x} in position {}", static_cast<uint8_t>(*at), position);
  const char* const why = good == 0 ? "invalid start byte" : at + good == end ? "unexpected end of data" : "invalid continuation byte";
  throw Error("UnicodeDecodeError", fmt::format("'utf-8' codec can't decode {}: {}", where, why),
              fmt::format("line {} of {}; encoding='latin-1' reads any bytes", first_line + std::count(origin, at, '\n'), shown));
}

/// The first byte that is not UTF-8, or the end.
const char* first_bad(const char* p, const char* end) {
  while (p < end) {
    uint64_t eight = 0;
    if (end - p >= 8) {
      std::memcpy(&eight, p, 8);
      if (!(eight & 0x8080808080808080U)) {
        p += 8;
        continue;
      }
    }
    if (!(*p & 0x80)) {
      ++p;
      continue;
    }
    const int bytes = character_bytes(p, end);
    if (bytes == 0) return p;
    p += bytes;
  }
  return end;
}

}  // namespace

void check_utf8(const char* begin, const char* end, const char* origin, const std::string& shown, int64_t first_line) {
  if (const char* const bad = first_bad(begin, end); bad != end) refuse(bad, end, origin, shown, first_line);
}

std::optional<std::string> repaired_utf8(const char* begin, const char* end, BadBytes how) {
  const char* bad = first_bad(begin, end);
  if (bad == end) return std::nullopt;
  std::string text;
  text.reserve(static_cast<size_t>(end - begin));
  for (const char* at = begin;; bad = first_bad(at, end)) {
    text.append(at, bad);
    if (bad == end) return text;
    at = bad + std::max<int64_t>(good_bytes(bad, end), 1);
    if (how == BadBytes::replace) text += "\ufffd";
    if (how == BadBytes::escape)
      for (; bad < at; ++bad) text += fmt::format("\\x{:02x}", static_cast<uint8_t>(*bad));
  }
}

}  // namespace gasell::csv
