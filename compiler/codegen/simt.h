// How the host runs kernels whose body is one thread's (ir::Kernel::simt).
//
// Their HostKernelFunction (jit.h) gets as `begin` the address of a SimtThread and as `end` how many threads it is to run one after the
// other: it goes on with the block's next ones and counts `tid` up itself. Kernels whose threads wait for each other (ir::waits_together)
// run one a call, each with a SimtThread and a stack of its own, and call the functions below, which the runtime registers (externals.h):
//
//   gasell_simt_barrier(thread, kind, value, site) -> i64     all threads of the block, of the grid; a SimtBarrier
//   gasell_simt_warp(thread, mask, site)                      the warp's threads in the mask
//   gasell_simt_exchange(thread, kind, mask, value, lane, site) -> i64   the same; a SimtExchange
//   gasell_simt_active(thread) -> i64                         the warp's threads that are not done
//   gasell_simt_access(thread, address, bytes, flags)         where races are checked; flags: 1 writes, 2 atomically
#pragma once

#include <cstddef>
#include <cstdint>

namespace gasell {

struct SimtThread {
  int32_t tid[3], ctaid[3], ntid[3], nctaid[3];
  int32_t lane, number;  // in its warp, in its block
  char* shared;          // the block's shared memory: the kernel's arrays, then `dynamic_shared` bytes
  int64_t dynamic_shared;
  int64_t site;      // the line it came to last, where the kernel tells
  void* runner;      // the runtime's
  const void* stop;  // a byte: loops end as an interrupted function does where it is not 0
};
static_assert(offsetof(SimtThread, shared) == 56 && offsetof(SimtThread, stop) == 88);

enum class SimtBarrier : int64_t { plain, count, all, any, grid };
enum class SimtExchange : int64_t { idx, up, down, bfly, all, any, eq, ballot, match_any, match_all };

/// Elements of a simt kernel's `error`.
inline constexpr int kSimtErrorSlots = 10;

}  // namespace gasell
