// Files that are written as a whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

namespace gasell {

/// Writes to a temporary file beside `path`, which takes its place in commit(); without it, nothing is left, and what was there stays. A file
/// that was there keeps its permissions; a symbolic link keeps pointing. Throws os_error's exceptions.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  /// Brings the data to the disk and puts the file in place.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Adds to the end of a file, which is made where it is not there. What a full disk took of it is cut off again.
void append_to_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace gasell
