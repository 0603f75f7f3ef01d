// How far a computation is: percent, rate, time left. Shows itself only on a terminal and only after a second.
#pragma once

#include <cstdint>
#include <memory>

namespace gasell {

/// One forced graph. Thread-safe; cheap to advance. The line is drawn on stderr, rewritten in place, and erased when the object dies.
class Progress {
 public:
  /// `enabled` false: counts but never draws. `unit` is "B" (bytes) or "elements".
  Progress(bool enabled, double total, const char* unit);
  ~Progress();
  void advance(double amount);
  double fraction() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gasell
