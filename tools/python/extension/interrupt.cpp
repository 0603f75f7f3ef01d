#include "interrupt.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <utility>

namespace gasell::python {

namespace {

std::atomic<gasell_session*> interruptible = nullptr;
std::atomic<void (*)(int)> python_handler = nullptr;

void on_interrupt(int signal) {
  if (gasell_session* const session = interruptible.load()) gasell_session_interrupt(session);
  if (void (*const handler)(int) = python_handler.load()) handler(signal);
}

bool in_main_thread() {
  static thread_local const bool is_main = ::syscall(SYS_gettid) == ::getpid();
  return is_main;
}

}  // namespace

InterruptScope::InterruptScope(gasell_session* session) {
  if (!in_main_thread()) return;
  struct sigaction ours{};
  ours.sa_handler = on_interrupt;
  sigemptyset(&ours.sa_mask);
  if (::sigaction(SIGINT, &ours, &before_) != 0) return;
  installed_ = true;
  outer_ = interruptible.exchange(session);
  outer_handler_ = python_handler.load();
  if (before_.sa_handler == SIG_DFL || before_.sa_handler == SIG_IGN || (before_.sa_flags & SA_SIGINFO)) {
    ::sigaction(SIGINT, &before_, nullptr);
  } else if (before_.sa_handler != on_interrupt) {
    python_handler = before_.sa_handler;
  }
}

InterruptScope::~InterruptScope() {
  if (!installed_) return;
  ::sigaction(SIGINT, &before_, nullptr);
  interruptible = outer_;
  python_handler = outer_handler_;
}

}  // namespace gasell::python
