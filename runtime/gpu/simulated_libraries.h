// What stands for a GPU's libraries in a simulation: the host's.
#pragma once

#include <cstdint>
#include <functional>

#include "runtime/gpu/gpu.h"

namespace gasell {

/// Gpu::library of a simulated GPU. The variables that switch NVIDIA's libraries off do so here, too.
const char* simulated_library(GpuLibrary which);

/// Where an address's memory is, which holds `bytes` from there on.
using SimulatedPlace = std::function<char*(GpuAddress address, int64_t bytes)>;

/// What computes the work when its turn comes, over memory that was found to be there, to its last element. End the process
/// (simulation_broken) for addresses that a GPU's library would not take.
std::function<void()> simulated_product(const GpuProduct& product, const SimulatedPlace& place);
std::function<void()> simulated_transform(const GpuTransform& transform, const SimulatedPlace& place);
std::function<void()> simulated_decomposition(const GpuDecomposition& decomposition, const SimulatedPlace& place);

}  // namespace gasell
