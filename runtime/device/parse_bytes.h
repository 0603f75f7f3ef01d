// Sizes as people write them.
#pragma once

#include <cstdint>
#include <string>

namespace gasell {

/// "512MiB", "1.5 GiB", "2G", "1073741824" → bytes; K, M, G, T are powers of 1024 with or without "i" and "B", KB, MB, GB, TB powers of
/// 1000 as everywhere. Throws Error("ValueError", …).
int64_t parse_bytes(const std::string& text);

}  // namespace gasell
