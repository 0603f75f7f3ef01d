// bytes and bytearray: decoding, digits, padding, letters; what changes a bytearray.
#include <algorithm>

#include <fmt/format.h>

#include "runtime/session/bytes.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/objects.h"
#include "runtime/session/str.h"
#include "runtime/session/text_codec.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

const BytesLike& self_of(Args args) { return *args[0].as<BytesLike>(); }

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter(char c) { return is_lower(c) || is_upper(c); }
bool is_digit_byte(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
char lower(char c) { return is_upper(c) ? static_cast<char>(c + 32) : c; }
char upper(char c) { return is_lower(c) ? static_cast<char>(c - 32) : c; }
bool is_letter_or_digit(char c) { return is_letter(c) || is_digit_byte(c); }
char to_small(char c, bool) { return lower(c); }
char to_capital(char c, bool) { return upper(c); }
char to_other_case(char c, bool) { return is_lower(c) ? upper(c) : lower(c); }
char to_title(char c, bool inside_word) { return inside_word ? lower(c) : upper(c); }

/// bytes.hex(sep, bytes_per_sep): groups are counted from the right, of a negative number from the left.
Value hex(Interpreter& in, Args args) {
  const std::string_view s = self_of(args).value;
  std::string sep;
  if (!is_missing(args[1])) {
    if (const auto* b = args[1].as<BytesLike>())
      sep = b->value;
    else
      sep = need_str(args[1], "sep must be str or bytes, not ");
    if (sep.size() != 1) raise("ValueError", static_cast<unsigned char>(sep[0]) >= 0x80 ? "sep must be ASCII." : "sep must be length 1.");
  }
  const int64_t group = to_index(in, args[2]);
  const auto size = static_cast<int64_t>(s.size());
  std::string out;
  for (int64_t i = 0; i < size; ++i) {
    const bool boundary = group > 0 ? (size - i) % group == 0 : group < 0 && i % -group == 0;
    if (i > 0 && !sep.empty() && boundary) out += sep;
    out += fmt::format("{:02x}", static_cast<unsigned char>(s[static_cast<size_t>(i)]));
  }
  return make_str(std::move(out));
}

Value decode_value(Interpreter&, Args args) {
  return make_str(decode_bytes(self_of(args).value, need_str(args[1], "decode() argument 'encoding' must be str, not "),
                               need_str(args[2], "decode() argument 'errors' must be str, not ")));
}

Value justify(Interpreter& in, Args args, char align) {
  const std::string& s = self_of(args).value;
  const int64_t width = to_index(in, args[1]);
  const Value blank = make_bytes(" ");
  const auto* fill = (is_missing(args[2]) ? blank : args[2]).as<BytesLike>();
  if (!fill || fill->value.size() != 1) {
    const char* name = align == '<' ? "ljust" : align == '>' ? "rjust" : "center";
    raise("TypeError", fmt::format("{}() argument 2 must be a byte string of length 1, not {}", name, type_of(args[2]).name));
  }
  const int64_t padding = width - static_cast<int64_t>(s.size());
  if (padding <= 0) return self_of(args).like(s);
  require_memory(in, padding);
  const int64_t left = align == '<' ? 0 : align == '>' ? padding : padding / 2 + (padding & width & 1);
  return self_of(args).like(std::string(static_cast<size_t>(left), fill->value[0]) + s +
                            std::string(static_cast<size_t>(padding - left), fill->value[0]));
}

Value fill_zeros(Interpreter& in, Args args) {
  const std::string& s = self_of(args).value;
  const int64_t padding = to_index(in, args[1]) - static_cast<int64_t>(s.size());
  if (padding <= 0) return self_of(args).like(s);
  require_memory(in, padding);
  const bool sign = !s.empty() && (s[0] == '+' || s[0] == '-');
  return self_of(args).like(s.substr(0, sign) + std::string(static_cast<size_t>(padding), '0') + s.substr(sign));
}

Value expand_tabs(Interpreter& in, Args args) {
  const int64_t size = to_index(in, args[1]);
  std::string out;
  int64_t column = 0;
  for (const char c : self_of(args).value) {
    if (c == '\t') {
      const int64_t n = size > 0 ? size - column % size : 0;
      require_memory(in, n);
      out.append(static_cast<size_t>(n), ' ');
      column += n;
      continue;
    }
    out += c;
    column = c == '\n' || c == '\r' ? 0 : column + 1;
  }
  return self_of(args).like(std::move(out));
}

template <bool (*test)(char)>
Value all_are(Interpreter&, Args args) {
  const std::string& s = self_of(args).value;
  return Value::of(!s.empty() && std::all_of(s.begin(), s.end(), test));
}

/// Whether some letter is there and all letters are of one case.
template <bool (*wanted)(char)>
Value cased(Interpreter&, Args args) {
  bool any = false;
  for (const char c : self_of(args).value) {
    if (is_letter(c) && !wanted(c)) return Value::of(false);
    any |= is_letter(c);
  }
  return Value::of(any);
}

Value is_title(Interpreter&, Args args) {
  bool any = false, inside = false;
  for (const char c : self_of(args).value) {
    if (is_letter(c)) {
      if (is_upper(c) == inside) return Value::of(false);
      any = true;
    }
    inside = is_letter(c);
  }
  return Value::of(any);
}

template <char (*change)(char, bool inside_word)>
Value changed(Interpreter&, Args args) {
  std::string out = self_of(args).value;
  bool inside = false;
  for (char& c : out) {
    const bool letter = is_letter(c);
    c = change(c, inside);
    inside = letter;
  }
  return self_of(args).like(std::move(out));
}

Value capitalize(Interpreter&, Args args) {
  std::string out = self_of(args).value;
  for (size_t i = 0; i < out.size(); ++i) out[i] = i == 0 ? upper(out[i]) : lower(out[i]);
  return self_of(args).like(std::move(out));
}

// ---- bytearray ----

std::string& array_of(Args args) { return args[0].as<ByteArray>()->value; }

Value insert(Interpreter& in, Args args) {
  std::string& s = array_of(args);
  const int64_t at = clip_bound(in, args[1], 0, static_cast<int64_t>(s.size()));
  s.insert(static_cast<size_t>(at), 1, byte_of(in, args[2]));
  return {};
}

Value pop(Interpreter& in, Args args) {
  std::string& s = array_of(args);
  if (s.empty()) raise("IndexError", "pop from empty bytearray");
  const int64_t i = sequence_index(in, args[1], static_cast<int64_t>(s.size()), "bytearray", "pop index out of range");
  const auto byte = static_cast<unsigned char>(s[static_cast<size_t>(i)]);
  s.erase(static_cast<size_t>(i), 1);
  return Value::of(static_cast<int64_t>(byte));
}

Value remove(Interpreter& in, Args args) {
  std::string& s = array_of(args);
  const size_t at = s.find(byte_of(in, args[1]));
  if (at == s.npos) raise("ValueError", "value not found in bytearray");
  s.erase(at, 1);
  return {};
}

Value extend(Interpreter& in, Args args) {
  if (args[1].as<Str>()) raise("TypeError", "expected iterable of integers; got: 'str'");
  if (!args[1].is_object()) raise("TypeError", "can't extend bytearray with " + type_of(args[1]).name);
  array_of(args) += bytes_of_items(in, args[1], "bytearray");
  return {};
}

}  // namespace

