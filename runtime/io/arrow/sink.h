// Files that the plugin writes.
#pragma once

#include <exception>
#include <filesystem>
#include <string_view>

#include "runtime/io/arrow/plugin.h"
#include "runtime/io/atomic_file.h"

namespace gasell::arrow {

/// A file that the plugin writes to. An exception of ours waits until the plugin has returned.
class FileSink {
 public:
  explicit FileSink(const std::filesystem::path& path) : path_(path), file_(path) {}
  ArrowSink sink() {
    return {[](void* self, const void* bytes, int64_t count) { return static_cast<FileSink*>(self)->write(bytes, count); }, this};
  }
  void check(int kind, const ArrowProblem& problem) {
    if (error_) std::rethrow_exception(error_);
    arrow::check(kind, problem, path_);
  }
  void commit() { file_.commit(); }

 private:
  int write(const void* bytes, int64_t count) noexcept {
    try {
      file_.write(std::string_view(static_cast<const char*>(bytes), static_cast<size_t>(count)));
      return 0;
    } catch (...) {
      error_ = std::current_exception();
      return 1;
    }
  }
  const std::filesystem::path path_;
  AtomicFile file_;
  std::exception_ptr error_;
};

}  // namespace gasell::arrow
