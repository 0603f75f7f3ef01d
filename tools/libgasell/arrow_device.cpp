// Tables in the memory of GPUs: Arrow's C device interface.
//
// A column of numbers without missing ones stays where it is. The buffers of all others (bits, texts, codes, times in other units) come to
// the host, where a table with them in their places is read as any other one.
#include "tools/libgasell/arrow_device_abi.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>

#include "runtime/gpu/gpu_device.h"
#include "runtime/io/arrow/decode.h"
#include "tools/libgasell/device_memory.h"
#include "tools/libgasell/exchange.h"
#include "tools/libgasell/marshal.h"

using namespace gasell;
using namespace gasell::c_abi;

namespace {

/// How many bytes the buffers of an array have, but for texts' own.
struct Layout {
  int64_t bits = 0, values = 0;  // of the buffers 0 and 1
  int64_t offset_width = 0;      // of texts: buffer 1 says how long buffer 2 is
};

Layout layout_of(const ArrowSchema& schema, const ArrowArray& array) {
  const auto type = arrow::field_type(schema.dictionary ? ArrowSchema{schema.format} : schema);
  if (!type)
    throw Error("NotImplementedError",
                "column '" + std::string(schema.name ? schema.name : "") + "' is of type " + arrow::shown_type(schema) +
                    ", which is not in Gasell's frames",
                {}, Blame::limitation);
  require(array.length >= 0 && array.offset >= 0 && array.length <= INT64_MAX / 16 - array.offset, "a column's length is wrong");
  const int64_t rows = array.offset + array.length;
  using Form = arrow::FieldType::Form;
  switch (type->form) {
    case Form::nothing: return {};
    case Form::bits: return {(rows + 7) / 8, (rows + 7) / 8};
    case Form::texts: return {(rows + 7) / 8, (rows + 1) * (type->wide ? 8 : 4), type->wide ? 8 : 4};
    default: return {(rows + 7) / 8, rows * type->width};
  }
}

int64_t text_bytes(const void* offsets, const Layout& layout) {
  const int64_t last = layout.values / layout.offset_width - 1;
  const int64_t bytes = layout.offset_width == 8 ? static_cast<const int64_t*>(offsets)[last] : static_cast<const int32_t*>(offsets)[last];
  require(bytes >= 0, "the offsets of texts are negative");
  return bytes;
}

/// A table whose buffers lie elsewhere than those of the one that it was made of, which it keeps.
struct Moved {
  std::shared_ptr<void> original;
  std::deque<ArrowArray> arrays;
  std::deque<std::vector<const void*>> buffers;
  std::deque<std::vector<ArrowArray*>> children;
  std::vector<std::shared_ptr<const void>> kept;  // of the buffers
};

/// How a table is moved: `place` gives the new address of a buffer, `host_of` the host's address of one that is read here, by its old
/// address and its new one; the values of a column for which `stays` says so stay where they are.
struct Move {
  std::function<const void*(const void* address, int64_t bytes)> place;
  std::function<const void*(const void* before, const void* now)> host_of;
  std::function<bool(const ArrowSchema& column, const ArrowArray& array)> stays;
};

ArrowArray* move_array(Moved& moved, const ArrowSchema& schema, const ArrowArray& array, const Move& move) {
  ArrowArray& to = moved.arrays.emplace_back(array);
  to.release = nullptr;
  to.private_data = nullptr;
  const Layout layout = layout_of(schema, array);
  std::vector<const void*>& buffers = moved.buffers.emplace_back(array.buffers, array.buffers + array.n_buffers);
  to.buffers = buffers.data();
  if (schema.dictionary) {
    require(array.dictionary, "a column of codes has no dictionary");
    to.dictionary = move_array(moved, *schema.dictionary, *array.dictionary, {move.place, move.host_of, {}});
  }
  if (array.length == 0 || (move.stays && move.stays(schema, array))) return &to;
  if (array.n_buffers > 0 && buffers[0]) buffers[0] = move.place(buffers[0], layout.bits);
  if (array.n_buffers > 1 && buffers[1]) {
    const void* const offsets = buffers[1];
    buffers[1] = move.place(offsets, layout.values);
    if (array.n_buffers > 2 && buffers[2]) buffers[2] = move.place(buffers[2], text_bytes(move.host_of(offsets, buffers[1]), layout));
  }
  return &to;
}

ArrowArray move_table(std::unique_ptr<Moved> moved, const ArrowSchema& schema, const ArrowArray& table, const Move& move) {
  require(table.n_children == schema.n_children, "the table has another number of columns than its schema");
  require(table.null_count <= 0 || table.n_buffers < 1 || !table.buffers[0], "the table has rows that are missing as a whole");
  ArrowArray to = table;
  auto& none = moved->buffers.emplace_back(1, nullptr);
  to.n_buffers = 1;
  to.buffers = none.data();
  auto& children = moved->children.emplace_back();
  for (int64_t k = 0; k < table.n_children; ++k) children.push_back(move_array(*moved, *schema.children[k], *table.children[k], move));
  to.children = children.data();
  to.null_count = 0;
  to.private_data = moved.release();
  to.release = [](ArrowArray* a) {
    delete static_cast<Moved*>(a->private_data);
    a->release = nullptr;
  };
  return to;
}

std::shared_ptr<arrow::ArrayData> take_over(ArrowArray& array) {
  auto own = std::make_shared<arrow::ArrayData>();
  **own = array;
  array.release = nullptr;
  return own;
}

Value frame_on_gpu(gasell_session& session, ArrowSchema& schema, ArrowDeviceArray& given) {
  const auto device = static_cast<int>(given.device_id);
  if (given.sync_event) wait_for_event(session, device, *static_cast<const uint64_t*>(given.sync_event));
  const std::shared_ptr<arrow::ArrayData> table = take_over(given.array);
  auto own_schema = std::make_unique<arrow::Schema>();
  **own_schema = schema;
  schema.release = nullptr;
  auto moved = std::make_unique<Moved>();
  Moved& m = *moved;
  m.original = table;
  const auto bytes_on_gpu = [&](const void* address, int64_t bytes) {
    return array_over_gpu(session, const_cast<void*>(address), DType::u8, 1, &bytes, nullptr, device, 0, [table] {});
  };
  const auto to_host = [&](const void* address, int64_t bytes) -> const void* {
    const auto memory = std::make_shared<Array::Memory>(bytes_on_gpu(address, bytes).memory(false));
    m.kept.push_back(memory);
    return memory->data;
  };
  const auto stays = [](const ArrowSchema& column, const ArrowArray& array) {
    const auto type = arrow::field_type(column);
    return type && !column.dictionary && arrow::lies_as_ours(*type, array);
  };
  ArrowArray on_host =
      move_table(std::move(moved), **own_schema, **table, {to_host, [](const void*, const void* here) { return here; }, stays});
  const arrow::Lender lender = [&session, device, table](const void* address, DType dtype, int64_t count) {
    return array_over_gpu(session, const_cast<void*>(address), dtype, 1, &count, nullptr, device, 0, [table] {}).node();
  };
  return frame_of(session, stream_of(**own_schema, on_host), lender);
}

}  // namespace

