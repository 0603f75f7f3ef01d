#include "runtime/gpu/simulated_grid.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "compiler/codegen/externals.h"
#include "compiler/codegen/simt.h"
#include "compiler/ir/simt.h"
#include "runtime/device/workers.h"
#include "runtime/gpu/fiber.h"
#include "runtime/gpu/thread_races.h"

namespace gasell {
namespace {

constexpr int kWarp = 32;
constexpr size_t kStack = 64 << 10;

/// All that a launch's blocks share.
struct Run {
  const GridKernel& kernel;
  void* const* arrays;
  const int64_t* scalars;
  const GridShape& shape;
  bool checked;
  const std::atomic<bool>& stop;
  std::atomic<bool> failed{false};
  std::mutex mutex;
  GridFault fault;

  bool ends() const { return failed.load(std::memory_order_relaxed) || stop.load(std::memory_order_relaxed); }
  void fail(const GridFault& what) {
    const std::lock_guard lock(mutex);
    if (fault.kind == GridFault::Kind::none) fault = what;
    failed = true;
  }
  std::array<int64_t, 3> block_at(int64_t number) const {
    return {number % shape.blocks[0], number / shape.blocks[0] % shape.blocks[1], number / shape.blocks[0] / shape.blocks[1]};
  }
  std::array<int64_t, 3> thread_at(int64_t number) const {
    return {number % shape.threads[0], number / shape.threads[0] % shape.threads[1], number / shape.threads[0] / shape.threads[1]};
  }
};

class BlockGroup;

/// A thread that can wait.
struct Thread {
  SimtThread simt;
  BlockGroup* group;
  size_t fiber;
  int64_t block, number;  // in the group, in its block; simt.number counts on behind the thread's end
  enum class State : uint8_t { ready, block, grid, warp, done } state = State::ready;
  // What it waits for, and what it gets.
  SimtBarrier barrier;
  SimtExchange exchange;
  uint32_t mask;
  bool only_waits;  // of the warp: nothing is exchanged
  int64_t value, lane, site, result;
};

/// Blocks whose threads run in turns: one, or all of a grid that waits for itself.
class BlockGroup {
 public:
  BlockGroup(Run& run, int64_t blocks)
      : run_(run),
        per_block_(run.shape.threads_a_block()),
        shared_bytes_(run.kernel.static_shared + run.shape.shared_bytes),
        threads_(static_cast<size_t>(blocks * per_block_)),
        fibers_(threads_.size(), kStack + static_cast<size_t>(run.kernel.local_bytes)),
        shared_(static_cast<size_t>(blocks * stride())),
        races_(run.checked ? std::make_unique<ThreadRaces>() : nullptr) {}

  /// Blocks [first, first + count).
  void run(int64_t first, int64_t count) {
    std::memset(shared_.data(), 0xFF, shared_.size());
    if (races_) races_->begin(static_cast<int>(count), static_cast<int>(per_block_));
    for (int64_t b = 0; b < count; ++b)
      for (int64_t t = 0; t < per_block_; ++t) start(first + b, b, t);
    const auto live = static_cast<size_t>(count * per_block_);
    for (size_t done = 0; done < live;) {
      for (size_t k = 0; k < live; ++k) {
        Thread& thread = threads_[k];
        if (thread.state != Thread::State::ready) continue;
        if (!fibers_.resume(k)) {
          thread.state = Thread::State::done;
          ++done;
        }
        if (run_.ends()) return;
      }
      if (done < live && !release(count)) return;
    }
  }

  void wait(Thread& thread, Thread::State state) {
    thread.state = state;
    fibers_.pause();
  }

  uint32_t active(const Thread& thread) const {
    uint32_t mask = 0;
    const int64_t warp = thread.number / kWarp * kWarp;
    for (int64_t t = warp; t < std::min(warp + kWarp, per_block_); ++t)
      if (of(thread.block, t).state != Thread::State::done) mask |= 1U << (t - warp);
    return mask;
  }

  void access(const Thread& thread, const char* address, int64_t flags) {
    if (!races_ || fibers_.owns(address) || run_.failed) return;
    const ThreadRaces::Use now{static_cast<int32_t>(thread.number), thread.simt.site, (flags & 1) != 0, (flags & 2) != 0};
    ThreadRaces::Use before;
    if (!races_->access(static_cast<int>(thread.block), address, now, before)) return;
    GridFault fault;
    fault.kind = GridFault::Kind::race;
    fault.block = {thread.simt.ctaid[0], thread.simt.ctaid[1], thread.simt.ctaid[2]};
    fault.sites[0] = before.site, fault.sites[1] = now.site;
    fault.threads[0] = run_.thread_at(before.thread), fault.threads[1] = run_.thread_at(now.thread);
    fault.writes[0] = before.writes, fault.writes[1] = now.writes;
    fault.shared = address >= shared_.data() && address < shared_.data() + shared_.size();
    run_.fail(fault);
  }

