// What arrays of texts are made of: each text that a session has in such an array has a number, which is what the array holds. Equal texts
// have equal numbers; the empty one is 0.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <unordered_map>

#include "lang/characters.h"
#include "runtime/device/sandbox.h"
#include "runtime/session/bytes.h"
#include "runtime/session/types.h"
#include "stdlib/numpy/host.h"
#include "stdlib/numpy/methods.h"
#include "stdlib/numpy/nested.h"
#include "stdlib/numpy/typed.h"

namespace gasell::numpy {
namespace {

using Args = std::span<Value>;

/// The letters of a text.
std::vector<uint32_t> letters_of(std::string_view text) {
  std::vector<uint32_t> all;
  for (size_t at = 0; at < text.size();) {
    const CodePoint letter = decode_utf8(text, at);
    if (letter.value == kBadCodePoint) raise("ValueError", "the array holds a text with half of a surrogate pair");
    all.push_back(letter.value);
    at += static_cast<size_t>(letter.length);
  }
  return all;
}

/// The first letters of a text.
std::string_view first_letters(std::string_view text, int64_t count) {
  size_t at = 0;
  for (; at < text.size(); ++at)
    if ((static_cast<unsigned char>(text[at]) & 0xc0) != 0x80 && count-- == 0) break;
  return text.substr(0, at);
}

/// Bytes as a text of as many letters, and back.
std::string text_of_bytes(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) append_utf8(text, static_cast<unsigned char>(c));
  return text;
}

class TextTable {
 public:
  TextTable() { code(""); }
  int64_t code(std::string_view text) {
    const auto known = codes_.find(text);
    if (known != codes_.end()) return known->second;
    texts_.push_back(make_str(std::string(text)));
    const auto made = static_cast<int64_t>(texts_.size()) - 1;
    codes_.emplace(texts_.back().as<Str>()->value, made);
    return made;
  }
  const Value& text(int64_t code) const { return texts_.at(static_cast<size_t>(code)); }
  const std::string& characters(int64_t code) const { return text(code).as<Str>()->value; }

 private:
  std::vector<Value> texts_;
  std::unordered_map<std::string_view, int64_t> codes_;  // views of texts_'s own strings
};
TextTable& table() { return state_of_session<TextTable>(); }

/// Collects nested lists of texts and numbers.
class TextsReader {
 public:
  TextsReader(Interpreter& in, bool sized) : in_(in), sized_(sized), nested_(in) {}

  Value read(const Value& v) {
    nested_.walk(v, [this](const Value& element, size_t depth) { leaf(element, depth); });
    HostArray made(in_, DType::i64, nested_.shape());
    std::copy(codes_.begin(), codes_.end(), made.data<int64_t>());
    return make_tuple({made.value(), Value::of(std::max<int64_t>(width_, 1)), Value::of(bytes_)});
  }

 private:
  /// As many letters as NumPy keeps for any number of such a type.
  int64_t width_of(const Value& v) const {
    if (v.is_bool()) return 5;
    if (v.is_int()) return 21;
    if (v.is_float()) return 32;
    if (auto* number = v.as<NumpyScalar>()) return text_width(number->dtype());
    return 64;
  }
  void leaf(const Value& v, size_t depth) {
    nested_.end(depth);
    const bool number = v.is_bool() || v.is_int() || v.is_float() || v.as<NumpyScalar>();
    const auto* bytes = v.as<Bytes>();
    if (!number && !bytes && !v.as<Str>())
      raise("NotImplementedError", "an array of texts and values of type '" + type_of(v).name + "' is not in Gasell");
    if ((bytes && texts_) || (bytes_ && v.as<Str>()))
      raise("NotImplementedError", "an array of texts and bytes is not in Gasell", "decode the bytes, or encode the texts");
    bytes_ = bytes_ || bytes;
    texts_ = texts_ || v.as<Str>();
    std::string text = bytes ? text_of_bytes(bytes->value) : str(in_, v);
    width_ = std::max(width_, number && !sized_ ? width_of(v) : code_point_count(text));
    while (text.ends_with('\0')) text.pop_back();
    codes_.push_back(table().code(text));
  }

