#include "compiler/c_kernels/tokens.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <span>

namespace gasell::c_kernels {

void refuse(const SourceRef& source, Span span, std::string message, std::string hint) {
  throw Error(Diagnostic{Blame::user, "CompileException", std::move(message), Label{source, span, ""}, {}, std::move(hint)});
}
void refuse_as_unknown(const SourceRef& source, Span span, std::string message, std::string hint) {
  throw Error(Diagnostic{Blame::limitation, "NotImplementedError", std::move(message), Label{source, span, ""}, {}, std::move(hint)});
}

namespace {

constexpr size_t kMostWords = 100000;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v'; }

constexpr std::array<std::string_view, 45> kPunctuators = {
    "<<=", ">>=", "...", "->*", "::", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&",
    "||",  "+=",  "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "{",  "}",  "(",  ")",  "[",  "]",
    ";",   ",",   ":",   "?",   ".",  "~",  "!",  "+",  "-",  "*",  "/",  "%",  "<",  ">",  "="};
constexpr std::array<std::string_view, 3> kMorePunctuators = {"&", "|", "^"};

class Lexer {
 public:
  Lexer(const SourceRef& source, Macros& macros) : source_(source), text_(source->text()), macros_(macros) {}

  std::vector<Token> run() {
    bool begins_line = true;
    for (;;) {
      const size_t before = at_;
      skip_space();
      begins_line = begins_line || text_.substr(before, at_ - before).find('\n') != text_.npos;
      if (at_ >= text_.size()) break;
      if (text_[at_] == '#') {
        if (!begins_line) refuse(source_, here(1), "'#' begins a line of the preprocessor, and this is no line's beginning");
        directive();
        begins_line = true;
        continue;
      }
      add(next());
      begins_line = false;
    }
    const auto end = static_cast<uint32_t>(text_.size());
    words_.push_back({Token::Kind::end, {}, {end, end}, {}});
    return std::move(words_);
  }

 private:
  Span here(size_t length) const { return {static_cast<uint32_t>(at_), static_cast<uint32_t>(std::min(at_ + length, text_.size()))}; }
  Span since(size_t begin) const { return {static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)}; }

