// Whether bytes are UTF-8.
#pragma once

#include <cstdint>
#include <string>

namespace gasell::csv {

/// Throws Error("UnicodeDecodeError", "'utf-8' codec can't decode byte 0xe9 in position 3: invalid continuation byte") with file and line
/// in the hint. Position and line are counted from `origin`, which is at or before `begin` and begins line `first_line`.
void check_utf8(const char* begin, const char* end, const char* origin, const std::string& shown, int64_t first_line = 1);

}  // namespace gasell::csv
