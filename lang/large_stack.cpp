#include "lang/large_stack.h"

#include <pthread.h>
#include <signal.h>

#include <exception>
#include <vector>

#include "lang/diagnostic.h"

namespace gasell {
namespace {

constexpr size_t kHandlerStackBytes = 64 << 10;

thread_local bool inside = false;

struct Job {
  const std::function<void()>& work;
  std::exception_ptr failure;
};

void* run(void* argument) {
  auto& job = *static_cast<Job*>(argument);
  inside = true;
  // A handler of signals needs a stack where this one has overflowed.
  std::vector<char> other(kHandlerStackBytes);
  stack_t handlers = {};
  handlers.ss_sp = other.data();
  handlers.ss_size = other.size();
  sigaltstack(&handlers, nullptr);
  try {
    job.work();
  } catch (...) {
    job.failure = std::current_exception();
  }
  handlers.ss_flags = SS_DISABLE;
  sigaltstack(&handlers, nullptr);
  return nullptr;
}

}  // namespace

bool on_large_stack() { return inside; }

void run_on_large_stack(const std::function<void()>& work) {
  if (inside) return work();
  Job job{work, {}};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kLargeStackBytes);
  pthread_t thread;
  const int refused = pthread_create(&thread, &attributes, run, &job);
  pthread_attr_destroy(&attributes);
  if (refused) throw Error("MemoryError", "no room for the stack that deep recursion needs", {}, Blame::environment);
  pthread_join(thread, nullptr);
  if (job.failure) std::rethrow_exception(job.failure);
}

}  // namespace gasell
