// What the views of an array share: its value, and how and where its memory lies. For the files of this folder.
#pragma once

#include <algorithm>

#include "runtime/array/array.h"
#include "runtime/device/device.h"

namespace gasell {

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
inline bool is_in_memory(const graph::NodeRef& node) {
  const auto* b = node->as<graph::BufferNode>();
  const auto* storage = b ? static_cast<const HostStorage*>(b->storage.get()) : nullptr;
  return storage && !storage->is_waiting() && !storage->made();
}

struct Array::Cell {
  graph::NodeRef value;
  bool bound = false;   // value is a BufferNode over a BoundStorage, for ever
  bool kept = false;    // bound, to memory that was the array's own before (Array::keep_place)
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
  graph::NodeRef to_compute() const { return order ? graph::transpose(value, *order) : value; }
  void set_computed(const graph::NodeRef& computed) { value = order ? graph::transpose(computed, inverse(*order)) : computed; }

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

}  // namespace gasell
