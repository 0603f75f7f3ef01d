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
  for (size_t k = 0; k < report.rules.size(); ++k)
    out += (k > 0 ? ", " : report.rules.size() == 1 ? ", by the rule " : ", by the rules ") + report.rules[k];
  return out + '\n';
}

void Explanation::watch(Engine& engine) {
  engine.observe_plans([this](Engine::PlanStage stage, const std::vector<graph::NodeRef>&, const std::vector<KernelReport>& kernels) {
    if (stage == Engine::PlanStage::ran) steps_.push_back({kernels, std::chrono::steady_clock::now(), ++plans_});
  });
  operators_.emplace([this](const OperatorReport& report) { add(report); });
}

/// Operators end behind what they wait for: that is what began after they did, among the last steps.
void Explanation::add(OperatorReport report) {
  const Time started = report.started(), ended = report.ended;
  Step step{std::move(report), ended};
  const auto is_within = [started](const Step& s) {
    const auto* other = std::get_if<OperatorReport>(&s.what);
    return other ? other->started() >= started : s.ended >= started;
  };
  auto first = steps_.end();
  while (first != steps_.begin() && is_within(*std::prev(first))) --first;
  step.within.assign(std::make_move_iterator(first), std::make_move_iterator(steps_.end()));
  steps_.erase(first, steps_.end());
  steps_.push_back(std::move(step));
}

void Explanation::print(const std::vector<Step>& steps, int depth, std::string& out) {
  for (const Step& step : steps) {
    const auto* kernels = std::get_if<std::vector<KernelReport>>(&step.what);
    const std::string text =
        kernels ? fmt::format("plan {}: {}", step.plan, explain_plan(*kernels)) : explain_operator(std::get<OperatorReport>(step.what));
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin) + 1;
      out += std::string(static_cast<size_t>(2 * depth), ' ') + text.substr(begin, end - begin);
      begin = end;
    }
    print(step.within, depth + 1, out);
  }
}

std::string Explanation::text() const {
  if (steps_.empty()) return "plans: none, the script forced no array\n";
  std::string out;
  print(steps_, 0, out);
  return out;
}

}  // namespace gasell::cli
