#include "runtime/frame/keys.h"

#include <bit>
#include <mutex>
#include <type_traits>

#include "runtime/frame/dictionary.h"

namespace gasell::frame {

namespace {

constexpr uint64_t kSign = uint64_t{1} << 63;

/// Values as unsigned numbers in the same order.
template <class T>
uint64_t raw(T v) {
  if constexpr (std::is_same_v<T, bool>)
    return v;
  else if constexpr (std::is_same_v<T, double>) {
    const uint64_t bits = std::bit_cast<uint64_t>(v + 0.0);  // -0.0 + 0.0 is 0.0
    return bits & kSign ? ~bits : bits | kSign;
  } else if constexpr (std::is_same_v<T, float>) {
    const uint32_t bits = std::bit_cast<uint32_t>(v + 0.0F);
    return bits >> 31 ? static_cast<uint32_t>(~bits) : bits | 0x80000000U;
  } else if constexpr (std::is_signed_v<T>)
    return static_cast<uint64_t>(static_cast<int64_t>(v)) ^ kSign;
  else
    return v;
}

struct Consecutive {
  int64_t begin;
  int64_t operator()(int64_t i) const { return begin + i; }
};
struct Listed {
  const int64_t* rows;
  int64_t operator()(int64_t i) const { return rows[i]; }
};

}  // namespace

/// Reads the values of a key's side: f(i, raw value, is missing) for each of `count` rows.
struct RowKeys::Packer {
  template <class T, class At, class F>
  static void loop(const ColumnData& data, At at, int64_t count, auto is_missing, const F& f) {
    const T* const values = data.as<T>();
    if (const bool* const valid = data.valid) {
      for (int64_t i = 0; i < count; ++i) {
        const int64_t row = at(i);
        f(i, raw(values[row]), !valid[row] || is_missing(values[row]));
      }
    } else {
      for (int64_t i = 0; i < count; ++i) {
        const T v = values[at(i)];
        f(i, raw(v), is_missing(v));
      }
    }
  }

  template <class At, class F>
  static void values(const Key& key, size_t side, At at, int64_t count, const F& f) {
    const ColumnData& data = key.sides[side].data;
    const auto never = [](auto) { return false; };
    const auto is_nan = [](auto v) { return v != v; };
    switch (key.kind) {
      case Kind::boolean: return loop<bool>(data, at, count, never, f);
      case Kind::i8: return loop<int8_t>(data, at, count, never, f);
      case Kind::i16: return loop<int16_t>(data, at, count, never, f);
      case Kind::i32: return loop<int32_t>(data, at, count, never, f);
      case Kind::i64: return loop<int64_t>(data, at, count, never, f);
      case Kind::u8: return loop<uint8_t>(data, at, count, never, f);
      case Kind::u16: return loop<uint16_t>(data, at, count, never, f);
      case Kind::u32: return loop<uint32_t>(data, at, count, never, f);
      case Kind::u64: return loop<uint64_t>(data, at, count, never, f);
      case Kind::f32: return loop<float>(data, at, count, is_nan, f);
      case Kind::f64: return loop<double>(data, at, count, is_nan, f);
      case Kind::time: return loop<int64_t>(data, at, count, [](int64_t v) { return v == kNotATime; }, f);
      case Kind::code: return loop<uint32_t>(data, at, count, [](uint32_t v) { return static_cast<int32_t>(v) < 0; }, f);
      case Kind::ranked_code: {
        const int32_t* const codes = data.as<int32_t>();
        for (int64_t i = 0; i < count; ++i) {
          const int64_t row = at(i);
          const int32_t code = codes[row];
          const bool missing = code < 0 || (data.valid && !data.valid[row]);
          f(i, missing ? 0 : static_cast<uint64_t>(key.ranks[code]), missing);
        }
      }
    }
  }

