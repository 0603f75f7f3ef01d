#include "runtime/array/array.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "lang/diagnostic.h"
#include "runtime/device/device.h"

namespace gasell {
namespace {

using graph::NodeRef;

/// The memory of a bound array, which its writes must reach. Graphs that were recorded before a write keep the old data: this storage is
/// then moved to a copy, and the array gets a new one over the memory.
class BoundStorage : public HostStorage {
 public:
  explicit BoundStorage(HostStorageRef memory) { move_to(std::move(memory)); }
  void move_to(HostStorageRef memory) {
    memory_ = std::move(memory);
    data_.store(memory_->host_memory(), std::memory_order_relaxed);
    bytes_ = memory_->bytes();
    writable_ = memory_->writable();
  }
  const HostStorageRef& memory() const { return memory_; }
  void release(int64_t begin, int64_t end) override { memory_->release(begin, end); }
  void expect(int64_t begin, int64_t end) override { memory_->expect(begin, end); }
  bool is_mapped() const override { return memory_->is_mapped(); }
  void check() const override { memory_->check(); }
  bool is_shared() const override { return memory_->is_shared(); }

 private:
  HostStorageRef memory_;
};

/// Whether a value lies in memory of its own: not where its contents wait, or are held by other memory (deferred()).
bool is_in_memory(const NodeRef& node) {
  const auto* b = node->as<graph::BufferNode>();
  const auto* storage = b ? static_cast<const HostStorage*>(b->storage.get()) : nullptr;
  return storage && !storage->is_waiting() && !storage->made();
}

/// Whether evaluating `node` reads `storage`.
bool reads(const NodeRef& node, const Storage* storage) {
  std::unordered_set<const graph::Node*> seen;
  std::vector<const graph::Node*> stack{node.get()};
  while (!stack.empty()) {
    const graph::Node* next = stack.back();
    stack.pop_back();
    if (!seen.insert(next).second) continue;
    if (const auto* b = next->as<graph::BufferNode>(); b && b->storage.get() == storage) return true;
    for (const NodeRef& input : next->inputs) stack.push_back(input.get());
  }
  return false;
}

constexpr int64_t kDirectWrite = 64;       // so few elements are written without a kernel
constexpr int64_t kBroughtHome = 1 << 20;  // memory of a GPU's up to this size comes home for that
constexpr int64_t kForceForItem = 1 << 20;

/// Visits the element offsets of a strided layout in C order.
template <class Visit>
void for_each_offset(const graph::Shape& shape, const std::vector<int64_t>& strides, int64_t offset, Visit visit) {
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t n = graph::size_of(shape), i = 0; i < n; ++i) {
    visit(offset, i);
    for (size_t k = shape.size(); k-- > 0;) {
      offset += strides[k];
      if (++index[k] < shape[k]) break;
      offset -= strides[k] * shape[k];
      index[k] = 0;
    }
  }
}

/// Whether elements fill a run of memory without gaps, in some order of the axes: C's, Fortran's.
bool is_dense(const graph::Shape& shape, const std::vector<int64_t>& strides) {
  std::vector<std::pair<int64_t, int64_t>> axes;  // stride, extent
  for (size_t k = 0; k < shape.size(); ++k)
    if (shape[k] != 1) axes.emplace_back(strides[k], shape[k]);
  std::sort(axes.begin(), axes.end());
  int64_t next = 1;
  for (const auto& [stride, extent] : axes) {
    if (stride != next) return false;
    next *= extent;
  }
  return true;
}

}  // namespace

struct Array::Cell {
  NodeRef value;
  bool bound = false;   // value is a BufferNode over a BoundStorage, for ever
  bool stored = false;  // value is a BufferNode, for ever: a view reads its bytes
  /// How the memory shall lie, where that was asked for; a value that lies otherwise is moved before anybody gets its address.
  std::optional<AxisOrder> order;
  const void* owner = nullptr;

  std::vector<int64_t> strides() const {
    const auto* buffer = value->as<graph::BufferNode>();
    if (order && !lies_in_order()) return strides_in(*order, value->shape);
    return buffer ? buffer->strides : graph::contiguous_strides(value->shape);
  }
  int64_t offset() const {
    const auto* buffer = value->as<graph::BufferNode>();
    return buffer && lies_in_order() ? buffer->offset : 0;
  }
  bool lies_in_order() const {
    if (!order) return true;
    const auto* buffer = value->as<graph::BufferNode>();
    if (!buffer) return false;
    const std::vector<int64_t> wanted = strides_in(*order, value->shape);
    for (size_t k = 0; k < wanted.size(); ++k)
      if (value->shape[k] > 1 && buffer->strides[k] != wanted[k]) return false;
    return true;
  }
  /// What is evaluated of a value, and the value of what came of it.
  NodeRef to_compute() const { return order ? graph::transpose(value, *order) : value; }
  void set_computed(const NodeRef& computed) { value = order ? graph::transpose(computed, inverse(*order)) : computed; }

