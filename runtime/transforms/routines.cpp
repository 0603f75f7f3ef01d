#include "runtime/transforms/routines.h"

#include "lang/diagnostic.h"

namespace gasell::transforms {

#ifdef GASELL_DUCC_VERSION
namespace {

bool has_v3() {
  static const bool has = __builtin_cpu_supports("x86-64-v3");
  return has;
}

}  // namespace

const Routines& routines() { return has_v3() ? gasell_transforms_v3 : gasell_transforms_baseline; }

std::string description() { return std::string("ducc " GASELL_DUCC_VERSION) + (has_v3() ? ", AVX2" : ", SSE2"); }
#else
const Routines& routines() {
  throw Error("RuntimeError", "Fourier transforms want the library ducc, which this Gasell was built without",
              "scripts/setup.sh fetches it, where there is a network; then build again", Blame::environment);
}

std::string description() { return ""; }
#endif

}  // namespace gasell::transforms
