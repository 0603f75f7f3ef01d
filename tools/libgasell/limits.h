// What ends the calls of a session that take too long, or print too much.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "runtime/device/sandbox.h"
#include "runtime/functions/output.h"

struct gasell_session;

namespace gasell::c_abi {

/// The limits of one call of a direct function, of which several may run in a session at once: what ends it ends no other.
class DirectCallLimits {
 public:
  explicit DirectCallLimits(gasell_session& session, std::function<std::string(const Array&)> text_of);
  ~DirectCallLimits();
  DirectCallLimits(const DirectCallLimits&) = delete;
  DirectCallLimits& operator=(const DirectCallLimits&) = delete;

  /// Set when the call has to end.
  const std::atomic<bool>& interrupt() const noexcept { return interrupt_; }
  const functions::FunctionOutput& output() const noexcept { return output_; }
  /// Why a limit ended it; none: another one did.
  Sandbox::End why() const noexcept { return why_; }
  /// Ends it.
  void end(Sandbox::End why) noexcept {
    why_ = why;
    interrupt_ = true;
  }
  /// Ends it where its session is interrupted.
  void follow() noexcept;

 private:
  void print(std::string_view text);

  gasell_session& session_;
  std::atomic<bool> interrupt_{false};
  std::atomic<Sandbox::End> why_{Sandbox::End::none};
  int64_t printed_ = 0;
  const functions::FunctionOutput output_;
};

/// The deadlines of an engine's sessions: a thread, made with the first of them, that ends the calls whose time has come.
class Deadlines {
 public:
  using Clock = std::chrono::steady_clock;
  Deadlines() = default;
  ~Deadlines();
  Deadlines(const Deadlines&) = delete;
  Deadlines& operator=(const Deadlines&) = delete;

  void add(gasell_session& session, Clock::time_point when);
  /// Afterwards the session is not ended any more.
  void remove(gasell_session& session);
  void add(DirectCallLimits& call, Clock::time_point when);
  void remove(DirectCallLimits& call);

 private:
  void start();
  void watch();
  /// Ends those of `waiting` whose time has come; the time of the next one.
  template <class Waiting>
  static Clock::time_point end_late(Waiting& waiting, Clock::time_point now);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<gasell_session*, Clock::time_point> waiting_;
  std::map<DirectCallLimits*, Clock::time_point> direct_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace gasell::c_abi
