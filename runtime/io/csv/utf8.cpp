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

[[noreturn]] void refuse(const char* begin, const char* at, const char* end, const std::string& shown, int64_t line) {
  const auto byte = static_cast<uint8_t>(*at);
  line += std::count(begin, at, '\n');
  const char* start = at;
  while (start > begin && start[-1] != '\n') --start;
  const bool starts = byte >= 0xc2 && byte < 0xf5;
  throw Error("UnicodeDecodeError",
              fmt::format("'utf-8' codec can't decode byte 0x{:02x} in position {}: {}", byte, at - start,
                          !starts        ? "invalid start byte"
                          : end - at < 2 ? "unexpected end of data"
                                         : "invalid continuation byte"),
              fmt::format("line {} of {}; encoding='latin-1' reads any bytes", line, shown));
}

}  // namespace

void check_utf8(const char* begin, const char* end, const std::string& shown, int64_t first_line) {
  for (const char* p = begin; p < end;) {
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
    if (bytes == 0) refuse(begin, p, end, shown, first_line);
    p += bytes;
  }
}

}  // namespace gasell::csv
