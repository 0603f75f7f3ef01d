#include "runtime/io/arrow/encode.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "lang/diagnostic.h"
#include "runtime/frame/dictionary.h"
#include "runtime/io/os_error.h"

namespace gasell::arrow {

/// A column read, and what its values are written as.
struct Encoder::Prepared {
  frame::Column column;
  frame::ColumnData data;
  std::string format;
  bool as_codes = false;  // texts over a dictionary that is worth writing
  std::shared_ptr<const Prepared> categories;
};

namespace {

using frame::Logical;

/// Texts go as codes where there are this many times fewer different ones than rows.
constexpr int64_t kRowsAText = 4;

Error refused(const std::string& type) {
  return Error("NotImplementedError", "files of columns of " + type + " are not in Gasell", "astype(str) makes texts of them");
}

std::string format_of(const frame::Column& column, const std::string& name) {
  const frame::ColumnType& type = column.type;
  switch (type.logical) {
    case Logical::text: return type.is_interval() ? throw refused(type.objects) : "U";
    case Logical::category: return column.categories->size() <= 127 ? "c" : column.categories->size() <= 32767 ? "s" : "i";
    case Logical::datetime: return "tsn:" + type.zone;
    case Logical::timedelta: return "tDn";
    case Logical::period: throw refused("period[" + type.objects + "]");
    case Logical::number: break;
  }
  switch (type.dtype) {
    case DType::boolean: return "b";
    case DType::i8: return "c";
    case DType::i16: return "s";
    case DType::i32: return "i";
    case DType::i64: return "l";
    case DType::u8: return "C";
    case DType::u16: return "S";
    case DType::u32: return "I";
    case DType::u64: return "L";
    case DType::f32: return "f";
    case DType::f64: return "g";
    default: throw Error("NotImplementedError", "column " + in_quotes(name) + " is complex, which the file's format has not");
  }
}

// ---- Arrow's structs over memory of ours ----

struct SchemaMemory {
  std::string format, name, metadata;
  std::vector<Schema> children;
  std::vector<ArrowSchema*> child_pointers;
  Schema dictionary;
};
Schema make_schema(std::unique_ptr<SchemaMemory> memory, int64_t flags) {
  Schema schema;
  for (Schema& child : memory->children) memory->child_pointers.push_back(child.get());
  *schema = ArrowSchema{memory->format.c_str(),
                        memory->name.c_str(),
                        memory->metadata.empty() ? nullptr : memory->metadata.data(),
                        flags,
                        static_cast<int64_t>(memory->children.size()),
                        memory->child_pointers.data(),
                        memory->dictionary ? memory->dictionary.get() : nullptr,
                        [](ArrowSchema* s) {
                          delete static_cast<SchemaMemory*>(s->private_data);
                          s->release = nullptr;
                        },
                        memory.get()};
  memory.release();
  return schema;
}

struct ArrayMemory {
  std::vector<const void*> buffers;
  std::vector<std::vector<char>> own;
  std::vector<std::shared_ptr<const void>> lent;
  std::vector<ArrayData> children;
  std::vector<ArrowArray*> child_pointers;
  ArrayData dictionary;

