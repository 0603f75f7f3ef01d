// str % values.
#include <charconv>
#include <climits>
#include <cmath>

#include "runtime/session/big_integer.h"
#include "runtime/session/bytes.h"
#include "runtime/session/format_spec.h"
#include "runtime/session/number.h"
#include "runtime/session/str.h"
#include "runtime/session/str_text.h"
#include "runtime/session/text_codec.h"

namespace gasell {
namespace {

struct Directive {
  bool left = false, plus = false, blank = false, alternate = false, zero = false;
  int64_t width = -1;
  int precision = -1;
  char32_t type = 0;
};

class PercentFormatter {
 public:
  PercentFormatter(Interpreter& in, const Value& values, bool bytes) : in_(in), values_(values), bytes_(bytes) {
    if (const auto* t = values.as<Tuple>())
      tuple_ = t;
    else
      mapping_ = values.is_object() && !values.as<Str>() && !values.as<BytesLike>();
  }

  std::string run(std::string_view text) {
    const std::u32string s = decode(text);
    std::string out;
    for (size_t at = 0; at < s.size();) {
      if (s[at] != '%')
        append_utf8(out, s[at++]);
      else
        out += directive(s, ++at);
    }
    const bool all_used = tuple_ ? used_ == tuple_->items.size() : used_ == 1 || used_mapping_ || (mapping_ && has_items());
    if (!all_used) raise("TypeError", std::string("not all arguments converted during ") + (bytes_ ? "bytes" : "string") + " formatting");
    return out;
  }

 private:
  bool has_items() const { return has_attribute(in_, values_, "keys"); }

  Value next_value() {
    if (tuple_) {
      if (used_ < tuple_->items.size()) return tuple_->items[used_++];
    } else if (used_ == 0) {
      ++used_;
      return values_;
    }
    raise("TypeError", "not enough arguments for format string");
  }

  std::string directive(const std::u32string& s, size_t& at) {
    const auto peek = [&]() -> char32_t {
      if (at >= s.size()) raise("ValueError", "incomplete format");
      return s[at];
    };
    Directive d;
    std::optional<Value> keyed;
    if (peek() == '(') {
      const size_t start = ++at;
      for (int nesting = 1; nesting > 0; ++at) {
        if (at >= s.size()) raise("ValueError", "incomplete format key");
        if (s[at] == '(') ++nesting;
        if (s[at] == ')') --nesting;
      }
      if (!mapping_ || values_.as<List>()) raise("TypeError", "format requires a mapping");
      const std::string key = encode(std::u32string_view(s).substr(start, at - 1 - start));
      keyed = get_item(in_, values_, bytes_ ? make_bytes(encode_text(make_str(key), "latin-1", "strict")) : make_str(key));
      used_mapping_ = true;
    }
    for (bool more = true; more;) {
      switch (peek()) {
        case '-': d.left = true; break;
        case '+': d.plus = true; break;
        case ' ': d.blank = true; break;
        case '#': d.alternate = true; break;
        case '0': d.zero = true; break;
        default: more = false;
      }
      if (more) ++at;
    }
    const auto number = [&](std::string_view what, int64_t limit) {
      int64_t value = 0;
      if (peek() == '*') {
        ++at;
        const Value v = next_value();
        if (!v.is_int() && !v.is_bool()) raise("TypeError", "* wants int");
        return v.as_int();
      }
      for (; peek() >= '0' && s[at] <= '9'; ++at) {
        value = value * 10 + static_cast<int64_t>(s[at] - '0');
        if (value > limit) raise("ValueError", std::string(what) + " too big");
      }
      return value;
    };
    if (peek() == '*' || (s[at] >= '1' && s[at] <= '9')) {
      d.width = number("width", INT64_MAX / 16);
      if (d.width < -(INT64_MAX / 16)) raise("ValueError", "width too big");
      if (d.width < 0) {
        d.left = true;
        d.width = -std::max(d.width, -INT64_MAX);
      }
    }
    if (peek() == '.') {
      ++at;
      const int64_t precision = number("precision", INT_MAX);
      if (precision < INT_MIN || precision > INT_MAX) raise("OverflowError", "Python int too large to convert to C int");
      d.precision = static_cast<int>(std::max<int64_t>(0, precision));
    }
    if (peek() == 'h' || s[at] == 'l' || s[at] == 'L') ++at;
    d.type = peek();
    const size_t type_at = at++;
    if (d.type == '%') return "%";
    const Value v = keyed ? *keyed : next_value();
    return convert(d, v, type_at);
  }

  std::string convert(const Directive& d, const Value& v, size_t at) {
    if (bytes_ && (d.type == 's' || d.type == 'b')) {
      const auto* b = v.as<BytesLike>();
      if (!b) raise("TypeError", "%b requires a bytes-like object, or an object that implements __bytes__, not '" + type_of(v).name + "'");
      return text(d, decode_bytes(b->value, "latin-1", "strict"));
    }
    switch (d.type) {
      case 's': return text(d, str(in_, v));
      case 'r':
        if (bytes_) return text(d, format_fields(in_, "{!a}", std::span(&v, 1), Value()));
        return text(d, repr(in_, v));
      case 'a': return text(d, format_fields(in_, "{!a}", std::span(&v, 1), Value()));
      case 'd':
      case 'i':
      case 'u': return number(d, decimal_parts(d, v));
      case 'o':
      case 'x':
      case 'X': return number(d, based_parts(d, v));
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G': return number(d, float_parts(d, v));
      case 'c': return character(d, v);
      default: {
        std::string shown;
        append_utf8(shown, d.type);
        char hex[16];
        const auto end = std::to_chars(hex, hex + sizeof hex, static_cast<uint32_t>(d.type), 16).ptr;
        raise("ValueError", "unsupported format character '" + (d.type > 31 && d.type < 127 ? shown : "?") + "' (0x" +
                                std::string(hex, end) + ") at index " + std::to_string(at));
      }
    }
  }

