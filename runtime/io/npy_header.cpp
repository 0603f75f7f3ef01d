#include "runtime/io/npy_header.h"

#include <charconv>
#include <cstdint>
#include <utility>

namespace gasell {
namespace {

constexpr int kDeepest = 32;

/// Recursive descent; each function consumes what it recognises, or fails the whole.
class LiteralParser {
 public:
  explicit LiteralParser(std::string_view text) : text_(text) {}

  std::optional<PythonLiteral> whole() {
    PythonLiteral result;
    if (!value(result, 0) || !at_end()) return std::nullopt;
    return result;
  }

 private:
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\f'))
      ++at_;
  }
  bool eat(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool eat_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool value(PythonLiteral& out, int depth) {
    skip_space();
    if (depth > kDeepest || at_ == text_.size()) return false;
    const char c = text_[at_];
    if (c == '\'' || c == '"') return string(out);
    if (c == '-' || c == '+' || (c >= '0' && c <= '9')) return integer(out);
    if (eat_word("True")) return out.value = true, true;
    if (eat_word("False")) return out.value = false, true;
    if (eat_word("None")) return out.value = PythonLiteral::None{}, true;
    if (eat('{')) return dict(out, depth);
    if (eat('(')) {
      bool comma = false;
      std::vector<PythonLiteral> items;
      if (!sequence(items, ')', comma, depth)) return false;
      // (1) is 1; (1,) is a tuple.
      if (items.size() == 1 && !comma) return out = PythonLiteral(std::move(items[0])), true;
      return out.value = PythonLiteral::Tuple{std::move(items)}, true;
    }
    if (eat('[')) {
      bool comma = false;
      PythonLiteral::List list;
      if (!sequence(list.items, ']', comma, depth)) return false;
      return out.value = std::move(list), true;
    }
    return false;
  }

  bool sequence(std::vector<PythonLiteral>& items, char close, bool& comma, int depth) {
    while (!eat(close)) {
      if (!items.empty() && !comma) return false;
      if (!value(items.emplace_back(), depth + 1)) return false;
      comma = eat(',');
    }
    return true;
  }

  bool dict(PythonLiteral& out, int depth) {
    PythonLiteral::Dict dict;
    bool comma = true;
    while (!eat('}')) {
      auto& [key, item] = dict.items.emplace_back();
      if (!comma || !value(key, depth + 1) || !eat(':') || !value(item, depth + 1)) return false;
      comma = eat(',');
    }
    return out.value = std::move(dict), true;
  }

  bool string(PythonLiteral& out) {
    const char quote = text_[at_++];
    std::string text;
    while (at_ < text_.size() && text_[at_] != quote) {
      // Field names may hold escapes; dtype names never do, so the escaped character itself is as good.
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      text += text_[at_++];
    }
    if (at_ == text_.size()) return false;
    ++at_;
    return out.value = std::move(text), true;
  }

  bool integer(PythonLiteral& out) {
    const size_t start = at_;
    if (text_[at_] == '-' || text_[at_] == '+') ++at_;
    const size_t digits = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    if (at_ == digits) return false;
    const std::string_view number = text_.substr(text_[start] == '+' ? digits : start, at_ - (text_[start] == '+' ? digits : start));
    int64_t parsed = 0;
    if (std::from_chars(number.data(), number.data() + number.size(), parsed).ec == std::errc())
      out.value = parsed;
    else
      out.value = PythonLiteral::BigInt{std::string(number)};
    eat_word("L");
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::optional<PythonLiteral> parse_python_literal(std::string_view text) { return LiteralParser(text).whole(); }

}  // namespace gasell
