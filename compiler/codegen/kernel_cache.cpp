#include "compiler/codegen/kernel_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace gasell {
namespace {

namespace fs = std::filesystem;

struct Header {
  char magic[8];
  uint64_t length;
  uint64_t checksum;
};
constexpr char kMagic[8] = {'g', 's', 'l', 'k', 'e', 'r', 'n', '2'};

Header header_for(std::string_view key, std::string_view content) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.length = content.size();
  header.checksum = XXH3_64bits_withSeed(content.data(), content.size(), XXH3_64bits(key.data(), key.size()));
  return header;
}

/// An open file that closes itself; `number` is negative when it could not be opened.
struct Descriptor {
  int number;
  explicit Descriptor(int number) : number(number) {}
  ~Descriptor() {
    if (number >= 0) close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
};

bool read_all(int descriptor, char* to, size_t size) {
  while (size > 0) {
    const ssize_t n = read(descriptor, to, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    to += n, size -= static_cast<size_t>(n);
  }
  return true;
}
bool write_all(int descriptor, std::string_view from) {
  while (!from.empty()) {
    const ssize_t n = write(descriptor, from.data(), from.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    from.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

fs::path default_directory() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/') return fs::path(cache) / "gasell";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache" / "gasell";
  return {};
}

constexpr std::string_view kSuffix = ".kernel", kTemporary = "tmp.XXXXXX";
constexpr const char* kFolder = "kernels";
constexpr const char* kMarker = "CACHEDIR.TAG";
// The first line is what backups look for (bford.info/cachedir).
constexpr std::string_view kMarked =
    "Signature: 8a477f597d28d172789f06886806bc55\n# Compiled kernels of Gasell, which removes the oldest; all of them may be removed at "
    "any time.\n";

bool is_temporary(const std::string& name) { return name.size() == kTemporary.size() && name.starts_with(kTemporary.substr(0, 4)); }
/// An entry, or what a writer that was killed left of one.
bool is_ours(const fs::path& file) { return file.filename().native().ends_with(kSuffix) || is_temporary(file.filename()); }

/// Makes a file with this content in place of what is there; readers see it whole.
bool publish(const fs::path& path, const std::initializer_list<std::string_view> parts) {
  std::string temporary = (path.parent_path() / kTemporary).string();
  const Descriptor file(mkostemp(temporary.data(), O_CLOEXEC));
  if (file.number < 0) return false;
  const bool written = std::all_of(parts.begin(), parts.end(), [&](std::string_view part) { return write_all(file.number, part); });
  if (written && rename(temporary.c_str(), path.c_str()) == 0) return true;
  unlink(temporary.c_str());
  return false;
}

/// Makes the folder (0700) where it is missing. Why it cannot be used, or "".
std::string prepare(const fs::path& directory) {
  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return directory.string() + ": " + std::strerror(errno);
  struct stat facts{};
  if (lstat(directory.c_str(), &facts) != 0) return directory.string() + ": " + std::strerror(errno);
  if (!S_ISDIR(facts.st_mode)) return directory.string() + " is not a folder";
  if (facts.st_uid != geteuid()) return directory.string() + " belongs to another user";
  if (facts.st_mode & (S_IWGRP | S_IWOTH)) return directory.string() + " can be written by others";
  return "";
}

/// Marks the folder of the entries as ours where it is new; one that holds anything else without our marker is somebody's.
std::string mark(const fs::path& directory) {
  const fs::path marker = directory / kMarker;
  std::error_code error;
  if (fs::exists(fs::symlink_status(marker, error))) {
    const Descriptor file(open(marker.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    std::string found(kMarked.size(), '\0');
    return file.number >= 0 && read_all(file.number, found.data(), found.size()) && found == kMarked ? ""
                                                                                                     : marker.string() + " is not Gasell's";
  }
  for (const auto& item : fs::directory_iterator(directory, error))
    if (!is_temporary(item.path().filename())) return directory.string() + " holds other files and no " + kMarker;
  return publish(marker, {kMarked}) ? "" : directory.string() + ": " + std::strerror(errno);
}

}  // namespace

KernelCache::KernelCache(bool enabled, fs::path directory, int64_t limit) : limit_(limit), unchecked_(limit) {
  if (!enabled) return;
  if (directory.empty()) directory = default_directory();
  if (directory.empty()) {
    why_off_ = "no home directory";
    return;
  }
  std::error_code ignored;
  fs::create_directories(directory.parent_path(), ignored);
  why_off_ = prepare(directory);
  if (why_off_.empty()) why_off_ = prepare(directory / kFolder);
  if (why_off_.empty()) why_off_ = mark(directory / kFolder);
  if (why_off_.empty()) directory_ = directory / kFolder;
}

fs::path KernelCache::path_of(std::string_view key) const { return directory_ / std::string(key).append(kSuffix); }

std::optional<std::string> KernelCache::find(std::string_view key) const {
  if (directory_.empty()) return {};
  // Not through links, not waiting for pipes: a file of ours or nothing.
  const Descriptor file(open(path_of(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat facts{};
  if (file.number < 0 || fstat(file.number, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_uid != geteuid()) return {};
  Header header{};
  if (!read_all(file.number, reinterpret_cast<char*>(&header), sizeof header) || std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    return {};
  if (static_cast<uint64_t>(facts.st_size) - sizeof header != header.length) return {};
  std::string content(header.length, '\0');
  if (!read_all(file.number, content.data(), content.size()) || header_for(key, content).checksum != header.checksum) return {};
  futimens(file.number, nullptr);  // now: for the eviction of what was not used for long
  return content;
}

void KernelCache::insert(std::string_view key, std::string_view content) const {
  if (directory_.empty()) return;
  const Header header = header_for(key, content);
  if (!publish(path_of(key), {{reinterpret_cast<const char*>(&header), sizeof header}, content})) return;
  // The first insertion looks after the limit, and then each that fills another part of it.
  if (unchecked_ += static_cast<int64_t>(content.size()); unchecked_ < limit_ / 8) return;
  unchecked_ = 0;
  evict();
}

std::vector<KernelCache::Entry> KernelCache::entries() const {
  std::vector<Entry> found;
  std::error_code error;
  for (const auto& item : fs::directory_iterator(directory_, error)) {
    if (!is_ours(item.path()) || !fs::is_regular_file(item.symlink_status(error))) continue;
    const auto bytes = static_cast<int64_t>(item.file_size(error));
    if (!error) found.push_back({item.path(), item.last_write_time(error), bytes});
  }
  return found;
}

void KernelCache::evict() const {
  std::vector<Entry> all = entries();
  int64_t total = 0;
  for (const Entry& e : all) total += e.bytes;
  if (total <= limit_) return;
  std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  std::error_code error;
  for (const Entry& e : all) {
    if (total <= limit_ / 4 * 3) break;
    if (fs::remove(e.path, error)) total -= e.bytes;
  }
}

std::string KernelCache::describe() const {
  if (!directory_.empty()) return directory_.string();
  return why_off_.empty() ? "off" : "off: " + why_off_;
}

KernelCache::Usage KernelCache::usage() const {
  Usage usage;
  if (directory_.empty()) return usage;
  for (const Entry& e : entries()) {
    ++usage.entries;
    usage.bytes += e.bytes;
  }
  return usage;
}

}  // namespace gasell
