// Pieces of a transform, shared among the host's cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <new>

#include "runtime/primitives/scratch.h"

namespace gasell::transforms {

/// The engine, and how many of its threads may work: 0 for all.
struct Cores {
  Engine& engine;
  int limit = 0;
  int threads() const {
    const int all = engine.device().properties().threads;
    return limit > 0 ? std::min(limit, all) : all;
  }
};

/// f(0) to f(count - 1), each once. Throws Interrupted, and MemoryError where f finds no memory on the heap.
template <class F>
void share(const Cores& cores, int64_t count, const F& f) {
  std::atomic<int64_t> next{0};
  std::atomic<bool> no_memory{false};
  cores.engine.device().share_pieces(std::min<int64_t>(cores.threads(), count), [&](int64_t) {
    try {
      for (int64_t k; (k = next.fetch_add(1)) < count;) {
        if (cores.engine.interrupted() || no_memory) return;
        f(k);
      }
    } catch (const std::bad_alloc&) {
      no_memory = true;
    }
  });
  check_interrupt(cores.engine);
  if (no_memory) throw Error("MemoryError", "Unable to allocate work space of the transforms' library", {}, Blame::environment);
}

/// f(begin, end) for ranges of [0, count).
template <class F>
void share_ranges(const Cores& cores, int64_t count, const F& f, int64_t together = 1 << 14) {
  share(cores, (count + together - 1) / together, [&](int64_t piece) { f(piece * together, std::min(count, (piece + 1) * together)); });
}

}  // namespace gasell::transforms
