// What was entered, in this session and in others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gasell::editor {

/// Entries, oldest first, each whole with its line ends. The file has a line an entry (blanks and what is not ASCII as \ooo), is locked
/// while it is used, and nobody else may read it. Several sessions share it: what others add comes in with refresh().
class History {
 public:
  /// No file at an empty path. A file of more than twice the kept number of entries is shortened to that number.
  explicit History(std::filesystem::path path);

  /// Adds an entry, in the file at once: a window may be closed at any moment. Not when it is blank, or as the one before.
  void add(std::string_view entry);
  /// Takes in what other sessions have added since.
  void refresh();

  const std::vector<std::string>& entries() const { return entries_; }
  /// The nearest entry before (or behind) `index` that begins with `prefix` and is not `except`.
  std::optional<size_t> older(size_t index, std::string_view prefix, std::string_view except) const;
  std::optional<size_t> newer(size_t index, std::string_view prefix, std::string_view except) const;
  /// The nearest entry before (or behind) `index` that contains `part`.
  std::optional<size_t> older_with(size_t index, std::string_view part) const;
  std::optional<size_t> newer_with(size_t index, std::string_view part) const;
  /// What the newest entry that begins with `text` has behind it.
  std::string_view rest_of(std::string_view text) const;

 private:
  void take_lines(std::string_view text);
  void append(std::string_view entry);

  std::filesystem::path path_;
  std::vector<std::string> entries_;
  int64_t read_ = 0;  // bytes of the file that were taken in
};

}  // namespace gasell::editor
