#include "compiler/graph/node.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

#include "compiler/graph/join.h"
#include "lang/diagnostic.h"

namespace gasell::graph {
namespace {

uint64_t mix(uint64_t h, uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccdull;
}
uint64_t mix(uint64_t h, const Scalar& s) {
  uint64_t bits[2];
  std::memcpy(bits, &s.c, sizeof bits);
  return mix(mix(mix(mix(h, static_cast<uint64_t>(s.type)), static_cast<uint64_t>(s.i)), bits[0]), bits[1]);
}
template <class T>
uint64_t mix_all(uint64_t h, const std::vector<T>& values) {
  for (const T& v : values) h = mix(h, static_cast<uint64_t>(v));
  return mix(h, values.size());
}
uint64_t mix_axes(uint64_t h, const std::vector<ViewAxis>& axes) {
  for (const ViewAxis& a : axes)
    h = mix(mix(mix(h, static_cast<uint64_t>(a.axis)), static_cast<uint64_t>(a.start)), static_cast<uint64_t>(a.step));
  return h;
}

struct HashOp {
  uint64_t h;
  uint64_t operator()(const BufferNode& n) const {
    return mix(mix_all(mix(h, reinterpret_cast<uintptr_t>(n.storage.get())), n.strides), static_cast<uint64_t>(n.offset));
  }
  uint64_t operator()(const ConstantNode& n) const { return mix(h, n.value); }
  uint64_t operator()(const IotaNode& n) const { return mix(mix(h, n.start), n.step); }
  uint64_t operator()(const RandomNode& n) const {
    return mix(mix(mix(mix(mix(h, static_cast<uint64_t>(n.distribution)), n.seed), n.stream), static_cast<uint64_t>(n.low)), n.range);
  }
  uint64_t operator()(const MapNode& n) const { return mix(h, static_cast<uint64_t>(n.op)); }
  uint64_t operator()(const CastNode&) const { return h; }
  uint64_t operator()(const ViewNode& n) const { return mix_axes(h, n.axes); }
  uint64_t operator()(const ReshapeNode&) const { return h; }
  uint64_t operator()(const ReduceNode& n) const {
    return mix(mix_all(mix(h, static_cast<uint64_t>(n.op)), n.axes), static_cast<uint64_t>(n.ddof));
  }
  uint64_t operator()(const ConcatenateNode& n) const { return mix(h, static_cast<uint64_t>(n.axis)); }
  uint64_t operator()(const PadNode& n) const { return mix(mix_all(h, n.before), n.value); }
  uint64_t operator()(const GatherNode&) const { return h; }
  uint64_t operator()(const ParameterNode& n) const { return mix(h, n.number); }
  uint64_t operator()(const CallNode& n) const { return mix(h, n.function->id); }
};

struct SameOp {
  const Node& other;
  bool operator()(const BufferNode& a) const {
    const auto& b = *other.as<BufferNode>();
    return a.storage == b.storage && a.strides == b.strides && a.offset == b.offset;
  }
  bool operator()(const ConstantNode& a) const { return a.value.same_bits(other.as<ConstantNode>()->value); }
  bool operator()(const IotaNode& a) const {
    const auto& b = *other.as<IotaNode>();
    return a.start.same_bits(b.start) && a.step.same_bits(b.step);
  }
  bool operator()(const RandomNode& a) const {
    const auto& b = *other.as<RandomNode>();
    return a.distribution == b.distribution && a.seed == b.seed && a.stream == b.stream && a.low == b.low && a.range == b.range;
  }
  bool operator()(const MapNode& a) const { return a.op == other.as<MapNode>()->op; }
  bool operator()(const CastNode&) const { return true; }
  bool operator()(const ViewNode& a) const { return a.axes == other.as<ViewNode>()->axes; }
  bool operator()(const ReshapeNode&) const { return true; }
  bool operator()(const ReduceNode& a) const {
    const auto& b = *other.as<ReduceNode>();
    return a.op == b.op && a.axes == b.axes && a.ddof == b.ddof;
  }
  bool operator()(const ConcatenateNode& a) const { return a.axis == other.as<ConcatenateNode>()->axis; }
  bool operator()(const PadNode& a) const {
    const auto* b = other.as<PadNode>();
    return a.before == b->before && a.value.same_bits(b->value);
  }
  bool operator()(const GatherNode&) const { return true; }
  bool operator()(const ParameterNode& a) const { return a.number == other.as<ParameterNode>()->number; }
  bool operator()(const CallNode& a) const { return a.function == other.as<CallNode>()->function; }
};

bool same(const Node& a, const Node& b) {
  return a.hash == b.hash && a.dtype == b.dtype && a.op.index() == b.op.index() && a.shape == b.shape && a.inputs == b.inputs &&
         std::visit(SameOp{b}, a.op);
}

}  // namespace

/// The table that makes equal nodes one: chains of nodes by their hash. Holds no node alive; nodes leave it when they die.
class Interner {
 public:
  static Interner& instance() {
    static Interner& interner = *new Interner;  // outlives every static that may still hold nodes
    return interner;
  }

