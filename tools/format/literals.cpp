#include "tools/format/literals.h"

#include <algorithm>
#include <cctype>

namespace gasell::format {

std::string normal_string(std::string_view literal) {
  const size_t quote = literal.find_first_of("'\"");
  if (quote == std::string_view::npos) return std::string(literal);
  std::string prefix;
  for (const char c : literal.substr(0, quote))
    if (c != 'u' && c != 'U') prefix += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::string_view rest = literal.substr(quote);
  if (rest[0] == '"') return prefix + std::string(rest);
  const size_t width = rest.starts_with("'''") ? 3 : 1;
  if (rest.size() < 2 * width) return prefix + std::string(rest);
  const std::string_view body = rest.substr(width, rest.size() - 2 * width);
  const bool is_plain = prefix.find_first_of("rf") == std::string::npos;
  const bool has_escaped_quote = body.find("\\'") != std::string_view::npos;
  if (body.find('"') != std::string_view::npos || (has_escaped_quote && (width == 3 || !is_plain)) ||
      (!is_plain && body.find('\'') != std::string_view::npos) || (width == 3 && body.ends_with('\\')))
    return prefix + std::string(rest);
  std::string text;
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\' || i + 1 == body.size()) {
      text += body[i];
    } else {
      if (body[i + 1] != '\'') text += '\\';
      text += body[++i];
    }
  }
  const std::string quotes(width, '"');
  return prefix + quotes + text + quotes;
}

std::string normal_number(std::string_view literal) {
  std::string text(literal);
  if (text.size() > 1 && text[0] == '0' && std::isalpha(static_cast<unsigned char>(text[1]))) return text;
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace gasell::format
