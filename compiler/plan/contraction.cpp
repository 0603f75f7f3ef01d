#include "compiler/plan/contraction.h"

#include <algorithm>

namespace gasell::plan {
namespace {

using graph::Node;
using graph::ViewAxis;

constexpr int64_t kLeastExtent = 4;       // of rows, columns and what is summed, for which a call of the library pays,
constexpr double kLeastProducts = 20000;  // and of element products in all

bool contains(const std::vector<int>& axes, int axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

/// Along which axes of its shape a factor has elements of its own.
std::vector<bool> own_axes(const Node& factor) {
  std::vector<bool> own(factor.shape.size(), true);
  if (const auto* view = factor.as<graph::ViewNode>()) {
    own.assign(factor.shape.size(), false);
    for (const ViewAxis& a : view->axes)
      if (a.axis >= 0 && a.step != 0) own[static_cast<size_t>(a.axis)] = true;
  } else if (const auto* buffer = factor.as<graph::BufferNode>()) {
    for (size_t k = 0; k < own.size(); ++k) own[k] = buffer->strides[k] != 0;
  }
  for (size_t k = 0; k < own.size(); ++k) own[k] = own[k] && factor.shape[k] != 1;
  return own;
}

/// The factor without the axes that it is stretched along.
NodeRef compact(const NodeRef& factor) {
  const auto* view = factor->as<graph::ViewNode>();
  const auto* buffer = factor->as<graph::BufferNode>();
  if (!view && !buffer) return factor;
  const std::vector<bool> own = own_axes(*factor);
  std::vector<int> number(own.size(), -1);
  Shape shape;
  std::vector<int64_t> strides;
  for (size_t k = 0; k < own.size(); ++k) {
    if (!own[k]) continue;
    number[k] = static_cast<int>(shape.size());
    shape.push_back(factor->shape[k]);
    if (buffer) strides.push_back(buffer->strides[k]);
  }
  if (buffer) return graph::buffer(buffer->storage, factor->dtype, std::move(shape), std::move(strides), buffer->offset);
  std::vector<ViewAxis> axes = view->axes;
  for (ViewAxis& a : axes) {
    a.axis = a.axis < 0 ? -1 : number[static_cast<size_t>(a.axis)];
    if (a.axis < 0) a.step = 0;
  }
  return graph::view(factor->inputs[0], std::move(shape), std::move(axes));
}

struct Sizes {
  double rows = 1, columns = 1, summed = 1;
  bool is_product = true;
};
Sizes sizes_of(const Node& product, const std::vector<int>& summed_axes) {
  const std::vector<bool> left = own_axes(*product.inputs[0]), right = own_axes(*product.inputs[1]);
  Sizes sizes;
  for (size_t k = 0; k < left.size(); ++k) {
    const auto extent = static_cast<double>(product.shape[k]);
    if (extent == 1) continue;
    if (contains(summed_axes, static_cast<int>(k))) {
      sizes.is_product = sizes.is_product && left[k] && right[k];
      sizes.summed *= extent;
    } else {
      sizes.is_product = sizes.is_product && (left[k] || right[k]);
      if (!right[k]) sizes.rows *= extent;
      if (!left[k]) sizes.columns *= extent;
    }
  }
  return sizes;
}

bool pays(double rows, double columns, double summed, double products) {
  return std::min({rows, columns, summed}) >= kLeastExtent && products >= kLeastProducts;
}

bool has_library_type(DType d) { return is_float(d) || is_complex(d); }

/// Whether the library can walk a matrix with these steps.
bool is_walkable(int64_t extent_a, int64_t step_a, int64_t extent_b, int64_t step_b) {
  return (step_b == 1 && step_a >= extent_b) || (step_a == 1 && step_b >= extent_a);
}

/// Takes the axis of largest extent out of `axes`.
Contraction::Axis take_largest(std::vector<Contraction::Axis>& axes) {
  const auto largest = std::max_element(axes.begin(), axes.end(), [](const auto& a, const auto& b) { return a.extent < b.extent; });
  const Contraction::Axis taken = *largest;
  axes.erase(largest);
  return taken;
}

}  // namespace

std::optional<Factors> factors_of(const Node& product, const std::vector<int>& summed_axes) {
  const auto* map = product.as<graph::MapNode>();
  if (!map || map->op != ScalarOp::mul || !has_library_type(product.dtype)) return {};
  const Sizes sizes = sizes_of(product, summed_axes);
  if (!sizes.is_product || !pays(sizes.rows, sizes.columns, sizes.summed, static_cast<double>(product.size()))) return {};
  return Factors{compact(product.inputs[0]), compact(product.inputs[1])};
}

InSourceOrder in_source_order(const NodeRef& compact) {
  const int rank = compact->rank();
  std::vector<ViewAxis> same;
  for (int k = 0; k < rank; ++k) same.push_back({k, 0, 1});
  const auto* view = compact->as<graph::ViewNode>();
  if (!view) return {compact, std::move(same)};
  Shape shape;
  std::vector<ViewAxis> plain = view->axes, turned;
  for (ViewAxis& a : plain) {
    if (a.axis < 0) continue;
    turned.push_back({a.axis, 0, 1});
    shape.push_back(compact->shape[static_cast<size_t>(a.axis)]);
    a.axis = static_cast<int>(turned.size()) - 1;
  }
  std::vector<int> uses(static_cast<size_t>(rank), 0);
  for (const ViewAxis& a : turned) ++uses[static_cast<size_t>(a.axis)];
  if (std::any_of(uses.begin(), uses.end(), [](int n) { return n != 1; })) return {compact, std::move(same)};
  return {graph::view(compact->inputs[0], std::move(shape), std::move(plain)), std::move(turned)};
}

bool is_same_view(const NodeRef& a, const NodeRef& b) {
  if (a == b) return true;
  const auto *x = a->as<graph::ViewNode>(), *y = b->as<graph::ViewNode>();
  return x && y && a->inputs[0] == b->inputs[0] && a->shape == b->shape && x->axes == y->axes;
}

bool has_axis(const Node& factor, int axis) { return own_axes(factor)[static_cast<size_t>(axis)]; }

int panel_axis(const Node& product, const std::vector<int>& summed_axes, bool sum, bool left_stored, bool right_stored) {
  const std::vector<bool> left = own_axes(*product.inputs[0]), right = own_axes(*product.inputs[1]);
  int best = -1;
  const auto better = [&](int k) { return best < 0 || product.shape[static_cast<size_t>(k)] > product.shape[static_cast<size_t>(best)]; };
  const auto look = [&](auto&& fits) {
    for (int axis = 0; axis < product.rank(); ++axis)
      if (fits(static_cast<size_t>(axis), contains(summed_axes, axis)) && better(axis)) best = axis;
  };
  look([&](size_t k, bool summed) { return left[k] && right[k] && (!summed || sum); });
  if (best >= 0) return best;
  look([&](size_t k, bool summed) { return !summed && (left_stored ? left[k] : right_stored && right[k]); });
  return best;
}

NodeRef part_of(const NodeRef& factor, int axis, int64_t begin, int64_t end) {
  Shape shape = factor->shape;
  shape[static_cast<size_t>(axis)] = end - begin;
  std::vector<ViewAxis> axes;
  for (int k = 0; k < factor->rank(); ++k) axes.push_back({k, k == axis ? begin : 0, 1});
  return graph::view(factor, std::move(shape), std::move(axes));
}

std::vector<int64_t> strides_that_fit(const Node& product, const std::vector<int>& summed_axes) {
  const std::vector<bool> left = own_axes(*product.inputs[0]);
  std::vector<int> kept, order;  // axes of the product; those of the result as they lie in memory
  for (int k = 0; k < product.rank(); ++k)
    if (!contains(summed_axes, k)) kept.push_back(k);
  for (int k = 0; k < static_cast<int>(kept.size()); ++k) order.push_back(k);
  const auto extent = [&](int k) { return product.shape[static_cast<size_t>(kept[static_cast<size_t>(k)])]; };
  const auto is_column = [&](int k) { return !left[static_cast<size_t>(kept[static_cast<size_t>(k)])]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return is_column(a) != is_column(b) ? is_column(b) : is_column(a) && extent(a) < extent(b); });
  std::vector<int64_t> strides(order.size());
  int64_t step = 1;
  for (size_t k = order.size(); k-- > 0; step *= extent(order[k])) strides[static_cast<size_t>(order[k])] = step;
  return strides;
}

NodeRef stretch_again(const NodeRef& factor, const NodeRef& stored) {
  if (!factor->as<graph::ViewNode>() && !factor->as<graph::BufferNode>()) return stored;
  const std::vector<bool> own = own_axes(*factor);
  std::vector<ViewAxis> axes;
  for (size_t k = 0; k < own.size(); ++k)
    if (own[k]) axes.push_back({static_cast<int>(k), 0, 1});
  return graph::view(stored, factor->shape, std::move(axes));
}

std::optional<LibraryProduct> contraction_of(Pulled pulled, const std::vector<int>& axes, Access result) {
  const Value& product = pulled.values[static_cast<size_t>(pulled.roots[0])];
  if (product.kind != Value::Kind::op || product.op != ScalarOp::mul || !has_library_type(product.dtype)) return {};
  int factor[2];
  for (int k = 0; k < 2; ++k) {
    const Value& v = pulled.values[static_cast<size_t>(product.operands[static_cast<size_t>(k)])];
    if (v.kind != Value::Kind::access) return {};
    const Access& access = pulled.accesses[static_cast<size_t>(v.access)];
    if (access.index >= 0 || !access.source->as<graph::BufferNode>()) return {};
    factor[k] = v.access;
  }
  // The result walks the axes that are kept; 0 along the others.
  for (const int axis : axes) result.coefficients.insert(result.coefficients.begin() + axis, 0);
  const auto left_at = [&](size_t k) { return pulled.accesses[static_cast<size_t>(factor[0])].coefficients[k]; };
  const auto right_at = [&](size_t k) { return pulled.accesses[static_cast<size_t>(factor[1])].coefficients[k]; };
  std::vector<int> kinds;
  for (size_t k = 0; k < pulled.space.size(); ++k)
    kinds.push_back((contains(axes, static_cast<int>(k)) ? 4 : 0) + (left_at(k) != 0 ? 1 : 0) + (right_at(k) != 0 ? 2 : 0));
  std::vector<Access> results{std::move(result)};
  kinds = collapse(pulled, results, std::move(kinds));
  std::vector<Contraction::Axis> rows, columns, summed, outer;
  for (size_t k = 0; k < kinds.size(); ++k) {
    const Contraction::Axis axis{pulled.space[k], left_at(k), right_at(k), results[0].coefficients[k]};
    switch (kinds[k]) {
      case 1: rows.push_back(axis); break;
      case 2: columns.push_back(axis); break;
      case 3: outer.push_back(axis); break;
      case 7: summed.push_back(axis); break;
      default: return {};  // an axis that one factor, or none, is summed along
    }
  }
  if (rows.empty() || columns.empty() || summed.empty()) return {};
  LibraryProduct found;
  Contraction& c = found.contraction;
  c.dtype = product.dtype;
  c.rows = take_largest(rows);
  c.columns = take_largest(columns);
  c.summed = take_largest(summed);
  if (!pays(static_cast<double>(c.rows.extent), static_cast<double>(c.columns.extent), static_cast<double>(c.summed.extent),
            static_cast<double>(graph::size_of(pulled.space))))
    return {};
  found.left_fits = is_walkable(c.rows.extent, c.rows.left, c.summed.extent, c.summed.left);
  found.right_fits = is_walkable(c.summed.extent, c.summed.right, c.columns.extent, c.columns.right);
  found.result_fits = is_walkable(c.rows.extent, c.rows.result, c.columns.extent, c.columns.result);
  for (auto* rest : {&rows, &columns, &outer, &summed}) c.outer.insert(c.outer.end(), rest->begin(), rest->end());
  found.left = pulled.accesses[static_cast<size_t>(factor[0])];
  found.right = pulled.accesses[static_cast<size_t>(factor[1])];
  const auto &a = *found.left.source->as<graph::BufferNode>(), &b = *found.right.source->as<graph::BufferNode>();
  c.symmetric = c.outer.empty() && a.storage == b.storage && found.left.offset == found.right.offset && c.rows.extent == c.columns.extent &&
                c.rows.left == c.columns.right && c.summed.left == c.summed.right;
  return found;
}

}  // namespace gasell::plan
