#include "runtime/io/arrow/decode.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "lang/diagnostic.h"
#include "runtime/io/os_error.h"

namespace gasell::arrow {
namespace {

using Form = FieldType::Form;

std::optional<int64_t> nanoseconds_of(char unit) {
  switch (unit) {
    case 's': return 1'000'000'000;
    case 'm': return 1'000'000;
    case 'u': return 1'000;
    case 'n': return 1;
    default: return {};
  }
}

std::optional<DType> number_of(char letter) {
  switch (letter) {
    case 'c': return DType::i8;
    case 'C': return DType::u8;
    case 's': return DType::i16;
    case 'S': return DType::u16;
    case 'i': return DType::i32;
    case 'I': return DType::u32;
    case 'l': return DType::i64;
    case 'L': return DType::u64;
    case 'f': return DType::f32;
    case 'g': return DType::f64;
    default: return {};
  }
}

bool is_set(const uint8_t* bits, int64_t i) { return bits[i >> 3] >> (i & 7) & 1; }

const uint8_t* null_bits(const ArrowArray& array) {
  return array.null_count == 0 || array.n_buffers == 0 ? nullptr : static_cast<const uint8_t*>(array.buffers[0]);
}

template <class T>
const T* values_of(const ArrowArray& array) {
  return static_cast<const T*>(array.buffers[1]) + array.offset;
}

[[noreturn]] void refuse_times(const std::string& column) {
  throw Error("OutOfBoundsDatetime", "column " + in_quotes(column) + " has times that nanoseconds cannot hold",
              "frames count nanoseconds in 64 bits: 1677-09-21 to 2262-04-11");
}

template <class T>
void put_times(const T* from, const uint8_t* bits, int64_t offset, int64_t scale, int64_t* to, int64_t count, const std::string& column) {
  if (!bits && scale == 1 && sizeof(T) == 8) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
    return;
  }
  bool fits = true;
  for (int64_t i = 0; i < count; ++i) {
    int64_t ns;
    const bool there = !bits || is_set(bits, offset + i);
    fits &= !__builtin_mul_overflow(static_cast<int64_t>(from[i]), scale, &ns) || !there;
    to[i] = there ? ns : frame::kNotATime;
  }
  if (!fits) refuse_times(column);
}

/// 64 bits from bit `at` on, of which `count` are there; the others are ones.
uint64_t word_at(const uint8_t* bits, int64_t at, int64_t count) {
  uint64_t word = 0;
  const int shift = static_cast<int>(at & 7);
  const int64_t bytes = std::min<int64_t>(8, (shift + count + 7) / 8);
  std::memcpy(&word, bits + (at >> 3), static_cast<size_t>(bytes));
  word >>= shift;
  if (shift + count > 64) word |= static_cast<uint64_t>(bits[(at >> 3) + 8]) << (64 - shift);
  return count < 64 ? word | ~uint64_t{0} << count : word;
}

/// f(first, count, word) for each 64 rows.
template <class F>
void each_word(const uint8_t* bits, int64_t offset, int64_t count, const F& f) {
  for (int64_t i = 0; i < count; i += 64) {
    const int64_t n = std::min<int64_t>(64, count - i);
    f(i, n, word_at(bits, offset + i, n));
  }
}

/// The values, with `missing` where there is none.
template <class T>
void put_numbers(const T* from, const uint8_t* bits, int64_t offset, T* to, int64_t count, T missing) {
  each_word(bits, offset, count, [&](int64_t i, int64_t n, uint64_t word) {
    std::memcpy(to + i, from + i, static_cast<size_t>(n) * sizeof(T));
    if (~word)
      for (int64_t k = 0; k < n; ++k) to[i + k] = word >> k & 1 ? to[i + k] : missing;
  });
}

template <class T>
void put_numbers_as(const ArrowArray& array, const uint8_t* bits, void* to, int64_t row, T missing = {}) {
  put_numbers(values_of<T>(array), bits, array.offset, static_cast<T*>(to) + row, array.length, missing);
}

void put_flags(const uint8_t* bits, int64_t offset, bool* to, int64_t count) {
  each_word(bits, offset, count, [&](int64_t i, int64_t n, uint64_t word) {
    for (int64_t k = 0; k < n; ++k) to[i + k] = word >> k & 1;
  });
}

}  // namespace

std::optional<FieldType> field_type(const ArrowSchema& schema) {
  const std::string_view format = schema.format;
  FieldType f;
  if (schema.dictionary) {
    const auto values = field_type(*schema.dictionary);
    const auto index = number_of(format[0]);
    if (!values || !index || values->form != Form::texts) return {};
    f.type = {frame::Logical::category, DType::i32};
    f.type.ordered = schema.flags & ARROW_FLAG_DICTIONARY_ORDERED;
    f.form = Form::coded;
    f.width = size_of(*index);
    f.wide = values->wide;
    f.binary = values->binary;
    return f;
  }
  if (format == "b") {
    f.type = frame::number_type(DType::boolean);
    f.form = Form::bits;
  } else if (format == "u" || format == "U" || format == "z" || format == "Z") {
    f.type = frame::text_type();
    f.form = Form::texts;
    f.wide = format == "U" || format == "Z";
    f.binary = format == "z" || format == "Z";
  } else if (format == "n") {
    f.type = frame::text_type();
    f.form = Form::nothing;
  } else if (format == "tdD" || format == "tdm") {
    f.type = frame::datetime_type();
    f.form = format == "tdD" ? Form::days : Form::plain;
    f.width = format == "tdD" ? 4 : 8;
    f.scale = format == "tdD" ? int64_t{86'400'000'000'000} : int64_t{1'000'000};
  } else if (format.starts_with("ts") && format.size() >= 4) {
    const auto scale = nanoseconds_of(format[2]);
    if (!scale) return {};
    f.type = frame::datetime_type(std::string(format.substr(4)));
    f.width = 8;
    f.scale = *scale;
  } else if (format.starts_with("tD") && format.size() == 3) {
    const auto scale = nanoseconds_of(format[2]);
    if (!scale) return {};
    f.type = frame::timedelta_type();
    f.width = 8;
    f.scale = *scale;
  } else if (format.size() == 1 && number_of(format[0])) {
    f.type = frame::number_type(*number_of(format[0]));
    f.width = size_of(f.type.dtype);
  } else {
    return {};
  }
  return f;
}

