#include "runtime/gpu/simulated_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "lang/diagnostic.h"

namespace gasell {

SimulatedFaults::~SimulatedFaults() {
  if (!count) return;
  const std::string said = fmt::format("simulated GPUs: {} allocations, {} launches, {} copies, {} calls of libraries\n",
                                       allocations.load(), launches.load(), copies.load(), calls.load());
  std::fputs(said.c_str(), stderr);
}

std::shared_ptr<SimulatedFaults> parse_faults(const std::string& text) {
  auto faults = std::make_shared<SimulatedFaults>();
  const auto bad = [&] {
    return Error("ValueError", fmt::format("GASELL_SIM_FAULT is '{}'", text),
                 "it takes oom@K, lost@launch:K, lost@copy:K, refused@call:K, refused, slow:DEVICE:FACTOR and count, separated by commas");
  };
  const auto number = [&](const std::string& digits) {
    char* end = nullptr;
    const double value = std::strtod(digits.c_str(), &end);
    if (digits.empty() || *end || !(value >= 0) || value > 1e15) throw bad();
    return value;
  };
  for (size_t at = 0; at < text.size();) {
    const std::string fault = text.substr(at, text.find(',', at) - at);
    at += fault.size() + 1;
    const auto after = [&](const char* prefix) { return fault.substr(std::strlen(prefix)); };
    if (fault == "count") {
      faults->count = true;
    } else if (fault.starts_with("oom@")) {
      faults->out_of_memory_at = static_cast<int64_t>(number(after("oom@")));
    } else if (fault.starts_with("lost@launch:")) {
      faults->lost_at_launch = static_cast<int64_t>(number(after("lost@launch:")));
    } else if (fault.starts_with("lost@copy:")) {
      faults->lost_at_copy = static_cast<int64_t>(number(after("lost@copy:")));
    } else if (fault.starts_with("refused@call:")) {
      faults->refused_at_call = static_cast<int64_t>(number(after("refused@call:")));
    } else if (fault == "refused") {
      faults->refuses = true;
    } else if (fault.starts_with("slow:") && fault.find(':', 5) != std::string::npos) {
      const size_t colon = fault.find(':', 5);
      faults->slow_device = static_cast<int>(number(fault.substr(5, colon - 5)));
      faults->slow_factor = std::max(1.0, number(fault.substr(colon + 1)));
    } else {
      throw bad();
    }
  }
  return faults;
}

}  // namespace gasell
