// cuda_check: the GPU code on the GPUs of this machine, from outside of the engine: right results first, then rates. Ends with 1 if
// anything is wrong.
#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "compiler/codegen/kernel_cache.h"
#include "gpu/cuda_check_kernels.h"
#include "lang/diagnostic.h"
#include "runtime/device/storage.h"
#include "runtime/gpu/cuda/cuda_gpu.h"
#include "runtime/gpu/cuda/describe.h"

using namespace gasell;
using namespace gasell::check;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int64_t kMiB = 1 << 20, kGiB = 1 << 30;

struct Settings {
  int gpu = 0;
  bool quick = false, fault = false, staging = false;
};

int wrong = 0;
void check(bool right, const std::string& what) {
  if (right) return;
  ++wrong;
  fmt::print("WRONG: {}\n", what);
}

double seconds(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}
double best_of(int times, const std::function<void()>& work) {
  double best = 1e30;
  for (int k = 0; k < times; ++k) best = std::min(best, seconds(work));
  return best;
}
std::string rate(double bytes, double time) { return fmt::format("{:8.2f} GB/s", bytes / time / 1e9); }

/// Numbers without a pattern; from and to run over bytes.
void fill(void* to, int64_t bytes, uint64_t seed) {
  auto* words = static_cast<uint64_t*>(to);
  const int64_t count = bytes / 8;
  std::vector<std::thread> threads;
  const int parts = static_cast<int>(std::clamp<int64_t>(count >> 20, 1, 8));
  for (int part = 0; part < parts; ++part)
    threads.emplace_back([=] {
      for (int64_t i = count * part / parts; i < count * (part + 1) / parts; ++i)
        words[i] = (static_cast<uint64_t>(i) + seed) * 0x9E3779B97F4A7C15u;
    });
  for (std::thread& thread : threads) thread.join();
  std::memset(static_cast<char*>(to) + count * 8, static_cast<int>(seed), static_cast<size_t>(bytes - count * 8));
}

void synchronize_all(Gpu& gpu) {
  for (const GpuStream stream : {GpuStream::compute, GpuStream::copy_in, GpuStream::copy_out}) gpu.synchronize(stream);
}

CudaOptions options(std::shared_ptr<const KernelCache> cache = nullptr) {
  CudaOptions made;
  made.compile = kernel_ptx;
  made.cache = std::move(cache);
  return made;
}

GpuArray array(GpuAddress address, int64_t bytes) { return {address, address, address + static_cast<GpuAddress>(bytes)}; }
int64_t units(int64_t n) { return (n + kUnit - 1) / kUnit; }

// ---- copies

void check_copies(Gpu& gpu, const Settings& settings) {
  fmt::print("\ncopies {:>16} {:>14} {:>14} {:>14} {:>14}\n", "bytes", "in, pageable", "in, pinned", "out, pageable", "out, pinned");
  std::vector<int64_t> sizes = {1, 63, 4096, (64 << 10), (64 << 10) + 1, kMiB, 16 * kMiB + 7, 256 * kMiB};
  if (!settings.quick) sizes.insert(sizes.end(), {kGiB, 4 * kGiB});
  while (sizes.back() > gpu.free_memory() / 2) sizes.pop_back();
  const int64_t most = sizes.back();
  const std::unique_ptr<char[]> source(new char[static_cast<size_t>(most) + 8]), target(new char[static_cast<size_t>(most) + 8]);
  fill(source.get(), most, 1);
  std::memset(target.get(), 0, static_cast<size_t>(most) + 8);
  const std::shared_ptr<void> pinned = gpu.pinned(most);
  check(pinned != nullptr, "no pinned memory");
  if (!pinned) return;
  const GpuAddress there = gpu.allocate(most);
  for (const int64_t n : sizes) {
    const auto size = static_cast<size_t>(n);
    const int times = n > 256 * kMiB ? 3 : 5;
    const auto in = [&](const void* from) {
      gpu.copy_in(there, from, n, GpuStream::copy_in);
      gpu.synchronize(GpuStream::copy_in);
    };
    const auto out = [&](void* to) {
      gpu.copy_out(to, there, n, GpuStream::copy_out);
      gpu.synchronize(GpuStream::copy_out);
    };
    const auto same = [&](const void* a, const char* what) {
      check(std::memcmp(a, source.get(), size) == 0, fmt::format("copy of {} bytes: {}", n, what));
    };
    // Each way is checked against the other's safe one before it is timed.
    gpu.fill_zero(there, n, GpuStream::copy_in);
    in(source.get());
    out(pinned.get());
    same(pinned.get(), "in pageable, out pinned");
    gpu.fill_zero(there, n, GpuStream::copy_in);
    in(pinned.get());
    std::memset(target.get(), 0x5A, size + 1);
    out(target.get());
    same(target.get(), "in pinned, out pageable");
    check(target[size] == 0x5A, fmt::format("copy of {} bytes wrote beyond its end", n));
    const double in_pageable = best_of(times, [&] { in(source.get()); }), in_pinned = best_of(times, [&] { in(pinned.get()); });
    const double out_pageable = best_of(times, [&] { out(target.get()); }), out_pinned = best_of(times, [&] { out(pinned.get()); });
    const auto bytes = static_cast<double>(n);
    fmt::print("       {:>16} {:>14} {:>14} {:>14} {:>14}\n", n, rate(bytes, in_pageable), rate(bytes, in_pinned),
               rate(bytes, out_pageable), rate(bytes, out_pinned));
  }
  gpu.free(there);
}

