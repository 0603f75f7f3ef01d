// The tokens of JSON, as read_json looks at them: texts stay where they are until somebody wants them without escapes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace gasell {

// What true and false are as fields that are read as CSV's are: no UTF-8 has these bytes.
constexpr std::string_view kJsonTrue =
                               "\xfe"
                               "1",
                           kJsonFalse =
                               "\xfe"
                               "0";

struct JsonToken {
  enum class Kind : uint8_t { null, boolean, number, text };
  Kind kind;
  std::string_view text;  // between the quotes, of texts
  bool escaped = false;
};

/// Why a text is no JSON, or holds more than numbers, texts, booleans and nulls.
struct WrongJson {
  const char* message;
  bool nested = false;
};

class JsonCursor {
 public:
  JsonCursor(const char* at, const char* end) : at_(at), end_(end) {}

  /// f(key, escaped, value) of each member of the object that the text is; false where the text is blank.
  template <class F>
  bool object(const F& f) {
    skip_blanks();
    if (at_ == end_) return false;
    if (*at_ != '{') throw WrongJson{"Expected object or value"};
    ++at_;
    skip_blanks();
    if (take('}')) return finished();
    for (;;) {
      skip_blanks();
      if (!take('"')) throw WrongJson{"Key name of object must be 'string' when decoding 'object'"};
      bool escaped = false;
      const std::string_view key = rest_of_text(escaped);
      skip_blanks();
      if (!take(':')) throw WrongJson{"No ':' found when decoding object value"};
      skip_blanks();
      f(key, escaped, value());
      skip_blanks();
      if (take(',')) continue;
      if (!take('}')) throw WrongJson{"Unexpected character found when decoding object value"};
      return finished();
    }
  }

  void skip_blanks() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n')) ++at_;
  }
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  /// True; WrongJson where there is more than blanks.
  bool finished() {
    skip_blanks();
    if (at_ != end_) throw WrongJson{"Trailing data"};
    return true;
  }
  bool at_end() const { return at_ == end_; }
  char next() const { return *at_; }
  const char* place() const { return at_; }
  /// Up to the closing quote, behind which it stands then.
  std::string_view rest_of_text(bool& escaped) {
    const char* const begin = at_;
    for (; at_ < end_ && *at_ != '"'; ++at_)
      if (*at_ == '\\') {
        escaped = true;
        if (++at_ == end_) break;
      }
    if (at_ == end_) throw WrongJson{"Unmatched ''\"' when when decoding 'string'"};
    return {begin, static_cast<size_t>(at_++ - begin)};
  }
  bool word(std::string_view w) {
    if (static_cast<size_t>(end_ - at_) < w.size() || std::memcmp(at_, w.data(), w.size()) != 0) return false;
    at_ += w.size();
    return true;
  }
  JsonToken value() {
    if (at_ == end_) throw WrongJson{"Expected object or value"};
    switch (*at_) {
      case '"': {
        ++at_;
        JsonToken v{JsonToken::Kind::text, {}};
        v.text = rest_of_text(v.escaped);
        return v;
      }
      case 'n':
        if (word("null")) return {JsonToken::Kind::null, {}};
        break;
      case 't':
        if (word("true")) return {JsonToken::Kind::boolean, kJsonTrue};
        break;
      case 'f':
        if (word("false")) return {JsonToken::Kind::boolean, kJsonFalse};
        break;
      case 'N':
        if (word("NaN")) return {JsonToken::Kind::null, {}};
        break;
      case '{':
      case '[': throw WrongJson{"objects and lists within the objects of a line are not in Gasell", true};
      default: {
        const char* const begin = at_;
        if (*at_ == '-') ++at_;
        if (word("Infinity")) return {JsonToken::Kind::number, {begin, static_cast<size_t>(at_ - begin)}};
        const char* const digits = at_;
        while (at_ < end_ && ((*at_ >= '0' && *at_ <= '9') || *at_ == '.' || *at_ == 'e' || *at_ == 'E' || *at_ == '+' || *at_ == '-'))
          ++at_;
        if (at_ > digits && *digits >= '0' && *digits <= '9') return {JsonToken::Kind::number, {begin, static_cast<size_t>(at_ - begin)}};
      }
    }
    throw WrongJson{"Expected object or value"};
  }

 private:
  const char* at_;
  const char* end_;
};

/// Adds a text with its escapes replaced.
void put_unescaped(std::string& to, std::string_view text);

}  // namespace gasell
