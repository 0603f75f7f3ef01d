// The parts of a kernel that every lowering shares: parameters bound to arguments, fresh names, units over rows and columns.
#pragma once

#include <string>
#include <vector>

#include "compiler/plan/plan.h"
#include "compiler/plan/pull.h"

namespace gasell::plan {

/// Strips are this long: what is staged between loops of a kernel stays in the first-level cache. Also the block of the fixed reduction
/// tree.
inline constexpr int64_t kStrip = 1024;
/// Accumulators side by side: 8 AVX-512 registers of f64; 2 a thread of a GPU's warp.
inline constexpr int64_t kLanes = 64;

/// Collects parameters, their arguments and the body.
class KernelBuilder {
 public:
  /// `divides_by_products`: see Divisor (extents.h).
  KernelBuilder(std::string name, bool divides_by_products);

  /// A scalar argument; constants that steer code generation (0, 1, 2, …) are better written into the IR.
  ir::ExprRef scalar(const std::string& stem, int64_t value);
  ir::ExprRef scalar(const std::string& stem, const Scalar& value);
  /// An array argument; its byte offset is `offset` elements from the storage's start.
  std::string input(const StorageRef& storage, DType dtype, int64_t offset);
  std::string output(const StorageRef& storage, DType dtype, int64_t offset);
  std::string fresh(const std::string& stem);
  bool divides_by_products() const { return divides_by_products_; }

  /// Moves the finished kernel and its arguments into a step.
  Step finish(ir::Body body, int64_t units);

 private:
  std::string array(ir::Parameter::Kind kind, const StorageRef& storage, DType dtype, int64_t offset);

  ir::Kernel kernel_;
  Step step_;
  int next_ = 0;
  const bool divides_by_products_;
};

/// An i64 let: appends it to `body` and gives the variable.
ir::ExprRef define(KernelBuilder& builder, ir::Body& body, const std::string& stem, ir::ExprRef value);
ir::ExprRef minimum(ir::ExprRef a, ir::ExprRef b);

/// Positions of a Pulled's accesses as IR. The innermost coordinate is handled apart: position = base(outer coordinates) + stride * inner.
class Positions {
 public:
  /// Makes the offset and stride arguments of each access. Strides of the innermost axis that are 0, 1 or 2 are compiled in, and so are
  /// zero strides of outer axes. An access whose `shared` (when given) is another one before it has that one's positions.
  Positions(KernelBuilder& builder, const Shape& space, const std::vector<Access>& accesses, const std::vector<int>& shared = {});
  /// Base position of access `a` at outer coordinates; all but the innermost axis.
  ir::ExprRef base(int a, const std::vector<ir::ExprRef>& outer) const;
  /// Of an outer axis; null: zero.
  const ir::ExprRef& outer_stride(int a, size_t axis) const { return outer_[static_cast<size_t>(a)][axis]; }
  ir::ExprRef inner_stride(int a) const { return inner_[a]; }
  /// The compiled-in inner stride, or -1.
  int64_t static_inner_stride(int a) const { return static_inner_[a]; }

 private:
  std::vector<ir::ExprRef> offsets_;
  std::vector<std::vector<ir::ExprRef>> outer_;  // null: stride zero
  std::vector<ir::ExprRef> inner_;
  std::vector<int64_t> static_inner_;
};

/// The expression of a Pulled over one strip of the innermost axis: first `stage` (fills strips with random numbers), then `at` for each
/// element.
class StripExpression {
 public:
  /// `by_strides`: how far accesses lie apart is told in strides of their array, where that is possible, so that equal places look equal.
  StripExpression(KernelBuilder& builder, const Pulled& pulled, bool by_strides = false);

  /// Local arrays; once, at the head of the unit loop's body.
  void declare(ir::Body& body);
  /// Binds the row: bases of all accesses.
  void begin_row(ir::Body& body, const std::vector<ir::ExprRef>& outer);
  /// Prepares elements [first, first + count) of the innermost axis, count ≤ kStrip.
  void begin_strip(ir::Body& body, ir::ExprRef first, ir::ExprRef count);
  /// Values of the roots at element `first + j`; intermediate values become lets in `body`.
  std::vector<ir::ExprRef> at(ir::Body& body, ir::ExprRef j);
  /// What access `a`, which no other value indexes, reads at element `first + j`.
  ir::ExprRef read(int a, ir::ExprRef j) { return access_value(a, std::move(j), {}); }
  /// After begin_strip: element `first + j` of access `a` lies at `shift + j` of a local array.
  void read_from(int a, std::string local, ir::ExprRef shift);

 private:
  ir::ExprRef access_value(int a, ir::ExprRef j, const std::vector<ir::ExprRef>& values);
  ir::ExprRef in_strides(int array, int64_t distance);

  KernelBuilder& builder_;
  const Pulled& pulled_;
  std::vector<Neighbour> neighbours_;  // per access
  Positions positions_;
  std::vector<ir::ExprRef> distances_;      // per access: from its array's first access, where that is far
  std::vector<std::string> arrays_;         // per access: parameter (buffer) or strip (random)
  std::vector<ir::ExprRef> index_strides_;  // per access: null without an index
  std::vector<ir::ExprRef> iota_start_, iota_step_;
  std::vector<std::vector<ir::ExprRef>> random_;  // per access: seed, stream, low, range
  std::vector<ir::ExprRef> constants_;            // per value
  std::vector<ir::ExprRef> bases_;                // per access, of the row
  std::vector<std::string> staged_;               // per access: the local array that holds the strip; empty: none does
  std::vector<ir::ExprRef> shifts_;               // per access: where the strip's first element lies in it
  ir::ExprRef first_;
};

}  // namespace gasell::plan
