#include "lang/large_stack.h"

#include <pthread.h>

#include <exception>

#include "lang/diagnostic.h"

namespace gasell {
namespace {

thread_local bool inside = false;

struct Job {
  const std::function<void()>& work;
  std::exception_ptr failure;
};

void* run(void* argument) {
  auto& job = *static_cast<Job*>(argument);
  inside = true;
  try {
    job.work();
  } catch (...) {
    job.failure = std::current_exception();
  }
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
