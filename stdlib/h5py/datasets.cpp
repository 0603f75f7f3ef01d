// Natives of datasets.
#include <algorithm>

#include "runtime/device/device.h"
#include "runtime/io/hdf5/chunks.h"
#include "runtime/session/dict.h"
#include "runtime/session/types.h"
#include "stdlib/h5py/handles.h"
#include "stdlib/h5py/module.h"

namespace gasell {
namespace {

using namespace h5py;
using Args = std::span<Value>;

const char* path_of(const Value& v) { return v.is_none() ? nullptr : v.as<Str>()->value.c_str(); }

/// The plugin's selection of a script's: None, (start, step, count, listed, places) or (points,), an array of one row a point.
class Selected {
 public:
  Selected(Interpreter& in, const Value& v) {
    if (v.is_none()) return;
    const auto& parts = v.as<Tuple>()->items;
    selection_.listed = -1;
    if (parts.size() == 1) {
      keep(in, parts[0], points_);
      const Array points = numpy::as_array(in, parts[0]);
      selection_.points = points_.data();
      selection_.point_count = points.shape()[0];
      if (points_.empty()) selection_.points = &nothing_;
    } else {
      start_ = numpy::to_shape(in, parts[0]);
      step_ = numpy::to_shape(in, parts[1]);
      count_ = numpy::to_shape(in, parts[2]);
      selection_.start = start_.data();
      selection_.step = step_.data();
      selection_.count = count_.data();
      selection_.listed = static_cast<int>(to_index(in, parts[3]));
      if (selection_.listed >= 0) keep(in, parts[4], points_);
      selection_.places = points_.data();
      selection_.place_count = static_cast<int64_t>(points_.size());
    }
    is_part_ = true;
  }
  size_t rank() const { return start_.size(); }
  const Hdf5Selection* get() const { return is_part_ ? &selection_ : nullptr; }

 private:
  static void keep(Interpreter& in, const Value& v, std::vector<int64_t>& into) {
    const Array::Elements elements = numpy::as_array(in, v).elements(in.engine());
    for (int64_t k = 0; k < elements.count; ++k) into.push_back(elements[k].cast(DType::i64).i);
  }

