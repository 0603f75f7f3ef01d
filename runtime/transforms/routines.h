// Fourier transforms on the host: which library does them.
#pragma once

#include <string>

#include "runtime/transforms/lanes.h"

namespace gasell::transforms {

/// The routines for this processor. Throws Error("RuntimeError") where Gasell was built without the library.
const Routines& routines();
/// "ducc 0.42.0, AVX2"; empty where there is none. For doctor.
std::string description();

}  // namespace gasell::transforms
