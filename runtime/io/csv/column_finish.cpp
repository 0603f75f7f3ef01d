#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "lang/diagnostic.h"
#include "runtime/device/device.h"
#include "runtime/device/workers.h"
#include "runtime/frame/dictionary.h"
#include "runtime/io/csv/column_reader.h"

namespace gasell::csv {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

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
    const auto memory_of = [&](int64_t size) { return std::static_pointer_cast<HostStorage>(engine_.device().allocate(size)); };
    const HostStorageRef bytes = memory_of(begins.back()), offsets = memory_of((rows_ + 1) * 8);
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
  const std::vector<int32_t>& ranks = column.dictionary->ranks(engine_);
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
