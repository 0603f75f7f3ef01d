#include "tools/gasell/language_server/formatting.h"

#include <algorithm>
#include <memory>

#include "tools/format/format.h"

namespace gasell::cli::lsp {

using nlohmann::json;

json formatting(const Document& document) {
  const std::string& text = document.text;
  const std::string wanted = format::format_text(std::make_shared<Source>(document.path(), text));
  json edits = json::array();
  if (wanted == text) return edits;
  // Whole lines at both ends that stay are left out, so that the cursor stays where it is.
  size_t begin = 0, end = 0;
  while (begin < std::min(text.size(), wanted.size()) && text[begin] == wanted[begin]) ++begin;
  begin = begin == 0 ? 0 : text.rfind('\n', begin - 1) + 1;
  while (end < std::min(text.size(), wanted.size()) - begin && text[text.size() - 1 - end] == wanted[wanted.size() - 1 - end]) ++end;
  while (end > 0 && text[text.size() - 1 - end] != '\n') --end;
  edits.push_back({{"range", document.lines().range({static_cast<uint32_t>(begin), static_cast<uint32_t>(text.size() - end)})},
                   {"newText", wanted.substr(begin, wanted.size() - end - begin)}});
  return edits;
}

}  // namespace gasell::cli::lsp
