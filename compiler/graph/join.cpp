#include "compiler/graph/join.h"

#include <algorithm>
#include <map>

namespace gasell::graph {
namespace {

using Parts = std::vector<NodeRef>;

/// Looks no further into graphs that are larger than what functions of blocks make.
constexpr int kMostSteps = 2000;

/// at += step * n; false where that is beyond 64 bits.
bool advance(int64_t& at, int64_t step, int64_t n) {
  int64_t way = 0;
  return !__builtin_mul_overflow(step, n, &way) && !__builtin_add_overflow(at, way, &at);
}

class Join {
 public:
  explicit Join(int axis) : axis_(static_cast<size_t>(axis)) {}

  std::optional<NodeRef> operator()(const Parts& parts) {
    if (!parts[0]->as<CastNode>() && !parts[0]->as<MapNode>()) return join(parts);  // as quick as to look for what is known
    std::vector<const Node*> key;
    key.reserve(parts.size());
    for (const NodeRef& p : parts) key.push_back(p.get());
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    if (++steps_ > kMostSteps) return {};
    std::optional<NodeRef> result = join(parts);
    known_.emplace(std::move(key), result);
    return result;
  }

 private:
  Shape shape_of(const Parts& parts) const {
    Shape shape = parts[0]->shape;
    for (size_t k = 1; k < parts.size(); ++k) shape[axis_] += parts[k]->shape[axis_];
    return shape;
  }

  std::optional<NodeRef> join(const Parts& parts) {
    if (parts[0]->as<ConstantNode>()) return constants(parts);
    if (parts[0]->as<ViewNode>()) return views(parts);
    if (parts[0]->as<BufferNode>()) return buffers(parts);
    if (parts[0]->as<CastNode>()) return casts(parts);
    if (parts[0]->as<MapNode>()) return maps(parts);
    return {};
  }

  std::optional<NodeRef> constants(const Parts& parts) {
    const Scalar& value = parts[0]->as<ConstantNode>()->value;
    for (const NodeRef& p : parts)
      if (const auto* c = p->as<ConstantNode>(); !c || !c->value.same_bits(value)) return {};
    return constant(value, shape_of(parts));
  }

  std::optional<NodeRef> casts(const Parts& parts) {
    Parts inputs;
    for (const NodeRef& p : parts) {
      if (!p->as<CastNode>() || p->dtype != parts[0]->dtype || p->inputs[0]->dtype != parts[0]->inputs[0]->dtype) return {};
      inputs.push_back(p->inputs[0]);
    }
    const std::optional<NodeRef> input = (*this)(inputs);
    if (!input) return {};
    return cast(*input, parts[0]->dtype);
  }

  std::optional<NodeRef> maps(const Parts& parts) {
    const ScalarOp op = parts[0]->as<MapNode>()->op;
    const size_t operands = parts[0]->inputs.size();
    for (const NodeRef& p : parts)
      if (const auto* m = p->as<MapNode>(); !m || m->op != op || p->inputs.size() != operands || p->dtype != parts[0]->dtype) return {};
    Parts whole;
    for (size_t k = 0; k < operands; ++k) {
      Parts inputs;
      for (const NodeRef& p : parts) {
        if (p->inputs[k]->dtype != parts[0]->inputs[k]->dtype) return {};
        inputs.push_back(p->inputs[k]);
      }
      const std::optional<NodeRef> input = (*this)(inputs);
      if (!input) return {};
      whole.push_back(*input);
    }
    return map(op, std::move(whole));
  }

  /// Neighbours: all read one array, and differ in where they begin along one of its axes alone.
  std::optional<NodeRef> views(const Parts& parts) {
    const NodeRef& base = parts[0]->inputs[0];
    const std::vector<ViewAxis>& first = parts[0]->as<ViewNode>()->axes;
    if (!std::ranges::all_of(parts, [&](const NodeRef& p) { return p->as<ViewNode>() && p->inputs[0] == base; })) return {};
    std::optional<size_t> moving;
    for (size_t k = 0; k < first.size(); ++k)
      if (std::ranges::any_of(parts, [&](const NodeRef& p) { return p->as<ViewNode>()->axes[k] != first[k]; })) {
        if (moving) return {};
        moving = k;
      }
    if (!moving) return {};
    // An axis of one element is not spelled as one that moves: its step is what leads to the next part.
    const auto entry = [&](const NodeRef& p) -> const ViewAxis& { return p->as<ViewNode>()->axes[*moving]; };
    int64_t step = 0;
    for (const NodeRef& p : parts)
      if (entry(p).axis >= 0) step = entry(p).step;
    if (step == 0) step = entry(parts[1]).start - entry(parts[0]).start;
    if (step == 0) return {};
    int64_t next = entry(parts[0]).start;
    for (const NodeRef& p : parts) {
      const ViewAxis& e = entry(p);
      if (e.start != next || (e.axis >= 0 ? e.axis != static_cast<int>(axis_) || e.step != step : p->shape[axis_] != 1)) return {};
      if (!advance(next, step, p->shape[axis_])) return {};
    }
    std::vector<ViewAxis> axes = first;
    axes[*moving] = {static_cast<int>(axis_), entry(parts[0]).start, step};
    return view(base, shape_of(parts), std::move(axes));
  }

  /// The same of arrays that are in memory.
  std::optional<NodeRef> buffers(const Parts& parts) {
    const BufferNode& first = *parts[0]->as<BufferNode>();
    int64_t stride = 0;
    for (const NodeRef& p : parts) {
      const auto* b = p->as<BufferNode>();
      if (!b || b->storage != first.storage || p->dtype != parts[0]->dtype) return {};
      for (size_t k = 0; k < b->strides.size(); ++k)
        if (k != axis_ && p->shape[k] > 1 && b->strides[k] != first.strides[k]) return {};
      if (p->shape[axis_] > 1) stride = b->strides[axis_];
    }
    if (stride == 0) stride = parts[1]->as<BufferNode>()->offset - first.offset;
    int64_t next = first.offset;
    for (const NodeRef& p : parts) {
      const auto& b = *p->as<BufferNode>();
      if (b.offset != next || (p->shape[axis_] > 1 && b.strides[axis_] != stride)) return {};
      if (!advance(next, stride, p->shape[axis_])) return {};
    }
    std::vector<int64_t> strides = first.strides;
    strides[axis_] = stride;
    return buffer(first.storage, parts[0]->dtype, shape_of(parts), std::move(strides), first.offset);
  }

  const size_t axis_;
  int steps_ = 0;
  std::map<std::vector<const Node*>, std::optional<NodeRef>> known_;
};

}  // namespace

std::optional<NodeRef> joined(const std::vector<NodeRef>& parts, int axis) {
  if (parts.size() < 2 || parts[0]->op.index() != parts[1]->op.index()) return {};
  if (const auto *a = parts[0]->as<BufferNode>(), *b = parts[1]->as<BufferNode>(); a && a->storage != b->storage) return {};
  if (std::ranges::any_of(parts, [](const NodeRef& p) { return p->size() == 0; })) return {};
  return Join(axis)(parts);
}

}  // namespace gasell::graph
