// The array graph: what lazy array expressions record. Immutable, hash-consed: equal nodes are one node, so a common subexpression is found
// by building it. An array expression is a function from index to value; nothing here says what is stored.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/ir/scalar_op.h"

namespace gasell {

/// Memory that holds array elements; the runtime's, opaque here. Node identity is the object's.
class Storage {
 public:
  virtual ~Storage() = default;
};
using StorageRef = std::shared_ptr<Storage>;

namespace graph {

using Shape = std::vector<int64_t>;  // empty: a 0-d array

struct Node;
using NodeRef = std::shared_ptr<const Node>;

enum class ReduceOp : uint8_t { sum, prod, min, max, any, all, argmin, argmax, mean, var };
std::string_view name_of(ReduceOp op);

/// Elements of a storage: element (i0, i1, …) is at offset + Σ i_k * strides[k], all in elements.
struct BufferNode {
  StorageRef storage;
  std::vector<int64_t> strides;
  int64_t offset;
};
/// The same value everywhere.
struct ConstantNode {
  Scalar value;
};
/// start + step * (C-order index in the whole array); float types compute start + i * step in f64. arange, linspace, index grids.
struct IotaNode {
  Scalar start, step;
};
/// Philox4x32-10: the element's C-order index in the whole array is the counter (compiler/graph/random.h has the definition).
enum class Distribution : uint8_t { uniform, standard_normal, integers };
struct RandomNode {
  Distribution distribution;
  uint64_t seed, stream;
  int64_t low;
  uint64_t range;
};  // integers: [low, low + range)
struct MapNode {
  ScalarOp op;
};  // inputs have this node's shape
struct CastNode {};
/// Basic slicing, transposition, broadcasting, new axes: input axis k reads index start + step * (output index along `axis`), or start
/// where axis is -1.
struct ViewAxis {
  int axis;
  int64_t start, step;
  bool operator==(const ViewAxis&) const = default;
};
struct ViewNode {
  std::vector<ViewAxis> axes;  // one an input axis
};
struct ReshapeNode {};  // C order
/// Reduces `axes` (sorted, not negative) away. mean and var accumulate in f64; var divides by n - ddof.
/// argmin/argmax: C-order index within the reduced axes, i64; the first of equals; the first NaN wins.
struct ReduceNode {
  ReduceOp op;
  std::vector<int> axes;
  int64_t ddof = 0;
};
/// inputs joined along `axis`.
struct ConcatenateNode {
  int axis;
};
/// The input, with `value` around it: element i of the input is element i + before of the node. What a stencil leaves at the border.
struct PadNode {
  std::vector<int64_t> before;
  Scalar value;
};
/// Elements of a vector (the first input) at the places that int64 indices (the second) say; all of them are in the vector.
struct GatherNode {};

/// Of a Function: what input `number` of a call stands for.
struct ParameterNode {
  size_t number;
};
/// An expression of parameters, made once for all arrays of the same dtypes and shapes.
struct Function {
  std::vector<NodeRef> parameters;
  NodeRef result;
  uint64_t id = next_id();  // no two have one

  static uint64_t next_id();
};
/// The function's result for these inputs. Plans see what it stands for (compiler/plan/expand.h); until one has to be made, a call is one
/// node, however much is behind it.
struct CallNode {
  std::shared_ptr<const Function> function;
};

using NodeOp = std::variant<BufferNode, ConstantNode, IotaNode, RandomNode, MapNode, CastNode, ViewNode, ReshapeNode, ReduceNode,
                            ConcatenateNode, PadNode, GatherNode, ParameterNode, CallNode>;

struct Node : std::enable_shared_from_this<Node> {
  Node(DType type, Shape extents, std::vector<NodeRef> operands, NodeOp operation)
      : dtype(type), shape(std::move(extents)), inputs(std::move(operands)), op(std::move(operation)) {}
  Node(Node&&) = default;
  ~Node();

  DType dtype;
  Shape shape;
  std::vector<NodeRef> inputs;
  NodeOp op;
  uint64_t hash = 0;
  bool has_calls = false;  // it is one, or an input has some
  template <class T>
  const T* as() const {
    return std::get_if<T>(&op);
  }
  int64_t size() const;
  int rank() const { return static_cast<int>(shape.size()); }

 private:
  friend class Interner;
  bool is_interned_ = false;
  mutable const Node* next_ = nullptr;  // the interner's
};

/// Product of extents: elements of an array, and its bytes. Throws Error("ValueError", …), in NumPy's words, when the product does not fit
/// 63 bits or an extent is negative. Every node's shape has passed bytes_of(), so that products of its extents and width never overflow,
/// nor do their sums with the length of a chunk: no array has more than kMostBytes.
inline constexpr int64_t kMostBytes = INT64_MAX - (int64_t{1} << 40);
int64_t size_of(const Shape& shape);
int64_t bytes_of(const Shape& shape, DType dtype);

// ---- builders: check, simplify locally (constants fold, casts to the same type vanish, views compose) and hash-cons ----
NodeRef buffer(StorageRef storage, DType dtype, Shape shape, std::vector<int64_t> strides, int64_t offset);
NodeRef constant(Scalar value, Shape shape = {});
NodeRef iota(int64_t n, Scalar start, Scalar step);
NodeRef random(Distribution distribution, DType dtype, Shape shape, uint64_t seed, uint64_t stream, int64_t low = 0, uint64_t range = 0);
/// Operands are broadcast to their common shape (Error "ValueError: operands could not be broadcast together …"); their dtypes must be
/// equal already (select: the last two). Promotion is the caller's. Operations on float16, and reductions of it, are float32's, rounded.
NodeRef map(ScalarOp op, std::vector<NodeRef> operands);
NodeRef cast(const NodeRef& x, DType to);
NodeRef view(const NodeRef& x, Shape shape, std::vector<ViewAxis> axes);
NodeRef broadcast_to(const NodeRef& x, const Shape& shape);
NodeRef transpose(const NodeRef& x, const std::vector<int>& order);
NodeRef reshape(const NodeRef& x, Shape shape);
NodeRef reduce(ReduceOp op, const NodeRef& x, std::vector<int> axes, int64_t ddof = 0);
NodeRef concatenate(std::vector<NodeRef> parts, int axis);
/// `value` has x's dtype; x lies inside of `shape`.
NodeRef pad(const NodeRef& x, Shape shape, std::vector<int64_t> before, Scalar value);
/// x, of rank 1, at `index`, i64 of any shape, which the caller has checked. Of an x without elements: zeros.
NodeRef gather(const NodeRef& x, const NodeRef& index);
NodeRef parameter(size_t number, DType dtype, Shape shape);
/// `inputs` have the dtypes and shapes of the function's parameters.
NodeRef call(std::shared_ptr<const Function> function, std::vector<NodeRef> inputs);

/// NumPy's broadcasting of shapes; throws Error("ValueError", "operands could not be broadcast together with shapes (2,3) (4,)").
Shape broadcast_shapes(const std::vector<Shape>& shapes);
/// C order, in elements.
std::vector<int64_t> contiguous_strides(const Shape& shape);
/// NumPy's attempt to reshape without copying: the strides of `to` over elements laid out as (from, strides), or nothing.
std::optional<std::vector<int64_t>> reshape_strides(const Shape& from, const std::vector<int64_t>& strides, const Shape& to);
std::string to_string(const Shape& shape);  // NumPy's "(2,3)"
/// The graph as text, one node a line, for --emit=graph.
std::string print(const std::vector<NodeRef>& roots);

}  // namespace graph
}  // namespace gasell