  static FormatSpec padding(const Directive& d, char align) {
    FormatSpec spec;
    spec.width = d.width;
    spec.align = d.left ? '<' : align;
    return spec;
  }

  static std::string text(const Directive& d, const std::string& s) {
    return pad(d.precision >= 0 ? s.substr(0, byte_offset(s, d.precision)) : s, padding(d, '>'));
  }

  static std::string number(const Directive& d, const NumberParts& parts) {
    FormatSpec spec = padding(d, d.zero ? '=' : '>');
    if (d.zero && !d.left) spec.fill = '0';
    spec.sign = d.plus ? '+' : d.blank ? ' ' : '\0';
    return assemble(parts, spec);
  }

  static void fill_to_precision(const Directive& d, std::string& digits) {
    if (d.precision > INT_MAX - 3) raise("OverflowError", "precision too large");
    require_width(d.precision);
    if (d.precision > static_cast<int>(digits.size())) digits.insert(0, static_cast<size_t>(d.precision) - digits.size(), '0');
  }

  [[noreturn]] static void wrong(const Directive& d, const Value& v, std::string_view wanted) {
    raise("TypeError",
          "%" + std::string(1, static_cast<char>(d.type)) + " format: " + std::string(wanted) + " is required, not " + type_of(v).name);
  }

  NumberParts decimal_parts(const Directive& d, const Value& v) {
    NumberParts parts;
    std::optional<Value> whole;
    if (v.is_int() || v.is_bool())
      whole = v;
    else if (v.is_object() && !v.as<Str>() && !v.as<BytesLike>() && !v.as<Complex>())
      whole = v.object()->to_int(in_);
    if (v.is_float()) whole = float_to_integer(v.as_float());
    if (whole) {
      parts = whole_parts(*whole, 'd');
    } else {
      wrong(d, v, "a real number");
    }
    fill_to_precision(d, parts.digits);
    return parts;
  }

  static NumberParts whole_parts(const Value& v, char type) {
    if (const auto* big = v.as<BigInt>()) return {big->value < 0, "", big_digits(big->value, type), ""};
    return {v.as_int() < 0, "", int_digits(magnitude(v.as_int()), type), ""};
  }

  NumberParts based_parts(const Directive& d, const Value& v) {
    std::optional<Value> whole;
    if (is_integer(v))
      whole = v;
    else if (v.is_object())
      if (const auto index = v.object()->to_index(in_)) whole = Value::of(*index);
    if (!whole) wrong(d, v, "an integer");
    NumberParts parts = whole_parts(*whole, static_cast<char>(d.type));
    fill_to_precision(d, parts.digits);
    if (d.alternate) parts.prefix = std::string("0") + static_cast<char>(d.type);
    return parts;
  }

  NumberParts float_parts(const Directive& d, const Value& v) {
    if (v.is_none() || v.as<Str>()) raise("TypeError", "must be real number, not " + type_of(v).name);
    const double x = to_double(in_, v);
    const std::string digits = float_digits(x, static_cast<char>(d.type), d.precision < 0 ? 6 : d.precision, false, d.alternate);
    NumberParts parts{std::signbit(x) && !std::isnan(x), "", digits, ""};
    if (!std::isfinite(x)) parts = {parts.negative, "", "", digits};
    return parts;
  }

  std::string character(const Directive& d, const Value& v) {
    std::string one;
    if (bytes_) {
      const auto* b = v.as<BytesLike>();
      const bool whole = v.is_int() || v.is_bool();
      if (whole && (v.as_int() < 0 || v.as_int() > 255)) raise("OverflowError", "%c arg not in range(256)");
      if (!whole && !(b && b->value.size() == 1)) raise("TypeError", "%c requires an integer in range(256) or a single byte");
      append_utf8(one, static_cast<unsigned char>(whole ? static_cast<char>(v.as_int()) : b->value[0]));
    } else if (const auto* s = v.as<Str>()) {
      if (code_point_count(s->value) != 1) raise("TypeError", "%c requires int or char");
      one = s->value;
    } else {
      std::optional<int64_t> code;
      if (v.is_int() || v.is_bool())
        code = v.as_int();
      else if (v.is_object())
        code = v.object()->to_index(in_);
      if (!code) raise("TypeError", "%c requires int or char");
      if (*code < 0 || *code > 0x10FFFF) raise("OverflowError", "%c arg not in range(0x110000)");
      append_utf8(one, static_cast<char32_t>(*code));
    }
    return pad(one, padding(d, '>'));
  }

  static uint64_t magnitude(int64_t v) { return v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v); }

  Interpreter& in_;
  const Value& values_;
  const bool bytes_;  // the characters of the text and of the result stand for bytes
  const Tuple* tuple_ = nullptr;
  bool mapping_ = false, used_mapping_ = false;
  size_t used_ = 0;
};

}  // namespace

std::string format_percent(Interpreter& in, std::string_view text, const Value& values) {
  return PercentFormatter(in, values, false).run(text);
}

std::string format_percent_bytes(Interpreter& in, std::string_view text, const Value& values) {
  const std::string made = PercentFormatter(in, values, true).run(decode_bytes(text, "latin-1", "strict"));
  return encode_text(make_str(made), "latin-1", "strict");
}

}  // namespace gasell
