// Parquet files written.
#include <arrow/c/bridge.h>
#include <parquet/arrow/writer.h>

#include <string_view>

#include "plugins/arrow/common.h"

struct ArrowParquetWriter {
  std::unique_ptr<parquet::arrow::FileWriter> writer;
};

namespace gasell::plugin {

int parquet_write(ArrowSink sink, ArrowSchema* schema, const ArrowWriting* how, ArrowParquetWriter** writer, ArrowProblem* problem) {
  return guarded(problem, [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Schema> types, arrow::ImportSchema(schema));
    ARROW_ASSIGN_OR_RAISE(const arrow::Compression::type codec,
                          codec_of(std::string_view(how->codec) == "lz4" ? "lz4_raw" : how->codec));  // "lz4" alone is the framed one
    parquet::WriterProperties::Builder properties;
    properties.compression(codec)->version(parquet::ParquetVersion::PARQUET_2_6);
    if (how->level != INT_MIN) properties.compression_level(how->level);
    parquet::ArrowWriterProperties::Builder of_arrow;
    of_arrow.store_schema();
    auto made = std::make_unique<ArrowParquetWriter>();
    ARROW_ASSIGN_OR_RAISE(made->writer,
                          parquet::arrow::FileWriter::Open(*types, arrow::default_memory_pool(), std::make_shared<SinkStream>(sink),
                                                           properties.build(), of_arrow.build()));
    *writer = made.release();
    return arrow::Status::OK();
  });
}

int parquet_start_group(ArrowParquetWriter* writer, ArrowProblem* problem) {
  return guarded(problem, [&] { return writer->writer->NewRowGroup(); });
}

int parquet_write_column(ArrowParquetWriter* writer, ArrowArray* array, ArrowSchema* type, ArrowProblem* problem) {
  return guarded(problem, [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Array> values, arrow::ImportArray(array, type));
    return writer->writer->WriteColumnChunk(*values);
  });
}

int parquet_finish(ArrowParquetWriter* writer, ArrowProblem* problem) {
  return guarded(problem, [&] { return writer->writer->Close(); });
}

void parquet_free_writer(ArrowParquetWriter* writer) {
  try {
    delete writer;
  } catch (...) {  // what an unfinished file could not write is not wanted
  }
}

}  // namespace gasell::plugin
