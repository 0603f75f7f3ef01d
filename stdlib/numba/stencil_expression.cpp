#include "stdlib/numba/stencil_expression.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "compiler/functions/as_graph.h"

namespace gasell::numba {
namespace {

using graph::NodeRef;

/// Elements [begin, end) of one axis, others whole.
NodeRef slice(const NodeRef& x, size_t axis, int64_t begin, int64_t end) {
  graph::Shape shape = x->shape;
  shape[axis] = end - begin;
  std::vector<graph::ViewAxis> axes;
  for (size_t k = 0; k < shape.size(); ++k) axes.push_back({static_cast<int>(k), k == axis ? begin : 0, 1});
  return graph::view(x, std::move(shape), std::move(axes));
}

/// The same, where elements beyond the axis stand for others of it.
NodeRef extended(const NodeRef& x, size_t axis, int64_t begin, int64_t end, BorderMode mode) {
  const int64_t n = x->shape[axis];
  std::vector<NodeRef> parts;
  for (int64_t i = begin; i < end;) {
    const bool inside = i >= 0 && i < n;
    const int64_t from = inside ? i : element_beyond(mode, i, n), to = inside ? std::min(end, n) : from + 1;
    parts.push_back(slice(x, axis, from, to));
    i += to - from;
  }
  return graph::concatenate(std::move(parts), static_cast<int>(axis));
}

class Expression {
 public:
  Expression(const functions::Compiled& kernel, const Reach& reach, BorderMode mode) : kernel_(kernel), reach_(reach), mode_(mode) {}

  /// False: there is an argument that no expression has.
  bool take(const std::vector<functions::Type>& types, const std::vector<functions::Leaf>& leaves) {
    auto parameter = kernel_.kernel.params.begin();
    for (size_t k = 0; k < types.size(); ++k) {
      if (types[k].is_scalar()) {
        numbers_.emplace((parameter++)->name, graph::constant(leaves[k].scalar));
      } else if (types[k].is_array()) {
        const graph::Shape& shape = leaves[k].array->shape();
        parameters_.push_back(graph::parameter(parameters_.size(), types[k].dtype, shape));
        arrays_.emplace((parameter++)->name, parameters_.back());
        for (const int64_t extent : shape) numbers_.emplace((parameter++)->name, graph::constant(Scalar::of_int(extent)));
        if (types[k].layout == functions::Layout::any) parameter += static_cast<std::ptrdiff_t>(shape.size());
      } else {
        return false;
      }
    }
    return true;
  }

  const std::vector<NodeRef>& parameters() const { return parameters_; }

  NodeRef of(const Box& box) const {
    graph::Shape shape;
    for (size_t k = 0; k < box.begin.size(); ++k) shape.push_back(box.end[k] - box.begin[k]);
    std::map<std::string, NodeRef> wider;  // the arrays with what lies around the box
    const auto element = [&](const std::string& name, const std::vector<int64_t>& offsets) -> NodeRef {
      const auto found = arrays_.find(name);
      if (found == arrays_.end() || offsets.size() != shape.size() || found->second->shape.size() != shape.size()) return nullptr;
      NodeRef array = found->second;
      std::vector<graph::ViewAxis> axes;
      bool inside = true;
      for (size_t k = 0; k < offsets.size(); ++k) {
        axes.push_back({static_cast<int>(k), box.begin[k] + offsets[k], 1});
        inside = inside && axes[k].start >= 0 && axes[k].start + shape[k] <= array->shape[k];
      }
      if (inside) return graph::view(array, shape, std::move(axes));
      if (!reads_beyond(mode_) || array->size() == 0) return nullptr;
      NodeRef& around = wider[name];
      if (!around) {
        around = array;
        for (size_t k = 0; k < shape.size(); ++k)
          around = extended(around, k, box.begin[k] + reach_[k].first, box.end[k] + reach_[k].second, mode_);
      }
      for (size_t k = 0; k < offsets.size(); ++k) {
        if (offsets[k] < reach_[k].first || offsets[k] > reach_[k].second) return nullptr;
        axes[k].start = offsets[k] - reach_[k].first;
      }
      return graph::view(around, shape, std::move(axes));
    };
    const auto result = functions::as_graph(kernel_, numbers_, element);
    return result ? graph::broadcast_to(*result, shape) : nullptr;
  }

  /// The whole of a shape: the inner box reads the arrays as they are, and what is around it small copies of their borders.
  NodeRef whole(Box box, const Box& inner, size_t axis = 0) const {
    if (axis == box.begin.size()) return of(box);
    std::vector<NodeRef> parts;
    const auto add = [&](int64_t begin, int64_t end, bool more) {
      if (begin >= end) return true;
      Box part = box;
      part.begin[axis] = begin;
      part.end[axis] = end;
      parts.push_back(more ? whole(std::move(part), inner, axis + 1) : of(part));
      return parts.back() != nullptr;
    };
    const int64_t begin = box.begin[axis], end = box.end[axis];
    if (!add(begin, inner.begin[axis], false) || !add(inner.begin[axis], inner.end[axis], true) || !add(inner.end[axis], end, false))
      return nullptr;
    return graph::concatenate(std::move(parts), static_cast<int>(axis));
  }

 private:
  const functions::Compiled& kernel_;
  const Reach& reach_;
  const BorderMode mode_;
  std::map<std::string, NodeRef> numbers_, arrays_;
  std::vector<NodeRef> parameters_;  // the arrays
};

}  // namespace

Box inner_box(const graph::Shape& shape, const Reach& reach) {
  Box box;
  for (size_t k = 0; k < shape.size(); ++k) {
    box.begin.push_back(std::min(shape[k], std::max<int64_t>(0, -reach[k].first)));
    box.end.push_back(std::max(box.begin[k], shape[k] - std::max<int64_t>(0, reach[k].second)));
  }
  return box;
}

std::optional<graph::Function> stencil_expression(const functions::Compiled& kernel, const std::vector<functions::Type>& types,
                                                  const std::vector<functions::Leaf>& leaves, const Reach& reach, BorderMode mode) {
  Expression expression(kernel, reach, mode);
  if (!expression.take(types, leaves)) return std::nullopt;
  const graph::Shape& shape = leaves[0].array->shape();
  const Box inner = inner_box(shape, reach);
  NodeRef result;
  if (!reads_beyond(mode))
    result = expression.of(inner);
  else if (leaves[0].array->size() > 0)
    result = expression.whole({std::vector<int64_t>(shape.size(), 0), shape}, inner);
  if (!result) return std::nullopt;
  return graph::Function{expression.parameters(), std::move(result)};
}

}  // namespace gasell::numba
