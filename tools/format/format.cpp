#include "tools/format/format.h"

#include <algorithm>

#include "lang/parser.h"
#include "tools/format/layout.h"
#include "tools/format/spacing.h"

namespace gasell::format {

namespace {

constexpr int kMostPasses = 8;  // a comma or parenthesis that one adds may let the next choose another bracket

bool begins_with(const Statement& s, std::string_view word) { return !s.words.empty() && s.words[0].is(word); }
bool is_comment(const Statement& s) { return s.words.empty(); }
bool is_definition(const Statement& s) { return begins_with(s, "def") || begins_with(s, "class"); }
bool is_decorator(const Statement& s) { return begins_with(s, "@"); }
bool is_import(const Statement& s) { return begins_with(s, "import") || begins_with(s, "from"); }
bool opens_block(const Statement& s) { return !s.words.empty() && s.words.back().is(":"); }
bool goes_on(const Statement& s) {
  return begins_with(s, "else") || begins_with(s, "elif") || begins_with(s, "except") || begins_with(s, "finally");
}

/// The statement's own text, moved to its new indentation; what multi-line strings hold stays.
std::string as_it_stands(std::string_view text, const Statement& s) {
  const std::string_view whole = text.substr(s.span.begin, s.span.end - s.span.begin);
  std::string out(static_cast<size_t>(s.level * kIndent), ' ');
  const int shift = s.level * kIndent - s.column;
  const auto trim = [&] {
    while (!out.empty() && (out.back() == ' ' || out.back() == '\t')) out.pop_back();
  };
  size_t word = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    const auto at = static_cast<uint32_t>(s.span.begin + i);
    while (word < s.words.size() && s.words[word].span.end <= at) ++word;
    const bool in_string = word < s.words.size() && s.words[word].kind == TokenKind::string && s.words[word].span.begin <= at;
    if (whole[i] != '\n' || in_string) {
      out += whole[i];
      continue;
    }
    trim();
    out += '\n';
    int column = 0;
    while (i + 1 < whole.size() && (whole[i + 1] == ' ' || whole[i + 1] == '\t')) column += whole[++i] == '\t' ? 8 : 1;
    out.append(static_cast<size_t>(std::max(column + shift, 0)), ' ');
  }
  trim();
  return out + "\n";
}

/// Empty lines before each statement: around definitions two, inside of blocks one; none where a block begins; one behind imports; else
/// those that are there, as many at most.
std::vector<int> blank_lines(const std::vector<Statement>& all) {
  std::vector<int> blanks(all.size(), 0);
  std::vector<int> definitions;  // levels of the functions whose blocks are open
  for (size_t i = 0; i < all.size(); ++i) {
    const Statement& s = all[i];
    if (i > 0) {
      const Statement& before = all[i - 1];
      const int most = s.level == 0 ? 2 : 1;
      bool behind_definition = false;
      while (!definitions.empty() && definitions.back() >= s.level) {
        behind_definition = behind_definition || definitions.back() == s.level;
        definitions.pop_back();
      }
      blanks[i] = std::min(s.blanks, most);
      if (behind_definition && !goes_on(s)) blanks[i] = most;
      if ((opens_block(before) && before.level < s.level) || is_decorator(before)) {
        blanks[i] = 0;
      } else if (is_import(before) && !is_import(s) && !is_comment(s) && before.level == s.level) {
        blanks[i] = std::max(blanks[i], 1);
      }
    }
    if (is_definition(s)) definitions.push_back(s.level);
    if ((!is_definition(s) && !is_decorator(s)) || i == 0) continue;
    // The comment lines right above belong to the definition.
    size_t first = i;
    while (first > 0 && all[first].blanks == 0 && is_comment(all[first - 1]) && all[first - 1].level == s.level) --first;
    if (first == 0) continue;
    const Statement& before = all[first - 1];
    if (!is_decorator(before) && !(opens_block(before) && before.level < s.level)) blanks[first] = s.level == 0 ? 2 : 1;
  }
  return blanks;
}

std::string one_pass(const std::string& text, int width) {
  const std::vector<Statement> all = read_statements(text);
  const std::vector<int> blanks = blank_lines(all);
  std::string out;
  for (size_t i = 0; i < all.size(); ++i) {
    const Statement& s = all[i];
    out.append(static_cast<size_t>(blanks[i]), '\n');
    if (is_comment(s)) {
      out += std::string(static_cast<size_t>(s.level * kIndent), ' ') + s.comment + "\n";
      continue;
    }
    Words words = s.words;
    set_spaces(words);
    const std::vector<Line> lines = lay_out_statement(words, s.level, width);
    const bool is_joined = std::any_of(words.begin(), words.end(), [](const Word& word) { return word.joined; });
    std::string laid;
    if (s.as_it_stands || (is_joined && lines.size() > 1) || !write_lines(lines, laid)) laid = as_it_stands(text, s);
    out += laid;
  }
  return out;
}

std::string with_plain_line_ends(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      out += text[i];
    } else if (i + 1 >= text.size() || text[i + 1] != '\n') {
      out += '\n';
    }
  }
  return out;
}

}  // namespace

std::string format_text(const SourceRef& source, int width) {
  const ast::ModuleRef tree = parse_module(source);
  std::string text = with_plain_line_ends(source->text());
  for (int pass = 0; pass < kMostPasses; ++pass) {
    std::string next = one_pass(text, width);
    if (next == text) break;
    text = std::move(next);
  }
  bool same = false;
  try {
    same = dump(*tree, false) == dump(*parse_module(std::make_shared<Source>(source->name(), text)), false);
  } catch (const Error&) {
    same = false;
  }
  if (!same)
    throw Error("RuntimeError", "formatting " + source->name() + " would change the program; it stays as it is", "", Blame::internal);
  return text;
}

}  // namespace gasell::format
