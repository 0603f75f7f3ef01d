#include "tools/gasell/crash.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "runtime/session/interpreter.h"
#include "tools/version.h"

namespace gasell::cli {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCatches = false;
#else
constexpr bool kCatches = true;
#endif
constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
constexpr int kStatus = 134;  // what a shell shows for a program that abort() ended

std::atomic<const Interpreter*> running{nullptr};

const char* name_of(int signal) {
  switch (signal) {
    case SIGSEGV: return "segmentation fault";
    case SIGBUS: return "bus error";
    case SIGILL: return "illegal instruction";
    case SIGFPE: return "arithmetic exception";
    default: return "abort";
  }
}

/// A text in parts: what a handler may do without memory of its own.
struct Text {
  char parts[1024];
  size_t length = 0;
  void add(const char* part) {
    const size_t n = std::min(std::strlen(part), sizeof parts - length);
    std::memcpy(parts + length, part, n);
    length += n;
  }
  void add(int number) {
    char digits[16];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    for (; number > 0; number /= 10) digits[--at] = static_cast<char>('0' + number % 10);
    add(digits + at);
  }
};

void on_crash(int signal) {
  ::signal(signal, SIG_DFL);  // a second one within ends the process at once
  if (ftrylockfile(stdout) == 0) fflush_unlocked(stdout);
  Text text;
  text.add("gasell: internal error: ");
  text.add(name_of(signal));
  if (const Interpreter* in = running.load()) {
    if (const Interpreter::Place place = in->place(); place.source) {
      text.add(" in ");
      text.add(place.source);
      text.add(", line ");
      text.add(place.line);
    }
  }
  text.add(" (Gasell ");
  text.add(kVersion);
  text.add("); please report it with the script\n");
  static_cast<void>(!write(STDERR_FILENO, text.parts, text.length));
  _exit(kStatus);
}

void handle(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK;  // where the stack overflowed, there is no other (run_on_large_stack gives its thread one)
  sigemptyset(&action.sa_mask);
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}

}  // namespace

CrashHandler::CrashHandler(const Interpreter& interpreter) {
  if (!kCatches) return;
  running.store(&interpreter);
  handle(on_crash);
}

CrashHandler::~CrashHandler() {
  if (!kCatches) return;
  handle(SIG_DFL);
  running.store(nullptr);
}

}  // namespace gasell::cli
