// JSON as Python's module json reads and writes it: the natives behind stdlib/json/core.gsl.
#pragma once

#include <string>
#include <string_view>

#include "runtime/session/objects.h"

namespace gasell::json {

/// JSONDecodeError: a ValueError that knows the text and the place, counted in characters.
class DecodeError final : public Exception {
 public:
  DecodeError(const std::string& message, const Value& document, int64_t position);
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override;

 private:
  Value message_, document_;
  int64_t position_, line_, column_;
};

/// json.JSONDecodeError, which is known to `except` once this was called.
const Type& decode_error_type();

/// What a text stands for. Hooks are None or are called: parse_float, parse_int and parse_constant with a text, object_hook with a dict,
/// object_pairs_hook with a list of pairs. DecodeError; RecursionError beyond kMostDepth.
struct Hooks {
  Value parse_float, parse_int, parse_constant, object_hook, object_pairs_hook;
};
inline constexpr int kMostDepth = 990;
Value decode(Interpreter& in, const Value& text, const Hooks& hooks);

/// How values are written. `indent`: what a level is indented by; nothing: all in one line.
struct Style {
  std::optional<std::string> indent;
  std::string item_separator, key_separator;
  bool skip_keys, ascii, check_circular, allow_nan, sort_keys;
  Value fallback;  // called for what JSON has no form for; None: TypeError
};
/// ValueError for circular references and, unless allowed, for NaN and infinities.
std::string encode(Interpreter& in, const Value& value, const Style& style);

}  // namespace gasell::json
