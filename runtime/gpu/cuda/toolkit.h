// Where NVIDIA's libraries may be: nothing of CUDA is needed, and what there is of it is used wherever it was installed.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace gasell::cuda {

/// Folders in which a toolkit may be: CUDA_PATH, CUDA_HOME, /usr/local/cuda.
std::vector<std::string> toolkits();

/// What to try to open for a library, in this order: its names as they stand, for the loader, then those of its files that are in a
/// toolkit's lib64, and in the wheels (nvidia-cublas-cu12 and the like) of the Python that VIRTUAL_ENV, CONDA_PREFIX, the user's folder
/// ~/.local or /usr/local has. `names`: "libcublas.so.13", "libcublas.so.12", the best first.
std::vector<std::string> library_candidates(std::span<const char* const> names);

}  // namespace gasell::cuda
