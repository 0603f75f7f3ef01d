// str: the slots. Its methods are in str_search.cpp, str_shape.cpp and str_case.cpp.
#include "runtime/session/str.h"

#include <algorithm>
#include <array>
#include <functional>

#include "runtime/session/bytes.h"
#include "runtime/session/iterators.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/number.h"
#include "runtime/session/str_text.h"
#include "runtime/session/text_codec.h"
#include "runtime/session/text_search.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

/// One-character strings of ASCII, shared by all sessions.
const Value& ascii_character(unsigned char c) {
  static const auto table = [] {
    std::array<Value, 128> t;
    for (size_t i = 0; i < t.size(); ++i) t[i] = make_str(std::string(1, static_cast<char>(i))).immortal();
    return t;
  }();
  return table[c];
}

Value one_character(std::string_view bytes) {
  return bytes.size() == 1 && static_cast<unsigned char>(bytes[0]) < 0x80 ? ascii_character(static_cast<unsigned char>(bytes[0]))
                                                                          : make_str(std::string(bytes));
}

Value slice(const Str& s, const SliceObject::Range& r) {
  if (r.count <= 0) return make_str("");
  if (r.step == 1) return make_str(std::string(code_points(s, r.start, r.start + r.count)));
  std::string out;
  if (s.ascii()) {
    for (int64_t i = 0, at = r.start; i < r.count; ++i, at += r.step) out += s.value[static_cast<size_t>(at)];
  } else {
    const std::u32string codes = decode(s.value);
    for (int64_t i = 0, at = r.start; i < r.count; ++i, at += r.step) append_utf8(out, codes[static_cast<size_t>(at)]);
  }
  return make_str(std::move(out));
}

class StrIterator final : public Object {
 public:
  explicit StrIterator(Value s) : text_(std::move(s)) {}
  const Type& type() const override {
    static const Type t = iterator_type_of("str_iterator");
    return t;
  }
  Value iterate(Interpreter&) override { return Value::of(this); }
  std::optional<Value> next(Interpreter&) override {
    const std::string_view s = text_.as<Str>()->value;
    if (at_ >= s.size()) return std::nullopt;
    const size_t size = byte_offset(s.substr(at_), 1);
    at_ += size;
    return one_character(s.substr(at_ - size, size));
  }

 private:
  Value text_;
  size_t at_ = 0;
};

Value construct(Interpreter& in, std::span<Value> args) {
  if (!is_missing(args[1]) || !is_missing(args[2])) {
    if (args[0].as<Str>()) raise("TypeError", "decoding str is not supported");
    if (is_missing(args[0])) return make_str("");
    if (const auto* b = args[0].as<BytesLike>())
      return make_str(decode_bytes(b->value,
                                   is_missing(args[1]) ? "utf-8" : need_str(args[1], "str() argument 'encoding' must be str, not "),
                                   is_missing(args[2]) ? "strict" : need_str(args[2], "str() argument 'errors' must be str, not ")));
    raise("TypeError", "decoding to str: need a bytes-like object, " + type_of(args[0]).name + " found");
  }
  if (is_missing(args[0])) return make_str("");
  return args[0].as<Str>() ? args[0] : make_str(str(in, args[0]));
}

}  // namespace

std::string_view need_str(const Value& v, std::string_view message) {
  if (const auto* s = v.as<Str>()) return s->value;
  raise("TypeError", std::string(message) + type_of(v).name);
}

std::string_view code_points(const Str& s, int64_t start, int64_t stop) {
  const std::string_view text = s.value;
  if (s.ascii()) return text.substr(static_cast<size_t>(start), static_cast<size_t>(stop - start));
  const size_t begin = byte_offset(text, start);
  return text.substr(begin, byte_offset(text.substr(begin), stop - start));
}

int64_t Str::size() const {
  if (size_ < 0) size_ = is_ascii(value) ? static_cast<int64_t>(value.size()) : code_point_count(value);
  return size_;
}

