// A stack with room for deep recursion.
#pragma once

#include <functional>

namespace gasell {

/// Bytes of the stack that run_on_large_stack gives; its pages are committed only when touched.
inline constexpr size_t kLargeStackBytes = size_t{512} << 20;

/// Runs `work` on a stack of kLargeStackBytes and returns when it is done; what it throws is thrown again here. The parser, the printer,
/// the scope pass and the session recurse as deep as the tree (kMaxTreeDepth), which the stack of the calling thread may not hold.
/// `work` runs on the calling thread, which keeps the stack for later calls; a call from inside such a stack runs `work` directly.
/// Throws Error MemoryError when the system has no room for the stack.
void run_on_large_stack(const std::function<void()>& work);

/// True inside run_on_large_stack.
bool on_large_stack();
/// Inside run_on_large_stack the lowest address of its stack; outside null.
const char* large_stack_bottom();

}  // namespace gasell
