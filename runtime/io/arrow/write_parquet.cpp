// Parquet files written: row groups of whole columns, a column at a time.
#include <algorithm>
#include <climits>
#include <exception>

#include "lang/diagnostic.h"
#include "runtime/io/arrow/encode.h"
#include "runtime/io/arrow/pandas_metadata.h"
#include "runtime/io/arrow/sink.h"
#include "runtime/io/arrow/tables.h"
#include "runtime/primitives/scratch.h"

namespace gasell::arrow {
namespace {

struct FreeWriter {
  void operator()(ArrowParquetWriter* writer) const { plugin().parquet_free_writer(writer); }
};

}  // namespace

void write_parquet(Engine& engine, const std::filesystem::path& path, const Table& table, const WriteOptions& options) {
  const GasellArrow& library = plugin();
  const std::string note = write_pandas_note(engine, table);
  const Encoder encoder(engine, table.names, table.columns, false);
  const ArrowWriting how{options.codec.c_str(), options.level.value_or(INT_MIN)};
  FileSink sink(path);
  ArrowProblem problem{};
  Schema schema = encoder.schema(note);
  ArrowParquetWriter* opened = nullptr;
  sink.check(library.parquet_write(sink.sink(), schema.get(), &how, &opened, &problem), problem);
  const std::unique_ptr<ArrowParquetWriter, FreeWriter> writer(opened);
  const int64_t rows = encoder.size();
  for (int64_t begin = 0; begin < rows; begin += options.rows_a_group) {
    const int64_t end = std::min(rows, begin + options.rows_a_group);
    sink.check(library.parquet_start_group(opened, &problem), problem);
    for (size_t k = 0; k < table.columns.size(); ++k) {
      check_interrupt(engine);
      Encoder::Typed part = encoder.part(k, begin, end);
      sink.check(library.parquet_write_column(opened, part.array.get(), part.type.get(), &problem), problem);
    }
  }
  sink.check(library.parquet_finish(opened, &problem), problem);
  sink.commit();
}

}  // namespace gasell::arrow
