#include "runtime/session/script_threads.h"

#include <algorithm>
#include <cstdio>
#include <system_error>
#include <utility>

#include "lang/diagnostic.h"
#include "lang/render.h"
#include "runtime/session/error_output.h"
#include "runtime/session/task_pool.h"

namespace gasell {
namespace {

using Clock = std::chrono::steady_clock;

/// How often one who waits for what others than threads do looks at it, and one who waits for ever at interrupts.
constexpr std::chrono::milliseconds kLookOutside{1}, kLook{20};

void tell(const Error& error) { write_error(render(error.diagnostic())); }

}  // namespace

ScriptThreads& ScriptThreads::of(Session& session) {
  if (!session.threads) session.threads = std::make_shared<ScriptThreads>(session);
  return *session.threads;
}

ScriptThreads::ScriptThreads(Session& session) : session_(session), main_(std::make_shared<Thread>()) {
  main_->number = 1;
  threads_.push_back(main_);
  running_ = main_.get();
}
ScriptThreads::~ScriptThreads() = default;

/// Between what the session holds of the running thread and what a thread keeps for itself.
void ScriptThreads::exchange(Thread& thread) {
  std::swap(session_.stack, thread.stack);
  std::swap(session_.depth, thread.depth);
  std::swap(session_.running, thread.frame);
  std::swap(session_.handling, thread.handling);
  std::swap(session_.raised, thread.raised);
  std::swap(session_.profile, thread.profile);
}

/// The next one has the interpreter: of those that are ready, and of those that get now what they wait for.
void ScriptThreads::next() {
  running_ = nullptr;
  if (closed_) return;
  const std::deque<Thread*> waiting = waiting_;
  for (Thread* thread : waiting)
    if (thread->attempt && *thread->attempt && (*thread->attempt)()) {
      thread->there = true;
      make_ready(*thread);
    }
  if (ready_.empty()) return;
  running_ = ready_.front();
  ready_.pop_front();
  running_->turn.notify_one();
}

void ScriptThreads::make_ready(Thread& thread) {
  if (!std::exchange(thread.waits, false)) return;
  std::erase(waiting_, &thread);
  ready_.push_back(&thread);
}

/// Until the thread has the interpreter; one that waits becomes ready at `end`.
void ScriptThreads::take_turn(Thread& thread, Lock& lock, Clock::time_point end) {
  while (closed_ || running_ != &thread) {
    if (closed_) {
      thread.turn.wait(lock);
      continue;
    }
    const auto look = !thread.waits ? kSlice : thread.outside ? kLookOutside : kLook;
    thread.turn.wait_until(lock, thread.waits ? std::min(end, Clock::now() + look) : Clock::now() + look);
    if (closed_ || running_ == &thread) continue;
    if (thread.waits && (Clock::now() >= end || (&thread == main_.get() && session_.engine.interrupted()))) make_ready(thread);
    if (!running_) next();
    if (!thread.waits && running_ != &thread) session_.switch_wanted.store(true, std::memory_order_relaxed);
  }
  session_.switch_wanted.store(false, std::memory_order_relaxed);
}

void ScriptThreads::give_up(Thread& thread, Lock& lock) {
  exchange(thread);
  lock.lock();
}

bool ScriptThreads::wait(const Attempt& attempt, double seconds, bool outside) {
  if (attempt && attempt()) return true;
  if (seconds == 0) return false;
  // Beyond a year is for ever: time points have an end.
  constexpr double kYear = 365.0 * 24 * 3600;
  const auto end = seconds < 0 || seconds > kYear
                       ? Clock::time_point::max()
                       : Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  const LeavesTurn leaves(session_);
  Thread& me = *running_;
  Lock lock(mutex_, std::defer_lock);
  give_up(me, lock);
  me.attempt = &attempt;
  me.outside = outside;
  me.waits = true;
  me.there = false;
  waiting_.push_back(&me);
  next();
  take_turn(me, lock, end);
  me.attempt = nullptr;
  const bool there = me.there;
  lock.unlock();
  exchange(me);
  if (there) return true;
  session_.poll();
  return attempt && attempt();
}

void ScriptThreads::pause() {
  const LeavesTurn leaves(session_);
  Thread& me = *running_;
  Lock lock(mutex_, std::defer_lock);
  give_up(me, lock);
  ready_.push_back(&me);
  next();
  take_turn(me, lock, Clock::time_point::max());
  lock.unlock();
  exchange(me);
}

void ScriptThreads::wake_main() {
  {
    const std::lock_guard lock(mutex_);
    make_ready(*main_);
  }
  pause();
}

int64_t ScriptThreads::start(Value target, bool daemon) {
  join_ended();
  if (threads_.size() > kMost) raise("RuntimeError", "can't start new thread");
  auto thread = std::make_shared<Thread>();
  thread->number = ++last_number_;
  thread->daemon = daemon;
  try {
    thread->thread = std::thread([self = shared_from_this(), thread, target]() mutable { self->work(*thread, std::move(target)); });
  } catch (const std::system_error&) {
    raise("RuntimeError", "can't start new thread");
  }
  target = Value();
  {
    const std::lock_guard lock(mutex_);
    threads_.push_back(thread);
    ready_.push_back(thread.get());
  }
  pause();
  return thread->number;
}

void ScriptThreads::work(Thread& me, Value target) {
  Lock lock(mutex_);
  take_turn(me, lock, Clock::time_point::max());
  lock.unlock();
  exchange(me);
  try {
    if (session_.tasks && !session_.turn) session_.turn.emplace(session_.engine);
    Evaluator::enter(session_, [&] { call(session_.in, target, {}); });
  } catch (const Interrupted&) {
    session_.engine.interrupt();    // the main thread's
  } catch (const Raised& raised) {  // by what tells of the target's exceptions
    tell(error_from_exception(session_.in, raised.value));
  } catch (const Error& error) {
    tell(error);
  } catch (const std::exception& error) {
    tell(Error("RuntimeError", error.what(), "", Blame::environment));
  }
  target = Value();
  session_.turn.reset();
  give_up(me, lock);
  me.done = true;
  next();
}

void ScriptThreads::join_ended() {
  std::vector<std::shared_ptr<Thread>> ended;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& thread : threads_)
      if (thread->done) ended.push_back(thread);
    std::erase_if(threads_, [](const auto& thread) { return thread->done; });
  }
  for (const auto& thread : ended) thread->thread.join();
}

void ScriptThreads::finish() {
  const Attempt ended = [this] {
    return std::ranges::all_of(threads_, [this](const auto& t) { return t == main_ || t->daemon || t->done; });
  };
  wait(ended, -1);
  join_ended();
}

void ScriptThreads::close() {
  join_ended();
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& thread : threads_)
    if (thread->thread.joinable()) thread->thread.detach();
}

}  // namespace gasell
