// The slots of bytes and bytearray, and their types.
#include "runtime/session/bytes.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "runtime/session/builtins.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/number.h"
#include "runtime/session/objects.h"
#include "runtime/session/operations_numbers.h"
#include "runtime/session/str.h"
#include "runtime/session/text_codec.h"
#include "runtime/session/text_search.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

/// Whether an array is its memory; one integer without axes is a number.
bool is_array_of_bytes(Interpreter& in, const Value& v) {
  if (type_of(v).name != "ndarray") return false;
  const std::string kind = str(in, get_attribute(in, get_attribute(in, v, "dtype"), "kind"));
  return get_attribute(in, v, "ndim").as_int() > 0 || (kind != "i" && kind != "u");
}

std::string construct(Interpreter& in, Args args, std::string_view type_name) {
  const Value &source = args[0], &encoding = args[1], &errors = args[2];
  if (is_missing(source)) {
    if (!is_missing(encoding) || !is_missing(errors)) raise("TypeError", "encoding without a string argument");
    return "";
  }
  if (source.as<Str>()) {
    if (is_missing(encoding)) raise("TypeError", "string argument without an encoding");
    return encode_text(source, need_str(encoding, std::string(type_name) + "() argument 'encoding' must be str, not "),
                       is_missing(errors) ? "strict" : need_str(errors, std::string(type_name) + "() argument 'errors' must be str, not "));
  }
  if (!is_missing(encoding) || !is_missing(errors)) raise("TypeError", "encoding without a string argument");
  std::optional<int64_t> count;
  if (source.is_int() || source.is_bool())
    count = source.as_int();
  else if (source.is_object() && !source.as<BytesLike>() && !is_array_of_bytes(in, source))
    count = source.object()->to_index(in);
  if (count) {
    if (*count < 0) raise("ValueError", "negative count");
    require_memory(in, *count);
    return std::string(static_cast<size_t>(*count), '\0');
  }
  return bytes_of_items(in, source, type_name);
}

std::string from_hex(Args args) {
  const std::string_view text = need_str(args[0], "fromhex() argument must be str, not ");
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
  };
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r')) {
      ++at;
      continue;
    }
    for (size_t i = at; i < at + 2; ++i)
      if (i >= text.size() || digit(text[i]) < 0)
        raise("ValueError", fmt::format("non-hexadecimal number found in fromhex() arg at position {}", i));
    out += static_cast<char>(digit(text[at]) * 16 + digit(text[at + 1]));
    at += 2;
  }
  return out;
}

/// bytes.maketrans(from, to).
Value make_translation(Interpreter&, Args args) {
  const std::string_view from = need_bytes(args[0]), to = need_bytes(args[1]);
  if (from.size() != to.size()) raise("ValueError", "maketrans arguments must have same length");
  std::string table(256, '\0');
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<char>(i);
  for (size_t i = 0; i < from.size(); ++i) table[static_cast<unsigned char>(from[i])] = to[i];
  return make_bytes(std::move(table));
}

std::string slice(std::string_view s, const SliceObject::Range& r) {
  if (r.step == 1) return std::string(s.substr(static_cast<size_t>(r.start), static_cast<size_t>(std::max<int64_t>(0, r.count))));
  std::string out;
  for (int64_t i = 0, at = r.start; i < r.count; ++i, at += r.step) out += s[static_cast<size_t>(at)];
  return out;
}

constexpr const char* kConstructor = "source=missing, encoding=missing, errors=missing";

}  // namespace

const Type& bytes_type() {
  static const NativeFunction constructor{
      "bytes", kConstructor,
      [](Interpreter& in, Args a) { return a[0].as<Bytes>() && is_missing(a[1]) ? a[0] : make_bytes(construct(in, a, "bytes")); },
      "Bytes of a text, of ints from 0 to 255, of other bytes; so many zeros."};
  static const Type t = [] {
    Type made{"bytes", "builtins", &object_type(), {}, {}, &constructor};
    for (auto group : {bytes_search_methods, bytes_shape_methods})
      for (NativeFunction& f : group()) made.methods.push_back(std::move(f));
    made.static_methods = {
        {"fromhex", "string, /", [](Interpreter&, Args a) { return make_bytes(from_hex(a)); }, "The bytes of hexadecimal digits."},
        {"maketrans", "frm, to, /", make_translation, "A table for translate."}};
    return made;
  }();
  return t;
}

