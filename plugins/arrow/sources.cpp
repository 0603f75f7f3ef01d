// Files that the core reads, as Arrow's files.
#include <arrow/buffer.h>
#include <arrow/io/file.h>

#include <algorithm>

#include "plugins/arrow/common.h"

namespace gasell::plugin {

arrow::Result<int64_t> SourceFile::ReadAt(int64_t position, int64_t bytes, void* out) {
  if (position < 0 || bytes < 0) return arrow::Status::Invalid("a read outside of the file");
  bytes = std::clamp<int64_t>(source_.size - position, 0, bytes);
  if (bytes == 0) return 0;
  ArrowProblem problem{};
  if (source_.read(source_.context, position, bytes, out, &problem) != kArrowFine) return arrow::Status::IOError(problem.text);
  return bytes;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> SourceFile::ReadAt(int64_t position, int64_t bytes) {
  bytes = std::clamp<int64_t>(source_.size - position, 0, bytes);
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::ResizableBuffer> buffer, arrow::AllocateResizableBuffer(bytes));
  ARROW_RETURN_NOT_OK(ReadAt(position, bytes, buffer->mutable_data()).status());
  return buffer;
}

arrow::Result<int64_t> SourceFile::Read(int64_t bytes, void* out) {
  ARROW_ASSIGN_OR_RAISE(const int64_t read, ReadAt(position_, bytes, out));
  position_ += read;
  return read;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> SourceFile::Read(int64_t bytes) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> buffer, ReadAt(position_, bytes));
  position_ += buffer->size();
  return buffer;
}

arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> open_source(const char* path, ArrowSource* source) {
  if (source) return std::make_shared<SourceFile>(*source);
  return arrow::io::ReadableFile::Open(path);
}

}  // namespace gasell::plugin
