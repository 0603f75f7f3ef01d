// What is shown of an entry while it is edited.
#include <fmt/format.h>

#include <algorithm>

#include "tools/editor/editing.h"
#include "tools/editor/highlight.h"

namespace gasell::editor {

namespace {

constexpr int kMenuRows = 10;

void paint(std::vector<Style>& styles, size_t begin, size_t end, Style style) {
  end = std::min(end, styles.size());
  if (begin < end) std::fill(styles.begin() + static_cast<std::ptrdiff_t>(begin), styles.begin() + static_cast<std::ptrdiff_t>(end), style);
}

}  // namespace

const std::vector<Token>& Editing::tokens() const {
  if (tokens_of_ != buffer_.text()) {
    tokens_of_ = buffer_.text();
    tokens_ = scan_tokens(tokens_of_);
  }
  return tokens_;
}

std::vector<Style> Editing::styles() const { return highlight(buffer_.text(), tokens(), services_.is_builtin); }

bool Editing::idle() {
  if (mode_ != Mode::entry || search_ || menu_.is_open() || buffer_.text().empty()) return false;
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
    if (const std::optional<CallHint> hint = services_.call_hint(buffer_.text(), cursor)) {
      const auto [begin, end] = hint->emphasis;
      view.below.push_back({{hint->text.substr(0, begin), Style::hint},
                            {hint->text.substr(begin, end - begin), Style::emphasis},
                            {hint->text.substr(end), Style::hint}});
    }
  }
  return view;
}

View Editing::final_view() {
  View view;
  view.prompt = prompt_;
  view.more_prompt = more_prompt_;
  view.text = buffer_.text();
  view.cursor = buffer_.text().size();
  if (mode_ == Mode::entry) view.styles = styles();
  return view;
}

}  // namespace gasell::editor
