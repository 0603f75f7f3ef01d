#include "runtime/io/csv/column_reader.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "lang/diagnostic.h"
#include "runtime/device/device.h"
#include "runtime/io/csv/numbers.h"

namespace gasell::csv {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

HostStorageRef allocate(Engine& engine, int64_t bytes) { return std::static_pointer_cast<HostStorage>(engine.device().allocate(bytes)); }

Kind kind_for(const frame::ColumnType& type) {
  if (type.has_codes()) return Kind::text;
  if (type.is_time()) return Kind::datetime;
  if (type.dtype == DType::boolean) return Kind::boolean;
  if (type.dtype == DType::u64) return Kind::u64;
  return is_float(type.dtype) ? Kind::f64 : Kind::i64;
}

void mark_missing(ColumnPart& part, int64_t block_rows, int64_t row_of_block) {
  if (part.valid.empty()) part.valid.assign(static_cast<size_t>(block_rows), 1);
  part.valid[static_cast<size_t>(row_of_block)] = 0;
  ++part.missing;
}

/// Numbers with more digits, or an exponent.
bool parse_long_decimal(const char* p, const char* end, double& value) {
  if (p == end || static_cast<uint8_t>(p[*p == '-'] - '0') > 9) return false;
  return fast_float::from_chars(p, end, value).ptr == end;
}

template <class From>
void to_floats(void* memory, int64_t rows, const std::vector<uint8_t>& valid) {
  for (int64_t i = 0; i < rows; ++i) {
    char* const at = static_cast<char*>(memory) + i * 8;
    From value;
    std::memcpy(&value, at, 8);
    const double converted = valid.empty() || valid[static_cast<size_t>(i)] ? static_cast<double>(value) : kNaN;
    std::memcpy(at, &converted, 8);
  }
}

}  // namespace

/// The fields of one column in a chunk, from a row on.
struct ColumnReader::Fields {
  const Chunk& chunk;
  int64_t field;
  int64_t from;

  /// f(row, begin, end) until it returns false; the row where it did, or chunk.rows.
  template <class F>
  int64_t each(const F& f) const {
    const bool strip = chunk.carriage && field == chunk.stride - 1;
    const uint32_t* ends = chunk.ends + from * chunk.stride + field;
    for (int64_t row = from; row < chunk.rows; ++row, ends += chunk.stride) {
      const char* const begin = chunk.text + static_cast<uint32_t>(ends[-1] + 1);
      const char* end = chunk.text + ends[0];
      if (strip && end > begin && end[-1] == '\r') --end;
      if (!f(row, begin, end)) return row;
    }
    return chunk.rows;
  }

  /// The text of a field without its quotes.
  std::string_view text(const char* begin, const char* end, std::string& scratch) const {
    if (!chunk.quote || begin == end || *begin != chunk.quote) return {begin, static_cast<size_t>(end - begin)};
    const char* p = begin + 1;
    const auto* close = static_cast<const char*>(std::memchr(p, chunk.quote, static_cast<size_t>(end - p)));
    if (close == end - 1) return {p, static_cast<size_t>(close - p)};
    scratch.clear();
    bool inside = true;
    for (; p < end; ++p) {
      if (!inside || *p != chunk.quote)
        scratch += *p;
      else if (p + 1 < end && p[1] == chunk.quote)
        scratch += *++p;
      else
        inside = false;
    }
    const size_t size = scratch.size();
    scratch.append(16, '\0');  // readable behind the text
    return std::string_view(scratch).substr(0, size);
  }
};

ColumnReader::ColumnReader(Engine& engine, int64_t rows, ValueRules rules, Kind kind, std::optional<WantedType> wanted, DateFormat dates,
                           std::optional<Promise> promised)
    : engine_(engine),
      rows_(rows),
      rules_(std::move(rules)),
      wanted_(std::move(wanted)),
      dates_(std::move(dates)),
      fixed_(wanted_ || promised),
      may_miss_(!promised || wanted_ || promised->missing),
      shows_missing_(promised && promised->missing),
      kind_(wanted_ ? kind_for(wanted_->type) : kind),
      text_memory_(engine) {}

