#include "tools/check/syntax.h"

#include <algorithm>
#include <memory>

#include "lang/layout.h"
#include "lang/parser.h"

namespace gasell::check {

namespace {

constexpr size_t kMostErrors = 50;

/// The text with the line of `offset` made a statement of the same length and indentation, so that places stay. False where there is no
/// room for one.
bool blank_line(std::string& text, uint32_t offset) {
  const size_t at = std::min<size_t>(offset, text.empty() ? 0 : text.size() - 1);
  size_t begin = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  begin = begin == std::string::npos ? 0 : begin + 1;
  const size_t end = std::min(text.find('\n', begin), text.size());
  const size_t word = std::min(text.find_first_not_of(" \t", begin), end);
  size_t last = end;
  while (last > word && (text[last - 1] == ' ' || text[last - 1] == '\t' || text[last - 1] == '\r')) --last;
  const std::string_view statement = last > word && text[last - 1] == ':' ? "if 0:" : "0";
  if (last - word < statement.size()) return false;
  const std::string line = std::string(statement) + std::string(last - word - statement.size(), ' ');
  if (text.compare(word, last - word, line) == 0) return false;
  text.replace(word, last - word, line);
  return true;
}

}  // namespace

ast::ModuleRef parse_all(const SourceRef& source, std::vector<Diagnostic>& errors) {
  std::string text = source->text();
  SourceRef tried = source;
  while (errors.size() < kMostErrors) {
    try {
      ast::ModuleRef module = parse_module(tried);
      return errors.empty() ? module : nullptr;
    } catch (const Error& error) {
      Diagnostic found = error.diagnostic();
      if (found.primary) found.primary->source = source;
      for (Label& label : found.secondary) label.source = source;
      const bool again = !errors.empty() && found.primary && errors.back().primary &&
                         source->position(found.primary->span.begin).line == source->position(errors.back().primary->span.begin).line;
      // What an indentation or an open bracket breaks is one error; what follows may be its echo.
      const bool ends = again || !found.primary || found.kind != "SyntaxError" || dynamic_cast<const UnfinishedText*>(&error);
      const uint32_t at = found.primary ? found.primary->span.begin : 0;
      if (!again) errors.push_back(std::move(found));
      if (ends || !blank_line(text, at)) return nullptr;
      tried = std::make_shared<Source>(source->name(), text);
    }
  }
  return nullptr;
}

ast::ModuleRef parse_right_lines(const SourceRef& source) {
  std::string text = source->text();
  for (size_t tries = 0; tries < kMostErrors; ++tries) {
    try {
      return parse_module(std::make_shared<Source>(source->name(), text));
    } catch (const Error& error) {
      if (!error.diagnostic().primary) return nullptr;
      const uint32_t at = error.diagnostic().primary->span.begin;
      if (blank_line(text, at)) continue;
      // Not even a statement may stand there: an empty line.
      const Source tried(source->name(), text);
      const std::string_view line = tried.line(tried.position(at).line);
      const size_t begin = static_cast<size_t>(line.data() - tried.text().data());
      if (line.find_first_not_of(" \t") == std::string_view::npos) return nullptr;
      text.replace(begin, line.size(), line.size(), ' ');
    }
  }
  return nullptr;
}

}  // namespace gasell::check
