#include "compiler/codegen/kernel_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
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
constexpr char kMagic[8] = {'g', 's', 'l', 'k', 'e', 'r', 'n', '1'};
constexpr int kInsertsBetweenEvictions = 64;

fs::path default_directory() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/') return fs::path(cache) / "gasell";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache" / "gasell";
  return {};
}

/// Makes the folder (0700) where it is missing. Why it cannot be used, or "".
std::string prepare(const fs::path& directory) {
  if (directory.empty()) return "no home directory";
  std::error_code error;
  fs::create_directories(directory.parent_path(), error);
  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return directory.string() + ": " + std::strerror(errno);
  struct stat facts {};
  if (lstat(directory.c_str(), &facts) != 0) return directory.string() + ": " + std::strerror(errno);
  if (!S_ISDIR(facts.st_mode)) return directory.string() + " is not a folder";
  if (facts.st_uid != geteuid()) return directory.string() + " belongs to another user";
  if (facts.st_mode & (S_IWGRP | S_IWOTH)) return directory.string() + " can be written by others";
  return "";
}

}  // namespace

KernelCache::KernelCache(bool enabled, fs::path directory, int64_t limit) : limit_(limit) {
  if (!enabled) return;
  if (directory.empty()) directory = default_directory();
  why_off_ = prepare(directory);
  if (why_off_.empty()) directory_ = std::move(directory);
}

std::optional<std::string> KernelCache::find(std::string_view key) const {
  if (directory_.empty()) return {};
  const fs::path path = directory_ / key;
  std::ifstream file(path, std::ios::binary);
  Header header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header) || std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return {};
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error || size != sizeof header + header.length) return {};
  std::string content(header.length, '\0');
  if (!file.read(content.data(), static_cast<std::streamsize>(content.size())) || XXH3_64bits(content.data(), content.size()) != header.checksum) return {};
  fs::last_write_time(path, fs::file_time_type::clock::now(), error);  // for the eviction of what was not used for long
  return content;
}

void KernelCache::insert(std::string_view key, std::string_view content) const {
  if (directory_.empty()) return;
  std::string temporary = (directory_ / "tmp.XXXXXX").string();
  const int descriptor = mkstemp(temporary.data());
  if (descriptor < 0) return;
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.length = content.size();
  header.checksum = XXH3_64bits(content.data(), content.size());
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += content;
  size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t n = write(descriptor, bytes.data() + written, bytes.size() - written);
    if (n <= 0) break;
    written += static_cast<size_t>(n);
  }
  close(descriptor);
  if (written != bytes.size() || rename(temporary.c_str(), (directory_ / key).c_str()) != 0) {
    unlink(temporary.c_str());
    return;
  }
  static thread_local int inserts = 0;
  if (++inserts % kInsertsBetweenEvictions == 1) evict();
}

void KernelCache::evict() const {
  struct Entry {
    fs::path path;
    fs::file_time_type used;
    int64_t bytes;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  std::error_code error;
  for (const auto& item : fs::directory_iterator(directory_, error)) {
    const auto bytes = static_cast<int64_t>(item.file_size(error));
    if (error) continue;
    entries.push_back({item.path(), item.last_write_time(error), bytes});
    total += bytes;
  }
  if (total <= limit_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& e : entries) {
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
  std::error_code error;
  for (const auto& item : fs::directory_iterator(directory_, error)) {
    ++usage.entries;
    usage.bytes += static_cast<int64_t>(item.file_size(error));
  }
  return usage;
}

}  // namespace gasell
