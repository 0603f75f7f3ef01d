#include "tools/editor/menu.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/editor/characters.h"

namespace gasell::editor {

void Menu::open(Completion completion, std::string written) {
  completion_ = std::move(completion);
  written_ = std::move(written);
  chosen_ = -1;
}

void Menu::step(int by) {
  const int count = static_cast<int>(completion_.candidates.size());
  if (count == 0) return;
  chosen_ = chosen_ < 0 ? (by > 0 ? 0 : count - 1) : (chosen_ + by % count + count) % count;
}

std::vector<StyledLine> Menu::lines(const Services& services, std::string_view text, int columns, int rows) const {
  const int count = static_cast<int>(completion_.candidates.size());
  const bool all = count <= rows;
  const int shown = all ? count : std::max(rows - 1, 1);
  const int first = std::clamp(chosen_ - shown / 2, 0, count - shown);
  int width = 0;
  for (int i = first; i < first + shown; ++i) width = std::max(width, width_of(completion_.candidates[static_cast<size_t>(i)]));
  width = std::min(width, std::max(columns / 2, 8));
  std::vector<StyledLine> lines;
  for (int i = first; i < first + shown; ++i) {
    const std::string& candidate = completion_.candidates[static_cast<size_t>(i)];
    const std::string name(fitting(candidate, width));
    const std::string padded = " " + name + std::string(static_cast<size_t>(width - width_of(name)) + 1, ' ');
    StyledLine line{{padded, i == chosen_ ? Style::menu_chosen : Style::menu}};
    if (const std::string detail = services.detail(text, completion_.begin, candidate); !detail.empty())
      line.emplace_back(" " + detail + " ", Style::menu_detail);
    lines.push_back(std::move(line));
  }
  if (has_choice()) {  // what is cut off beside the chosen one stands below
    const std::string detail = services.detail(text, completion_.begin, completion_.candidates[static_cast<size_t>(chosen_)]);
    const std::string_view beside = fitting(detail, std::max(columns - width - 4, 0));
    if (beside.size() < detail.size()) lines.push_back({{" …" + detail.substr(beside.size()), Style::hint}});
  }
  if (!all)
    lines.push_back({{has_choice() ? fmt::format(" {} of {} ", chosen_ + 1, count) : fmt::format(" {} in all ", count), Style::hint}});
  return lines;
}

std::string common_prefix(const std::vector<std::string>& words) {
  std::string_view common = words.front();
  for (const std::string& word : words) {
    const auto end = std::mismatch(common.begin(), common.end(), word.begin(), word.end()).first;
    common = common.substr(0, static_cast<size_t>(end - common.begin()));
  }
  while (!common.empty() && common.size() < words.front().size() && (words.front()[common.size()] & 0xc0) == 0x80) common.remove_suffix(1);
  return std::string(common);
}

}  // namespace gasell::editor
