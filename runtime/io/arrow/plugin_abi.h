// What the core and the plugin gasell_arrow.so (plugins/arrow, over Apache Arrow C++) say to each other. Plain C: data go through Arrow's C
// interfaces, and no C++ object and no exception crosses.
//
// A function that can fail returns 0, or a kind of failure with its text in ArrowProblem. All are thread-safe; parquet_read of one file may
// run on many threads.
#pragma once

#include <cstdint>

#include "runtime/io/arrow/c_data.h"

extern "C" {

#define GASELL_ARROW_ABI 3

enum ArrowFailure {
  kArrowFine = 0,
  kArrowSystem = 1,       // `number` is an errno
  kArrowInvalid = 2,      // the file's contents, or the data, are wrong
  kArrowUnsupported = 3,  // Arrow, or this build of it, cannot do it
  kArrowMemory = 4,
};

struct ArrowProblem {
  int number;
  char text[1024];
};

enum ArrowBounds { kNoBounds = 0, kSignedBounds, kUnsignedBounds, kFloatBounds, kTextBounds };

/// A column of a row group, as the file's footer describes it.
struct ArrowChunk {
  int64_t nulls;       // -1: not said
  int64_t bytes;       // in the file
  int64_t texts_size;  // bytes of all its texts as the file says, which may be wrong; -1: not said
  int coded;           // every value is an index into one dictionary page
  int bounds;          // ArrowBounds; of floats without NaN
  int64_t low, high;   // integers and times in the file's unit; unsigned ones by their bits
  double low_float, high_float;
  const char* low_text;  // valid until the next call with the same struct
  const char* high_text;
  int64_t low_size, high_size;
  void* texts;  // the plugin's; null at first, freed with free_chunk
};

/// How parquet_read gives texts.
enum ArrowTexts { kPlainTexts = 0, kCodedTexts = 1 };

struct ArrowParquetFile;
struct ArrowParquetWriter;

/// Where what is written goes: returns 0, or anything else to stop.
struct ArrowSink {
  int (*write)(void* context, const void* bytes, int64_t count);
  void* context;
};

/// A file that is read at any place, by several threads at a time: an object of a store, or what the core reads by itself. `read` gives all
/// `count` bytes, or a kind of failure.
struct ArrowSource {
  int64_t size;
  int (*read)(void* context, int64_t offset, int64_t count, void* into, struct ArrowProblem* problem);
  void (*free)(void* context);
  void* context;
};

/// A setting of a store that does not belong into its address, as Arrow names it: "access_key".
struct ArrowSetting {
  const char* name;
  const char* value;
};

/// A store's address as Arrow reads it ("s3://bucket/key?region=eu-west-1"), with settings beside it.
struct ArrowAddress {
  const char* uri;
  const struct ArrowSetting* settings;
  int64_t count;
};

struct ArrowWriting {
  const char* codec;  // "snappy", "gzip", "zstd", "lz4", "brotli", "none"
  int level;          // INT_MIN: the codec's own
};

enum ArrowTableFormat { kFeather = 0, kOrc = 1 };

struct GasellArrow {
  int abi;
  const char* version;  // of Apache Arrow

  /// Opens an object of a store.
  int (*store_open)(const struct ArrowAddress* address, struct ArrowSource* source, struct ArrowProblem* problem);
  /// Names what is at an address and below it: the path (the address's own "bucket/key" opens it) of each file. `is_folder`: nothing is an
  /// object of that very name. `deep`: files in folders below, too.
  int (*store_list)(const struct ArrowAddress* address, int deep, int* is_folder, void (*found)(void* context, const char* path),
                    void* context, struct ArrowProblem* problem);

  /// Reads the footer, of the source (which is taken over) or, without one, of a local file. `hold`: the file stays open until it is
  /// closed; otherwise each read opens it, and fails where it is another file now.
  int (*parquet_open)(const char* path, struct ArrowSource* source, int hold, struct ArrowParquetFile** file, struct ArrowProblem* problem);
  void (*parquet_close)(struct ArrowParquetFile* file);
  /// The top-level columns, with the file's key-value metadata.
  int (*parquet_schema)(struct ArrowParquetFile* file, struct ArrowSchema* schema, struct ArrowProblem* problem);
  int64_t (*parquet_groups)(struct ArrowParquetFile* file);
  int64_t (*parquet_group_rows)(struct ArrowParquetFile* file, int64_t group);
  int (*parquet_chunk)(struct ArrowParquetFile* file, int64_t group, int64_t column, struct ArrowChunk* chunk,
                       struct ArrowProblem* problem);
  void (*free_chunk)(struct ArrowChunk* chunk);
  /// One column of one row group, in pieces; texts as `texts` says. The file outlives the stream.
  int (*parquet_read)(struct ArrowParquetFile* file, int64_t group, int64_t column, int texts, struct ArrowArrayStream* stream,
                      struct ArrowProblem* problem);

  /// Takes the schema. A text column of the schema may be given dictionaries of texts.
  int (*parquet_write)(struct ArrowSink sink, struct ArrowSchema* schema, const struct ArrowWriting* how,
                       struct ArrowParquetWriter** writer, struct ArrowProblem* problem);
  int (*parquet_start_group)(struct ArrowParquetWriter* writer, struct ArrowProblem* problem);
  /// The next column of the row group; takes the array and its type.
  int (*parquet_write_column)(struct ArrowParquetWriter* writer, struct ArrowArray* array, struct ArrowSchema* type,
                              struct ArrowProblem* problem);
  /// Writes the footer.
  int (*parquet_finish)(struct ArrowParquetWriter* writer, struct ArrowProblem* problem);
  void (*parquet_free_writer)(struct ArrowParquetWriter* writer);

  /// The columns of these names (null: all) of a file of another format: of the source (which is taken over), or of a local file.
  int (*table_read)(int format, const char* path, struct ArrowSource* source, const char* const* names, int64_t count,
                    struct ArrowArrayStream* stream, struct ArrowProblem* problem);
  /// Takes the stream.
  int (*table_write)(int format, struct ArrowSink sink, struct ArrowArrayStream* stream, const struct ArrowWriting* how,
                     struct ArrowProblem* problem);
};

/// The one symbol of the plugin: null where the plugin speaks another version.
const struct GasellArrow* gasell_arrow(int abi);

}  // extern "C"
