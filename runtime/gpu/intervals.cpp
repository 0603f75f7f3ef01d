#include "runtime/gpu/intervals.h"

#include <algorithm>

namespace gasell {

ByteRange ByteRange::common(const ByteRange& other) const { return {std::max(begin, other.begin), std::min(end, other.end)}; }

void Intervals::add(ByteRange range) {
  if (range.empty()) return;
  const auto first = std::find_if(ranges_.begin(), ranges_.end(), [&](const ByteRange& r) { return r.end >= range.begin; });
  auto last = first;
  for (; last != ranges_.end() && last->begin <= range.end; ++last)
    range = {std::min(range.begin, last->begin), std::max(range.end, last->end)};
  ranges_.insert(ranges_.erase(first, last), range);
}

void Intervals::remove(ByteRange range) {
  if (range.empty()) return;
  std::vector<ByteRange> kept;
  for (const ByteRange& r : ranges_) {
    const ByteRange before{r.begin, std::min(r.end, range.begin)}, after{std::max(r.begin, range.end), r.end};
    if (!before.empty()) kept.push_back(before);
    if (!after.empty()) kept.push_back(after);
  }
  ranges_ = std::move(kept);
}

bool Intervals::contains(ByteRange range) const {
  return range.empty() || std::any_of(ranges_.begin(), ranges_.end(), [&](const ByteRange& r) { return r.contains(range); });
}

int64_t Intervals::size() const {
  int64_t bytes = 0;
  for (const ByteRange& r : ranges_) bytes += r.size();
  return bytes;
}

std::vector<ByteRange> Intervals::within(ByteRange range) const {
  std::vector<ByteRange> found;
  for (const ByteRange& r : ranges_)
    if (const ByteRange part = r.common(range); !part.empty()) found.push_back(part);
  return found;
}

std::vector<ByteRange> Intervals::missing(ByteRange range) const {
  std::vector<ByteRange> gaps;
  int64_t at = range.begin;
  for (const ByteRange& r : ranges_) {
    if (r.end <= at) continue;
    if (r.begin >= range.end) break;
    if (r.begin > at) gaps.push_back({at, r.begin});
    at = r.end;
  }
  if (at < range.end) gaps.push_back({at, range.end});
  return gaps;
}

}  // namespace gasell
