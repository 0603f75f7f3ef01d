// Sets of bytes: which parts of a copy are valid.
#pragma once

#include <cstdint>
#include <vector>

namespace gasell {

/// The bytes [begin, end) of a storage.
struct ByteRange {
  int64_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
  int64_t size() const { return end - begin; }
  bool contains(const ByteRange& other) const { return other.empty() || (begin <= other.begin && other.end <= end); }
  ByteRange common(const ByteRange& other) const;
  bool operator==(const ByteRange&) const = default;
};

/// Disjoint ranges in order; neighbours that touch are one.
class Intervals {
 public:
  Intervals() = default;
  explicit Intervals(ByteRange range) { add(range); }

  void add(ByteRange range);
  void remove(ByteRange range);
  void clear() { ranges_.clear(); }
  bool empty() const { return ranges_.empty(); }
  bool contains(ByteRange range) const;
  int64_t size() const;
  const std::vector<ByteRange>& ranges() const { return ranges_; }
  /// What of `range` is in the set, and what is not.
  std::vector<ByteRange> within(ByteRange range) const;
  std::vector<ByteRange> missing(ByteRange range) const;

 private:
  std::vector<ByteRange> ranges_;
};

}  // namespace gasell
