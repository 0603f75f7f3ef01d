#include "runtime/device/device.h"

#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <numeric>
#include <set>
#include <thread>

#include "catch.h"
#include "lang/diagnostic.h"
#include "runtime/device/handout.h"
#include "runtime/device/host_device.h"

using namespace gasell;
using Clock = std::chrono::steady_clock;

namespace {

void spin(double seconds) {
  const auto start = Clock::now();
  while (std::chrono::duration<double>(Clock::now() - start).count() < seconds) {
  }
}

// Kernels as the Jit would make them. scalars[0]: elements a unit.
void count_visits(void* const* arrays, const int64_t*, int64_t begin, int64_t end) {
  auto* visits = static_cast<int32_t*>(arrays[0]);
  for (int64_t u = begin; u < end; ++u) ++visits[u];
}
void slow_units(void* const* arrays, const int64_t* scalars, int64_t begin, int64_t end) {
  for (int64_t u = begin; u < end; ++u) spin(static_cast<double>(scalars[0]) * 1e-6);
  count_visits(arrays, scalars, begin, end);
}
void sum_bytes(void* const* arrays, const int64_t* scalars, int64_t begin, int64_t end) {
  const auto* x = static_cast<const uint64_t*>(arrays[0]);
  auto* out = static_cast<uint64_t*>(arrays[1]);
  for (int64_t u = begin; u < end; ++u) out[u] = std::accumulate(x + u * scalars[0], x + (u + 1) * scalars[0], uint64_t{0});
}
void throwing(void* const*, const int64_t*, int64_t begin, int64_t) {
  if (begin >= 50) throw std::runtime_error("kernel failed");
  spin(1e-4);
}

struct Fixture {
  explicit Fixture(int threads, HostKernelFunction function, int64_t memory = int64_t{1} << 30)
      : device(make_host_device(
            threads, memory, [this, function](const ir::Kernel&) { return ++compiled, HostKernel{function}; }, interrupt)) {}
  void run(Launch launch) {
    launch.kernel = &kernel;
    Progress progress(false, 2e9, "elements");
    device->run(launch, progress);
    fraction = progress.fraction();
  }
  std::atomic<bool> interrupt{false};
  ir::Kernel kernel;
  int compiled = 0;
  double fraction = 0;
  std::unique_ptr<Device> device;
};

HostStorageRef zeros(Fixture& fixture, int64_t bytes) {
  return std::static_pointer_cast<HostStorage>(fixture.device->allocate(bytes, true));
}

int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace

TEST_CASE("the hand-out covers every unit once in ranges of about two milliseconds", "[device]") {
  Handout handout(5, 100'000, 2, INT64_MAX);
  UnitClock clock;
  int64_t next = 5, ranges = 0, largest = 0;
  while (true) {
    const UnitRange range = handout.take(clock);
    if (range.empty()) break;
    REQUIRE(range.begin == next);
    next = range.end;
    largest = std::max(largest, range.size());
    ++ranges;
    clock.record(range.size(), static_cast<double>(range.size()) * 1e-6);  // 1 µs a unit
  }
  CHECK(next == 100'000);
  CHECK(largest == 2000);
  CHECK(ranges < 200);

  Handout few(0, 16, 2, INT64_MAX);
  UnitClock fast;
  fast.record(1000, 1e-6);
  CHECK(few.take(fast).size() == 2);  // four ranges a worker
  few.stop();
  CHECK(few.take(fast).empty());

  Handout bounded(0, 1'000'000, 2, 10);
  CHECK(bounded.take(fast).size() == 10);
}

TEST_CASE("each unit runs once whatever the threads and the sizes", "[device]") {
  for (const int threads : {1, 2, 5}) {
    Fixture fixture(threads, count_visits);
    CHECK(fixture.device->properties().threads == threads);
    for (const int64_t units : {0, 1, 2, 7, 1000, 100'000, 3'000'000}) {
      for (const double bytes : {0.0, 1e9}) {
        Launch launch;
        const HostStorageRef visits = zeros(fixture, units * 4 + 64);
        launch.storages = {visits};
        launch.byte_offsets = {64};
        launch.units = units;
        launch.bytes = bytes;
        fixture.run(launch);
        const auto* data = static_cast<const int32_t*>(visits->write());
        REQUIRE(std::all_of(data, data + 16, [](int32_t v) { return v == 0; }));
        REQUIRE(std::all_of(data + 16, data + 16 + units, [](int32_t v) { return v == 1; }));
      }
    }
  }
}

TEST_CASE("slow units are shared, and progress adds up", "[device]") {
  for (const int64_t units : {2, 3, 64, 500}) {
    Fixture fixture(2, slow_units);
    const HostStorageRef visits = zeros(fixture, units * 4);
    Launch launch;
    launch.storages = {visits};
    launch.byte_offsets = {0};
    launch.scalars = {200};
    launch.units = units;
    launch.elements = 1e9;
    fixture.run(launch);
    CHECK(fixture.fraction == Approx(0.5));
    const auto* data = static_cast<const int32_t*>(visits->write());
    CHECK(std::all_of(data, data + units, [](int32_t v) { return v == 1; }));
  }
}

TEST_CASE("a loaded kernel is not compiled again", "[device]") {
  Fixture fixture(1, count_visits);
  Launch launch;
  launch.storages = {zeros(fixture, 4)};
  launch.byte_offsets = {0};
  launch.units = 1;
  launch.loaded = fixture.device->load(fixture.kernel);
  for (int i = 0; i < 10; ++i) fixture.run(launch);
  CHECK(fixture.compiled == 1);
}

TEST_CASE("launching a loaded kernel on little data costs less than five microseconds", "[device]") {
  Fixture fixture(2, count_visits);
  Launch launch;
  launch.storages = {zeros(fixture, 4), zeros(fixture, 4), zeros(fixture, 4)};
  launch.byte_offsets = {0, 0, 0};
  launch.units = 1;
  launch.loaded = fixture.device->load(fixture.kernel);
  Progress progress(false, 1, "B");
  double best = 1;
  for (int round = 0; round < 20; ++round) {
    const auto start = Clock::now();
    for (int i = 0; i < 100; ++i) fixture.device->run(launch, progress);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count() / 100);
  }
  CHECK(best < 5e-6);
}

TEST_CASE("an interrupt ends a launch within 100 ms and the device stays usable", "[device]") {
  for (const int threads : {1, 2}) {
    Fixture fixture(threads, slow_units);
    const HostStorageRef visits = zeros(fixture, 4 * 1'000'000);
    Launch launch;
    launch.storages = {visits};
    launch.byte_offsets = {0};
    launch.scalars = {50};
    launch.units = 1'000'000;  // 50 s
    Clock::time_point flagged;
    std::thread user([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(80));
      flagged = Clock::now();
      fixture.interrupt = true;
    });
    CHECK_THROWS_AS(fixture.run(launch), Interrupted);
    const double passed = std::chrono::duration<double>(Clock::now() - flagged).count();
    user.join();
    CHECK(passed < 0.1);
    // Nothing goes on behind the caller's back.
    const auto* data = static_cast<const int32_t*>(visits->write());
    const int64_t done = std::accumulate(data, data + launch.units, int64_t{0});
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(std::accumulate(data, data + launch.units, int64_t{0}) == done);
    CHECK(done > 0);
    CHECK_THROWS_AS(fixture.run(launch), Interrupted);  // as long as the flag is up
    fixture.interrupt = false;
    launch.units = 10;
    fixture.run(launch);
  }
}

TEST_CASE("an exception in a kernel reaches the caller after the others have ended", "[device]") {
  for (const int threads : {1, 2}) {
    Fixture fixture(threads, throwing);
    Launch launch;
    launch.units = 10'000;
    CHECK_THROWS_WITH(fixture.run(launch), "kernel failed");
  }
}

TEST_CASE("a file larger than the memory streams through a bounded window", "[device]") {
  constexpr int64_t kBytes = 384 << 20, kUnitBytes = 256 << 10, kHeader = 128;
  const std::filesystem::path path = std::filesystem::temp_directory_path() / ("gasell_stream_" + std::to_string(getpid()));
  {
    std::vector<uint64_t> part((1 << 20) / 8);
    std::iota(part.begin(), part.end(), 1);
    std::ofstream out(path, std::ios::binary);
    out.write("x", 1).seekp(kHeader);
    for (int64_t i = 0; i < kBytes >> 20; ++i) out.write(reinterpret_cast<const char*>(part.data()), 1 << 20);
    REQUIRE(out.flush().good());
  }
  {
    Fixture fixture(2, sum_bytes, 256 << 20);
    Launch launch;
    launch.units = kBytes / kUnitBytes;
    const HostStorageRef file = map_file(path, 0, kHeader + kBytes), sums = zeros(fixture, launch.units * 8);
    launch.storages = {file, sums};
    launch.byte_offsets = {kHeader, 0};
    launch.scalars = {kUnitBytes / 8};
    launch.bytes = kBytes;
    launch.streamed = {{0, kUnitBytes}};
    const int64_t before = resident_bytes();
    std::atomic<bool> watching{true};
    int64_t most = 0;
    std::thread watch([&] {
      while (watching) {
        most = std::max(most, resident_bytes());
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    fixture.run(launch);
    const int64_t after = resident_bytes();
    watching = false;
    watch.join();
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // which keep more than what is used
    CHECK(most - before < 96 << 20);
    CHECK(after - before < 8 << 20);
#endif
    const auto* data = static_cast<const uint64_t*>(sums->write());
    const uint64_t n = (1 << 20) / 8;
    CHECK(std::accumulate(data, data + launch.units, uint64_t{0}) == (kBytes >> 20) * (n * (n + 1) / 2));
  }
  std::filesystem::remove(path);
}
