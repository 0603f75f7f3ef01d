#include "tools/format/layout.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lang/characters.h"

namespace gasell::format {

namespace {

using Iterator = Words::const_iterator;

/// How tightly a delimiter binds; pieces are told apart at the loosest. `none` delimits nothing.
enum class Delimiter { none, math_product, math_sum, shift, bit_and, bit_xor, bit_or, comparison, text, logic, conditional, comma, clause };

Word made_word(TokenKind kind, std::string text, bool space) {
  Word word{kind, std::move(text), {}};
  word.space = space;
  return word;
}

int64_t width_of(const Words& words) {
  int64_t width = 0;
  for (size_t i = 0; i < words.size(); ++i) width += code_point_count(words[i].text) + (i > 0 && words[i].space);
  return width;
}

bool has_comment(const Word& word) { return !word.above.empty() || !word.beside.empty(); }

bool is_text_of_lines(const Word& word) { return word.kind == TokenKind::string && word.text.find('\n') != std::string::npos; }

/// Index of the bracket that closes the one at `open`.
size_t closing(const Words& words, size_t open) {
  int depth = 0;
  for (size_t i = open; i < words.size(); ++i) {
    depth += words[i].opens() ? 1 : words[i].closes() ? -1 : 0;
    if (depth == 0) return i;
  }
  return words.size() - 1;
}

/// Is the `if` at `at` that of a conditional expression?
bool has_else_behind(const Words& words, size_t at) {
  int depth = 0;
  for (size_t i = at + 1; i < words.size(); ++i) {
    depth += words[i].opens() ? 1 : words[i].closes() ? -1 : 0;
    if (depth == 0 && words[i].is("else")) return true;
    if (depth == 0 && (words[i].is("for") || words[i].is(","))) return false;
  }
  return false;
}

/// For each word how tightly what begins there (or, for commas, ends there) is bound, at the words' own depth.
std::vector<Delimiter> delimiters_of(const Words& words) {
  static const std::map<std::string_view, Delimiter> kOperators = {
      {"*", Delimiter::math_product}, {"/", Delimiter::math_product}, {"//", Delimiter::math_product}, {"%", Delimiter::math_product},
      {"@", Delimiter::math_product}, {"+", Delimiter::math_sum},     {"-", Delimiter::math_sum},      {"<<", Delimiter::shift},
      {">>", Delimiter::shift},       {"&", Delimiter::bit_and},      {"^", Delimiter::bit_xor},       {"|", Delimiter::bit_or},
      {"<", Delimiter::comparison},   {">", Delimiter::comparison},   {"<=", Delimiter::comparison},   {">=", Delimiter::comparison},
      {"==", Delimiter::comparison},  {"!=", Delimiter::comparison},  {"is", Delimiter::comparison},   {"in", Delimiter::comparison},
      {"not", Delimiter::comparison}, {"and", Delimiter::logic},      {"or", Delimiter::logic}};
  std::vector<Delimiter> found(words.size(), Delimiter::none);
  int depth = 0, lambdas = 0, loops = 0;
  bool in_comprehension = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const Word& word = words[i];
    if (word.opens()) ++depth;
    if (word.closes()) --depth;
    if (depth > 0 || word.opens() || word.closes()) {
      continue;
    }
    if (word.is("lambda")) ++lambdas;
    if (word.is(":") && lambdas > 0) --lambdas;
    if (lambdas > 0) continue;
    const bool behind_operand = i > 0 && ends_operand(words[i - 1]);
    if (word.is("for")) {
      in_comprehension = true;
      if (i > 0) found[i] = Delimiter::clause;
      ++loops;
    } else if (word.is("in") && loops > 0) {
      --loops;
    } else if (loops > 0) {
      continue;
    } else if (word.is(",")) {
      found[i] = Delimiter::comma;
    } else if (word.is("if") || word.is("else")) {
      if (i > 0) found[i] = word.is("if") && in_comprehension && !has_else_behind(words, i) ? Delimiter::clause : Delimiter::conditional;
    } else if (word.kind == TokenKind::string) {
      if (i > 0 && words[i - 1].kind == TokenKind::string) found[i] = Delimiter::text;
    } else if (const auto op = kOperators.find(word.text); op != kOperators.end() && behind_operand) {
      found[i] = op->second;
    }
  }
  return found;
}

class Layout {
 public:
  explicit Layout(int width) : width_(width) {}

  void statement(Words words, int level) {
    if (fits(words, level) && !is_forced(words)) return add(level, std::move(words));
    if (!fits(words, level)) wrap_right_side(words);
    split_brackets(std::move(words), level);
  }

  std::vector<Line> lines;

 private:
  bool fits(const Words& words, int level) const {
    if (std::any_of(words.begin(), words.end(), is_text_of_lines)) return true;
    return level * kIndent + width_of(words) <= width_;
  }

