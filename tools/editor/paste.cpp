#include "tools/editor/paste.h"

#include <algorithm>
#include <vector>

namespace gasell::editor {

namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines{""};
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\r' || byte == '\n') {
      if (byte == '\r' && i + 1 < text.size() && text[i + 1] == '\n') ++i;
      lines.emplace_back();
    } else if (byte == '\t' && lines.back().find_first_not_of(' ') == std::string::npos) {
      lines.back() += "    ";
    } else if (byte >= 0x20 ? byte != 0x7f : byte == '\t') {
      lines.back() += text[i];
    }
  }
  return lines;
}

bool is_blank(const std::string& line) { return line.find_first_not_of(" \t") == std::string::npos; }

/// Bytes of "In [12]: ", "Out[12]: " at `at`, 0 where there is none.
size_t numbered_prompt(std::string_view line, std::string_view word) {
  const size_t begin = std::min(line.find_first_not_of(' '), line.size());
  if (!line.substr(begin).starts_with(word)) return 0;
  const size_t digits = begin + word.size();
  const size_t end = line.find_first_not_of("0123456789", digits);
  if (end == std::string_view::npos || end == digits || !line.substr(end).starts_with("]:")) return 0;
  return end + 2 + (line.substr(end + 2).starts_with(' ') ? 1 : 0);
}

/// Bytes of a prompt, "" and "... " in Python's way or "   ...: " in IPython's, at the beginning of the line.
size_t prompt_length(std::string_view line, std::string_view prompt) {
  const size_t begin = std::min(line.find_first_not_of(' '), line.size());
  if (!line.substr(begin).starts_with(prompt)) return 0;
  const size_t end = begin + prompt.size();
  if (end == line.size()) return end;
  return line[end] == ' ' ? end + 1 : 0;
}

/// The entries of a transcript; what it showed is left out.
std::vector<std::string> entries_of(const std::vector<std::string>& lines) {
  std::vector<std::string> entries;
  bool within = false;
  for (const std::string& line : lines) {
    size_t begin = std::max(prompt_length(line, ">>>"), numbered_prompt(line, "In ["));
    if (begin == 0 && within) begin = std::max(prompt_length(line, "..."), prompt_length(line, "...:"));
    within = begin > 0;
    if (within) entries.push_back(line.substr(begin));
  }
  return entries;
}

}  // namespace

std::string cleaned_paste(std::string_view pasted) {
  std::vector<std::string> lines = lines_of(pasted);
  const auto first = std::find_if_not(lines.begin(), lines.end(), is_blank);
  const bool is_transcript = first != lines.end() && (prompt_length(*first, ">>>") > 0 || numbered_prompt(*first, "In [") > 0 ||
                                                      numbered_prompt(*first, "Out[") > 0);
  if (is_transcript) lines = entries_of(lines);
  if (lines.empty()) return {};
  if (lines.size() > 1) {
    while (lines.size() > 1 && is_blank(lines.back())) lines.pop_back();
    while (lines.size() > 1 && is_blank(lines.front())) lines.erase(lines.begin());
    size_t common = std::string::npos;
    for (const std::string& line : lines)
      if (!is_blank(line)) common = std::min(common, line.find_first_not_of(' '));
    for (std::string& line : lines)
      if (common != std::string::npos) line.erase(0, std::min(common, line.size()));
  }
  std::string text;
  for (const std::string& line : lines) text += (&line == &lines.front() ? "" : "\n") + line;
  return text;
}

}  // namespace gasell::editor