bool lies_as_ours(const FieldType& type, const ArrowArray& array) {
  const auto width = static_cast<uintptr_t>(size_of(type.type.dtype));
  if (type.form != Form::plain || static_cast<uintptr_t>(type.width) != width || type.scale != 1 || array.null_count != 0 ||
      array.length == 0 || array.n_buffers < 2)
    return false;
  return reinterpret_cast<uintptr_t>(array.buffers[1]) % width == 0;
}

int64_t added_rows(int64_t rows, int64_t more, const std::string& shown) {
  constexpr int64_t kMostRows = int64_t{1} << 56;
  if (more < 0 || more > kMostRows - rows)
    throw Error("ValueError", in_quotes(shown) + " is damaged: it says that it has " + std::to_string(more) + " rows", {},
                Blame::environment);
  return rows + more;
}

std::string shown_type(const ArrowSchema& schema) {
  const std::string_view format = schema.format;
  if (schema.dictionary) return "dictionary of " + shown_type(*schema.dictionary);
  if (format.starts_with("d:")) return "decimal(" + std::string(format.substr(2)) + ")";
  if (format == "+s") return "struct";
  if (format == "+m") return "map";
  if (format.starts_with("+u")) return "union";
  if (format.starts_with("+")) return "list";
  if (format == "z" || format == "Z" || format == "vz" || format.starts_with("w:")) return "binary";
  if (format == "e") return "float16";
  if (format.starts_with("tt")) return "time of day";
  if (format.starts_with("ti")) return "interval";
  if (format == "vu") return "string view";
  return std::string(format);
}

std::string metadata_value(const ArrowSchema& schema, std::string_view key) {
  if (!schema.metadata) return {};
  const char* at = schema.metadata;
  const auto number = [&] {
    int32_t n;
    std::memcpy(&n, at, sizeof n);
    at += sizeof n;
    return n;
  };
  const auto text = [&] {
    const int32_t size = number();
    const std::string_view t(at, static_cast<size_t>(size));
    at += size;
    return t;
  };
  for (int32_t pairs = number(); pairs > 0; --pairs) {
    const std::string_view k = text(), value = text();
    if (k == key) return std::string(value);
  }
  return {};
}

void put_values(const FieldType& f, const ArrowArray& array, void* values, bool* valid, int64_t row, const std::string& column) {
  const int64_t count = array.length, offset = array.offset;
  const uint8_t* const bits = null_bits(array);
  if (f.form == Form::days) {
    put_times(values_of<int32_t>(array), bits, offset, f.scale, static_cast<int64_t*>(values) + row, count, column);
    return;
  }
  if (f.type.is_time()) {
    put_times(values_of<int64_t>(array), bits, offset, f.scale, static_cast<int64_t*>(values) + row, count, column);
    return;
  }
  if (f.form == Form::bits) {
    bool* const to = static_cast<bool*>(values) + row;
    put_flags(static_cast<const uint8_t*>(array.buffers[1]), offset, to, count);
    if (bits)
      for (int64_t i = 0; i < count; ++i) to[i] &= is_set(bits, offset + i);
  } else if (!bits) {
    std::memcpy(static_cast<char*>(values) + row * f.width, static_cast<const char*>(array.buffers[1]) + offset * f.width,
                static_cast<size_t>(count * f.width));
  } else {
    if (f.type.dtype == DType::f64) return put_numbers_as(array, bits, values, row, std::numeric_limits<double>::quiet_NaN());
    if (f.type.dtype == DType::f32) return put_numbers_as(array, bits, values, row, std::numeric_limits<float>::quiet_NaN());
    switch (f.width) {
      case 1: put_numbers_as<uint8_t>(array, bits, values, row); break;
      case 2: put_numbers_as<uint16_t>(array, bits, values, row); break;
      case 4: put_numbers_as<uint32_t>(array, bits, values, row); break;
      default: put_numbers_as<uint64_t>(array, bits, values, row); break;
    }
  }
  if (valid) {
    if (bits)
      put_flags(bits, offset, valid + row, count);
    else
      std::fill_n(valid + row, count, true);
  } else if (bits) {
    uint64_t all = ~uint64_t{0};
    each_word(bits, offset, count, [&](int64_t, int64_t, uint64_t word) { all &= word; });
    if (~all)
      throw Error("ValueError", "column " + in_quotes(column) + " has missing values where the file's statistics say that it has none");
  }
}

}  // namespace gasell::arrow
