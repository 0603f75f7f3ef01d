// Source text and places in it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gasell {

/// One text given to Gasell: a file, a `-c` text, a REPL entry or a string of the host program. Immutable, shared by all that point into
/// it.
class Source {
 public:
  Source(std::string name, std::string text);

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }

  struct Position {
    int line;    // from 1
    int column;  // from 1, in code points
  };
  Position position(uint32_t offset) const;
  /// The text of a line (from 1), without its line end.
  std::string_view line(int number) const;
  int line_count() const { return static_cast<int>(line_starts_.size()); }

 private:
  std::string name_;
  std::string text_;
  std::vector<uint32_t> line_starts_;
};
using SourceRef = std::shared_ptr<const Source>;

/// Bytes [begin, end) of a source.
struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool operator==(const Span&) const = default;
};

inline Span join(Span a, Span b) { return {a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end}; }

}  // namespace gasell
