// What a compiler makes of a kernel for a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "compiler/ir/ir.h"

namespace gasell {

struct GpuCode {
  std::string symbol;  // of the entry
  std::string ptx;
  int threads = 0;           // a block
  int64_t shared_bytes = 0;  // dynamic shared memory a block
};

/// A kernel for one compute capability (90 for sm_90). Its parameters, 8 bytes each: the array pointers, the scalar slots, begin, end, and
/// the address of the 32-bit stop flag.
using GpuCompiler = std::function<GpuCode(const ir::Kernel& kernel, int capability)>;

}  // namespace gasell