void show_staging(const Settings& settings) {
  fmt::print("\nthreads x size of their buffers for pageable copies of 1 GiB: in, out\n");
  const int64_t n = settings.quick ? 64 * kMiB : kGiB;
  const std::unique_ptr<char[]> memory(new char[static_cast<size_t>(n)]);
  fill(memory.get(), n, 3);
  for (const int threads : {2, 4, 8, 12, 16})
    for (const int64_t bytes : {kMiB / 2, 1 * kMiB, 2 * kMiB, 4 * kMiB, 8 * kMiB}) {
      CudaOptions tried = options();
      tried.staging = {.threads = threads, .bytes = bytes};
      const auto gpu = make_cuda_gpu(settings.gpu, tried);
      const GpuAddress there = gpu->allocate(n);
      const double in = best_of(4, [&] {
        gpu->copy_in(there, memory.get(), n, GpuStream::copy_in);
        gpu->synchronize(GpuStream::copy_in);
      });
      const double out = best_of(4, [&] { gpu->copy_out(memory.get(), there, n, GpuStream::copy_out); });
      fmt::print("  {:>2} x {:>4} KiB {} {}\n", threads, bytes / 1024, rate(static_cast<double>(n), in), rate(static_cast<double>(n), out));
      gpu->free(there);
    }
}

// ---- kernels

void check_kernels(const Settings& settings) {
  std::string folder = (std::filesystem::temp_directory_path() / "gasell-check.XXXXXX").string();
  if (!mkdtemp(folder.data())) return check(false, "no temporary folder");
  const auto cache = std::make_shared<KernelCache>(true, std::filesystem::path(folder) / "cache", 16 * kMiB);
  std::unique_ptr<Gpu> gpu;
  const double made = seconds([&] { gpu = make_cuda_gpu(settings.gpu, options(cache)); });
  LoadedKernelRef add, fma;
  const double cold = seconds([&] { add = gpu->load(add_kernel()); });
  const double second = seconds([&] { fma = gpu->load(fma_kernel()); });
  check(gpu->load(add_kernel()) == add, "a kernel that is loaded was loaded again");
  const auto again = make_cuda_gpu(settings.gpu, options(cache));
  LoadedKernelRef cached;
  const double warm = seconds([&] { cached = again->load(add_kernel()); });
  check(cached->compile_seconds == 0, "machine code was not found in the cache");
  fmt::print("\nstart {:.1f} ms; PTX to machine code {:.1f} ms, the second {:.1f} ms; from the cache {:.2f} ms\n", made * 1e3, cold * 1e3,
             second * 1e3, warm * 1e3);
  std::filesystem::remove_all(folder);

  for (const int64_t n :
       {int64_t{1}, int64_t{1000}, 10 * kUnit, 10 * kUnit + 1, settings.quick ? int64_t{1'000'003} : int64_t{50'000'003}}) {
    const int64_t bytes = n * 8;
    std::vector<double> a(static_cast<size_t>(n)), b(a.size()), r(a.size());
    std::mt19937_64 random(static_cast<uint64_t>(n));
    std::normal_distribution<double> normal;
    for (size_t i = 0; i < a.size(); ++i) a[i] = normal(random), b[i] = normal(random) * 1e3;
    const GpuAddress ga = gpu->allocate(bytes), gb = gpu->allocate(bytes), gr = gpu->allocate(bytes);
    gpu->copy_in(ga, a.data(), bytes, GpuStream::copy_in);
    gpu->copy_in(gb, b.data(), bytes, GpuStream::copy_in);
    const GpuArray arrays[] = {array(ga, bytes), array(gb, bytes), array(gr, bytes)};
    const auto run = [&](const LoadedKernelRef& kernel, std::vector<int64_t> scalars) {
      gpu->fill_zero(gr, bytes, GpuStream::copy_out);
      gpu->wait(GpuStream::compute, GpuStream::copy_in);
      gpu->wait(GpuStream::compute, GpuStream::copy_out);
      const int64_t half = units(n) / 2;  // in two ranges
      gpu->launch(*kernel, arrays, scalars, 0, half);
      gpu->launch(*kernel, arrays, scalars, half, units(n));
      gpu->wait(GpuStream::copy_out, GpuStream::compute);
      gpu->copy_out(r.data(), gr, bytes, GpuStream::copy_out);
      gpu->synchronize(GpuStream::copy_out);
    };
    run(add, {n});
    size_t different = 0;
    for (size_t i = 0; i < a.size(); ++i) different += r[i] != a[i] + b[i];
    check(different == 0, fmt::format("add of {} elements: {} differ", n, different));
    const double s = 1.0 / 3;
    run(fma, {n, std::bit_cast<int64_t>(s)});
    different = 0;
    for (size_t i = 0; i < a.size(); ++i) different += r[i] != std::fma(a[i], s, b[i]);
    check(different == 0, fmt::format("fma of {} elements: {} differ", n, different));
    for (const GpuAddress address : {ga, gb, gr}) gpu->free(address);
  }
  fmt::print("kernels: add and fma are right\n");
}

