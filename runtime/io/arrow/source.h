// Files elsewhere as the plugin reads them.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>

#include "runtime/engine.h"
#include "runtime/io/arrow/plugin_abi.h"
#include "runtime/io/remote/remote.h"

namespace gasell::arrow {

/// A file that the plugin reads through this, and why that failed: the plugin itself only learns that it did.
class RemoteSource : public std::enable_shared_from_this<RemoteSource> {
 public:
  RemoteSource(std::shared_ptr<const remote::RemoteFile> file, const std::atomic<bool>& interrupt)
      : file_(std::move(file)), interrupt_(interrupt) {}
  /// For one file of the plugin, which frees it.
  ArrowSource lend();
  /// Throws what a read threw, once.
  void rethrow();

 private:
  static int read(void* context, int64_t offset, int64_t count, void* into, ArrowProblem* problem);

  std::shared_ptr<const remote::RemoteFile> file_;
  const std::atomic<bool>& interrupt_;
  std::mutex mutex_;
  std::exception_ptr failure_;
};
using RemoteSourceRef = std::shared_ptr<RemoteSource>;

/// Of an address; null for a path of this machine.
RemoteSourceRef remote_source(Engine& engine, const std::string& path, const remote::StorageOptions& storage);

}  // namespace gasell::arrow
