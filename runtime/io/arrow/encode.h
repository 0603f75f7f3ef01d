// Columns of frames as arrays of Arrow.
#pragma once

#include "runtime/io/arrow/plugin.h"
#include "runtime/io/arrow/tables.h"

namespace gasell::arrow {

/// Columns that are computed, as arrays of Arrow, whole or in parts. Missing values, NaN among them, are nulls. Memory of the columns is
/// lent where its layout fits, and lives as long as the arrays.
class Encoder {
 public:
  /// `dense`: texts never as codes, and all arrays have the schema's types.
  Encoder(Engine& engine, std::vector<std::string> names, std::vector<frame::Column> columns, bool dense);
  /// The types of all columns, with pandas' note.
  Schema schema(const std::string& note) const;
  struct Typed {
    ArrayData array;
    Schema type;  // of this array: a text column of the schema may be given as codes
  };
  Typed part(size_t column, int64_t begin, int64_t end) const;
  /// Rows of all columns as one array of records.
  ArrayData rows(int64_t begin, int64_t end) const;
  int64_t size() const { return columns_.empty() ? 0 : columns_[0].size(); }

 private:
  struct Prepared;
  std::vector<std::string> names_;
  std::vector<frame::Column> columns_;
  std::vector<std::shared_ptr<const Prepared>> prepared_;
  bool dense_;
};

}  // namespace gasell::arrow