gasell_status gasell_bind_arrow_device(gasell_session* session, const char* name, ArrowSchema* schema, ArrowDeviceArray* array,
                                       gasell_error** error) noexcept {
  return guarded(error, session, [&] {
    require_binding(session, name);
    require(schema && array && schema->release && array->array.release,
            "gasell_bind_arrow_device wants a schema and an array that were not released");
    require(schema->format && std::string_view(schema->format) == "+s", "a table is an array of records: its format is \"+s\"");
    switch (array->device_type) {
      case ARROW_DEVICE_CPU:
      case ARROW_DEVICE_CUDA_HOST:
        if (array->device_type == ARROW_DEVICE_CUDA_HOST && array->sync_event)
          wait_for_event(*session, static_cast<int>(array->device_id), *static_cast<const uint64_t*>(array->sync_event));
        return session->interpreter.set_global(name, frame_of(*session, stream_of(*schema, array->array)));
      case ARROW_DEVICE_CUDA:
      case ARROW_DEVICE_CUDA_MANAGED:
      case ARROW_DEVICE_EXT_DEV:  // a simulated GPU
        return session->interpreter.set_global(name, frame_on_gpu(*session, *schema, *array));
      default: throw InvalidArgument{"the table is neither in the host's memory nor in that of an NVIDIA GPU"};
    }
  });
}

gasell_status gasell_value_arrow_device(gasell_value* value, int device_type, int device, ArrowSchema* schema, ArrowDeviceArray* array,
                                        gasell_error** error) noexcept {
  return guarded(error, value ? value->session : nullptr, [&] {
    require(value && schema && array, "gasell_value_arrow_device wants a value and places for the schema and the array");
    schema->release = nullptr;
    *array = {};
    array->device_type = device_type;
    array->device_id = device_type == ARROW_DEVICE_CPU ? -1 : device;
    require(device_type == ARROW_DEVICE_CPU || device_type == ARROW_DEVICE_CUDA || device_type == ARROW_DEVICE_EXT_DEV,
            "tables are given in the host's memory, or in that of an NVIDIA GPU");
    arrow::Stream stream = stream_of_frame(*value);
    arrow::Schema own_schema;
    const auto table = std::make_shared<arrow::ArrayData>();
    if (stream->get_schema(stream.get(), own_schema.get()) != 0 || stream->get_next(stream.get(), table->get()) != 0)
      throw Error("MemoryError", "the machine has no more memory to give", {}, Blame::environment);
    gasell_session& session = *value->session;
    if (device_type == ARROW_DEVICE_CPU) {
      array->array = **table;
      (*table)->release = nullptr;
    } else {
      auto moved = std::make_unique<Moved>();
      Moved& m = *moved;
      m.original = table;
      const auto to_gpu = [&](const void* address, int64_t bytes) -> const void* {
        if (bytes == 0) return address;
        OnGpu there = on_gpu(
            session, array_over(session.engine, const_cast<void*>(address), DType::u8, 1, &bytes, nullptr, false, [table] {}), device);
        require(there.simulated == (device_type == ARROW_DEVICE_EXT_DEV), "the device of simulated GPUs is 12, of others 2");
        const void* const at = there.data;
        m.kept.push_back(std::make_shared<OnGpu>(std::move(there)));
        return at;
      };
      array->array = move_table(std::move(moved), *own_schema, **table, {to_gpu, [](const void* here, const void*) { return here; }, {}});
    }
    *schema = *own_schema;
    own_schema->release = nullptr;
  });
}
