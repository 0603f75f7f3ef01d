// Reads one column's fields into memory, in blocks side by side.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine.h"
#include "runtime/frame/column.h"
#include "runtime/io/csv/dates.h"
#include "runtime/io/csv/options.h"
#include "runtime/io/csv/texts.h"
#include "runtime/io/csv/values.h"

namespace gasell::csv {

/// Fields of whole records, all of `stride` fields: field (r, c) is the bytes behind the end of the field before it, up to ends[r * stride
/// + c]; ends[-1] is there. Up to 32 bytes behind the text can be read.
struct Chunk {
  const char* text = nullptr;
  const uint32_t* ends = nullptr;
  int64_t rows = 0;
  int64_t stride = 1;
  char quote = 0;         // fields may be quoted; zero: no more
  bool carriage = false;  // records may end with a carriage return before the line feed
};

/// What a block holds of a column besides the values that lie in the column's memory.
struct ColumnPart {
  Kind kind = Kind::nothing;
  bool left = false;  // reading stopped: the block has to be read again as another kind
  int64_t missing = 0;
  std::vector<uint8_t> valid;  // one a row; empty: all, or the values say it
  std::unique_ptr<TextPart> texts;
};

/// Where a value stands that is not what the user said, for the error.
struct WrongValue {
  int64_t row;  // of the block
  std::string text;
};

class ColumnReader {
 public:
  /// `kind`: what its first values are. `wanted`: what it has to be. `promised`: it has been said to be of this kind, so that no value may
  /// widen it; and whether values may be missing.
  struct Promise {
    bool missing;
  };
  ColumnReader(Engine& engine, int64_t rows, ValueRules rules, Kind kind, std::optional<WantedType> wanted, DateFormat dates,
               std::optional<Promise> promised = {});

  Kind kind() const { return kind_.load(std::memory_order_relaxed); }

  /// Reads a chunk's rows: rows [row, row + chunk.rows) of the column, of a block that begins at `block_row`. Blocks may be read at the
  /// same time, but each by one thread. Where values are not of the kind so far, the kind widens. Throws WrongValue where it must not.
  void read(const Chunk& chunk, int64_t field, int64_t block_row, int64_t block_bytes, int64_t block_rows, int64_t row, ColumnPart& part);
  /// A block was read to its end.
  void close(ColumnPart& part) {
    if (part.texts && !part.left) part.texts->close(text_memory_);
  }
  /// Makes what a block holds that of the column's kind; false: it has to be read again.
  bool settle(int64_t block_row, int64_t rows, ColumnPart& part);
  /// Before blocks are read again.
  void restart();
  /// The column. `parts` and `first_rows` are those of all blocks, in order.
  frame::Column finish(std::vector<ColumnPart*> parts, const std::vector<int64_t>& first_rows);

 private:
  struct Fields;
  void* memory(Kind kind);
  void widen(Kind other);
  bool promote(Kind to, int64_t block_row, int64_t rows, ColumnPart& part);
  int64_t read_as(Kind kind, const Fields& fields, int64_t block_row, int64_t block_rows, int64_t row, ColumnPart& part);
  frame::Column finish_texts(const std::vector<ColumnPart*>& parts, const std::vector<int64_t>& first_rows);

  Engine& engine_;
  const int64_t rows_;
  const ValueRules rules_;
  const std::optional<WantedType> wanted_;
  const DateFormat dates_;
  bool fixed_ = false;
  const bool may_miss_;  // integers and booleans; floats and texts always may
  const bool shows_missing_;
  std::atomic<Kind> kind_;
  std::atomic<bool> plain_texts_{false};
  std::mutex mutex_;
  TextMemory text_memory_;
  HostStorageRef wide_, narrow_, codes_;  // of 8 bytes a value, of 1, of 4
};

}  // namespace gasell::csv