void show_rates(const Settings& settings) {
  fmt::print("\nlaunches, and add over {} (% of the memory's clocks), by blocks a launch\n", settings.quick ? "3 x 16 MiB" : "3 x 4 GiB");
  for (const int waves : {1, 2, 4, 8, 16}) {
    CudaOptions tried = options();
    tried.waves = waves;
    const auto gpu = make_cuda_gpu(settings.gpu, tried);
    const auto add = gpu->load(add_kernel());
    const int64_t bytes = settings.quick ? 16 * kMiB : std::min(4 * kGiB, gpu->free_memory() / 4), n = bytes / 8;
    const GpuAddress a = gpu->allocate(bytes), b = gpu->allocate(bytes), r = gpu->allocate(bytes);
    for (const GpuAddress address : {a, b, r}) gpu->fill_zero(address, bytes, GpuStream::compute);
    const GpuArray arrays[] = {array(a, bytes), array(b, bytes), array(r, bytes)};
    const int64_t scalars[] = {n};
    const auto run = [&](int64_t count) {
      gpu->launch(*add, arrays, scalars, 0, count);
      gpu->synchronize(GpuStream::compute);
    };
    run(units(n));
    const double one = best_of(200, [&] { run(1); });
    const double thousand = seconds([&] {
      for (int k = 0; k < 1000; ++k) gpu->launch(*add, arrays, scalars, 0, 1);
      gpu->synchronize(GpuStream::compute);
    });
    const double whole = best_of(10, [&] { run(units(n)); });
    const double moved = 3.0 * static_cast<double>(bytes);
    fmt::print("  waves {:>2}: one launch and wait {:5.1f} us, 1000 launches {:5.2f} us each; {} {}\n", waves, one * 1e6, thousand * 1e3,
               rate(moved, whole),
               gpu->properties().bandwidth > 0 ? fmt::format("({:.1f}%)", 100 * moved / whole / gpu->properties().bandwidth) : "");
    for (const GpuAddress address : {a, b, r}) gpu->free(address);
  }
}

