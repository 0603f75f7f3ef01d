#include "runtime/primitives/select.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "runtime/primitives/order_keys.h"
#include "runtime/primitives/scratch.h"
#include "runtime/primitives/sort.h"

namespace gasell {
namespace {

/// Shorter vectors are sorted, or divided by one core.
constexpr int64_t kShort = 1 << 14;
/// More places than this are had by sorting.
constexpr size_t kManyPlaces = 16;

/// Keys [low, high], in which ordered elements of some places are expected.
struct Bracket {
  uint64_t low, high;
};

/// Brackets around places of `count` elements, by a sample of them; they rise and do not overlap. A bracket reaches five standard
/// deviations of the sample's ranks to both sides.
template <class T>
std::vector<Bracket> brackets_of(const T* values, int64_t count, std::span<const int64_t> places) {
  constexpr int64_t kSample = 1 << 12;
  std::vector<uint64_t> sample(kSample);
  uint64_t state = 0x9e3779b97f4a7c15;
  for (uint64_t& s : sample) {
    state = state * 6364136223846793005 + 1442695040888963407;
    s = order_key(values[static_cast<uint64_t>((static_cast<unsigned __int128>(state) * static_cast<uint64_t>(count)) >> 64)]);
  }
  std::sort(sample.begin(), sample.end());
  std::vector<Bracket> brackets;
  for (const int64_t place : places) {
    const double share = static_cast<double>(place) / static_cast<double>(count);
    const double deviation = std::sqrt(share * (1 - share) * kSample);
    const auto low = static_cast<int64_t>(share * kSample - 5 * deviation) - 2,
               high = static_cast<int64_t>(share * kSample + 5 * deviation) + 2;
    const Bracket b{low < 0 ? 0 : sample[static_cast<size_t>(low)], high >= kSample ? UINT64_MAX : sample[static_cast<size_t>(high)]};
    if (!brackets.empty() && b.low <= brackets.back().high)
      brackets.back().high = std::max(brackets.back().high, b.high);
    else
      brackets.push_back(b);
  }
  return brackets;
}

/// The places' elements by brackets; false where these hold too many elements or not the right ones.
template <class T>
bool select_between(Engine& engine, DType dtype, const T* from, int64_t count, std::span<const int64_t> places, T* to) {
  const std::vector<Bracket> brackets = brackets_of(from, count, places);
  const size_t n = brackets.size();
  struct Part {
    std::vector<int64_t> before;           // elements below each bracket and above the last one before it
    std::vector<std::vector<T>> elements;  // in each bracket, in their order
  };
  std::vector<Part> parts(static_cast<size_t>((count + kRowsATask - 1) / kRowsATask));
  over_rows(engine, count, [&](int64_t begin, int64_t end) {
    Part& part = parts[static_cast<size_t>(begin / kRowsATask)];
    part.before.resize(n + 1);
    part.elements.resize(n);
    std::vector<T> inside(static_cast<size_t>(end - begin));
    for (size_t b = 0; b < n; ++b) {
      // Written without branches: which elements are inside is not foreseeable.
      int64_t found = 0, below = 0;
      const auto [low, high] = brackets[b];
      for (int64_t i = begin; i < end; ++i) {
        const uint64_t key = order_key(from[i]);
        inside[static_cast<size_t>(found)] = from[i];
        found += key - low <= high - low;
        below += key < low;
      }
      part.before[b] = below;
      part.elements[b].assign(inside.begin(), inside.begin() + found);
    }
  });
  std::vector<T> sorted;
  size_t b = 0, at = 0;
  for (; b < n; ++b) {
    int64_t below = 0;
    std::vector<T> elements;
    for (const Part& part : parts) {
      below += part.before[b];
      elements.insert(elements.end(), part.elements[b].begin(), part.elements[b].end());
      if (static_cast<int64_t>(elements.size()) > count / 2) return false;
    }
    sorted.resize(elements.size());
    sort(engine, dtype, elements.data(), sorted.data(), static_cast<int64_t>(elements.size()));
    for (; at < places.size(); ++at) {
      const int64_t place = places[at] - below;
      if (place < 0) return false;
      if (place >= static_cast<int64_t>(sorted.size())) break;  // in the next bracket, or nowhere
      to[at] = sorted[static_cast<size_t>(place)];
    }
  }
  return at == places.size();
}

}  // namespace

void select_alone(DType dtype, const void* from, int64_t count, std::span<const int64_t> places, void* to) {
  with_element_type(dtype, [&]<class T>(std::type_identity<T>) {
    const std::unique_ptr<T[]> sorted(new T[static_cast<size_t>(count)]);
    std::copy_n(static_cast<const T*>(from), count, sorted.get());
    sort_alone(dtype, sorted.get(), count);
    for (size_t i = 0; i < places.size(); ++i) static_cast<T*>(to)[i] = sorted[places[i]];
  });
}

void select(Engine& engine, DType dtype, const void* from, int64_t count, std::span<const int64_t> places, void* to) {
  with_element_type(dtype, [&]<class T>(std::type_identity<T>) {
    const T* const source = static_cast<const T*>(from);
    T* const target = static_cast<T*>(to);
    if constexpr (!std::is_class_v<T> && sizeof(T) > 1)
      if (count > kShort && places.size() <= kManyPlaces && select_between(engine, dtype, source, count, places, target)) return;
    const Scratch<T> sorted(engine, count);
    sort(engine, dtype, source, sorted.data(), count);
    for (size_t i = 0; i < places.size(); ++i) target[i] = sorted[places[i]];
  });
}

}  // namespace gasell
