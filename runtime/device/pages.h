// Pages of memory, of mapped files among others.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace gasell {

inline constexpr int64_t kAlignment = 64;  // of all memory that holds elements

inline int64_t page_size() {
  static const int64_t size = sysconf(_SC_PAGESIZE);
  return size;
}
inline int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }
inline int64_t round_down(int64_t value, int64_t unit) { return value / unit * unit; }

/// Of the bytes [begin, end) of a mapping, rounded outwards to whole fault windows: what a neighbour's page fault brought in at the border
/// goes too.
inline void advise_pages(void* base, int64_t mapped, int64_t begin, int64_t end, int advice) {
  // One page fault on a file maps this much around it (Linux's fault_around_bytes).
  constexpr int64_t kFaultWindow = 64 << 10;
  const int64_t first = round_down(std::clamp<int64_t>(begin, 0, mapped), kFaultWindow);
  const int64_t last = std::min(round_up(std::clamp<int64_t>(end, 0, mapped), kFaultWindow), mapped);
  if (begin < end && first < last) madvise(static_cast<char*>(base) + first, static_cast<size_t>(last - first), advice);
}

}  // namespace gasell
