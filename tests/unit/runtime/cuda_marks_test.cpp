// Times by the GPU's clock.
#include <chrono>
#include <regex>
#include <thread>

#include "runtime/device/trace.h"
#include "runtime/gpu/traced_gpu.h"
#include "unit/runtime/cuda_fake.h"

using namespace gasell;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

TEST_CASE("a mark's time is when the stream came there, not when it was set", "[cuda]") {
  FakeCuda fake;
  {
    const auto gpu = fake.gpu();
    const GpuAddress x = gpu->allocate(1 << 20);
    const double start = now();
    const int64_t first = gpu->mark(GpuStream::compute);
    gpu->fill_zero(x, 1 << 20, GpuStream::compute);
    const int64_t second = gpu->mark(GpuStream::compute);
    const int64_t other = gpu->mark(GpuStream::copy_in);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // the fake runs nothing until somebody asks
    gpu->synchronize(GpuStream::compute);
    gpu->synchronize(GpuStream::copy_in);
    const double a = gpu->time_of(first), b = gpu->time_of(second), end = now();
    CHECK(a > start + 0.029);
    CHECK(a <= b);
    CHECK(b < end + 1e-3);
    CHECK(gpu->time_of(other) < end + 1e-3);
    // Events are used again.
    const int64_t made = fake.alive("event");
    for (int k = 0; k < 50; ++k) {
      const int64_t mark = gpu->mark(GpuStream::copy_out);
      gpu->synchronize(GpuStream::copy_out);
      gpu->time_of(mark);
    }
    CHECK(fake.alive("event") == made);
    gpu->free(x);
  }
  fake.check_empty();
}

TEST_CASE("marks do not make a stream wait", "[cuda]") {
  FakeCuda fake;
  const auto gpu = fake.gpu();
  gpu->mark(GpuStream::compute);
  const int64_t before = fake.calls("cuStreamSynchronize"), events = fake.calls("cuEventSynchronize");
  for (int k = 0; k < 10; ++k) gpu->mark(GpuStream::compute);
  CHECK(fake.calls("cuStreamSynchronize") == before);
  CHECK(fake.calls("cuEventSynchronize") == events);
}

TEST_CASE("copies are traced with their times on the GPU", "[cuda]") {
  FakeCuda fake;
  const auto trace = std::make_shared<Trace>();
  trace->start(true);
  const auto gpu = traced(fake.gpu(), trace);
  const auto data = pattern(3 << 20);
  std::vector<uint8_t> back(data.size());
  const GpuAddress x = gpu->allocate(3 << 20);
  for (int k = 0; k < 3; ++k) {
    gpu->copy_in(x, data.data(), 3 << 20, GpuStream::copy_in);
    gpu->wait(GpuStream::copy_out, GpuStream::copy_in);
    gpu->copy_out(back.data(), x, 3 << 20, GpuStream::copy_out);
    gpu->synchronize(GpuStream::copy_out);
  }
  gpu->synchronize(GpuStream::copy_in);
  CHECK(back == data);
  const std::regex both(R"(gpu:0 +copies in +3 .*\n.*gpu:0 +copies out +3 )");
  INFO(trace->summary());
  CHECK(std::regex_search(trace->summary(), both));
  gpu->free(x);
}

TEST_CASE("a limit is all that the GPU has", "[cuda]") {
  FakeCuda fake;
  CudaOptions options;
  options.memory = 64 << 20;
  const auto gpu = fake.gpu(0, options);
  CHECK(gpu->properties().memory == 64 << 20);
  CHECK(gpu->free_memory() == 64 << 20);
  const GpuAddress x = gpu->allocate(40 << 20);
  CHECK(gpu->free_memory() == 24 << 20);
  const Diagnostic error = error_of([&] { gpu->allocate(30 << 20); });
  CHECK(error.kind == "MemoryError");
  CHECK(error.hint == "24.0 MiB of its 64.0 MiB are free");
  gpu->free(x);
  gpu->free(gpu->allocate(64 << 20));
}
