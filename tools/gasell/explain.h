// --explain and %explain: which kernels ran (or would run), why what they store is stored, what they move and compute; what
// operators of frames ran, over how many rows.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/engine.h"
#include "runtime/primitives/operator_report.h"

namespace gasell::cli {

/// One plan as a table with a line a kernel.
std::string explain_plan(const std::vector<KernelReport>& kernels);

/// An operator of frames as a line.
std::string explain_operator(const OperatorReport& report);

/// Collects the plans and operators of a script. What ran while an operator did stands below it, indented.
class Explanation {
 public:
  Explanation() = default;
  Explanation(const Explanation&) = delete;
  Explanation& operator=(const Explanation&) = delete;
  /// From now on every forced plan of `engine`, and every operator of frames, is kept. The object must outlive the engine's last force.
  void watch(Engine& engine);
  std::string text() const;

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Step {
    std::variant<std::vector<KernelReport>, OperatorReport> what;
    Time ended;    // of kernels: when they were done
    int plan = 0;  // of kernels: which plan of the script they are
    std::vector<Step> within = {};
  };
  void add(OperatorReport report);
  static void print(const std::vector<Step>& steps, int depth, std::string& out);

  std::vector<Step> steps_;
  int plans_ = 0;
  std::optional<OperatorObserver> operators_;
};

/// 1536 → "1.5 KiB", 2.5e11 → "250 G".
std::string human_bytes(double bytes);
std::string human_count(double count);
/// 0.0123 → "12.3 ms".
std::string human_seconds(double seconds);

}  // namespace gasell::cli
