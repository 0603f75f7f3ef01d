// What is shown of an entry while it is edited.
#include <fmt/format.h>

#include <algorithm>

#include "tools/editor/characters.h"
#include "tools/editor/editing.h"
#include "tools/editor/highlight.h"

namespace gasell::editor {

namespace {

constexpr int kMenuRows = 10;
constexpr int kHintRows = 3;
constexpr size_t kCheckedBytes = 16 << 10;  // a longer text is parsed too slowly between two keys

void paint(std::vector<Style>& styles, size_t begin, size_t end, Style style) {
  end = std::min(end, styles.size());
  if (begin < end) std::fill(styles.begin() + static_cast<std::ptrdiff_t>(begin), styles.begin() + static_cast<std::ptrdiff_t>(end), style);
}

/// The hint on at most kHintRows rows, broken behind commas; of a longer one the rows around the parameter that comes.
std::vector<StyledLine> hint_lines(const CallHint& hint, int columns) {
  std::vector<Span> rows;
  for (uint32_t begin = 0, size = static_cast<uint32_t>(hint.text.size()); begin < size;) {
    const int room = columns - 1 - (rows.empty() ? 0 : 2);
    auto end = begin + static_cast<uint32_t>(fitting(std::string_view(hint.text).substr(begin), std::max(room, 8)).size());
    if (end < size)
      if (const size_t comma = hint.text.rfind(", ", end - 1); comma != std::string::npos && comma > begin)
        end = static_cast<uint32_t>(comma) + 2;
    rows.push_back({begin, end});
    begin = end;
  }
  size_t first = 0;
  while (first + kHintRows < rows.size() && rows[first + kHintRows - 1].end < hint.emphasis.end) ++first;
  std::vector<StyledLine> lines;
  for (size_t i = first; i < std::min(rows.size(), first + kHintRows); ++i) {
    const auto [begin, end] = rows[i];
    const auto part = [&](uint32_t from, uint32_t to) {
      return hint.text.substr(std::clamp(from, begin, end), std::clamp(to, begin, end) - std::clamp(from, begin, end));
    };
    lines.push_back({{(i > 0 ? "  " : "") + part(begin, hint.emphasis.begin), Style::hint},
                     {part(hint.emphasis.begin, hint.emphasis.end), Style::emphasis},
                     {part(hint.emphasis.end, end), Style::hint}});
  }
  return lines;
}

}  // namespace

const std::vector<Token>& Editing::tokens() const {
  if (tokens_of_ != buffer_.text()) {
    tokens_of_ = buffer_.text();
    tokens_ = scan_tokens(tokens_of_);
  }
  return tokens_;
}

size_t Editing::statement_begin() const {
  size_t begin = 0;
  int depth = 0;
  for (const Token& token : tokens()) {
    if (token.span.begin >= buffer_.cursor()) break;
    depth += token.kind == TokenKind::open ? 1 : token.kind == TokenKind::close && depth > 0 ? -1 : 0;
    if (token.kind == TokenKind::line_end && depth == 0) begin = token.span.end;
  }
  return begin;
}

std::vector<Style> Editing::styles() const { return highlight(buffer_.text(), tokens(), services_.is_builtin); }

bool Editing::idle() {
  if (mode_ != Mode::entry || search_ || menu_.is_open() || buffer_.text().empty() || buffer_.text().size() > kCheckedBytes) return false;
  const size_t cursor = buffer_.cursor();
  // What is being written is not wrong yet: the word, the literal and the bracket at the cursor.
  for (const Token& token : tokens())
    if (token.unfinished && token.span.begin < cursor && cursor <= token.span.end) return false;
  std::optional<Mistake> found = services_.mistake(buffer_.text());
  if (!found) return false;
  const bool ends_text = found->span.end >= buffer_.text().size() || found->span.begin >= buffer_.text().size();
  if (found->span.begin <= cursor && (cursor <= found->span.end || (ends_text && cursor == buffer_.text().size()))) return false;
  mistake_ = std::move(found);
  return true;
}

View Editing::view(int columns, int rows) {
  View view = final_view();
  const size_t cursor = buffer_.cursor();
  view.cursor = cursor;
  if (mode_ == Mode::line) return view;
  if (const auto pair = bracket_pair(buffer_.text(), tokens(), cursor)) {
    const auto [a, b] = *pair;
    const bool closes = tokens()[a].kind == TokenKind::close;
    if (a != b || closes)
      for (size_t index : {a, b})
        paint(view.styles, tokens()[index].span.begin, tokens()[index].span.end, a == b ? Style::unmatched : Style::bracket);
  }
  if (mistake_) {
    paint(view.styles, mistake_->span.begin, std::max(mistake_->span.end, mistake_->span.begin + 1), Style::mistake);
    view.below.push_back({{mistake_->message, Style::hint}});
    return view;
  }
  const int most = std::clamp(rows / 2, 1, kMenuRows);
  if (search_) {
    if (!search_->query.empty() && !search_->failed) paint(view.styles, cursor, cursor + search_->query.size(), Style::found);
    view.below.push_back({{search_->failed ? "not in the history: " : "search: ", Style::hint}, {search_->query, Style::emphasis}});
  } else if (menu_.is_open()) {
    view.below = menu_.lines(services_, buffer_.text(), columns, most);
  } else if (!recall_) {
    view.suggestion = suggestion();
    const size_t begin = statement_begin();
    if (const auto hint = services_.call_hint(std::string_view(buffer_.text()).substr(begin), cursor - begin))
      view.below = hint_lines(*hint, columns);
  }
  return view;
}

View Editing::final_view() {
  View view;
  view.prompt = prompt_;
  view.more_prompt = more_prompt_;
  view.text = buffer_.text();
  view.cursor = buffer_.text().size();
  if (mode_ == Mode::entry) {
    view.styles = styles();
  } else {
    view.prompt_style = Style::plain;  // the script's own words
  }
  return view;
}

}  // namespace gasell::editor
