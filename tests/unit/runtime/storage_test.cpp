#include "runtime/device/storage.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include "catch.h"
#include "lang/diagnostic.h"

using namespace gasell;
namespace fs = std::filesystem;

namespace {

/// A file in the temporary directory that goes away with the object.
struct TemporaryFile {
  explicit TemporaryFile(int64_t bytes) : path(fs::temp_directory_path() / ("gasell_storage_" + std::to_string(getpid()))) {
    std::ofstream out(path, std::ios::binary);
    for (int64_t i = 0; i < bytes; ++i) out.put(static_cast<char>(i * 7 % 251));
  }
  ~TemporaryFile() { fs::remove(path); }
  fs::path path;
};

template <class F>
Diagnostic failure(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.diagnostic();
  }
  return {};
}

int64_t resident_file_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("RssFile:", 0) == 0) return std::stoll(line.substr(8)) * 1024;
  return 0;
}

}  // namespace

TEST_CASE("memory sizes read as NumPy's", "[storage]") {
  CHECK(memory_text(0) == "0 bytes");
  CHECK(memory_text(1023) == "1023 bytes");
  CHECK(memory_text(1024) == "1.00 KiB");
  CHECK(memory_text(8'000'000'000) == "7.45 GiB");
  CHECK(memory_text(80'000'000'000) == "74.5 GiB");
  CHECK(memory_text(2'000'000'000'000) == "1.82 TiB");
  CHECK(memory_text((int64_t{1} << 30) - 1) == "1.00 GiB");  // a unit up when it would round to 1024
}

TEST_CASE("allocations are aligned, counted and given back", "[storage]") {
  MemoryBudget budget(int64_t{1} << 30);
  for (const int64_t bytes : {0, 1, 100, 70'000, 5'000'000, 40'000'000}) {
    const int64_t before = budget.used();
    {
      const HostStorageRef storage = allocate(budget, bytes);
      CHECK(reinterpret_cast<uintptr_t>(storage->write()) % 64 == 0);
      CHECK(storage->bytes() == bytes);
      CHECK(storage->writable());
      CHECK_FALSE(storage->is_mapped());
      CHECK(budget.used() >= before + bytes);
      std::memset(storage->write(), 0xab, bytes);
    }
    CHECK(budget.used() == before);
    const HostStorageRef zeros = allocate(budget, bytes, true);
    const auto* data = static_cast<const unsigned char*>(zeros->write());
    CHECK(std::all_of(data, data + bytes, [](unsigned char c) { return c == 0; }));
  }
  CHECK(budget.peak() >= 40'000'000);
}

TEST_CASE("a freed block serves the next allocation of its size and gives way to others", "[storage]") {
#if !defined(__SANITIZE_ADDRESS__)
  MemoryBudget budget(100 << 20);
  void* first = allocate(budget, 20 << 20)->write();
  CHECK(budget.used() == 0);
  CHECK(budget.pooled() == 20 << 20);
  {
    const HostStorageRef again = allocate(budget, (20 << 20) - 5000);
    CHECK(again->write() == first);
    CHECK(budget.pooled() == 0);
  }
  CHECK(budget.pooled() == 20 << 20);
  // Live and waiting blocks together stay below the limit.
  const HostStorageRef large = allocate(budget, 90 << 20);
  CHECK(budget.pooled() == 0);
  // Waiting blocks take a quarter of the budget at most.
  MemoryBudget other(100 << 20);
  for (int i = 1; i <= 20; ++i) {
    std::vector<HostStorageRef> held;
    for (int k = 0; k < i; ++k) held.push_back(allocate(other, 1 << 20));
  }
  CHECK(other.pooled() <= 25 << 20);
  CHECK(other.pooled() > 0);
#endif
}

TEST_CASE("more than the budget is a MemoryError in NumPy's words", "[storage]") {
  MemoryBudget budget(1 << 30);
  const HostStorageRef held = allocate(budget, 512 << 20);
  const Diagnostic error = failure([&] { allocate(budget, 8'000'000'000); });
  CHECK(error.kind == "MemoryError");
  CHECK(error.message == "Unable to allocate 7.45 GiB");
  CHECK(error.hint == "512. MiB of the memory budget of 1.00 GiB are in use; --memory sets the budget");
  CHECK(error.blame == Blame::environment);
  CHECK(failure([&] { allocate(budget, INT64_MAX); }).kind == "MemoryError");
  CHECK(budget.used() == 512 << 20);
  // What the system refuses is a MemoryError too, and leaves the budget as it was.
  MemoryBudget unbounded(INT64_MAX);
  CHECK(failure([&] { allocate(unbounded, int64_t{1} << 60); }).kind == "MemoryError");
  CHECK(unbounded.used() == 0);
}

TEST_CASE("what exceeds the budget is on disk, where there is a place", "[storage]") {
  const fs::path place = fs::temp_directory_path() / ("gasell_spill_" + std::to_string(getpid()));
  fs::create_directory(place);
  {
    MemoryBudget budget(16 << 20, {place, 64 << 20});
    const HostStorageRef held = allocate(budget, 10 << 20), spilled = allocate(budget, (20 << 20) - 5), small = allocate(budget, 1 << 20);
    CHECK_FALSE(held->is_mapped());
    CHECK_FALSE(small->is_mapped());
    CHECK(spilled->is_mapped());
    CHECK_FALSE(spilled->is_shared());
    CHECK(spilled->writable());
    CHECK(budget.used() == 11 << 20);
    CHECK(budget.spilled() == 20 << 20);
    CHECK(fs::is_empty(place));
    auto* const data = static_cast<unsigned char*>(spilled->write());
    CHECK(std::all_of(data, data + spilled->bytes(), [](unsigned char c) { return c == 0; }));
    for (int64_t k = 0; k < spilled->bytes(); ++k) data[k] = static_cast<unsigned char>(k * 7 % 251);
    const int64_t touched = resident_file_bytes();
    spilled->release(1000, spilled->bytes());
    spilled->expect(-5, INT64_MAX / 2);
    bool same = true;
    for (int64_t k = 0; k < spilled->bytes(); ++k) same = same && data[k] == k * 7 % 251;
    CHECK(same);
    CHECK(touched > 0);
    // Memory that is taken later spills later.
    const HostStorageRef later = allocate_later(budget, 12 << 20);
    CHECK_FALSE(later->is_mapped());
    static_cast<char*>(later->host_memory())[0] = 1;
    CHECK(later->is_mapped());
    CHECK(budget.spilled() == 32 << 20);
    const Diagnostic error = failure([&] { allocate(budget, 40 << 20); });
    CHECK(error.kind == "MemoryError");
    CHECK(error.hint.find("32.0 MiB of the 64.0 MiB of GASELL_SPILL are on disk") != std::string::npos);
    CHECK(failure([&] { allocate(budget, INT64_MAX); }).hint.find("the disk has no room for it") != std::string::npos);
    MemoryBudget nowhere(1 << 20, {place / "none", 1 << 30});
    CHECK(failure([&] { allocate(nowhere, 2 << 20); }).hint.find("No such file") != std::string::npos);
  }
  MemoryBudget budget(16 << 20, {place, 64 << 20});
  {
    const HostStorageRef a = allocate(budget, 40 << 20);
  }
  CHECK(budget.spilled() == 0);
  CHECK(allocate(budget, 60 << 20)->is_mapped());
  fs::remove(place);
}

TEST_CASE("a storage may outlive its budget, and budgets take threads", "[storage]") {
  HostStorageRef survivor;
  {
    MemoryBudget budget(1 << 30);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&budget, t] {
        for (int i = 0; i < 300; ++i) std::memset(allocate(budget, 1000 * ((i * 37 + t) % 200))->write(), 1, 1);
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(budget.used() == 0);
    survivor = allocate(budget, 1 << 20);
  }
  std::memset(survivor->write(), 1, survivor->bytes());
}

TEST_CASE("memory that is put off is taken once, whoever reads it first", "[storage]") {
  MemoryBudget budget(1 << 30);
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> made{0};
    const HostStorageRef later = allocate_later(budget, 3 << 20);
    const HostStorageRef computed = deferred(1 << 20, [&] {
      ++made;
      HostStorageRef contents = allocate(budget, 1 << 20);
      std::memset(contents->write(), 7, 1 << 20);
      return contents;
    });
    constexpr int kThreads = 6;
    std::atomic<int> ready{0};
    std::vector<const void*> seen(kThreads);
    std::vector<char> right(kThreads);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        ++ready;
        while (ready < kThreads) std::this_thread::yield();
        seen[t] = later->read();
        const auto* const bytes = static_cast<const char*>(computed->read());
        right[t] = std::all_of(bytes, bytes + (1 << 20), [](char c) { return c == 7; });
      });
    for (std::thread& thread : threads) thread.join();
    REQUIRE(std::all_of(seen.begin(), seen.end(), [&](const void* p) { return p && p == seen[0]; }));
    REQUIRE(std::all_of(right.begin(), right.end(), [](char r) { return r; }));
    REQUIRE(made == 1);
    REQUIRE(budget.used() == 4 << 20);
  }
  CHECK(budget.used() == 0);
}

TEST_CASE("files are mapped from any offset", "[storage]") {
  const TemporaryFile file(300'000);
  for (const int64_t offset : {0, 1, 128, 4096, 5000}) {
    const HostStorageRef storage = map_file(file.path, offset, 290'000);
    CHECK(storage->is_mapped());
    CHECK_FALSE(storage->writable());
    const auto* data = static_cast<const unsigned char*>(storage->write());
    bool same = true;
    for (int64_t i = 0; i < 290'000; ++i) same = same && data[i] == (i + offset) * 7 % 251;
    CHECK(same);
  }
  CHECK(map_file(file.path, 300'000, 0)->bytes() == 0);
  CHECK(failure([&] { map_file(file.path, 10, 300'000); }).kind == "ValueError");
  CHECK(failure([&] { map_file(file.path, INT64_MAX, INT64_MAX); }).kind == "ValueError");
}

TEST_CASE("released pages of a mapped file leave memory and come back", "[storage]") {
  const TemporaryFile file(32 << 20);
  const HostStorageRef storage = map_file(file.path, 100, (32 << 20) - 100);
  const auto* data = static_cast<const unsigned char*>(storage->write());
  storage->expect(0, storage->bytes());
  int64_t sum = 0;
  for (int64_t i = 0; i < storage->bytes(); ++i) sum += data[i];
  const int64_t touched = resident_file_bytes();
  storage->release(0, storage->bytes());
  CHECK(touched - resident_file_bytes() > 30 << 20);
  int64_t again = 0;
  for (int64_t i = 0; i < storage->bytes(); ++i) again += data[i];
  CHECK(again == sum);
  storage->release(-5, INT64_MAX / 2);  // clamped
  storage->release(10, 5);
}

TEST_CASE("files that cannot be mapped say why as Python does", "[storage]") {
  const Diagnostic missing = failure([] { map_file("no/such/file.npy", 0, 1); });
  CHECK(missing.kind == "FileNotFoundError");
  CHECK(missing.message == "[Errno 2] No such file or directory: 'no/such/file.npy'");
  CHECK(failure([] { map_file("/", 0, 1); }).kind == "IsADirectoryError");
  CHECK(failure([] { map_file("/dev/null", 0, 1); }).kind == "OSError");
}

TEST_CASE("external memory is released with its last user", "[storage]") {
  std::vector<double> memory(10);
  int released = 0;
  HostStorageRef storage = external(memory.data(), 80, true, [&] { ++released; });
  const HostStorageRef other = storage;
  CHECK(storage->write() == memory.data());
  storage.reset();
  CHECK(released == 0);
  const_cast<HostStorageRef&>(other).reset();
  CHECK(released == 1);
}
