// What the plugin's files share: Arrow's statuses and exceptions as the plain results of the ABI, sinks and sources.
#pragma once

#include <arrow/api.h>
#include <arrow/io/api.h>
#include <arrow/util/compression.h>

#include <climits>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "runtime/io/arrow/plugin_abi.h"

namespace gasell::plugin {

inline int fail(ArrowProblem* problem, int failure, const std::string& text, int number = 0) {
  problem->number = number;
  std::snprintf(problem->text, sizeof problem->text, "%s", text.c_str());
  return failure;
}
int fail(ArrowProblem* problem, const arrow::Status& status);
/// The exception that is being handled.
int fail_of_exception(ArrowProblem* problem);

/// f() gives a Status.
template <class F>
int guarded(ArrowProblem* problem, const F& f) {
  try {
    const arrow::Status status = f();
    return status.ok() ? static_cast<int>(kArrowFine) : fail(problem, status);
  } catch (...) {
    return fail_of_exception(problem);
  }
}

/// An output whose bytes go through a function of the core.
class SinkStream final : public arrow::io::OutputStream {
 public:
  explicit SinkStream(ArrowSink sink) : sink_(sink) {}
  using arrow::io::OutputStream::Write;
  arrow::Status Write(const void* data, int64_t bytes) override {
    if (sink_.write(sink_.context, data, bytes) != 0) return arrow::Status::IOError("the output cannot be written");
    position_ += bytes;
    return arrow::Status::OK();
  }
  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  arrow::Result<int64_t> Tell() const override { return position_; }
  bool closed() const override { return closed_; }

 private:
  const ArrowSink sink_;
  int64_t position_ = 0;
  bool closed_ = false;
};

/// What is read through a function of an ArrowSource, which it takes over.
class SourceFile final : public arrow::io::RandomAccessFile {
 public:
  explicit SourceFile(const ArrowSource& source) : source_(source) {}
  ~SourceFile() override { source_.free(source_.context); }
  using arrow::io::RandomAccessFile::ReadAt;
  arrow::Result<int64_t> GetSize() override { return source_.size; }
  arrow::Result<int64_t> ReadAt(int64_t position, int64_t bytes, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t bytes) override;
  arrow::Result<int64_t> Read(int64_t bytes, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t bytes) override;
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Seek(int64_t position) override {
    position_ = position;
    return arrow::Status::OK();
  }
  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }

 private:
  const ArrowSource source_;
  int64_t position_ = 0;
  bool closed_ = false;
};

/// The source, or a local file where it is null.
arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> open_source(const char* path, ArrowSource* source);

arrow::Result<arrow::Compression::type> codec_of(const std::string& name);

// The functions of the table, by file.
int store_open(const ArrowAddress* address, ArrowSource* source, ArrowProblem* problem);
int store_list(const ArrowAddress* address, int deep, int* is_folder, void (*found)(void* context, const char* path), void* context,
               ArrowProblem* problem);

int parquet_open(const char* path, ArrowSource* source, int hold, ArrowParquetFile** file, ArrowProblem* problem);
void parquet_close(ArrowParquetFile* file);
int parquet_schema(ArrowParquetFile* file, ArrowSchema* schema, ArrowProblem* problem);
int64_t parquet_groups(ArrowParquetFile* file);
int64_t parquet_group_rows(ArrowParquetFile* file, int64_t group);
int parquet_chunk(ArrowParquetFile* file, int64_t group, int64_t column, ArrowChunk* chunk, ArrowProblem* problem);
void free_chunk(ArrowChunk* chunk);
int parquet_read(ArrowParquetFile* file, int64_t group, int64_t column, int texts, ArrowArrayStream* stream, ArrowProblem* problem);

int parquet_write(ArrowSink sink, ArrowSchema* schema, const ArrowWriting* how, ArrowParquetWriter** writer, ArrowProblem* problem);
int parquet_start_group(ArrowParquetWriter* writer, ArrowProblem* problem);
int parquet_write_column(ArrowParquetWriter* writer, ArrowArray* array, ArrowSchema* type, ArrowProblem* problem);
int parquet_finish(ArrowParquetWriter* writer, ArrowProblem* problem);
void parquet_free_writer(ArrowParquetWriter* writer);

int table_read(int format, const char* path, ArrowSource* source, const char* const* names, int64_t count, ArrowArrayStream* stream,
               ArrowProblem* problem);
int table_write(int format, ArrowSink sink, ArrowArrayStream* stream, const ArrowWriting* how, ArrowProblem* problem);

}  // namespace gasell::plugin