  Interpreter& in_;
  const bool sized_;
  NestedShape nested_;
  int64_t width_ = 0;
  bool texts_ = false, bytes_ = false;
  std::vector<int64_t> codes_;
};

/// texts_of(values, sized): (codes, letters of the longest, whether they are bytes) of nested lists; numbers count as wide as their type's,
/// unless `sized`.
Value texts_of(Interpreter& in, Args args) { return TextsReader(in, truth(in, args[1])).read(args[0]); }

/// text_at(code).
Value text_at(Interpreter& in, Args args) { return table().text(to_index(in, args[0])); }

/// text_values(codes): a list.
Value text_values(Interpreter& in, Args args) {
  const Int64Elements codes(in, args[0]);
  std::vector<Value> texts;
  for (int64_t k = 0; k < codes.size(); ++k) texts.push_back(table().text(codes[k]));
  return make_list(std::move(texts));
}

/// texts_cut(codes, width): no text has more letters.
Value texts_cut(Interpreter& in, Args args) {
  const Int64Elements codes(in, args[0]);
  const int64_t width = to_index(in, args[1]);
  HostArray made(in, DType::i64, codes.shape());
  auto* to = made.data<int64_t>();
  for (int64_t k = 0; k < codes.size(); ++k) {
    const std::string& text = table().characters(codes[k]);
    if (code_point_count(text) <= width) {
      to[k] = codes[k];
      continue;
    }
    std::string_view cut = first_letters(text, width);
    while (cut.ends_with('\0')) cut.remove_suffix(1);
    to[k] = table().code(cut);
  }
  return made.value();
}

/// text_ranks(codes, …): the places of the texts of each array among the distinct ones of all, in their order, and the codes of these.
Value text_ranks(Interpreter& in, Args args) {
  std::vector<Int64Elements> arrays;
  std::vector<int64_t> distinct;
  for (const Value& v : args[0].as<Tuple>()->items) {
    arrays.emplace_back(in, v);
    for (int64_t k = 0; k < arrays.back().size(); ++k) distinct.push_back(arrays.back()[k]);
  }
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::ranges::sort(distinct, [](int64_t a, int64_t b) { return table().characters(a) < table().characters(b); });
  std::unordered_map<int64_t, int64_t> ranks;
  for (size_t k = 0; k < distinct.size(); ++k) ranks.emplace(distinct[k], static_cast<int64_t>(k));
  std::vector<Value> results;
  for (const Int64Elements& codes : arrays) {
    HostArray made(in, DType::i64, codes.shape());
    auto* to = made.data<int64_t>();
    for (int64_t k = 0; k < codes.size(); ++k) to[k] = ranks.at(codes[k]);
    results.push_back(made.value());
  }
  HostArray back(in, DType::i64, {static_cast<int64_t>(distinct.size())});
  std::ranges::copy(distinct, back.data<int64_t>());
  results.push_back(back.value());
  return make_tuple(std::move(results));
}

/// text_bytes(codes, width, size): the letters as integers of `size` bytes along a last axis of bytes, zeros behind them.
/// UnicodeEncodeError's case, letters that one byte does not hold, is the caller's.
Value text_bytes(Interpreter& in, Args args) {
  const Int64Elements codes(in, args[0]);
  const int64_t width = to_index(in, args[1]), size = to_index(in, args[2]);
  Shape shape = codes.shape();
  shape.push_back(width * size);
  HostArray made(in, DType::u8, shape);
  auto* to = made.data<uint8_t>();
  std::fill_n(to, codes.size() * width * size, uint8_t{0});
  for (int64_t k = 0; k < codes.size(); ++k, to += width * size) {
    const std::vector<uint32_t> all = letters_of(table().characters(codes[k]));
    for (size_t letter = 0; letter < all.size(); ++letter)
      std::memcpy(to + static_cast<int64_t>(letter) * size, &all[letter], static_cast<size_t>(size));
  }
  return made.value();
}

/// text_codes(bytes, size): the codes of texts whose letters are integers of `size` bytes along the last axis. ValueError for what is no
/// letter.
Value text_codes(Interpreter& in, Args args) {
  const Array bytes = as_array(in, args[0]);
  const int64_t size = to_index(in, args[1]);
  const Array::Elements elements = bytes.elements(in.engine());
  Shape shape = bytes.shape();
  const int64_t width = shape.back() / size;
  shape.pop_back();
  const int64_t count = graph::size_of(shape);
  HostArray made(in, DType::i64, shape);
  auto* to = made.data<int64_t>();
  const auto* from = reinterpret_cast<const uint8_t*>(elements.data);
  for (int64_t k = 0; k < count; ++k, from += width * size) {
    std::string text;
    for (int64_t letter = 0; letter < width; ++letter) {
      uint32_t value = 0;
      std::memcpy(&value, from + letter * size, static_cast<size_t>(size));
      if (value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) raise("ValueError", "the array holds letters that are none");
      append_utf8(text, value);
    }
    while (text.ends_with('\0')) text.pop_back();
    to[k] = table().code(text);
  }
  return made.value();
}

/// text_width(dtype): letters that NumPy keeps for numbers of a dtype.
Value text_width_of(Interpreter& in, Args args) { return Value::of(text_width(*to_dtype(in, args[0]))); }

}  // namespace

std::vector<std::string> texts_of_codes(Interpreter& in, const Value& codes) {
  const Int64Elements all(in, codes);
  std::vector<std::string> texts;
  for (int64_t k = 0; k < all.size(); ++k) texts.push_back(table().characters(all[k]));
  return texts;
}

Value codes_of_texts(Interpreter& in, const std::vector<std::string>& texts, const graph::Shape& shape) {
  HostArray made(in, DType::i64, shape);
  auto* to = made.data<int64_t>();
  for (const std::string& text : texts) *to++ = table().code(text);
  return made.value();
}

int64_t text_width(DType dtype) {
  switch (dtype) {
    case DType::boolean: return 5;
    case DType::i8: return 4;
    case DType::i16: return 6;
    case DType::i32: return 11;
    case DType::i64: return 21;
    case DType::u8: return 3;
    case DType::u16: return 5;
    case DType::u32: return 10;
    case DType::u64: return 20;
    default: return is_complex(dtype) ? 64 : 32;
  }
}

std::vector<NativeFunction> text_functions() {
  return {
      {"texts_of", "values, sized", texts_of, "(codes, letters of the longest, whether they are bytes) of nested lists of texts."},
      {"text_bytes", "codes, width, size", text_bytes, "The letters of texts as integers of so many bytes, an array of bytes."},
      {"text_codes", "bytes, size", text_codes, "The codes of texts whose letters lie so in memory."},
      {"text_at", "code", text_at, "A text."},
      {"text_values", "codes", text_values, "A list of texts."},
      {"texts_cut", "codes, width", texts_cut, "The codes of the texts' first letters."},
      {"text_ranks", "*codes", text_ranks, "The places of texts in the order of all, an array each, and the codes of the distinct ones."},
      {"text_width", "dtype", text_width_of, "How many letters NumPy keeps for numbers of a dtype."},
  };
}

}  // namespace gasell::numpy
