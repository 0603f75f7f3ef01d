// cp.ReductionKernel: elements are mapped to numbers, two of which become one until one is left.
#pragma once

#include "compiler/c_kernels/frame.h"

namespace gasell::c_kernels {

struct ReductionText {
  std::string name;
  std::vector<Parameter> parameters;  // inputs, then outputs
  size_t inputs = 0;
  SourceRef map, reduce, post_map, identity, reduce_type, preamble;  // an empty identity: the type's zero
};

/// How the elements of a result are reduced. Piece p of a result has its elements [p * length, (p + 1) * length); lane l of a piece takes
/// its elements l, l + lanes, … one after the other, and the lanes' numbers are combined as a tree. So the order depends on shapes alone.
struct ReductionForm {
  int reduced = 1, kept = 0;  // axes of the inputs: first those that are reduced
  int lanes = 1;              // a power of two, up to kThreads. 1: neighbouring results are neighbours in memory, and are done together
  bool of_pieces = false;     // the elements are the numbers of pieces before
  bool last = true;           // the results; else numbers of pieces
  auto operator<=>(const ReductionForm&) const = default;
};
/// Threads a block where the kernel runs as threads; thread k of it is lane k % lanes of piece-of-a-result block * kThreads / lanes + k /
/// lanes; those are counted by pieces, then by results.
inline constexpr int64_t kThreads = 256;

/// The kernel for arguments of these types: one a parameter, as compile_elementwise takes them (inputs with reduced + kept axes, outputs
/// with kept), the numbers of pieces where the form has some (of_pieces: those read; not last: those written: arrays of one axis of the
/// reduction's type, piece * results + result), then the inputs' extents as a tuple of i64, and as i64: elements a result, results, a
/// piece's length, pieces a result.
functions::Compiled compile_reduction(const ReductionText& kernel, const ReductionForm& form, const std::vector<functions::Type>& arguments,
                                      bool overlapping, const functions::Options& options);

/// The type that the numbers have on the way: reduce_type, with the placeholders of arguments of these dtypes.
DType reduction_type(const ReductionText& kernel, const std::vector<DType>& types);

}  // namespace gasell::c_kernels
