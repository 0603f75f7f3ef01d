// Writes to arrays: into memory that nobody else reads, where that of others is copied first.
#include <atomic>
#include <cstring>
#include <unordered_set>

#include "lang/diagnostic.h"
#include "runtime/array/cell.h"
#include "runtime/primitives/distant_rows.h"

namespace gasell {

using graph::NodeRef;

namespace {

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
constexpr size_t kPutsBetweenChecks = 1 << 18;

/// Array::put() in C order to memory on disk that is more than is used at random: ranges of it, each in a pass over the positions.
void put_far(Engine& engine, std::span<const int64_t> positions, int64_t run, const Array::Elements& values, char* to, int64_t count) {
  const int64_t width = size_of(values.dtype), ranges = count * width / random_room(engine) + 1;
  for (int64_t range = 0; range < ranges; ++range) {
    const int64_t low = count * range / ranges, extent = count * (range + 1) / ranges - low;
    for (size_t i = 0; i < positions.size(); ++i) {
      if (i % kPutsBetweenChecks == 0) check_interrupt(engine);
      if (static_cast<uint64_t>(positions[i] - low) < static_cast<uint64_t>(extent))
        std::memcpy(to + positions[i] * width, values.data + static_cast<int64_t>(i) * run * width, static_cast<size_t>(run * width));
    }
  }
}

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

void Array::put(Engine& engine, std::span<const int64_t> positions, int64_t run, const Elements& values) {
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
    for (size_t i = 0; i < positions.size(); ++i) {
      if (i % kPutsBetweenChecks == 0) check_interrupt(engine);
      for (int64_t k = 0; k < count; ++k)
        std::memcpy(base + offset(positions[i] + k) * width, values.data + (static_cast<int64_t>(i) * count + k) * width,
                    static_cast<size_t>(bytes));
    }
  };
  if (to.strides != graph::contiguous_strides(shape_)) return move(width, run, offset_of);
  const auto in_order = [&](int64_t position) { return to.offset + position; };
  char* const first = base + to.offset * width;
  if (is_distant(engine, *to.storage, first, size() * width)) return put_far(engine, positions, run, values, first, size());
  if (run > 1) {
    const size_t together = kPutsBetweenChecks / static_cast<size_t>(std::min<int64_t>(run, kPutsBetweenChecks));
    for (size_t i = 0; i < positions.size(); ++i) {
      if (i % together == 0) check_interrupt(engine);
      std::memcpy(base + in_order(positions[i]) * width, values.data + static_cast<int64_t>(i) * run * width,
                  static_cast<size_t>(run * width));
    }
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
  // Another thread may have been the last to read: what it read comes before what is written now.
  std::atomic_thread_fence(std::memory_order_acquire);
  if (cell_->bound) {
    if (!others) return;
    auto bound = std::static_pointer_cast<BoundStorage>(host);
    const HostStorageRef memory = bound->memory();
    auto copy = std::dynamic_pointer_cast<HostStorage>(engine.device().allocate(memory->bytes()));
    std::memcpy(copy->write(), bound->read(), static_cast<size_t>(memory->bytes()));
    const graph::Shape shape = current->shape;
    const std::vector<int64_t> strides = current->as<graph::BufferNode>()->strides;
    const int64_t offset = current->as<graph::BufferNode>()->offset;
    bound->move_to(copy);
    cell_->value = graph::buffer(std::make_shared<BoundStorage>(memory), current->dtype, shape, strides, offset);
    return;
  }
  // Memory that is not ours to write (np.load's) is copied too; views stay right, since they are steps from the cell's value, not
  // addresses.
  if (others || !host->writable()) cell_->value = copy(engine, current);
}

void Array::keep_place(Engine& engine) const {
  place_in_memory(engine);
  if (cell_->bound || size() == 0) return;
  make_unique(engine);
  const graph::NodeRef current = cell_->value;
  const auto* buffer = current->as<graph::BufferNode>();
  auto memory = std::dynamic_pointer_cast<HostStorage>(buffer->storage);
  memory->write();  // what GPUs have of it comes home: they know the bound memory from now on
  cell_->value =
      graph::buffer(std::make_shared<BoundStorage>(std::move(memory)), current->dtype, current->shape, buffer->strides, buffer->offset);
  cell_->bound = cell_->kept = true;
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

}  // namespace gasell
