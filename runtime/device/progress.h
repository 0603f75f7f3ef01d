// How far a computation is: percent, rate, time left. Shows itself only on a terminal and only after a second.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace gasell {

/// One forced graph. Thread-safe; cheap to advance. The line is drawn on stderr, rewritten in place, and erased when the object dies.
class Progress {
 public:
  /// `enabled` false: counts but never draws. `unit` is "B" (bytes) or "elements". `told`: gets the fraction too, and -1 at the end.
  Progress(bool enabled, double total, const char* unit, std::atomic<double>* told = nullptr);
  ~Progress();
  void advance(double amount);
  double fraction() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The line for a terminal of `width` columns: "42 % [########------------]  12.3 GB/s  0:41 left". `rate` is in units a second; parts that
/// do not fit are left out, and unknown ones (rate 0) too.
std::string progress_line(double fraction, double rate, double seconds_left, const char* unit, int width);

}  // namespace gasell
