// Kernels whose body is what one thread of a grid does (Kernel::simt): what such threads know about themselves, and what they do together.
#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/ir/ir.h"

namespace gasell::ir {

struct SimtFunction {
  const char* name;
  enum class Kind : uint8_t {
    number,   // what the thread knows: tid_x, ctaid_x, ntid_x, nctaid_x (also _y, _z), lane: i32; dynamic_shared (bytes): i64
    line,     // the thread comes to `site`
    barrier,  // of the block: barrier(); barrier_count(x: i32), barrier_and, barrier_or: i32
    grid,     // of all blocks: grid_barrier()
    warp,     // warp_barrier(mask: i32)
    fence,    // fence_block, fence, fence_system
    shuffle,  // shuffle_idx, shuffle_up, shuffle_down, shuffle_xor(mask: i32, value, lane: i32): the value's type, of 32 or 64 bits
    vote,     // vote_all, vote_any, vote_eq(mask: i32, x: i32): i32; vote_ballot: i32
    match,    // match_any, match_all(mask: i32, value of 32 or 64 bits): i32
    product,  // mma(a0: f64, a1: f64, b: f64, c: complex128, d: complex128), mma_rest(mma's result): complex128
    active,   // active_mask(): i32
    bits,     // popc, clz, ffs(x): i32; brev(x): its type
    fma,      // fma(a, b, c): f32 or f64
  } kind;
  int arity;
};

/// `mma`: all threads of a warp add the product of a 16x4 and a 4x8 matrix to a 16x8 one, as PTX's mma.m16n8k4 has them. Of the first
/// matrix, thread t holds elements (t / 4, t % 4) and (t / 4 + 8, t % 4); of the second (t % 4, t / 4); of the sums (t / 4, t % 4 * 2) and
/// its right neighbour as the parts of `c`, the same eight rows below as those of `d`. The result is the new `c`, `mma_rest` of it the new
/// `d`.

/// Null: there is none of this name.
const SimtFunction* find_simt_function(std::string_view name);

/// Bytes of shared memory that a block of the kernel takes, without what the launch adds. Each array begins at a multiple of 16.
int64_t static_shared_bytes(const Kernel& kernel);

/// Whether there may be something in `error` when the kernel is done.
bool may_raise(const Kernel& kernel);
/// Whether threads wait for each other.
bool waits_together(const Kernel& kernel);
/// Whether all blocks of a grid wait for each other.
bool waits_for_grid(const Kernel& kernel);

}  // namespace gasell::ir
