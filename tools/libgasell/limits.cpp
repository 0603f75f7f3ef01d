#include "tools/libgasell/limits.h"

#include <algorithm>
#include <csignal>

#include "tools/libgasell/handles.h"

namespace gasell::c_abi {
namespace {

constexpr std::chrono::milliseconds kFollowing{20};  // how often direct calls look at their sessions
constexpr Deadlines::Clock::time_point kNever = Deadlines::Clock::time_point::max();

}  // namespace

DirectCallLimits::DirectCallLimits(gasell_session& session, std::function<std::string(const Array&)> text_of)
    : session_(session), output_{[this](std::string_view text) { print(text); }, std::move(text_of)} {
  const double seconds = session.seconds;
  const auto time = std::chrono::duration_cast<Deadlines::Clock::duration>(std::chrono::duration<double>(seconds));
  session.owner.deadlines.add(*this, seconds > 0 ? Deadlines::Clock::now() + time : kNever);
}
DirectCallLimits::~DirectCallLimits() { session_.owner.deadlines.remove(*this); }

void DirectCallLimits::follow() noexcept {
  if (session_.engine.interrupted()) interrupt_ = true;
}

void DirectCallLimits::print(std::string_view text) {
  printed_ += static_cast<int64_t>(text.size());
  if (session_.most_output > 0 && printed_ > session_.most_output) {
    end(Sandbox::End::output);
    throw Sandbox::Ended{Sandbox::End::output};
  }
  session_.write(text);
}

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
  start();
  if (first) changed_.notify_one();
}

void Deadlines::add(DirectCallLimits& call, Clock::time_point when) {
  const std::lock_guard lock(mutex_);
  const bool first = direct_.empty();
  direct_.emplace(&call, when);
  start();
  if (first) changed_.notify_one();
}

void Deadlines::remove(DirectCallLimits& call) {
  const std::lock_guard lock(mutex_);
  direct_.erase(&call);
}

void Deadlines::start() {
  if (thread_.joinable()) return;
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

template <class Waiting>
Deadlines::Clock::time_point Deadlines::end_late(Waiting& waiting, Clock::time_point now) {
  Clock::time_point next = kNever;
  for (auto& [call, when] : waiting) {
    if (when <= now) {
      call->end(Sandbox::End::time);
      when = kNever;
    }
    next = std::min(next, when);
  }
  return next;
}

void Deadlines::watch() {
  std::unique_lock lock(mutex_);
  while (!closing_) {
    const Clock::time_point now = Clock::now();
    Clock::time_point next = std::min(end_late(waiting_, now), end_late(direct_, now));
    for (auto& [call, when] : direct_) call->follow();
    if (!direct_.empty()) next = std::min(next, now + kFollowing);
    if (next == kNever)
      changed_.wait(lock);
    else
      changed_.wait_until(lock, next);
  }
}

}  // namespace gasell::c_abi