void check_stop(Gpu& gpu) {
  const auto spin = gpu.load(spin_kernel());
  const int64_t count = int64_t{1} << 22;  // a second and more, if nobody stops them
  const GpuAddress r = gpu.allocate(count * 8);
  gpu.fill_zero(r, count * 8, GpuStream::compute);
  const GpuArray arrays[] = {array(r, count * 8)};
  gpu.launch(*spin, arrays, {}, 0, count);
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    gpu.set_stop(true);
  });
  Clock::time_point stopped_at;
  const double took = seconds([&] { gpu.synchronize(GpuStream::compute); });
  stopper.join();
  gpu.set_stop(false);
  fmt::print("\nstop flag: a kernel of many units ended {:.1f} ms after it began (flag after 50 ms)\n", took * 1e3);
  check(took < 0.3, "the stop flag did not end a kernel within 250 ms");
  // And the next one runs whole.
  gpu.fill_zero(r, count * 8, GpuStream::compute);
  gpu.launch(*spin, arrays, {}, 5, 1000);
  std::vector<int64_t> counts(1100);
  gpu.wait(GpuStream::copy_out, GpuStream::compute);
  gpu.copy_out(counts.data(), r, 1100 * 8, GpuStream::copy_out);
  gpu.synchronize(GpuStream::copy_out);
  for (int64_t u = 0; u < 1100; ++u)
    check(counts[static_cast<size_t>(u)] == (u >= 5 && u < 1000), fmt::format("unit {} ran {} times", u, counts[static_cast<size_t>(u)]));
  gpu.free(r);
}

// ---- memory

void check_memory(Gpu& gpu, const Settings& settings) {
  const int64_t before = gpu.free_memory();
  fmt::print("\nmemory: {} of {} free\n", memory_text(before), memory_text(gpu.properties().memory));
  for (const int64_t bytes : {int64_t{1000}, kMiB, settings.quick ? 64 * kMiB : kGiB}) {
    const double first = seconds([&] { gpu.free(gpu.allocate(bytes)); });
    synchronize_all(gpu);
    const double later = seconds([&] {
                           for (int k = 0; k < 100; ++k) gpu.free(gpu.allocate(bytes));
                         }) /
                         100;
    fmt::print("  allocate and free {:>10}: {:8.1f} us, then {:6.2f} us\n", memory_text(bytes), first * 1e6, later * 1e6);
  }

  // Blocks of many sizes do not overlap and keep what is in them while others come and go.
  std::mt19937_64 random(7);
  struct Held {
    GpuAddress address;
    int64_t bytes;
    uint64_t seed;
  };
  std::vector<Held> held;
  std::vector<char> content(4 * kMiB), back(4 * kMiB);
  const auto verify = [&](const Held& block) {
    gpu.copy_out(back.data(), block.address, block.bytes, GpuStream::copy_out);
    gpu.synchronize(GpuStream::copy_out);
    fill(content.data(), block.bytes, block.seed);
    check(std::memcmp(content.data(), back.data(), static_cast<size_t>(block.bytes)) == 0,
          fmt::format("a block of {} bytes changed", block.bytes));
    gpu.free(block.address);
  };
  for (int k = 0; k < (settings.quick ? 200 : 2000); ++k) {
    if (held.size() > 40 || (!held.empty() && random() % 3 == 0)) {
      const size_t which = random() % held.size();
      gpu.wait(GpuStream::copy_out, GpuStream::copy_in);
      verify(held[which]);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      const auto bytes = static_cast<int64_t>(random() % static_cast<uint64_t>(random() % 2 ? 4 * kMiB : 5000) + 1);
      const Held block{gpu.allocate(bytes), bytes, random()};
      check(block.address % 256 == 0, "an address is not aligned to 256");
      fill(content.data(), bytes, block.seed);
      gpu.copy_in(block.address, content.data(), bytes, GpuStream::copy_in);
      held.push_back(block);
    }
  }
  gpu.wait(GpuStream::copy_out, GpuStream::copy_in);
  for (const Held& block : held) verify(block);

  // What is freed behind a kernel is not given out before it is done.
  {
    const auto spin = gpu.load(spin_kernel());
    const auto add = gpu.load(add_kernel());
    const int64_t n = 8 * kMiB, bytes = n * 8;
    std::vector<double> ones(static_cast<size_t>(n), 1.0), r(static_cast<size_t>(n));
    const GpuAddress a = gpu.allocate(bytes), result = gpu.allocate(bytes), counts = gpu.allocate(8 * kMiB);
    gpu.copy_in(a, ones.data(), bytes, GpuStream::copy_in);
    gpu.wait(GpuStream::compute, GpuStream::copy_in);
    gpu.fill_zero(counts, 8 * kMiB, GpuStream::compute);
    const GpuArray spun[] = {array(counts, 8 * kMiB)}, added[] = {array(a, bytes), array(a, bytes), array(result, bytes)};
    const int64_t scalars[] = {n};
    gpu.launch(*spin, spun, {}, 0, 100'000);  // some time
    gpu.launch(*add, added, scalars, 0, units(n));
    gpu.free(a);
    gpu.free(counts);
    std::vector<GpuAddress> others;
    for (int k = 0; k < 8; ++k) {
      others.push_back(gpu.allocate(bytes));
      gpu.fill_zero(others.back(), bytes, GpuStream::copy_in);
    }
    gpu.synchronize(GpuStream::copy_in);
    gpu.wait(GpuStream::copy_out, GpuStream::compute);
    gpu.copy_out(r.data(), result, bytes, GpuStream::copy_out);
    gpu.synchronize(GpuStream::copy_out);
    size_t different = 0;
    for (const double value : r) different += value != 2.0;
    check(different == 0, fmt::format("{} elements were overwritten while a kernel still read them", different));
    for (const GpuAddress address : others) gpu.free(address);
    gpu.free(result);
  }

  // More than there is.
  const auto refused = [&](int64_t bytes) {
    try {
      gpu.free(gpu.allocate(bytes));
      check(false, fmt::format("{} bytes were allocated on a GPU that has {}", bytes, gpu.properties().memory));
    } catch (const Error& error) {
      check(error.diagnostic().kind == "MemoryError", "shortage of memory is another error");
      fmt::print("  {}: {}; {}\n", error.diagnostic().kind, error.diagnostic().message, error.diagnostic().hint);
    }
  };
  refused(gpu.properties().memory + 1);
  refused(int64_t{1} << 46);
  std::vector<GpuAddress> many;
  const int64_t piece = std::max(kMiB, gpu.properties().memory / 64 / kMiB * kMiB);
  try {
    for (int k = 0; k < 100; ++k) many.push_back(gpu.allocate(piece));
    check(false, "100 64th parts of the memory were allocated");
  } catch (const Error&) {
    fmt::print("  {} blocks of {} filled it\n", many.size(), memory_text(piece));
  }
  for (const GpuAddress address : many) {
    gpu.fill_zero(address, piece, GpuStream::compute);
    gpu.free(address);
  }
  const int64_t whole = gpu.free_memory() / 5 * 4;
  const GpuAddress most = gpu.allocate(whole);  // what was freed just now, in one piece
  gpu.fill_zero(most, whole, GpuStream::copy_in);
  gpu.synchronize(GpuStream::copy_in);
  gpu.free(most);
  synchronize_all(gpu);
  fmt::print("  then {} in one block; {} free at the end\n", memory_text(whole), memory_text(gpu.free_memory()));
  check(gpu.free_memory() > before - before / 20, "memory leaked");
}

void check_threads(Gpu& gpu) {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int k = 0; k < 20; ++k) {
        const int64_t n = 1000 * (t + 1) + k * 400'009;
        std::vector<char> a(static_cast<size_t>(n)), b(a.size());
        fill(a.data(), n, static_cast<uint64_t>(t * 100 + k));
        const GpuAddress x = gpu.allocate(n);
        gpu.copy_in(x, a.data(), n, GpuStream::copy_in);
        gpu.wait(GpuStream::copy_out, GpuStream::copy_in);
        gpu.copy_out(b.data(), x, n, GpuStream::copy_out);
        gpu.synchronize(GpuStream::copy_out);
        gpu.free(x);
        right += a == b;
      }
    });
  for (std::thread& thread : threads) thread.join();
  check(right == 160, fmt::format("of 160 copies by 8 threads {} are right", right.load()));
  fmt::print("\nthreads: 8 allocate, copy and free beside each other\n");
}