void* ColumnReader::memory(Kind kind) {
  if (kind == Kind::nothing || kind == Kind::integer) return nullptr;
  HostStorageRef& storage = kind == Kind::boolean ? narrow_ : kind == Kind::text ? codes_ : wide_;
  const std::lock_guard lock(mutex_);
  if (!storage) storage = allocate(engine_, rows_ * (kind == Kind::boolean ? 1 : kind == Kind::text ? 4 : 8));
  return storage->write();
}

void ColumnReader::widen(Kind other) {
  Kind now = kind_;
  while (!kind_.compare_exchange_weak(now, wider(now, other)));
}

bool ColumnReader::promote(Kind to, int64_t block_row, int64_t rows, ColumnPart& part) {
  const Kind from = part.kind;
  if (from == to) return true;
  part.kind = to;
  char* const at = static_cast<char*>(memory(to)) + block_row * (to == Kind::boolean ? 1 : to == Kind::text ? 4 : 8);
  if (from == Kind::nothing) {
    switch (to) {
      case Kind::f64: std::fill_n(reinterpret_cast<double*>(at), rows, kNaN); break;
      case Kind::datetime: std::fill_n(reinterpret_cast<int64_t*>(at), rows, frame::kNotATime); break;
      case Kind::text: std::fill_n(reinterpret_cast<int32_t*>(at), rows, -1); break;
      case Kind::boolean: std::memset(at, 0, static_cast<size_t>(rows)); break;
      case Kind::i64:
      case Kind::u64: std::memset(at, 0, static_cast<size_t>(rows) * 8); break;
      default: break;
    }
    return true;
  }
  if (from == Kind::i64 && to == Kind::u64) {
    const auto* values = reinterpret_cast<const int64_t*>(at);
    return std::all_of(values, values + rows, [](int64_t v) { return v >= 0; });
  }
  if ((from == Kind::i64 || from == Kind::u64) && to == Kind::f64) {
    if (from == Kind::i64)
      to_floats<int64_t>(at, rows, part.valid);
    else
      to_floats<uint64_t>(at, rows, part.valid);
    part.valid.clear();
    return true;
  }
  return false;
}

