// Random numbers by Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
//
// Element i (C-order index in its array) of the stream `stream` of the generator `seed` takes one half of the block with
//   counter = ((i >> 6) * 32 + (i & 31), stream)   key = seed   half = (i >> 5) & 1
// so elements 32 apart share a block: consecutive elements use both halves, and so do every-other ones (x[::2]), in whole vectors.
// uniform = (bits >> 11) * 2^-53;  integers = low + high64(bits * range);  normal = Box and Muller's
// transform (1958) of the block's two halves: sqrt(-2 log u) cos t for half 0 and … sin t for half 1, u = ((bits0 >> 12) + 1/2) * 2^-52 (so
// that tails reach 8.5 sigma), t from bits1. Logarithm, sine and cosine are polynomials of explicit fma's: the bits are the same on every
// device.
#pragma once

#include "compiler/plan/kernel_builder.h"

namespace gasell::plan {

/// Elements that a staged array needs beyond kStrip (alignment to blocks, whole lanes).
inline constexpr int64_t kStagedExtra = 64;

/// Fills the local array `strip` with elements `position + stride * j`, j in [0, count), where count ≤ kStrip. Returns the index of j = 0
/// in it. `static_stride` 1 and 2 share blocks between neighbours; -1 takes any `stride`.
ir::ExprRef fill_random(KernelBuilder& builder, ir::Body& body, const graph::RandomNode& random, const std::vector<ir::ExprRef>& arguments,
                        const std::string& strip, DType dtype, ir::ExprRef position, ir::ExprRef stride, int64_t static_stride,
                        ir::ExprRef count);

/// The scalar arguments fill_random takes: seed, stream, low, range.
std::vector<ir::ExprRef> random_arguments(KernelBuilder& builder, const graph::RandomNode& random);

}  // namespace gasell::plan
