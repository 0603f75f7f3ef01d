// Who uses a session, and for how long.
#include <chrono>
#include <utility>

#include "tools/libgasell/handles.h"

namespace gasell::c_abi {

namespace {

constexpr int kMostNested = 100;

/// Sessions that this thread is in a call of, or lets go of something of: it may have the GPUs.
thread_local int sessions_in_use = 0;

/// This thread lets go of something: it has the GPUs, and what the program's release functions free goes with it.
thread_local bool letting_go = false;
class LettingGo {
 public:
  LettingGo() : before_(std::exchange(letting_go, true)) { ++sessions_in_use; }
  ~LettingGo() {
    --sessions_in_use;
    letting_go = before_;
  }
  LettingGo(const LettingGo&) = delete;
  LettingGo& operator=(const LettingGo&) = delete;

 private:
  const bool before_;
};

/// Makes the session this thread's.
void take(gasell_session& session) {
  for (;;) {
    const int released = session.released;
    std::thread::id nobody;
    if (session.user.compare_exchange_strong(nobody, std::this_thread::get_id())) return;
    // Who only lets go of a value is soon gone, or was gone since.
    require(session.releasing > 0 || session.released != released,
            "another thread uses this session: a session and its values belong to one thread at a time; make a session for each thread");
    std::this_thread::yield();
  }
}

/// Tells of a thread in release_in.
class Releasing {
 public:
  explicit Releasing(gasell_session& session) : session_(session) { ++session_.releasing; }
  ~Releasing() {
    ++session_.released;
    --session_.releasing;
  }
  Releasing(const Releasing&) = delete;
  Releasing& operator=(const Releasing&) = delete;

 private:
  gasell_session& session_;
};

}  // namespace

Use::Use(gasell_session* session) {
  if (!session) return;
  confined_.emplace(session->sandbox);
  if (session->user == std::this_thread::get_id()) {
    if (session->nested >= kMostNested)
      throw Error("RecursionError", "calls of scripts and of the program's functions within each other are too deep");
    turn_.emplace(session->engine);  // the outer call may be between turns
    ++session->nested;
    session_ = session;
    nested_ = true;
    outer_ = std::exchange(session->use, this);
    return;
  }
  take(*session);
  session_ = session;
  session->use = this;
  ++sessions_in_use;
  session->engine.clear_interrupt();
  session->sandbox->end(Sandbox::End::none);
  session->printed = 0;
  try {
    if (session->cancelled) throw Sandbox::Ended{Sandbox::End::asked};
    if (const double seconds = session->seconds; seconds > 0) {
      const auto time = std::chrono::duration_cast<Deadlines::Clock::duration>(std::chrono::duration<double>(seconds));
      session->owner.deadlines.add(*session, Deadlines::Clock::now() + time);
      timed_ = true;
    }
    turn_.emplace(session->engine);
  } catch (...) {
    leave();
    throw;
  }
}

Use::~Use() {
  if (nested_) {
    session_->use = outer_;
    --session_->nested;
  } else if (session_)
    leave();
}

void Use::leave() noexcept {
  if (timed_) session_->owner.deadlines.remove(*session_);
  std::vector<std::shared_ptr<void>> dying;
  {
    const std::lock_guard lock(session_->mutex);
    dying.swap(session_->freed);
  }
  dying.clear();
  turn_.reset();
  --sessions_in_use;
  session_->use = nullptr;
  session_->user = std::thread::id();
}

void free_session(gasell_session* session) noexcept {
  std::optional<Engine::Turn> turn;
  try {
    if (!letting_go) turn.emplace(session->owner.engine);
  } catch (const Interrupted&) {  // NOLINT(bugprone-empty-catch): of the wait for the GPUs; its values go all the same
  }
  const LettingGo letting_it_go;
  delete session;
}

void release_in(gasell_session& session, std::shared_ptr<void> object) noexcept {
  const std::thread::id me = std::this_thread::get_id();
  const Releasing releasing(session);
  std::thread::id user;
  if (session.user == me) {  // a call within a call
    object.reset();
  } else if (sessions_in_use == 0 && session.user.compare_exchange_strong(user, me)) {
    try {
      const InSandbox confined(session.sandbox);
      const Engine::Turn turn(session.engine);
      const LettingGo letting_it_go;
      object.reset();
    } catch (...) {  // the wait for the GPUs was interrupted
      const std::lock_guard lock(session.mutex);
      session.freed.push_back(std::move(object));
    }
    session.user = std::thread::id();
  } else {  // in a call of another session, which may have the GPUs, or where another thread is in one of this
    const std::lock_guard lock(session.mutex);
    session.freed.push_back(std::move(object));
  }
}

BetweenTurns::BetweenTurns(gasell_session& session) : session_(session) {
  for (Use* use = session_.use; use; use = use->outer_) {
    if (!use->turn_) continue;
    use->turn_.reset();
    holders_.push_back(use);
  }
}
BetweenTurns::~BetweenTurns() {
  bool interrupted = false;
  while (!holders_.empty()) {
    try {
      holders_.back()->turn_.emplace(session_.engine);
      holders_.pop_back();
    } catch (const Interrupted&) {  // told when the call goes on
      interrupted = true;
    }
  }
  if (interrupted) session_.engine.interrupt();
}

}  // namespace gasell::c_abi
