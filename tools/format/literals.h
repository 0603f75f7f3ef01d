// How literals are written.
#pragma once

#include <string>
#include <string_view>

namespace gasell::format {

/// In double quotes where that takes no further backslash; the prefix in small letters, without u.
std::string normal_string(std::string_view literal);
/// Exponents and j in small letters; hexadecimal digits as they are.
std::string normal_number(std::string_view literal);

}  // namespace gasell::format
