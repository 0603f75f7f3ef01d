// NumPy's .npy files: versions 1.0, 2.0 and 3.0, both byte orders, C and Fortran order, every dtype of lang/dtype.h.
// The format: NumPy's documentation of numpy.lib.format.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "compiler/graph/node.h"
#include "runtime/device/storage.h"
#include "runtime/io/npy_header.h"

namespace gasell {

/// What the header says.
struct NpyHeader {
  DType dtype;                // of times: of their counts; of texts and records: u8, their bytes
  PythonLiteral named;        // the dtype of elements that are no numbers ("<M8[D]", "<U5", a list of fields); None of others
  int64_t element_bytes = 0;  // of texts and records
  graph::Shape shape;         // without the axis of the bytes
  bool fortran_order = false;
  bool byte_swapped = false;  // big-endian data on a little-endian machine, or the other way
  int64_t data_offset = 0;    // bytes, from the beginning of the file
  int64_t data_bytes = 0;
};

/// The header within the first bytes of a file of `file_size` bytes; `start` holds min(file_size, kNpyHeadBytes) of them at least. Throws
/// Error("ValueError", …) for all that is not a .npy file, is corrupt, holds objects, or is shorter than its shape says; a dtype that is
/// well-formed but unknown to Gasell (untyped bytes, long doubles, …) is a limitation; an empty file is an EOFError as in NumPy.
NpyHeader parse_npy_header(std::span<const char> start, int64_t file_size, const std::filesystem::path& shown);
inline constexpr int64_t kNpyHeadBytes = 64 << 10;

/// An array in memory or in a mapped file: element (i0, i1, …) is at offset + Σ i_k * strides[k], all in elements; the arguments of
/// graph::buffer.
struct NpyArray {
  HostStorageRef storage;
  DType dtype;
  graph::Shape shape, strides;  // of texts and records with a last axis of their bytes
  int64_t offset = 0;
  bool byte_swapped = false;
  PythonLiteral named = {};  // as in the header
};

/// Opens a file. Large data is mapped read-only, so that reading it streams; small files, and data that is not aligned to its elements, are
/// read into memory under the budget. Throws parse_npy_header's errors, map_file's, and MemoryError.
/// `write_through`: always mapped, and writes reach the file; NotImplementedError where the data does not lie as an array in memory would.
NpyArray open_npy(const std::filesystem::path& path, MemoryBudget& budget, bool write_through = false);

/// The same of a file's bytes, which are copied. `shown`: what errors call it.
NpyArray npy_in_memory(std::span<const char> file, const std::filesystem::path& shown, MemoryBudget& budget);

/// Whether a file begins as zip archives do: .npz files.
bool is_zip_archive(const std::filesystem::path& path);

/// Writes a file as np.save does, byte for byte. The data goes to a temporary file beside `path`, which takes its place in commit();
/// without it, nothing is left. The space is reserved at the start: a full disk is OSError "[Errno 28] No space left on device: …" then,
/// not a crash later.
class NpyWriter {
 public:
  /// `descr`: the dtype of elements that are no numbers as the header has it ("'<M8[D]'", "[('x', '<f8')]"). The data are the counts of
  /// times, and of others their bytes, along a last axis.
  NpyWriter(const std::filesystem::path& path, DType dtype, const graph::Shape& shape, bool fortran_order = false,
            std::string_view descr = {});
  ~NpyWriter();
  NpyWriter(const NpyWriter&) = delete;
  NpyWriter& operator=(const NpyWriter&) = delete;

  int64_t data_bytes() const;
  /// Writes native-order elements at `byte_offset` of the data. Safe to call from several threads for separate ranges.
  void write(int64_t byte_offset, const void* data, int64_t bytes);
  /// The data as memory that a kernel writes: a shared mapping of the file, whose release() gives written pages back. For data that is
  /// computed on the fly; what lies in memory already is written faster by write().
  HostStorageRef storage();
  /// Puts the file in place. A file that was there keeps its permissions; a symbolic link keeps pointing.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gasell
