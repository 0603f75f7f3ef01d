// Work that is gone through without running its kernels, so that all of them are compiled beside each other before the first one runs.
#pragma once

#include <utility>

namespace gasell {

/// Sets, for this thread and as long as it lives, whether launches only begin to compile their kernels.
class CompilingAhead {
 public:
  explicit CompilingAhead(bool ahead) : before_(std::exchange(is_on_, ahead)) {}
  ~CompilingAhead() { is_on_ = before_; }
  CompilingAhead(const CompilingAhead&) = delete;
  CompilingAhead& operator=(const CompilingAhead&) = delete;

  static bool is_on() { return is_on_; }

 private:
  static inline thread_local bool is_on_ = false;
  const bool before_;
};

}  // namespace gasell
