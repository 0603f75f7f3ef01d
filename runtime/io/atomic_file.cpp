#include "runtime/io/atomic_file.h"
#include "runtime/device/sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <string>
#include <utility>

#include "lang/diagnostic.h"
#include "runtime/io/os_error.h"

namespace gasell {
namespace {

constexpr int kAttempts = 100;  // to find a name that no other file has

/// Where the file really goes: through symbolic links, even to a file that is still to come.
std::filesystem::path resolved(const std::filesystem::path& path) {
  std::filesystem::path target = path;
  std::error_code failure;
  for (int links = 0; links < 40 && std::filesystem::is_symlink(target, failure); ++links) {
    const std::filesystem::path next = std::filesystem::read_symlink(target, failure);
    if (failure) break;
    target = target.parent_path() / next;
  }
  return target;
}

/// A new file without a name, which goes away with the process however that ends; -1 where the file system or the system has none.
int open_unnamed(const std::filesystem::path& folder, int access_mode) {
  if (::access("/proc/self/fd", X_OK) != 0) return -1;  // its way to a name
  return open(folder.empty() ? "." : folder.c_str(), access_mode | O_TMPFILE | O_CLOEXEC, 0666);
}

/// Whether opening a new file failed because its folder takes none, though files that are in it may be written.
bool takes_no_files(int failure) { return failure == EACCES || failure == EPERM || failure == EROFS; }

/// Whether a file could not take the place of another one that is a mount, or another user's in a folder like /tmp.
bool is_held_in_place(int failure) { return takes_no_files(failure) || failure == EBUSY || failure == EXDEV; }

/// 0, or the errno of what failed.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), std::min<size_t>(bytes.size(), 1 << 30));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return 0;
}

}  // namespace

struct AtomicFile::State {
  explicit State(Access a) : access(a) {}
  /// A path beside the target that no other file has, most likely.
  std::filesystem::path beside() {
    return target.parent_path() / fmt::format(".{}.{:08x}.tmp", target.filename().string().substr(0, 200), entropy());
  }
  /// Gives the file, which has no name so far, one beside the target.
  void name() {
    const std::string self = fmt::format("/proc/self/fd/{}", descriptor);
    for (int attempt = 0; temporary.empty(); ++attempt) {
      const std::filesystem::path path = beside();
      if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0)
        temporary = path;
      else if (errno != EEXIST || attempt == kAttempts)
        throw os_error(errno, shown);
    }
  }

  /// Writes the file's bytes over the target's.
  void copy_to_target() const {
    const int to = open(target.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    int failure = to < 0 ? errno : 0;
    std::string bytes(size_t{1} << 20, '\0');
    for (off_t at = 0; failure == 0;) {
      const ssize_t count = pread(descriptor, bytes.data(), bytes.size(), at);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) failure = errno;
      if (count <= 0) break;
      failure = write_all(to, std::string_view(bytes).substr(0, static_cast<size_t>(count)));
      at += count;
    }
    if (to >= 0 && close(to) != 0 && errno != EINTR && failure == 0) failure = errno;
    if (failure != 0) throw os_error(failure, shown);
  }

  std::filesystem::path shown, target, temporary;  // temporary: empty where the file has no name, or is the target
  const Access access;
  int descriptor = -1;
  bool replaces = true;   // else it is written to as it is
  bool in_place = false;  // the target cannot be replaced: it takes the bytes of the file, which lies elsewhere, in commit()
  std::random_device entropy;

  ~State() {
    if (descriptor >= 0) close(descriptor);
    if (!temporary.empty()) unlink(temporary.c_str());
  }
};

