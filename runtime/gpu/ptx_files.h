// GASELL_SIM_PTX=FOLDER: what the kernels that simulated GPUs run are on real ones.
#pragma once

#include "runtime/device/host_device.h"

namespace gasell {

/// `compile`, which also writes the PTX of each kernel to the folder, if the variable names one: FOLDER/<symbol>.<hash of the text>.ptx,
/// for sm_75, or for sm_90 where that lacks something. Throws OSError for a file that cannot be written.
KernelCompiler with_ptx_files(KernelCompiler compile);

}  // namespace gasell
