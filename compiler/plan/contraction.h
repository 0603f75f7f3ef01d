// Sums of products of two arrays: what the host's linear algebra library computes many times faster than a loop over elements.
//
//   sum(a[:, None, :] * b[None, :, :], axis=-1)   →   rows from a, columns from b, the last axis summed: a product of matrices
//
// Any graph of that form is one: @, dot, tensordot and einsum build it, and so may a script.
#pragma once

#include <optional>
#include <vector>

#include "compiler/plan/pull.h"

namespace gasell::plan {

/// result[o…, i, j] = Σ_k left[o…, i, k] * right[o…, k, j]; steps in elements, 0 where an array does not have the axis. Each array has a
/// unit step along one of its two axes, and rows (or columns) of its that do not overlap.
struct Contraction {
  struct Axis {
    int64_t extent = 1, left = 0, right = 0, result = 0;
  };
  DType dtype = DType::f64;  // f32, f64, c64 or c128
  Axis rows, columns, summed;
  std::vector<Axis> outer;  // loops around it; over those that the result has not, results are added up
  bool symmetric = false;   // left and right are one array: result[i, j] == result[j, i]
  bool add = false;         // to what the result holds
};

/// The factors of what a sum reduces, without the axes that they are stretched along.
struct Factors {
  NodeRef left, right;
};
/// Nothing where `product` is none, where the factors have no rows or columns of their own, or where they are so small that a loop is as
/// fast.
std::optional<Factors> factors_of(const graph::Node& product, const std::vector<int>& summed_axes);
/// Strides of memory for the result that the library can write: the largest axis that the right factor alone has lies last.
std::vector<int64_t> strides_that_fit(const graph::Node& product, const std::vector<int>& summed_axes);
/// A factor without the axes that it is stretched along, as it lies in what it is a view of: x and x.T are stored once.
struct InSourceOrder {
  NodeRef plain;
  std::vector<graph::ViewAxis> axes;  // of the compact factor over `plain`
};
InSourceOrder in_source_order(const NodeRef& compact);
/// Whether both read the same elements of the same node.
bool is_same_view(const NodeRef& a, const NodeRef& b);
/// Whether a factor has elements of its own along an axis.
bool has_axis(const graph::Node& factor, int axis);
/// Along which axis of `product` to cut it so that a panel needs little memory beside its result: of an axis that both factors have the
/// panels of both are short, of another one those of the factor that is stored. `sum`: the result may be added up panel by panel. -1: of
/// none.
int panel_axis(const graph::Node& product, const std::vector<int>& summed_axes, bool sum, bool left_stored, bool right_stored);
/// The part of a factor along one of its axes.
NodeRef part_of(const NodeRef& factor, int axis, int64_t begin, int64_t end);
/// What `factor` is, over memory that holds it without the axes that it is stretched along.
NodeRef stretch_again(const NodeRef& factor, const NodeRef& stored);

/// The product of two views of memory that `pulled` is, summed over `axes`; `result` walks the axes that are kept. What does not fit lies
/// in memory so that the library cannot walk it.
struct LibraryProduct {
  Contraction contraction;
  Access left, right;
  bool left_fits, right_fits, result_fits;
};
std::optional<LibraryProduct> contraction_of(Pulled pulled, const std::vector<int>& axes, Access result);

}  // namespace gasell::plan
