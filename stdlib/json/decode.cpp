// Reads JSON. Errors have CPython's words and places (Lib/json/decoder.py of 3.11 names them).
#include <charconv>

#include "lang/characters.h"
#include "runtime/session/dict.h"
#include "runtime/session/number.h"
#include "runtime/session/types.h"
#include "stdlib/json/json.h"

namespace gasell::json {
namespace {

/// Characters of UTF-8 before a byte.
int64_t characters_before(std::string_view text, size_t byte) {
  int64_t count = 0;
  for (size_t k = 0; k < byte; ++k) count += (static_cast<unsigned char>(text[k]) & 0xC0) != 0x80;
  return count;
}

void append_utf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 63));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 63));
    out += static_cast<char>(0x80 | (c & 63));
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 63));
    out += static_cast<char>(0x80 | ((c >> 6) & 63));
    out += static_cast<char>(0x80 | (c & 63));
  }
}

class Decoder {
 public:
  Decoder(Interpreter& in, const Value& document, const Hooks& hooks)
      : in_(in), document_(document), text_(document.as<Str>()->value), hooks_(hooks) {}

  Value whole() {
    if (text_.starts_with("\xEF\xBB\xBF")) fail("Unexpected UTF-8 BOM (decode using utf-8-sig)", 0);
    skip_blanks();
    Value result = value(0);
    skip_blanks();
    if (at_ != text_.size()) fail("Extra data", at_);
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& message, size_t byte) const {
    throw Raised(Value::make<DecodeError>(message, document_, characters_before(text_, byte)));
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  Value call(const Value& hook, Value argument) const {
    std::vector<Value> arguments;
    arguments.push_back(std::move(argument));
    return gasell::call(in_, hook, {std::move(arguments), {}});
  }

  Value value(int depth) {
    poll(in_);
    switch (peek()) {
      case '"': return make_str(string());
      case '{': return object(depth);
      case '[': return array(depth);
      case 'n':
        if (take("null")) return {};
        break;
      case 't':
        if (take("true")) return Value::of(true);
        break;
      case 'f':
        if (take("false")) return Value::of(false);
        break;
      case 'N':
        if (take("NaN")) return constant("NaN");
        break;
      case 'I':
        if (take("Infinity")) return constant("Infinity");
        break;
      case '-':
        if (take("-Infinity")) return constant("-Infinity");
        break;
      default: break;
    }
    return number();
  }

  Value constant(const std::string& word) const {
    if (!hooks_.parse_constant.is_none()) return call(hooks_.parse_constant, make_str(word));
    return Value::of(parse_float(word == "NaN" ? "nan" : word == "Infinity" ? "inf" : "-inf"));
  }

  Value number() {
    const size_t begin = at_;
    const auto is_digit = [&](size_t k) { return k < text_.size() && text_[k] >= '0' && text_[k] <= '9'; };
    size_t end = begin + (peek() == '-' ? 1 : 0);
    if (!is_digit(end)) fail("Expecting value", begin);
    if (text_[end] == '0') {
      ++end;
    } else {
      while (is_digit(end)) ++end;
    }
    bool real = false;
    if (end < text_.size() && text_[end] == '.' && is_digit(end + 1)) {
      real = true;
      for (++end; is_digit(end);) ++end;
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      size_t digits = end + 1;
      if (digits < text_.size() && (text_[digits] == '+' || text_[digits] == '-')) ++digits;
      if (is_digit(digits)) {
        real = true;
        for (end = digits; is_digit(end);) ++end;
      }
    }
    const std::string_view word = text_.substr(begin, end - begin);
    at_ = end;
    const Value& hook = real ? hooks_.parse_float : hooks_.parse_int;
    if (!hook.is_none()) return call(hook, make_str(std::string(word)));
    return real ? Value::of(parse_float(word)) : parse_integer(word);
  }

  /// The four digits behind "\u", of which the backslash is at `escape`.
  uint32_t unit(size_t escape) {
    uint32_t result = 0;
    const char* const begin = text_.data() + at_;
    if (text_.size() - at_ >= 4 && std::from_chars(begin, begin + 4, result, 16).ptr == begin + 4 && begin[0] != '-') {
      at_ += 4;
      return result;
    }
    fail("Invalid \\uXXXX escape", escape + 1);
  }

  std::string string() {
    const size_t begin = at_++;
    std::string result;
    for (;;) {
      const size_t from = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' && static_cast<unsigned char>(text_[at_]) >= 0x20) ++at_;
      result += text_.substr(from, at_ - from);
      if (at_ >= text_.size()) fail("Unterminated string starting at", begin);
      const char c = text_[at_];
      if (c == '"') break;
      if (c != '\\') fail("Invalid control character at", at_);
      const size_t escape = at_++;
      if (at_ >= text_.size()) fail("Unterminated string starting at", begin);
      switch (text_[at_++]) {
        case '"': result += '"'; break;
        case '\\': result += '\\'; break;
        case '/': result += '/'; break;
        case 'b': result += '\b'; break;
        case 'f': result += '\f'; break;
        case 'n': result += '\n'; break;
        case 'r': result += '\r'; break;
        case 't': result += '\t'; break;
        case 'u': {
          uint32_t c = unit(escape);
          if (c >= 0xD800 && c < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
            const size_t second = at_;
            at_ += 2;
            const uint32_t low = unit(second);
            if (low >= 0xDC00 && low < 0xE000)
              c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
            else
              at_ = second;
          }
          if (c >= 0xD800 && c < 0xE000)
            raise("NotImplementedError", "half of a surrogate pair in JSON is not in Gasell, whose texts are UTF-8");
          append_utf8(result, c);
          break;
        }
        default: fail("Invalid \\escape", escape);
      }
    }
    ++at_;
    return result;
  }

  void enter(int depth, const char* what) const {
    if (depth >= kMostDepth)
      raise("RecursionError", std::string("maximum recursion depth exceeded while decoding a JSON ") + what + " from a unicode string");
  }

  Value array(int depth) {
    enter(depth, "array");
    ++at_;
    std::vector<Value> items;
    skip_blanks();
    if (peek() == ']') {
      ++at_;
      return make_list({});
    }
    for (;;) {
      items.push_back(value(depth + 1));
      skip_blanks();
      if (peek() == ']') break;
      if (peek() != ',') fail("Expecting ',' delimiter", at_);
      ++at_;
      skip_blanks();
    }
    ++at_;
    return make_list(std::move(items));
  }

  Value object(int depth) {
    enter(depth, "object");
    ++at_;
    std::vector<std::pair<std::string, Value>> pairs;
    skip_blanks();
    if (peek() != '}') {
      for (;;) {
        if (peek() != '"') fail("Expecting property name enclosed in double quotes", at_);
        std::string key = string();
        skip_blanks();
        if (peek() != ':') fail("Expecting ':' delimiter", at_);
        ++at_;
        skip_blanks();
        pairs.emplace_back(std::move(key), value(depth + 1));
        skip_blanks();
        if (peek() == '}') break;
        if (peek() != ',') fail("Expecting ',' delimiter", at_);
        ++at_;
        skip_blanks();
      }
    }
    ++at_;
    if (!hooks_.object_pairs_hook.is_none()) {
      std::vector<Value> list;
      for (auto& [key, item] : pairs) list.push_back(make_tuple({make_str(std::move(key)), std::move(item)}));
      return call(hooks_.object_pairs_hook, make_list(std::move(list)));
    }
    Value result = make_dict();
    auto* const dict = result.as<Dict>();
    for (auto& [key, item] : pairs) dict->insert(in_, make_str(std::move(key)), std::move(item));
    return hooks_.object_hook.is_none() ? result : call(hooks_.object_hook, std::move(result));
  }

  Interpreter& in_;
  const Value& document_;
  const std::string_view text_;
  const Hooks& hooks_;
  size_t at_ = 0;
};

}  // namespace

