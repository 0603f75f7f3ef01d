// What stencil makes of a kernel with relative indices: a function of arrays.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stdlib/numba/outside.h"

namespace gasell::numba {

class Stencil final : public Object {
 public:
  struct Options {
    std::optional<Scalar> border;                           // cval: what stands where the kernel does not reach
    std::vector<std::pair<int64_t, int64_t>> neighborhood;  // one an axis; empty: found from the indices
    std::vector<std::string> standard_indexing;
  };
  Stencil(Interpreter& in, Value function, Options options);
  const gasell::Type& type() const override;
  std::string repr(Interpreter&) override;
  Value call(Interpreter&, Arguments) override;
  std::optional<Value> get_attribute(Interpreter&, std::string_view name) override;
  /// What compiled functions call.
  functions::Outside outside();

 private:
  /// The function of arrays in the language, for arguments of these types; null where the first is no array.
  std::shared_ptr<const functions::Function> wrapper(const std::vector<functions::Type>& types);
  /// The kernel for arguments of which some are arrays: its function of absolute indices, and how far it reaches.
  struct Kernel {
    std::shared_ptr<const functions::Function> function;
    std::vector<std::pair<int64_t, int64_t>> reach;  // one an axis of the first array
    std::unique_ptr<functions::Dispatch> loops;
  };
  Kernel& kernel(Interpreter& in, const std::vector<functions::Type>& types);

  const Value function_;
  const Options options_;
  std::unique_ptr<Compilation> compilation_;
  std::map<std::vector<int>, Kernel> kernels_;  // by the arguments' ranks; -1: no array
};

}  // namespace gasell::numba