// ---- several GPUs

void check_peers(const Settings& settings) {
  const int count = cuda_gpu_count();
  if (count < 2) {
    fmt::print("\none GPU: no copies between GPUs\n");
    return;
  }
  fmt::print("\ncopies between GPUs\n");
  std::vector<std::unique_ptr<Gpu>> gpus;
  for (int g = 0; g < count; ++g) gpus.push_back(make_cuda_gpu(g, options()));
  const int64_t n = settings.quick ? 16 * kMiB : kGiB;
  std::vector<char> data(static_cast<size_t>(n)), back(data.size());
  for (int from = 0; from < count; ++from)
    for (int to = 0; to < count; ++to) {
      if (from == to) continue;
      Gpu &source = *gpus[static_cast<size_t>(from)], &target = *gpus[static_cast<size_t>(to)];
      fill(data.data(), n, static_cast<uint64_t>(from * 100 + to));
      const GpuAddress a = source.allocate(n), b = target.allocate(n);
      source.copy_in(a, data.data(), n, GpuStream::compute);
      target.copy_from_peer(b, source, a, n, GpuStream::copy_in);
      source.fill_zero(a, n, GpuStream::compute);  // behind the copy
      target.wait(GpuStream::copy_out, GpuStream::copy_in);
      std::fill(back.begin(), back.end(), 0);
      target.copy_out(back.data(), b, n, GpuStream::copy_out);
      check(std::memcmp(back.data(), data.data(), data.size()) == 0, fmt::format("a copy from gpu:{} to gpu:{} is wrong", from, to));
      const double time = best_of(5, [&] {
        target.copy_from_peer(b, source, a, n, GpuStream::copy_in);
        target.synchronize(GpuStream::copy_in);
      });
      fmt::print("  gpu:{} to gpu:{} {}\n", from, to, rate(static_cast<double>(n), time));
      source.free(a);
      target.free(b);
    }
}

