// The order in which running aggregates that round (sums of floats) take their elements. It is part of the result, and one that a loop,
// cores and threads of GPUs can share: blocks of kScanBlock elements run one after the other; what blocks come to runs likewise,
// kScanBlocks of them; and so do these runs. An element is the running value of its block behind that of the blocks before. So the first
// kScanBlock elements have the bits of a plain loop, and those far behind fewer roundings.
#pragma once

#include <cstdint>

namespace gasell {

inline constexpr int64_t kScanBlock = 1024, kScanBlocks = 1024;

}  // namespace gasell
