// Datasets.
#include <vector>

#include "plugins/hdf5/common.h"

namespace gasell::plugin {
namespace {

constexpr unsigned kLzf = 32000;  // the number that h5py registered its filter by

/// What elements are read from or written to: the selected part of a dataset, and as many in memory.
struct Part {
  Handle space, memory;
  int64_t count;
};

constexpr const char* kClosed = "Unable to synchronously get dataspace (identifier is not of specified type)";

Part part_of(hid_t dataset, const Hdf5Selection* selection) {
  check_open(dataset, kHdf5Runtime, kClosed);
  Handle space(H5Dget_space(dataset), H5Sclose);
  checked<hid_t>(space, kHdf5Runtime, "Unable to synchronously get dataspace");
  const int64_t count = select(space, selection);
  Handle memory = memory_space(space, selection, count);
  return {std::move(space), std::move(memory), count};
}

/// Whether elements lie in a file as in memory. Truth values do not: a byte of the file may be another number.
bool is_native(hid_t kept, const Hdf5Type& type) {
  if (type.kind != kHdf5Signed && type.kind != kHdf5Unsigned && type.kind != kHdf5Float && type.kind != kHdf5Complex) return false;
  return H5Tequal(kept, memory_type(type)) > 0;
}

Handle creation(const Hdf5Shape& shape, const Hdf5Storage& storage) {
  constexpr const char* kWhat = "Unable to synchronously create dataset";
  Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  checked(H5Pset_obj_track_times(how, 0), kHdf5Value, kWhat);  // so that the same contents are the same bytes
  if (storage.is_chunked) {
    const std::vector<hsize_t> chunks(storage.chunks, storage.chunks + shape.rank);
    checked(H5Pset_chunk(how, shape.rank, chunks.data()), kHdf5Value, kWhat);
  }
  // Checksums are of what is in the file; bytes are put in order before they are packed.
  if (storage.shuffle) checked(H5Pset_shuffle(how), kHdf5Value, kWhat);
  if (storage.gzip >= 0) checked(H5Pset_deflate(how, static_cast<unsigned>(storage.gzip)), kHdf5Value, kWhat);
  if (storage.fletcher32) checked(H5Pset_fletcher32(how), kHdf5Value, kWhat);
  if (storage.fill) checked(H5Pset_fill_value(how, memory_type(*storage.fill_type), storage.fill), kHdf5Value, kWhat);
  return how;
}

std::vector<hsize_t> offset_of(hid_t dataset, const int64_t* place) {
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const int rank = checked(H5Sget_simple_extent_ndims(space), kHdf5Runtime, kClosed);
  return std::vector<hsize_t>(place, place + rank);
}

/// What an element that no name of the enumeration has becomes is no truth value.
void make_truths(void* elements, int64_t count) {
  auto* const bytes = static_cast<unsigned char*>(elements);
  for (int64_t k = 0; k < count; ++k) bytes[k] = bytes[k] != 0;
}

}  // namespace

int dataset_create(int64_t parent, const char* path, const Hdf5Type* type, const Hdf5Shape* shape, const Hdf5Storage* storage,
                   int64_t* dataset, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    check_open(parent, kHdf5Value, "Unable to synchronously create dataset (invalid identifier type to function)");
    const Handle kept = file_type(*type), space = space_of(*shape, storage->most), how = creation(*shape, *storage);
    *dataset = checked(path ? H5Dcreate2(parent, path, kept, space, link_creation(), how, H5P_DEFAULT)
                            : H5Dcreate_anon(parent, kept, space, how, H5P_DEFAULT),
                       kHdf5Value, "Unable to synchronously create dataset");
  });
}

int dataset_describe(int64_t dataset, Hdf5Type* type, Hdf5Shape* shape, Hdf5Storage* storage, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    check_open(dataset, kHdf5Runtime, kClosed);
    const Handle space(H5Dget_space(dataset), H5Sclose);
    checked<hid_t>(space, kHdf5Runtime, "Unable to synchronously get dataspace");
    const Handle kept(H5Dget_type(dataset), H5Tclose), how(H5Dget_create_plist(dataset), H5Pclose);
    checked<hid_t>(kept, kHdf5Runtime, "Unable to synchronously get type of dataset");
    checked<hid_t>(how, kHdf5Runtime, "Unable to get dataset creation properties");
    *type = describe(kept);
    *shape = shape_of(space);
    *storage = Hdf5Storage{};
    storage->gzip = -1;
    hsize_t extents[H5S_MAX_RANK] = {};
    if (shape->rank > 0) {
      H5Sget_simple_extent_dims(space, nullptr, extents);
      for (int k = 0; k < shape->rank; ++k) storage->most[k] = extents[k] == H5S_UNLIMITED ? -1 : static_cast<int64_t>(extents[k]);
    }
    if (H5Pget_layout(how) == H5D_CHUNKED && H5Pget_chunk(how, H5S_MAX_RANK, extents) == shape->rank) {
      storage->is_chunked = 1;
      for (int k = 0; k < shape->rank; ++k) storage->chunks[k] = static_cast<int64_t>(extents[k]);
    }
    storage->is_native = is_native(kept, *type);
    const int filters = H5Pget_nfilters(how);
    for (int k = 0; k < filters; ++k) {
      unsigned flags = 0, values[8] = {}, configuration = 0;
      size_t used = 8;
      switch (static_cast<unsigned>(H5Pget_filter2(how, static_cast<unsigned>(k), &flags, &used, values, 0, nullptr, &configuration))) {
        case H5Z_FILTER_DEFLATE: storage->gzip = static_cast<int>(values[0]); break;
        case H5Z_FILTER_SHUFFLE: storage->shuffle = 1; break;
        case H5Z_FILTER_FLETCHER32: storage->fletcher32 = 1; break;
        case H5Z_FILTER_SZIP: storage->is_szip = 1; break;
        case kLzf: storage->is_lzf = 1; break;
        default: break;
      }
      if (k == 0 && filters == 2) storage->has_known_filters = storage->shuffle;
    }
    // Two filters are shuffle and gzip where the first is the one and both were found.
    const int known = storage->shuffle + (storage->gzip >= 0);
    unsigned options = 0;  // chunks at the ends can be left unpacked
    if (storage->is_chunked) H5Pget_chunk_opts(how, &options);
    storage->has_known_filters = options == 0 && known == filters && (filters == 1 || (filters == 2 && storage->has_known_filters));
  });
}

