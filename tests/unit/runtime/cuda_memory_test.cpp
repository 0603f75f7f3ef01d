#include <thread>

#include "runtime/gpu/cuda/pinned.h"
#include "unit/runtime/cuda_fake.h"

using namespace gasell;

namespace {

constexpr int64_t kMiB = 1 << 20;

/// Doubles so many bytes in place: parameters address, count, begin, end, stop.
void double_bytes(const uint64_t* p, unsigned, unsigned, unsigned) {
  auto* bytes = reinterpret_cast<uint8_t*>(p[0]);
  for (uint64_t i = 0; i < p[1]; ++i) bytes[i] = static_cast<uint8_t>(bytes[i] * 2);
}

ir::Kernel doubling() {
  return {"double", {{ir::Parameter::Kind::out, "x", DType::u8}, {ir::Parameter::Kind::scalar, "n", DType::i64}}, {}};
}
CudaOptions with_doubling() {
  CudaOptions options;
  options.compile = [](const ir::Kernel&, int) {
    return GpuCode{"double", ".visible .entry double(.param .u64 x, .param .u64 n, .param .u64 b, .param .u64 e, .param .u64 s)", 128, 0};
  };
  return options;
}

}  // namespace

TEST_CASE("GPU memory goes and comes back", "[cuda]") {
  const std::string pools = GENERATE("1", "0");
  FakeCuda fake(Environment{{"POOLS", pools}});
  {
    const auto gpu = fake.gpu();
    const int64_t all_free = gpu->free_memory();
    CHECK(all_free >= 1023 * kMiB);
    const auto own = fake.alive("memory"), plain = fake.calls("cuMemAlloc");  // the stop flag
    const GpuAddress a = gpu->allocate(100 * kMiB), b = gpu->allocate(1);
    CHECK(a % 256 == 0);
    CHECK(b % 256 == 0);
    CHECK(all_free - gpu->free_memory() > 100 * kMiB);
    CHECK(all_free - gpu->free_memory() < 100 * kMiB + 256);
    gpu->fill_zero(a, 100 * kMiB, GpuStream::compute);
    gpu->free(a);
    CHECK(all_free - gpu->free_memory() < 256);  // though it is still being written
    CHECK(fake.alive("memory") == own + 2);
    gpu->free(b);
    gpu->free(0);
    gpu->free(a);                                          // not there any more
    const GpuAddress all = gpu->allocate(all_free - 256);  // waits until both are free
    CHECK(fake.alive("memory") <= own + 2);                // a small block may be kept
    gpu->free(all);
    CHECK((pools == "1" ? fake.calls("cuMemAlloc") == plain : fake.calls("cuMemAllocFromPoolAsync") == 0));
  }
  fake.check_empty();
}

TEST_CASE("memory that is freed stays until the work given before is done", "[cuda]") {
  const std::string pools = GENERATE("1", "0");
  FakeCuda fake(Environment{{"POOLS", pools}, {"MEMORY", std::to_string(64 * kMiB)}});
  fake.define("double", double_bytes);
  const auto gpu = fake.gpu(0, with_doubling());
  const int64_t own = fake.alive("memory");
  const auto kernel = gpu->load(doubling());
  const int64_t n = 20 * kMiB;
  const auto data = pattern(n);
  std::vector<uint8_t> out(data.size());
  auto pinned = gpu->pinned(n);
  REQUIRE(pinned);

  const GpuAddress x = gpu->allocate(n);
  gpu->copy_in(x, data.data(), n, GpuStream::copy_in);
  gpu->wait(GpuStream::compute, GpuStream::copy_in);
  const int64_t count = n;
  const GpuArray array{x, x, x + static_cast<GpuAddress>(n)};
  gpu->launch(*kernel, {&array, 1}, {&count, 1}, 0, 100);
  gpu->wait(GpuStream::copy_out, GpuStream::compute);
  gpu->copy_out(pinned.get(), x, n, GpuStream::copy_out);
  gpu->free(x);
  CHECK(fake.alive("memory") == own + 1);  // the copy is still to come
  // Takes the memory's place, and is overwritten at once on another stream: must not be seen by the copy before.
  const GpuAddress y = gpu->allocate(50 * kMiB);
  gpu->fill_zero(y, 50 * kMiB, GpuStream::copy_in);
  gpu->synchronize(GpuStream::copy_in);
  gpu->synchronize(GpuStream::copy_out);
  std::memcpy(out.data(), pinned.get(), out.size());
  bool right = true;
  for (size_t i = 0; i < out.size(); ++i) right &= out[i] == static_cast<uint8_t>(data[i] * 2);
  CHECK(right);
  gpu->free(y);
}

