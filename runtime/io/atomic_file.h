// Files that are written as a whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

namespace gasell {

/// Writes to a new file in the folder of `path`, which takes its place in commit(); without it, nothing is left, and what was there stays.
/// Until then the file has no name where the file system allows that (O_TMPFILE), so that nothing is left of it when the process is killed,
/// either. A file that was there keeps its permissions; a symbolic link keeps pointing. A file that cannot be replaced (its folder takes no
/// new ones, it is another user's in a folder like /tmp, or a mount) is written in place in commit(). Throws os_error's exceptions.
class AtomicFile {
 public:
  /// How the file is written: from begin to end, into pipes and terminals, too, and brought to the disk; or at any place, also through a
  /// map of its memory, where the system is trusted to bring it to the disk, as np.save does.
  enum class Access { from_begin_to_end, anywhere };
  explicit AtomicFile(const std::filesystem::path& path, Access access = Access::from_begin_to_end);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  /// Of Access::anywhere. Room for so many bytes, which a full disk refuses here.
  void reserve(int64_t bytes);
  void write_at(int64_t offset, std::string_view bytes);
  int descriptor() const;
  /// Puts the file in place.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Adds to the end of a file, which is made where it is not there. What a full disk took of it is cut off again.
void append_to_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace gasell
