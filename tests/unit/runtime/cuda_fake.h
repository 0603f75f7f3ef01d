// The fake driver as tests use it: an environment, GPUs on it, and a look behind them afterwards.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "catch.h"
#include "gpu/fake_cuda/fake_cuda.h"
#include "lang/diagnostic.h"
#include "runtime/gpu/cuda/cuda_gpu.h"
#include "runtime/gpu/cuda/streams.h"

namespace gasell {

using cuda::kAllStreams;

using Environment = std::map<std::string, std::string>;

/// A freshly initialised fake driver that behaves as `environment` says (fake_cuda.h, without the prefix "FAKE_CUDA_").
class FakeCuda {
 public:
  explicit FakeCuda(Environment environment = {}) : environment_(std::move(environment)) {
    for (const auto& [name, value] : environment_) setenv(("FAKE_CUDA_" + name).c_str(), value.c_str(), 1);
    loaded = cuda::load_driver(GASELL_FAKE_CUDA);
    library_ = dlopen(GASELL_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library_);
  }
  ~FakeCuda() {
    for (const auto& [name, value] : environment_) unsetenv(("FAKE_CUDA_" + name).c_str());
    if (loaded.status.ready() && std::uncaught_exceptions() == 0) check_empty();
  }
  FakeCuda(const FakeCuda&) = delete;
  FakeCuda& operator=(const FakeCuda&) = delete;

  std::unique_ptr<Gpu> gpu(int ordinal = 0, CudaOptions options = {}) {
    options.driver = &loaded;
    return make_cuda_gpu(ordinal, std::move(options));
  }
  int64_t calls(const char* entry) const { return reinterpret_cast<fake_cuda::Calls>(dlsym(library_, "fake_cuda_calls"))(entry); }
  int64_t alive(const char* kind) const { return reinterpret_cast<fake_cuda::Alive>(dlsym(library_, "fake_cuda_alive"))(kind); }
  void define(const char* symbol, fake_cuda::Kernel kernel) {
    reinterpret_cast<fake_cuda::Define>(dlsym(library_, "fake_cuda_define"))(symbol, kernel);
  }
  /// Everything that was made is gone. Looked at in the end too.
  void check_empty() const {
    for (const char* kind : {"memory", "pinned", "stream", "event", "module", "link", "pool", "context"}) {
      INFO(kind);
      CHECK(alive(kind) == 0);
    }
  }

  cuda::LoadedDriver loaded;

 private:
  Environment environment_;
  void* library_ = nullptr;
};

/// The Error that `f` throws.
template <class F>
Diagnostic error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.diagnostic();
  }
  FAIL("no Error was thrown");
  return {};
}
/// The words of the GpuLost that `f` throws.
template <class F>
std::string lost_of(F f) {
  try {
    f();
  } catch (const GpuLost& lost) {
    return lost.what();
  }
  FAIL("no GpuLost was thrown");
  return {};
}

/// Bytes that differ from their neighbours and from those of another seed.
inline std::vector<uint8_t> pattern(int64_t bytes, uint8_t seed = 1) {
  std::vector<uint8_t> all(static_cast<size_t>(bytes));
  uint32_t state = seed * 2654435761u + 1;
  for (uint8_t& b : all) b = static_cast<uint8_t>((state = state * 1664525u + 1013904223u) >> 24);
  return all;
}

}  // namespace gasell