  NodeRef intern(Node node) {
    bytes_of(node.shape, node.dtype);  // throws
    uint64_t h = mix(static_cast<uint64_t>(node.dtype), node.op.index());
    h = mix_all(h, node.shape);
    for (const NodeRef& input : node.inputs) h = mix(h, reinterpret_cast<uintptr_t>(input.get()));
    node.hash = std::visit(HashOp{h}, node.op);
    node.has_calls =
        node.as<CallNode>() || std::any_of(node.inputs.begin(), node.inputs.end(), [](const NodeRef& x) { return x->has_calls; });
    const std::lock_guard lock(mutex_);
    for (const Node* known = chain(node.hash); known; known = known->next_)
      if (same(*known, node))
        if (NodeRef live = known->weak_from_this().lock()) return live;
    if (count_ == chains_.size()) grow();
    const auto fresh = std::make_shared<Node>(std::move(node));
    fresh->is_interned_ = true;
    fresh->next_ = std::exchange(chain(fresh->hash), fresh.get());
    ++count_;
    return fresh;
  }

  void erase(const Node& dead) {
    const std::lock_guard lock(mutex_);
    const Node** place = &chain(dead.hash);
    while (*place != &dead) place = &(*place)->next_;
    *place = dead.next_;
    --count_;
  }

 private:
  const Node*& chain(uint64_t hash) { return chains_[(hash ^ hash >> 32) & (chains_.size() - 1)]; }

  void grow() {
    std::vector<const Node*> before(chains_.size() * 2);
    before.swap(chains_);
    for (const Node* node : before)
      while (node) {
        const Node* const next = node->next_;
        node->next_ = std::exchange(chain(node->hash), node);
        node = next;
      }
  }

