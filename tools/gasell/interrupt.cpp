#include "tools/gasell/interrupt.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "runtime/engine.h"

namespace gasell::cli {

namespace {

// A signal handler reaches nothing but globals; these are set for the life of one InterruptHandler.
std::atomic<Engine*> interrupted_engine{nullptr};
std::atomic<bool> is_interactive{false};
std::atomic<bool> pending{false};
std::atomic<int> wakeup{-1};  // an eventfd: whichever thread gets the signal, the one that waits for input wakes up

void on_interrupt(int) {
  Engine* engine = interrupted_engine.load();
  if (!is_interactive.load() && pending.load() && engine && engine->interrupted()) _exit(130);  // asked twice, and the first was not served
  pending.store(true);
  const int before = errno;
  const uint64_t one = 1;
  if (const int fd = wakeup.load(); fd >= 0) {
    [[maybe_unused]] const ssize_t written = ::write(fd, &one, sizeof one);
  }
  errno = before;
  if (engine) engine->interrupt();
}

}  // namespace

InterruptHandler::InterruptHandler(Engine& engine, bool interactive) {
  interrupted_engine.store(&engine);
  is_interactive.store(interactive);
  wakeup.store(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);  // no SA_RESTART: a waiting read returns
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
  sigaction(SIGXFSZ, &action, nullptr);
}

InterruptHandler::~InterruptHandler() {
  signal(SIGINT, SIG_DFL);
  interrupted_engine.store(nullptr);
  if (const int fd = wakeup.exchange(-1); fd >= 0) close(fd);
}

bool InterruptHandler::take() noexcept {
  uint64_t count = 0;
  if (const int fd = wakeup.load(); fd >= 0) {
    [[maybe_unused]] const ssize_t taken = ::read(fd, &count, sizeof count);
  }
  return pending.exchange(false);
}

int InterruptHandler::wakeup_descriptor() noexcept { return wakeup.load(); }

}  // namespace gasell::cli