 private:
  int64_t stride() const { return (shared_bytes_ + 63) / 64 * 64 + 64; }
  Thread& of(int64_t block, int64_t thread) { return threads_[static_cast<size_t>(block * per_block_ + thread)]; }
  const Thread& of(int64_t block, int64_t thread) const { return threads_[static_cast<size_t>(block * per_block_ + thread)]; }

  void start(int64_t number, int64_t block, int64_t t) {
    Thread& thread = of(block, t);
    const auto at = run_.block_at(number), in = run_.thread_at(t);
    thread.group = this;
    thread.block = block;
    thread.number = t;
    thread.state = Thread::State::ready;
    SimtThread& simt = thread.simt;
    for (size_t k = 0; k < 3; ++k) {
      simt.tid[k] = static_cast<int32_t>(in[k]);
      simt.ctaid[k] = static_cast<int32_t>(at[k]);
      simt.ntid[k] = static_cast<int32_t>(run_.shape.threads[k]);
      simt.nctaid[k] = static_cast<int32_t>(run_.shape.blocks[k]);
    }
    simt.number = static_cast<int32_t>(t);
    simt.lane = static_cast<int32_t>(t % kWarp);
    simt.shared = shared_.data() + block * stride();
    simt.dynamic_shared = run_.shape.shared_bytes;
    simt.site = 0;
    simt.runner = &thread;
    simt.stop = &run_.stop;
    fibers_.prepare(static_cast<size_t>(block * per_block_ + t),
                    [this, &simt] { run_.kernel.function(run_.arrays, run_.scalars, reinterpret_cast<int64_t>(&simt), 1); });
  }

  // ---- waiting ----
  /// Lets threads go on whose wait is over; false where nobody can.
  bool release(int64_t blocks) {
    bool some = false, all_at_grid = true;
    for (int64_t b = 0; b < blocks; ++b) {
      for (int64_t w = 0; w < per_block_; w += kWarp) some |= release_warp(b, w);
      some |= release_block(b);
      if (run_.failed) return false;
      for (int64_t t = 0; t < per_block_; ++t)
        all_at_grid = all_at_grid && (of(b, t).state == Thread::State::grid || of(b, t).state == Thread::State::done);
    }
    if (some) return true;
    if (all_at_grid) {
      for (int64_t b = 0; b < blocks; ++b) {
        for (int64_t t = 0; t < per_block_; ++t)
          if (of(b, t).state == Thread::State::grid) of(b, t).state = Thread::State::ready;
        if (races_) races_->block_barrier(static_cast<int>(b));
      }
      return true;
    }
    fail_hung(blocks);
    return false;
  }

  void fail(GridFault::Kind kind, const Thread& waiting, const Thread& other) {
    GridFault fault;
    fault.kind = kind;
    fault.block = {waiting.simt.ctaid[0], waiting.simt.ctaid[1], waiting.simt.ctaid[2]};
    fault.threads[0] = run_.thread_at(waiting.number), fault.threads[1] = run_.thread_at(other.number);
    fault.sites[0] = waiting.site;
    fault.sites[1] = other.state == Thread::State::done ? 0 : other.site;
    run_.fail(fault);
  }

  /// Names a thread that waits, and one of its block that should have come there.
  void fail_hung(int64_t blocks) {
    for (int64_t b = 0; b < blocks; ++b)
      for (int64_t t = 0; t < per_block_; ++t) {
        const Thread& waiting = of(b, t);
        if (waiting.state == Thread::State::done || waiting.state == Thread::State::ready) continue;
        const Thread* other = nullptr;
        for (int64_t o = 0; o < per_block_ && !other; ++o)
          if (of(b, o).state == Thread::State::done || of(b, o).state != waiting.state || of(b, o).site != waiting.site) other = &of(b, o);
        return fail(GridFault::Kind::hung, waiting, other ? *other : waiting);
      }
  }

