// The parameter lists of cp.ElementwiseKernel and cp.ReductionKernel: "T x, raw T y, int32 n".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/dtype.h"

namespace gasell::c_kernels {

struct Parameter {
  std::string type;            // as it is written
  std::optional<DType> dtype;  // none: `type` is a placeholder, one letter
  std::string name;
  bool raw = false;
  bool is_const = false;
};

/// `is_const`: of inputs; `_non_const` in front takes it away. Throws Error with CuPy's exceptions.
std::vector<Parameter> parse_parameters(std::string_view text, bool is_const);

/// What the placeholders stand for, from the dtypes of the arguments that are arrays (others: none), outputs first.
/// Throws Error: TypeError where two arguments differ; KeyError for a placeholder that no array tells.
std::vector<DType> decide_types(const std::vector<Parameter>& parameters, size_t inputs,
                                const std::vector<std::optional<DType>>& arguments);

}  // namespace gasell::c_kernels