TEST_CASE("frees wait for each stream's work once", "[cuda]") {
  FakeCuda fake;
  const auto gpu = fake.gpu();
  std::vector<GpuAddress> addresses;
  for (int i = 0; i < 40; ++i) addresses.push_back(gpu->allocate(kMiB));
  gpu->fill_zero(addresses[0], kMiB, GpuStream::compute);
  const int64_t before = fake.calls("cuStreamWaitEvent"), freed = fake.calls("cuMemFreeAsync");
  for (const GpuAddress address : addresses) gpu->free(address);
  CHECK(fake.calls("cuStreamWaitEvent") == before + 1);
  CHECK(fake.calls("cuMemFreeAsync") >= freed + 20);  // the others are kept
}

TEST_CASE("a freed block is handed out again without the driver, once its work is known to be done", "[cuda]") {
  FakeCuda fake;
  {
    const auto gpu = fake.gpu();
    const GpuAddress first = gpu->allocate(kMiB);
    gpu->fill_zero(first, kMiB, GpuStream::compute);
    gpu->free(first);
    const int64_t asked = fake.calls("cuMemAllocFromPoolAsync");
    const GpuAddress second = gpu->allocate(kMiB);  // while the first is being written
    CHECK(second != first);
    CHECK(fake.calls("cuMemAllocFromPoolAsync") == asked + 1);
    gpu->synchronize(GpuStream::compute);
    CHECK(gpu->allocate(kMiB) == first);
    const GpuAddress larger = gpu->allocate(2 * kMiB);
    CHECK(larger != second);
    CHECK(fake.calls("cuMemAllocFromPoolAsync") == asked + 2);
    // What copies out of a block also counts.
    auto pinned = gpu->pinned(kMiB);
    gpu->copy_out(pinned.get(), second, kMiB, GpuStream::copy_out);
    gpu->free(second);
    const GpuAddress third = gpu->allocate(kMiB);
    CHECK(third != second);
    gpu->synchronize(GpuStream::copy_out);
    CHECK(gpu->allocate(kMiB) == second);
    for (const GpuAddress address : {first, second, third, larger}) gpu->free(address);
  }
  fake.check_empty();
}

TEST_CASE("a launch is ordered behind another stream only where that was given work since", "[cuda]") {
  FakeCuda fake;
  const auto gpu = fake.gpu();
  const GpuAddress x = gpu->allocate(kMiB);
  const auto waits = [&] { return fake.calls("cuStreamWaitEvent"); };
  int64_t before = waits();
  gpu->wait(GpuStream::compute, GpuStream::copy_in);  // nothing was given to it
  CHECK(waits() == before);
  gpu->fill_zero(x, kMiB, GpuStream::copy_in);
  gpu->wait(GpuStream::compute, GpuStream::copy_in);
  gpu->wait(GpuStream::compute, GpuStream::copy_in);
  CHECK(waits() == before + 1);
  gpu->wait(GpuStream::copy_out, GpuStream::copy_in);  // another waiter
  CHECK(waits() == before + 2);
  gpu->synchronize(GpuStream::copy_in);
  gpu->fill_zero(x, kMiB, GpuStream::copy_in);
  gpu->wait(GpuStream::compute, GpuStream::copy_in);
  CHECK(waits() == before + 3);
  // What is known to be done is not asked for.
  gpu->synchronize(GpuStream::copy_in);
  before = fake.calls("cuStreamSynchronize");
  gpu->synchronize(GpuStream::copy_in);
  CHECK(fake.calls("cuStreamSynchronize") == before);
  CHECK(gpu->done(GpuStream::copy_in));
  gpu->free(x);
}

TEST_CASE("what does not fit says how much there is, and the GPU goes on", "[cuda]") {
  const std::string pools = GENERATE("1", "0");
  FakeCuda fake(Environment{{"POOLS", pools}});
  {
    const auto gpu = fake.gpu();
    const GpuAddress held = gpu->allocate(256 * kMiB);
    for (const int64_t bytes : {800 * kMiB, 8000 * kMiB}) {
      const Diagnostic said = error_of([&] { gpu->allocate(bytes); });
      CHECK(said.kind == "MemoryError");
      CHECK(said.blame == Blame::environment);
      CHECK(said.message == (bytes == 800 * kMiB ? "Unable to allocate 800. MiB on gpu:0 (Fake H200)"
                                                 : "Unable to allocate 7.81 GiB on gpu:0 (Fake H200)"));
      CHECK(said.hint == "768. MiB of its 1.00 GiB are free");
    }
    const GpuAddress more = gpu->allocate(700 * kMiB);
    gpu->fill_zero(more, 700 * kMiB, GpuStream::compute);
    gpu->synchronize(GpuStream::compute);
    gpu->free(held);
    gpu->free(more);
  }
  fake.check_empty();
}

