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
  bool fits = true;
  for (int64_t i = 0; i < count; ++i) {
    int64_t ns;
    const bool there = !bits || is_set(bits, offset + i);
    fits &= !__builtin_mul_overflow(static_cast<int64_t>(from[i]), scale, &ns) || !there;
    to[i] = there ? ns : frame::kNotATime;
  }
  if (!fits) refuse_times(column);
}

template <class T>
void put_nan(T* to, const uint8_t* bits, int64_t offset, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (!is_set(bits, offset + i)) to[i] = std::numeric_limits<T>::quiet_NaN();
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
    return f;
  }
  if (format == "b") {
    f.type = frame::number_type(DType::boolean);
    f.form = Form::bits;
  } else if (format == "u" || format == "U") {
    f.type = frame::text_type();
    f.form = Form::texts;
    f.wide = format == "U";
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
    const auto* from = static_cast<const uint8_t*>(array.buffers[1]);
    bool* to = static_cast<bool*>(values) + row;
    for (int64_t i = 0; i < count; ++i) to[i] = is_set(from, offset + i) && (!bits || is_set(bits, offset + i));
  } else {
    std::memcpy(static_cast<char*>(values) + row * f.width, static_cast<const char*>(array.buffers[1]) + offset * f.width,
                static_cast<size_t>(count * f.width));
    if (bits) {
      if (f.type.dtype == DType::f64) return put_nan(static_cast<double*>(values) + row, bits, offset, count);
      if (f.type.dtype == DType::f32) return put_nan(static_cast<float*>(values) + row, bits, offset, count);
      for (int64_t i = 0; i < count; ++i)
        if (!is_set(bits, offset + i)) std::memset(static_cast<char*>(values) + (row + i) * f.width, 0, static_cast<size_t>(f.width));
    }
  }
  if (!valid) {
    if (bits && array.null_count != 0)
      for (int64_t i = 0; i < count; ++i)
        if (!is_set(bits, offset + i))
          throw Error("ValueError", "column " + in_quotes(column) + " has missing values where the file's statistics say that it has none");
    return;
  }
  if (bits)
    for (int64_t i = 0; i < count; ++i) valid[row + i] = is_set(bits, offset + i);
  else
    std::fill_n(valid + row, count, true);
}

}  // namespace gasell::arrow