const Type& bytearray_type() {
  static const NativeFunction constructor{"bytearray", kConstructor,
                                          [](Interpreter& in, Args a) { return Value::make<ByteArray>(construct(in, a, "bytearray")); },
                                          "As bytes, to be changed in place."};
  static const Type t = [] {
    Type made{"bytearray", "builtins", &object_type(), {}, {}, &constructor};
    for (auto group : {bytes_search_methods, bytes_shape_methods, bytearray_methods})
      for (NativeFunction& f : group()) made.methods.push_back(std::move(f));
    made.static_methods = {{"fromhex", "string, /", [](Interpreter&, Args a) { return Value::make<ByteArray>(from_hex(a)); },
                            "The bytes of hexadecimal digits."},
                           {"maketrans", "frm, to, /", make_translation, "A table for translate."}};
    return made;
  }();
  return t;
}

const Type& Bytes::type() const { return bytes_type(); }
const Type& ByteArray::type() const { return bytearray_type(); }

std::string bytes_repr(std::string_view v) {
  const char quote = v.find('\'') != v.npos && v.find('"') == v.npos ? '"' : '\'';
  std::string out = std::string("b") + quote;
  for (const char c : v) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\')
      (out += '\\') += c;
    else if (c == '\t' || c == '\n' || c == '\r')
      out += c == '\t' ? "\\t" : c == '\n' ? "\\n" : "\\r";
    else if (byte < 0x20 || byte >= 0x7F)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out + quote;
}

std::string Bytes::repr(Interpreter&) { return bytes_repr(value); }
std::string ByteArray::repr(Interpreter&) { return "bytearray(" + bytes_repr(value) + ")"; }
int64_t Bytes::hash(Interpreter&) {
  const auto h = static_cast<int64_t>(std::hash<std::string_view>{}(value));
  return h == -1 ? -2 : h;
}
int64_t ByteArray::hash(Interpreter&) { raise("TypeError", "unhashable type: 'bytearray'"); }

std::string_view need_bytes(const Value& v) {
  if (const auto* b = v.as<BytesLike>()) return b->value;
  raise("TypeError", "a bytes-like object is required, not '" + type_of(v).name + "'");
}

char byte_of(Interpreter& in, const Value& v, std::string_view what) {
  const int64_t i = to_index(in, v);
  if (i < 0 || i > 255) raise("ValueError", std::string(what) + " must be in range(0, 256)");
  return static_cast<char>(i);
}

std::string bytes_of_items(Interpreter& in, const Value& v, std::string_view type_name) {
  if (const auto* b = v.as<BytesLike>()) return b->value;
  if (type_of(v).name == "ndarray") return call(in, get_attribute(in, v, "tobytes"), {}).as<BytesLike>()->value;  // its buffer
  if (!v.is_object()) raise("TypeError", fmt::format("cannot convert '{}' object to {}", type_of(v).name, type_name));
  std::string out;
  const Value items = iterate(in, v);
  require_items(in, items, 1);
  while (const auto item = next(in, items)) out += byte_of(in, *item, type_name == "bytes" ? "bytes" : "byte");
  return out;
}

std::optional<Value> BytesLike::compare(Interpreter&, ast::CompareOp op, const Value& other) {
  const auto* o = other.as<BytesLike>();
  if (!o) return {};
  using enum ast::CompareOp;
  switch (op) {
    case eq: return Value::of(value == o->value);
    case ne: return Value::of(value != o->value);
    case lt: return Value::of(value < o->value);  // std::string orders chars as unsigned
    case le: return Value::of(value <= o->value);
    case gt: return Value::of(value > o->value);
    case ge: return Value::of(value >= o->value);
    default: return {};
  }
}

std::optional<Value> BytesLike::binary(Interpreter& in, ast::BinaryOp op, const Value& other) {
  switch (op) {
    case ast::BinaryOp::add: {
      if (const auto* o = other.as<BytesLike>()) return like(value + o->value);
      raise("TypeError", "can't concat " + type_of(other).name + " to " + type().name);
    }
    case ast::BinaryOp::mul: return reflected(in, op, other);
    case ast::BinaryOp::mod: return like(format_percent_bytes(in, value, other));
    default: return {};
  }
}

