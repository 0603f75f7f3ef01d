// Rows of several key columns as single unsigned numbers: what grouping hashes, joining compares and ordering sorts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lang/diagnostic.h"
#include "runtime/frame/column.h"
#include "runtime/primitives/scratch.h"

namespace gasell::frame {

__extension__ typedef unsigned __int128 Wide;

enum class MissingKeys : uint8_t {
  kept,     // a key that is missing is a key: equal to others that are, before or after the rest
  dropped,  // a row with one has no number
};

struct KeyOrder {
  bool descending = false;
  bool missing_first = false;
};

/// Key columns of one table, or of several whose keys are compared (sides; column k of each has the same type, and texts the same
/// dictionary). Equal keys have equal numbers. With `ranked`, numbers are in the order of the keys; without, texts are numbered by their
/// codes. -0.0 equals 0.0, and any NaN any other.
class RowKeys {
 public:
  static constexpr uint64_t kDropped = UINT64_MAX;

  /// Reads the columns. Throws NotImplementedError for complex keys and more than 2**32 - 1 rows.
  RowKeys(Engine& engine, std::vector<std::vector<Column>> sides, MissingKeys missing, bool ranked,
          const std::vector<KeyOrder>& order = {});

  int64_t rows(size_t side) const { return rows_[side]; }
  size_t sides() const { return rows_.size(); }
  int64_t all_rows() const;

  /// Keys: a column of 2**64 values or so counts for two.
  size_t size() const { return keys_.size(); }
  /// Numbers of keys [first, last) are below this.
  Wide bound(size_t first, size_t last) const;
  Wide bound() const { return bound(0, size()); }
  /// Whether keys [first, last) fit in a number, with kDropped left over.
  bool fit(size_t first, size_t last) const { return bound(first, last) < Wide{kDropped}; }
  bool fit() const { return fit(0, size()); }
  /// Whether the numbers are in the order of the keys.
  bool ordered() const { return ordered_; }

  /// Whether a column of keys [first, last) is on disk, so that its rows are better read in their order.
  bool on_disk(size_t first, size_t last) const;

  /// The numbers of rows [begin, end) of a side by keys [first, last), which fit; kDropped where one of them is missing and dropped.
  void encode(size_t side, int64_t begin, int64_t end, uint64_t* out, size_t first, size_t last) const;
  void encode(size_t side, int64_t begin, int64_t end, uint64_t* out) const { encode(side, begin, end, out, 0, size()); }
  /// Of the rows listed.
  void encode_rows(size_t side, const int64_t* rows, int64_t count, uint64_t* out, size_t first, size_t last) const;
  void encode_rows(size_t side, const int64_t* rows, int64_t count, uint64_t* out) const { encode_rows(side, rows, count, out, 0, size()); }

  /// Replaces keys [first, last) by codes of their own: one a row, sides one behind the other, in [0, bound), or -1: dropped.
  void replace(size_t first, size_t last, Scratch<int32_t> codes, int64_t bound);

 private:
  enum class Kind : uint8_t { boolean, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, time, code, ranked_code };
  struct Side {
    ColumnData data;
    std::shared_ptr<Scratch<int32_t>> codes;
  };
  struct Key {
    Kind kind;
    std::vector<Side> sides;
    std::shared_ptr<const Dictionary> dictionary;  // keeps the ranks
    const int32_t* ranks = nullptr;
    uint64_t low = 0, high = 0;  // of the values, as ordered unsigned numbers
    Wide size = 1;               // numbers, with the one for what is missing
    bool missing = false;        // some may be
    bool descending = false, missing_first = false;
    uint8_t half = 0;  // of a key that counts for two: 1: its high bits, 2: its low ones
  };
  struct Packer;
  void find_bounds(Engine& engine, Key& key);

  std::vector<Key> keys_;
  std::vector<int64_t> rows_;
  MissingKeys missing_;
  bool ordered_ = true;
};

}  // namespace gasell::frame