  void add(int level, Words words) {
    if (!words.empty()) lines.push_back({level, std::move(words)});
  }

  /// Must a bracket be split? A comment asks for it, except one at the very end, and a comma behind the last item.
  static bool is_forced(const Words& words) {
    for (size_t i = 0; i < words.size(); ++i) {
      if (!words[i].above.empty() && i > 0) return true;
      if (!words[i].beside.empty() && i + 1 < words.size()) return true;
      if (words[i].opens() && has_last_comma(words, i)) return true;
    }
    return false;
  }

  /// A comma behind the last item, which is neither that of (x,) nor of x[i,].
  static bool has_last_comma(const Words& words, size_t open) {
    const size_t close = closing(words, open);
    if (close < open + 2 || !words[close - 1].is(",")) return false;
    const bool behind_operand = open > 0 && ends_operand(words[open - 1]);
    if (words[open].is("{") || (words[open].is("[") && !behind_operand) || (words[open].is("(") && behind_operand)) return true;
    int depth = 0, commas = 0;
    for (size_t i = open + 1; i < close; ++i) {
      depth += words[i].opens() ? 1 : words[i].closes() ? -1 : 0;
      commas += depth == 0 && words[i].is(",");
    }
    return commas > 1;
  }

  /// Puts parentheses around what stands behind the last `=` or behind return, if, while, …, when it could be split but by no bracket.
  static void wrap_right_side(Words& words) {
    size_t begin = 0, end = words.size();
    static constexpr std::string_view kWords[] = {"return", "if", "elif", "while"};
    const Word& first = words.front();
    bool is_import = false;
    if (first.kind == TokenKind::keyword) {
      if (first.is("from")) {
        while (begin < end && !words[begin].is("import")) ++begin;
        ++begin;
        is_import = true;
      } else if (first.is("for")) {
        int depth = 0;
        while (begin < end && !(depth == 0 && words[begin].is("in")))
          depth += words[begin].opens() ? 1 : words[begin].closes() ? -1 : 0, ++begin;
        ++begin;
      } else if (std::find(std::begin(kWords), std::end(kWords), first.text) != std::end(kWords)) {
        begin = 1;
      } else {
        return;
      }
      if (words.back().is(":")) --end;
    } else {
      int depth = 0;
      for (size_t i = 0; i < words.size(); ++i) {
        depth += words[i].opens() ? 1 : words[i].closes() ? -1 : 0;
        const bool assigns = words[i].is("=") ||
                             (words[i].kind == TokenKind::symbol && words[i].text.size() > 1 && words[i].text.back() == '=' &&
                              std::string_view("=!<>:").find(words[i].text[0]) == std::string_view::npos) ||
                             words[i].is("<<=") || words[i].is(">>=");
        if (depth == 0 && assigns) begin = i + 1;
        if (depth == 0 && words[i].is("lambda")) break;
      }
      if (begin == 0) return;
    }
    if (begin >= end) return;
    if (words[begin].is("yield")) return;
    Words right(words.begin() + static_cast<std::ptrdiff_t>(begin), words.begin() + static_cast<std::ptrdiff_t>(end));
    const std::vector<Delimiter> delimiters = delimiters_of(right);
    const bool can_split = std::any_of(delimiters.begin(), delimiters.end(), [](Delimiter d) { return d != Delimiter::none; });
    if (!can_split || (is_import && right.front().opens())) return;
    std::string beside = std::move(words[end - 1].beside);
    words[end - 1].beside.clear();
    words[begin].space = false;
    Word close = made_word(TokenKind::close, ")", false);
    (end == words.size() ? close : words.back()).beside = std::move(beside);
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(end), std::move(close));
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(begin), made_word(TokenKind::open, "(", true));
  }

  /// What stands in brackets: in one line, else piece by piece.
  void inside(Words words, int level, bool is_import) {
    if (words.empty()) return;
    if (!is_import && fits(words, level) && !is_forced(words) && !words.back().is(",")) return add(level, std::move(words));
    piece(std::move(words), level, true);
  }

  void piece(Words words, int level, bool is_body = false) {
    if (words.empty()) return;
    if (!is_body && fits(words, level) && !is_forced(words)) return add(level, std::move(words));
    const std::vector<Delimiter> delimiters = delimiters_of(words);
    // The comma at the end of a piece delimits nothing in it.
    Delimiter loosest = Delimiter::none;
    for (size_t i = 0; i < words.size(); ++i)
      if (is_body || i + 1 < words.size()) loosest = std::max(loosest, delimiters[i]);
    if (loosest == Delimiter::none) return split_brackets(std::move(words), level);
    if (loosest == Delimiter::comma && is_body && fill(words, level)) return;
    Words part;
    for (size_t i = 0; i < words.size(); ++i) {
      if (delimiters[i] == loosest && loosest != Delimiter::comma && !part.empty()) piece(std::exchange(part, {}), level);
      part.push_back(words[i]);
      if (delimiters[i] == loosest && loosest == Delimiter::comma) piece(std::exchange(part, {}), level);
    }
    if (part.empty()) return;
    if (loosest == Delimiter::comma && is_body) {
      Word comma = made_word(TokenKind::symbol, ",", false);
      comma.beside = std::exchange(part.back().beside, {});
      part.push_back(std::move(comma));
    }
    piece(std::move(part), level);
  }

  /// Numbers with commas between them, as many a line as fit. False for anything else.
  bool fill(const Words& words, int level) {
    constexpr size_t kFew = 8;
    size_t numbers = 0;
    for (size_t i = 0; i < words.size(); ++i) {
      if (has_comment(words[i])) return false;
      if (words[i].kind == TokenKind::number) ++numbers;
      const bool sign = (words[i].is("-") || words[i].is("+")) && (i == 0 || words[i - 1].is(","));
      if (words[i].kind != TokenKind::number && !words[i].is(",") && !sign) return false;
    }
    if (numbers < kFew) return false;
    Words line, item;
    for (size_t i = 0; i < words.size(); ++i) {
      item.push_back(words[i]);
      if (i + 1 == words.size() && !words[i].is(",")) item.push_back(made_word(TokenKind::symbol, ",", false));
      if (!item.back().is(",")) continue;
      Words longer = line;
      longer.insert(longer.end(), item.begin(), item.end());
      if (!line.empty() && !fits(longer, level)) {
        add(level, std::exchange(line, {}));
        line = std::move(item);
      } else {
        line = std::move(longer);
      }
      item.clear();
    }
    add(level, std::move(line));
    return true;
  }

  struct Group {
    size_t open, close;
    bool forced;
  };

  static std::vector<Group> groups_of(const Words& words) {
    std::vector<Group> groups;
    for (size_t i = 0; i < words.size(); ++i) {
      if (!words[i].opens()) continue;
      const size_t close = closing(words, i);
      if (close > i + 1) {
        bool forced = has_last_comma(words, i) || !words[i].beside.empty();
        for (size_t k = i + 1; k <= close; ++k) {
          forced = forced || !words[k].above.empty() || (k < close && !words[k].beside.empty());
          forced = forced || (k < close && words[k].opens() && has_last_comma(words, k));
        }
        groups.push_back({i, close, forced});
      }
      i = close;
    }
    return groups;
  }

  static Words part_of(const Words& words, size_t begin, size_t end) {
    return {words.begin() + static_cast<std::ptrdiff_t>(begin), words.begin() + static_cast<std::ptrdiff_t>(end)};
  }

  void split_brackets(Words words, int level) {
    const std::vector<Group> groups = groups_of(words);
    if (groups.empty()) return add(level, std::move(words));
    std::vector<Group> chosen;
    std::copy_if(groups.begin(), groups.end(), std::back_inserter(chosen), [](const Group& g) { return g.forced; });
    if (chosen.empty()) {
      const bool defines = words.front().is("def") || words.front().is("class");
      for (size_t k = groups.size(); k-- > 0 && chosen.empty();) {
        const Group& group = groups[defines ? 0 : k];
        if (fits(part_of(words, 0, group.open + 1), level) && fits(part_of(words, group.close, words.size()), level)) chosen = {group};
      }
      if (chosen.empty()) chosen = {groups.back()};
    }
    const bool is_import = words.front().is("from") && !inside_;
    size_t begin = 0;
    for (const Group& group : chosen) {
      add(level, part_of(words, begin, group.open + 1));
      Words body = part_of(words, group.open + 1, group.close);
      const bool was_inside = std::exchange(inside_, true);
      inside(std::move(body), level + 1, is_import);
      inside_ = was_inside;
      begin = group.close;
    }
    add(level, part_of(words, begin, words.size()));
  }

  const int width_;
  bool inside_ = false;
};

}  // namespace

std::vector<Line> lay_out_statement(Words words, int level, int width) {
  Layout layout(width);
  layout.statement(std::move(words), level);
  return std::move(layout.lines);
}

bool write_lines(const std::vector<Line>& lines, std::string& out) {
  for (const Line& line : lines) {
    const std::string indent(static_cast<size_t>(line.level * kIndent), ' ');
    for (const std::string& comment : line.words.front().above)
      out += std::string(static_cast<size_t>((line.level + (line.words.front().closes() ? 1 : 0)) * kIndent), ' ') + comment + "\n";
    out += indent;
    for (size_t i = 0; i < line.words.size(); ++i) {
      const Word& word = line.words[i];
      if ((i > 0 && !word.above.empty()) || (i + 1 < line.words.size() && !word.beside.empty())) return false;
      out += (i > 0 && word.space ? " " : "") + word.text;
    }
    if (!line.words.back().beside.empty()) out += "  " + line.words.back().beside;
    out += "\n";
  }
  return true;
}

}  // namespace gasell::format
