// Writes JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lang/characters.h"
#include "runtime/session/big_integer.h"
#include "runtime/session/dict.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/number.h"
#include "runtime/session/types.h"
#include "stdlib/json/json.h"

namespace gasell::json {
namespace {

class Encoder {
 public:
  Encoder(Interpreter& in, const Style& style) : in_(in), style_(style) {}

  void write(const Value& v, int depth) {
    poll(in_);
    if (v.is_none()) {
      out += "null";
    } else if (v.is_bool()) {
      out += v.as_int() ? "true" : "false";
    } else if (v.is_int()) {
      out += std::to_string(v.as_int());
    } else if (v.as<BigInt>()) {
      out += gasell::repr(in_, v);
    } else if (v.is_float() || is_instance(v, float_type())) {
      out += real(to_double(in_, v));
    } else if (const auto* text = v.as<Str>()) {
      string(text->value);
    } else if (const auto* dict = v.as<Dict>()) {
      within(v, depth, [&] { object(*dict, depth); });
    } else if (const auto* list = v.as<List>()) {
      within(v, depth, [&] { array(list->items, depth); });
    } else if (const auto* tuple = v.as<Tuple>()) {
      within(v, depth, [&] { array(tuple->items, depth); });
    } else if (!style_.fallback.is_none()) {
      within(v, depth, [&] { write(call(in_, style_.fallback, {{v}, {}}), depth + 1); });
    } else {
      raise("TypeError", "Object of type " + type_of(v).name + " is not JSON serializable");
    }
  }

  std::string out;

 private:
  /// Inside an object that may contain itself.
  template <class F>
  void within(const Value& v, int depth, F work) {
    if (std::find(open_.begin(), open_.end(), v.object()) != open_.end() && style_.check_circular)
      raise("ValueError", "Circular reference detected");
    if (depth >= kMostDepth) raise("RecursionError", "maximum recursion depth exceeded while encoding a JSON object");
    open_.push_back(v.object());
    work();
    open_.pop_back();
  }

  std::string real(double v) const {
    if (std::isfinite(v)) return float_repr(v);
    if (!style_.allow_nan) raise("ValueError", "Out of range float values are not JSON compliant");
    return std::isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity";
  }

  void string(std::string_view text) {
    out += '"';
    for (size_t at = 0; at < text.size();) {
      const char c = text[at];
      if (static_cast<unsigned char>(c) >= 0x80) {
        const CodePoint point = decode_utf8(text, at);
        const auto length = static_cast<size_t>(std::max(1, static_cast<int>(point.length)));
        if (!style_.ascii)
          out += text.substr(at, length);
        else if (point.value < 0x10000)
          out += fmt::format("\\u{:04x}", static_cast<uint32_t>(point.value));
        else
          out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((static_cast<uint32_t>(point.value) - 0x10000) >> 10),
                             0xDC00 + ((static_cast<uint32_t>(point.value) - 0x10000) & 0x3FF));
        at += length;
        continue;
      }
      switch (c) {
        case '"': out += "\\\""; break;
        case '\\': out += "\\\\"; break;
        case '\n': out += "\\n"; break;
        case '\r': out += "\\r"; break;
        case '\t': out += "\\t"; break;
        case '\f': out += "\\f"; break;
        case '\b': out += "\\b"; break;
        default:
          if (static_cast<unsigned char>(c) < 0x20 || (c == 0x7F && style_.ascii))
            out += fmt::format("\\u{:04x}", static_cast<int>(c));
          else
            out += c;
      }
      ++at;
    }
    out += '"';
  }

  /// A new line, indented for what stands at this depth.
  void line(int depth) {
    if (!style_.indent) return;
    out += '\n';
    for (int k = 0; k < depth; ++k) out += *style_.indent;
  }

  void array(const std::vector<Value>& given, int depth) {
    const std::vector<Value> items = given;  // a fallback may change the list
    if (items.empty()) {
      out += "[]";
      return;
    }
    out += '[';
    for (size_t k = 0; k < items.size(); ++k) {
      if (k > 0) out += style_.item_separator;
      line(depth + 1);
      write(items[k], depth + 1);
    }
    line(depth);
    out += ']';
  }

  /// The text of a key; nothing where it is left out.
  std::optional<std::string> key_text(const Value& key) const {
    if (const auto* text = key.as<Str>()) return text->value;
    if (key.is_none()) return "null";
    if (key.is_bool()) return key.as_int() ? "true" : "false";
    if (key.is_int()) return std::to_string(key.as_int());
    if (key.as<BigInt>()) return gasell::repr(in_, key);
    if (key.is_float() || is_instance(key, float_type())) return real(to_double(in_, key));
    if (style_.skip_keys) return std::nullopt;
    raise("TypeError", "keys must be str, int, float, bool or None, not " + type_of(key).name);
  }

  void object(const Dict& dict, int depth) {
    std::vector<Value> pairs;
    for (const Dict::Entry& entry : dict.entries())
      if (!entry.key.is_absent()) pairs.push_back(make_tuple({entry.key, entry.value}));
    if (style_.sort_keys) sort_values(in_, pairs, {}, false);
    if (pairs.empty()) {
      out += "{}";
      return;
    }
    out += '{';
    bool first = true;
    for (const Value& pair : pairs) {
      const std::vector<Value>& both = pair.as<Tuple>()->items;
      const std::optional<std::string> key = key_text(both[0]);
      if (!key) continue;
      if (!first) out += style_.item_separator;
      first = false;
      line(depth + 1);
      string(*key);
      out += style_.key_separator;
      write(both[1], depth + 1);
    }
    line(depth);
    out += '}';
  }

  Interpreter& in_;
  const Style& style_;
  std::vector<const Object*> open_;
};

}  // namespace

std::string encode(Interpreter& in, const Value& value, const Style& style) {
  Encoder encoder(in, style);
  encoder.write(value, 0);
  return std::move(encoder.out);
}

}  // namespace gasell::json
