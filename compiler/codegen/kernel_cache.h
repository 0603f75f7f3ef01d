// Compiled objects on disk, found by content: safe against damage, other users and concurrent writers.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gasell {

/// Each entry is a file named by its key, with a header that holds a magic number, the length and a checksum over key and content. It is
/// published by rename, so readers see whole files only; what does not check out counts as absent. The folder is used only if it is ours
/// and nobody else may write it. Entries stand in a sub-folder "kernels" that holds a marker (CACHEDIR.TAG, which backups know too), and
/// only files there that are named as entries are ever removed: the folder may be one that its user keeps other things in. Failures of any
/// kind (full disk, no permission) mean no cache, never an error.
class KernelCache {
 public:
  /// An empty directory: $XDG_CACHE_HOME/gasell, else ~/.cache/gasell.
  KernelCache(bool enabled, std::filesystem::path directory, int64_t limit);

  std::optional<std::string> find(std::string_view key) const;
  void insert(std::string_view key, std::string_view content) const;

  /// Where, or why not: "off", "~/.cache/gasell/kernels", "off: /tmp/x belongs to another user".
  std::string describe() const;
  struct Usage {
    int64_t entries = 0, bytes = 0;
  };
  Usage usage() const;

 private:
  struct Entry {
    std::filesystem::path path;
    std::filesystem::file_time_type used;
    int64_t bytes;
  };
  std::vector<Entry> entries() const;
  std::filesystem::path path_of(std::string_view key) const;
  void evict() const;

  std::filesystem::path directory_;  // of the entries; empty: off
  std::string why_off_;
  int64_t limit_;
  mutable std::atomic<int64_t> unchecked_;  // bytes inserted since the limit was last looked after
};

}  // namespace gasell
