// Bytes as letters (RFC 4648); base64/core.gsl and binascii/core.gsl are the modules.
#include <fmt/format.h>

#include "runtime/session/bytes.h"
#include "runtime/session/objects.h"
#include "stdlib/bindings.h"
#include "stdlib/modules.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

const Type& binascii_error() {
  static const Type made{"Error", "binascii", exception_type("ValueError"), {}, {}};
  return made;
}
[[noreturn]] void fail(std::string message) {
  throw Raised(Value::make<Exception>(binascii_error(), std::vector<Value>{make_str(std::move(message))}));
}

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes, or a text of ASCII.
std::string ascii_of(const Value& v) {
  if (const auto* s = v.as<Str>()) {
    if (!s->ascii()) raise("ValueError", "string argument should contain only ASCII characters");
    return s->value;
  }
  if (const auto* b = v.as<BytesLike>()) return b->value;
  raise("TypeError", "argument should be bytes, buffer or ASCII string, not '" + type_of(v).name + "'");
}

Value encode64(Interpreter& in, Args a) {
  const std::string_view s = need_bytes(a[0]);
  std::string out;
  out.reserve(s.size() / 3 * 4 + 5);
  for (size_t at = 0; at < s.size(); at += 3) {
    const size_t count = std::min<size_t>(3, s.size() - at);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i) bits = bits << 8 | (i < count ? static_cast<unsigned char>(s[at + i]) : 0);
    for (size_t i = 0; i < 4; ++i) out += i <= count ? kLetters[bits >> (18 - 6 * i) & 63] : '=';
  }
  if (truth(in, a[1])) out += '\n';
  return make_bytes(std::move(out));
}

/// Letters that are none of the alphabet are skipped, unless strict.
Value decode64(Interpreter& in, Args a) {
  const std::string s = ascii_of(a[0]);
  const bool strict = truth(in, a[1]);
  if (strict && s.starts_with('=')) fail("Leading padding not allowed");
  std::string out;
  uint32_t bits = 0;
  size_t quads = 0, pads = 0;
  bool padded = false;
  for (size_t at = 0; at < s.size(); ++at) {
    const char c = s[at];
    if (c == '=') {
      padded = true;
      if (quads % 4 >= 2 && quads % 4 + ++pads >= 4) {
        if (strict && at + 1 < s.size()) fail("Excess data after padding");
        return make_bytes(std::move(out));
      }
      continue;
    }
    const size_t value = kLetters.find(c);
    if (value == kLetters.npos) {
      if (strict) fail("Only base64 data is allowed");
      continue;
    }
    if (strict && padded) fail("Discontinuous padding not allowed");
    pads = 0;
    bits = bits << 6 | static_cast<uint32_t>(value);
    const size_t place = quads++ % 4;
    if (place > 0) out += static_cast<char>(bits >> (6 - 2 * place) & 0xFF);
  }
  if (quads % 4 == 1)
    fail(fmt::format("Invalid base64-encoded string: number of data characters ({}) cannot be 1 more than a multiple of 4",
                     quads / 4 * 4 + 1));
  if (quads % 4 != 0) fail("Incorrect padding");
  return make_bytes(std::move(out));
}

Value from_hex(Interpreter&, Args a) {
  const std::string s = ascii_of(a[0]);
  if (s.size() % 2 != 0) fail("Odd-length string");
  std::string out;
  const auto digit = [](char c) {
    const int value = c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
    if (value < 0) fail("Non-hexadecimal digit found");
    return value;
  };
  for (size_t at = 0; at < s.size(); at += 2) out += static_cast<char>(digit(s[at]) * 16 + digit(s[at + 1]));
  return make_bytes(std::move(out));
}

}  // namespace

Value make_base64_natives(Interpreter&) {
  static const std::vector<NativeFunction> table = {
      {"encode", "data, newline", encode64, "Base64 of bytes."},
      {"decode", "data, strict", decode64, "The bytes of Base64."},
      {"from_hex", "data", from_hex, "The bytes of hexadecimal digits."},
      {"ascii", "data", [](Interpreter&, Args a) { return make_bytes(ascii_of(a[0])); }, "A text of ASCII as bytes."},
  };
  Value module = make_module("_base64", table);
  set_member(module, "Error", type_object(binascii_error()));
  return module;
}

}  // namespace gasell
