// Operators over rows of columns: each has an implementation for the host, and the library's texts have one for GPUs. Here it is chosen
// between them, and here the host takes over where GPUs fail.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "stdlib/pandas/column_object.h"

namespace gasell::pandas {

/// What the implementation for GPUs gives for an operator over those columns; nothing where the host does it: there are no GPUs, or it is
/// too little work, or one of a form that the GPUs' implementation does not know, or they failed.
std::optional<Value> run_on_gpus(Interpreter& in, std::string_view name, int64_t rows, size_t columns, std::vector<Value> arguments);

}  // namespace gasell::pandas
