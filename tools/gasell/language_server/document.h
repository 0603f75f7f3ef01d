// A text that an editor has open. Editors count in UTF-16 units, Gasell in bytes of UTF-8.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lang/source.h"

namespace gasell::cli::lsp {

class LineIndex {
 public:
  explicit LineIndex(std::string_view text);

  /// {"line": …, "character": …} of a byte.
  nlohmann::json position(size_t offset) const;
  nlohmann::json range(Span span) const;
  /// The byte of a position, at most the end of its line and of the text.
  size_t offset(const nlohmann::json& position) const;

 private:
  std::string_view text_;
  std::vector<size_t> starts_;
};

struct Document {
  std::string uri;
  int64_t version = 0;
  std::string text;

  LineIndex lines() const { return LineIndex(text); }
  /// One entry of `contentChanges`: a new text for a range, or for the whole.
  void change(const nlohmann::json& entry);
  /// The file, where the address names one; else the address.
  std::string path() const;
};

/// UTF-16 units of a text.
size_t utf16_length(std::string_view text);
std::string path_of_uri(std::string_view uri);
std::string uri_of_path(std::string_view path);

}  // namespace gasell::cli::lsp