int64_t ColumnReader::read_as(Kind kind, const Fields& fields, int64_t block_row, int64_t block_rows, int64_t row, ColumnPart& part) {
  std::string scratch;
  const MissingTexts& missing = rules_.missing;
  const int64_t in_block = row - block_row;
  const bool plain = rules_.plain_numbers();
  // Where numbers stand for missing values the texts come first.
  const bool missing_numbers = !missing.numbers().empty();
  const auto is_missing_number = [&](double value) {
    return std::find(missing.numbers().begin(), missing.numbers().end(), value) != missing.numbers().end();
  };

  switch (kind) {
    case Kind::nothing:
      return fields.each([&](int64_t r, const char* p, const char* e) {
        if (!missing.contains(fields.text(p, e, scratch))) return false;
        mark_missing(part, block_rows, in_block + r);
        return true;
      });

    case Kind::boolean: {
      bool* const to = static_cast<bool*>(memory(kind)) + row;
      return fields.each([&](int64_t r, const char* p, const char* e) {
        const std::string_view text = fields.text(p, e, scratch);
        to[r] = false;
        if (missing.contains(text)) {
          if (!may_miss_) return false;
          mark_missing(part, block_rows, in_block + r);
          return true;
        }
        const auto value = parse_boolean_text(text, rules_);
        if (value) to[r] = *value;
        return value.has_value();
      });
    }

    case Kind::i64:
    case Kind::u64:
    case Kind::integer: {
      auto* const to = kind == Kind::integer ? nullptr : static_cast<int64_t*>(memory(kind)) + row;
      return fields.each([&](int64_t r, const char* p, const char* e) {
        int64_t value;
        if (!missing_numbers && parse_integer(p, e, value) && (value >= 0 || kind != Kind::u64)) [[likely]] {
          if (to) to[r] = value;
          return true;
        }
        const std::string_view text = fields.text(p, e, scratch);
        if (missing.contains(text)) {
          if (!may_miss_) return false;
          if (to) to[r] = 0;
          mark_missing(part, block_rows, in_block + r);
          return true;
        }
        const auto integer = parse_integer_text(text, rules_);
        if (!integer) return false;
        if (!to) return true;
        const uint64_t most = kind == Kind::u64 ? UINT64_MAX : static_cast<uint64_t>(INT64_MAX) + integer->negative;
        if (!integer->fits || integer->magnitude > most || (kind == Kind::u64 && integer->negative && integer->magnitude)) return false;
        to[r] = static_cast<int64_t>(integer->negative ? -integer->magnitude : integer->magnitude);
        return true;
      });
    }

    case Kind::f64: {
      double* const to = static_cast<double*>(memory(kind)) + row;
      return fields.each([&](int64_t r, const char* p, const char* e) {
        if (!missing_numbers && plain && (parse_decimal(p, e, to[r]) || parse_long_decimal(p, e, to[r]))) [[likely]]
          return true;
        const std::string_view text = fields.text(p, e, scratch);
        if (missing.contains(text)) {
          to[r] = kNaN;
          ++part.missing;
          return true;
        }
        const auto value = parse_float_text(text, rules_);
        if (!value) return false;
        to[r] = missing_numbers && is_missing_number(*value) ? kNaN : *value;
        return true;
      });
    }

    case Kind::datetime: {
      auto* const to = static_cast<int64_t*>(memory(kind)) + row;
      return fields.each([&](int64_t r, const char* p, const char* e) {
        const std::string_view text = fields.text(p, e, scratch);
        if (const auto time = parse_date(text, dates_)) {
          to[r] = *time;
          return true;
        }
        to[r] = frame::kNotATime;
        ++part.missing;
        return missing.contains(text) || text.empty() || text == "NaT";
      });
    }

    case Kind::text: {
      auto* const to = static_cast<int32_t*>(memory(kind)) + row;
      TextPart& texts = *part.texts;
      return fields.each([&](int64_t r, const char* p, const char* e) {
        const std::string_view text = fields.text(p, e, scratch);
        if (!missing.contains(text)) {
          to[r] = texts.add(text);
          return true;
        }
        to[r] = -1;
        texts.skip();
        ++part.missing;
        return true;
      });
    }
  }
  return fields.chunk.rows;
}

void ColumnReader::read(const Chunk& chunk, int64_t field, int64_t block_row, int64_t block_bytes, int64_t block_rows, int64_t row,
                        ColumnPart& part) {
  int64_t from = 0;
  while (!part.left && from < chunk.rows) {
    const Kind kind = kind_;
    const int64_t done = row + from - block_row;
    if (!promote(kind, block_row, done, part)) {
      part.left = true;
      return;
    }
    if (kind == Kind::text && !part.texts) {
      part.texts = std::make_unique<TextPart>(block_bytes + 16, plain_texts_);
      for (int64_t i = 0; i < done; ++i) part.texts->skip();
    }
    const Fields fields{chunk, field, from};
    from = read_as(kind, fields, block_row, block_rows, row, part);
    if (from < chunk.rows) {
      std::string scratch, text;
      Fields{chunk, field, from}.each([&](int64_t, const char* p, const char* e) {
        text = fields.text(p, e, scratch);
        return false;
      });
      if (fixed_) throw WrongValue{row + from - block_row, text};
      widen(kind_of(text, rules_));
    }
  }
  if (part.left || part.kind != Kind::text) return;
  const int64_t done = row + chunk.rows - block_row;
  if (part.texts->should_be_plain(done)) {
    part.texts->make_plain(static_cast<const int32_t*>(memory(Kind::text)) + block_row, done);
    plain_texts_ = true;
  }
}

bool ColumnReader::settle(int64_t block_row, int64_t rows, ColumnPart& part) {
  const Kind kind = kind_;
  if (!part.left && promote(kind, block_row, rows, part)) return true;
  part = ColumnPart{};
  return false;
}

void ColumnReader::restart() {
  if (kind_ == Kind::integer) kind_ = Kind::text;
}

}  // namespace gasell::csv
