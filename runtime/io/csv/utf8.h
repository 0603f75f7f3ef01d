// Whether bytes are UTF-8.
#pragma once

#include <cstdint>
#include <string>

namespace gasell::csv {

/// Throws Error("UnicodeDecodeError", "'utf-8' codec can't decode byte 0xe9 in position 3: invalid continuation byte") with file and line
/// in the hint; the position is that in the line.
void check_utf8(const char* begin, const char* end, const std::string& shown, int64_t first_line);

}  // namespace gasell::csv
