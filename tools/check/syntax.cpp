#include "tools/check/syntax.h"

#include <algorithm>
#include <memory>

#include "lang/layout.h"
#include "lang/parser.h"

namespace gasell::check {

namespace {

constexpr size_t kMostErrors = 50;

size_t begin_of_line(const std::string& text, size_t at) {
  const size_t before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  return before == std::string::npos ? 0 : before + 1;
}

/// Everything from the line of `offset` on made blank.
void blank_rest(std::string& text, uint32_t offset) {
  for (size_t i = begin_of_line(text, std::min<size_t>(offset, text.size())); i < text.size(); ++i)
    if (text[i] != '\n') text[i] = ' ';
}

/// The text with the line of `offset` made a statement of the same length and indentation, so that places stay: the header of a block where
/// one follows. False where there is no room for one.
bool blank_line(std::string& text, uint32_t offset) {
  const size_t at = std::min<size_t>(offset, text.empty() ? 0 : text.size() - 1);
  const size_t begin = begin_of_line(text, at);
  const size_t end = std::min(text.find('\n', begin), text.size());
  const size_t word = std::min(text.find_first_not_of(" \t", begin), end);
  size_t last = end;
  while (last > word && (text[last - 1] == ' ' || text[last - 1] == '\t' || text[last - 1] == '\r')) --last;
  const size_t next = std::min(text.find_first_not_of(" \t\r\n", end), text.size());
  const bool opens_block = next < text.size() && next - begin_of_line(text, next) > word - begin;
  const std::string_view statement = opens_block ? "if 0:" : "0";
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
  const auto begin_of = [](const Diagnostic& d) { return d.primary ? d.primary->span.begin : 0; };
  while (errors.size() < kMostErrors) {
    try {
      ast::ModuleRef module = parse_module(tried);
      if (errors.empty()) return module;
      break;
    } catch (const Error& error) {
      Diagnostic found = error.diagnostic();
      if (found.primary) found.primary->source = source;
      for (Label& label : found.secondary) label.source = source;
      const uint32_t at = begin_of(found);
      const int line = source->position(at).line;
      const bool again =
          std::any_of(errors.begin(), errors.end(), [&](const Diagnostic& d) { return source->position(begin_of(d)).line == line; });
      const bool goes_on = !again && found.primary && found.kind == "SyntaxError";
      if (!again) errors.push_back(std::move(found));
      if (!goes_on) break;
      if (dynamic_cast<const UnfinishedText*>(&error)) {  // what follows is in its bracket or string
        blank_rest(text, at);
      } else if (!blank_line(text, at)) {
        break;
      }
      tried = std::make_shared<Source>(source->name(), text);
    }
  }
  std::stable_sort(errors.begin(), errors.end(), [&](const Diagnostic& a, const Diagnostic& b) { return begin_of(a) < begin_of(b); });
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
