// The text of a CSV file in memory: mapped, or unpacked and recoded.
#pragma once

#include <filesystem>
#include <string>

#include "runtime/device/storage.h"
#include "runtime/engine.h"
#include "runtime/io/csv/options.h"

namespace gasell::csv {

/// UTF-8, or what claims to be: without a byte order mark.
struct Text {
  HostStorageRef storage;
  const char* begin = nullptr;
  const char* end = nullptr;
  std::string shown;          // the file's name for errors
  bool checked = false;       // it is UTF-8 for sure
  int64_t dropped_lines = 0;  // of the file, that are not in the text (skiprows)
  bool streamed = false;      // a mapped file that is large beside the memory budget
  int mark_bytes = 0;         // of the byte order mark before it

  /// Where the file's first byte is.
  const char* origin() const { return begin - mark_bytes; }

  /// The bytes [from, to) of the text were read: of a streamed one they need not stay in memory.
  void let_go(int64_t from, int64_t to) const {
    if (!streamed) return;
    const int64_t lead = begin - static_cast<const char*>(storage->read());
    storage->release(lead + from, lead + to);
  }
};

/// A file of this machine or of another. Throws map_file's errors, remote::fetch's, and what unpacking finds wrong: EOFError, OSError "Not
/// a gzipped file (b'..')", UnicodeDecodeError.
Text open_text(Engine& engine, const std::filesystem::path& path, const CsvOptions& options);
/// Adds a code point.
void put_utf8(std::string& to, uint32_t point);
/// Of bytes in memory, which live as long as the text is used.
Text text_of(std::string_view bytes);

}  // namespace gasell::csv
