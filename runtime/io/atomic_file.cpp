#include "runtime/io/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <utility>

#include "lang/diagnostic.h"
#include "runtime/io/os_error.h"

namespace gasell {
namespace {

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
  std::filesystem::path shown, target, temporary;
  const Access access;
  int descriptor = -1;

  ~State() {
    if (descriptor >= 0) close(descriptor);
    if (!temporary.empty()) unlink(temporary.c_str());
  }
};

AtomicFile::AtomicFile(const std::filesystem::path& path, Access access) : state_(std::make_unique<State>(access)) {
  State& s = *state_;
  const bool anywhere = access == Access::anywhere;
  s.shown = path;
  s.target = resolved(path);
  struct stat old;
  const bool replaces = stat(s.target.c_str(), &old) == 0;
  if (replaces && S_ISDIR(old.st_mode)) throw os_error(EISDIR, path);
  if (anywhere && replaces && !S_ISREG(old.st_mode))
    throw Error("OSError", fmt::format("{} is not a regular file", in_quotes(path)), {}, Blame::environment);
  if (replaces && ::access(s.target.c_str(), W_OK) != 0) throw os_error(errno, path);
  if (replaces && !S_ISREG(old.st_mode)) {  // a pipe or a terminal: there is nothing to replace
    s.descriptor = open(s.target.c_str(), O_WRONLY | O_CLOEXEC);
    if (s.descriptor < 0) throw os_error(errno, path);
    return;
  }
  std::random_device entropy;
  for (int attempt = 0; s.descriptor < 0; ++attempt) {
    s.temporary = s.target.parent_path() / fmt::format(".{}.{:08x}.tmp", s.target.filename().string().substr(0, 200), entropy());
    s.descriptor = open(s.temporary.c_str(), (anywhere ? O_RDWR : O_WRONLY) | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (s.descriptor >= 0) break;
    s.temporary.clear();
    if (errno != EEXIST || attempt == 100) throw os_error(errno, path);
  }
  if (replaces) fchmod(s.descriptor, old.st_mode & 07777);
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
  const bool replaces = !s.temporary.empty();
  if (replaces && s.access == Access::from_begin_to_end && fsync(s.descriptor) != 0) throw os_error(errno, s.shown);
  // Some file systems report a failed write only here.
  if (close(std::exchange(s.descriptor, -1)) != 0 && errno != EINTR) throw os_error(errno, s.shown);
  if (!replaces) return;
  if (rename(s.temporary.c_str(), s.target.c_str()) != 0) throw os_error(errno, s.shown);
  s.temporary.clear();
}

void append_to_file(const std::filesystem::path& path, std::string_view bytes) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) throw os_error(errno, path);
  const off_t before = lseek(descriptor, 0, SEEK_END);
  int failure = write_all(descriptor, bytes);
  if (failure != 0 && before >= 0 && ftruncate(descriptor, before) != 0) failure = errno;
  if (close(descriptor) != 0 && errno != EINTR && failure == 0) failure = errno;
  if (failure != 0) throw os_error(failure, path);
}

}  // namespace gasell
