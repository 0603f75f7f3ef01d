// Compiled objects on disk, found by content: safe against damage, other users and concurrent writers.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace gasell {

/// Each entry is a file named by its key, with a header that holds a magic number, the length and a checksum over key and content. It is
/// published by rename, so readers see whole files only; what does not check out counts as absent. The folder is used only if it is ours
/// and nobody else may write it. Failures of any kind (full disk, no permission) mean no cache, never an error.
class KernelCache {
 public:
  /// An empty directory: $XDG_CACHE_HOME/gasell, else ~/.cache/gasell.
  KernelCache(bool enabled, std::filesystem::path directory, int64_t limit);

  std::optional<std::string> find(std::string_view key) const;
  void insert(std::string_view key, std::string_view content) const;

  /// Where, or why not: "off", "~/.cache/gasell", "off: /tmp/x belongs to another user".
  std::string describe() const;
  struct Usage {
    int64_t entries = 0, bytes = 0;
  };
  Usage usage() const;

 private:
  void evict() const;

  std::filesystem::path directory_;  // empty: off
  std::string why_off_;
  int64_t limit_;
  mutable std::atomic<int64_t> unchecked_;  // bytes inserted since the limit was last looked after
};

}  // namespace gasell
