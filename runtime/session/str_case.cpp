// str: case and the questions about characters.
#include <algorithm>

#include "runtime/session/str.h"
#include "runtime/session/str_text.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

const std::string& text_of(Args args) { return args[0].as<Str>()->value; }

template <std::string (*map)(std::string_view)>
Value mapped(Interpreter&, Args args) {
  return make_str(map(text_of(args)));
}

/// Not empty, and every character is one.
template <bool (*test)(char32_t)>
Value all_are(Interpreter&, Args args) {
  const std::u32string s = decode(text_of(args));
  return Value::of(!s.empty() && std::all_of(s.begin(), s.end(), test));
}

bool is_alphanumeric(char32_t c) { return is_alpha(c) || is_decimal(c) || is_digit_like(c) || is_numeric(c); }

/// Some character has case, and none has another than `wanted`.
template <bool (*wanted)(char32_t), bool (*other)(char32_t)>
Value one_case(Interpreter&, Args args) {
  bool any = false;
  for (const char32_t c : decode(text_of(args))) {
    if (other(c) || is_title(c)) return Value::of(false);
    any |= wanted(c);
  }
  return Value::of(any);
}

Value title_case(Interpreter&, Args args) {
  bool any = false, in_word = false;
  for (const char32_t c : decode(text_of(args))) {
    const bool starts = is_upper(c) || is_title(c);
    if (starts ? in_word : is_lower(c) && !in_word) return Value::of(false);
    in_word = starts || is_lower(c);
    any |= in_word;
  }
  return Value::of(any);
}

Value printable(Interpreter&, Args args) {
  const std::u32string s = decode(text_of(args));
  return Value::of(std::all_of(s.begin(), s.end(), is_printable));
}

}  // namespace

std::vector<NativeFunction> str_case_methods() {
  constexpr const char* kNone = "self, /";
  return {
      {"lower", kNone, mapped<to_lower>, "In lower case."},
      {"upper", kNone, mapped<to_upper>, "In upper case."},
      {"title", kNone, mapped<to_title>, "Each word with a capital and the rest in lower case."},
      {"capitalize", kNone, mapped<capitalize>, "The first character a capital, the rest in lower case."},
      {"swapcase", kNone, mapped<swap_case>, "Upper case to lower and the other way round."},
      {"casefold", kNone, mapped<case_fold>, "For comparing without regard to case."},
      {"isalpha", kNone, all_are<is_alpha>, "Whether all are letters, and there is one."},
      {"isalnum", kNone, all_are<is_alphanumeric>, "Whether all are letters or numbers, and there is one."},
      {"isdecimal", kNone, all_are<is_decimal>, "Whether all are decimal digits, and there is one."},
      {"isdigit", kNone, all_are<is_digit_like>, "Whether all are digits, and there is one."},
      {"isnumeric", kNone, all_are<is_numeric>, "Whether all have a numeric value, and there is one."},
      {"isspace", kNone, all_are<is_space>, "Whether all are white space, and there is one."},
      {"islower", kNone, one_case<is_lower, is_upper>, "Whether all letters with case are lower case, and there is one."},
      {"isupper", kNone, one_case<is_upper, is_lower>, "Whether all letters with case are upper case, and there is one."},
      {"istitle", kNone, title_case, "Whether words start with capitals and go on in lower case."},
      {"isprintable", kNone, printable, "Whether repr() would leave all characters as they are."},
      {"isascii", kNone, [](Interpreter&, Args a) { return Value::of(is_ascii(text_of(a))); }, "Whether all are below U+0080."},
      {"isidentifier", kNone, [](Interpreter&, Args a) { return Value::of(is_identifier(text_of(a))); }, "Whether it could be a name."},
  };
}

}  // namespace gasell
