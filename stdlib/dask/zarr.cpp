// Natives of da.from_zarr and da.to_zarr.
#include "runtime/io/zarr/zarr.h"

#include <cstring>

#include "lang/diagnostic.h"
#include "runtime/device/device.h"
#include "runtime/session/dict.h"
#include "runtime/session/types.h"
#include "stdlib/dask/module.h"
#include "stdlib/numpy/ndarray.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

/// An array that is open.
class ZarrArray final : public Object {
 public:
  explicit ZarrArray(zarr::Description d) : description(std::make_shared<const zarr::Description>(std::move(d))) {}
  const Type& type() const override {
    static const Type type{"Array", "zarr", &object_type()};
    return type;
  }
  const std::shared_ptr<const zarr::Description> description;
};

ZarrArray& self(const Value& v) { return *v.as<ZarrArray>(); }

/// zarr_open(store, path): (array, shape, chunks, dtype)
Value open(Interpreter& in, Args args) {
  const std::filesystem::path store = str(in, args[0]);
  const std::string path = str(in, args[1]);
  const std::string shown = "LocalStore('file://" + std::filesystem::absolute(store).lexically_normal().string() + "')";
  zarr::Description d = zarr::open(path.empty() ? store : store / path, shown, "'" + path + "'");
  std::vector<Value> parts{Value(), numpy::from_shape(d.shape), numpy::from_shape(d.chunks), numpy::dtype_object(d.dtype)};
  parts[0] = Value::make<ZarrArray>(std::move(d));
  return make_tuple(std::move(parts));
}

/// zarr_create(store, path, shape, chunks, dtype, format, codecs, fill, overwrite): codecs are pairs of names and levels or None.
Value create(Interpreter& in, Args args) {
  const std::filesystem::path store = str(in, args[0]);
  const std::string path = str(in, args[1]);
  zarr::Description d;
  d.folder = path.empty() ? store : store / path;
  d.format = static_cast<int>(to_index(in, args[5]));
  d.separator = d.format == 2 ? "." : "/";
  d.prefix = d.format == 2 ? "" : "c";
  d.shape = numpy::to_shape(in, args[2]);
  d.chunks = numpy::to_shape(in, args[3]);
  d.dtype = *numpy::to_dtype(in, args[4]);
  d.fill = numpy::as_array(in, args[7]).elements(in.engine())[0].cast(d.dtype);
  for (size_t k = 0; k < d.shape.size(); ++k) d.order.push_back(static_cast<int>(k));
  for (const Value& pair : to_vector(in, args[6])) {
    const auto& items = pair.as<Tuple>()->items;
    d.codecs.push_back(zarr::codec_of(str(in, items[0]), items[1].is_none() ? std::nullopt : std::optional<int>(to_index(in, items[1]))));
  }
  zarr::create(d, store, path, gasell::truth(in, args[8]));
  return Value::make<ZarrArray>(std::move(d));
}

/// zarr_chunk(array, place): the chunk, which is read when its elements are wanted; of those at the end what lies in the array.
Value chunk(Interpreter& in, Args args) {
  const std::shared_ptr<const zarr::Description> d = self(args[0]).description;
  const std::vector<int64_t> place = numpy::to_shape(in, args[1]);
  MemoryBudget& budget = in.engine().device().budget();
  const int64_t bytes = std::max<int64_t>(1, graph::bytes_of(d->chunks, d->dtype));
  const HostStorageRef storage = deferred(bytes, [d, place, &budget] { return zarr::read_chunk(*d, place, budget); });
  graph::NodeRef node = graph::buffer(storage, d->dtype, d->chunks, d->chunk_strides(), 0);
  graph::Shape shape;
  std::vector<graph::ViewAxis> axes;
  for (size_t k = 0; k < place.size(); ++k) {
    shape.push_back(std::min(d->chunks[k], d->shape[k] - place[k] * d->chunks[k]));
    axes.push_back({static_cast<int>(k), 0, 1});
  }
  if (shape != d->chunks) node = graph::view(node, shape, axes);
  return numpy::wrap_array(node);
}

/// zarr_write(array, place, elements): of a whole chunk.
Value write(Interpreter& in, Args args) {
  const zarr::Description& d = *self(args[0]).description;
  const Array::Elements e = numpy::as_array(in, args[2]).elements(in.engine());
  zarr::write_chunk(d, numpy::to_shape(in, args[1]), {e.data, static_cast<size_t>(e.count * size_of(e.dtype))});
  return {};
}

}  // namespace

std::vector<NativeFunction> zarr_functions() {
  return {
      {"zarr_open", "store, path", open, "An array of a folder, its shape, chunks and dtype."},
      {"zarr_create", "store, path, shape, chunks, dtype, format, codecs, fill, overwrite", create, "A new array in a folder."},
      {"zarr_chunk", "array, place", chunk, "A chunk of an array."},
      {"zarr_write", "array, place, elements", write, "Writes a chunk."},
  };
}

void register_zarr_exceptions() {
  static const bool once = [] {
    static const Type base{"BaseZarrError", "zarr.errors", exception_type("ValueError")};
    static const Type missing{"ArrayNotFoundError", "zarr.errors", &base, {}, {}, nullptr, {}, exception_type("FileNotFoundError")};
    static const Type array{"ContainsArrayError", "zarr.errors", &base};
    static const Type group{"ContainsGroupError", "zarr.errors", &base};
    for (const Type* type : {&base, &missing, &array, &group}) register_exception(*type);
    return true;
  }();
  (void)once;
}

}  // namespace gasell
