// Faults that simulated GPUs have on demand.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace gasell {

/// Faults of all simulated GPUs of a process together; each event is counted from 1 over all of them. 0: never.
struct SimulatedFaults {
  int64_t out_of_memory_at = 0;                  // this allocation finds no memory
  int64_t lost_at_launch = 0, lost_at_copy = 0;  // the GPU is lost with this launch, or with this copy (to it, from it or within it)
  int64_t refused_at_call = 0;                   // the library does not take this call, …
  bool refuses = false;                          // … or none: as one that opens, but whose function that makes a handle fails
  int slow_device = -1;                          // the GPU with this ordinal takes `slow_factor` times as long
  double slow_factor = 1;
  bool count = false;  // say on stderr at the end how many there were
  std::atomic<int64_t> allocations{0}, launches{0}, copies{0}, calls{0};
  ~SimulatedFaults();
};

/// "oom@3", "lost@launch:2", "lost@copy:5", "refused@call:4", "refused", "slow:0:4.5", "count"; several separated by commas; empty: none.
/// Throws Error("ValueError", …).
std::shared_ptr<SimulatedFaults> parse_faults(const std::string& text);

}  // namespace gasell