std::vector<NativeFunction> bytes_shape_methods() {
  return {
      {"decode", "self, encoding='utf-8', errors='strict'", decode_value, "The text of these bytes; UnicodeDecodeError."},
      {"hex", "self, sep=missing, bytes_per_sep=1", hex, "Two hexadecimal digits a byte."},
      {"ljust", "self, width, fillchar=missing, /", [](Interpreter& in, Args a) { return justify(in, a, '<'); }, "Padded at the right."},
      {"rjust", "self, width, fillchar=missing, /", [](Interpreter& in, Args a) { return justify(in, a, '>'); }, "Padded at the left."},
      {"center", "self, width, fillchar=missing, /", [](Interpreter& in, Args a) { return justify(in, a, '^'); }, "Padded at both ends."},
      {"zfill", "self, width, /", fill_zeros, "Zeros behind the sign."},
      {"expandtabs", "self, tabsize=8", expand_tabs, "Tabs as blanks."},
      {"isalnum", "self, /", all_are<is_letter_or_digit>, "Whether all are letters or digits of ASCII."},
      {"isalpha", "self, /", all_are<is_letter>, "Whether all are letters of ASCII."},
      {"isdigit", "self, /", all_are<is_digit_byte>, "Whether all are digits."},
      {"isspace", "self, /", all_are<is_blank>, "Whether all are blanks."},
      {"isascii", "self, /",
       [](Interpreter&, Args a) {
         return Value::of(std::ranges::all_of(self_of(a).value, [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
       },
       "Whether all are below 128."},
      {"islower", "self, /", cased<is_lower>, "Whether all letters are small, and one is there."},
      {"isupper", "self, /", cased<is_upper>, "Whether all letters are capital, and one is there."},
      {"istitle", "self, /", is_title, "Whether words begin with a capital, and it alone is one."},
      {"lower", "self, /", changed<to_small>, "Letters of ASCII as small ones."},
      {"upper", "self, /", changed<to_capital>, "Letters of ASCII as capitals."},
      {"swapcase", "self, /", changed<to_other_case>, "Small letters as capitals and the other way round."},
      {"title", "self, /", changed<to_title>, "Words with a capital first."},
      {"capitalize", "self, /", capitalize, "The first letter a capital, the rest small."},
  };
}

std::vector<NativeFunction> bytearray_methods() {
  return {
      {"append", "self, item, /", [](Interpreter& in, Args a) { return array_of(a) += byte_of(in, a[1]), Value(); },
       "Adds a byte at the end."},
      {"extend", "self, iterable_of_ints, /", extend, "Adds bytes at the end."},
      {"insert", "self, index, item, /", insert, "Puts a byte before a place."},
      {"pop", "self, index=-1, /", pop, "Takes a byte away: the last, or that of a place."},
      {"remove", "self, value, /", remove, "Takes the first such byte away; ValueError."},
      {"clear", "self, /", [](Interpreter&, Args a) { return array_of(a).clear(), Value(); }, "Takes all bytes away."},
      {"copy", "self, /", [](Interpreter&, Args a) { return self_of(a).like(self_of(a).value); }, "A copy."},
      {"reverse", "self, /", [](Interpreter&, Args a) { return std::ranges::reverse(array_of(a)), Value(); },
       "The bytes in the other order."},
  };
}

}  // namespace gasell
