// Arrays inside values, for what stands outside the language: reading results back, binding memory, forcing for a timer.
#pragma once

#include "runtime/array/array.h"
#include "runtime/session/value.h"

namespace gasell {

/// The array that a value is, or null.
const Array* array_of(const Value& value);
Value value_of(Array array);

}  // namespace gasell
