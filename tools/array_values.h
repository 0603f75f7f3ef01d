// Arrays inside values, for what stands outside the language: reading results back, binding memory, forcing for a timer.
#pragma once

#include <optional>
#include <string>

#include "runtime/array/array.h"
#include "runtime/session/interpreter.h"

namespace gasell {

/// The array that a value is; it shares the value's memory and what is computed of it. A NumPy scalar is an array of rank 0. nullopt:
/// neither.
std::optional<Array> array_of(const Value& value);
Value value_of(Array array);
/// Computes what is lazy in the value itself (not in the items of a container), and keeps it there.
void force(Interpreter& interpreter, const Value& value);
/// "(3, 4)": a shape as Python shows a tuple.
std::string shape_text(const graph::Shape& shape);
/// The dtype when the value is a NumPy scalar.
std::optional<DType> scalar_dtype_of(const Value& value);

}  // namespace gasell
