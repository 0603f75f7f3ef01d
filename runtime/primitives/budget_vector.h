// Vectors whose memory counts towards the budget where it is much, and goes to disk where that is used up.
#pragma once

#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/engine.h"

namespace gasell {

template <class T>
class BudgetAllocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  /// Plain memory.
  BudgetAllocator() = default;
  explicit BudgetAllocator(Engine& engine) : engine_(&engine) {}
  template <class U>
  BudgetAllocator(const BudgetAllocator<U>& other) : engine_(other.engine()) {}

  T* allocate(size_t count) {
    if (!is_much(count)) return std::allocator<T>().allocate(count);
    auto storage = std::static_pointer_cast<HostStorage>(
        engine_->device().allocate(graph::bytes_of({static_cast<int64_t>(count * sizeof(T)) + kHeader}, DType::u8)));
    char* const begin = static_cast<char*>(storage->write());
    new (begin) HostStorageRef(std::move(storage));
    return reinterpret_cast<T*>(begin + kHeader);
  }
  void deallocate(T* data, size_t count) {
    if (!is_much(count)) return std::allocator<T>().deallocate(data, count);
    // The storage is what holds the reference to it, which is taken out first.
    auto* const held = std::launder(reinterpret_cast<HostStorageRef*>(reinterpret_cast<char*>(data) - kHeader));
    const HostStorageRef storage = std::move(*held);
    held->~HostStorageRef();
  }
  /// Elements that are given no value have none: who makes a vector of so many writes all of them.
  template <class U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }
  Engine* engine() const { return engine_; }
  bool operator==(const BudgetAllocator& other) const { return engine_ == other.engine_; }

 private:
  static constexpr int64_t kHeader = 64;
  static constexpr size_t kMuch = size_t{1} << 20;
  bool is_much(size_t count) const { return engine_ && count >= kMuch / sizeof(T); }

  Engine* engine_ = nullptr;
};

template <class T>
using BudgetVector = std::vector<T, BudgetAllocator<T>>;

}  // namespace gasell
