// What ThreadSanitizer cannot see for itself: oneTBB comes uninstrumented, so that a task seems to race with the code that started it and waits
// for it. In other builds these are nothing.
#pragma once

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace gasell {

/// All that this thread did so far happened before what a thread does after its seen(address).
inline void publish([[maybe_unused]] void* address) {
#ifdef __SANITIZE_THREAD__
  __tsan_release(address);
#endif
}
inline void seen([[maybe_unused]] void* address) {
#ifdef __SANITIZE_THREAD__
  __tsan_acquire(address);
#endif
}

}  // namespace gasell
