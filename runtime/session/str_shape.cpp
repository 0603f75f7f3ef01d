// str: padding, tabs, formatting.
#include "runtime/session/bytes.h"
#include "runtime/session/format_spec.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/str.h"
#include "runtime/session/str_text.h"
#include "runtime/session/text_codec.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

const std::string& text_of(Args args) { return args[0].as<Str>()->value; }

Value justify(Interpreter& in, Args args, char align) {
  const Str& s = *args[0].as<Str>();
  const int64_t width = to_index(in, args[1]);
  const std::u32string fill = decode(need_str(args[2], "The fill character must be a unicode character, not "));
  if (fill.size() != 1) raise("TypeError", "The fill character must be exactly one character long");
  const int64_t padding = width - s.size();
  if (padding <= 0) return args[0];
  const int64_t left = align == '<' ? 0 : align == '>' ? padding : padding / 2 + (padding & width & 1);  // the odd one as CPython puts it
  return make_str(repeated(fill[0], left) + s.value + repeated(fill[0], padding - left));
}

Value fill_zeros(Interpreter& in, Args args) {
  const Str& s = *args[0].as<Str>();
  const int64_t padding = to_index(in, args[1]) - s.size();
  if (padding <= 0) return args[0];
  const bool sign = !s.value.empty() && (s.value[0] == '+' || s.value[0] == '-');
  return make_str(s.value.substr(0, sign) + repeated(U'0', padding) + s.value.substr(sign));
}

Value expand_tabs(Interpreter& in, Args args) {
  const int64_t size = to_index(in, args[1]);
  std::string out;
  int64_t column = 0;
  for (const char c : text_of(args)) {
    if (c == '\t') {
      const int64_t n = size > 0 ? size - column % size : 0;
      int64_t bytes = 0;
      if (__builtin_add_overflow(static_cast<int64_t>(out.size()), n, &bytes)) raise("OverflowError", "new string is too long");
      require_memory(in, bytes);
      out.append(static_cast<size_t>(n), ' ');
      column += n;
    } else {
      out += c;
      if (c == '\n' || c == '\r')
        column = 0;
      else if ((c & 0xC0) != 0x80)
        ++column;
    }
  }
  return make_str(std::move(out));
}

}  // namespace

std::vector<NativeFunction> str_shape_methods() {
  return {
      {"center", "self, width, fillchar=' ', /", [](Interpreter& in, Args a) { return justify(in, a, '^'); },
       "Padded on both sides to a width."},
      {"ljust", "self, width, fillchar=' ', /", [](Interpreter& in, Args a) { return justify(in, a, '<'); },
       "Padded on the right to a width."},
      {"rjust", "self, width, fillchar=' ', /", [](Interpreter& in, Args a) { return justify(in, a, '>'); },
       "Padded on the left to a width."},
      {"encode", "self, encoding='utf-8', errors='strict'",
       [](Interpreter&, Args a) {
         return make_bytes(encode_text(a[0], need_str(a[1], "encode() argument 'encoding' must be str, not "),
                                       need_str(a[2], "encode() argument 'errors' must be str, not ")));
       },
       "The bytes of the text; UnicodeEncodeError."},
      {"zfill", "self, width, /", fill_zeros, "Padded with zeros after the sign."},
      {"expandtabs", "self, tabsize=8", expand_tabs, "Tabs replaced by spaces."},
      {"format", "self, *args, **kwargs",
       [](Interpreter& in, Args a) { return make_str(format_fields(in, text_of(a), a[1].as<Tuple>()->items, a[2])); },
       "Replacement fields in braces filled in."},
      {"format_map", "self, mapping, /", [](Interpreter& in, Args a) { return make_str(format_fields(in, text_of(a), {}, a[1])); },
       "As format, names looked up in a mapping."},
  };
}

}  // namespace gasell
