#include "lang/large_stack.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <memory>

#include "lang/diagnostic.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

// Calls function(argument) with the stack pointer at `top`, which is a multiple of 16. The frame pointer leads back, for who unwinds too.
#if defined(__x86_64__)
extern "C" void gasell_call_on_stack(void* top, void (*function)(void*), void* argument);
asm(R"(
.text
.globl gasell_call_on_stack
.hidden gasell_call_on_stack
.type gasell_call_on_stack, @function
gasell_call_on_stack:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  movq %rdi, %rsp
  movq %rdx, %rdi
  call *%rsi
  movq %rbp, %rsp
  popq %rbp
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
.size gasell_call_on_stack, .-gasell_call_on_stack
)");
#elif defined(__aarch64__)
extern "C" void gasell_call_on_stack(void* top, void (*function)(void*), void* argument);
asm(R"(
.text
.globl gasell_call_on_stack
.hidden gasell_call_on_stack
.type gasell_call_on_stack, %function
gasell_call_on_stack:
  .cfi_startproc
  stp x29, x30, [sp, #-16]!
  .cfi_def_cfa_offset 16
  .cfi_offset x29, -16
  .cfi_offset x30, -8
  mov x29, sp
  .cfi_def_cfa_register x29
  mov sp, x0
  mov x0, x2
  blr x1
  mov sp, x29
  ldp x29, x30, [sp], #16
  .cfi_def_cfa sp, 0
  ret
  .cfi_endproc
.size gasell_call_on_stack, .-gasell_call_on_stack
)");
#endif

namespace gasell {
namespace {

constexpr size_t kHandlerStackBytes = 64 << 10;
constexpr size_t kKeptBytes = 1 << 20;  // what is below is given back to the system after a deep recursion

size_t page_bytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// The large stack of a thread, made when it is first wanted.
class LargeStack {
 public:
  LargeStack() {
    void* const memory =
        mmap(nullptr, kLargeStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) throw Error("MemoryError", "no room for the stack that deep recursion needs", {}, Blame::environment);
    memory_ = static_cast<char*>(memory);
    mprotect(memory_, page_bytes(), PROT_NONE);
    // A handler of signals needs a stack where this one has overflowed. The host's own, where it has one, will do.
    stack_t before = {};
    if (sigaltstack(nullptr, &before) != 0 || !(before.ss_flags & SS_DISABLE)) return;
    handler_stack_ = std::make_unique<char[]>(kHandlerStackBytes);
    stack_t own = {};
    own.ss_sp = handler_stack_.get();
    own.ss_size = kHandlerStackBytes;
    sigaltstack(&own, nullptr);
  }
  ~LargeStack() {
    stack_t now = {};
    if (handler_stack_ && sigaltstack(nullptr, &now) == 0 && now.ss_sp == handler_stack_.get()) {
      now.ss_flags = SS_DISABLE;
      sigaltstack(&now, nullptr);
    }
    munmap(memory_, kLargeStackBytes);
  }
  LargeStack(const LargeStack&) = delete;
  LargeStack& operator=(const LargeStack&) = delete;

  char* bottom() const { return memory_; }
  char* top() const { return memory_ + kLargeStackBytes; }
  /// After a deep recursion: its pages are not kept.
  void shrink() const {
    char* const kept = top() - kKeptBytes;
    unsigned char resident = 0;
    if (mincore(kept - page_bytes(), page_bytes(), &resident) == 0 && (resident & 1))
      madvise(memory_ + page_bytes(), static_cast<size_t>(kept - memory_) - page_bytes(), MADV_DONTNEED);
  }

 private:
  char* memory_ = nullptr;
  std::unique_ptr<char[]> handler_stack_;
};

thread_local bool inside = false;
/// Where this thread's large stack begins, once it has one.
thread_local const char* bottom_of_stack = nullptr;

struct Job {
  const std::function<void()>& work;
  std::exception_ptr failure = {};
#if defined(__SANITIZE_ADDRESS__)
  const void* outer_bottom = nullptr;
  size_t outer_size = 0;
#endif
};

void run(void* argument) {
  auto& job = *static_cast<Job*>(argument);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &job.outer_bottom, &job.outer_size);
#endif
  try {
    job.work();
  } catch (...) {
    job.failure = std::current_exception();
  }
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(nullptr, job.outer_bottom, job.outer_size);
#endif
}

void call_on(const LargeStack& stack, Job& job) {
#if defined(__x86_64__) || defined(__aarch64__)
  gasell_call_on_stack(stack.top(), run, &job);
#else
  static thread_local Job* current = nullptr;
  ucontext_t here, there;
  getcontext(&there);
  there.uc_stack = {.ss_sp = stack.bottom(), .ss_flags = 0, .ss_size = kLargeStackBytes};
  there.uc_link = &here;
  current = &job;
  makecontext(&there, [] { run(current); }, 0);
  swapcontext(&here, &there);
#endif
}

}  // namespace

bool on_large_stack() { return inside; }
const char* large_stack_bottom() { return inside ? bottom_of_stack : nullptr; }

void run_on_large_stack(const std::function<void()>& work) {
  if (inside) return work();
  static thread_local const LargeStack stack;
  bottom_of_stack = stack.bottom();
  Job job{work};
#if defined(__SANITIZE_ADDRESS__)
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, stack.bottom(), kLargeStackBytes);
#endif
  inside = true;
  call_on(stack, job);
  inside = false;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
  stack.shrink();
  if (job.failure) std::rethrow_exception(job.failure);
}

}  // namespace gasell
