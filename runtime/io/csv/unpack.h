// Packed files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace gasell::csv {

/// All members of a gzip file. Throws EOFError where it is cut, OSError "Not a gzipped file (b'..')" and others where it is damaged.
std::string unpack_gzip(std::string_view bytes, const std::filesystem::path& shown);
/// All frames of a zstd file.
std::string unpack_zstd(std::string_view bytes, const std::filesystem::path& shown);
std::string pack_gzip(std::string_view bytes);
std::string pack_zstd(std::string_view bytes);

}  // namespace gasell::csv
