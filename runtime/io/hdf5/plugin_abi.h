// What the core and the plugin gasell_hdf5.so (plugins/hdf5, over libhdf5) say to each other. Plain C: no C++ object and no exception
// crosses.
//
// Files, groups and datasets are the library's own numbers (hid_t). They are given back with close(); closing a file ends all that was
// opened through it, after which every function fails with a text for them. A function that can fail returns 0, or a kind of failure with
// its text in Hdf5Problem. All functions may be called from any thread; they run one after the other.
#pragma once

#include <cstdint>

extern "C" {

#define GASELL_HDF5_ABI 1
#define GASELL_HDF5_MOST_AXES 32

/// Which exception h5py has for it.
enum Hdf5Failure {
  kHdf5Fine = 0,
  kHdf5System,  // OSError with `number`, an errno
  kHdf5Os,
  kHdf5Value,
  kHdf5Key,
  kHdf5Type,
  kHdf5Runtime,
  kHdf5Unsupported,
  kHdf5Memory,
};

struct Hdf5Problem {
  int number;
  char text[1024];
};

enum Hdf5Access { kHdf5Read = 0, kHdf5Change, kHdf5CreateNew, kHdf5CreateOver };
enum Hdf5ObjectKind { kHdf5Group = 0, kHdf5Dataset, kHdf5NamedType };

enum Hdf5Kind { kHdf5Boolean = 0, kHdf5Signed, kHdf5Unsigned, kHdf5Float, kHdf5Complex, kHdf5Text, kHdf5Foreign };

/// The type of an element. In memory elements are native whatever the file has: booleans of one byte, complex numbers of two floats.
struct Hdf5Type {
  int kind;
  int64_t bytes;      // of an element; of a text its fixed length, or 0: of any length
  int is_big_endian;  // in the file
  char name[96];      // of what is foreign
};

/// rank -1: a null dataspace, which has no elements and no shape.
struct Hdf5Shape {
  int rank;
  int64_t extents[GASELL_HDF5_MOST_AXES];
};

/// How a dataset's elements are kept.
struct Hdf5Storage {
  int is_chunked;
  int64_t chunks[GASELL_HDF5_MOST_AXES];
  int64_t most[GASELL_HDF5_MOST_AXES];  // how far axes can grow; -1: without end
  int gzip;                             // the level, or -1: elements are not packed so
  int is_lzf, is_szip;                  // for reading alone
  int shuffle, fletcher32;
  int has_known_filters;  // none but shuffle, then gzip, and one of them at least
  int is_native;          // elements lie in the file as in memory; not of truth values, which may be other numbers there
  // Of creation: an element in memory and its type, which the library converts from; or null.
  const void* fill;
  const struct Hdf5Type* fill_type;
};

/// Elements of a dataset. Blocks: along axis k, count[k] places from start[k] on, step[k] apart, but those of `places` along the axis
/// `listed` (none: -1). Points: where `points` is set, that many times rank coordinates.
struct Hdf5Selection {
  const int64_t* start;
  const int64_t* step;
  const int64_t* count;
  int listed;
  const int64_t* places;  // increasing
  int64_t place_count;
  const int64_t* points;
  int64_t point_count;
};

/// Is given texts: names, or elements in C order. They need not be UTF-8.
struct Hdf5Found {
  void (*text)(void* context, const char* text, int64_t bytes);
  void* context;
};

struct GasellHdf5 {
  int abi;
  const char* version;  // of libhdf5

  int (*file_open)(const char* path, int access, int64_t* file, struct Hdf5Problem* problem);
  int (*file_close)(int64_t file, struct Hdf5Problem* problem);
  /// Whether a file can be changed, which one that is open already decides.
  int (*file_is_writable)(int64_t file, int* writable, struct Hdf5Problem* problem);
  int (*file_flush)(int64_t file, struct Hdf5Problem* problem);
  /// Whether a file has the form at all.
  int (*is_hdf5)(const char* path);

  void (*close)(int64_t object);
  int (*is_open)(int64_t object);
  int (*open)(int64_t parent, const char* path, int64_t* object, int* kind, struct Hdf5Problem* problem);
  int (*contains)(int64_t parent, const char* path, int* found, struct Hdf5Problem* problem);
  /// The path by which it was opened; none of an object without a name.
  int (*name)(int64_t object, struct Hdf5Found found, struct Hdf5Problem* problem);
  /// Two numbers that are the same for the same object of the same open file.
  int (*identity)(int64_t object, int64_t* file, int64_t* place, struct Hdf5Problem* problem);
  /// Names in a group, in the order of their creation where the group keeps it, else alphabetical.
  int (*children)(int64_t group, struct Hdf5Found found, struct Hdf5Problem* problem);
  /// Paths of all objects below a group, each once.
  int (*visit)(int64_t group, struct Hdf5Found found, struct Hdf5Problem* problem);
  /// Groups in the path that are missing are made too; a null path: a group without a name.
  int (*group_create)(int64_t parent, const char* path, int64_t* group, struct Hdf5Problem* problem);
  int (*unlink)(int64_t parent, const char* path, struct Hdf5Problem* problem);
  int (*link)(int64_t parent, const char* path, int64_t object, struct Hdf5Problem* problem);
  int (*soft_link)(int64_t parent, const char* path, const char* target, struct Hdf5Problem* problem);
  int (*move)(int64_t parent, const char* from, const char* to, struct Hdf5Problem* problem);

  /// `chunks` counts where is_chunked, `most` always. Texts are of any length, UTF-8.
  int (*dataset_create)(int64_t parent, const char* path, const struct Hdf5Type* type, const struct Hdf5Shape* shape,
                        const struct Hdf5Storage* storage, int64_t* dataset, struct Hdf5Problem* problem);
  int (*dataset_describe)(int64_t dataset, struct Hdf5Type* type, struct Hdf5Shape* shape, struct Hdf5Storage* storage,
                          struct Hdf5Problem* problem);
  /// The element that stands where nothing was written, in memory's form.
  int (*dataset_fill)(int64_t dataset, const struct Hdf5Type* type, void* element, struct Hdf5Problem* problem);
  int (*dataset_resize)(int64_t dataset, const struct Hdf5Shape* shape, struct Hdf5Problem* problem);
  /// Where in the file all elements lie as `type` has them in memory, in C order; -1: they do not.
  int (*dataset_offset)(int64_t dataset, const struct Hdf5Type* type, int64_t* offset, struct Hdf5Problem* problem);
  /// A chunk's bytes as the file has them, by the place of its first element: how many, or -1 where it was never written; and themselves,
  /// with the filters, by bits in their order, that were left out.
  int (*chunk_size)(int64_t dataset, const int64_t* place, int64_t* bytes, struct Hdf5Problem* problem);
  int (*chunk_read)(int64_t dataset, const int64_t* place, void* into, int* skipped, struct Hdf5Problem* problem);
  /// The selected elements in C order; `type`: of those in memory, which the library converts to. A null selection: all elements.
  int (*dataset_read)(int64_t dataset, const struct Hdf5Selection* selection, const struct Hdf5Type* type, void* into,
                      struct Hdf5Problem* problem);
  int (*dataset_write)(int64_t dataset, const struct Hdf5Selection* selection, const struct Hdf5Type* type, const void* from,
                       struct Hdf5Problem* problem);
  int (*dataset_read_texts)(int64_t dataset, const struct Hdf5Selection* selection, struct Hdf5Found found, struct Hdf5Problem* problem);
  int (*dataset_write_texts)(int64_t dataset, const struct Hdf5Selection* selection, const char* const* texts, int64_t count,
                             struct Hdf5Problem* problem);

  int (*attribute_names)(int64_t object, struct Hdf5Found found, struct Hdf5Problem* problem);
  int (*attribute_exists)(int64_t object, const char* name, int* found, struct Hdf5Problem* problem);
  int (*attribute_remove)(int64_t object, const char* name, struct Hdf5Problem* problem);
  int (*attribute_describe)(int64_t object, const char* name, struct Hdf5Type* type, struct Hdf5Shape* shape, struct Hdf5Problem* problem);
  int (*attribute_read)(int64_t object, const char* name, const struct Hdf5Type* type, void* into, struct Hdf5Problem* problem);
  int (*attribute_read_texts)(int64_t object, const char* name, struct Hdf5Found found, struct Hdf5Problem* problem);
  /// Replace an attribute that is there.
  int (*attribute_write)(int64_t object, const char* name, const struct Hdf5Type* type, const struct Hdf5Shape* shape, const void* from,
                         struct Hdf5Problem* problem);
  int (*attribute_write_texts)(int64_t object, const char* name, const struct Hdf5Shape* shape, const char* const* texts,
                               struct Hdf5Problem* problem);
};

/// The one symbol of the plugin: null where the plugin speaks another version.
const struct GasellHdf5* gasell_hdf5(int abi);

}  // extern "C"
