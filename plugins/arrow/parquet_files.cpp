// Parquet files read.
#include <arrow/c/bridge.h>
#include <parquet/api/reader.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/size_statistics.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <vector>

#include "plugins/arrow/common.h"

namespace {

/// Rows that are decoded at a time, so that they are copied while they are in the processor's cache.
constexpr int64_t kRowsAPiece = 1 << 16;
constexpr int64_t kRowsOfCodes = 1 << 30;  // a dictionary goes with each piece: one piece

using FileReader = parquet::arrow::FileReader;

bool is_text(const arrow::DataType& type) { return type.id() == arrow::Type::STRING || type.id() == arrow::Type::LARGE_STRING; }

}  // namespace

struct ArrowParquetFile {
  std::string path;
  struct stat known{};
  std::shared_ptr<arrow::io::RandomAccessFile> source;  // null: opened for each read
  std::shared_ptr<parquet::FileMetaData> metadata;
  std::shared_ptr<FileReader> plain, coded;
  std::shared_ptr<arrow::Schema> schema;

  arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> open() const {
    if (source) return source;
    struct stat now{};
    if (stat(path.c_str(), &now) != 0 || now.st_size != known.st_size || now.st_mtim.tv_sec != known.st_mtim.tv_sec ||
        now.st_mtim.tv_nsec != known.st_mtim.tv_nsec || now.st_ino != known.st_ino)
      return arrow::Status::Invalid("the file was changed since it was opened");
    return arrow::io::ReadableFile::Open(path);
  }
  arrow::Result<std::shared_ptr<FileReader>> reader(bool codes, const std::shared_ptr<arrow::io::RandomAccessFile>& from) const {
    parquet::ArrowReaderProperties how(false);
    how.set_batch_size(codes ? kRowsOfCodes : kRowsAPiece);
    how.set_pre_buffer(false);
    if (codes)
      for (int i = 0; i < metadata->num_columns(); ++i) how.set_read_dictionary(i, true);
    ARROW_ASSIGN_OR_RAISE(std::unique_ptr<FileReader> made,
                          FileReader::Make(arrow::default_memory_pool(),
                                           parquet::ParquetFileReader::Open(from, parquet::default_reader_properties(), metadata), how));
    return std::shared_ptr<FileReader>(std::move(made));
  }
  int leaf(int64_t column) const { return plain->manifest().schema_fields[static_cast<size_t>(column)].column_index; }
};

namespace gasell::plugin {

int parquet_open(const char* path, ArrowSource* given, int hold, ArrowParquetFile** file, ArrowProblem* problem) {
  return guarded(problem, [&]() -> arrow::Status {
    auto opened = std::make_unique<ArrowParquetFile>();
    opened->path = path;
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::io::RandomAccessFile> source, open_source(path, given));
    if (!given && fstat(static_cast<const arrow::io::ReadableFile&>(*source).file_descriptor(), &opened->known) != 0)
      return arrow::Status::IOError("the file cannot be examined");
    opened->metadata = parquet::ParquetFileReader::Open(source)->metadata();
    ARROW_ASSIGN_OR_RAISE(opened->plain, opened->reader(false, source));
    ARROW_RETURN_NOT_OK(opened->plain->GetSchema(&opened->schema));
    if (hold || given) {
      opened->source = source;
      ARROW_ASSIGN_OR_RAISE(opened->coded, opened->reader(true, source));
    } else {
      ARROW_RETURN_NOT_OK(source->Close());
    }
    *file = opened.release();
    return arrow::Status::OK();
  });
}

void parquet_close(ArrowParquetFile* file) { delete file; }

int parquet_schema(ArrowParquetFile* file, ArrowSchema* schema, ArrowProblem* problem) {
  return guarded(problem, [&] { return arrow::ExportSchema(*file->schema, schema); });
}

int64_t parquet_groups(ArrowParquetFile* file) { return file->metadata->num_row_groups(); }

int64_t parquet_group_rows(ArrowParquetFile* file, int64_t group) { return file->metadata->RowGroup(static_cast<int>(group))->num_rows(); }