std::optional<Value> BytesLike::reflected(Interpreter& in, ast::BinaryOp op, const Value& other) {
  if (op != ast::BinaryOp::mul) return {};
  const int64_t n = repeat_count(in, other, static_cast<int64_t>(value.size()), 1);
  std::string out;
  out.reserve(value.size() * static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    poll(in);
    out += value;
  }
  return like(std::move(out));
}

bool BytesLike::contains(Interpreter& in, const Value& item) {
  if (const auto* b = item.as<BytesLike>()) return find_text(value, b->value) != value.npos;
  if (item.is_object() && !item.object()->to_index(in)) need_bytes(item);
  if (item.is_none() || item.is_float()) need_bytes(item);
  return value.find(byte_of(in, item)) != value.npos;
}

Value BytesLike::get_item(Interpreter& in, const Value& index) {
  if (const auto* s = index.as<SliceObject>()) return like(slice(value, s->indices(in, length(in))));
  const bool fixed = &type() == &bytes_type();
  const int64_t i =
      sequence_index(in, index, length(in), fixed ? "byte" : "bytearray", fixed ? "index out of range" : "bytearray index out of range");
  return Value::of(static_cast<int64_t>(static_cast<unsigned char>(value[static_cast<size_t>(i)])));
}

Value BytesLike::iterate(Interpreter&) {
  return make_sequence_iterator(Value::of(this), &type() == &bytes_type() ? "bytes_iterator" : "bytearray_iterator");
}

std::optional<Value> BytesLike::to_int(Interpreter& in) { return parse_integer_of_bytes(in, *this, 10); }
std::optional<Value> BytesLike::to_float(Interpreter&) {
  try {
    return Value::of(parse_float(value));
  } catch (const Raised&) {
    raise("ValueError", "could not convert string to float: " + bytes_repr(value));
  }
}

// ---- bytearray ----

std::optional<Value> ByteArray::in_place(Interpreter& in, ast::BinaryOp op, const Value& other) {
  if (op == ast::BinaryOp::add) {
    if (!other.as<BytesLike>()) raise("TypeError", "can't concat " + type_of(other).name + " to bytearray");
    value += std::string(other.as<BytesLike>()->value);
    return Value::of(this);
  }
  if (op == ast::BinaryOp::mul) {
    value = reflected(in, op, other)->as<ByteArray>()->value;
    return Value::of(this);
  }
  return {};
}

void ByteArray::set_item(Interpreter& in, const Value& index, const Value& v) {
  const auto* s = index.as<SliceObject>();
  if (!s) {
    const int64_t i = sequence_index(in, index, length(in), "bytearray", "bytearray index out of range");
    value[static_cast<size_t>(i)] = byte_of(in, v);
    return;
  }
  if (v.is_int() || v.is_bool() || v.as<Str>()) raise("TypeError", "can assign only bytes, buffers, or iterables of ints in range(0, 256)");
  const std::string items = bytes_of_items(in, v, "bytearray");
  const SliceObject::Range r = s->indices(in, length(in));
  if (r.step == 1) {
    value.replace(static_cast<size_t>(r.start), static_cast<size_t>(std::max<int64_t>(0, r.count)), items);
    return;
  }
  if (items.empty()) return delete_item(in, index);
  if (static_cast<int64_t>(items.size()) != r.count)
    raise("ValueError", fmt::format("attempt to assign bytes of size {} to extended slice of size {}", items.size(), r.count));
  for (int64_t i = 0, at = r.start; i < r.count; ++i, at += r.step) value[static_cast<size_t>(at)] = items[static_cast<size_t>(i)];
}

void ByteArray::delete_item(Interpreter& in, const Value& index) {
  const auto* s = index.as<SliceObject>();
  if (!s) {
    const int64_t i = sequence_index(in, index, length(in), "bytearray", "bytearray index out of range");
    value.erase(static_cast<size_t>(i), 1);
    return;
  }
  const SliceObject::Range r = s->indices(in, length(in));
  std::vector<bool> drop(value.size());
  for (int64_t i = 0, at = r.start; i < r.count; ++i, at += r.step) drop[static_cast<size_t>(at)] = true;
  std::string kept;
  for (size_t i = 0; i < value.size(); ++i)
    if (!drop[i]) kept += value[i];
  value = std::move(kept);
}

}  // namespace gasell
