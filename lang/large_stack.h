// A stack with room for deep recursion.
#pragma once

#include <functional>

namespace gasell {

/// Bytes of the stack that run_on_large_stack gives; its pages are committed only when touched.
inline constexpr size_t kLargeStackBytes = size_t{512} << 20;

/// Runs `work` on a stack of kLargeStackBytes and returns when it is done; what it throws is thrown again here. The parser, the printer,
/// the scope pass and the session recurse as deep as the tree (kMaxTreeDepth), which the stack of the calling thread may not hold.
/// A call from inside such a stack runs `work` directly. `work` runs on another thread while the caller waits: thread-local state of the
/// caller is not visible to it.
/// Throws Error MemoryError when the system gives no such thread.
void run_on_large_stack(const std::function<void()>& work);

/// True inside run_on_large_stack.
bool on_large_stack();

}  // namespace gasell
