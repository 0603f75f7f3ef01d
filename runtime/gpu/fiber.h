// Threads of a simulated GPU's block: each has a stack of its own, and one host thread runs them in turns.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace gasell {

/// A number of fibers over stacks that are used again. What they run must not throw.
class Fibers {
 public:
  /// `stack`: bytes each; memory is taken where it is used. Throws MemoryError.
  Fibers(size_t count, size_t stack);
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  size_t count() const;
  /// Fiber k begins anew with `main` when it is resumed next; what it did before is forgotten.
  void prepare(size_t k, std::function<void()> main);
  /// Runs fiber k until it pauses; false when its main has returned.
  bool resume(size_t k);
  /// Of the fiber that runs now: back to who resumed it.
  void pause();
  /// Whether an address lies in the stacks.
  bool owns(const void* address) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gasell
