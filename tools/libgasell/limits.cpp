#include "tools/libgasell/limits.h"

#include <algorithm>
#include <csignal>

#include "tools/libgasell/handles.h"

namespace gasell::c_abi {

Deadlines::~Deadlines() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Deadlines::add(gasell_session& session, Clock::time_point when) {
  const std::lock_guard lock(mutex_);
  const bool first = std::all_of(waiting_.begin(), waiting_.end(), [&](const auto& other) { return when < other.second; });
  waiting_.insert_or_assign(&session, when);
  if (thread_.joinable()) {
    if (first) changed_.notify_one();
    return;
  }
  // Signals are other threads' business.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { watch(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Deadlines::remove(gasell_session& session) {
  const std::lock_guard lock(mutex_);
  waiting_.erase(&session);
}

void Deadlines::watch() {
  std::unique_lock lock(mutex_);
  while (!closing_) {
    const Clock::time_point now = Clock::now();
    Clock::time_point next = Clock::time_point::max();
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      if (at->second <= now) {
        at->first->end(Sandbox::End::time);
        at = waiting_.erase(at);
      } else {
        next = std::min(next, (at++)->second);
      }
    }
    if (next == Clock::time_point::max())
      changed_.wait(lock);
    else
      changed_.wait_until(lock, next);
  }
}

}  // namespace gasell::c_abi
