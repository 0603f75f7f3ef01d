// Python's buffers and Gasell's arrays.
#pragma once

#include <gasell/gasell.h>

#include <array>

#include "python.h"

namespace gasell::python {

constexpr int kMostAxes = 32;

struct ArrayMemory {
  gasell_dtype dtype;
  std::array<int64_t, kMostAxes> shape, strides;  // strides in elements
  bool contiguous;                                // in C order
};

/// False where Gasell has no such array: its element type, its byte order, strides within elements, more than 32 axes.
bool describe_buffer(const Buffer& buffer, ArrayMemory& memory);

/// The struct module's letters for elements: "d", "Zd".
const char* format_of(gasell_dtype dtype);

}  // namespace gasell::python