const Type& decode_error_type() {
  static const Type& type = []() -> const Type& {
    static const Type made{"JSONDecodeError", "json.decoder", exception_type("ValueError")};
    register_exception(made);
    return made;
  }();
  return type;
}

DecodeError::DecodeError(const std::string& message, const Value& document, int64_t position)
    : Exception(decode_error_type(), {}), message_(make_str(message)), document_(document), position_(position), line_(1) {
  int64_t column = 0, k = 0;
  for (const char c : document.as<Str>()->value) {
    if (k >= position) break;
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) continue;
    ++k;
    ++column;
    if (c == '\n') ++line_, column = 0;
  }
  column_ = column + 1;
  args.push_back(make_str(message + ": line " + std::to_string(line_) + " column " + std::to_string(column_) + " (char " +
                          std::to_string(position) + ")"));
}

std::optional<Value> DecodeError::get_attribute(Interpreter& in, std::string_view name) {
  if (name == "msg") return message_;
  if (name == "doc") return document_;
  if (name == "pos") return Value::of(position_);
  if (name == "lineno") return Value::of(line_);
  if (name == "colno") return Value::of(column_);
  return Exception::get_attribute(in, name);
}

Value decode(Interpreter& in, const Value& text, const Hooks& hooks) { return Decoder(in, text, hooks).whole(); }

}  // namespace gasell::json
