#include "tools/gasell/language_server/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace gasell::cli::lsp {

namespace {

/// Bytes of the character that begins with this one; 1 for bytes that begin none.
size_t bytes_of(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
}
size_t units_of(char first) { return static_cast<unsigned char>(first) >= 0xf0 ? 2 : 1; }

size_t whole_number(const nlohmann::json& value) {
  if (value.is_number_unsigned()) return value.get<size_t>();
  return value.is_number_integer() ? static_cast<size_t>(std::max<int64_t>(value.get<int64_t>(), 0)) : 0;
}

}  // namespace

LineIndex::LineIndex(std::string_view text) : text_(text), starts_{0} {
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') starts_.push_back(i + 1);
}

nlohmann::json LineIndex::position(size_t offset) const {
  offset = std::min(offset, text_.size());
  const auto line = static_cast<size_t>(std::upper_bound(starts_.begin(), starts_.end(), offset) - starts_.begin()) - 1;
  return {{"line", line}, {"character", utf16_length(text_.substr(starts_[line], offset - starts_[line]))}};
}

nlohmann::json LineIndex::range(Span span) const { return {{"start", position(span.begin)}, {"end", position(span.end)}}; }

size_t LineIndex::offset(const nlohmann::json& position) const {
  const size_t line = whole_number(position.at("line")), character = whole_number(position.at("character"));
  if (line >= starts_.size()) return text_.size();
  size_t at = starts_[line], units = 0;
  while (at < text_.size() && text_[at] != '\n' && text_[at] != '\r' && units < character) {
    units += units_of(text_[at]);
    at = std::min(text_.size(), at + bytes_of(text_[at]));
  }
  return at;
}

void Document::change(const nlohmann::json& entry) {
  const auto& replacement = entry.at("text").get_ref<const std::string&>();
  if (!entry.contains("range") || entry.at("range").is_null()) {
    text = replacement;
    return;
  }
  const LineIndex index = lines();
  const size_t begin = index.offset(entry.at("range").at("start")), end = index.offset(entry.at("range").at("end"));
  text.replace(begin, std::max(begin, end) - begin, replacement);
}

std::string Document::path() const { return path_of_uri(uri); }

size_t utf16_length(std::string_view text) {
  size_t units = 0;
  for (size_t i = 0; i < text.size(); i += bytes_of(text[i])) units += units_of(text[i]);
  return units;
}

std::string path_of_uri(std::string_view uri) {
  constexpr std::string_view kFile = "file://";
  if (!uri.starts_with(kFile)) return std::string(uri);
  std::string path;
  for (size_t i = kFile.size(); i < uri.size(); ++i) {
    int byte = 0;
    if (uri[i] == '%' && i + 2 < uri.size() &&
        std::from_chars(uri.data() + i + 1, uri.data() + i + 3, byte, 16).ptr == uri.data() + i + 3) {
      path += static_cast<char>(byte);
      i += 2;
    } else {
      path += uri[i];
    }
  }
  return path;
}

std::string uri_of_path(std::string_view path) {
  std::string uri = "file://";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/-._~").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

}  // namespace gasell::cli::lsp
