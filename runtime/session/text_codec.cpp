#include "runtime/session/text_codec.h"

#include <fmt/format.h>

#include "runtime/session/bytes.h"
#include "runtime/session/objects.h"
#include "runtime/session/str_text.h"

namespace gasell {
namespace {

enum class Kind : uint8_t { utf8, utf8_with_mark, ascii, latin1, utf16, utf32 };
enum class Order : uint8_t { native, little, big };  // native: little-endian, with a mark before the text

struct Encoding {
  Kind kind;
  Order order;
  const char* name;  // as errors name it
};

std::optional<Encoding> encoding_named(std::string_view name) {
  std::string plain;
  for (const char c : to_lower(name)) plain += c == '-' || c == ' ' ? '_' : c;
  struct Entry {
    const char* name;
    Encoding encoding;
  };
  static constexpr Encoding kUtf8{Kind::utf8, Order::native, "utf-8"}, kAscii{Kind::ascii, Order::native, "ascii"},
      kLatin1{Kind::latin1, Order::native, "latin-1"};
  static constexpr Entry kEncodings[] = {
      {"utf_8", kUtf8},
      {"utf8", kUtf8},
      {"u8", kUtf8},
      {"cp65001", kUtf8},
      {"utf_8_sig", {Kind::utf8_with_mark, Order::native, "utf-8"}},
      {"ascii", kAscii},
      {"us_ascii", kAscii},
      {"646", kAscii},
      {"latin_1", kLatin1},
      {"latin1", kLatin1},
      {"latin", kLatin1},
      {"l1", kLatin1},
      {"iso_8859_1", kLatin1},
      {"iso8859_1", kLatin1},
      {"8859", kLatin1},
      {"cp819", kLatin1},
      {"utf_16", {Kind::utf16, Order::native, "utf-16"}},
      {"utf16", {Kind::utf16, Order::native, "utf-16"}},
      {"utf_16_le", {Kind::utf16, Order::little, "utf-16-le"}},
      {"utf_16le", {Kind::utf16, Order::little, "utf-16-le"}},
      {"utf_16_be", {Kind::utf16, Order::big, "utf-16-be"}},
      {"utf_16be", {Kind::utf16, Order::big, "utf-16-be"}},
      {"utf_32", {Kind::utf32, Order::native, "utf-32"}},
      {"utf32", {Kind::utf32, Order::native, "utf-32"}},
      {"utf_32_le", {Kind::utf32, Order::little, "utf-32-le"}},
      {"utf_32le", {Kind::utf32, Order::little, "utf-32-le"}},
      {"utf_32_be", {Kind::utf32, Order::big, "utf-32-be"}},
      {"utf_32be", {Kind::utf32, Order::big, "utf-32-be"}},
  };
  for (const Entry& entry : kEncodings)
    if (plain == entry.name) return entry.encoding;
  return {};
}

Encoding need_encoding(std::string_view name) {
  if (const auto found = encoding_named(name)) return *found;
  raise("LookupError", "unknown encoding: " + std::string(name), "utf-8, ascii, latin-1, utf-16 and utf-32 are there");
}

[[noreturn]] void raise_unicode(const char* type, const char* encoding, Value object, size_t start, size_t end, std::string_view reason) {
  throw Raised(Value::make<Exception>(*exception_type(type),
                                      std::vector<Value>{make_str(encoding), std::move(object), Value::of(static_cast<int64_t>(start)),
                                                         Value::of(static_cast<int64_t>(end)), make_str(std::string(reason))}));
}

[[noreturn]] void raise_unknown_handler(std::string_view errors) {
  raise("LookupError", fmt::format("unknown error handler name '{}'", errors));
}

// ---- decoding ----

class Decoder {
 public:
  Decoder(std::string_view data, Encoding encoding, std::string_view errors) : data_(data), encoding_(encoding), errors_(errors) {}

  std::string run() {
    switch (encoding_.kind) {
      case Kind::utf8_with_mark:
        if (data_.starts_with("\xEF\xBB\xBF")) data_.remove_prefix(3);
        utf8();
        break;
      case Kind::utf8: utf8(); break;
      case Kind::ascii: ascii(); break;
      case Kind::latin1:
        for (const char c : data_) append_utf8(out_, static_cast<unsigned char>(c));
        break;
      case Kind::utf16: utf16(); break;
      case Kind::utf32: utf32(); break;
    }
    return std::move(out_);
  }

 private:
  unsigned byte(size_t at) const { return static_cast<unsigned char>(data_[at]); }

  void bad(size_t start, size_t end, const char* reason) {
    if (errors_ == "strict") raise_unicode("UnicodeDecodeError", encoding_.name, make_bytes(std::string(data_)), start, end, reason);
    if (errors_ == "ignore") return;
    if (errors_ == "replace") return append_utf8(out_, 0xFFFD);
    if (errors_ == "backslashreplace") {
      for (size_t at = start; at < end; ++at) out_ += fmt::format("\\x{:02x}", byte(at));
      return;
    }
    if (errors_ == "surrogateescape") {
      for (size_t at = start; at < end; ++at) append_surrogate(0xDC00 + byte(at));
      return;
    }
    if (errors_ == "surrogatepass") raise_unicode("UnicodeDecodeError", encoding_.name, make_bytes(std::string(data_)), start, end, reason);
    raise_unknown_handler(errors_);
  }

