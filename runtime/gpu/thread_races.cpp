#include "runtime/gpu/thread_races.h"

namespace gasell {
namespace {

constexpr int kWarp = 32;

bool races(const ThreadRaces::Use& before, const ThreadRaces::Use& now) {
  if (before.thread < 0 || before.thread == now.thread || (before.atomic && now.atomic) || !(before.writes || now.writes)) return false;
  if (before.epoch != now.epoch) return false;
  const bool one_warp = before.thread / kWarp == now.thread / kWarp;
  return !(one_warp && before.warp_epoch != now.warp_epoch);
}

}  // namespace

void ThreadRaces::begin(int blocks, int threads) {
  blocks_.assign(static_cast<size_t>(blocks), {});
  for (Block& b : blocks_) b.warp_epochs.resize(static_cast<size_t>((threads + kWarp - 1) / kWarp));
}

bool ThreadRaces::access(int block, const void* address, Use now, Use& before) {
  Block& b = blocks_[static_cast<size_t>(block)];
  now.epoch = b.epoch;
  now.warp_epoch = b.warp_epochs[static_cast<size_t>(now.thread / kWarp)];
  Element& element = b.elements[address];
  for (const Use* use : {&element.store, &element.load, &element.other_load})
    if (races(*use, now)) {
      before = *use;
      return true;
    }
  if (now.writes) {
    element = {now, {}, {}};
  } else if (element.load.thread < 0 || element.load.thread == now.thread || element.load.epoch != now.epoch) {
    element.load = now;
  } else {
    element.other_load = now;
  }
  return false;
}

}  // namespace gasell
