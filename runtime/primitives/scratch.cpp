#include "runtime/primitives/scratch.h"

namespace gasell {

int threads_of(Engine& engine) { return std::max(1, engine.device().properties().threads); }

int64_t random_room(Engine& engine) {
  const MemoryBudget& budget = engine.device().budget();
  const int64_t eighth = budget.limit() / 8;
  return std::max<int64_t>(std::max(eighth, budget.limit() - eighth - budget.used()), 1 << 16);
}

}  // namespace gasell
