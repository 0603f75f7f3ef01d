// Hands a launch's work units to workers in ranges that take about 2 ms each.
#pragma once

#include <cstdint>
#include <mutex>

namespace gasell {

struct UnitRange {
  int64_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
  int64_t size() const { return end - begin; }
};

/// How long a worker's units took lately; each worker keeps its own.
class UnitClock {
 public:
  void record(int64_t units, double seconds);
  /// Units that fit in `seconds`, at most eight times the last range: one fast unit says little about the next thousand. 1 before the first
  /// record.
  int64_t units_in(double seconds) const;

 private:
  double seconds_per_unit_ = 0;
  int64_t last_ = 0;
};

/// The units that are left. Thread-safe.
class Handout {
 public:
  /// `largest`: the most units of a range.
  Handout(int64_t begin, int64_t end, int workers, int64_t largest);
  /// The next range for a worker with that clock; empty when nothing is left or stop() was called.
  UnitRange take(const UnitClock& clock);
  void stop();

 private:
  std::mutex mutex_;
  int64_t next_;
  const int64_t end_;
  const int64_t workers_, largest_;
};

}  // namespace gasell
