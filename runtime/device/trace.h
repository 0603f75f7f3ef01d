// What ran when and where: for --trace, --profile and the dashboard.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/device/device.h"

namespace gasell {

/// One kernel, copy or operator of frames. Times are seconds of std::chrono::steady_clock.
struct TraceEvent {
  enum class Kind : uint8_t { kernel, copy_in, copy_out, copy, frame } kind;
  std::string name;    // of the kernel or the operator
  std::string device;  // "cpu", "gpu:0"
  double begin = 0, end = 0;
  double bytes = 0;
};

/// What one kernel, or one kind of copy, did in all.
struct TraceTotal {
  TraceEvent::Kind kind;
  std::string name, device;
  int64_t count = 0;
  double seconds = 0, bytes = 0;
};

/// What a device's memory holds, in bytes.
struct TraceMemory {
  std::string device;
  int64_t used = 0, peak = 0, limit = 0;
};

/// Collects events, from start() on. Thread-safe.
class Trace {
 public:
  /// `keep_all`: for write() and summary(); otherwise the latest events and the totals alone, which take no more memory the longer it runs.
  void start(bool keep_all);
  /// Forgets what was collected so far; keeps all from now on.
  void restart();
  /// Collects nothing further.
  void stop();
  bool is_on() const noexcept { return is_on_.load(std::memory_order_relaxed); }

  void add(TraceEvent event);
  /// The bytes a second that a device's memory can do at best, for the summary.
  void set_bandwidth(const std::string& device, double bytes_per_second);
  void set_memory(const std::string& device, int64_t used, int64_t limit);
  /// Where a plan that runs says what part of it is done; below 0: none runs. Null where nobody looks.
  std::atomic<double>* progress() noexcept { return is_on() ? &progress_ : nullptr; }

  /// For who looks on while it runs.
  struct Live {
    std::vector<TraceEvent> events;  // from number `since` on, as far as they are kept
    int64_t next = 0;                // the number of the next one
    std::vector<TraceTotal> totals;
    std::vector<TraceMemory> memory;
    std::vector<std::pair<std::string, double>> bandwidths;
    double progress = -1;
  };
  Live live(int64_t since) const;

  /// Chrome's trace format, which Perfetto and chrome://tracing show: a track for each device's kernels, copies in and copies out. Throws
  /// Error: OSError.
  void write(const std::filesystem::path& path) const;
  std::string chrome_text() const;
  /// A table of kernels (count, time, bytes, rate, part of the device's peak) and one of devices (busy time, copies).
  std::string summary() const;

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> is_on_{false};
  std::atomic<double> progress_{-1};
  bool keeps_all_ = false;
  std::deque<TraceEvent> events_;
  int64_t first_ = 0;  // the number of events_.front()
  std::map<std::tuple<std::string, TraceEvent::Kind, std::string>, TraceTotal> totals_;
  std::map<std::string, TraceMemory> memory_;
  std::vector<std::pair<std::string, double>> bandwidths_;
};

/// The device, with its launches traced.
std::unique_ptr<Device> traced(std::unique_ptr<Device> device, std::shared_ptr<Trace> trace);

}  // namespace gasell
