#include "runtime/gpu/fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

#include "lang/diagnostic.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#if defined(__x86_64__)
extern "C" void gasell_switch_stack(void** from, void* to);
// Saves what a call must keep, on the stack that it leaves, and goes on where the other one was left.
asm(R"(
.text
.globl gasell_switch_stack
.type gasell_switch_stack, @function
gasell_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size gasell_switch_stack, .-gasell_switch_stack
.section .note.GNU-stack,"",@progbits
.text
)");
#endif

namespace gasell {

struct Fibers::State {
  struct Fiber {
    std::function<void()> main;
    bool begun = false, done = true;
#if defined(__x86_64__)
    void* stack_pointer = nullptr;
#else
    ucontext_t context;
#endif
#if defined(__SANITIZE_ADDRESS__)
    void* fake_stack = nullptr;
#endif
#if defined(__SANITIZE_THREAD__)
    void* tsan = nullptr;
#endif
  };

  std::vector<Fiber> fibers;
  char* stacks = nullptr;
  size_t stack = 0;
  size_t current = 0;
#if defined(__x86_64__)
  void* outside = nullptr;
#else
  ucontext_t outside;
#endif
#if defined(__SANITIZE_ADDRESS__)
  const void* outside_bottom = nullptr;
  size_t outside_size = 0;
#endif
#if defined(__SANITIZE_THREAD__)
  void* outside_tsan = nullptr;
#endif

  static thread_local State* running;

  static void enter() {
    State& s = *running;
    s.arrived_inside();
    s.fibers[s.current].main();
    s.fibers[s.current].done = true;
    s.leave(true);
    std::abort();  // a fiber that is done is not resumed
  }

  void arrived_inside() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fibers[current].fake_stack, &outside_bottom, &outside_size);
#endif
  }

  void leave([[maybe_unused]] bool forever) {
    Fiber& fiber = fibers[current];
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(forever ? nullptr : &fiber.fake_stack, outside_bottom, outside_size);
#endif
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(outside_tsan, 0);
#endif
#if defined(__x86_64__)
    gasell_switch_stack(&fiber.stack_pointer, outside);
#else
    swapcontext(&fiber.context, &outside);
#endif
    arrived_inside();
  }

  void go_in() {
    Fiber& fiber = fibers[current];
    char* const bottom = stacks + current * stack;
#if defined(__SANITIZE_ADDRESS__)
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, bottom, stack);
#endif
#if defined(__SANITIZE_THREAD__)
    outside_tsan = __tsan_get_current_fiber();
    if (!fiber.tsan) fiber.tsan = __tsan_create_fiber(0);
    __tsan_switch_to_fiber(fiber.tsan, 0);
#endif
#if defined(__x86_64__)
    if (!fiber.begun) {
      // As a call would leave it: the stack pointer is 8 beside a multiple of 16 where a function begins.
      auto** top = reinterpret_cast<void**>(bottom + stack - 64);
      top[0] = reinterpret_cast<void*>(&State::enter);
      top[1] = nullptr;
      fiber.stack_pointer = top - 6;
    }
    fiber.begun = true;
    gasell_switch_stack(&outside, fiber.stack_pointer);
#else
    if (!fiber.begun) {
      getcontext(&fiber.context);
      fiber.context.uc_stack = {.ss_sp = bottom, .ss_flags = 0, .ss_size = stack};
      fiber.context.uc_link = nullptr;
      makecontext(&fiber.context, &State::enter, 0);
    }
    fiber.begun = true;
    swapcontext(&outside, &fiber.context);
#endif
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
  }
};

thread_local Fibers::State* Fibers::State::running = nullptr;

Fibers::Fibers(size_t count, size_t stack) : state_(std::make_unique<State>()) {
  constexpr size_t kPage = 4096;
  state_->stack = (stack + kPage - 1) / kPage * kPage;
  void* const memory = mmap(nullptr, count * state_->stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw Error("MemoryError", "there is no memory for the stacks of a simulated GPU's threads", {}, Blame::environment);
  state_->stacks = static_cast<char*>(memory);
  state_->fibers.resize(count);
}

Fibers::~Fibers() {
#if defined(__SANITIZE_THREAD__)
  for (State::Fiber& fiber : state_->fibers)
    if (fiber.tsan) __tsan_destroy_fiber(fiber.tsan);
#endif
  munmap(state_->stacks, state_->fibers.size() * state_->stack);
}

size_t Fibers::count() const { return state_->fibers.size(); }

void Fibers::prepare(size_t k, std::function<void()> main) {
  State::Fiber& fiber = state_->fibers[k];
  fiber.main = std::move(main);
  fiber.begun = fiber.done = false;
}

bool Fibers::resume(size_t k) {
  State* const before = State::running;
  State::running = state_.get();
  state_->current = k;
  state_->go_in();
  State::running = before;
  return !state_->fibers[k].done;
}

void Fibers::pause() { state_->leave(false); }

bool Fibers::owns(const void* address) const {
  const auto* const at = static_cast<const char*>(address);
  return at >= state_->stacks && at < state_->stacks + state_->fibers.size() * state_->stack;
}

}  // namespace gasell
