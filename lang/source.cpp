#include "lang/source.h"

#include <algorithm>

#include "lang/diagnostic.h"

namespace gasell {

Source::Source(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {
  if (text_.size() > UINT32_MAX - 1) throw Error("MemoryError", "the text is larger than 4 GiB", {}, Blame::limitation);
  line_starts_.push_back(0);
  for (size_t i = 0; i < text_.size(); ++i) {
    const bool ends = text_[i] == '\n' || (text_[i] == '\r' && (i + 1 == text_.size() || text_[i + 1] != '\n'));
    if (ends) line_starts_.push_back(static_cast<uint32_t>(i + 1));
  }
}

Source::Position Source::position(uint32_t offset) const {
  offset = std::min(offset, static_cast<uint32_t>(text_.size()));
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const uint32_t start = *(after - 1);
  int column = 1;
  for (uint32_t i = start; i < offset; ++i)
    if ((static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80) ++column;  // continuation bytes belong to the code point before
  return {static_cast<int>(after - line_starts_.begin()), column};
}

std::string_view Source::line(int number) const {
  if (number < 1 || number > line_count()) return {};
  const uint32_t begin = line_starts_[number - 1];
  uint32_t end = number < line_count() ? line_starts_[number] : static_cast<uint32_t>(text_.size());
  while (end > begin && (text_[end - 1] == '\n' || text_[end - 1] == '\r')) --end;
  return std::string_view(text_).substr(begin, end - begin);
}

}  // namespace gasell
