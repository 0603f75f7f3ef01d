#include "runtime/gpu/cuda/copies.h"

#include "unit/runtime/cuda_fake.h"

using namespace gasell;

namespace {

constexpr int64_t kMiB = 1 << 20;

CudaOptions small_buffers() {
  CudaOptions options;
  options.staging = {.threads = 3, .buffers = 2, .bytes = kMiB};
  return options;
}

}  // namespace

TEST_CASE("copies of every size arrive whole, pageable and pinned", "[cuda]") {
  const std::string pinned_limit = GENERATE("1099511627776", "8192");  // … and when there is no pinned memory for buffers
  FakeCuda fake(Environment{{"PINNED", pinned_limit}});
  {
    const auto gpu = fake.gpu(0, small_buffers());
    for (const int64_t n : {int64_t{1}, int64_t{3}, int64_t{4096}, (int64_t{64} << 10), (int64_t{64} << 10) + 1, kMiB - 1, kMiB + 1,
                            6 * kMiB, 6 * kMiB + 1, 23 * kMiB + 77}) {
      INFO(n);
      const auto data = pattern(n, static_cast<uint8_t>(n));
      std::vector<uint8_t> out(data.size() + 2, 0xEE);
      const GpuAddress x = gpu->allocate(n), y = gpu->allocate(n);
      gpu->copy_in(x, data.data(), n, GpuStream::copy_in);
      gpu->wait(GpuStream::compute, GpuStream::copy_in);
      gpu->copy(y, x, n, GpuStream::compute);
      gpu->wait(GpuStream::copy_out, GpuStream::compute);
      gpu->copy_out(out.data() + 1, y, n, GpuStream::copy_out);
      gpu->synchronize(GpuStream::copy_out);
      CHECK(out.front() == 0xEE);
      CHECK(out.back() == 0xEE);
      CHECK(std::memcmp(out.data() + 1, data.data(), data.size()) == 0);

      if (const auto pinned = gpu->pinned(n)) {
        std::memset(pinned.get(), 0, static_cast<size_t>(n));
        gpu->copy_out(pinned.get(), x, n, GpuStream::copy_out);
        gpu->synchronize(GpuStream::copy_out);
        CHECK(std::memcmp(pinned.get(), data.data(), data.size()) == 0);
        gpu->fill_zero(y, n, GpuStream::compute);
        gpu->wait(GpuStream::copy_in, GpuStream::compute);
        gpu->copy_in(y, pinned.get(), n, GpuStream::copy_in);
        gpu->synchronize(GpuStream::copy_in);
        gpu->copy_out(out.data() + 1, y, n, GpuStream::copy_in);
        CHECK(std::memcmp(out.data() + 1, data.data(), data.size()) == 0);
      }
      gpu->free(x);
      gpu->free(y);
    }
  }
  fake.check_empty();
}

TEST_CASE("no bytes are no work", "[cuda]") {
  FakeCuda fake;
  const auto gpu = fake.gpu();
  const auto copies = [&] { return fake.calls("cuMemcpyHtoDAsync") + fake.calls("cuMemcpyDtoHAsync") + fake.calls("cuMemsetD8Async"); };
  const int64_t before = copies();
  gpu->copy_in(0, nullptr, 0, GpuStream::copy_in);
  gpu->copy_out(nullptr, 0, 0, GpuStream::copy_out);
  gpu->copy(0, 0, 0, GpuStream::compute);
  gpu->fill_zero(0, 0, GpuStream::compute);
  for (const GpuStream stream : kAllStreams) CHECK(gpu->done(stream));
  CHECK(copies() == before);
}