  /// Strides of an array whose memory moves slowest along the first axis of `order`.
  static std::vector<int64_t> strides_in(const AxisOrder& order, const graph::Shape& shape) {
    std::vector<int64_t> strides(shape.size());
    int64_t next = 1;
    for (size_t k = order.size(); k-- > 0;) {
      const auto axis = static_cast<size_t>(order[k]);
      strides[axis] = next;
      next *= std::max<int64_t>(1, shape[axis]);
    }
    return strides;
  }
  static AxisOrder inverse(const AxisOrder& order) {
    AxisOrder result(order.size());
    for (size_t k = 0; k < order.size(); ++k) result[static_cast<size_t>(order[k])] = static_cast<int>(k);
    return result;
  }
};

Array::Array(std::shared_ptr<Cell> cell) : cell_(std::move(cell)), shape_(cell_->value->shape), dtype_(cell_->value->dtype) {}
Array::Array(NodeRef value) : Array(std::make_shared<Cell>(Cell{std::move(value)})) {}

Array Array::in_order(NodeRef value, AxisOrder order) {
  Array array(std::move(value));
  array.cell_->order = std::move(order);
  return array;
}

bool Array::owns() const { return steps_.empty() && !cell_->bound; }
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
  result.chunks_.clear();
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
  if (!size() || !graph::reshape_strides(shape_, layout().strides, shape)) return Array(graph::reshape(node(), std::move(shape)));
  Array result = *this;
  result.chunks_.clear();
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

void Array::assign(Engine& engine, const Array& value) {
  if (value.cell_ == cell_ && value.steps_ == steps_) return;
  const auto* buffer = cell_->value->as<graph::BufferNode>();
  if (!steps_.empty() && buffer && reads(value.node(), buffer->storage.get())) value.force(engine);
  assign(engine, value.node());
}

void Array::assign(Engine& engine, NodeRef value) {
  if (read_only_) throw Error("ValueError", "assignment destination is read-only");
  value = graph::cast(graph::broadcast_to(value, shape_), dtype());
  if (steps_.empty() && !cell_->bound && !cell_->stored) {  // the whole array: a new value, still lazy
    cell_->value = std::move(value);
    return;
  }
  if (size() == 0) return;

  // The cell's own memory, which nobody else reads.
  place_in_memory(engine);
  const NodeRef& current = cell_->value;
  if (reads(value, current->as<graph::BufferNode>()->storage.get())) value = engine.force(value);
  if (value->as<graph::BufferNode>() && reads(value, current->as<graph::BufferNode>()->storage.get())) value = copy(engine, value);
  make_unique(engine);

  const auto& buffer = *cell_->value->as<graph::BufferNode>();
  auto storage = std::dynamic_pointer_cast<HostStorage>(buffer.storage);
  const Layout to = layout();
  const auto* constant = value->as<graph::ConstantNode>();
  if (constant && size() <= kDirectWrite && !(storage->copies() && storage->bytes() > kBroughtHome)) {
    char* base = static_cast<char*>(storage->write());
    const int width = gasell::size_of(dtype());
    for_each_offset(shape_, to.strides, to.offset, [&](int64_t offset, int64_t) { constant->value.store(base + offset * width); });
    return;
  }
  engine.force_into(value, storage, to.strides, to.offset);
}