  /// A lone surrogate is kept as three bytes.
  void append_surrogate(unsigned value) {
    out_ += static_cast<char>(0xE0 | value >> 12);
    out_ += static_cast<char>(0x80 | (value >> 6 & 0x3F));
    out_ += static_cast<char>(0x80 | (value & 0x3F));
  }

  void utf8() {
    for (size_t at = 0; at < data_.size();) {
      const CodePoint c = decode_utf8(data_, at);
      if (c.value != kBadCodePoint && (c.value < 0xD800 || c.value > 0xDFFF)) {
        out_ += data_.substr(at, static_cast<size_t>(c.length));
        at += static_cast<size_t>(c.length);
        continue;
      }
      const unsigned lead = byte(at);
      if (lead < 0xC2 || lead > 0xF4) {
        bad(at, at + 1, "invalid start byte");
        ++at;
        continue;
      }
      // The longest beginning of a character: what the second byte may be depends on the first.
      const size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
      const unsigned least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80, most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
      size_t end = at + 1;
      while (end < data_.size() && end < at + size &&
             (end == at + 1 ? byte(end) >= least && byte(end) <= most : (byte(end) & 0xC0) == 0x80))
        ++end;
      if (errors_ == "surrogatepass" && lead == 0xED && at + 2 < data_.size() && byte(at + 1) >= 0xA0 && (byte(at + 2) & 0xC0) == 0x80) {
        out_ += data_.substr(at, 3);
        at += 3;
        continue;
      }
      bad(at, end, end == data_.size() ? "unexpected end of data" : "invalid continuation byte");
      at = end;
    }
  }

  void ascii() {
    for (size_t at = 0; at < data_.size(); ++at) {
      if (byte(at) < 0x80)
        out_ += data_[at];
      else
        bad(at, at + 1, "ordinal not in range(128)");
    }
  }

  /// Where the text begins, behind a mark of the byte order; sets which it is.
  size_t begin_behind_mark(size_t unit) {
    big_ = encoding_.order == Order::big;
    if (encoding_.order != Order::native || data_.size() < unit) return 0;
    const std::string_view mark = data_.substr(0, unit);
    if (mark == (unit == 2 ? std::string_view("\xFF\xFE", 2) : std::string_view("\xFF\xFE\0\0", 4))) return unit;
    big_ = mark == (unit == 2 ? std::string_view("\xFE\xFF", 2) : std::string_view("\0\0\xFE\xFF", 4));
    return big_ ? unit : 0;
  }
  unsigned unit16(size_t at) const { return big_ ? byte(at) << 8 | byte(at + 1) : byte(at + 1) << 8 | byte(at); }

  void utf16() {
    size_t at = begin_behind_mark(2);
    name_order("utf-16");
    while (at < data_.size()) {
      if (at + 1 == data_.size()) {
        bad(at, at + 1, "truncated data");
        return;
      }
      const unsigned first = unit16(at);
      if (first < 0xD800 || first > 0xDFFF) {
        append_utf8(out_, first);
        at += 2;
      } else if (errors_ == "surrogatepass" && (first >= 0xDC00 || at + 3 >= data_.size())) {
        append_surrogate(first);
        at += 2;
      } else if (first >= 0xDC00) {
        bad(at, at + 2, "illegal encoding");
        at += 2;
      } else if (at + 3 >= data_.size()) {
        bad(at, data_.size(), "unexpected end of data");
        return;
      } else if (const unsigned second = unit16(at + 2); second >= 0xDC00 && second <= 0xDFFF) {
        append_utf8(out_, 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00));
        at += 4;
      } else {
        bad(at, at + 2, "illegal UTF-16 surrogate");
        at += 2;
      }
    }
  }

  void utf32() {
    size_t at = begin_behind_mark(4);
    name_order("utf-32");
    for (; at < data_.size(); at += 4) {
      if (at + 4 > data_.size()) {
        bad(at, data_.size(), "truncated data");
        return;
      }
      char32_t c = 0;
      for (size_t i = 0; i < 4; ++i) c = c << 8 | byte(at + (big_ ? i : 3 - i));
      if (c > 0x10FFFF)
        bad(at, at + 4, "code point not in range(0x110000)");
      else if (c >= 0xD800 && c <= 0xDFFF)
        errors_ == "surrogatepass" ? append_surrogate(c) : bad(at, at + 4, "code point in surrogate code point range");
      else
        append_utf8(out_, c);
    }
  }

  /// Errors name the byte order that was found.
  void name_order(std::string_view kind) {
    if (encoding_.order != Order::native) return;
    encoding_.name = kind == "utf-16" ? (big_ ? "utf-16-be" : "utf-16-le") : (big_ ? "utf-32-be" : "utf-32-le");
  }