TEST_CASE("one refusal is mended by giving back what the pool keeps", "[cuda]") {
  FakeCuda fake(Environment{{"OOM_AT", "2"}});
  const auto gpu = fake.gpu();
  gpu->free(gpu->allocate(kMiB));
  const GpuAddress second = gpu->allocate(kMiB);
  CHECK(fake.calls("cuMemPoolTrimTo") == 1);
  gpu->free(second);
}

TEST_CASE("plain allocation is chosen by the environment", "[cuda]") {
  setenv("GASELL_GPU_POOLS", "0", 1);
  FakeCuda fake;
  const auto gpu = fake.gpu();
  unsetenv("GASELL_GPU_POOLS");
  const int64_t before = fake.calls("cuMemAlloc");
  gpu->free(gpu->allocate(kMiB));
  CHECK(fake.calls("cuMemAlloc") == before + 1);
  CHECK(fake.calls("cuMemPoolCreate") == 0);
}

TEST_CASE("what is handed out can be filled, so that a result which nobody wrote shows", "[cuda]") {
  const std::string pools = GENERATE("1", "0");
  setenv("GASELL_GPU_POISON", "1", 1);
  FakeCuda fake(Environment{{"POOLS", pools}});
  const auto gpu = fake.gpu();
  unsetenv("GASELL_GPU_POISON");
  for (int round = 0; round < 2; ++round) {  // the second one gets memory that was used
    const GpuAddress x = gpu->allocate(kMiB);
    std::vector<uint8_t> out(kMiB);
    gpu->copy_out(out.data(), x, kMiB, GpuStream::copy_out);
    gpu->synchronize(GpuStream::copy_out);
    CHECK(out == std::vector<uint8_t>(kMiB, 0xFF));
    gpu->fill_zero(x, kMiB, GpuStream::compute);
    gpu->free(x);
  }
}

TEST_CASE("pinned memory is kept for the next who needs it, and outlives its GPU", "[cuda]") {
  FakeCuda fake;
  auto gpu = fake.gpu();
  const int64_t before = fake.calls("cuMemHostAlloc");
  void* first = gpu->pinned(3 * kMiB).get();
  const auto again = gpu->pinned(3 * kMiB - 100);
  CHECK(again.get() == first);
  CHECK(fake.calls("cuMemHostAlloc") == before + 1);
  CHECK(cuda::is_pinned(again.get(), 3 * kMiB));
  CHECK(cuda::is_pinned(static_cast<char*>(again.get()) + kMiB, 2 * kMiB));
  CHECK_FALSE(cuda::is_pinned(static_cast<char*>(again.get()) + kMiB, 3 * kMiB));
  CHECK_FALSE(cuda::is_pinned(&fake, 1));
  gpu.reset();
  std::memset(again.get(), 1, 3 * kMiB);
  CHECK(fake.alive("pinned") == 1);
  CHECK(fake.alive("context") == 1);
}

TEST_CASE("nothing is left when pinned memory goes after its GPU", "[cuda]") {
  FakeCuda fake;
  {
    std::shared_ptr<void> memory;
    const auto gpu = fake.gpu();
    memory = gpu->pinned(kMiB);
  }
  fake.check_empty();
}

TEST_CASE("no pinned memory to have is no error", "[cuda]") {
  FakeCuda fake(Environment{{"PINNED", std::to_string(kMiB)}});
  const auto gpu = fake.gpu();
  CHECK_FALSE(gpu->pinned(2 * kMiB));
  CHECK(gpu->pinned(kMiB / 2));
}

TEST_CASE("several threads allocate, copy and free", "[cuda]") {
  FakeCuda fake;
  {
    const auto gpu = fake.gpu();
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 20; ++i) {
          const int64_t n = 1000 * (t + 1) + i * 7919;
          const auto data = pattern(n, static_cast<uint8_t>(t + 1));
          std::vector<uint8_t> out(data.size());
          const GpuAddress x = gpu->allocate(n);
          gpu->copy_in(x, data.data(), n, GpuStream::copy_in);
          gpu->wait(GpuStream::copy_out, GpuStream::copy_in);
          gpu->copy_out(out.data(), x, n, GpuStream::copy_out);
          gpu->synchronize(GpuStream::copy_out);
          gpu->free(x);
          right += out == data;
        }
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(right == 80);
  }
  fake.check_empty();
}