  /// Blanks and comments; a backslash at a line's end joins it with the next.
  void skip_space(bool within_line = false) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\' && (text_.substr(at_ + 1, 1) == "\n" || text_.substr(at_ + 1, 2) == "\r\n")) {
        at_ += text_[at_ + 1] == '\n' ? 2 : 3;
      } else if (c == '\n' && within_line) {
        return;
      } else if (is_space(c)) {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_, 2) == "/*") {
        const size_t end = text_.find("*/", at_ + 2);
        if (end == text_.npos) refuse(source_, here(2), "this comment does not end", "*/ ends it");
        at_ = end + 2;
      } else {
        return;
      }
    }
  }

  void add(const Token& t) {
    if (words_.size() > kMostWords) refuse_as_unknown(source_, t.span, "the text has more than 100000 words");
    const auto macro = t.kind == Token::Kind::name ? macros_.words.find(t.text) : macros_.words.end();
    if (macro == macros_.words.end()) {
      words_.push_back(t);
      return;
    }
    for (Token word : macro->second) {
      word.span = t.span;
      words_.push_back(word);
    }
  }

  Token next() {
    const size_t begin = at_;
    const char c = text_[at_];
    if (is_letter(c)) {
      while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
      return {Token::Kind::name, text_.substr(begin, at_ - begin), since(begin), {}};
    }
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) return number();
    if (c == '\'') return character();
    if (c == '"') {
      for (++at_; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_)
        if (text_[at_] == '\\') ++at_;
      if (at_ >= text_.size() || text_[at_] != '"')
        refuse(source_, {static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + 1)}, "this text does not end");
      ++at_;
      return {Token::Kind::text, text_.substr(begin, at_ - begin), since(begin), {}};
    }
    for (const auto& list : {std::span<const std::string_view>(kPunctuators), std::span<const std::string_view>(kMorePunctuators)})
      for (const std::string_view p : list)
        if (text_.substr(at_, p.size()) == p) {
          at_ += p.size();
          return {Token::Kind::punctuator, p, since(begin), {}};
        }
    size_t length = 1;
    while (at_ + length < text_.size() && (static_cast<unsigned char>(text_[at_ + length]) & 0xC0) == 0x80) ++length;
    refuse(source_, here(length), "this is no word of C");
  }

  Token number() {
    const size_t begin = at_;
    const bool prefixed = text_[at_] == '0' && at_ + 1 < text_.size();
    const char second = prefixed ? static_cast<char>(text_[at_ + 1] | 0x20) : ' ';
    const int base = second == 'x' ? 16 : second == 'b' ? 2 : 10;
    while (at_ < text_.size()) {  // a preprocessing number: letters, digits, points, signs behind an exponent's letter
      const char c = text_[at_];
      const bool sign = (c == '+' || c == '-') && at_ > begin && base == 10 && (text_[at_ - 1] | 0x20) == 'e';
      if (!(is_letter(c) || is_digit(c) || c == '.' || sign)) break;
      ++at_;
    }
    std::string word(text_.substr(begin, at_ - begin));
    Token t{Token::Kind::number, text_.substr(begin, at_ - begin), since(begin), {}};
    const auto wrong = [&] { refuse(source_, t.span, "'" + word + "' is no number of C"); };
    const bool floating = base == 10 && word.find_first_of(".eE") != word.npos;
    std::string suffix;
    const std::string_view letters = base == 16 ? "uUlL" : "uUlLfF";
    while (!word.empty() && letters.find(word.back()) != letters.npos) {
      suffix.insert(suffix.begin(), static_cast<char>(word.back() | 0x20));
      word.pop_back();
    }
    if (floating || suffix == "f") {
      if (suffix != "" && suffix != "f" && suffix != "l") wrong();
      if (!floating) wrong();
      char* end = nullptr;
      const double value = std::strtod(word.c_str(), &end);
      if (end != word.c_str() + word.size()) wrong();
      t.value = Scalar::of_float(value).cast(suffix == "f" ? DType::f32 : DType::f64);
      return t;
    }
    const bool octal = base == 10 && word.size() > 1 && word[0] == '0';
    const std::string_view digits = base == 10 ? std::string_view(word) : std::string_view(word).substr(2);
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, octal ? 8 : base);
    if (error == std::errc::result_out_of_range) refuse(source_, t.span, "'" + word + "' does not fit into 64 bits");
    if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty()) wrong();
    const size_t longs = static_cast<size_t>(std::count(suffix.begin(), suffix.end(), 'l'));
    const size_t unsigneds = suffix.size() - longs;
    if (longs > 2 || unsigneds > 1 || suffix == "lul") wrong();
    t.value = Scalar::of_int(static_cast<int64_t>(value), type_of_integer(value, unsigneds > 0, longs > 0, base == 10 && !octal));
    return t;
  }

  /// C's first type that holds it; decimal numbers become unsigned only by their suffix.
  static DType type_of_integer(uint64_t value, bool is_unsigned, bool is_long, bool decimal) {
    if (!is_long && !is_unsigned && value <= std::numeric_limits<int32_t>::max()) return DType::i32;
    if (!is_long && (is_unsigned || !decimal) && value <= std::numeric_limits<uint32_t>::max()) return DType::u32;
    if (!is_unsigned && value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return DType::i64;
    return DType::u64;
  }

  Token character() {
    const size_t begin = at_++;
    char value = 0;
    bool good = at_ < text_.size() && text_[at_] != '\'' && text_[at_] != '\n';
    if (good && text_[at_] == '\\') {
      constexpr std::string_view kLetters = "ntr0'\"\\", kValues = std::string_view("\n\t\r\0'\"\\", 7);
      ++at_;
      const size_t known = at_ < text_.size() ? kLetters.find(text_[at_]) : kLetters.npos;
      good = known != kLetters.npos;
      if (good) value = kValues[known];
    } else if (good) {
      value = text_[at_];
    }
    ++at_;
    if (!good || at_ >= text_.size() || text_[at_] != '\'') {
      at_ = begin;
      refuse(source_, here(1), "this is no character of C: 'a', '\\n'");
    }
    ++at_;
    return {Token::Kind::number, text_.substr(begin, at_ - begin), since(begin), Scalar::of_int(value, DType::i8)};
  }

  void directive() {
    const size_t begin = at_++;
    skip_space(true);
    const size_t name_at = at_;
    while (at_ < text_.size() && is_letter(text_[at_])) ++at_;
    const std::string_view name = text_.substr(name_at, at_ - name_at);
    size_t line_end = at_;
    while (line_end < text_.size() && text_[line_end] != '\n') ++line_end;
    const Span line{static_cast<uint32_t>(begin), static_cast<uint32_t>(line_end)};
    if (name == "pragma" || name.empty()) {
      at_ = line_end;
    } else if (name == "include") {
      include(line);
      at_ = line_end;
    } else if (name == "define") {
      define();
    } else if (name == "undef") {
      skip_space(true);
      const Token t = at_ < text_.size() && is_letter(text_[at_]) ? next() : Token{};
      macros_.words.erase(std::string(t.text));
      at_ = line_end;
    } else {
      refuse_as_unknown(source_, line, "the preprocessor's #" + std::string(name) + " is not in Gasell", "#define of constants is");
    }
  }

  void include(Span line) {
    const std::string_view text = text_.substr(line.begin, line.end - line.begin);
    for (const char* known : {"cupy/", "math", "cmath", "stdint", "cstdint", "float.h", "cfloat", "limits.h", "climits", "stddef",
                              "cstddef", "cuda", "thrust/complex", "cuComplex"})
      if (text.find(known) != text.npos) return;
    refuse_as_unknown(source_, line, "this header is not in Gasell", "the functions of math.h are known without it");
  }

  void define() {
    skip_space(true);
    if (at_ >= text_.size() || !is_letter(text_[at_])) refuse(source_, here(1), "#define needs a name");
    const Token name = next();
    if (at_ < text_.size() && text_[at_] == '(')
      refuse_as_unknown(source_, name.span, "macros with parameters are not in Gasell",
                        "write a function: __device__ float f(float x) { ... }");
    std::vector<Token> outer = std::move(words_);
    words_.clear();
    for (skip_space(true); at_ < text_.size() && text_[at_] != '\n'; skip_space(true)) add(next());
    std::vector<Token> words = std::move(words_);
    words_ = std::move(outer);
    macros_.words.insert_or_assign(std::string(name.text), std::move(words));
  }

  const SourceRef& source_;
  const std::string_view text_;
  Macros& macros_;
  std::vector<Token> words_;
  size_t at_ = 0;
};

}  // namespace

TokensRef tokenize(const SourceRef& source, Macros& macros) {
  auto tokens = std::make_shared<Tokens>();
  tokens->source = source;
  macros.sources.push_back(source);
  tokens->words = Lexer(source, macros).run();
  return tokens;
}

}  // namespace gasell::c_kernels
