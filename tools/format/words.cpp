#include "tools/format/words.h"

#include <algorithm>
#include <array>
#include <utility>

#include "lang/builder.h"
#include "tools/format/literals.h"

namespace gasell::format {

namespace {

constexpr int kTab = 8;

std::string normal_comment(std::string_view comment, bool is_first_line) {
  while (!comment.empty() && (comment.back() == ' ' || comment.back() == '\t')) comment.remove_suffix(1);
  if (comment.size() < 2 || (is_first_line && comment[1] == '!')) return std::string(comment);
  constexpr std::string_view kKept = " !:#";
  return kKept.find(comment[1]) != std::string_view::npos ? std::string(comment) : "# " + std::string(comment.substr(1));
}

bool is_header(const Words& words) {
  static constexpr std::array<std::string_view, 11> kHeaders = {"if",  "elif", "else",   "for",     "while", "with",
                                                                "try", "def",  "except", "finally", "class"};
  const Word& first = words.front();
  if (std::find(kHeaders.begin(), kHeaders.end(), first.text) != kHeaders.end()) return first.kind == TokenKind::keyword;
  // A mapping or an index never ends with a colon; one-line cases stay for the verbatim check of the tree.
  return (first.is("match") || first.is("case")) && words.size() > 2 && words.back().is(":");
}

/// Where the header of a compound statement ends: behind its colon outside of brackets and lambdas; 0 where there is none.
size_t header_end(const Words& words) {
  int depth = 0, lambdas = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    depth += words[i].opens() ? 1 : words[i].closes() ? -1 : 0;
    if (depth > 0) continue;
    if (words[i].is("lambda")) ++lambdas;
    if (!words[i].is(":")) continue;
    if (lambdas == 0) return i + 1;
    --lambdas;
  }
  return 0;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text), tokens_(scan_tokens(text, FStringTokens::whole)) {}

  std::vector<Statement> run() {
    for (size_t i = 0; i < tokens_.size(); ++i) take(i);
    end_line();
    place_comments();
    return std::move(statements_);
  }

 private:
  std::string_view text_of(const Token& token) const { return text_.substr(token.span.begin, token.span.end - token.span.begin); }

  int column_of(uint32_t offset) const {
    const size_t before = offset == 0 ? std::string_view::npos : text_.rfind('\n', offset - 1);
    int column = 0;
    for (size_t i = before == std::string_view::npos ? 0 : before + 1; i < offset; ++i)
      column = text_[i] == '\t' ? (column / kTab + 1) * kTab : text_[i] == '\f' ? 0 : column + 1;
    return column;
  }

  void take(size_t& i) {
    const Token& token = tokens_[i];
    if (token.kind == TokenKind::line_end) {
      if (depth_ == 0) end_line();
      ++line_ends_;
      return;
    }
    if (token.kind == TokenKind::comment) return take_comment(token);
    if (text_of(token) == "\\") {
      joined_ = true;
      if (i + 1 < tokens_.size() && tokens_[i + 1].kind == TokenKind::line_end) ++i;
      return;
    }
    if (words_.empty()) blanks_ = std::max(line_ends_ - 1, 0), column_ = column_of(token.span.begin);
    Word word{token.kind, std::string(text_of(token)), token.span, false, false, {}, {}};
    if (token.kind == TokenKind::symbol) {
      const auto length =
          static_cast<uint32_t>(std::max<size_t>(syntax::operator_length(text_.data() + token.span.begin, text_.data() + text_.size()), 1));
      word.text = text_.substr(token.span.begin, length);
      word.span.end = token.span.begin + length;
      while (i + 1 < tokens_.size() && tokens_[i + 1].span.end <= word.span.end) ++i;
    }
    if (token.kind == TokenKind::string) word.text = normal_string(word.text);
    if (token.kind == TokenKind::number) word.text = normal_number(word.text);
    depth_ += word.opens() ? 1 : word.closes() ? -1 : 0;
    word.joined = std::exchange(joined_, false);
    word.above = std::exchange(above_, {});
    line_ends_ = 0;
    words_.push_back(std::move(word));
  }

