// What tests can ask of the fake driver beyond CUDA's own entries; found by dlsym.
//
// The environment says, each time the driver is initialised (which forgets all that was before), how it is to behave:
//   FAKE_CUDA_DEVICES=n       GPUs (1)                         FAKE_CUDA_VERSION=n      CUDA version (12040)
//   FAKE_CUDA_INIT=code       cuInit's result (0)              FAKE_CUDA_RETAIN=code    result of retaining a context (0)
//   FAKE_CUDA_MISSING=name    an entry that is not there       FAKE_CUDA_MODE=n         compute mode (0)
//   FAKE_CUDA_MEMORY=bytes    of each GPU (1 GiB)              FAKE_CUDA_PINNED=bytes   of pinned memory at most (no limit)
//   FAKE_CUDA_POOLS=0         no memory pools                  FAKE_CUDA_PEER=0         no links
//   FAKE_CUDA_OOM_AT=k        the k-th allocation fails        FAKE_CUDA_FAIL_AT=k      the k-th kernel fails for good,
//   FAKE_CUDA_FAIL=code       … with this result (719)         FAKE_CUDA_LINK=code      result of linking; a log says why
//   FAKE_CUDA_TAG=text        machine code of another tag is refused
//
// Machine code is "fake cubin <tag>", a line end and PTX, of which the fake reads the kernels' parameters (".entry name(.param …)") and
// variables (".b8 name[bytes]"). A kernel that no test defined may say in its braces "read name;", which copies a variable to where its
// first parameter points, or "write name;", which copies from there.
//
// Work given to a stream is done when somebody waits for it: an order that is missing shows as a wrong result.
#pragma once

#include <cstdint>

namespace fake_cuda {

/// A kernel: its 8-byte parameters, the blocks and threads, dynamic shared memory.
using Kernel = void (*)(const uint64_t* parameters, unsigned grid, unsigned threads, unsigned shared_bytes);
using Define = void (*)(const char* symbol, Kernel kernel);  // "fake_cuda_define"
/// How often an entry was called: "cuLinkComplete".
using Calls = int64_t (*)(const char* entry);  // "fake_cuda_calls"
/// How many of a kind are alive: "memory", "pinned", "stream", "event", "module", "context", "link", "pool"; "bytes" of GPU memory.
using Alive = int64_t (*)(const char* kind);  // "fake_cuda_alive"

}  // namespace fake_cuda