  /// Appends a key's number to those of the keys before it.
  template <class At>
  static void append(const Key& key, size_t side, At at, int64_t count, bool first, bool drop, uint64_t* out) {
    const auto size = static_cast<uint64_t>(key.size);
    const bool place = key.missing && !drop;  // a number stands for what is missing
    const uint64_t shift = place && key.missing_first ? 1 : 0;
    const Wide missing_number = key.missing_first ? Wide{0} : Wide{key.high - key.low} + 1;
    const auto missing_code = static_cast<uint64_t>(missing_number);
    const uint64_t low = key.low, high = key.high;
    const auto with = [&](auto number) {
      values(key, side, at, count, [&](int64_t i, uint64_t value, bool missing) {
        const uint64_t code = number(value, missing);
        uint64_t packed = first ? code : out[i] * size + code;
        if (drop && (missing || (!first && out[i] == kDropped))) packed = kDropped;
        out[i] = packed;
      });
    };
    if (key.half)
      return with([&](uint64_t value, bool missing) {
        const Wide whole = missing ? missing_number : Wide{key.descending ? high - value : value - low} + shift;
        return static_cast<uint64_t>(key.half == 1 ? whole >> 32 : whole & 0xffffffffU);
      });
    if (key.descending) return with([&](uint64_t value, bool missing) { return missing ? missing_code : high - value + shift; });
    if (!key.missing) return with([&](uint64_t value, bool) { return value - low; });
    with([&](uint64_t value, bool missing) { return missing ? missing_code : value - low + shift; });
  }
};

RowKeys::RowKeys(Engine& engine, std::vector<std::vector<Column>> sides, MissingKeys missing, bool ranked,
                 const std::vector<KeyOrder>& order)
    : missing_(missing) {
  std::vector<Column*> all;
  for (auto& side : sides) {
    rows_.push_back(side[0].size());
    for (Column& c : side) all.push_back(&c);
  }
  force(engine, all);
  if (all_rows() > int64_t{UINT32_MAX})
    throw Error("NotImplementedError", "frames of more than 4294967295 rows cannot be grouped, joined or ordered", "work on parts");
  for (size_t k = 0; k < sides[0].size(); ++k) {
    const ColumnType& type = sides[0][k].type;
    Key key;
    if (!order.empty()) {
      key.descending = order[k].descending;
      key.missing_first = order[k].missing_first;
    }
    if (type.has_codes()) {
      key.kind = Kind::code;
      if (type.logical == Logical::text) {
        key.dictionary = sides[0][k].dictionary;
        if (ranked) {
          key.kind = Kind::ranked_code;
          key.ranks = key.dictionary->ranks(engine).data();
        } else
          ordered_ = false;
      }
    } else if (type.is_time())
      key.kind = Kind::time;
    else {
      switch (type.dtype) {
        case DType::boolean: key.kind = Kind::boolean; break;
        case DType::i8: key.kind = Kind::i8; break;
        case DType::i16: key.kind = Kind::i16; break;
        case DType::i32: key.kind = Kind::i32; break;
        case DType::i64: key.kind = Kind::i64; break;
        case DType::u8: key.kind = Kind::u8; break;
        case DType::u16: key.kind = Kind::u16; break;
        case DType::u32: key.kind = Kind::u32; break;
        case DType::u64: key.kind = Kind::u64; break;
        case DType::f32: key.kind = Kind::f32; break;
        case DType::f64: key.kind = Kind::f64; break;
        default: throw Error("NotImplementedError", "complex numbers as keys are not in Gasell", "use their real and imaginary parts");
      }
    }
    for (auto& side : sides) key.sides.push_back({read(engine, side[k]), nullptr});
    if (type.has_codes()) {
      const int64_t texts = type.logical == Logical::text ? key.dictionary->size() : sides[0][k].categories->size();
      key.missing = true;
      key.high = static_cast<uint64_t>(std::max<int64_t>(texts, 1) - 1);
    } else
      find_bounds(engine, key);
    key.size = Wide{key.high - key.low} + 1 + (key.missing && missing == MissingKeys::kept ? 1 : 0);
    if (key.size < Wide{kDropped}) {
      keys_.push_back(std::move(key));
      continue;
    }
    Key low = key;
    key.half = 1;
    key.size = ((key.size - 1) >> 32) + 1;
    low.half = 2;
    low.size = Wide{1} << 32;
    keys_.push_back(std::move(key));
    keys_.push_back(std::move(low));
  }
}

int64_t RowKeys::all_rows() const {
  int64_t count = 0;
  for (const int64_t n : rows_) count += n;
  return count;
}

void RowKeys::find_bounds(Engine& engine, Key& key) {
  for (const Side& side : key.sides) key.missing |= side.data.valid != nullptr;
  switch (key.kind) {
    case Kind::boolean: key.high = 1; return;
    case Kind::i8: key.low = raw<int8_t>(INT8_MIN), key.high = raw<int8_t>(INT8_MAX); return;
    case Kind::u8: key.high = UINT8_MAX; return;
    default: break;
  }
  key.low = UINT64_MAX;
  std::mutex mutex;
  for (size_t side = 0; side < key.sides.size(); ++side)
    over_rows(engine, rows_[side], [&](int64_t begin, int64_t end) {
      uint64_t low = UINT64_MAX, high = 0;
      bool any = false;
      Packer::values(key, side, Consecutive{begin}, end - begin, [&](int64_t, uint64_t value, bool missing) {
        low = std::min(low, missing ? UINT64_MAX : value);
        high = std::max(high, missing ? 0 : value);
        any |= missing;
      });
      const std::lock_guard lock(mutex);
      key.low = std::min(key.low, low);
      key.high = std::max(key.high, high);
      key.missing |= any;
    });
  if (key.low > key.high) key.low = key.high = 0;  // nothing there
}

Wide RowKeys::bound(size_t first, size_t last) const {
  Wide product = 1;
  for (size_t k = first; k < last; ++k) {
    product *= keys_[k].size;
    if (product > Wide{UINT64_MAX}) return product;  // a factor is at most 2**64: no overflow before
  }
  return product;
}

bool RowKeys::on_disk(size_t first, size_t last) const {
  const auto mapped = [](const StorageRef& s) { return s && static_cast<const HostStorage&>(*s).is_mapped(); };
  return std::any_of(keys_.begin() + static_cast<int64_t>(first), keys_.begin() + static_cast<int64_t>(last), [&](const Key& key) {
    return std::any_of(key.sides.begin(), key.sides.end(),
                       [&](const Side& side) { return mapped(side.data.keep_values) || mapped(side.data.keep_validity); });
  });
}

void RowKeys::encode(size_t side, int64_t begin, int64_t end, uint64_t* out, size_t first, size_t last) const {
  for (size_t k = first; k < last; ++k)
    Packer::append(keys_[k], side, Consecutive{begin}, end - begin, k == first, missing_ == MissingKeys::dropped, out);
}

void RowKeys::encode_rows(size_t side, const int64_t* rows, int64_t count, uint64_t* out, size_t first, size_t last) const {
  for (size_t k = first; k < last; ++k)
    Packer::append(keys_[k], side, Listed{rows}, count, k == first, missing_ == MissingKeys::dropped, out);
}

void RowKeys::replace(size_t first, size_t last, Scratch<int32_t> codes, int64_t bound) {
  Key key;
  key.kind = Kind::code;
  key.high = static_cast<uint64_t>(std::max<int64_t>(bound, 1) - 1);
  key.missing = missing_ == MissingKeys::dropped;
  key.size = Wide{key.high} + 1;
  const auto kept = std::make_shared<Scratch<int32_t>>(std::move(codes));
  int64_t offset = 0;
  for (const int64_t n : rows_) {
    Side side;
    side.data.values = kept->data() + offset;
    side.data.count = n;
    side.codes = kept;
    key.sides.push_back(std::move(side));
    offset += n;
  }
  keys_.erase(keys_.begin() + static_cast<int64_t>(first), keys_.begin() + static_cast<int64_t>(last));
  keys_.insert(keys_.begin() + static_cast<int64_t>(first), std::move(key));
  ordered_ = false;
}

}  // namespace gasell::frame
