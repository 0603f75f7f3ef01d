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
    active,   // active_mask(): i32
    bits,     // popc, clz, ffs(x): i32; brev(x): its type
    fma,      // fma(a, b, c): f32 or f64
  } kind;
  int arity;
};

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
