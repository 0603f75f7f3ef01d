// Whether bytes are UTF-8, and what is made of those that are not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/io/csv/options.h"

namespace gasell::csv {

/// Throws Error("UnicodeDecodeError", "'utf-8' codec can't decode byte 0xe9 in position 3: invalid continuation byte") with file and line
/// in the hint. Position and line are counted from `origin`, which is at or before `begin` and begins line `first_line`.
void check_utf8(const char* begin, const char* end, const char* origin, const std::string& shown, int64_t first_line = 1);
/// The bytes as UTF-8: what is none is replaced, dropped or escaped as Python's codecs do it, a beginning of a character at a time. Nothing
/// where all of them are UTF-8.
std::optional<std::string> repaired_utf8(const char* begin, const char* end, BadBytes how);

}  // namespace gasell::csv
