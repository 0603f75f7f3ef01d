// str.format: replacement fields.
#include "runtime/session/number.h"
#include "runtime/session/str.h"
#include "runtime/session/str_text.h"

namespace gasell {
namespace {

class FieldFormatter {
 public:
  FieldFormatter(Interpreter& in, std::span<const Value> positional, const Value& mapping)
      : in_(in), positional_(positional), mapping_(mapping) {}

  std::string run(std::string_view text, int depth) {
    if (depth < 0) raise("ValueError", "Max string recursion exceeded");
    std::string out;
    size_t i = 0;
    while (i < text.size()) {
      const char c = text[i];
      if (c != '{' && c != '}') {
        out += c;
        ++i;
        continue;
      }
      if (i + 1 < text.size() && text[i + 1] == c) {
        out += c;
        i += 2;
        continue;
      }
      if (c == '}') raise("ValueError", "Single '}' encountered in format string");
      if (i + 1 == text.size()) raise("ValueError", "Single '{' encountered in format string");
      const size_t end = field_end(text, i + 1);
      out += field(text.substr(i + 1, end - i - 1), depth);
      i = end + 1;
    }
    return out;
  }

 private:
  /// The place of the '}' that closes a field; braces nest, and those inside [] of the name do not count.
  static size_t field_end(std::string_view text, size_t at) {
    int nesting = 1;
    bool bracket = false, in_name = true;
    for (; at < text.size(); ++at) {
      const char c = text[at];
      if (in_name && nesting == 1) {
        if (bracket) {
          bracket = c != ']';
          continue;
        }
        if (c == '[') bracket = true;
        if (c == ':' || c == '!') in_name = false;
      }
      if (c == '{') {
        if (in_name) raise("ValueError", "unexpected '{' in field name");
        ++nesting;
      } else if (c == '}' && --nesting == 0) {
        return at;
      }
    }
    raise("ValueError", "expected '}' before end of string");
  }

  std::string field(std::string_view text, int depth) {
    size_t split = 0;
    bool bracket = false;
    for (; split < text.size(); ++split) {
      const char c = text[split];
      if (c == '[') bracket = true;
      if (c == ']') bracket = false;
      if (!bracket && (c == ':' || c == '!')) break;
    }
    const std::string_view name = text.substr(0, split);
    std::string_view rest = text.substr(split);
    char32_t conversion = 0;
    if (!rest.empty() && rest.front() == '!') {
      rest.remove_prefix(1);
      if (rest.empty()) raise("ValueError", "unmatched '{' in format spec");
      const size_t size = byte_offset(rest, 1);
      conversion = decode(rest.substr(0, size)).front();
      rest.remove_prefix(size);
      if (!rest.empty() && rest.front() != ':') raise("ValueError", "expected ':' after conversion specifier");
    }
    if (!rest.empty()) rest.remove_prefix(1);
    Value value = look_up(name);
    switch (conversion) {
      case 0: break;
      case 'r': value = make_str(repr(in_, value)); break;
      case 's': value = make_str(str(in_, value)); break;
      case 'a': value = make_str(ascii_of(repr(in_, value))); break;
      default: {
        std::string shown;
        append_utf8(shown, conversion);
        raise("ValueError", "Unknown conversion specifier " + shown);
      }
    }
    const bool nested = rest.find_first_of("{}") != rest.npos;
    return format(in_, value, nested ? run(rest, depth - 1) : std::string(rest));
  }

  static std::string ascii_of(const std::string& text) {
    std::string out;
    for (const char32_t c : decode(text)) {
      if (c < 0x80) {
        out += static_cast<char>(c);
      } else {
        std::string one;
        append_utf8(one, c);
        const std::string quoted = str_repr(one, true);
        out += quoted.substr(1, quoted.size() - 2);
      }
    }
    return out;
  }

  Value look_up(std::string_view name) {
    const size_t first_end = std::min(name.find_first_of(".["), name.size());
    Value value = first(name.substr(0, first_end));
    size_t at = first_end;
    while (at < name.size()) {
      if (name[at] == '.') {
        const size_t end = std::min(name.find_first_of(".[", at + 1), name.size());
        if (end == at + 1) raise("ValueError", "Empty attribute in format string");
        value = get_attribute(in_, value, name.substr(at + 1, end - at - 1));
        at = end;
      } else if (name[at] == '[') {
        const size_t end = name.find(']', at);
        if (end == name.npos) raise("ValueError", "Missing ']' in format string");
        if (end == at + 1) raise("ValueError", "Empty attribute in format string");
        const std::string_view key = name.substr(at + 1, end - at - 1);
        const auto index = as_index(key);
        value = get_item(in_, value, index ? Value::of(*index) : make_str(std::string(key)));
        at = end + 1;
      } else {
        raise("ValueError", "Only '.' or '[' may follow ']' in format field specifier");
      }
    }
    return value;
  }

  static std::optional<int64_t> as_index(std::string_view text) {
    if (text.empty() || text.find_first_not_of("0123456789") != text.npos) return std::nullopt;
    if (text.size() > 18) raise("ValueError", "Too many decimal digits in format string");
    return std::stoll(std::string(text));
  }

  Value first(std::string_view name) {
    const auto written = as_index(name);
    if (!written && !name.empty()) {
      if (mapping_.is_none()) raise("KeyError", std::string(name));
      return get_item(in_, mapping_, make_str(std::string(name)));
    }
    const Numbering wanted = written ? Numbering::manual : Numbering::automatic;
    if (numbering_ != Numbering::none && numbering_ != wanted) {
      raise("ValueError", written ? "cannot switch from automatic field numbering to manual field specification"
                                  : "cannot switch from manual field specification to automatic field numbering");
    }
    numbering_ = wanted;
    const int64_t index = written ? *written : next_++;
    if (index >= static_cast<int64_t>(positional_.size())) {
      raise("IndexError", "Replacement index " + std::to_string(index) + " out of range for positional args tuple");
    }
    return positional_[static_cast<size_t>(index)];
  }

  enum class Numbering { none, automatic, manual };
  Interpreter& in_;
  std::span<const Value> positional_;
  const Value& mapping_;
  Numbering numbering_ = Numbering::none;
  int64_t next_ = 0;
};

}  // namespace

std::string format_fields(Interpreter& in, std::string_view text, std::span<const Value> positional, const Value& mapping) {
  return FieldFormatter(in, positional, mapping).run(text, 1);
}

}  // namespace gasell