  bool release_block(int64_t b) {
    const Thread *waiting = nullptr, *elsewhere = nullptr;
    for (int64_t t = 0; t < per_block_; ++t) {
      const Thread& thread = of(b, t);
      if (thread.state == Thread::State::block) {
        if (waiting && thread.site != waiting->site && !elsewhere) elsewhere = &thread;
        if (!waiting) waiting = &thread;
      } else if (thread.state != Thread::State::done) {
        return false;
      } else if (!elsewhere) {
        elsewhere = &thread;
      }
    }
    if (!waiting) return false;
    if (run_.checked && elsewhere) {
      fail(GridFault::Kind::diverged, *waiting, *elsewhere);
      return false;
    }
    int64_t count = 0, came = 0;
    for (int64_t t = 0; t < per_block_; ++t)
      if (of(b, t).state == Thread::State::block) ++came, count += of(b, t).value != 0;
    for (int64_t t = 0; t < per_block_; ++t) {
      Thread& thread = of(b, t);
      if (thread.state != Thread::State::block) continue;
      thread.result = thread.barrier == SimtBarrier::count ? count : thread.barrier == SimtBarrier::all ? count == came : count > 0;
      thread.state = Thread::State::ready;
    }
    if (races_) races_->block_barrier(static_cast<int>(b));
    return true;
  }

  /// The lanes of a mask that are there come together; those that have ended count where nothing is checked, as on GPUs.
  bool release_warp(int64_t b, int64_t w) {
    bool some = false;
    const int64_t lanes = std::min<int64_t>(kWarp, per_block_ - w);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const Thread& first = of(b, w + lane);
      if (first.state != Thread::State::warp) continue;
      uint32_t came = 0;
      bool complete = true;
      for (int64_t other = 0; other < lanes; ++other) {
        if (!(first.mask >> other & 1)) continue;
        const Thread& thread = of(b, w + other);
        if (thread.state == Thread::State::done) {
          complete = complete && !run_.checked;
          continue;
        }
        const bool here = thread.state == Thread::State::warp && thread.mask == first.mask && thread.only_waits == first.only_waits &&
                          (first.only_waits || thread.exchange == first.exchange);
        complete = complete && here;
        came |= 1U << other;
      }
      if (!complete || !(first.mask >> lane & 1)) continue;
      exchange(b, w, came);
      if (races_) races_->warp_barrier(static_cast<int>(b), static_cast<int>(w / kWarp));
      for (int64_t other = 0; other < lanes; ++other)
        if (came >> other & 1) of(b, w + other).state = Thread::State::ready;
      some = true;
    }
    return some;
  }

  void exchange(int64_t b, int64_t w, uint32_t came) {
    uint32_t holds = 0;
    for (int64_t lane = 0; lane < kWarp; ++lane)
      if (came >> lane & 1 && of(b, w + lane).value) holds |= 1U << lane;
    for (int64_t lane = 0; lane < kWarp; ++lane) {
      if (!(came >> lane & 1)) continue;
      Thread& thread = of(b, w + lane);
      if (thread.only_waits) continue;
      const int64_t given = thread.lane & 0xffffffff;
      auto from = [&](int64_t source, bool inside) {
        // A lane that is not there gives what the thread has: GPUs say nothing about it.
        return inside && source >= 0 && source < kWarp && (came >> source & 1) ? of(b, w + source).value : thread.value;
      };
      uint32_t same = 0;
      switch (thread.exchange) {
        case SimtExchange::idx: thread.result = from(given & 31, true); break;
        case SimtExchange::up: thread.result = from(lane - given, lane >= given); break;
        case SimtExchange::down: thread.result = from(lane + given, lane + given < kWarp); break;
        case SimtExchange::bfly: thread.result = from(lane ^ given, (lane ^ given) < kWarp); break;
        case SimtExchange::all: thread.result = holds == came; break;
        case SimtExchange::any: thread.result = holds != 0; break;
        case SimtExchange::eq: thread.result = holds == 0 || holds == came; break;
        case SimtExchange::ballot: thread.result = holds; break;
        case SimtExchange::match_any:
        case SimtExchange::match_all:
          for (int64_t other = 0; other < kWarp; ++other)
            if (came >> other & 1 && of(b, w + other).value == thread.value) same |= 1U << other;
          thread.result = thread.exchange == SimtExchange::match_any || same == came ? same : 0;
          break;
      }
    }
  }