  template <class T>
  T* add(int64_t count) {
    own.emplace_back(static_cast<size_t>(std::max<int64_t>(count, 1)) * sizeof(T));
    buffers.push_back(own.back().data());
    return reinterpret_cast<T*>(own.back().data());
  }
};
ArrayData make_array(std::unique_ptr<ArrayMemory> memory, int64_t length, int64_t nulls) {
  ArrayData array;
  for (ArrayData& child : memory->children) memory->child_pointers.push_back(child.get());
  *array = ArrowArray{length,
                      nulls,
                      0,
                      static_cast<int64_t>(memory->buffers.size()),
                      static_cast<int64_t>(memory->children.size()),
                      memory->buffers.data(),
                      memory->child_pointers.data(),
                      memory->dictionary ? memory->dictionary.get() : nullptr,
                      [](ArrowArray* a) {
                        delete static_cast<ArrayMemory*>(a->private_data);
                        a->release = nullptr;
                      },
                      memory.get()};
  memory.release();
  return array;
}

/// One bit a row where there(i); the rows where it is false are counted.
template <class F>
int64_t put_bits(uint8_t* bits, int64_t count, const F& there) {
  int64_t missing = 0;
  for (int64_t i = 0; i < count; i += 8) {
    unsigned byte = 0;
    const int64_t n = std::min<int64_t>(8, count - i);
    for (int64_t k = 0; k < n; ++k) {
      const bool is = there(i + k);
      byte |= static_cast<unsigned>(is) << k;
      missing += !is;
    }
    bits[i >> 3] = static_cast<uint8_t>(byte);
  }
  return missing;
}

/// The buffer of bits of what is there; none where all is.
template <class F>
int64_t add_validity(ArrayMemory& memory, int64_t count, const F& there) {
  uint8_t* const bits = memory.add<uint8_t>((count + 7) / 8);
  const int64_t missing = put_bits(bits, count, there);
  if (missing == 0) memory.buffers.back() = nullptr;
  return missing;
}

ArrayData dictionary_of(const frame::DictionaryRef& texts) {
  auto memory = std::make_unique<ArrayMemory>();
  memory->buffers = {nullptr, texts->offsets(), texts->bytes()};
  memory->lent.push_back(texts);
  return make_array(std::move(memory), texts->size(), 0);
}

ArrayData dense_texts(const frame::Dictionary& texts, const frame::DictionaryRef& keep, const int32_t* codes, int64_t count) {
  auto memory = std::make_unique<ArrayMemory>();
  const int64_t missing = add_validity(*memory, count, [&](int64_t i) { return codes[i] >= 0; });
  bool in_order = missing == 0 && count > 0;
  for (int64_t i = 1; i < count && in_order; ++i) in_order = codes[i] == codes[i - 1] + 1;
  if (in_order) {  // as they lie
    memory->buffers.push_back(texts.offsets() + codes[0]);
    memory->buffers.push_back(texts.bytes());
    memory->lent.push_back(keep);
    return make_array(std::move(memory), count, 0);
  }
  int64_t* const offsets = memory->add<int64_t>(count + 1);
  offsets[0] = 0;
  for (int64_t i = 0; i < count; ++i) offsets[i + 1] = offsets[i] + (codes[i] < 0 ? 0 : static_cast<int64_t>(texts[codes[i]].size()));
  char* const bytes = memory->add<char>(offsets[count]);
  for (int64_t i = 0; i < count; ++i)
    if (codes[i] >= 0) {
      const std::string_view text = texts[codes[i]];
      std::memcpy(bytes + offsets[i], text.data(), text.size());
    }
  return make_array(std::move(memory), count, missing);
}

template <class T>
int64_t put_codes(ArrayMemory& memory, const int32_t* codes, int64_t count) {
  const int64_t missing = add_validity(memory, count, [&](int64_t i) { return codes[i] >= 0; });
  T* const to = memory.add<T>(count);
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(std::max(codes[i], 0));
  return missing;
}

ArrayData numbers(const frame::Column& column, const frame::ColumnData& data, int64_t begin, int64_t count) {
  auto memory = std::make_unique<ArrayMemory>();
  const frame::ColumnType& type = column.type;
  const bool* const valid = data.valid ? data.valid + begin : nullptr;
  int64_t missing = 0;
  const auto with = [&](const auto& there) {
    missing = valid ? add_validity(*memory, count, [&](int64_t i) { return valid[i] && there(i); }) : add_validity(*memory, count, there);
  };
  if (type.is_time())
    with([at = data.as<int64_t>() + begin](int64_t i) { return at[i] != frame::kNotATime; });
  else if (type.dtype == DType::f64)
    with([at = data.as<double>() + begin](int64_t i) { return at[i] == at[i]; });
  else if (type.dtype == DType::f32)
    with([at = data.as<float>() + begin](int64_t i) { return at[i] == at[i]; });
  else if (valid)
    with([](int64_t) { return true; });
  else
    memory->buffers.push_back(nullptr);
  if (type.dtype == DType::boolean) {
    const bool* const at = data.as<bool>() + begin;
    put_bits(memory->add<uint8_t>((count + 7) / 8), count, [&](int64_t i) { return at[i]; });
  } else {
    memory->buffers.push_back(data.as<char>() + begin * size_of(type.dtype));
    memory->lent.push_back(data.keep_values);
  }
  return make_array(std::move(memory), count, missing);
}

}  // namespace

Encoder::Encoder(Engine& engine, std::vector<std::string> names, std::vector<frame::Column> columns, bool dense)
    : names_(std::move(names)), columns_(std::move(columns)), dense_(dense) {
  std::vector<frame::Column*> all;
  for (frame::Column& c : columns_) all.push_back(&c);
  frame::force(engine, all);
  const auto prepare = [&](frame::Column& column, const std::string& name, bool as_codes) {
    auto prepared = std::make_shared<Prepared>();
    prepared->data = frame::read(engine, column);
    prepared->column = column;
    prepared->format = format_of(column, name);
    prepared->as_codes = as_codes;
    return prepared;
  };
  for (size_t k = 0; k < columns_.size(); ++k) {
    frame::Column& column = columns_[k];
    const bool codes = !dense && column.type.logical == Logical::text && column.dictionary->is_distinct() &&
                       column.dictionary->size() <= column.size() / kRowsAText;
    const auto prepared = prepare(column, names_[k], codes);
    if (column.type.logical == Logical::category) {
      frame::Column categories = *column.categories;
      prepared->categories = prepare(categories, names_[k], false);
    }
    prepared_.push_back(prepared);
  }
}

namespace {

Schema simple_schema(const std::string& format, const std::string& name, Schema dictionary = {}, bool ordered = false) {
  auto memory = std::make_unique<SchemaMemory>();
  memory->format = format;
  memory->name = name;
  memory->dictionary = std::move(dictionary);
  return make_schema(std::move(memory), ARROW_FLAG_NULLABLE | (ordered ? ARROW_FLAG_DICTIONARY_ORDERED : 0));
}

}  // namespace

Schema Encoder::schema(const std::string& note) const {
  auto memory = std::make_unique<SchemaMemory>();
  memory->format = "+s";
  const auto put = [&](int32_t n) { memory->metadata.append(reinterpret_cast<const char*>(&n), sizeof n); };
  const auto put_text = [&](const std::string& text) {
    put(static_cast<int32_t>(text.size()));
    memory->metadata += text;
  };
  const auto shown = [&](const std::string& type) { return type == "U" && !dense_ ? "u" : type; };
  put(1);
  put_text("pandas");
  put_text(note);
  for (size_t k = 0; k < columns_.size(); ++k) {
    const Prepared& p = *prepared_[k];
    memory->children.push_back(
        p.categories ? simple_schema(p.format, names_[k], simple_schema(shown(p.categories->format), ""), p.column.type.ordered)
                     : simple_schema(shown(p.format), names_[k]));
  }
  return make_schema(std::move(memory), 0);
}

Encoder::Typed Encoder::part(size_t column, int64_t begin, int64_t end) const {
  const Prepared& p = *prepared_[column];
  const int64_t count = end - begin;
  const std::string& name = names_[column];
  if (p.column.type.logical == Logical::text) {
    const int32_t* const codes = p.data.as<int32_t>() + begin;
    if (!p.as_codes) return {dense_texts(*p.column.dictionary, p.column.dictionary, codes, count), simple_schema("U", name)};
    auto memory = std::make_unique<ArrayMemory>();
    const int64_t missing = put_codes<int32_t>(*memory, codes, count);
    memory->dictionary = dictionary_of(p.column.dictionary);
    return {make_array(std::move(memory), count, missing), simple_schema("i", name, simple_schema("U", ""))};
  }
  if (p.categories) {
    const int32_t* const codes = p.data.as<int32_t>() + begin;
    const Prepared& c = *p.categories;
    auto memory = std::make_unique<ArrayMemory>();
    const int64_t missing = p.format == "c"   ? put_codes<int8_t>(*memory, codes, count)
                            : p.format == "s" ? put_codes<int16_t>(*memory, codes, count)
                                              : put_codes<int32_t>(*memory, codes, count);
    memory->dictionary = c.column.type.logical == Logical::text
                             ? dense_texts(*c.column.dictionary, c.column.dictionary, c.data.as<int32_t>(), c.data.count)
                             : numbers(c.column, c.data, 0, c.data.count);
    return {make_array(std::move(memory), count, missing),
            simple_schema(p.format, name, simple_schema(c.format, ""), p.column.type.ordered)};
  }
  return {numbers(p.column, p.data, begin, count), simple_schema(p.format, name)};
}

ArrayData Encoder::rows(int64_t begin, int64_t end) const {
  auto memory = std::make_unique<ArrayMemory>();
  memory->buffers = {nullptr};
  for (size_t k = 0; k < columns_.size(); ++k) memory->children.push_back(std::move(part(k, begin, end).array));
  return make_array(std::move(memory), end - begin, 0);
}

}  // namespace gasell::arrow
