#include "lang/heap_account.h"

namespace gasell {

constinit thread_local HeapTally HeapTally::of_thread_;  // NOLINT(readability-identifier-naming): a member

void HeapTally::flush() noexcept {
  const int64_t bytes = std::exchange(pending_, 0);
  if (account_) account_->add(bytes);
}

}  // namespace gasell
