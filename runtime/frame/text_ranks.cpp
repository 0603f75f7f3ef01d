// The places of a dictionary's texts in their sorted order.
#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/frame/dictionary.h"
#include "runtime/primitives/radix.h"

namespace gasell::frame {
namespace {

/// Bytes [at, at + 8) of a text as a number that is in their order; zeros stand for those behind its end.
uint64_t key_at(std::string_view text, size_t at) {
  uint64_t bytes = 0;
  if (text.size() > at) std::memcpy(&bytes, text.data() + at, std::min<size_t>(8, text.size() - at));
  return std::endian::native == std::endian::little ? __builtin_bswap64(bytes) : bytes;
}

/// How many bytes all texts begin with in common.
size_t common_bytes(Engine& engine, const Dictionary& texts) {
  std::vector<size_t> found(static_cast<size_t>(texts.size() / kRowsATask + 1), texts[0].size());
  over_rows(engine, texts.size(), [&](int64_t begin, int64_t end) {
    std::string_view same = texts[0];
    for (int64_t i = begin; i < end; ++i) {
      const std::string_view text = texts[i].substr(0, same.size());
      same = same.substr(0, static_cast<size_t>(std::mismatch(text.begin(), text.end(), same.begin()).first - text.begin()));
    }
    found[static_cast<size_t>(begin / kRowsATask)] = same.size();
  });
  return *std::min_element(found.begin(), found.end());
}

/// f(begin, end) for the runs of equal keys, on all cores.
template <class F>
void over_runs(Engine& engine, const Scratch<uint64_t>& keys, const F& f) {
  const int64_t count = keys.size();
  over_rows(engine, count, [&](int64_t begin, int64_t end) {
    while (begin > 0 && begin < end && keys[begin] == keys[begin - 1]) ++begin;
    while (begin < end) {
      int64_t next = begin + 1;
      while (next < count && keys[next] == keys[begin]) ++next;
      f(begin, next);
      begin = next;
    }
  });
}

}  // namespace

const std::vector<int32_t>& Dictionary::ranks(Engine& engine) const {
  std::call_once(ranks_once_, [&] {
    const Dictionary& texts = *this;
    const int64_t count = size();
    std::vector<int32_t> ranks(static_cast<size_t>(count));
    if (count > 0) {
      const size_t same = common_bytes(engine, texts);
      Scratch<uint64_t> keys(engine, count);
      Scratch<uint32_t> order(engine, count);
      over_rows(engine, count, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          keys[i] = key_at(texts[i], same);
          order[i] = static_cast<uint32_t>(i);
        }
      });
      sort_by_keys(engine, keys, order, count);
      const auto rest = [&](uint32_t i) {
        const std::string_view text = texts[i];
        return text.substr(std::min(text.size(), same));
      };
      over_runs(engine, keys, [&](int64_t begin, int64_t end) {
        if (end - begin > 1) std::sort(order.data() + begin, order.data() + end, [&](uint32_t a, uint32_t b) { return rest(a) < rest(b); });
      });
      int32_t rank = -1;
      for (int64_t i = 0; i < count; ++i) {
        if (i == 0 || distinct_ || keys[i] != keys[i - 1] || rest(order[i]) != rest(order[i - 1])) ++rank;
        ranks[order[i]] = rank;
      }
    }
    ranks_ = std::move(ranks);
  });
  return ranks_;
}

}  // namespace gasell::frame