const Type& str_type() {
  static const NativeFunction constructor{"str", "object=missing, encoding=missing, errors=missing", construct, "The text of an object."};
  static const Type t = [] {
    Type made{"str", "builtins", &object_type(), {}, {}, &constructor};
    for (auto group : {str_search_methods, str_shape_methods, str_case_methods}) {
      for (NativeFunction& f : group()) (f.name == "maketrans" ? made.static_methods : made.methods).push_back(std::move(f));
    }
    return made;
  }();
  return t;
}

const Type& Str::type() const { return str_type(); }
std::string Str::repr(Interpreter&) { return str_repr(value); }
std::string Str::format(Interpreter&, std::string_view spec) { return format_str(value, spec); }
int64_t Str::length(Interpreter&) { return size(); }
Value Str::iterate(Interpreter&) { return Value::make<StrIterator>(Value::of(this)); }
std::optional<Value> Str::to_int(Interpreter&) { return parse_integer(value); }
std::optional<Value> Str::to_float(Interpreter&) { return Value::of(parse_float(value)); }
std::optional<Value> Str::to_complex(Interpreter&) { return Value::make<Complex>(parse_complex(value)); }

int64_t Str::hash(Interpreter&) {
  if (hash_ == -1) {
    hash_ = static_cast<int64_t>(std::hash<std::string_view>{}(value));
    if (hash_ == -1) hash_ = -2;
  }
  return hash_;
}

std::optional<Value> Str::compare(Interpreter&, ast::CompareOp op, const Value& other) {
  const auto* o = other.as<Str>();
  if (!o) return std::nullopt;
  switch (op) {
    case ast::CompareOp::eq: return Value::of(value == o->value);
    case ast::CompareOp::ne: return Value::of(value != o->value);
    case ast::CompareOp::lt: return Value::of(value < o->value);  // the order of UTF-8 bytes is that of code points
    case ast::CompareOp::le: return Value::of(value <= o->value);
    case ast::CompareOp::gt: return Value::of(value > o->value);
    case ast::CompareOp::ge: return Value::of(value >= o->value);
    default: return std::nullopt;
  }
}

void Str::append(const Str& more) {
  if (size_ >= 0) size_ += more.size();
  hash_ = -1;
  value += more.value;
}

std::optional<Value> Str::binary(Interpreter& in, ast::BinaryOp op, const Value& other) {
  switch (op) {
    case ast::BinaryOp::add: {
      if (const auto* o = other.as<Str>()) return make_str(value + o->value);
      if (auto answer = ask_right_operand(in, op, *this, other)) return answer;
      raise("TypeError", "can only concatenate str (not \"" + type_of(other).name + "\") to str");
    }
    case ast::BinaryOp::mul: {
      if (auto answer = ask_right_operand(in, op, *this, other)) return answer;
      return reflected(in, op, other);
    }
    case ast::BinaryOp::mod: return make_str(format_percent(in, value, other));
    default: return std::nullopt;
  }
}

std::optional<Value> Str::reflected(Interpreter& in, ast::BinaryOp op, const Value& other) {
  if (op != ast::BinaryOp::mul) return std::nullopt;
  const int64_t n = repeat_count(in, other, static_cast<int64_t>(value.size()), 1);
  if (n <= 0 || value.empty()) return make_str("");
  // What is there is put behind itself; in pieces, so that Ctrl-C is seen.
  const size_t total = value.size() * static_cast<size_t>(n), most = std::max<size_t>(1, (1 << 24) / value.size()) * value.size();
  std::string out;
  out.reserve(total);
  out = value;
  while (out.size() < total) {
    out.append(out, 0, std::min({out.size(), most, total - out.size()}));
    poll_now(in);
  }
  return make_str(std::move(out));
}

bool Str::contains(Interpreter&, const Value& item) {
  return find_text(value, need_str(item, "'in <string>' requires string as left operand, not ")) != std::string::npos;
}

Value Str::get_item(Interpreter& in, const Value& index) {
  if (const auto* s = index.as<SliceObject>()) return slice(*this, s->indices(in, size()));
  const int64_t i = sequence_index(in, index, size(), "string", "string index out of range");
  return one_character(code_points(*this, i, i + 1));
}

}  // namespace gasell
