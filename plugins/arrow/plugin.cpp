// The plugin's one symbol, and failures.
#include <arrow/config.h>
#include <arrow/util/io_util.h>
#include <parquet/exception.h>

#include "plugins/arrow/common.h"

namespace gasell::plugin {

int fail(ArrowProblem* problem, const arrow::Status& status) {
  const std::string text = status.message();
  if (const int number = arrow::internal::ErrnoFromStatus(status); number != 0) return fail(problem, kArrowSystem, text, number);
  if (status.IsOutOfMemory()) return fail(problem, kArrowMemory, text);
  if (status.IsNotImplemented()) return fail(problem, kArrowUnsupported, text);
  return fail(problem, kArrowInvalid, text);
}

int fail_of_exception(ArrowProblem* problem) {
  try {
    throw;
  } catch (const parquet::ParquetStatusException& error) {
    return fail(problem, error.status());
  } catch (const parquet::ParquetException& error) {
    const std::string text = error.what();
    return fail(problem, text.rfind("Not yet implemented", 0) == 0 ? kArrowUnsupported : kArrowInvalid, text);
  } catch (const std::bad_alloc&) {
    return fail(problem, kArrowMemory, "out of memory");
  } catch (const std::exception& error) {
    return fail(problem, kArrowInvalid, error.what());
  } catch (...) {
    return fail(problem, kArrowInvalid, "unknown failure");
  }
}

arrow::Result<arrow::Compression::type> codec_of(const std::string& name) {
  if (name == "none") return arrow::Compression::UNCOMPRESSED;
  ARROW_ASSIGN_OR_RAISE(const arrow::Compression::type codec, arrow::util::Codec::GetCompressionType(name));
  if (!arrow::util::Codec::IsAvailable(codec)) return arrow::Status::NotImplemented("this build of Apache Arrow has no codec '", name, "'");
  return codec;
}

}  // namespace gasell::plugin

extern "C" __attribute__((visibility("default"))) const GasellArrow* gasell_arrow(int abi) {
  using namespace gasell::plugin;
  static const GasellArrow table = {
      GASELL_ARROW_ABI,     ARROW_VERSION_STRING, store_open,          store_list, parquet_open, parquet_close, parquet_schema,
      parquet_groups,       parquet_group_rows,   parquet_chunk,       free_chunk, parquet_read, parquet_write, parquet_start_group,
      parquet_write_column, parquet_finish,       parquet_free_writer, table_read, table_write,
  };
  return abi == GASELL_ARROW_ABI ? &table : nullptr;
}
