#include "runtime/device/mapping_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

namespace gasell {
namespace {

/// One guarded range; `end` is 0 in a free slot. A handler reaches nothing but such globals.
struct Slot {
  std::atomic<uintptr_t> begin{0}, end{0};
  std::atomic<bool> taken{false}, lost{false};
};
constexpr int kSlots = 4096;
Slot slots[kSlots];
std::atomic<int> used{0};  // slots from here on were never taken
struct sigaction previous = {};
uintptr_t page = 4096;

void on_bus_error(int number, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (int k = 0; k < used.load(std::memory_order_acquire); ++k) {
    Slot& slot = slots[k];
    const uintptr_t end = slot.end.load(std::memory_order_acquire);
    if (address < slot.begin.load(std::memory_order_acquire) || address >= end) continue;
    const uintptr_t first = address / page * page;
    slot.lost.store(true);
    void* const zeros =
        mmap(reinterpret_cast<void*>(first), end - first, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (zeros != MAP_FAILED) return;  // the access is tried again, and succeeds
    break;
  }
  if ((previous.sa_flags & SA_SIGINFO) && previous.sa_sigaction) return previous.sa_sigaction(number, info, context);
  if (!(previous.sa_flags & SA_SIGINFO) && previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
    return previous.sa_handler(number);
  signal(number, SIG_DFL);  // the access is tried again, and ends the process as it would have
}

void install_handler() {
  page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &previous);
}

}  // namespace

MappingGuard::MappingGuard(void* base, int64_t bytes) noexcept : slot_(-1), last_(static_cast<const char*>(base) + bytes - 1) {
  static std::once_flag installed;
  std::call_once(installed, install_handler);
  for (int k = 0; k < kSlots && slot_ < 0; ++k) {
    if (!slots[k].taken.exchange(true)) slot_ = k;
  }
  if (slot_ < 0) return;
  Slot& slot = slots[slot_];
  slot.lost = false;
  slot.begin.store(reinterpret_cast<uintptr_t>(base), std::memory_order_release);
  slot.end.store(reinterpret_cast<uintptr_t>(base) + static_cast<uintptr_t>(bytes), std::memory_order_release);
  for (int seen = used.load(); seen <= slot_ && !used.compare_exchange_weak(seen, slot_ + 1);) {
  }
}

MappingGuard::~MappingGuard() {
  if (slot_ < 0) return;
  slots[slot_].end = 0;
  slots[slot_].taken = false;
}

bool MappingGuard::lost() const noexcept {
  if (slot_ < 0) return false;
  static_cast<void>(*static_cast<const volatile char*>(last_));
  return slots[slot_].lost.load();
}

}  // namespace gasell
