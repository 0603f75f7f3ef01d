#include "compiler/plan/pull.h"

#include <map>
#include <tuple>

#include "lang/diagnostic.h"

namespace gasell::plan {
namespace {

using graph::Node;
using graph::ViewAxis;

/// Index of each axis of a node as start + step * i_axis.
using IndexMap = std::vector<ViewAxis>;

struct ByIndex {
  bool operator()(const std::pair<const Node*, IndexMap>& a, const std::pair<const Node*, IndexMap>& b) const {
    if (a.first != b.first) return std::less<>()(a.first, b.first);
    return std::lexicographical_compare(
        a.second.begin(), a.second.end(), b.second.begin(), b.second.end(),
        [](const ViewAxis& x, const ViewAxis& y) { return std::tie(x.axis, x.start, x.step) < std::tie(y.axis, y.start, y.step); });
  }
};

class Puller {
 public:
  explicit Puller(Pulled& out) : out_(out) {}

  int visit(const NodeRef& node, IndexMap map) {
    const auto key = std::pair(node.get(), map);
    if (auto known = seen_.find(key); known != seen_.end()) return known->second;
    const int id = build(node, map);
    seen_.emplace(key, id);
    return id;
  }

 private:
  int build(const NodeRef& node, const IndexMap& map) {
    if (const auto* c = node->as<graph::ConstantNode>()) return add({Value::Kind::constant, node->dtype, -1, c->value, ScalarOp::add, {}});
    if (const auto* v = node->as<graph::ViewNode>()) {
      IndexMap inner;
      for (const ViewAxis& a : v->axes) {
        if (a.axis < 0)
          inner.push_back({-1, a.start, 0});
        else
          inner.push_back({map[a.axis].axis, a.start + a.step * map[a.axis].start, a.step * map[a.axis].step});
      }
      return visit(node->inputs[0], std::move(inner));
    }
    if (node->as<graph::CastNode>()) return add({Value::Kind::cast, node->dtype, -1, {}, ScalarOp::add, {visit(node->inputs[0], map)}});
    if (const auto* m = node->as<graph::MapNode>()) {
      Value value{Value::Kind::op, node->dtype, -1, {}, m->op, {}};
      for (const NodeRef& input : node->inputs) value.operands.push_back(visit(input, map));
      return simplify(std::move(value));
    }
    if (node->as<graph::GatherNode>()) return gathered(node, visit(node->inputs[1], map));
    return source(node, map);
  }

  int gathered(const NodeRef& node, int index) {
    const NodeRef& from = node->inputs[0];
    const auto* b = from->as<graph::BufferNode>();
    if (!b) throw Error("SystemError", "a node that must be stored was pulled into a kernel", "", Blame::internal);
    return accessed({from, node->dtype, std::vector<int64_t>(out_.space.size(), 0), b->offset, index, b->strides[0]});
  }

  int source(const NodeRef& node, const IndexMap& map) {
    Access access{node, node->dtype, std::vector<int64_t>(out_.space.size(), 0), 0};
    std::vector<int64_t> strides;
    if (const auto* b = node->as<graph::BufferNode>()) {
      strides = b->strides;
      access.offset = b->offset;
    } else if (node->as<graph::IotaNode>() || node->as<graph::RandomNode>()) {
      strides.assign(node->shape.size(), 1);
      for (size_t k = strides.size(); k-- > 1;) strides[k - 1] = strides[k] * node->shape[k];
    } else {
      throw Error("SystemError", "a node that must be stored was pulled into a kernel", "", Blame::internal);
    }
    for (size_t k = 0; k < map.size(); ++k) {
      access.offset += strides[k] * map[k].start;
      if (map[k].axis >= 0) access.coefficients[map[k].axis] += strides[k] * map[k].step;
    }
    return accessed(std::move(access));
  }

  int accessed(Access access) {
    for (size_t i = 0; i < out_.accesses.size(); ++i)
      if (out_.accesses[i] == access) return access_value_[i];
    const DType dtype = access.dtype;
    out_.accesses.push_back(std::move(access));
    access_value_.push_back(add({Value::Kind::access, dtype, static_cast<int>(out_.accesses.size() - 1), {}, ScalarOp::add, {}}));
    return access_value_.back();
  }