TEST_CASE("pageable memory may change once the copy call returned", "[cuda]") {
  FakeCuda fake;
  const auto gpu = fake.gpu(0, small_buffers());
  // More small copies than there are buffers, none of which the GPU has begun.
  const int64_t n = 1000, copies = 50;
  const GpuAddress x = gpu->allocate(n * copies);
  std::vector<uint8_t> data, out(static_cast<size_t>(n * copies));
  for (int64_t i = 0; i < copies; ++i) {
    data = pattern(n, static_cast<uint8_t>(i));
    gpu->copy_in(x + static_cast<GpuAddress>(i * n), data.data(), n, i % 2 ? GpuStream::copy_in : GpuStream::compute);
  }
  std::fill(data.begin(), data.end(), uint8_t{0});
  gpu->wait(GpuStream::copy_out, GpuStream::copy_in);
  gpu->wait(GpuStream::copy_out, GpuStream::compute);
  gpu->copy_out(out.data(), x, n * copies, GpuStream::copy_out);
  for (int64_t i = 0; i < copies; ++i) {
    INFO(i);
    CHECK(std::memcmp(out.data() + i * n, pattern(n, static_cast<uint8_t>(i)).data(), n) == 0);
  }
  gpu->free(x);
}

TEST_CASE("a copy of pinned memory is asynchronous, and done() says when it happened", "[cuda]") {
  FakeCuda fake;
  const auto gpu = fake.gpu();
  const GpuAddress x = gpu->allocate(kMiB);
  const auto memory = gpu->pinned(kMiB);
  std::memset(memory.get(), 1, kMiB);
  const int64_t before = fake.calls("cuStreamSynchronize");
  gpu->copy_in(x, memory.get(), kMiB, GpuStream::copy_in);
  CHECK_FALSE(gpu->done(GpuStream::copy_in));
  while (!gpu->done(GpuStream::copy_in)) {
  }
  CHECK(fake.calls("cuStreamSynchronize") == before);
  gpu->free(x);
}

TEST_CASE("streams run beside each other but for what wait() orders", "[cuda]") {
  FakeCuda fake;
  const auto gpu = fake.gpu();
  const GpuAddress x = gpu->allocate(4);
  const auto memory = gpu->pinned(4);
  auto* value = static_cast<uint32_t*>(memory.get());
  const uint32_t one = 1;
  gpu->fill_zero(x, 4, GpuStream::compute);
  gpu->synchronize(GpuStream::compute);
  gpu->copy_in(x, &one, 4, GpuStream::copy_in);
  gpu->copy_out(value, x, 4, GpuStream::copy_out);  // no order: the fake driver does only what is waited for
  gpu->synchronize(GpuStream::copy_out);
  CHECK(*value == 0);
  gpu->wait(GpuStream::copy_out, GpuStream::copy_in);
  gpu->copy_out(value, x, 4, GpuStream::copy_out);
  gpu->synchronize(GpuStream::copy_out);
  CHECK(*value == 1);
  gpu->free(x);
}

TEST_CASE("a GPU copies from another, over a link and without one", "[cuda]") {
  const std::string peer = GENERATE("1", "0");
  const bool source_first = GENERATE(true, false);  // whose work is waited for first
  FakeCuda fake(Environment{{"DEVICES", "2"}, {"PEER", peer}});
  {
    const auto a = fake.gpu(0), b = fake.gpu(1);
    const int64_t n = 5 * kMiB + 3;
    const auto data = pattern(n);
    std::vector<uint8_t> out(data.size());
    const GpuAddress x = b->allocate(n), y = a->allocate(n), z = b->allocate(n);
    b->copy_in(x, data.data(), n, GpuStream::compute);
    b->copy(z, x, n, GpuStream::compute);
    a->copy_from_peer(y, *b, z, n, GpuStream::copy_in);
    a->copy_from_peer(y, *b, z, 0, GpuStream::copy_in);
    b->wait(GpuStream::compute, GpuStream::copy_in);
    b->fill_zero(z, n, GpuStream::compute);  // behind the copy
    b->free(z);
    b->free(x);
    const auto finish_source = [&] {
      for (const GpuStream stream : kAllStreams) b->synchronize(stream);
    };
    if (source_first) finish_source();
    a->wait(GpuStream::copy_out, GpuStream::copy_in);
    a->copy_out(out.data(), y, n, GpuStream::copy_out);
    CHECK(out == data);
    finish_source();
    a->free(y);
    CHECK(fake.calls("cuMemcpyPeerAsync") == 1);
    CHECK(fake.calls("cuMemPoolSetAccess") == (peer == "1" ? 1 : 0));
  }
  fake.check_empty();
}