// ---- what is lost

void check_fault(const Settings& settings) {
  fmt::print("\nfault\n");
  {
    const auto gpu = make_cuda_gpu(settings.gpu, options());
    const GpuAddress held = gpu->allocate(kMiB);
    const auto memory = gpu->pinned(kMiB);
    gpu->launch(*gpu->load(fault_kernel()), {}, {}, 0, 1);
    std::string said;
    try {
      gpu->synchronize(GpuStream::compute);
    } catch (const GpuLost& lost) {
      said = lost.what();
    }
    check(!said.empty(), "a kernel that writes nowhere did no harm");
    fmt::print("  {}\n", said);
    try {
      gpu->allocate(1);
      check(false, "a lost GPU allocates");
    } catch (const GpuLost& lost) {
      check(said == lost.what(), "a lost GPU gives another reason");
    }
    gpu->free(held);
  }
  try {
    const auto gpu = make_cuda_gpu(settings.gpu, options());
    gpu->free(gpu->allocate(kMiB));
    synchronize_all(*gpu);
    fmt::print("  and it starts again in the same process\n");
  } catch (const std::exception& error) {
    fmt::print("  it does not start again in the same process: {}\n", error.what());
  }
}

int run(const Settings& settings) {
  const cuda::LoadedDriver& driver = cuda::process_driver();
  if (!driver.status.ready()) {
    fmt::print("{}: {}\n", driver.status.problem, driver.status.remedy);
    return 2;
  }
  const bool fake = define_on_fake_driver(driver.status.library.c_str());
  fmt::print("driver: CUDA {} {}\n", cuda::version_text(driver.status.version), fake ? "(fake)" : cuda::driver_release());
  auto gpu = make_cuda_gpu(settings.gpu, options());
  const GpuProperties p = gpu->properties();
  fmt::print("gpu:{}: {}, sm_{}, {} multiprocessors, {}, {:.3f} TB/s by its clocks\n", p.ordinal, p.name, p.capability, p.multiprocessors,
             memory_text(p.memory), p.bandwidth / 1e12);
  check_kernels(settings);
  check_copies(*gpu, settings);
  check_stop(*gpu);
  check_memory(*gpu, settings);
  check_threads(*gpu);
  check_peers(settings);
  show_rates(settings);
  if (settings.staging) show_staging(settings);
  gpu.reset();  // its context would stay with it
  if (settings.fault && !fake) check_fault(settings);
  fmt::print("\n{}\n", wrong == 0 ? "all right" : fmt::format("{} WRONG", wrong));
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  Settings settings;
  for (int k = 1; k < count; ++k) {
    const std::string argument = arguments[k];
    if (argument == "--quick")
      settings.quick = true;
    else if (argument == "--fault")
      settings.fault = true;
    else if (argument == "--staging")
      settings.staging = true;
    else if (argument == "--gpu" && k + 1 < count)
      settings.gpu = std::atoi(arguments[++k]);
    else {
      fmt::print(
          "cuda_check [--gpu N] [--quick] [--staging] [--fault]\n"
          "  --quick    small sizes\n  --staging  rates of pageable copies by the number of threads and the size of their buffers\n"
          "  --fault    loses the GPU with a kernel that faults, at the end\n");
      return argument == "--help" ? 0 : 2;
    }
  }
  try {
    return run(settings);
  } catch (const Error& error) {
    fmt::print("{}: {}; {}\n", error.diagnostic().kind, error.diagnostic().message, error.diagnostic().hint);
  } catch (const std::exception& error) {
    fmt::print("{}\n", error.what());
  }
  return 1;
}
