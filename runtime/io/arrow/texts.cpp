// Texts of several arrays as one column.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "lang/diagnostic.h"
#include "runtime/device/device.h"
#include "runtime/device/workers.h"
#include "runtime/io/arrow/decode.h"
#include "runtime/io/csv/utf8.h"
#include "runtime/io/os_error.h"

namespace gasell::arrow {
namespace {

using Form = FieldType::Form;

/// Parts with dictionaries that have in all no more texts than this, or than a quarter of the rows, share one dictionary.
constexpr int64_t kFewTexts = 4096;

[[noreturn]] void refuse(const std::string& column) {
  throw Error("ValueError", "column " + in_quotes(column) + " of the file is damaged: its texts lie outside of its data");
}

/// Text i of an array of Arrow.
struct TextView {
  const ArrowArray& array;
  const FieldType& type;
  const char* bytes = static_cast<const char*>(array.buffers[2]);

  int64_t offset(int64_t i) const {
    if (!array.buffers[1]) return 0;  // no texts at all
    return type.wide ? static_cast<const int64_t*>(array.buffers[1])[array.offset + i]
                     : static_cast<const int32_t*>(array.buffers[1])[array.offset + i];
  }
  std::string_view operator[](int64_t i) const { return {bytes + offset(i), static_cast<size_t>(offset(i + 1) - offset(i))}; }
  int64_t size() const { return array.length; }
  int64_t total() const { return offset(size()) - offset(0); }
};

/// Arrow's readers take the bytes of texts as they are. UnicodeDecodeError where they are not UTF-8.
void check_texts(const TextView& view, const std::string& column) {
  const char* const begin = view.bytes + view.offset(0);
  const char* const end = view.bytes + view.offset(view.size());
  unsigned char any = 0;
  for (const char* p = begin; p < end; ++p) any |= static_cast<unsigned char>(*p);
  if (any < 0x80) return;
  const auto refuse_bytes = [&](const std::string& why) {
    if (view.type.binary)
      throw Error("NotImplementedError", "column " + in_quotes(column) + " is of type binary and holds bytes that are no text",
                  why + "; columns=[…] reads the others", Blame::limitation);
    throw Error("UnicodeDecodeError", why, "column " + in_quotes(column) + " holds bytes that are no text");
  };
  try {
    csv::check_utf8(begin, end, begin, column);
  } catch (const Error& error) {
    refuse_bytes(error.diagnostic().message);
  }
  for (int64_t i = 0; i < view.size(); ++i)
    if (view.offset(i) < view.offset(view.size()) && (static_cast<unsigned char>(view.bytes[view.offset(i)]) & 0xc0) == 0x80)
      refuse_bytes("'utf-8' codec can't decode a text that ends within a character");
}

struct Part {
  const TextPart& part;
  const ArrowArray& texts() const { return part.type.form == Form::coded ? *part.array->dictionary : *part.array; }
  TextView view() const { return {texts(), part.type}; }
  bool is_coded() const { return part.type.form == Form::coded; }
  bool is_nothing() const { return part.type.form == Form::nothing; }
};

int64_t code_at(const ArrowArray& array, int width, int64_t i) {
  const void* const codes = array.buffers[1];
  i += array.offset;
  switch (width) {
    case 1: return static_cast<const int8_t*>(codes)[i];
    case 2: return static_cast<const int16_t*>(codes)[i];
    case 4: return static_cast<const int32_t*>(codes)[i];
    default: return static_cast<const int64_t*>(codes)[i];
  }
}

/// f(i, is there) for each row.
template <class F>
void each_row(const ArrowArray& array, const F& f) {
  const auto* bits = array.null_count == 0 ? nullptr : static_cast<const uint8_t*>(array.buffers[0]);
  for (int64_t i = 0; i < array.length; ++i) {
    const int64_t k = array.offset + i;
    f(i, !bits || (bits[k >> 3] >> (k & 7) & 1));
  }
}

/// `to[i]` = map(code), or -1.
template <class F>
void put_codes(const Part& p, int32_t* to, const std::string& column, const F& map) {
  const ArrowArray& array = *p.part.array;
  const int64_t texts = p.texts().length;
  bool inside = true;
  const auto put = [&](auto code_of) {
    each_row(array, [&](int64_t i, bool there) {
      if (!there) {
        to[i] = -1;
        return;
      }
      const int64_t code = code_of(i);
      if (code < 0 || code >= texts) [[unlikely]] {
        inside = false;
        return;
      }
      to[i] = static_cast<int32_t>(map(code));
    });
  };
  if (p.part.type.width == 4) {
    const int32_t* const codes = static_cast<const int32_t*>(array.buffers[1]) + array.offset;
    put([codes](int64_t i) { return codes[i]; });
  } else {
    put([&](int64_t i) { return code_at(array, p.part.type.width, i); });
  }
  if (!inside) refuse(column);
}

JoinedTexts join_distinct(Engine& engine, const std::vector<Part>& parts, int64_t rows, const std::string& column) {
  frame::DistinctTexts texts;
  std::vector<std::vector<int32_t>> places(parts.size());
  for (size_t k = 0; k < parts.size(); ++k) {
    if (parts[k].is_nothing()) continue;
    const TextView view = parts[k].view();
    if (view.total() < 0) refuse(column);
    check_texts(view, column);
    if (parts[k].is_coded()) {
      for (int64_t i = 0; i < view.size(); ++i) places[k].push_back(texts.add(view[i]));
    } else {
      each_row(*parts[k].part.array, [&](int64_t i, bool there) { places[k].push_back(there ? texts.add(view[i]) : -1); });
    }
  }
  frame::NewValues codes(engine, DType::i32, rows);
  int32_t* const to = codes.as<int32_t>();
  in_parallel(static_cast<int64_t>(parts.size()), [&](int64_t task) {
    const auto k = static_cast<size_t>(task);
    int32_t* const at = to + parts[k].part.first_row;
    if (parts[k].is_nothing())
      std::fill_n(at, parts[k].part.array->length, -1);
    else if (parts[k].is_coded())
      put_codes(parts[k], at, column, [&](int64_t code) { return places[k][static_cast<size_t>(code)]; });
    else
      std::copy(places[k].begin(), places[k].end(), at);
  });
  return {std::move(codes), texts.finish()};
}

HostStorageRef allocate(Engine& engine, int64_t bytes) { return std::static_pointer_cast<HostStorage>(engine.device().allocate(bytes)); }

/// The text's offsets moved by `shift`, but for the last one.
void put_offsets(const TextView& view, int64_t shift, int64_t* to, const std::string& column) {
  const auto put = [&](const auto* from) {
    bool grows = true;
    for (int64_t i = 0; i < view.size(); ++i) {
      to[i] = from[i] + shift;
      grows &= from[i] <= from[i + 1];
    }
    return grows;
  };
  if (view.size() == 0) return;
  const void* const starts = view.array.buffers[1];
  const bool grows = view.type.wide ? put(static_cast<const int64_t*>(starts) + view.array.offset)
                                    : put(static_cast<const int32_t*>(starts) + view.array.offset);
  if (!grows) refuse(column);
}

/// The numbers of a text a row, `first` that of the array's first.
void put_numbers(const ArrowArray& array, int64_t first, int32_t* to) {
  if (array.null_count == 0)
    std::iota(to, to + array.length, static_cast<int32_t>(first));
  else
    each_row(array, [&](int64_t i, bool there) { to[i] = there ? static_cast<int32_t>(first + i) : -1; });
}

JoinedTexts join_behind(Engine& engine, const std::vector<Part>& parts, int64_t rows, const std::string& column) {
  std::vector<int64_t> first_text(parts.size() + 1, 0), first_byte(parts.size() + 1, 0);
  for (size_t k = 0; k < parts.size(); ++k) {
    const bool any = !parts[k].is_nothing();
    const int64_t bytes = any ? parts[k].view().total() : 0;
    if (bytes < 0) refuse(column);
    first_text[k + 1] = first_text[k] + (any ? parts[k].view().size() : 0);
    first_byte[k + 1] = first_byte[k] + bytes;
  }
  const int64_t count = first_text.back();
  frame::NewValues codes(engine, DType::i32, rows);
  const HostStorageRef offset_memory = allocate(engine, (count + 1) * 8), byte_memory = allocate(engine, first_byte.back());
  auto* const offsets = static_cast<int64_t*>(offset_memory->write());
  auto* const bytes = static_cast<char*>(byte_memory->write());
  int32_t* const to = codes.as<int32_t>();
  offsets[count] = first_byte.back();
  in_parallel(static_cast<int64_t>(parts.size()), [&](int64_t task) {
    const auto k = static_cast<size_t>(task);
    const Part& p = parts[k];
    int32_t* const at = to + p.part.first_row;
    if (p.is_nothing()) {
      std::fill_n(at, p.part.array->length, -1);
      return;
    }
    const TextView view = p.view();
    if (view.total() > 0) std::memcpy(bytes + first_byte[k], view.bytes + view.offset(0), static_cast<size_t>(view.total()));
    put_offsets(view, first_byte[k] - view.offset(0), offsets + first_text[k], column);
    check_texts(view, column);
    if (p.is_coded())
      put_codes(p, at, column, [&](int64_t code) { return first_text[k] + code; });
    else
      put_numbers(*p.part.array, first_text[k], at);
  });
  return {std::move(codes), std::make_shared<frame::Dictionary>(offset_memory, byte_memory, count, false)};
}

}  // namespace

JoinedTexts join_texts(Engine& engine, const std::vector<TextPart>& all, int64_t rows, bool distinct, const std::string& column) {
  std::vector<Part> parts;
  int64_t texts = 0;
  bool coded = true;
  for (const TextPart& part : all) {
    parts.push_back({part});
    if (parts.back().is_nothing()) continue;
    texts += parts.back().view().size();
    coded &= parts.back().is_coded();
  }
  if (texts > INT32_MAX && !distinct)
    throw Error("NotImplementedError", "column " + in_quotes(column) + " has more than 2147483647 texts, which is not in Gasell",
                "read the rows in parts");
  return distinct || (coded && texts <= std::max(kFewTexts, rows / 4)) ? join_distinct(engine, parts, rows, column)
                                                                       : join_behind(engine, parts, rows, column);
}

TextRows::TextRows(Engine& engine, int64_t rows, int64_t bytes)
    : rows_(rows), codes_(engine, DType::i32, rows), offsets_(allocate(engine, (rows + 1) * 8)), bytes_(allocate(engine, bytes)) {
  static_cast<int64_t*>(offsets_->write())[rows] = bytes;
}

bool TextRows::put(const FieldType& type, const ArrowArray& array, int64_t row, int64_t& at, int64_t end, const std::string& column) {
  if (type.form != Form::texts) return false;
  const TextView view{array, type};
  const int64_t bytes = view.total();
  if (bytes < 0) refuse(column);
  if (bytes > end - at) return false;
  put_offsets(view, at - view.offset(0), static_cast<int64_t*>(offsets_->write()) + row, column);
  check_texts(view, column);
  if (bytes > 0) std::memcpy(static_cast<char*>(bytes_->write()) + at, view.bytes + view.offset(0), static_cast<size_t>(bytes));
  put_numbers(array, row, codes_.as<int32_t>() + row);
  at += bytes;
  return true;
}

JoinedTexts TextRows::finish() { return {std::move(codes_), std::make_shared<frame::Dictionary>(offsets_, bytes_, rows_, false)}; }

}  // namespace gasell::arrow
