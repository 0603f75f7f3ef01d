// What statistics of windows are computed of.
#pragma once

#include "runtime/frame/column.h"
#include "runtime/primitives/scratch.h"

namespace gasell::frame {

/// The values as doubles; what is missing or infinite is NaN. DataError where they are no numbers.
Scratch<double> doubles(Engine& engine, const Column& column);

}  // namespace gasell::frame