AtomicFile::AtomicFile(const std::filesystem::path& path, Access access) : state_(std::make_unique<State>(access)) {
  require_writable(path);
  State& s = *state_;
  const bool anywhere = access == Access::anywhere;
  const int access_mode = anywhere ? O_RDWR : O_WRONLY;
  s.shown = path;
  s.target = resolved(path);
  struct stat old;
  const bool is_there = stat(s.target.c_str(), &old) == 0;
  if (is_there && S_ISDIR(old.st_mode)) throw os_error(EISDIR, path);
  if (anywhere && is_there && !S_ISREG(old.st_mode))
    throw Error("OSError", fmt::format("{} is not a regular file", in_quotes(path)), {}, Blame::environment);
  if (is_there && ::access(s.target.c_str(), W_OK) != 0) throw os_error(errno, path);
  if (is_there && !S_ISREG(old.st_mode)) {  // a pipe or a terminal: there is nothing to replace
    s.replaces = false;
    s.descriptor = open(s.target.c_str(), O_WRONLY | O_CLOEXEC);
    if (s.descriptor < 0) throw os_error(errno, path);
    return;
  }
  s.descriptor = open_unnamed(s.target.parent_path(), access_mode);
  for (int attempt = 0; s.descriptor < 0; ++attempt) {
    s.temporary = s.beside();
    s.descriptor = open(s.temporary.c_str(), access_mode | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (s.descriptor >= 0) break;
    s.temporary.clear();
    if (errno == EEXIST && attempt < kAttempts) continue;
    if (!is_there || !takes_no_files(errno)) throw os_error(errno, path);
    s.in_place = true;
    std::error_code failure;
    s.descriptor = open_unnamed(std::filesystem::temp_directory_path(failure), O_RDWR);
    if (s.descriptor < 0) s.descriptor = memfd_create("gasell", MFD_CLOEXEC);
    if (s.descriptor < 0) throw os_error(errno, path);
    return;
  }
  if (is_there) fchmod(s.descriptor, old.st_mode & 07777);
}

AtomicFile::~AtomicFile() = default;

void AtomicFile::write(std::string_view bytes) {
  if (const int failure = write_all(state_->descriptor, bytes)) throw os_error(failure, state_->shown);
}

void AtomicFile::reserve(int64_t bytes) {
  if (bytes == 0) return;
  int failure = EINTR;
  while (failure == EINTR) failure = posix_fallocate(state_->descriptor, 0, bytes);
  if (failure != 0) throw os_error(failure, state_->shown);
}

void AtomicFile::write_at(int64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = pwrite(state_->descriptor, bytes.data(), std::min<size_t>(bytes.size(), 1 << 30), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw os_error(errno, state_->shown);
    offset += count;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

int AtomicFile::descriptor() const { return state_->descriptor; }

void AtomicFile::commit() {
  State& s = *state_;
  if (s.in_place) return s.copy_to_target();
  if (s.replaces && s.access == Access::from_begin_to_end && fsync(s.descriptor) != 0) throw os_error(errno, s.shown);
  if (s.replaces && s.temporary.empty()) s.name();
  // Some file systems report a failed write only here.
  if (close(std::exchange(s.descriptor, -1)) != 0 && errno != EINTR) throw os_error(errno, s.shown);
  if (!s.replaces) return;
  if (rename(s.temporary.c_str(), s.target.c_str()) == 0) {
    s.temporary.clear();
    return;
  }
  const int failure = errno;
  if (is_held_in_place(failure) && ::access(s.target.c_str(), W_OK) == 0) s.descriptor = open(s.temporary.c_str(), O_RDONLY | O_CLOEXEC);
  if (s.descriptor < 0) throw os_error(failure, s.shown);
  s.copy_to_target();
}

void append_to_file(const std::filesystem::path& path, std::string_view bytes) {
  require_writable(path);
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) throw os_error(errno, path);
  const off_t before = lseek(descriptor, 0, SEEK_END);
  int failure = write_all(descriptor, bytes);
  if (failure != 0 && before >= 0 && ftruncate(descriptor, before) != 0) failure = errno;
  if (close(descriptor) != 0 && errno != EINTR && failure == 0) failure = errno;
  if (failure != 0) throw os_error(failure, path);
}

}  // namespace gasell
