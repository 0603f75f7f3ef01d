// Arrays and their views: which part of a cell's memory each of them is.
#include "runtime/array/array.h"

#include <algorithm>

#include "lang/diagnostic.h"
#include "runtime/array/cell.h"
#include "runtime/array/chunk_sizes.h"

namespace gasell {

using graph::NodeRef;

Array::Array(std::shared_ptr<Cell> cell) : cell_(std::move(cell)), shape_(cell_->value->shape), dtype_(cell_->value->dtype) {}
Array::Array(NodeRef value) : Array(std::make_shared<Cell>(Cell{std::move(value)})) {}

Array Array::in_order(NodeRef value, AxisOrder order) {
  Array array(std::move(value));
  array.cell_->order = std::move(order);
  return array;
}

bool Array::owns() const { return steps_.empty() && (!cell_->bound || cell_->kept); }
const void* Array::owner() const { return cell_->owner; }
void Array::set_owner(const void* owner) const { cell_->owner = owner; }
Array Array::whole() const { return Array(cell_); }

Array Array::over(HostStorageRef storage, DType dtype, Shape shape) {
  const bool read_only = !storage->writable();
  std::vector<int64_t> strides = graph::contiguous_strides(shape);
  auto cell = std::make_shared<Cell>(
      Cell{graph::buffer(std::make_shared<BoundStorage>(std::move(storage)), dtype, std::move(shape), std::move(strides), 0), true});
  Array array(std::move(cell));
  array.read_only_ = array.fixed_ = read_only;
  return array;
}

DType Array::dtype() const { return dtype_; }
int64_t Array::size() const { return graph::size_of(shape_); }
bool Array::writable() const { return !read_only_; }

bool Array::has_other_type() const {
  return std::any_of(steps_.begin(), steps_.end(), [](const Step& step) { return step.type.has_value(); });
}

NodeRef Array::node() const {
  NodeRef node = cell_->value;
  if (has_other_type()) {
    Layout at = layout();
    return graph::buffer(node->as<graph::BufferNode>()->storage, dtype_, shape_, std::move(at.strides), at.offset);
  }
  for (const Step& step : steps_) node = step.axes ? graph::view(node, step.shape, *step.axes) : graph::reshape(node, step.shape);
  return node;
}

Array::Layout Array::layout() const {
  graph::Shape shape = cell_->value->shape;
  DType type = cell_->value->dtype;
  Layout layout{cell_->strides(), cell_->offset()};
  for (const Step& step : steps_) {
    std::vector<int64_t> strides(step.shape.size(), 0);
    if (step.axes) {
      for (size_t k = 0; k < step.axes->size(); ++k) {
        const graph::ViewAxis& a = (*step.axes)[k];
        layout.offset += a.start * layout.strides[k];
        if (a.axis >= 0) strides[a.axis] += a.step * layout.strides[k];
      }
    } else if (step.type) {
      const int64_t from = gasell::size_of(type), to = gasell::size_of(*step.type);
      const auto in_new_elements = [&](int64_t elements) {
        if (elements * from % to == 0) return elements * from / to;
        throw Error("NotImplementedError", "the elements of this array do not lie where those of " + std::string(name_of(*step.type)) +
                                               " must: at multiples of their size (use .copy() first)");
      };
      layout.offset = in_new_elements(layout.offset);
      for (size_t k = 0; k < strides.size(); ++k)
        strides[k] = from != to && k + 1 == strides.size() ? 1 : shape[k] == 1 ? 0 : in_new_elements(layout.strides[k]);
      type = *step.type;
    } else {
      strides = graph::reshape_strides(shape, layout.strides, step.shape).value();  // reshape() has seen that it exists
    }
    layout.strides = std::move(strides);
    shape = step.shape;
  }
  return layout;
}

std::vector<int64_t> Array::strides() const { return steps_.empty() ? cell_->strides() : layout().strides; }

Array Array::view(Shape shape, Axes axes, bool fixed) const {
  graph::bytes_of(shape, dtype_);  // throws: its node is made later, where an error has no place
  Array result = *this;
  result.chunks_ = viewed_chunks(*this, axes, shape);
  result.fixed_ = fixed_ || fixed;
  result.read_only_ = read_only_ || fixed;
  result.shape_ = shape;
  if (!result.steps_.empty() && result.steps_.back().axes) {  // a view of a view is one step: chains of views stay short
    Step& last = result.steps_.back();
    for (graph::ViewAxis& a : *last.axes) {
      if (a.axis < 0) continue;
      const graph::ViewAxis& b = axes[static_cast<size_t>(a.axis)];
      a = {b.axis, a.start + a.step * b.start, b.axis < 0 ? 0 : a.step * b.step};
    }
    last.shape = std::move(shape);
  } else {
    result.steps_.push_back({std::move(shape), std::move(axes), std::nullopt});
  }
  return result;
}

Array Array::view_as(Engine& engine, DType type) const {
  const int64_t from = gasell::size_of(dtype_), to = gasell::size_of(type);
  Array result = *this;
  result.chunks_.clear();
  if (from != to) {
    if (shape_.empty()) throw Error("ValueError", "Changing the dtype of a 0d array is only supported if the itemsize is unchanged");
    int64_t& last = result.shape_.back();
    if (size() > 0 && last != 1 && strides().back() != 1)
      throw Error("ValueError", "To change to a dtype of a different size, the last axis must be contiguous");
    if (last * from % to != 0)
      throw Error("ValueError",
                  "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis of the array.");
    last = last * from / to;
  }
  if (size() == 0) return Array(graph::constant(Scalar::of_int(0).cast(type), result.shape_));
  place_in_memory(engine);
  cell_->stored = true;
  result.dtype_ = type;
  result.steps_.push_back({result.shape_, std::nullopt, type});
  (void)result.layout();  // throws where there is none
  return result;
}

Array Array::reshape(Shape shape) const {
  if (graph::size_of(shape) != size())
    throw Error("ValueError", "cannot reshape array of size " + std::to_string(size()) + " into shape " + graph::to_string(shape));
  Chunks chunks = reshaped_chunks(*this, shape);
  if (!size() || !graph::reshape_strides(shape_, layout().strides, shape)) {
    Array copy(graph::reshape(node(), std::move(shape)));
    copy.chunks_ = std::move(chunks);
    return copy;
  }
  Array result = *this;
  result.chunks_ = std::move(chunks);
  if (!result.steps_.empty() && !result.steps_.back().axes &&
      !result.steps_.back().type) {  // the reshape before this one changes nothing any more, where this one can do without it
    result.steps_.pop_back();
    result.shape_ = result.steps_.empty() ? cell_->value->shape : result.steps_.back().shape;
    if (!graph::reshape_strides(result.shape_, result.layout().strides, shape)) result.steps_ = steps_;
  }
  result.shape_ = shape;
  result.steps_.push_back({std::move(shape), std::nullopt, std::nullopt});
  return result;
}

}  // namespace gasell
