#include "tools/gasell/explain.h"

#include <fmt/format.h>

#include <cmath>

namespace gasell::cli {

namespace {

/// `value` with a prefix that leaves three significant digits: 1536 → "1.5 K" for base 1024.
std::string scaled(double value, double base, std::string_view suffix) {
  static constexpr std::string_view kPrefixes = " KMGTPE";
  size_t i = 0;
  while (std::abs(value) >= base && i + 1 < kPrefixes.size()) value /= base, ++i;
  if (i == 0) return fmt::format("{:.0f}{}{}", value, suffix.empty() ? "" : " ", suffix);
  return fmt::format("{:.{}f} {}{}", value, value < 10 ? 2 : value < 100 ? 1 : 0, kPrefixes[i], suffix);
}

}  // namespace

std::string human_bytes(double bytes) { return scaled(bytes, 1024, bytes < 1024 ? "B" : "iB"); }
std::string human_count(double count) { return scaled(count, 1000, ""); }

std::string human_seconds(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.3g} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.3g} µs", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

std::string explain_plan(const std::vector<KernelReport>& kernels) {
  if (kernels.empty()) return "no kernel: the value is in memory already\n";
  std::string out = fmt::format("{} kernel{}\n", kernels.size(), kernels.size() == 1 ? "" : "s");
  for (const KernelReport& k : kernels) {
    out += fmt::format("  {}\n    stored      {}\n    elements    {}\n    reads       {}\n    writes      {}\n    operations  {}\n", k.name,
                       k.stored_because, human_count(k.elements), human_bytes(k.bytes_read), human_bytes(k.bytes_written),
                       human_count(k.operations));
    if (k.combining_passes > 0)
      out += fmt::format("    then        {} small pass{} that combine{} partial results\n", k.combining_passes,
                         k.combining_passes == 1 ? "" : "es", k.combining_passes == 1 ? "s" : "");
    if (k.seconds <= 0) continue;
    out += fmt::format("    took        {}{}\n", human_seconds(k.seconds),
                       k.compile_seconds > 0 ? fmt::format(", and {} to compile", human_seconds(k.compile_seconds)) : "");
    const double bytes = k.bytes_read + k.bytes_written;
    out += fmt::format("    rate        {}{}/s\n", bytes > k.elements ? human_bytes(bytes / k.seconds) + "/s, " : "",
                       human_count(k.elements / k.seconds) + " elements");
  }
  return out;
}

std::string explain_operator(const OperatorReport& report) {
  std::string out = fmt::format("{}{}{}: ", report.name, report.detail.empty() ? "" : " ", report.detail);
  out += report.rows_in == report.rows_out ? fmt::format("{} rows", human_count(static_cast<double>(report.rows_in)))
                                           : fmt::format("{} rows → {}", human_count(static_cast<double>(report.rows_in)),
                                                         human_count(static_cast<double>(report.rows_out)));
  out += fmt::format(", {}, on the {}", human_seconds(report.seconds), report.where);
  if (report.on_disk > 0) out += fmt::format(", with {} of memory on disk", human_bytes(static_cast<double>(report.on_disk)));
  return out + '\n';
}

void Explanation::watch(Engine& engine) {
  engine.observe_plans([this](Engine::PlanStage stage, const std::vector<graph::NodeRef>&, const std::vector<KernelReport>& kernels) {
    if (stage == Engine::PlanStage::ran) steps_.emplace_back(kernels);
  });
  operators_.emplace([this](const OperatorReport& report) { steps_.emplace_back(report); });
}

std::string Explanation::text() const {
  if (steps_.empty()) return "plans: none, the script forced no array\n";
  std::string out;
  int plans = 0;
  for (const auto& step : steps_) {
    if (const auto* kernels = std::get_if<std::vector<KernelReport>>(&step))
      out += fmt::format("plan {}: {}", ++plans, explain_plan(*kernels));
    else
      out += explain_operator(std::get<OperatorReport>(step));
  }
  return out;
}

}  // namespace gasell::cli
