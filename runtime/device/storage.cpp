#include "runtime/device/storage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cmath>
#include <mutex>
#include <utility>
#include <vector>

#include "lang/diagnostic.h"
#include "runtime/device/mapping_guard.h"
#include "runtime/device/pages.h"
#include "runtime/device/sandbox.h"
#include "runtime/io/os_error.h"

namespace gasell {

void HostStorage::release(int64_t, int64_t) {}
void HostStorage::expect(int64_t, int64_t) {}
void HostStorage::drop_copies() {
  copies_->bring_home(*this, 0, bytes_);
  copies_.reset();
}

namespace {

class MappedStorage final : public HostStorage {
 public:
  MappedStorage(void* base, int64_t mapped, int64_t lead, int64_t bytes, bool writable, std::filesystem::path shown)
      : base_(base), mapped_(mapped), lead_(lead), shown_(std::move(shown)), guard_(base, mapped) {
    data_.store(static_cast<char*>(base) + lead, std::memory_order_relaxed);
    bytes_ = bytes;
    writable_ = writable;
  }
  ~MappedStorage() override { munmap(base_, mapped_); }
  bool is_mapped() const override { return true; }
  bool is_shared() const override { return writable_; }
  void check() const override {
    if (guard_.lost())
      throw Error("OSError", fmt::format("{} was made shorter while an array was reading it", in_quotes(shown_)), "load it again",
                  Blame::environment);
  }

  // Neither advice changes the file's contents as the mapping shows them: it is read-only or shared, so dropped pages are read again.
  void release(int64_t begin, int64_t end) override { advise(begin, end, MADV_DONTNEED); }
  void expect(int64_t begin, int64_t end) override { advise(begin, end, MADV_WILLNEED); }

 private:
  void advise(int64_t begin, int64_t end, int advice) const {
    advise_pages(base_, mapped_, std::max<int64_t>(begin, 0) + lead_, std::min(end, bytes_) + lead_, advice);
  }

  void* base_;
  int64_t mapped_;  // bytes of the mapping, from base_
  int64_t lead_;    // bytes before data_
  std::filesystem::path shown_;
  MappingGuard guard_;
};

class ExternalStorage final : public HostStorage {
 public:
  ExternalStorage(void* data, int64_t bytes, bool writable, std::function<void()> release) : release_(std::move(release)) {
    data_.store(data, std::memory_order_relaxed);
    bytes_ = bytes;
    writable_ = writable;
  }
  ~ExternalStorage() override {
    keep_copies(nullptr);
    if (release_) release_();
  }
  bool is_shared() const override { return true; }

 private:
  std::function<void()> release_;
};

}  // namespace

HostStorageRef map_descriptor(int descriptor, const std::filesystem::path& shown, int64_t offset, int64_t bytes, bool writable) {
  struct stat facts;
  if (fstat(descriptor, &facts) != 0) throw os_error(errno, shown);
  if (S_ISDIR(facts.st_mode)) throw os_error(EISDIR, shown);
  if (!S_ISREG(facts.st_mode))
    throw Error("OSError", fmt::format("{} is not a regular file and cannot be mapped", in_quotes(shown)), {}, Blame::environment);
  if (offset < 0 || bytes < 0 || offset > facts.st_size || bytes > facts.st_size - offset) {
    throw Error("ValueError", fmt::format("{} holds {} bytes, fewer than the {} that are needed from offset {}", in_quotes(shown),
                                          facts.st_size, bytes, offset));
  }
  if (bytes == 0) {
    alignas(kAlignment) static char nothing[kAlignment];
    return external(nothing, 0, writable);
  }
  const int64_t first = round_down(offset, page_size());
  const int64_t mapped = bytes + (offset - first);
  void* const base = mmap(nullptr, mapped, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, descriptor, first);
  if (base == MAP_FAILED) {
    if (errno == ENOMEM)
      throw Error("MemoryError", fmt::format("Unable to map {} of {}", memory_text(bytes), in_quotes(shown)), {}, Blame::environment);
    throw os_error(errno, shown);
  }
  madvise(base, mapped, MADV_SEQUENTIAL);
  return std::make_shared<MappedStorage>(base, mapped, offset - first, bytes, writable, shown);
}

HostStorageRef map_file(const std::filesystem::path& path, int64_t offset, int64_t bytes) {
  require_readable(path);
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) throw os_error(errno, path);
  try {
    HostStorageRef storage = map_descriptor(descriptor, path, offset, bytes);
    close(descriptor);
    return storage;
  } catch (...) {
    close(descriptor);
    throw;
  }
}

HostStorageRef external(void* data, int64_t bytes, bool writable, std::function<void()> release) {
  return std::make_shared<ExternalStorage>(data, bytes, writable, std::move(release));
}

std::string memory_text(int64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB"};
  int unit = bytes > 1 ? (std::bit_width(static_cast<uint64_t>(bytes)) - 1) / 10 : 0;
  double value = std::ldexp(static_cast<double>(bytes), -10 * unit);
  if (std::nearbyint(value) == 1024) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0) return fmt::format("{} bytes", bytes);
  // NumPy keeps the point of a number without decimals: "512. MiB".
  if (value >= 99.95) return fmt::format("{:.0f}. {}", value, kUnits[unit]);
  return fmt::format("{:.{}f} {}", value, value >= 9.995 ? 1 : 2, kUnits[unit]);
}

}  // namespace gasell
