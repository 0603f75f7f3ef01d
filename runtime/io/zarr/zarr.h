// Zarr arrays in folders, formats 2 and 3 (zarr-specs.readthedocs.io): a description, and a file a chunk.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device/storage.h"

namespace gasell::zarr {

/// What a chunk's bytes go through on their way to a file. Chunks of `crc32c` end with a checksum.
struct Codec {
  enum class Kind : uint8_t { zlib, gzip, zstd, crc32c };
  Kind kind = Kind::zstd;
  int level = 0;
};

struct Description {
  std::filesystem::path folder;
  int format = 3;
  std::vector<int64_t> shape, chunks;
  DType dtype = DType::f64;
  bool byte_swapped = false;
  Scalar fill = Scalar::of_int(0);  // of dtype
  std::vector<int> order;           // axes of a chunk, from the one along which its bytes move slowest
  std::string prefix, separator = "/";
  std::vector<Codec> codecs;

  int64_t chunk_elements() const;
  /// The file of a chunk, by its place in the grid.
  std::filesystem::path file(const std::vector<int64_t>& place) const;
  /// Of a chunk's elements, in elements.
  std::vector<int64_t> chunk_strides() const;
};

/// The array of a folder. Throws ArrayNotFoundError where there is none, ValueError for a description that is wrong, NotImplementedError
/// for codecs, filters and dtypes that are not there, by name.
Description open(const std::filesystem::path& folder, const std::string& shown_store, const std::string& shown_path);
/// Makes the folder and writes the description, and those of the groups above it up to `store`. Throws ContainsArrayError where an array
/// is there, unless `overwrite`, which removes it first.
void create(const Description& array, const std::filesystem::path& store, const std::string& shown_path, bool overwrite);

/// A chunk's elements, with the fill value where there is no file. ValueError for one that holds another number of bytes.
HostStorageRef read_chunk(const Description& array, const std::vector<int64_t>& place, MemoryBudget& budget);
/// Writes a chunk of chunk_elements() native elements, in C order.
void write_chunk(const Description& array, const std::vector<int64_t>& place, std::string_view elements);

/// A codec by its name; NotImplementedError for those that are not there.
Codec codec_of(const std::string& name, std::optional<int> level);
std::string packed(const Codec& codec, std::string_view bytes);
/// `most`: more bytes than that are an error.
std::string unpacked(const Codec& codec, std::string_view bytes, size_t most, const std::filesystem::path& file);

}  // namespace gasell::zarr
