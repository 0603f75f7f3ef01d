// In which of its two orders a reduction takes its elements: by rows, or by columns (reduction_lowering.h).
#pragma once

#include <optional>
#include <vector>

#include "compiler/graph/node.h"

namespace gasell::plan {

/// The innermost of the axes that are more than a formality: among all, and among those that are kept; -1: there is none.
struct InnermostAxes {
  int any = -1, kept = -1;
};
InnermostAxes innermost_axes(const graph::Shape& space, const std::vector<int>& reduced);
/// Whether the outputs of a reduction over the axes `reduced` are columns side by side; nothing where that depends on how memory is walked.
std::optional<bool> reduces_by_columns(const graph::Shape& space, const std::vector<int>& reduced);
/// The same of an array's elements, as memory behind them lies: nothing where only a plan shows how that is walked.
std::optional<bool> reduces_by_columns(const graph::Node& x, const std::vector<int>& reduced);

}  // namespace gasell::plan
