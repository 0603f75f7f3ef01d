// What ran when and where: for --trace and --profile.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/device/device.h"

namespace gasell {

/// One kernel or copy. Times are seconds of std::chrono::steady_clock.
struct TraceEvent {
  enum class Kind : uint8_t { kernel, copy_in, copy_out, copy } kind;
  std::string name;    // of the kernel
  std::string device;  // "cpu", "gpu:0"
  double begin = 0, end = 0;
  double bytes = 0;
};

/// Collects events. Thread-safe.
class Trace {
 public:
  void add(TraceEvent event);
  /// The bytes a second that a device's memory can do at best, for the summary.
  void set_bandwidth(const std::string& device, double bytes_per_second);

  /// Chrome's trace format, which Perfetto and chrome://tracing show: a track for each device's kernels, copies in and copies out. Throws
  /// Error: OSError.
  void write(const std::filesystem::path& path) const;
  /// A table of kernels (count, time, bytes, rate, part of the device's peak) and one of devices (busy time, copies).
  std::string summary() const;

 private:
  mutable std::mutex mutex_;
  std::vector<TraceEvent> events_;
  std::vector<std::pair<std::string, double>> bandwidths_;
};

/// The device, with its launches traced.
std::unique_ptr<Device> traced(std::unique_ptr<Device> device, std::shared_ptr<Trace> trace);

}  // namespace gasell
