// `gasell doctor`: what this build is made of and what it found on the machine.
#pragma once

#include "tools/gasell/options.h"

namespace gasell::cli {

int run_doctor(const Options& options);

}  // namespace gasell::cli
