#include "runtime/io/csv/column_reader.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "lang/diagnostic.h"
#include "runtime/device/device.h"
#include "runtime/device/workers.h"
#include "runtime/frame/dictionary.h"
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

/// Integers and floats of 64 bits as a narrower type. Throws where one does not fit.
template <class To, class From>
void narrow(const From* from, const bool* valid, To* to, int64_t rows, const std::string& shown) {
  constexpr int64_t kRows = 1 << 16;
  in_parallel((rows + kRows - 1) / kRows, [&](int64_t task) {
    for (int64_t i = task * kRows; i < std::min(rows, (task + 1) * kRows); ++i) {
      to[i] = static_cast<To>(from[i]);
      if constexpr (std::is_integral_v<To>)
        if (static_cast<From>(to[i]) != from[i] || (to[i] < 0) != (from[i] < 0)) {
          if (valid && !valid[i]) continue;
          throw Error("OverflowError", "Python integer " + std::to_string(from[i]) + " out of bounds for " + shown,
                      "dtype= of a wider type holds it");
        }
    }
  });
}

template <class From>
frame::NewValues narrowed(Engine& engine, const From* from, const bool* valid, DType to, int64_t rows, const std::string& shown) {
  frame::NewValues values(engine, to, rows);
  switch (to) {
    case DType::i8: narrow(from, valid, values.as<int8_t>(), rows, shown); break;
    case DType::i16: narrow(from, valid, values.as<int16_t>(), rows, shown); break;
    case DType::i32: narrow(from, valid, values.as<int32_t>(), rows, shown); break;
    case DType::u8: narrow(from, valid, values.as<uint8_t>(), rows, shown); break;
    case DType::u16: narrow(from, valid, values.as<uint16_t>(), rows, shown); break;
    case DType::u32: narrow(from, valid, values.as<uint32_t>(), rows, shown); break;
    case DType::f32: narrow(from, valid, values.as<float>(), rows, shown); break;
    default: throw Error("TypeError", "data type '" + shown + "' not understood", "columns hold bool, int8 … uint64, float32 and float64");
  }
  return values;
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
      kind_(wanted_ ? kind_for(wanted_->type) : kind) {}

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

frame::Column ColumnReader::finish(std::vector<ColumnPart*> parts, const std::vector<int64_t>& first_rows) {
  const Kind kind = kind_;
  const auto node = [&](const HostStorageRef& storage, DType dtype) { return graph::buffer(storage, dtype, {rows_}, {1}, 0); };
  if (kind == Kind::nothing) {
    frame::NewValues values(engine_, DType::f64, rows_);
    std::fill_n(values.as<double>(), rows_, kNaN);
    return frame::number_column(values.node());
  }
  memory(kind);  // where there are no rows
  if (kind == Kind::text) return finish_texts(parts, first_rows);
  if (kind == Kind::datetime) return {dates_.zone ? frame::datetime_type("UTC") : frame::datetime_type(), node(wide_, DType::i64)};
  const DType dtype = kind == Kind::boolean ? DType::boolean : kind == Kind::i64 ? DType::i64 : kind == Kind::u64 ? DType::u64 : DType::f64;
  frame::Column column = frame::number_column(node(kind == Kind::boolean ? narrow_ : wide_, dtype));
  const bool any_missing = std::any_of(parts.begin(), parts.end(), [](const ColumnPart* p) { return p->missing > 0; });
  bool* valid = nullptr;
  std::optional<frame::NewValues> validity;
  const bool nullable = wanted_ && wanted_->type.nullable;
  if ((any_missing || shows_missing_) && (kind != Kind::f64 || nullable)) {
    validity.emplace(engine_, DType::boolean, rows_);
    valid = validity->as<bool>();
    for (size_t k = 0; k < parts.size(); ++k) {
      const int64_t rows = (k + 1 < parts.size() ? first_rows[k + 1] : rows_) - first_rows[k];
      if (kind == Kind::f64) {
        const double* values = static_cast<const double*>(wide_->read()) + first_rows[k];
        for (int64_t i = 0; i < rows; ++i) valid[first_rows[k] + i] = !std::isnan(values[i]);
      } else if (parts[k]->missing == 0) {
        std::memset(valid + first_rows[k], 1, static_cast<size_t>(rows));
      } else if (parts[k]->valid.empty()) {
        std::memset(valid + first_rows[k], 0, static_cast<size_t>(rows));
      } else {
        std::memcpy(valid + first_rows[k], parts[k]->valid.data(), static_cast<size_t>(rows));
      }
    }
    column.validity = validity->node();
  }
  if (!wanted_) return column;
  if (valid && kind != Kind::f64 && !nullable)
    throw Error("ValueError", kind == Kind::boolean ? "Bool column has NA values" : "Integer column has NA values",
                kind == Kind::boolean ? "dtype 'boolean' holds them" : "dtype 'Int64' holds them");
  column.type = wanted_->type;
  const DType to = wanted_->type.dtype;
  if (to == dtype) return column;
  if (kind == Kind::f64) {
    column.values = narrowed(engine_, static_cast<const double*>(wide_->read()), valid, to, rows_, wanted_->shown).node();
  } else {
    column.values = narrowed(engine_, static_cast<const int64_t*>(wide_->read()), valid, to, rows_, wanted_->shown).node();
  }
  return column;
}

frame::Column ColumnReader::finish_texts(const std::vector<ColumnPart*>& parts, const std::vector<int64_t>& first_rows) {
  auto* const codes = static_cast<int32_t*>(codes_->write());
  const auto rows_of = [&](size_t k) { return (k + 1 < parts.size() ? first_rows[k + 1] : rows_) - first_rows[k]; };
  const auto text_bytes = [&](size_t k) -> int64_t {
    const ColumnPart& part = *parts[k];
    if (!part.texts) return 0;
    if (part.texts->is_plain()) return part.texts->bytes();
    int64_t bytes = 0;
    for (int64_t i = 0; i < rows_of(k); ++i)
      if (const int32_t code = codes[first_rows[k] + i]; code >= 0) bytes += static_cast<int64_t>((*part.texts)[code].size());
    return bytes;
  };
  const bool category = wanted_ && wanted_->type.logical == frame::Logical::category;
  frame::Column column{frame::text_type(), nullptr};
  if (plain_texts_ && !category) {
    std::vector<int64_t> begins(parts.size() + 1, 0);
    in_parallel(static_cast<int64_t>(parts.size()),
                [&](int64_t k) { begins[static_cast<size_t>(k) + 1] = text_bytes(static_cast<size_t>(k)); });
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    const HostStorageRef bytes = allocate(engine_, begins.back()), offsets = allocate(engine_, (rows_ + 1) * 8);
    char* const to = static_cast<char*>(bytes->write());
    auto* const offset = static_cast<int64_t*>(offsets->write());
    in_parallel(static_cast<int64_t>(parts.size()), [&](int64_t task) {
      const auto k = static_cast<size_t>(task);
      const TextPart* const texts = parts[k]->texts.get();
      const int64_t first = first_rows[k];
      int64_t at = begins[k];
      const bool whole = texts && texts->is_plain();
      if (whole && texts->bytes()) std::memcpy(to + at, texts->text(), static_cast<size_t>(texts->bytes()));
      for (int64_t i = 0; i < rows_of(k); ++i) {
        int32_t& code = codes[first + i];
        if (whole) {
          offset[first + i] = begins[k] + (i ? texts->ends()[static_cast<size_t>(i) - 1] : 0);
        } else {
          offset[first + i] = at;
          if (code >= 0) {
            const std::string_view text = (*texts)[code];
            if (!text.empty()) std::memcpy(to + at, text.data(), text.size());
            at += static_cast<int64_t>(text.size());
          }
        }
        if (code >= 0) code = static_cast<int32_t>(first + i);
      }
    });
    offset[rows_] = begins.back();
    column.dictionary = std::make_shared<frame::Dictionary>(offsets, bytes, rows_, false);
  } else {
    frame::DistinctTexts all;
    std::vector<std::vector<int32_t>> places(parts.size());
    for (size_t k = 0; k < parts.size(); ++k) {
      const TextPart* texts = parts[k]->texts.get();
      if (!texts) continue;
      if (texts->is_plain()) {  // categories of many texts
        places[k].resize(static_cast<size_t>(rows_of(k)));
        for (int64_t i = 0; i < rows_of(k); ++i) {
          int32_t& code = codes[first_rows[k] + i];
          if (code < 0) continue;
          places[k][static_cast<size_t>(i)] = all.add((*texts)[i]);
          code = static_cast<int32_t>(i);
        }
      } else {
        for (int64_t i = 0; i < texts->size(); ++i) places[k].push_back(all.add((*texts)[i]));
      }
    }
    in_parallel(static_cast<int64_t>(parts.size()), [&](int64_t task) {
      const auto k = static_cast<size_t>(task);
      for (int64_t i = 0; i < rows_of(k); ++i)
        if (int32_t& code = codes[first_rows[k] + i]; code >= 0) code = places[k][static_cast<size_t>(code)];
    });
    column.dictionary = all.finish();
  }
  column.values = graph::buffer(codes_, DType::i32, {rows_}, {1}, 0);
  if (!category) return column;
  // Categories are sorted.
  const std::vector<int32_t>& ranks = column.dictionary->ranks();
  std::vector<int64_t> order(ranks.size());
  for (size_t i = 0; i < ranks.size(); ++i) order[static_cast<size_t>(ranks[i])] = static_cast<int64_t>(i);
  for (int64_t i = 0; i < rows_; ++i)
    if (codes[i] >= 0) codes[i] = ranks[static_cast<size_t>(codes[i])];
  const frame::Column texts = frame::text_column(engine_, column.dictionary);
  column.type = wanted_->type;
  column.dictionary = nullptr;
  column.categories = std::make_shared<frame::Column>(frame::take(engine_, texts, order.data(), static_cast<int64_t>(order.size())));
  return column;
}

}  // namespace gasell::csv
