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
    if (!take('{')) {
      if (begins_value()) throw WrongJson{"lines that are no objects are not in Gasell", true};
      throw WrongJson{"Expected object or value"};
    }
    constexpr const char* kTrailing = "Unexpected character found when decoding array value (2)";
    for (;;) {
      skip_blanks();
      if (take('}')) return finished(kTrailing);  // as pandas' parser, behind a comma, too
      bool escaped = false;
      const std::string_view key = key_of_member(escaped);
      f(key, escaped, value());
      skip_blanks();
      if (take(',')) continue;
      if (!take('}')) throw WrongJson{"Unexpected character found when decoding object value"};
      return finished(kTrailing);
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
  bool finished(const char* message = "Trailing data") {
    skip_blanks();
    if (at_ != end_) throw WrongJson{message};
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
  /// A member's name and its colon, up to the value.
  std::string_view key_of_member(bool& escaped) {
    if (!take('"'))
      throw WrongJson{begins_value() ? "Key name of object must be 'string' when decoding 'object'" : "Expected object or value"};
    const std::string_view key = rest_of_text(escaped);
    skip_blanks();
    if (!take(':')) throw WrongJson{"No ':' found when decoding object value"};
    skip_blanks();
    return key;
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
        throw WrongJson{"Unexpected character found when decoding 'null'"};
      case 't':
        if (word("true")) return {JsonToken::Kind::boolean, kJsonTrue};
        throw WrongJson{"Unexpected character found when decoding 'true'"};
      case 'f':
        if (word("false")) return {JsonToken::Kind::boolean, kJsonFalse};
        throw WrongJson{"Unexpected character found when decoding 'false'"};
      case 'N':
        if (word("NaN")) return {JsonToken::Kind::null, {}};
        break;
      case '{':
      case '[': throw WrongJson{"objects and lists within the objects of a line are not in Gasell", true};
      default: {
        const char* const begin = at_;
        if (*at_ == '-') ++at_;
        if (word("Infinity")) return {JsonToken::Kind::number, {begin, static_cast<size_t>(at_ - begin)}};
        if (!begins_digit()) {
          throw WrongJson{at_ > begin ? "Unexpected character found when decoding object value" : "Expected object or value"};
        }
        return {JsonToken::Kind::number, rest_of_number(begin)};
      }
    }
    throw WrongJson{"Expected object or value"};
  }

 private:
  bool begins_digit() const { return at_ < end_ && *at_ >= '0' && *at_ <= '9'; }
  /// Whether some other value than an object begins here.
  bool begins_value() const { return at_ < end_ && (begins_digit() || std::strchr("\"[{-tfnNI", *at_)) && *at_; }
  void skip_digits() {
    while (begins_digit()) ++at_;
  }
  /// A number that begins at `begin` and whose first digit is next, by the rules of pandas' parser: digits, a point that digits may follow,
  /// and an exponent, which counts where it has digits. Throws where the digits before the point are no integer of 64 bits.
  std::string_view rest_of_number(const char* begin) {
    const char* const digits = at_;
    skip_digits();
    if (at_ - digits >= kLongInteger) check_integer(*begin == '-', {digits, static_cast<size_t>(at_ - digits)});
    if (take('.')) skip_digits();
    const char* end = at_;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      if (begins_digit()) {
        skip_digits();
        end = at_;
      }
    }
    return {begin, static_cast<size_t>(end - begin)};
  }
  static constexpr int64_t kLongInteger = 19;  // of fewer digits every integer has 64 bits
  static void check_integer(bool is_negative, std::string_view digits);

  const char* at_;
  const char* end_;
};

/// Adds a text with its escapes replaced.
void put_unescaped(std::string& to, std::string_view text);

}  // namespace gasell
