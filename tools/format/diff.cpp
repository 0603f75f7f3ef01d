#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "tools/format/format.h"

namespace gasell::format {

namespace {

constexpr size_t kContext = 3;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.push_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return lines;
}

struct Edit {
  char kind;  // ' ', '-', '+'
  std::string_view line;
};

/// The shortest way from one list of lines to the other, by Myers' greedy search from the front.
std::vector<Edit> edits_of(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  const auto n = static_cast<int64_t>(a.size()), m = static_cast<int64_t>(b.size());
  std::vector<std::vector<int64_t>> history;
  std::vector<int64_t> furthest(static_cast<size_t>(2 * (n + m) + 3), 0);
  const int64_t middle = n + m + 1;
  const auto at = [&](std::vector<int64_t>& v, int64_t k, int64_t centre) -> int64_t& { return v[static_cast<size_t>(centre + k)]; };
  int64_t steps = 0;
  for (bool found = false; !found; ++steps) {
    history.emplace_back(furthest.begin() + (middle - steps - 1), furthest.begin() + (middle + steps + 2));
    for (int64_t k = -steps; k <= steps && !found; k += 2) {
      const bool down = k == -steps || (k != steps && at(furthest, k - 1, middle) < at(furthest, k + 1, middle));
      int64_t x = down ? at(furthest, k + 1, middle) : at(furthest, k - 1, middle) + 1;
      while (x < n && x - k < m && a[static_cast<size_t>(x)] == b[static_cast<size_t>(x - k)]) ++x;
      at(furthest, k, middle) = x;
      found = x >= n && x - k >= m;
    }
  }
  std::vector<Edit> edits;
  int64_t x = n, y = m;
  for (int64_t step = steps - 1; step >= 0; --step) {
    std::vector<int64_t>& before = history[static_cast<size_t>(step)];
    const int64_t k = x - y;
    const bool down = k == -step || (k != step && at(before, k - 1, step + 1) < at(before, k + 1, step + 1));
    const int64_t from_x = step == 0 ? 0 : at(before, down ? k + 1 : k - 1, step + 1),
                  from_y = step == 0 ? 0 : from_x - (down ? k + 1 : k - 1);
    while (x > from_x && y > from_y) edits.push_back({' ', a[static_cast<size_t>(--x)]}), --y;
    if (step == 0) break;
    if (down) {
      edits.push_back({'+', b[static_cast<size_t>(--y)]});
    } else {
      edits.push_back({'-', a[static_cast<size_t>(--x)]});
    }
  }
  std::reverse(edits.begin(), edits.end());
  return edits;
}

}  // namespace

std::string unified_diff(const std::string& name, const std::string& before, const std::string& after) {
  if (before == after) return {};
  const std::vector<Edit> edits = edits_of(lines_of(before), lines_of(after));
  std::string out = fmt::format("--- {}\n+++ {}\n", name, name);
  size_t old_line = 1, new_line = 1, i = 0;
  while (i < edits.size()) {
    size_t first = i;
    while (first < edits.size() && edits[first].kind == ' ') ++first;
    if (first == edits.size()) break;
    const size_t begin = first - std::min(first - i, kContext);
    old_line += begin - i, new_line += begin - i;
    size_t end = first;  // behind the last change of the hunk
    for (size_t k = first; k < edits.size() && k <= end + 2 * kContext; ++k)
      if (edits[k].kind != ' ') end = k + 1;
    const size_t stop = std::min(end + kContext, edits.size());
    size_t old_count = 0, new_count = 0;
    std::string text;
    for (size_t k = begin; k < stop; ++k) {
      old_count += edits[k].kind != '+', new_count += edits[k].kind != '-';
      text += edits[k].kind + std::string(edits[k].line);
      if (!text.ends_with('\n')) text += "\n\\ No newline at end of file\n";
    }
    out += fmt::format("@@ -{},{} +{},{} @@\n{}", old_count ? old_line : old_line - 1, old_count, new_count ? new_line : new_line - 1,
                       new_count, text);
    old_line += old_count, new_line += new_count;
    i = stop;
  }
  return out;
}

}  // namespace gasell::format
