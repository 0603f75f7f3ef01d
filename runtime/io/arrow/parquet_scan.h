// Row groups of Parquet files, and the columns that come of them when they are used.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/io/arrow/decode.h"
#include "runtime/io/arrow/pandas_metadata.h"
#include "runtime/io/arrow/source.h"
#include "runtime/io/arrow/tables.h"

namespace gasell::arrow {

struct ParquetSource {
  std::filesystem::path path;
  RemoteSourceRef elsewhere;  // null: a file of this machine
  ParquetFile file;
  Schema schema;
  std::map<std::string, int64_t, std::less<>> places;  // of columns
};

/// Rows that are read at once.
struct RowGroup {
  const ParquetSource* file;
  int64_t group, first_row, rows;
};

struct ParquetField {
  std::string name;
  FieldType type;
  bool has_validity = false;
  std::vector<bool> coded;  // texts, a group: the file has codes of them
  /// Where the bytes of each group's texts begin among all, and the end, as the file says: for reading a text a row. Empty: the file does
  /// not say, or has codes of many rows.
  std::vector<int64_t> text_begins;

  bool is_text() const { return type.type.has_codes(); }

  // What reading gives, until it is fetched.
  bool announced = false, is_read = false;
  HostStorageRef values, validity;
  frame::DictionaryRef texts;
};

/// The row groups of some files and the columns that come of them. Columns keep it while they wait.
class ParquetScan : public std::enable_shared_from_this<ParquetScan> {
 public:
  explicit ParquetScan(Engine& engine) : engine_(engine) {}
  Table table(const std::vector<DataFile>& files, const ReadOptions& options);

 private:
  void open(const std::vector<DataFile>& files, const remote::StorageOptions& storage);
  void choose(const std::vector<DataFile>& files, const ReadOptions& options);
  ParquetField field_of(const std::string& name, const PandasNote& note);
  size_t place_of(const ParquetSource& file, const std::string& name) const;
  frame::Column column(size_t k);
  frame::Column key_column(const std::vector<DataFile>& files, const std::string& name);

  void announce(size_t k) {
    const std::lock_guard lock(mutex_);
    if (!fields_[k].is_read) fields_[k].announced = true;
  }
  /// Fetches a part of what was read of field k, with others that were announced.
  template <class T>
  T fetch(size_t k, T ParquetField::* part) {
    const std::lock_guard lock(mutex_);
    if (!fields_[k].is_read) {
      fields_[k].announced = true;
      read_announced();
    }
    return std::exchange(fields_[k].*part, T{});
  }
  void find_text_begins(ParquetField& field, const std::vector<int64_t>& sizes) const;
  struct Target;
  void read_announced();
  void read_targets(const std::vector<Target*>& targets);
  /// f(layout, piece, array of the column, its first row) for the pieces of a column of a group.
  template <class F>
  void read_chunk(const ParquetField& field, const RowGroup& group, bool coded, const F& f);

  Engine& engine_;
  std::vector<ParquetSource> files_;
  std::vector<RowGroup> groups_;
  std::vector<int64_t> rows_of_file_;
  std::vector<ParquetField> fields_;
  int64_t rows_ = 0;
  bool pruned_ = false;
  std::mutex mutex_;
};

}  // namespace gasell::arrow