  Run& run_;
  const int64_t per_block_, shared_bytes_;
  std::vector<Thread> threads_;
  Fibers fibers_;
  std::vector<char> shared_;
  std::unique_ptr<ThreadRaces> races_;
};

Thread& thread_of(void* simt) { return *static_cast<Thread*>(static_cast<SimtThread*>(simt)->runner); }

extern "C" {
int64_t gasell_simt_barrier(void* simt, int64_t kind, int64_t value, int64_t site) {
  Thread& thread = thread_of(simt);
  thread.barrier = static_cast<SimtBarrier>(kind);
  thread.value = value;
  thread.site = site;
  thread.group->wait(thread, thread.barrier == SimtBarrier::grid ? Thread::State::grid : Thread::State::block);
  return thread.result;
}
void gasell_simt_warp(void* simt, int64_t mask, int64_t site) {
  Thread& thread = thread_of(simt);
  thread.mask = static_cast<uint32_t>(mask);
  thread.only_waits = true;
  thread.site = site;
  thread.group->wait(thread, Thread::State::warp);
}
int64_t gasell_simt_exchange(void* simt, int64_t kind, int64_t mask, int64_t value, int64_t lane, int64_t site) {
  Thread& thread = thread_of(simt);
  thread.exchange = static_cast<SimtExchange>(kind);
  thread.mask = static_cast<uint32_t>(mask);
  thread.only_waits = false;
  thread.value = value;
  thread.lane = lane;
  thread.site = site;
  thread.group->wait(thread, Thread::State::warp);
  return thread.result;
}
int64_t gasell_simt_active(void* simt) {
  auto* const runner = static_cast<SimtThread*>(simt)->runner;
  return runner ? static_cast<Thread*>(runner)->group->active(thread_of(simt)) : 1LL << static_cast<SimtThread*>(simt)->lane;
}
void gasell_simt_access(void* simt, const char* address, int64_t, int64_t flags) {
  Thread& thread = thread_of(simt);
  thread.group->access(thread, address, flags);
}
}

/// A block whose threads wait for nobody: one call.
void run_through(Run& run, int64_t number, std::vector<char>& shared) {
  std::fill(shared.begin(), shared.end(), '\xff');
  SimtThread thread{};
  const auto at = run.block_at(number);
  for (size_t k = 0; k < 3; ++k) {
    thread.ctaid[k] = static_cast<int32_t>(at[k]);
    thread.ntid[k] = static_cast<int32_t>(run.shape.threads[k]);
    thread.nctaid[k] = static_cast<int32_t>(run.shape.blocks[k]);
  }
  thread.shared = shared.data();
  thread.dynamic_shared = run.shape.shared_bytes;
  thread.stop = &run.stop;
  run.kernel.function(run.arrays, run.scalars, reinterpret_cast<int64_t>(&thread), run.shape.threads_a_block());
}

int64_t local_bytes(const ir::Body& body) {
  int64_t bytes = 0;
  for (const ir::StmtRef& s : body) {
    if (s->kind == ir::StmtKind::local_array && s->space == ir::Space::automatic) bytes += s->size * size_of(s->type) + 64;
    bytes += local_bytes(s->body) + local_bytes(s->orelse);
  }
  return bytes;
}

}  // namespace

void register_simt_functions() {
  static const bool once = [] {
    register_external("gasell_simt_barrier", reinterpret_cast<void*>(&gasell_simt_barrier));
    register_external("gasell_simt_warp", reinterpret_cast<void*>(&gasell_simt_warp));
    register_external("gasell_simt_exchange", reinterpret_cast<void*>(&gasell_simt_exchange));
    register_external("gasell_simt_active", reinterpret_cast<void*>(&gasell_simt_active));
    register_external("gasell_simt_access", reinterpret_cast<void*>(&gasell_simt_access));
    return true;
  }();
  (void)once;
}

GridKernel grid_kernel(HostKernelFunction function, const ir::Kernel& kernel) {
  return {function, ir::static_shared_bytes(kernel), local_bytes(kernel.body), ir::waits_together(kernel), ir::waits_for_grid(kernel)};
}

GridFault run_grid(const GridKernel& kernel, void* const* arrays, const int64_t* scalars, const GridShape& shape, bool checked,
                   const std::atomic<bool>& stop) {
  Run run{kernel, arrays, scalars, shape, checked, stop, {}, {}, {}};
  const int64_t blocks = shape.block_count();
  if (kernel.waits_for_grid) {
    BlockGroup(run, blocks).run(0, blocks);
    return run.fault;
  }
  const bool in_turns = kernel.waits || checked;
  const auto cores = static_cast<int64_t>(checked ? 1 : std::max(1U, std::thread::hardware_concurrency()));
  std::atomic<int64_t> next{0};
  // Handed out in runs of blocks, so that short ones do not wait for the counter.
  const int64_t together = std::clamp<int64_t>(blocks / (cores * 16), 1, 64);
  in_parallel(std::min(cores, blocks), [&](int64_t) {
    std::unique_ptr<BlockGroup> group;
    std::vector<char> shared;
    if (in_turns)
      group = std::make_unique<BlockGroup>(run, 1);
    else
      shared.resize(static_cast<size_t>(kernel.static_shared + shape.shared_bytes + 64));
    for (;;) {
      const int64_t first = next.fetch_add(together);
      if (first >= blocks) return;
      for (int64_t b = first; b < std::min(first + together, blocks); ++b) {
        if (run.ends()) return;
        if (group)
          group->run(b, 1);
        else
          run_through(run, b, shared);
      }
    }
  });
  return run.fault;
}

}  // namespace gasell
