#include "lang/render.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lang/characters.h"

namespace gasell {
namespace {

struct Palette {
  std::string_view error, strong, place, mark, hint, reset;
};
constexpr Palette kPlain{};
constexpr Palette kAnsi{"\x1b[1;31m", "\x1b[1m", "\x1b[2m", "\x1b[1;31m", "\x1b[36m", "\x1b[0m"};

/// Text that is safe to show: what is not UTF-8, and control characters (which a terminal would obey), become U+FFFD.
std::string shown(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text, i);
    const bool control = (c.value < 0x20 && c.value != '\t') || (c.value >= 0x7f && c.value < 0xa0);
    if (control || c.value == kBadCodePoint)
      append_utf8(out, 0xfffd);
    else
      out += text.substr(i, static_cast<size_t>(c.length));
    i += static_cast<size_t>(c.length);
  }
  return out;
}

/// Blanks as wide as `text` on a terminal, with its tabs kept.
std::string blanks_for(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text, i);
    if (c.value == '\t') {
      out += '\t';
    } else {
      out.append(static_cast<size_t>(display_width(c.value)), ' ');
    }
    i += static_cast<size_t>(c.length);
  }
  return out;
}

size_t width_of(std::string_view text) {
  size_t width = 0;
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text, i);
    width += c.value == '\t' ? 1 : static_cast<size_t>(display_width(c.value));
    i += static_cast<size_t>(c.length);
  }
  return width;
}

/// The part of a long line that is shown: some of what stands before the span and what fits after its begin. Byte offsets of whole
/// code points.
struct Window {
  size_t begin, end;
};
constexpr size_t kLongLine = 160;  // bytes; a line up to this length is shown whole

Window window_of(std::string_view line, size_t focus) {
  if (line.size() <= kLongLine) return {0, line.size()};
  Window w{focus > kLongLine / 4 ? focus - kLongLine / 4 : 0, 0};
  w.end = std::min(line.size(), w.begin + kLongLine);
  auto inside = [&](size_t at) { return at < line.size() && (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80; };
  while (inside(w.begin)) ++w.begin;
  while (inside(w.end)) --w.end;
  return w;
}

/// The line of a label with carets under its span; a span of several lines is shown to the end of its first.
std::string excerpt(const Label& label, const Palette& p, bool primary) {
  const Source& source = *label.source;
  const auto at = source.position(label.span.begin);
  const std::string_view line = source.line(at.line);
  // A span may begin at or behind the line's end: there the caret stands one place after it.
  const size_t line_begin = static_cast<size_t>(line.data() - source.text().data());
  const size_t begin = std::min<size_t>(label.span.begin - line_begin, line.size());
  const Window window = window_of(line, begin);
  const size_t length = std::min<size_t>(label.span.end > label.span.begin ? label.span.end - label.span.begin : 0, window.end - begin);
  const std::string marks(std::max<size_t>(1, width_of(shown(line.substr(begin, length)))), primary ? '^' : '-');
  const std::string_view before = window.begin > 0 ? "…" : "", after = window.end < line.size() ? "…" : "";
  std::string out = fmt::format("{}{}:{}:{}{}\n", p.place, source.name(), at.line, at.column, p.reset);
  out += fmt::format("    {}{}{}\n    {}{}{}{}", before, shown(line.substr(window.begin, window.end - window.begin)), after,
                     before.empty() ? "" : " ", blanks_for(shown(line.substr(window.begin, begin - window.begin))), p.mark, marks);
  if (!label.text.empty()) out += " " + label.text;
  out += fmt::format("{}\n", p.reset);
  return out;
}

std::string_view name_of(Blame blame) {
  switch (blame) {
    case Blame::user: return "user";
    case Blame::environment: return "environment";
    case Blame::limitation: return "limitation";
    default: return "internal";
  }
}

nlohmann::ordered_json place(const Label& label) {
  const auto begin = label.source->position(label.span.begin), end = label.source->position(label.span.end);
  return {
      {"file", label.source->name()}, {"line", begin.line}, {"column", begin.column}, {"end_line", end.line}, {"end_column", end.column}};
}

}  // namespace

std::string render(const Diagnostic& d, const RenderOptions& options) {
  const Palette& p = options.colour ? kAnsi : kPlain;
  std::string out;
  if (d.primary && d.primary->source) out += excerpt(*d.primary, p, true);
  out += fmt::format("{}{}{}", p.error, d.kind, p.reset);
  if (!d.message.empty()) out += fmt::format(": {}{}{}", p.strong, d.message, p.reset);
  out += '\n';
  for (const Label& label : d.secondary)
    if (label.source) out += excerpt(label, p, false);
  if (!d.hint.empty()) out += fmt::format("{}hint:{} {}\n", p.hint, p.reset, d.hint);
  return out;
}

std::string render_json(const Diagnostic& d) {
  nlohmann::ordered_json json{{"kind", d.kind}, {"message", d.message}, {"blame", name_of(d.blame)}};
  if (d.primary && d.primary->source) {
    json.update(place(*d.primary));
    if (!d.primary->text.empty()) json["label"] = d.primary->text;
  }
  json["labels"] = nlohmann::ordered_json::array();
  for (const Label& label : d.secondary) {
    if (!label.source) continue;
    auto entry = place(label);
    entry["text"] = label.text;
    json["labels"].push_back(std::move(entry));
  }
  if (!d.hint.empty()) json["hint"] = d.hint;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  const size_t n = name.size();
  const size_t most = std::max<size_t>(1, n / 4);
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  const auto same_but_case = [&](const std::string& candidate) {
    return std::ranges::equal(name, candidate, [&](char a, char b) { return lower(a) == lower(b); });
  };
  std::string best;
  size_t best_distance = most + 1;
  std::vector<size_t> before, previous, current;
  for (const std::string& candidate : candidates) {
    const size_t m = candidate.size();
    if (candidate == name || (n > m ? n - m : m - n) >= best_distance || n < 2 || m < 2 || (candidate[0] == '_' && name[0] != '_'))
      continue;
    if (same_but_case(candidate)) return candidate;
    const size_t another = n <= 3 ? 2 : 1;  // what a wrong letter costs
    // Damerau-Levenshtein with adjacent transpositions (optimal string alignment), three rows of the table.
    previous.resize(m + 1);
    for (size_t j = 0; j <= m; ++j) previous[j] = j;
    before.assign(m + 1, 0);
    current.assign(m + 1, 0);
    for (size_t i = 1; i <= n; ++i) {
      current[0] = i;
      for (size_t j = 1; j <= m; ++j) {
        const size_t cost = name[i - 1] == candidate[j - 1] ? 0 : another;
        current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost});
        if (i > 1 && j > 1 && name[i - 1] == candidate[j - 2] && name[i - 2] == candidate[j - 1])
          current[j] = std::min(current[j], before[j - 2] + 1);
      }
      std::swap(before, previous);
      std::swap(previous, current);
    }
    if (previous[m] < best_distance) {
      best_distance = previous[m];
      best = candidate;
    }
  }
  return best;
}

std::string near_hint(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string near = did_you_mean(name, candidates);
  return near.empty() ? "" : "did you mean '" + near + "'?";
}

}  // namespace gasell
