// `gasell doctor`: what this build is made of and what it found on the machine.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/gasell/options.h"

namespace gasell::cli {

/// What computes: the processor and the GPUs, a line each with a heading.
std::vector<std::pair<std::string, std::string>> describe_devices(Engine& engine);

int run_doctor(const Options& options);

}  // namespace gasell::cli
