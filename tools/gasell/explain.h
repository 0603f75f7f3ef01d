// --explain and %explain: which kernels ran (or would run), why what they store is stored, what they move and compute.
#pragma once

#include <string>
#include <vector>

#include "runtime/engine.h"

namespace gasell::cli {

/// One plan as a table with a line a kernel.
std::string explain_plan(const std::vector<KernelReport>& kernels);

/// Collects the plans of a script.
class Explanation {
 public:
  /// From now on every forced plan of `engine` is kept. The object must outlive the engine's last force.
  void watch(Engine& engine);
  std::string text() const;

 private:
  std::vector<std::vector<KernelReport>> plans_;
};

/// 1536 → "1.5 KiB", 2.5e11 → "250 G".
std::string human_bytes(double bytes);
std::string human_count(double count);
/// 0.0123 → "12.3 ms".
std::string human_seconds(double seconds);

}  // namespace gasell::cli
