// Libraries that are opened at run time: libmvec, OpenBLAS, NVIDIA's driver and NVRTC.
#pragma once

#include <string>

namespace gasell {

/// dlopen() for a library that is never closed; null where it does not open, and why in `problem` (else ""). A name without a slash is
/// looked for where the loader looks (what is shipped with us, LD_LIBRARY_PATH, the system's folders), but never in the current folder: an
/// empty or relative part of LD_LIBRARY_PATH ("$LD_LIBRARY_PATH:/usr/local/cuda/lib64" where it was not set) names it for every program,
/// and a file that lies there must not run for it. A name with a slash is the user's own word and opened as it stands.
void* open_library(const std::string& name, int flags, std::string& problem);

}  // namespace gasell