  std::string_view data_;
  Encoding encoding_;
  std::string_view errors_;
  std::string out_;
  bool big_ = false;
};

// ---- encoding ----

class Encoder {
 public:
  Encoder(const Value& text, Encoding encoding, std::string_view errors)
      : object_(text), text_(decode(text.as<Str>()->value)), encoding_(encoding), errors_(errors) {}

  std::string run() {
    if (encoding_.kind == Kind::utf8_with_mark) out_ = "\xEF\xBB\xBF";
    if (encoding_.order == Order::native && (encoding_.kind == Kind::utf16 || encoding_.kind == Kind::utf32)) put(0xFEFF);
    for (size_t at = 0; at < text_.size(); ++at) {
      if (fits(text_[at])) {
        put(text_[at]);
        continue;
      }
      size_t end = at + 1;
      while (end < text_.size() && !fits(text_[end])) ++end;
      bad(at, end);
      at = end - 1;
    }
    return std::move(out_);
  }

 private:
  bool fits(char32_t c) const {
    switch (encoding_.kind) {
      case Kind::ascii: return c < 0x80;
      case Kind::latin1: return c < 0x100;
      default: return c < 0xD800 || c > 0xDFFF;
    }
  }

  void put(char32_t c) {
    const auto unit = [&](unsigned v, size_t size) {
      for (size_t i = 0; i < size; ++i) out_ += static_cast<char>(v >> 8 * (encoding_.order == Order::big ? size - 1 - i : i) & 0xFF);
    };
    switch (encoding_.kind) {
      case Kind::utf8:
      case Kind::utf8_with_mark:
        if (c >= 0xD800 && c <= 0xDFFF) {
          out_ += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)), static_cast<char>(0x80 | (c & 0x3F))};
        } else {
          append_utf8(out_, c);
        }
        break;
      case Kind::ascii:
      case Kind::latin1: out_ += static_cast<char>(c); break;
      case Kind::utf32: unit(c, 4); break;
      case Kind::utf16:
        if (c < 0x10000) {
          unit(c, 2);
        } else {
          unit(0xD800 + ((c - 0x10000) >> 10), 2);
          unit(0xDC00 + ((c - 0x10000) & 0x3FF), 2);
        }
        break;
    }
  }

  const char* reason() const {
    return encoding_.kind == Kind::ascii    ? "ordinal not in range(128)"
           : encoding_.kind == Kind::latin1 ? "ordinal not in range(256)"
                                            : "surrogates not allowed";
  }

  void bad(size_t start, size_t end) {
    if (errors_ == "strict") fail(start, end);
    if (errors_ == "ignore") return;
    const bool surrogates = errors_ == "surrogatepass" || errors_ == "surrogateescape";
    if (!surrogates && errors_ != "replace" && errors_ != "backslashreplace" && errors_ != "xmlcharrefreplace") {
      if (errors_ == "namereplace")
        raise("NotImplementedError", "errors='namereplace' is not in Gasell", "'backslashreplace' writes the numbers of characters");
      raise_unknown_handler(errors_);
    }
    for (size_t at = start; at < end; ++at) {
      const char32_t c = text_[at];
      if (surrogates) {
        const bool escaped = errors_ == "surrogateescape" && c >= 0xDC80 && c <= 0xDCFF;
        if (escaped)
          out_ += static_cast<char>(c - 0xDC00);
        else if (errors_ == "surrogatepass" && c >= 0xD800 && c <= 0xDFFF && encoding_.kind != Kind::ascii &&
                 encoding_.kind != Kind::latin1)
          put(c);
        else
          fail(start, end);
        continue;
      }
      std::string instead = "?";
      if (errors_ == "xmlcharrefreplace") instead = fmt::format("&#{};", static_cast<uint32_t>(c));
      if (errors_ == "backslashreplace")
        instead = c < 0x100     ? fmt::format("\\x{:02x}", static_cast<uint32_t>(c))
                  : c < 0x10000 ? fmt::format("\\u{:04x}", static_cast<uint32_t>(c))
                                : fmt::format("\\U{:08x}", static_cast<uint32_t>(c));
      for (const char d : instead) put(static_cast<unsigned char>(d));
    }
  }

  [[noreturn]] void fail(size_t start, size_t end) const {
    raise_unicode("UnicodeEncodeError", encoding_.name, object_, start, end, reason());
  }

  const Value object_;
  const std::u32string text_;
  const Encoding encoding_;
  const std::string_view errors_;
  std::string out_;
};

}  // namespace

std::string encode_text(const Value& text, std::string_view encoding, std::string_view errors) {
  const Encoding named = need_encoding(encoding);
  const auto& s = *text.as<Str>();
  if (s.ascii() && (named.kind == Kind::utf8 || named.kind == Kind::ascii || named.kind == Kind::latin1)) return s.value;
  return Encoder(text, named, errors).run();
}

std::string decode_bytes(std::string_view data, std::string_view encoding, std::string_view errors) {
  const Encoding named = need_encoding(encoding);
  if (is_ascii(data) && (named.kind == Kind::utf8 || named.kind == Kind::ascii || named.kind == Kind::latin1)) return std::string(data);
  return Decoder(data, named, errors).run();
}

bool is_encoding(std::string_view name) { return encoding_named(name).has_value(); }

}  // namespace gasell
