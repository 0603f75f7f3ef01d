// cp.ElementwiseKernel: a text that is run for every element.
#pragma once

#include "compiler/c_kernels/frame.h"

namespace gasell::c_kernels {

struct ElementwiseText {
  std::string name;
  std::vector<Parameter> parameters;  // inputs, then outputs
  SourceRef operation, preamble, loop_prep, after_loop;
};

/// The kernel for arguments of these types: one a parameter (arrays that are not raw have the loop's rank, broadcast ones strides of 0;
/// numbers), then the loop's extents as a tuple of i64.
///
/// On the host the elements are cut into pieces that cores take, whose rows run along the last axis. As threads, thread k of a grid along x
/// does element k. Throws Error with a place in the text.
functions::Compiled compile_elementwise(const ElementwiseText& kernel, const std::vector<functions::Type>& arguments, bool overlapping,
                                        const functions::Options& options);

/// Whether the text says what only threads can do: atomic operations.
bool needs_threads(const SourceRef& text);

}  // namespace gasell::c_kernels