int dataset_fill(int64_t dataset, const Hdf5Type* type, void* element, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    const Handle how(H5Dget_create_plist(dataset), H5Pclose);
    checked(H5Pget_fill_value(how, memory_type(*type), element), kHdf5Runtime, "Unable to get fill value");
    if (type->kind == kHdf5Boolean) make_truths(element, 1);
  });
}

int dataset_resize(int64_t dataset, const Hdf5Shape* shape, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    const std::vector<hsize_t> extents(shape->extents, shape->extents + shape->rank);
    checked(H5Dset_extent(dataset, extents.data()), kHdf5Runtime, "Unable to synchronously change a dataset's dimensions");
  });
}

int dataset_offset(int64_t dataset, const Hdf5Type* type, int64_t* offset, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    check_open(dataset, kHdf5Runtime, kClosed);
    *offset = -1;
    const Handle kept(H5Dget_type(dataset), H5Tclose), how(H5Dget_create_plist(dataset), H5Pclose);
    if (H5Pget_layout(how) != H5D_CONTIGUOUS || H5Pget_external_count(how) != 0 || !is_native(kept, *type)) return;
    const haddr_t place = H5Dget_offset(dataset);
    if (place != HADDR_UNDEF) *offset = static_cast<int64_t>(place);
  });
}

int chunk_size(int64_t dataset, const int64_t* place, int64_t* bytes, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    check_open(dataset, kHdf5Runtime, kClosed);
    const std::vector<hsize_t> at = offset_of(dataset, place);
    hsize_t size = 0;
    *bytes = H5Dget_chunk_storage_size(dataset, at.data(), &size) >= 0 && size > 0 ? static_cast<int64_t>(size) : -1;
  });
}

int chunk_read(int64_t dataset, const int64_t* place, void* into, int* skipped, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    check_open(dataset, kHdf5Runtime, kClosed);
    uint32_t mask = 0;
    checked(H5Dread_chunk(dataset, H5P_DEFAULT, offset_of(dataset, place).data(), &mask, into), kHdf5Os, "Can't synchronously read data");
    *skipped = static_cast<int>(mask);
  });
}

int dataset_read(int64_t dataset, const Hdf5Selection* selection, const Hdf5Type* type, void* into, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    const Part part = part_of(dataset, selection);
    checked(H5Dread(dataset, memory_type(*type), part.memory, part.space, H5P_DEFAULT, into), kHdf5Os, "Can't synchronously read data");
    if (type->kind == kHdf5Boolean) make_truths(into, part.count);
  });
}

int dataset_write(int64_t dataset, const Hdf5Selection* selection, const Hdf5Type* type, const void* from, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    const Part part = part_of(dataset, selection);
    checked(H5Dwrite(dataset, memory_type(*type), part.memory, part.space, H5P_DEFAULT, from), kHdf5Os, "Can't synchronously write data");
  });
}

int dataset_read_texts(int64_t dataset, const Hdf5Selection* selection, Hdf5Found found, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    const Part part = part_of(dataset, selection);
    const Handle kept(H5Dget_type(dataset), H5Tclose);
    read_texts(kept, part.count, found, [&](hid_t type, void* into) {
      checked(H5Dread(dataset, type, part.memory, part.space, H5P_DEFAULT, into), kHdf5Os, "Can't synchronously read data");
    });
  });
}

int dataset_write_texts(int64_t dataset, const Hdf5Selection* selection, const char* const* texts, int64_t count, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    const Part part = part_of(dataset, selection);
    if (part.count != count) throw Failure{kHdf5Type, "Texts are written to as many places"};
    const Handle kept(H5Dget_type(dataset), H5Tclose);
    if (H5Tis_variable_str(kept) <= 0) throw Failure{kHdf5Unsupported, "texts of fixed lengths are read, not written"};
    checked(H5Dwrite(dataset, kept, part.memory, part.space, H5P_DEFAULT, texts), kHdf5Os, "Can't synchronously write data");
  });
}

}  // namespace gasell::plugin
