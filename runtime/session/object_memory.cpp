// Memory of the objects of scripts: blocks that were freed are kept by size, a list a thread, for the next object of that size. Scripts
// make and drop small objects at every step.
#include <array>
#include <cstddef>
#include <new>

#include "runtime/session/value.h"

namespace gasell {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kLargest = 0;  // what is freed shall be seen as freed
#else
constexpr size_t kLargest = 256;  // bytes; larger objects are rare
#endif
constexpr size_t kStep = 16;
constexpr unsigned kMost = 4096;  // blocks kept of one size: at most 9 MiB a thread, of all sizes

struct Block {
  Block* next;
};
struct Kept {
  Block* first = nullptr;
  unsigned count = 0;
};
thread_local constinit std::array<Kept, kLargest / kStep + 1> kept;
thread_local constinit bool closed = false;  // the thread ends

/// Gives a thread's blocks back when it ends.
struct Owner {
  bool used = false;
  ~Owner() {
    closed = true;
    for (Kept& of_size : kept) {
      while (Block* const block = of_size.first) {
        of_size.first = block->next;
        ::operator delete(block);
      }
    }
  }
};
thread_local Owner owner;

constexpr size_t place(size_t size) { return (size + kStep - 1) / kStep; }

}  // namespace

void* Object::operator new(size_t size) {
  if (size > kLargest) return ::operator new(size);
  Kept& of_size = kept[place(size)];
  Block* const block = of_size.first;
  if (!block) return ::operator new(place(size) * kStep);
  of_size.first = block->next;
  --of_size.count;
  return block;
}

void Object::operator delete(void* at, size_t size) noexcept {
  if (size > kLargest) return ::operator delete(at);
  Kept& of_size = kept[place(size)];
  if (of_size.count == kMost || closed) return ::operator delete(at);
  if (of_size.count == 0) owner.used = true;  // from now on the thread has blocks to give back
  auto* const block = static_cast<Block*>(at);
  block->next = of_size.first;
  of_size.first = block;
  ++of_size.count;
}

}  // namespace gasell
