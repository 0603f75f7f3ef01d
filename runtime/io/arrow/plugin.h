// The plugin gasell_arrow.so and what it hands over: Arrow's C structs, owned.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "lang/diagnostic.h"
#include "runtime/io/arrow/plugin_abi.h"

namespace gasell::arrow {

/// The plugin, opened at the first call. ImportError where it is not there, saying how to get it.
const GasellArrow& plugin();
/// "Apache Arrow 26.0.1", or why there is none.
std::string describe_plugin();

/// A failure of the plugin as an exception about a file: the errors of files, ValueError (contents), NotImplementedError, MemoryError.
/// `column`: the one that was read, or "".
Error failure(int kind, const ArrowProblem& problem, const std::filesystem::path& path, const std::string& column = {});
inline void check(int kind, const ArrowProblem& problem, const std::filesystem::path& path, const std::string& column = {}) {
  if (kind != kArrowFine) throw failure(kind, problem, path, column);
}

/// Owns one of Arrow's structs.
template <class T>
class Owned {
 public:
  Owned() = default;
  Owned(Owned&& other) noexcept : struct_(other.struct_) { other.struct_.release = nullptr; }
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      reset();
      struct_ = other.struct_;
      other.struct_.release = nullptr;
    }
    return *this;
  }
  ~Owned() { reset(); }
  T* operator->() { return &struct_; }
  const T* operator->() const { return &struct_; }
  T& operator*() { return struct_; }
  const T& operator*() const { return struct_; }
  T* get() { return &struct_; }
  explicit operator bool() const { return struct_.release; }
  void reset() {
    if (struct_.release) struct_.release(&struct_);
    struct_.release = nullptr;
  }

 private:
  T struct_{};
};
using Schema = Owned<ArrowSchema>;
using ArrayData = Owned<ArrowArray>;
using Stream = Owned<ArrowArrayStream>;

/// A column of a row group, described.
struct Chunk : ArrowChunk {
  Chunk() : ArrowChunk{} {}
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;
  ~Chunk() {
    if (texts) plugin().free_chunk(this);
  }
};

struct CloseFile {
  void operator()(ArrowParquetFile* file) const { plugin().parquet_close(file); }
};
using ParquetFile = std::unique_ptr<ArrowParquetFile, CloseFile>;

}  // namespace gasell::arrow
