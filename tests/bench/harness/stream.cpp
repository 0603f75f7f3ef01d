// The machine's memory bandwidth with all cores: GB/s of reading, and of copying (read + written). Prints two numbers.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace {

constexpr int64_t kElements = int64_t{1} << 25;  // 256 MiB an array: beyond any cache
constexpr int kRounds = 12;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double read_part(const double* x, int64_t n) {
  double sums[16] = {};
  for (int64_t i = 0; i < n; i += 16)
    for (int k = 0; k < 16; ++k) sums[k] += x[i + k];
  double sum = 0;
  for (const double s : sums) sum += s;
  return sum;
}

void copy_part(const double* x, double* y, int64_t n) {
#if defined(__SSE2__)
  // Written past the cache, so that a line is not read before it is overwritten.
  for (int64_t i = 0; i < n; i += 2) _mm_stream_pd(y + i, _mm_loadu_pd(x + i));
#else
  for (int64_t i = 0; i < n; ++i) y[i] = x[i];
#endif
}

template <class F>
double best_seconds(int threads, const F& work) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const double start = now();
    std::vector<std::thread> workers;
    const int64_t part = kElements / threads / 16 * 16;
    for (int t = 0; t < threads; ++t) workers.emplace_back([&, t] { work(t * part, part); });
    for (std::thread& worker : workers) worker.join();
    best = std::min(best, (now() - start) * kElements / (part * threads));
  }
  return best;
}

}  // namespace

int main() {
  const int threads = std::max(1u, std::thread::hardware_concurrency());
  auto* x = static_cast<double*>(std::aligned_alloc(2 << 20, kElements * 8));
  auto* y = static_cast<double*>(std::aligned_alloc(2 << 20, kElements * 8));
  for (int64_t i = 0; i < kElements; ++i) x[i] = y[i] = static_cast<double>(i);
  volatile double sink = 0;
  const double read = best_seconds(threads, [&](int64_t first, int64_t n) { sink = sink + read_part(x + first, n); });
  const double copy = best_seconds(threads, [&](int64_t first, int64_t n) { copy_part(x + first, y + first, n); });
  const double bytes = kElements * 8.0;
  std::printf("%.3f %.3f\n", bytes / read / 1e9, 2 * bytes / copy / 1e9);
}
