// Memory and rows of the relational operators: scratch that counts towards the budget, and loops over rows on all cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "lang/diagnostic.h"
#include "runtime/device/device.h"
#include "runtime/device/workers.h"
#include "runtime/engine.h"
#include "runtime/primitives/operator_report.h"

namespace gasell {

/// `count` elements of plain memory, not initialised; on disk where the budget is used up.
template <class T>
class Scratch {
 public:
  Scratch() = default;
  Scratch(Engine& engine, int64_t count)
      : storage_(std::static_pointer_cast<HostStorage>(engine.device().allocate(graph::bytes_of({count, sizeof(T)}, DType::u8)))),
        data_(static_cast<T*>(storage_->write())),
        count_(count) {
    if (storage_->is_mapped()) note_on_disk(storage_->bytes());
  }
  T* data() const { return data_; }
  T* begin() const { return data_; }
  T* end() const { return data_ + count_; }
  int64_t size() const { return count_; }
  T& operator[](int64_t i) const { return data_[i]; }
  const HostStorageRef& storage() const { return storage_; }
  explicit operator bool() const { return storage_ != nullptr; }

 private:
  HostStorageRef storage_;
  T* data_ = nullptr;
  int64_t count_ = 0;
};

/// The flag stays as it is, so that everyone who works on the same sees it; who catches Interrupted clears it.
inline void check_interrupt(Engine& engine) {
  if (engine.interrupt_flag().load(std::memory_order_relaxed)) throw Interrupted();
}

inline constexpr int64_t kRowsATask = 1 << 16;

/// f(begin, end) for ranges that together are [0, count), on all cores where there are several. The ranges depend on the count alone.
template <class F>
void over_rows(Engine& engine, int64_t count, const F& f, int64_t rows_a_task = kRowsATask) {
  if (count <= 0) return;
  if (count <= rows_a_task) return f(int64_t{0}, count);
  in_parallel((count + rows_a_task - 1) / rows_a_task, [&](int64_t task) {
    check_interrupt(engine);
    f(task * rows_a_task, std::min(count, (task + 1) * rows_a_task));
  });
}

/// The same one after the other on this thread, for work that goes on where the range before ended.
template <class F>
void in_turn(Engine& engine, int64_t count, const F& f) {
  constexpr int64_t kTogether = 1 << 20;
  for (int64_t begin = 0; begin < count; begin += kTogether) {
    check_interrupt(engine);
    f(begin, std::min(count, begin + kTogether));
  }
}

/// Copies elements to memory that does not overlap theirs, on all cores.
template <class T>
void copy_elements(Engine& engine, const T* from, int64_t count, T* to) {
  over_rows(engine, count, [&](int64_t begin, int64_t end) { std::copy(from + begin, from + end, to + begin); }, 1 << 20);
}

template <class T>
void fill(Engine& engine, const Scratch<T>& memory, T value) {
  over_rows(
      engine, memory.size(), [&](int64_t begin, int64_t end) { std::fill(memory.data() + begin, memory.data() + end, value); }, 1 << 20);
}

/// Bytes that may be used at random, at a time, of memory that is not in the budget because it is on disk: what the budget has left, and
/// at least the eighth of it that large arrays leave.
int64_t random_room(Engine& engine);

/// The threads that a piece of work is divided among where the division changes no result.
int threads_of(Engine& engine);

}  // namespace gasell