void Array::put(Engine& engine, const std::vector<int64_t>& positions, int64_t run, const Elements& values) {
  if (read_only_) throw Error("ValueError", "assignment destination is read-only");
  if (positions.empty() || run == 0) return;
  place_in_memory(engine);
  make_unique(engine);
  const Place to = place();
  const int64_t width = gasell::size_of(dtype());
  char* const base = static_cast<char*>(to.storage->write());
  const auto offset_of = [&](int64_t position) {
    int64_t offset = to.offset;
    for (size_t k = shape_.size(); k-- > 0;) {
      offset += position % shape_[k] * to.strides[k];
      position /= shape_[k];
    }
    return offset;
  };
  const auto move = [&](auto bytes, int64_t count, const auto& offset) {
    for (size_t i = 0; i < positions.size(); ++i)
      for (int64_t k = 0; k < count; ++k)
        std::memcpy(base + offset(positions[i] + k) * width, values.data + (static_cast<int64_t>(i) * count + k) * width,
                    static_cast<size_t>(bytes));
  };
  if (to.strides != graph::contiguous_strides(shape_)) return move(width, run, offset_of);
  const auto in_order = [&](int64_t position) { return to.offset + position; };
  if (run > 1) {
    for (size_t i = 0; i < positions.size(); ++i)
      std::memcpy(base + in_order(positions[i]) * width, values.data + static_cast<int64_t>(i) * run * width,
                  static_cast<size_t>(run * width));
  } else if (width == 8) {
    move(std::integral_constant<int64_t, 8>(), 1, in_order);
  } else {
    move(width, 1, in_order);
  }
}

void Array::place_in_memory(Engine& engine) const {
  if (!is_in_memory(cell_->value)) cell_->set_computed(engine.force(cell_->to_compute()));
  if (cell_->lies_in_order()) return;
  auto storage = std::dynamic_pointer_cast<HostStorage>(engine.allocate(graph::bytes_of(cell_->value->shape, cell_->value->dtype)));
  std::vector<int64_t> strides = Cell::strides_in(*cell_->order, cell_->value->shape);
  engine.force_into(cell_->value, storage, strides, 0);
  cell_->value = graph::buffer(storage, cell_->value->dtype, cell_->value->shape, std::move(strides), 0);
}

NodeRef Array::copy(Engine& engine, const NodeRef& node) {
  auto storage = std::dynamic_pointer_cast<HostStorage>(engine.allocate(graph::bytes_of(node->shape, node->dtype)));
  const auto* buffer = node->as<graph::BufferNode>();
  std::vector<int64_t> strides =
      buffer && is_dense(node->shape, buffer->strides) ? buffer->strides : graph::contiguous_strides(node->shape);
  engine.force_into(node, storage, strides, 0);
  return graph::buffer(storage, node->dtype, node->shape, std::move(strides), 0);
}

void Array::make_unique(Engine& engine) const {
  const NodeRef& current = cell_->value;
  const StorageRef& storage = current->as<graph::BufferNode>()->storage;
  const auto host = std::dynamic_pointer_cast<HostStorage>(storage);
  const bool others = current.use_count() > 1 || storage.use_count() > 2;  // the node's and `host`
  if (cell_->bound) {
    if (!others) return;
    auto bound = std::static_pointer_cast<BoundStorage>(host);
    const HostStorageRef memory = bound->memory();
    auto copy = std::dynamic_pointer_cast<HostStorage>(engine.device().allocate(memory->bytes()));
    std::memcpy(copy->write(), bound->read(), static_cast<size_t>(memory->bytes()));
    const graph::Shape shape = current->shape;
    const std::vector<int64_t> strides = current->as<graph::BufferNode>()->strides;
    bound->move_to(copy);
    cell_->value = graph::buffer(std::make_shared<BoundStorage>(memory), current->dtype, shape, strides, 0);
    return;
  }
  // Memory that is not ours to write (np.load's) is copied too; views stay right, since they are steps from the cell's value, not
  // addresses.
  if (others || !host->writable()) cell_->value = copy(engine, current);
}

Array::Memory Array::memory(bool write) const {
  const auto host = std::dynamic_pointer_cast<HostStorage>(cell_->value->as<graph::BufferNode>()->storage);
  host->check();
  if (write)
    host->write();
  else
    host->read();
  return addresses();
}

Array::Memory Array::addresses() const {
  const auto& buffer = *cell_->value->as<graph::BufferNode>();
  const auto host = std::dynamic_pointer_cast<HostStorage>(buffer.storage);
  Layout at = layout();
  Memory memory;
  memory.begin = static_cast<char*>(host->host_memory());
  memory.end = memory.begin + host->bytes();
  memory.data = memory.begin + at.offset * gasell::size_of(dtype());
  memory.strides = std::move(at.strides);
  memory.keep_alive = buffer.storage;
  return memory;
}

Array::Place Array::place() const {
  const auto& buffer = *cell_->value->as<graph::BufferNode>();
  Layout at = layout();
  return {std::dynamic_pointer_cast<HostStorage>(buffer.storage), at.offset, std::move(at.strides)};
}

void Array::force(Engine& engine) const {
  if (cell_->bound) return;
  const bool whole = steps_.empty() || size() == cell_->value->size();
  if (whole) cell_->set_computed(engine.force(cell_->to_compute()));
}

