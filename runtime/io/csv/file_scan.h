// One reading of CSV files: where its rows are, what its columns are, and the reading of the columns, at once or when they are used.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine.h"
#include "runtime/frame/column.h"
#include "runtime/io/csv/blocks.h"
#include "runtime/io/csv/column_reader.h"
#include "runtime/io/csv/csv.h"
#include "runtime/io/csv/layout.h"
#include "runtime/io/csv/text.h"
#include "runtime/io/csv/tokenizer.h"

namespace gasell::csv {

/// A block of one of the texts; its rows are counted over all texts.
struct Piece {
  const Text* text;
  Block block;
};

/// What one thread works with.
struct Scratch {
  std::vector<uint32_t> positions;
  std::string text;
  Fields fields;
};

class FileScan : public std::enable_shared_from_this<FileScan> {
 public:
  FileScan(Engine& engine, std::vector<Text> texts, const CsvOptions& options, const std::function<void(const std::string&)>& warn);
  /// All columns; those of large files are read when somebody looks at them, together with others that are wanted then.
  CsvTable read();

 private:
  /// What is known of a column before it is read.
  struct Known {
    int64_t field = 0;
    ValueRules rules;
    Kind kind = Kind::nothing;
    bool missing = false;  // values of it are missing
    bool is_later = false;
    DateFormat dates;
    std::optional<WantedType> wanted;
    bool announced = false;
    std::optional<frame::Column> column;  // read, but not taken
  };
  struct Wanted {
    int64_t field;
    size_t reader;
    ColumnPart* part;
  };

  void drop_lines();
  void find_pieces();
  void keep_rows(int64_t begin_dropped);
  ValueRules rules_of(int64_t field) const;
  std::optional<WantedType> type_of(int64_t field) const;
  void look_at_samples();
  bool reads_later() const;
  frame::Column later(size_t column);
  /// A part of a column that is to be there, which is read if it is not.
  template <class F>
  auto part_of(size_t column, const F& take);
  /// Columns of pieces, whose `rows` rows are counted from 0.
  std::vector<frame::Column> load(const std::vector<size_t>& columns, const std::vector<Piece>& pieces, int64_t rows);
  frame::Column load_part(size_t column, int64_t begin, int64_t end);
  void in_order(size_t count, const std::function<void(size_t)>& f);
  void read_piece(const Piece& piece, std::vector<Wanted> wanted);
  void read_chunk(const Chunk& chunk, const Piece& piece, int64_t row, const std::vector<Wanted>& wanted);
  /// Lines of a piece from `at` on, a byte at a time; returns the rows.
  int64_t read_lines(const Piece& piece, const char*& at, int64_t rows_left, Scratch& scratch);
  [[noreturn]] void refuse_long(const Piece& piece, const char* at, int64_t found) const;
  [[noreturn]] void refuse_value(const Piece& piece, int64_t field, const WrongValue& wrong) const;
  int64_t line_of(const Piece& piece, const char* at) const;
  std::unique_ptr<Scratch> take_scratch();
  void give_scratch(std::unique_ptr<Scratch> scratch);

  Engine& engine_;
  std::vector<Text> texts_;
  CsvOptions options_;
  const std::function<void(const std::string&)> warn_;
  Layout layout_;
  std::vector<Layout> layouts_;  // one a text
  std::vector<Piece> pieces_;
  int64_t rows_ = 0;
  bool is_cut_ = false;                                 // a file ends within a record, which is refused at once
  std::vector<Known> columns_;                          // one a wanted field
  std::vector<std::unique_ptr<ColumnReader>> readers_;  // of the columns that are being read
  std::mutex later_mutex_;                              // of what is read later: columns_ and readers_
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> scratches_;
};

}  // namespace gasell::csv