  std::mutex mutex_;
  std::vector<const Node*> chains_ = std::vector<const Node*>(1024);  // a power of two
  size_t count_ = 0;
};

/// Deep graphs die without deep recursion: inputs that die meanwhile queue up.
Node::~Node() {
  if (is_interned_) Interner::instance().erase(*this);
  if (inputs.empty()) return;
  thread_local std::vector<NodeRef>* queue = nullptr;
  if (queue) {
    for (NodeRef& input : inputs) queue->push_back(std::move(input));
    return;
  }
  std::vector<NodeRef> dying = std::move(inputs);
  queue = &dying;
  while (!dying.empty()) {
    const NodeRef next = std::move(dying.back());
    dying.pop_back();
  }
  queue = nullptr;
}

namespace {

NodeRef make(DType dtype, Shape shape, std::vector<NodeRef> inputs, NodeOp op) {
  return Interner::instance().intern(Node(dtype, std::move(shape), std::move(inputs), std::move(op)));
}

bool is_identity_view(const Shape& from, const Shape& to, const std::vector<ViewAxis>& axes) {
  if (from != to) return false;
  for (size_t k = 0; k < axes.size(); ++k)
    if (from[k] != 1 && axes[k] != ViewAxis{static_cast<int>(k), 0, 1}) return false;
  return true;
}

/// Elements a view's axis reads, last one included, must exist: internal misuse otherwise.
void check_view(const Shape& in, const Shape& out, const std::vector<ViewAxis>& axes) {
  bool ok = in.size() == axes.size();
  for (size_t k = 0; ok && k < axes.size(); ++k) {
    const ViewAxis& a = axes[k];
    const int64_t count = a.axis < 0 ? 1 : out.at(a.axis);
    if (count == 0) continue;
    const int64_t last = a.start + a.step * (count - 1);
    ok = a.start >= 0 && a.start < in[k] && last >= 0 && last < in[k];
  }
  const bool empty = std::find(out.begin(), out.end(), 0) != out.end();
  if (!ok && !empty) throw Error("IndexError", "view out of bounds of an array of shape " + to_string(in), "", Blame::internal);
}

/// A reshape that only adds or removes axes of extent 1, as a view; nothing when it does more.
std::optional<std::vector<ViewAxis>> reshape_as_view(const Shape& from, const Shape& to) {
  std::vector<ViewAxis> axes;
  size_t out = 0;
  for (int64_t extent : from) {
    if (extent == 1) {
      axes.push_back({-1, 0, 0});
      continue;
    }
    while (out < to.size() && to[out] == 1) ++out;
    if (out == to.size() || to[out] != extent) return {};
    axes.push_back({static_cast<int>(out++), 0, 1});
  }
  while (out < to.size() && to[out] == 1) ++out;
  if (out != to.size()) return {};
  return axes;
}

}  // namespace

std::string_view name_of(ReduceOp op) {
  static constexpr std::string_view kNames[] = {"sum", "prod", "min", "max", "any", "all", "argmin", "argmax", "mean", "var"};
  return kNames[static_cast<int>(op)];
}

int64_t Node::size() const { return size_of(shape); }

namespace {

[[noreturn]] void refuse_size() {
  throw Error("ValueError", "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.");
}

/// Product of the extents and of `width`; 0 where an extent is 0, whose others are checked all the same, as NumPy does.
int64_t checked_product(const Shape& shape, int64_t width) {
  int64_t n = width;
  bool zero = false;
  for (int64_t extent : shape) {
    if (extent < 0) throw Error("ValueError", "negative dimensions are not allowed");
    if (extent == 0)
      zero = true;
    else if (__builtin_mul_overflow(n, extent, &n))
      refuse_size();
  }
  return zero ? 0 : n;
}

}  // namespace

int64_t size_of(const Shape& shape) { return checked_product(shape, 1); }

int64_t bytes_of(const Shape& shape, DType dtype) {
  const int64_t bytes = checked_product(shape, gasell::size_of(dtype));
  if (bytes > kMostBytes) refuse_size();
  return bytes;
}

std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (size_t k = 0; k < shape.size(); ++k) text += (k ? "," : "") + std::to_string(shape[k]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

namespace {

/// Which extents are in each other's way, and, where a vector was meant for the axis before the last one, how to say so.
std::string broadcast_remedy(const std::vector<Shape>& shapes, int64_t a, int64_t b) {
  std::string text = "shapes are compared from their last axis: " + std::to_string(a) + " and " + std::to_string(b) + " differ";
  for (const Shape& vector : shapes)
    for (const Shape& matrix : shapes)
      if (vector.size() == 1 && matrix.size() == 2 && vector[0] == matrix[0])
        return text + "; v[:, None] makes the vector a column, one element a row";
  return text;
}

}  // namespace

Shape broadcast_shapes(const std::vector<Shape>& shapes) {
  Shape result;
  for (const Shape& s : shapes) {
    if (s.size() > result.size()) result.insert(result.begin(), s.size() - result.size(), 1);
    for (size_t k = 0; k < s.size(); ++k) {
      int64_t& extent = result[result.size() - s.size() + k];
      if (extent == 1)
        extent = s[k];
      else if (s[k] != 1 && s[k] != extent) {
        std::string text = "operands could not be broadcast together with shapes ";
        for (const Shape& each : shapes) text += to_string(each) + " ";  // the blank at the end is NumPy's
        throw Error("ValueError", text, broadcast_remedy(shapes, extent, s[k]));
      }
    }
  }
  return result;
}

std::vector<int64_t> contiguous_strides(const Shape& shape) {
  const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();  // NumPy's strides are 0 then
  std::vector<int64_t> strides(shape.size(), empty ? 0 : 1);
  for (size_t k = strides.size(); k-- > 1;) strides[k - 1] = strides[k] * shape[k];
  return strides;
}

std::optional<std::vector<int64_t>> reshape_strides(const Shape& from, const std::vector<int64_t>& strides, const Shape& to) {
  Shape old_shape, old_strides;
  for (size_t k = 0; k < from.size(); ++k)
    if (from[k] != 1) old_shape.push_back(from[k]), old_strides.push_back(strides[k]);
  std::vector<int64_t> result(to.size(), 0);
  size_t oi = 0, ni = 0;
  while (oi < old_shape.size() && ni < to.size()) {
    size_t oj = oi + 1, nj = ni + 1;
    int64_t op = old_shape[oi], np = to[ni];
    while (op != np) {
      if (np < op) {
        if (nj == to.size()) return {};
        np *= to[nj++];
      } else {
        if (oj == old_shape.size()) return {};
        op *= old_shape[oj++];
      }
    }
    for (size_t k = oi; k + 1 < oj; ++k)
      if (old_strides[k] != old_strides[k + 1] * old_shape[k + 1]) return {};
    result[nj - 1] = old_strides[oj - 1];
    for (size_t k = nj - 1; k > ni; --k) result[k - 1] = result[k] * to[k];
    oi = oj, ni = nj;
  }
  return result;
}

NodeRef buffer(StorageRef storage, DType dtype, Shape shape, std::vector<int64_t> strides, int64_t offset) {
  for (size_t k = 0; k < shape.size(); ++k)
    if (shape[k] == 1) strides[k] = 0;  // one spelling for equal layouts
  return make(dtype, std::move(shape), {}, BufferNode{std::move(storage), std::move(strides), offset});
}

NodeRef constant(Scalar value, Shape shape) { return make(value.type, std::move(shape), {}, ConstantNode{value}); }

NodeRef iota(int64_t n, Scalar start, Scalar step) { return make(start.type, {n}, {}, IotaNode{start, step}); }

NodeRef random(Distribution distribution, DType dtype, Shape shape, uint64_t seed, uint64_t stream, int64_t low, uint64_t range) {
  return make(dtype, std::move(shape), {}, RandomNode{distribution, seed, stream, low, range});
}

NodeRef map(ScalarOp op, std::vector<NodeRef> operands) {
  const auto is_number = [](const NodeRef& x) { return x->shape.empty() && x->as<ConstantNode>(); };
  const auto first = std::find_if_not(operands.begin(), operands.end(), is_number);
  Shape shape = first == operands.end() ? Shape() : (*first)->shape;
  if (std::all_of(operands.begin(), operands.end(), [&](const NodeRef& x) { return is_number(x) || x->shape == shape; })) {
    if (!shape.empty())
      for (NodeRef& x : operands)
        if (is_number(x)) x = constant(x->as<ConstantNode>()->value, shape);
  } else {
    std::vector<Shape> shapes;
    for (const NodeRef& x : operands) shapes.push_back(x->shape);
    shape = broadcast_shapes(shapes);
    for (NodeRef& x : operands) x = broadcast_to(x, shape);
  }
  const bool constants = std::all_of(operands.begin(), operands.end(), [](const NodeRef& x) { return x->as<ConstantNode>() != nullptr; });
  const DType operand = operands[op == ScalarOp::select ? 1 : 0]->dtype;
  if (operand == DType::f16 && op != ScalarOp::select) {
    for (NodeRef& x : operands) x = cast(x, DType::f32);
    const NodeRef wide = map(op, std::move(operands));
    return wide->dtype == DType::f32 ? cast(wide, DType::f16) : wide;
  }
  if (constants) {
    std::vector<Scalar> values;
    for (const NodeRef& x : operands) values.push_back(x->as<ConstantNode>()->value);
    return constant(evaluate(op, values.data()), shape);
  }
  return make(result_type(op, operand), std::move(shape), std::move(operands), MapNode{op});
}

NodeRef cast(const NodeRef& x, DType to) {
  if (x->dtype == to) return x;
  if (const auto* c = x->as<ConstantNode>()) return constant(c->value.cast(to), x->shape);
  // What was float16 and became float32 to be moved is itself.
  if (to == DType::f16 && x->dtype == DType::f32 && x->as<CastNode>() && x->inputs[0]->dtype == to) return x->inputs[0];
  return make(to, x->shape, {x}, CastNode{});
}

NodeRef view(const NodeRef& x, Shape shape, std::vector<ViewAxis> axes) {
  check_view(x->shape, shape, axes);
  for (size_t k = 0; k < axes.size(); ++k)  // one spelling: an axis that never moves
    if (axes[k].axis >= 0 && shape[axes[k].axis] == 1) axes[k] = {-1, axes[k].start, 0};
  if (is_identity_view(x->shape, shape, axes)) return x;
  if (const auto* c = x->as<ConstantNode>()) return constant(c->value, std::move(shape));
  if (const auto* v = x->as<ViewNode>()) {
    std::vector<ViewAxis> composed = v->axes;
    for (ViewAxis& a : composed) {
      if (a.axis < 0) continue;
      const ViewAxis& outer = axes[a.axis];
      a = {outer.axis, a.start + a.step * outer.start, a.step * outer.step};
    }
    return view(x->inputs[0], std::move(shape), std::move(composed));
  }
  if (const auto* b = x->as<BufferNode>()) {
    std::vector<int64_t> strides(shape.size(), 0);
    int64_t offset = b->offset;
    for (size_t k = 0; k < axes.size(); ++k) {
      offset += b->strides[k] * axes[k].start;
      if (axes[k].axis >= 0) strides[axes[k].axis] += b->strides[k] * axes[k].step;
    }
    return buffer(b->storage, x->dtype, std::move(shape), std::move(strides), offset);
  }
  return make(x->dtype, std::move(shape), {x}, ViewNode{std::move(axes)});
}

NodeRef broadcast_to(const NodeRef& x, const Shape& shape) {
  if (x->shape == shape) return x;
  const size_t extra = shape.size() - x->shape.size();
  std::vector<ViewAxis> axes;
  bool fits = shape.size() >= x->shape.size();
  for (size_t k = 0; fits && k < x->shape.size(); ++k) {
    const int out = static_cast<int>(k + extra);
    fits = x->shape[k] == shape[out] || x->shape[k] == 1;
    axes.push_back(x->shape[k] == shape[out] ? ViewAxis{out, 0, 1} : ViewAxis{-1, 0, 0});
  }
  if (!fits)
    throw Error("ValueError", "could not broadcast input array from shape " + to_string(x->shape) + " into shape " + to_string(shape));
  return view(x, shape, std::move(axes));
}

NodeRef transpose(const NodeRef& x, const std::vector<int>& order) {
  Shape shape(order.size());
  std::vector<ViewAxis> axes(order.size());
  for (size_t out = 0; out < order.size(); ++out) {
    shape[out] = x->shape[order[out]];
    axes[order[out]] = {static_cast<int>(out), 0, 1};
  }
  return view(x, std::move(shape), std::move(axes));
}

NodeRef reshape(const NodeRef& x, Shape shape) {
  if (x->shape == shape) return x;
  if (size_of(shape) != x->size())
    throw Error("ValueError", "cannot reshape array of size " + std::to_string(x->size()) + " into shape " + to_string(shape));
  if (x->size() == 0) return constant(Scalar{x->dtype, 0, 0}, std::move(shape));
  if (x->as<ReshapeNode>()) return reshape(x->inputs[0], std::move(shape));
  if (auto axes = reshape_as_view(x->shape, shape)) return view(x, std::move(shape), std::move(*axes));
  if (const auto* c = x->as<ConstantNode>()) return constant(c->value, std::move(shape));
  if (x->as<IotaNode>() || x->as<RandomNode>()) return make(x->dtype, std::move(shape), {}, x->op);  // both count in C order
  if (const auto* b = x->as<BufferNode>())
    if (auto strides = reshape_strides(x->shape, b->strides, shape))
      return buffer(b->storage, x->dtype, std::move(shape), *strides, b->offset);
  return make(x->dtype, std::move(shape), {x}, ReshapeNode{});
}

NodeRef reduce(ReduceOp op, const NodeRef& x, std::vector<int> axes, int64_t ddof) {
  if (x->dtype == DType::f16) {
    const NodeRef wide = reduce(op, cast(x, DType::f32), std::move(axes), ddof);
    return wide->dtype == DType::f32 ? cast(wide, DType::f16) : wide;
  }
  std::sort(axes.begin(), axes.end());
  Shape shape;
  int64_t reduced = 1;
  for (int k = 0; k < x->rank(); ++k) {
    if (std::binary_search(axes.begin(), axes.end(), k))
      reduced *= x->shape[k];
    else
      shape.push_back(x->shape[k]);
  }
  DType dtype = x->dtype;
  if (op == ReduceOp::argmin || op == ReduceOp::argmax) dtype = DType::i64;
  if (op == ReduceOp::any || op == ReduceOp::all) dtype = DType::boolean;
  if (op == ReduceOp::var) dtype = real_of(dtype);
  // NumPy names the ufunc behind min and max, and says it its own way for argmin and argmax.
  const bool arg = op == ReduceOp::argmin || op == ReduceOp::argmax;
  const std::string numpy_name = op == ReduceOp::min ? "minimum" : op == ReduceOp::max ? "maximum" : std::string(name_of(op));
  const bool none_allowed = op == ReduceOp::min || op == ReduceOp::max || op == ReduceOp::argmin || op == ReduceOp::argmax;
  if (reduced == 0 && arg && size_of(shape) != 0) throw Error("ValueError", "attempt to get " + numpy_name + " of an empty sequence");
  if (reduced == 0 && none_allowed && size_of(shape) != 0)
    throw Error("ValueError", "zero-size array to reduction operation " + numpy_name + " which has no identity");
  return make(dtype, std::move(shape), {x}, ReduceNode{op, std::move(axes), ddof});
}

NodeRef concatenate(std::vector<NodeRef> parts, int axis) {
  Shape shape = parts.at(0)->shape;
  shape[axis] = 0;
  for (const NodeRef& part : parts)
    if (__builtin_add_overflow(shape[axis], part->shape[axis], &shape[axis])) refuse_size();
  if (parts.size() == 1) return parts[0];
  if (std::optional<NodeRef> whole = joined(parts, axis)) return *whole;
  const DType dtype = parts[0]->dtype;
  return make(dtype, std::move(shape), std::move(parts), ConcatenateNode{axis});
}

NodeRef pad(const NodeRef& x, Shape shape, std::vector<int64_t> before, Scalar value) {
  if (x->shape == shape) return x;
  if (x->size() == 0) return constant(value, std::move(shape));
  return make(x->dtype, std::move(shape), {x}, PadNode{std::move(before), value});
}

NodeRef gather(const NodeRef& x, const NodeRef& index) {
  if (const auto* c = x->as<ConstantNode>()) return constant(c->value, index->shape);
  if (x->size() == 0 || index->size() == 0) return constant(Scalar{x->dtype, 0, 0}, index->shape);
  if (x->as<GatherNode>()) return gather(x->inputs[0], gather(x->inputs[1], index));
  return make(x->dtype, index->shape, {x, index}, GatherNode{});
}

uint64_t Function::next_id() {
  static std::atomic<uint64_t> next{0};
  return next++;
}

NodeRef parameter(size_t number, DType dtype, Shape shape) { return make(dtype, std::move(shape), {}, ParameterNode{number}); }

NodeRef call(std::shared_ptr<const Function> function, std::vector<NodeRef> inputs) {
  const NodeRef& result = function->result;
  return make(result->dtype, result->shape, std::move(inputs), CallNode{std::move(function)});
}

}  // namespace gasell::graph