Array::Elements Array::elements(Engine& engine) const {
  force(engine);
  const NodeRef result = engine.force(node());
  const auto& buffer = *result->as<graph::BufferNode>();
  const auto host = std::dynamic_pointer_cast<HostStorage>(buffer.storage);
  host->check();
  return {buffer.storage, static_cast<const char*>(host->read()) + buffer.offset * gasell::size_of(result->dtype), result->dtype,
          result->size()};
}

std::optional<Scalar> Array::element(std::span<const int64_t> at) const {
  const auto* buffer = cell_->value->as<graph::BufferNode>();
  if (!buffer || !steps_.empty()) return std::nullopt;
  const auto& host = static_cast<const HostStorage&>(*buffer->storage);
  if (host.copies()) return std::nullopt;
  host.check();
  int64_t offset = buffer->offset;
  for (size_t k = 0; k < at.size(); ++k) offset += at[k] * buffer->strides[k];
  const int64_t begin = offset * gasell::size_of(dtype());
  return Scalar::load(static_cast<const char*>(host.read(begin, begin + gasell::size_of(dtype()))) + begin, dtype());
}

bool Array::set_element(Engine& engine, std::span<const int64_t> at, const Scalar& value) {
  if (read_only_ || !steps_.empty() || !is_in_memory(cell_->value) || !cell_->lies_in_order()) return false;
  if (static_cast<const HostStorage&>(*cell_->value->as<graph::BufferNode>()->storage).copies()) return false;
  make_unique(engine);
  const auto& buffer = *cell_->value->as<graph::BufferNode>();
  int64_t offset = buffer.offset;
  for (size_t k = 0; k < at.size(); ++k) offset += at[k] * buffer.strides[k];
  value.store(static_cast<char*>(static_cast<HostStorage&>(*buffer.storage).write()) + offset * gasell::size_of(dtype()));
  return true;
}

Scalar Array::item(Engine& engine, const std::vector<int64_t>& index) const {
  if (const auto* c = cell_->value->as<graph::ConstantNode>()) return c->value;
  if (!cell_->value->as<graph::BufferNode>() && cell_->value->size() <= kForceForItem)
    cell_->set_computed(engine.force(cell_->to_compute()));
  if (const auto* buffer = cell_->value->as<graph::BufferNode>(); buffer && cell_->lies_in_order()) {
    const Layout at = layout();
    int64_t offset = at.offset;
    for (size_t k = 0; k < index.size(); ++k) offset += at.strides[k] * index[k];
    const auto host = std::dynamic_pointer_cast<HostStorage>(buffer->storage);
    host->check();
    const int64_t at_byte = offset * gasell::size_of(dtype());
    return Scalar::load(static_cast<const char*>(host->read(at_byte, at_byte + gasell::size_of(dtype()))) + at_byte, dtype());
  }
  Axes axes;
  for (int64_t i : index) axes.push_back({-1, i, 0});
  return Array(graph::view(node(), {}, std::move(axes))).elements(engine)[0];
}

void force_all(Engine& engine, const std::vector<Array>& arrays) {
  std::vector<NodeRef> nodes;
  for (const Array& a : arrays) nodes.push_back(a.cell_->to_compute());
  const std::vector<NodeRef> results = engine.force(nodes);
  for (size_t k = 0; k < arrays.size(); ++k)
    if (!arrays[k].cell_->bound) arrays[k].cell_->set_computed(results[k]);
}

void settle(Engine& engine, std::span<const Array* const> arrays, const std::vector<bool>& written) {
  std::vector<const Array*> lazy;
  for (size_t k = 0; k < arrays.size(); ++k) {
    if (written[k] && arrays[k]->read_only_) throw Error("ValueError", "assignment destination is read-only");
    if (!is_in_memory(arrays[k]->cell_->value)) lazy.push_back(arrays[k]);
  }
  if (!lazy.empty()) {
    std::vector<NodeRef> nodes;
    for (const Array* a : lazy) nodes.push_back(a->cell_->to_compute());
    const std::vector<NodeRef> results = engine.force(nodes);
    for (size_t k = 0; k < lazy.size(); ++k) lazy[k]->cell_->set_computed(results[k]);
  }
  for (size_t k = 0; k < arrays.size(); ++k) {
    arrays[k]->place_in_memory(engine);
    if (written[k] && arrays[k]->size() > 0) arrays[k]->make_unique(engine);
  }
}

}  // namespace gasell
