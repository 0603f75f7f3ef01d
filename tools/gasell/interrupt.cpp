#include "tools/gasell/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "runtime/engine.h"

namespace gasell::cli {

namespace {

// A signal handler reaches nothing but globals; these are set for the life of one InterruptHandler.
std::atomic<Engine*> interrupted_engine{nullptr};
std::atomic<bool> is_interactive{false};
std::atomic<bool> pending{false};

void on_interrupt(int) {
  Engine* engine = interrupted_engine.load();
  if (!is_interactive.load() && pending.load() && engine && engine->interrupted()) _exit(130);  // asked twice, and the first was not served
  pending.store(true);
  if (engine) engine->interrupt();
}

}  // namespace

InterruptHandler::InterruptHandler(Engine& engine, bool interactive) {
  interrupted_engine.store(&engine);
  is_interactive.store(interactive);
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
}

bool InterruptHandler::take() noexcept { return pending.exchange(false); }

}  // namespace gasell::cli
