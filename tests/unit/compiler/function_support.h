// Kernels of compiled functions for tests: their text compiled and run on given arrays and scalars.
#pragma once

#include <array>
#include <bit>
#include <string>
#include <vector>

#include "codegen_support.h"
#include "compiler/codegen/jit.h"
#include "compiler/ir/text.h"

namespace gasell::test {

struct Outcome {
  std::array<int64_t, 4> error{};  // the slot: site and values
  bool operator==(const Outcome&) const = default;
};
inline std::ostream& operator<<(std::ostream& stream, const Outcome& o) {
  return stream << "site " << o.error[0] << " (" << o.error[1] << ", " << o.error[2] << ", " << o.error[3] << ")";
}

/// A kernel whose last parameters are `any error: i64`, `any context: u8` and `any interrupt: u8`, ready to run.
class Function {
 public:
  Function(Jit& jit, const std::string& head, const std::string& body, const std::string& flags = "")
      : kernel(ir::parse("kernel f(" + head + (head.empty() ? "" : ", ") + "any error: i64, any context: u8, any interrupt: u8) function " +
                         flags + " { " + body + " }")),
        function_(jit.compile(kernel).function) {}

  Outcome operator()(std::vector<void*> arrays, const std::vector<int64_t>& scalars = {}) {
    Outcome outcome;
    arrays.insert(arrays.end(), {outcome.error.data(), &context, &interrupt});
    function_(arrays.data(), scalars.data(), 0, 1);
    return outcome;
  }

  ir::Kernel kernel;
  uint8_t context = 0, interrupt = 0;

 private:
  HostKernelFunction function_;
};

inline int64_t slot(double v) { return std::bit_cast<int64_t>(v); }

}  // namespace gasell::test