  void take_comment(const Token& token) {
    std::string comment = normal_comment(text_of(token), token.span.begin == 0);
    if (words_.empty()) {
      Statement line;
      line.comment = std::move(comment);
      line.column = column_of(token.span.begin);
      line.blanks = std::max(line_ends_ - 1, 0);
      line.span = token.span;
      line_ends_ = 0;
      statements_.push_back(std::move(line));
    } else if (depth_ > 0 && line_ends_ > 0) {
      above_.push_back(std::move(comment));
      line_ends_ = 0;
    } else {
      words_.back().beside = std::move(comment);
      comment_end_ = token.span.end;
    }
  }

  /// The words read make one or several statements.
  void end_line() {
    if (words_.empty()) return;
    while (!indents_.empty() && indents_.back() > column_) indents_.pop_back();
    if (indents_.empty() || indents_.back() < column_) indents_.push_back(column_);
    const int level = static_cast<int>(indents_.size()) - 1;
    const size_t first = statements_.size();
    Words words = std::exchange(words_, {});
    const size_t header = is_header(words) ? header_end(words) : 0;
    if (header > 0) {
      Words rest(std::make_move_iterator(words.begin() + static_cast<std::ptrdiff_t>(header)), std::make_move_iterator(words.end()));
      words.resize(header);
      add(std::move(words), level);
      const size_t body = statements_.size();
      if (!rest.empty()) add_simple(std::move(rest), level + 1);
      for (size_t i = body; i < statements_.size(); ++i) ++statements_[i].column;  // deeper than what the next line begins
    } else {
      add_simple(std::move(words), level);
    }
    statements_[first].blanks = blanks_;
    statements_.back().span.end = std::max(statements_.back().span.end, std::exchange(comment_end_, 0));
  }

  void add_simple(Words words, int level) {
    Words part;
    int depth = 0;
    for (Word& word : words) {
      depth += word.opens() ? 1 : word.closes() ? -1 : 0;
      if (depth == 0 && word.is(";")) {
        if (!part.empty() && part.back().beside.empty()) part.back().beside = word.beside;
        add(std::exchange(part, {}), level);
      } else {
        part.push_back(std::move(word));
      }
    }
    add(std::move(part), level);
  }

  void add(Words words, int level) {
    if (words.empty()) return;
    Statement line;
    line.level = level;
    line.column = column_;
    line.span = {words.front().span.begin, words.back().span.end};
    line.words = std::move(words);
    statements_.push_back(std::move(line));
  }

  /// A comment belongs to the block whose column it has, of those that are open between the statement before and the one behind it.
  void place_comments() {
    bool off = false;
    int next_level = 0;
    std::vector<int> levels(statements_.size(), 0);
    for (size_t i = statements_.size(); i-- > 0;) {
      if (!statements_[i].words.empty()) next_level = statements_[i].level;
      levels[i] = next_level;
    }
    std::vector<int> columns;  // of the open blocks' statements
    for (size_t i = 0; i < statements_.size(); ++i) {
      Statement& line = statements_[i];
      if (!line.words.empty()) {
        columns.resize(static_cast<size_t>(line.level), line.column);
        columns.push_back(line.column);
        line.as_it_stands = off || line.words.back().beside.starts_with("# fmt: skip");
        continue;
      }
      off = (off || line.comment == "# fmt: off") && line.comment != "# fmt: on";
      line.level = levels[i];
      for (int level = static_cast<int>(columns.size()) - 1; level > levels[i]; --level)
        if (columns[static_cast<size_t>(level)] <= line.column) {
          line.level = level;
          break;
        }
      columns.resize(std::min(columns.size(), static_cast<size_t>(line.level) + 1));  // those that follow stand no deeper
    }
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::vector<Statement> statements_;
  std::vector<int> indents_;
  Words words_;
  std::vector<std::string> above_;
  int depth_ = 0, line_ends_ = 1, blanks_ = 0, column_ = 0;
  uint32_t comment_end_ = 0;
  bool joined_ = false;
};

}  // namespace

std::vector<Statement> read_statements(std::string_view text) { return Reader(text).run(); }

bool ends_operand(const Word& word) {
  switch (word.kind) {
    case TokenKind::name:
    case TokenKind::number:
    case TokenKind::string:
    case TokenKind::close: return true;
    case TokenKind::keyword: return word.text == "None" || word.text == "True" || word.text == "False";
    default: return word.text == "...";
  }
}

}  // namespace gasell::format
