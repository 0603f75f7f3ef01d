// What ends the calls of a session that take too long.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

struct gasell_session;

namespace gasell::c_abi {

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

 private:
  void watch();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<gasell_session*, Clock::time_point> waiting_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace gasell::c_abi
