// Files of other formats, read and written as whole tables: Arrow's IPC format ("Feather") and ORC.
#include <arrow/adapters/orc/adapter.h>
#include <arrow/c/bridge.h>
#include <arrow/ipc/api.h>
#include <arrow/table.h>

#include <vector>

#include "plugins/arrow/common.h"

namespace gasell::plugin {
namespace {

arrow::Result<std::vector<int>> places(const arrow::Schema& schema, const std::vector<std::string>& names) {
  std::vector<int> found;
  for (const std::string& name : names) {
    const int place = schema.GetFieldIndex(name);
    if (place < 0) return arrow::Status::KeyError("the file has no column '", name, "'");
    found.push_back(place);
  }
  return found;
}

arrow::Result<std::shared_ptr<arrow::Table>> read_feather(const std::shared_ptr<arrow::io::RandomAccessFile>& source,
                                                          const std::vector<std::string>* names) {
  ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ipc::RecordBatchFileReader::Open(source));
  if (names) {
    arrow::ipc::IpcReadOptions options = arrow::ipc::IpcReadOptions::Defaults();
    ARROW_ASSIGN_OR_RAISE(options.included_fields, places(*reader->schema(), *names));
    ARROW_ASSIGN_OR_RAISE(reader, arrow::ipc::RecordBatchFileReader::Open(source, options));
  }
  ARROW_ASSIGN_OR_RAISE(const arrow::RecordBatchVector batches, reader->ToRecordBatches());
  ARROW_ASSIGN_OR_RAISE(auto table, arrow::Table::FromRecordBatches(reader->schema(), batches));
  ARROW_RETURN_NOT_OK(table->ValidateFull());  // an IPC file's buffers are taken as they are
  return table;
}

arrow::Result<std::shared_ptr<arrow::Table>> read_orc(const std::shared_ptr<arrow::io::RandomAccessFile>& source,
                                                      const std::vector<std::string>* names) {
  ARROW_ASSIGN_OR_RAISE(auto reader, arrow::adapters::orc::ORCFileReader::Open(source, arrow::default_memory_pool()));
  if (!names) return reader->Read();
  ARROW_ASSIGN_OR_RAISE(const auto schema, reader->ReadSchema());
  ARROW_RETURN_NOT_OK(places(*schema, *names).status());
  return reader->Read(*names);
}

}  // namespace

int table_read(int format, const char* path, ArrowSource* given, const char* const* names, int64_t count, ArrowArrayStream* stream,
               ArrowProblem* problem) {
  return guarded(problem, [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::io::RandomAccessFile> source, open_source(path, given));
    std::vector<std::string> wanted;
    if (names) wanted.assign(names, names + count);
    const std::vector<std::string>* const some = names ? &wanted : nullptr;
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Table> table, format == kOrc ? read_orc(source, some) : read_feather(source, some));
    auto reader = std::make_shared<arrow::TableBatchReader>(table);
    return arrow::ExportRecordBatchReader(reader, stream);
  });
}

int table_write(int format, ArrowSink sink, ArrowArrayStream* stream, const ArrowWriting* how, ArrowProblem* problem) {
  return guarded(problem, [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::RecordBatchReader> reader, arrow::ImportRecordBatchReader(stream));
    const auto output = std::make_shared<SinkStream>(sink);
    const std::string codec = how->codec;
    std::shared_ptr<arrow::RecordBatch> batch;
    if (format == kOrc) {
      arrow::adapters::orc::WriteOptions options;
      ARROW_ASSIGN_OR_RAISE(options.compression, codec_of(codec));
      ARROW_ASSIGN_OR_RAISE(auto writer, arrow::adapters::orc::ORCFileWriter::Open(output.get(), options));
      while (true) {
        ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
        if (!batch) return writer->Close();
        ARROW_RETURN_NOT_OK(writer->Write(*batch));
      }
    }
    arrow::ipc::IpcWriteOptions options = arrow::ipc::IpcWriteOptions::Defaults();
    if (codec != "none") {
      ARROW_ASSIGN_OR_RAISE(const arrow::Compression::type type, codec_of(codec));
      ARROW_ASSIGN_OR_RAISE(
          options.codec, arrow::util::Codec::Create(type, how->level == INT_MIN ? arrow::util::kUseDefaultCompressionLevel : how->level));
    }
    options.unify_dictionaries = true;
    ARROW_ASSIGN_OR_RAISE(auto writer, arrow::ipc::MakeFileWriter(output, reader->schema(), options));
    while (true) {
      ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
      if (!batch) return writer->Close();
      ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(*batch));
    }
  });
}

}  // namespace gasell::plugin
