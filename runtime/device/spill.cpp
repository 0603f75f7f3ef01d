#include "runtime/device/spill.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include "lang/diagnostic.h"
#include "runtime/device/parse_bytes.h"

namespace gasell {
namespace {

namespace fs = std::filesystem;

// Of what a disk has free; the rest is left to others.
constexpr double kUsable = 0.9;

bool is_on_disk(const fs::path& directory) {
  struct statfs facts;
  std::error_code ignored;
  return fs::is_directory(directory, ignored) && statfs(directory.c_str(), &facts) == 0 && facts.f_type != TMPFS_MAGIC &&
         facts.f_type != RAMFS_MAGIC;
}

/// A new file that has no name, or -1 and errno.
int open_unnamed(const fs::path& directory) {
  const int unnamed = open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (unnamed >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return unnamed;
  std::string name = (directory / "gasell-XXXXXX").string();
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

/// 0, or the number of the error.
int reserve(int file, int64_t bytes) {
  rlimit limit;
  // Going beyond it is a signal first.
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && static_cast<rlim_t>(bytes) > limit.rlim_cur) return EFBIG;
  struct statfs facts;
  if (fstatfs(file, &facts) == 0 &&
      static_cast<double>(bytes) > kUsable * static_cast<double>(facts.f_bavail) * static_cast<double>(facts.f_bsize))
    return ENOSPC;
  for (;;) {
    const int failed = posix_fallocate(file, 0, bytes);
    if (failed != EINTR) return failed;
  }
}

}  // namespace

SpillPlace spill_place_from_environment() {
  SpillPlace place;
  if (const char* most = std::getenv("GASELL_SPILL"); most && *most) {
    if (std::string_view(most) == "0") return place;
    try {
      place.most = parse_bytes(most);
    } catch (const Error& e) {
      throw Error("ValueError", "GASELL_SPILL: " + e.diagnostic().message, e.diagnostic().hint);
    }
  }
  if (const char* own = std::getenv("GASELL_TMPDIR"); own && *own) {
    place.directory = own;
    return place;
  }
  const char* const usual = std::getenv("TMPDIR");
  for (const char* directory : {usual ? usual : "", "/var/tmp", "/tmp"}) {
    if (!*directory || !is_on_disk(directory)) continue;
    place.directory = directory;
    break;
  }
  return place;
}

void* map_temporary_file(const fs::path& directory, int64_t bytes, std::string& why) noexcept {
  const auto refuse = [&](int error) -> void* {
    const bool full = error == ENOSPC || error == EFBIG || error == EDQUOT || error == ENOMEM;
    why = full ? "the disk has no room for it" : fmt::format("'{}' takes no file: {}", directory.string(), std::strerror(error));
    return nullptr;
  };
  const int file = open_unnamed(directory);
  if (file < 0) return refuse(errno);
  void* memory = MAP_FAILED;
  int failed = reserve(file, bytes);
  if (failed == 0) {
    memory = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    failed = memory == MAP_FAILED ? errno : 0;
  }
  close(file);
  if (failed) return refuse(failed);
  madvise(memory, static_cast<size_t>(bytes), MADV_DONTDUMP);
  return memory;
}

}  // namespace gasell
