// Parquet, Arrow IPC and ORC files as columns of frames.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/engine.h"
#include "runtime/frame/column.h"
#include "runtime/io/arrow/plugin.h"
#include "runtime/io/remote/remote.h"

namespace gasell::arrow {

/// A file of a data set and what the names of its folders say: "year=2024/month=1" are two keys.
struct DataFile {
  std::filesystem::path path;
  std::vector<std::pair<std::string, std::string>> keys;
};
/// The files that a path names: itself; those below a folder, sorted, but for names that open with "." or "_"; those of a pattern with * ?
/// [; of this machine or of another ("s3://…", with `storage`). `natural_order`: numbers in names count as numbers, so that part.2 comes
/// before part.10 (Dask); else names are ordered by characters (pandas). FileNotFoundError; ValueError for a folder without files.
std::vector<DataFile> data_files(const std::string& path, bool natural_order = false, const remote::StorageOptions& storage = {});

/// A condition that rows must meet, so that row groups none of whose rows can are not read.
struct Condition {
  enum class Op : uint8_t { eq, ne, lt, le, gt, ge, in, not_in };
  using Value = std::variant<int64_t, double, std::string>;  // times: nanoseconds
  std::string column;
  Op op = Op::eq;
  std::vector<Value> values;  // one, but of in and not_in
};

/// The rows' labels, as pandas notes them in the files it writes.
struct RowLabels {
  enum class Kind : uint8_t { counted, range, column } kind = Kind::counted;
  int64_t start = 0, stop = 0, step = 1;
  std::string column;               // where the labels are
  std::optional<std::string> name;  // of the index
};

struct Table {
  std::vector<std::string> names;
  std::vector<frame::Column> columns;
  int64_t rows = 0;
  RowLabels labels;
  bool integer_names = false;  // the columns' names are integers
  bool pruned = false;         // row groups were left out
};

struct ReadOptions {
  std::optional<std::vector<std::string>> columns;  // in this order; the column of the index comes last where it is not among them
  std::vector<std::vector<Condition>> any_of;       // rows that meet all conditions of one of these lists are wanted
  remote::StorageOptions storage;                   // for files of other machines
};

/// The columns wait (deferred()): the files' footers are read now, a column's values when somebody looks at them, those of several that are
/// looked at together in one pass over row groups side by side. Categories are read at once.
/// Throws: errors of files; ValueError (no Parquet file, damaged, columns that are not there or differ between files), NotImplementedError
/// for columns whose type frames have not, ImportError without the plugin.
Table read_parquet(Engine& engine, const std::vector<DataFile>& files, const ReadOptions& options);

enum class Format : uint8_t { feather, orc };
/// All at once.
Table read_table(Engine& engine, Format format, const std::filesystem::path& path, const std::optional<std::vector<std::string>>& columns,
                 const remote::StorageOptions& storage = {});

/// The values of a column that lies as ours do (lies_as_ours), where its addresses are not the host's.
using Lender = std::function<graph::NodeRef(const void* address, DType dtype, int64_t count)>;
/// A table that comes as a stream of another library's: all at once. `shown` names it in errors. Memory is kept, not copied, where the
/// stream is one piece and its layout is ours; `lender` makes arrays over it, where it is not the host's.
Table read_stream(Engine& engine, Stream stream, const std::string& shown, const Lender& lender = {});
/// A computed table as a stream of one piece, whose memory may outlive the engine's session.
Stream write_stream(Engine& engine, const Table& table);

struct WriteOptions {
  std::string codec = "snappy";  // snappy, gzip, zstd, lz4, brotli, none
  std::optional<int> level;
  int64_t rows_a_group = 1 << 20;
};
/// Whole or not at all (AtomicFile). `names` and `columns` hold the index's column, too, where `labels` says so (last). ValueError for a
/// codec that there is not.
void write_parquet(Engine& engine, const std::filesystem::path& path, const Table& table, const WriteOptions& options);
void write_table(Engine& engine, Format format, const std::filesystem::path& path, const Table& table, const WriteOptions& options);

}  // namespace gasell::arrow