namespace {

struct Texts {
  std::string low, high;
};

template <class Type>
void put_numbers(const parquet::Statistics& statistics, bool is_signed, ArrowChunk* chunk) {
  const auto& typed = static_cast<const parquet::TypedStatistics<Type>&>(statistics);
  if constexpr (std::is_floating_point_v<typename Type::c_type>) {
    if (std::isnan(typed.min()) || std::isnan(typed.max())) return;
    chunk->bounds = kFloatBounds;
    chunk->low_float = typed.min();
    chunk->high_float = typed.max();
  } else {
    using Unsigned = std::make_unsigned_t<std::conditional_t<std::is_same_v<typename Type::c_type, bool>, uint8_t, typename Type::c_type>>;
    chunk->bounds = is_signed ? kSignedBounds : kUnsignedBounds;
    chunk->low = is_signed ? static_cast<int64_t>(typed.min()) : static_cast<int64_t>(static_cast<Unsigned>(typed.min()));
    chunk->high = is_signed ? static_cast<int64_t>(typed.max()) : static_cast<int64_t>(static_cast<Unsigned>(typed.max()));
  }
}

void put_bounds(const parquet::Statistics& statistics, const arrow::DataType& type, ArrowChunk* chunk) {
  const bool is_signed = !arrow::is_unsigned_integer(type.id()) && type.id() != arrow::Type::BOOL;
  switch (statistics.physical_type()) {
    case parquet::Type::BOOLEAN: {
      const auto& typed = static_cast<const parquet::BoolStatistics&>(statistics);
      chunk->bounds = kSignedBounds;
      chunk->low = typed.min();
      chunk->high = typed.max();
      return;
    }
    case parquet::Type::INT32: return put_numbers<parquet::Int32Type>(statistics, is_signed, chunk);
    case parquet::Type::INT64: return put_numbers<parquet::Int64Type>(statistics, is_signed, chunk);
    case parquet::Type::FLOAT: return put_numbers<parquet::FloatType>(statistics, true, chunk);
    case parquet::Type::DOUBLE: return put_numbers<parquet::DoubleType>(statistics, true, chunk);
    case parquet::Type::BYTE_ARRAY: {
      if (!is_text(type) && type.id() != arrow::Type::DICTIONARY) return;
      if (!chunk->texts) chunk->texts = new Texts;
      auto& texts = *static_cast<Texts*>(chunk->texts);
      texts.low = statistics.EncodeMin();
      texts.high = statistics.EncodeMax();
      chunk->bounds = kTextBounds;
      chunk->low_text = texts.low.data();
      chunk->low_size = static_cast<int64_t>(texts.low.size());
      chunk->high_text = texts.high.data();
      chunk->high_size = static_cast<int64_t>(texts.high.size());
      return;
    }
    default: return;
  }
}

bool all_coded(const parquet::ColumnChunkMetaData& chunk) {
  if (!chunk.has_dictionary_page() || chunk.encoding_stats().empty()) return false;
  for (const parquet::PageEncodingStats& pages : chunk.encoding_stats()) {
    const bool data = pages.page_type == parquet::PageType::DATA_PAGE || pages.page_type == parquet::PageType::DATA_PAGE_V2;
    const bool codes = pages.encoding == parquet::Encoding::PLAIN_DICTIONARY || pages.encoding == parquet::Encoding::RLE_DICTIONARY;
    if (data && !codes && pages.count > 0) return false;
  }
  return true;
}

}  // namespace

int parquet_chunk(ArrowParquetFile* file, int64_t group, int64_t column, ArrowChunk* chunk, ArrowProblem* problem) {
  return guarded(problem, [&]() -> arrow::Status {
    void* const texts = chunk->texts;
    *chunk = ArrowChunk{};
    chunk->texts = texts;
    chunk->nulls = -1;
    chunk->texts_size = -1;
    const int leaf = file->leaf(column);
    if (leaf < 0) return arrow::Status::OK();
    const auto described = file->metadata->RowGroup(static_cast<int>(group))->ColumnChunk(leaf);
    chunk->bytes = std::clamp<int64_t>(described->total_compressed_size(), 0, file->known.st_size);
    chunk->coded = all_coded(*described);
    if (const auto sizes = described->size_statistics()) chunk->texts_size = sizes->unencoded_byte_array_data_bytes.value_or(-1);
    if (file->metadata->schema()->Column(leaf)->max_definition_level() == 0) chunk->nulls = 0;
    if (!described->is_stats_set()) return arrow::Status::OK();
    const std::shared_ptr<parquet::Statistics> statistics = described->statistics();
    if (!statistics) return arrow::Status::OK();
    if (statistics->HasNullCount()) chunk->nulls = statistics->null_count();
    if (statistics->HasMinMax()) put_bounds(*statistics, *file->schema->field(static_cast<int>(column))->type(), chunk);
    return arrow::Status::OK();
  });
}

void free_chunk(ArrowChunk* chunk) {
  delete static_cast<Texts*>(chunk->texts);
  chunk->texts = nullptr;
}

namespace {

/// Pieces of a column; keeps the reader that they come from.
class Pieces final : public arrow::RecordBatchReader {
 public:
  Pieces(std::shared_ptr<FileReader> reader, std::unique_ptr<arrow::RecordBatchReader> pieces)
      : reader_(std::move(reader)), pieces_(std::move(pieces)) {}
  std::shared_ptr<arrow::Schema> schema() const override { return pieces_->schema(); }
  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    try {
      return pieces_->ReadNext(batch);
    } catch (const std::exception& error) {
      return arrow::Status::Invalid(error.what());
    }
  }

 private:
  const std::shared_ptr<FileReader> reader_;
  std::unique_ptr<arrow::RecordBatchReader> pieces_;
};

}  // namespace

int parquet_read(ArrowParquetFile* file, int64_t group, int64_t column, int texts, ArrowArrayStream* stream, ArrowProblem* problem) {
  return guarded(problem, [&]() -> arrow::Status {
    const int leaf = file->leaf(column);
    if (leaf < 0) return arrow::Status::NotImplemented("the column is nested");
    std::shared_ptr<FileReader> reader = texts == kCodedTexts ? file->coded : file->plain;
    if (!file->source) {
      ARROW_ASSIGN_OR_RAISE(const auto source, file->open());
      ARROW_ASSIGN_OR_RAISE(reader, file->reader(texts == kCodedTexts, source));
    }
    ARROW_ASSIGN_OR_RAISE(auto pieces, reader->GetRecordBatchReader({static_cast<int>(group)}, {leaf}));
    return arrow::ExportRecordBatchReader(std::make_shared<Pieces>(std::move(reader), std::move(pieces)), stream);
  });
}

}  // namespace gasell::plugin
