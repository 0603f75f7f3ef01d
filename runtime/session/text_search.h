// Where a text lies in another one.
#pragma once

#include <cstring>
#include <string_view>

namespace gasell {

/// text.find(part, from) in a time that grows with the lengths of both and not with their product: glibc's memmem is Crochemore's and
/// Perrin's two-way algorithm.
inline size_t find_text(std::string_view text, std::string_view part, size_t from = 0) {
  if (from > text.size()) return std::string_view::npos;
  const auto* const hit = static_cast<const char*>(memmem(text.data() + from, text.size() - from, part.data(), part.size()));
  return hit ? static_cast<size_t>(hit - text.data()) : std::string_view::npos;
}

}  // namespace gasell
