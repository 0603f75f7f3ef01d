// Parts of a variance, for who brings the variances of parts of an array together: reduce(ReduceOp::var, x, axes, ddof_of(part)).
//
//   count elements, mean = shift + offset in two numbers, spread = Σ (x - mean)²        var = spread / (count - ddof)
#pragma once

#include <cstdint>
#include <optional>

namespace gasell::graph {

enum class VariancePart : uint8_t { shift, offset, spread };

/// No count of degrees of freedom that a script can mean: what is not the spread has no divisor.
inline constexpr int64_t ddof_of(VariancePart part) { return INT64_MIN + static_cast<int64_t>(part); }
inline constexpr std::optional<VariancePart> variance_part(int64_t ddof) {
  if (ddof > ddof_of(VariancePart::spread)) return std::nullopt;
  return static_cast<VariancePart>(ddof - INT64_MIN);
}

}  // namespace gasell::graph
