#include "tools/format/spacing.h"

#include <algorithm>
#include <initializer_list>

namespace gasell::format {

namespace {

bool is_keyword(const Word& word) { return word.kind == TokenKind::keyword && !ends_operand(word); }

bool is_among(const Word& word, std::initializer_list<std::string_view> texts) {
  return std::any_of(texts.begin(), texts.end(), [&](std::string_view text) { return word.is(text); });
}

/// What an open bracket means for the words in it.
struct Bracket {
  char kind = 0;             // '(', '[', '{'; 0: the statement itself
  bool is_index = false;     // [ ] behind an operand
  bool wide_slices = false;  // x[a + 1 : b]: blanks around the colons
  bool annotated = false;    // since the last comma a colon came: `x: int = 3`
  int lambdas = 0;           // whose parameters are being read
};

class Spacer {
 public:
  explicit Spacer(Words& words) : words_(words) {
    const Word& first = words_.front();
    soft_ = (first.is("match") || first.is("case")) && words_.size() > 2 && words_.back().is(":");
    defines_ = first.is("def");
  }

  void run() {
    open_.emplace_back();
    for (size_t i = 0; i < words_.size(); ++i) {
      Word& word = words_[i];
      if (word.closes() && open_.size() > 1) open_.pop_back();
      word.space = i > 0 && wants_blank(i);
      if (word.opens()) open_.push_back(bracket(i));
      Bracket& around = open_.back();
      if (word.is("lambda")) ++around.lambdas;
      if (word.is(",")) around.annotated = false;
      if (!word.is(":")) continue;
      if (around.lambdas > 0) {
        --around.lambdas;
      } else {
        around.annotated = true;
      }
    }
  }

 private:
  /// Nothing that an operator could take stands before word i.
  bool begins_operand(size_t i) const { return i == 0 || !ends_operand(words_[i - 1]) || (soft_ && i == 1); }

  Bracket bracket(size_t i) const {
    Bracket made;
    made.kind = words_[i].text[0];
    made.is_index = made.kind == '[' && !begins_operand(i);
    made.wide_slices = made.is_index && has_operators(i);
    return made;
  }

  /// Does an index hold more than names, numbers, signs, colons and commas?
  bool has_operators(size_t open) const {
    int depth = 0;
    for (size_t i = open; i < words_.size(); ++i) {
      const Word& word = words_[i];
      depth += word.opens() ? 1 : word.closes() ? -1 : 0;
      if (depth == 0) return false;
      if (i == open || is_among(word, {",", ":", "..."})) continue;
      if (word.kind == TokenKind::symbol && is_among(word, {"-", "+", "~"}) && begins_operand(i)) continue;
      if (word.kind == TokenKind::symbol || word.opens() || is_keyword(word)) return true;
    }
    return false;
  }

  bool is_unary(size_t i) const {
    return words_[i].kind == TokenKind::symbol && is_among(words_[i], {"-", "+", "~", "*", "**"}) && begins_operand(i);
  }

  /// `x**2`, `a.b**-c`: operands of names and numbers alone.
  bool is_simple_power(size_t i) const {
    const auto is_simple = [&](size_t k) { return words_[k].kind == TokenKind::name || words_[k].kind == TokenKind::number; };
    size_t left = i - 1;
    if (!is_simple(left)) return false;
    while (left >= 2 && words_[left - 1].is(".")) {
      left -= 2;
      if (words_[left].kind != TokenKind::name) return false;
    }
    size_t right = i + 1;
    if (right < words_.size() && is_among(words_[right], {"-", "+", "~"})) ++right;
    if (right >= words_.size() || !is_simple(right)) return false;
    while (right + 2 < words_.size() && words_[right + 1].is(".")) right += 2;
    return right + 1 >= words_.size() || !words_[right + 1].opens();
  }

  bool wants_blank(size_t i) const {
    const Word &word = words_[i], &before = words_[i - 1];
    const Bracket& around = open_.back();
    if (before.opens() || word.closes() || word.is(",")) return false;
    if (before.is(",") || (soft_ && i == 1)) return true;
    if (before.is("@") && i == 1) return false;
    if (before.is(".")) return is_keyword(word);
    if (word.is(".")) {
      const bool whole = before.kind == TokenKind::number && before.text.find_first_not_of("0123456789_") == std::string::npos;
      return whole || is_keyword(before);
    }
    if (word.is(":")) return around.is_index && around.lambdas == 0 && around.wide_slices && !before.is(":");
    if (before.is(":")) return !is_slice_colon(i - 1) || (around.wide_slices && !word.is(":"));
    if (word.is("=") || before.is("=")) return around.lambdas == 0 && (around.kind != '(' || (around.annotated && defines_));
    if (before.is("**") && i >= 2 && !is_unary(i - 1)) return !is_simple_power(i - 1);
    if (word.is("**") && !is_unary(i)) return !is_simple_power(i);
    if (before.kind == TokenKind::symbol && is_unary(i - 1)) return false;
    if (word.opens()) return word.is("{") || begins_operand(i);
    return true;
  }

  /// Is the colon one of a slice, not of a lambda in the index?
  bool is_slice_colon(size_t colon) const {
    if (!open_.back().is_index) return false;
    int depth = 0;
    for (size_t k = colon; k-- > 0;) {
      depth += words_[k].closes() ? 1 : words_[k].opens() ? -1 : 0;
      if (depth < 0) return true;
      if (depth == 0 && words_[k].is("lambda")) return false;
    }
    return true;
  }

  Words& words_;
  std::vector<Bracket> open_;
  bool soft_ = false, defines_ = false;
};

}  // namespace

void set_spaces(Words& words) {
  if (!words.empty()) Spacer(words).run();
}

}  // namespace gasell::format