  /// x ** 2 and its like become what NumPy computes for them.
  int simplify(Value value) {
    if (value.op == ScalarOp::pow && is_float(value.dtype)) {
      const Value& exponent = out_.values[value.operands[1]];
      if (exponent.kind == Value::Kind::constant) {
        const double e = exponent.constant.as_double();
        const int x = value.operands[0];
        if (e == 1.0) return x;
        if (e == 2.0) return add({Value::Kind::op, value.dtype, -1, {}, ScalarOp::mul, {x, x}});
        if (e == 0.5) return add({Value::Kind::op, value.dtype, -1, {}, ScalarOp::sqrt, {x}});
        if (e == -1.0) {
          const int one = add({Value::Kind::constant, value.dtype, -1, Scalar::of_float(1.0, value.dtype), ScalarOp::add, {}});
          return add({Value::Kind::op, value.dtype, -1, {}, ScalarOp::div, {one, x}});
        }
      }
    }
    return add(std::move(value));
  }

  int add(Value value) {
    out_.values.push_back(std::move(value));
    return static_cast<int>(out_.values.size() - 1);
  }

  Pulled& out_;
  std::vector<int> access_value_;
  std::map<std::pair<const Node*, IndexMap>, int, ByIndex> seen_;
};

}  // namespace

double Pulled::cost() const {
  double total = 0;
  for (const Value& value : values) {
    if (value.kind == Value::Kind::op) total += info(value.op).cost;
    if (value.kind == Value::Kind::cast) total += 1;
    if (value.kind == Value::Kind::access && accesses[value.access].source->as<graph::RandomNode>()) total += 40;
  }
  return total;
}

Pulled pull(const std::vector<NodeRef>& roots) {
  Pulled pulled;
  pulled.space = roots.at(0)->shape;
  IndexMap identity;
  for (size_t k = 0; k < pulled.space.size(); ++k) identity.push_back({static_cast<int>(k), 0, 1});
  Puller puller(pulled);
  for (const NodeRef& root : roots) pulled.roots.push_back(puller.visit(root, identity));
  return pulled;
}

Pulled pull_within(const NodeRef& root, const Shape& space, const std::vector<int64_t>& before) {
  Pulled pulled;
  pulled.space = space;
  IndexMap shifted;
  for (size_t k = 0; k < space.size(); ++k) shifted.push_back({static_cast<int>(k), -before[k], 1});
  pulled.roots.push_back(Puller(pulled).visit(root, std::move(shifted)));
  return pulled;
}

std::vector<int> collapse(Pulled& pulled, std::vector<Access>& results, std::vector<int> axis_class) {
  std::vector<Access*> all;
  for (Access& a : pulled.accesses) all.push_back(&a);
  for (Access& a : results) all.push_back(&a);
  Shape& space = pulled.space;
  auto drop = [&](size_t k) {
    space.erase(space.begin() + static_cast<std::ptrdiff_t>(k));
    axis_class.erase(axis_class.begin() + static_cast<std::ptrdiff_t>(k));
    for (Access* a : all) a->coefficients.erase(a->coefficients.begin() + static_cast<std::ptrdiff_t>(k));
  };
  for (size_t k = space.size(); k-- > 0;)
    if (space[k] == 1) drop(k);
  for (size_t k = space.size(); k-- > 1;) {
    bool one = axis_class[k - 1] == axis_class[k];
    for (Access* a : all) one = one && a->coefficients[k - 1] == a->coefficients[k] * space[k];
    if (!one) continue;
    space[k - 1] *= space[k];
    for (Access* a : all) a->coefficients[k - 1] = a->coefficients[k];
    drop(k);
  }
  return axis_class;
}

std::vector<Neighbour> neighbours(const Pulled& pulled) {
  std::vector<Neighbour> result;
  for (int a = 0; a < static_cast<int>(pulled.accesses.size()); ++a) {
    const Access& access = pulled.accesses[static_cast<size_t>(a)];
    const auto* memory = access.source->as<graph::BufferNode>();
    Neighbour found{a, a, 0};
    for (int b = 0; memory && access.index < 0 && b < a; ++b) {
      const Access& before = pulled.accesses[static_cast<size_t>(b)];
      const auto* same = before.source->as<graph::BufferNode>();
      if (!same || same->storage != memory->storage || before.index >= 0 || before.dtype != access.dtype ||
          before.coefficients != access.coefficients)
        continue;
      if (found.array == a) found = {b, a, access.offset - before.offset};
      const int64_t apart = access.offset - before.offset;
      if (result[static_cast<size_t>(b)].near == b && apart >= -kNear && apart <= kNear) {
        found.near = b;
        found.offset = apart;
        break;
      }
    }
    result.push_back(found);
  }
  return result;
}

}  // namespace gasell::plan