  bool is_part_ = false;
  graph::Shape start_, step_, count_;
  std::vector<int64_t> points_;
  int64_t nothing_ = 0;
  Hdf5Selection selection_{};
};

/// create_dataset(parent, path, dtype, shape, most, chunks, gzip, shuffle, fletcher32, fill): dtype None: texts; shape None: no elements;
/// most: -1 without end, chunks, gzip and fill None: none.
Value create_dataset(Interpreter& in, Args args) {
  Hdf5Type type{};
  type.kind = kHdf5Text;
  if (!args[2].is_none()) type = type_of_dtype(dtype_of(in, args[2]));
  const Hdf5Shape shape = to_hdf5_shape(in, args[3]), most = to_hdf5_shape(in, args[4]);
  Hdf5Storage storage{};
  std::copy(std::begin(most.extents), std::end(most.extents), storage.most);
  if (!args[5].is_none()) {
    const Hdf5Shape chunks = to_hdf5_shape(in, args[5]);
    storage.is_chunked = 1;
    std::copy(std::begin(chunks.extents), std::end(chunks.extents), storage.chunks);
  }
  storage.gzip = args[6].is_none() ? -1 : static_cast<int>(to_index(in, args[6]));
  storage.shuffle = gasell::truth(in, args[7]);
  storage.fletcher32 = gasell::truth(in, args[8]);
  alignas(16) char element[16] = {};
  Hdf5Type fill_type{};
  if (!args[9].is_none()) {
    const Scalar fill = numpy::as_array(in, args[9]).elements(in.engine())[0];
    fill.store(element);
    fill_type = type_of_dtype(fill.type);
    storage.fill = element;
    storage.fill_type = &fill_type;
  }
  int64_t dataset = -1;
  hdf5::call(hdf5::plugin().dataset_create, id_of(args[0]), path_of(args[1]), &type, &shape, &storage, &dataset);
  return opened(dataset, open_of(args[0]));
}

/// describe(dataset): a dict.
Value describe(Interpreter& in, Args args) {
  Hdf5Type type{};
  Hdf5Shape shape{};
  Hdf5Storage storage{};
  hdf5::call(hdf5::plugin().dataset_describe, id_of(args[0]), &type, &shape, &storage);
  const size_t rank = static_cast<size_t>(std::max(shape.rank, 0));
  std::vector<Value> most;
  for (size_t k = 0; k < rank; ++k) most.push_back(storage.most[k] < 0 ? Value() : Value::of(storage.most[k]));
  const Value facts = make_dict();
  const auto add = [&](const char* name, Value value) { facts.as<Dict>()->insert(in, make_str(name), std::move(value)); };
  add("type", type_value(type));
  add("shape", shape_value(shape));
  add("maxshape", shape.rank < 0 ? Value() : make_tuple(std::move(most)));
  add("chunks", storage.is_chunked ? numpy::from_shape(graph::Shape(storage.chunks, storage.chunks + rank)) : Value());
  add("compression", storage.gzip >= 0 ? make_str("gzip")
                     : storage.is_lzf  ? make_str("lzf")
                     : storage.is_szip ? make_str("szip")
                                       : Value());
  add("compression_opts", storage.gzip >= 0 ? Value::of(storage.gzip) : Value());
  add("shuffle", Value::of(storage.shuffle != 0));
  add("fletcher32", Value::of(storage.fletcher32 != 0));
  return facts;
}

Value fill_value(Interpreter& in, Args args) {
  const DType dtype = dtype_of(in, args[1]);
  const Hdf5Type type = type_of_dtype(dtype);
  alignas(16) char element[16] = {};
  hdf5::call(hdf5::plugin().dataset_fill, id_of(args[0]), &type, static_cast<void*>(element));
  return numpy::wrap_scalar(Scalar::load(element, dtype));
}

Value resize(Interpreter& in, Args args) {
  const Hdf5Shape shape = to_hdf5_shape(in, args[1]);
  hdf5::call(hdf5::plugin().dataset_resize, id_of(args[0]), &shape);
  return {};
}

void read_into(int64_t dataset, const Hdf5Selection* selection, const Hdf5Type& type, size_t rank, void* into) {
  const bool is_block = selection && selection->listed < 0 && !selection->points &&
                        std::count(selection->step, selection->step + rank, 1) == static_cast<int64_t>(rank);
  if (is_block && hdf5::read_chunks(dataset, type, selection->start, selection->count, into)) return;
  hdf5::call(hdf5::plugin().dataset_read, dataset, selection, &type, into);
}

/// read(dataset, selection, dtype, shape)
Value read(Interpreter& in, Args args) {
  const Selected selected(in, args[1]);
  const DType dtype = dtype_of(in, args[2]);
  const graph::Shape shape = numpy::to_shape(in, args[3]);
  const HostStorageRef memory = new_memory(in.engine().device().budget(), shape, dtype);
  const Hdf5Type type = type_of_dtype(dtype);
  if (graph::size_of(shape) > 0) read_into(id_of(args[0]), selected.get(), type, selected.rank(), memory->write());
  return array_over(memory, dtype, shape);
}

/// read_later(dataset, dtype, start, count): a block, which is read when its elements are wanted.
Value read_later(Interpreter& in, Args args) {
  const DType dtype = dtype_of(in, args[1]);
  const graph::Shape start = numpy::to_shape(in, args[2]), count = numpy::to_shape(in, args[3]);
  MemoryBudget& budget = in.engine().device().budget();
  // The dataset stays open as long as something waits for it.
  const auto make = [dataset = open_of(args[0]), dtype, start, count, &budget] {
    HostStorageRef memory = new_memory(budget, count, dtype);
    const Hdf5Type type = type_of_dtype(dtype);
    const graph::Shape step(count.size(), 1);
    const Hdf5Selection block{start.data(), step.data(), count.data(), -1, nullptr, 0, nullptr, 0};
    read_into(dataset->id, &block, type, count.size(), memory->write());
    return memory;
  };
  return array_over(deferred(graph::bytes_of(count, dtype), make), dtype, count);
}

/// map_dataset(dataset, path, dtype, shape): an array of the file's own memory, or None where elements lie otherwise there.
Value map_dataset(Interpreter& in, Args args) {
  const DType dtype = dtype_of(in, args[2]);
  const graph::Shape shape = numpy::to_shape(in, args[3]);
  const Hdf5Type type = type_of_dtype(dtype);
  int64_t offset = -1;
  hdf5::call(hdf5::plugin().dataset_offset, id_of(args[0]), &type, &offset);
  if (offset < 0 || offset % size_of(dtype) != 0) return {};
  return array_over(map_file(path_of(args[1]), offset, graph::bytes_of(shape, dtype)), dtype, shape);
}

/// write(dataset, selection, array)
Value write(Interpreter& in, Args args) {
  const Selected selected(in, args[1]);
  const Array::Elements elements = numpy::as_array(in, args[2]).elements(in.engine());
  const Hdf5Type type = type_of_dtype(elements.dtype);
  hdf5::call(hdf5::plugin().dataset_write, id_of(args[0]), selected.get(), &type, static_cast<const void*>(elements.data));
  return {};
}

Value read_texts(Interpreter& in, Args args) {
  const Selected selected(in, args[1]);
  Texts texts;
  hdf5::call(hdf5::plugin().dataset_read_texts, id_of(args[0]), selected.get(), texts.collect());
  return text_list(texts.found);
}

/// write_texts(dataset, selection, list)
Value write_texts(Interpreter& in, Args args) {
  const Selected selected(in, args[1]);
  std::vector<std::string> texts;
  const std::vector<const char*> pointers = text_pointers(in, args[2], texts);
  hdf5::call(hdf5::plugin().dataset_write_texts, id_of(args[0]), selected.get(), pointers.data(), static_cast<int64_t>(pointers.size()));
  return {};
}

}  // namespace

std::vector<NativeFunction> h5py_dataset_functions() {
  return {
      {"create_dataset", "parent, path, dtype, shape, most, chunks, gzip, shuffle, fletcher32, fill, /", create_dataset,
       "A handle of a new dataset."},
      {"describe", "dataset, /", describe, "A dict of what a dataset is."},
      {"fill_value", "dataset, dtype, /", fill_value, "The element that stands where nothing was written."},
      {"resize", "dataset, shape, /", resize, "Another shape of a dataset in chunks."},
      {"read", "dataset, selection, dtype, shape, /", read, "The selected elements as an array."},
      {"read_later", "dataset, dtype, start, count, /", read_later, "A block that is read when its elements are wanted."},
      {"map_dataset", "dataset, path, dtype, shape, /", map_dataset, "An array of the file's own memory, or None."},
      {"write", "dataset, selection, array, /", write, "Writes as many elements as are selected."},
      {"read_texts", "dataset, selection, /", read_texts, "The selected texts as a list."},
      {"write_texts", "dataset, selection, texts, /", write_texts, "Writes as many texts as are selected."},
  };
}

}  // namespace gasell
