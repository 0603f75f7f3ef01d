#include "runtime/io/hdf5/chunks.h"

#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/device/workers.h"

namespace gasell::hdf5 {
namespace {

constexpr int64_t kLeastBytes = 1 << 18;  // of a block; fewer are not worth the threads
constexpr int64_t kMostChunk = 1 << 30;
constexpr int64_t kMostThreads = 64;

using Places = std::vector<int64_t>;

/// The bytes of a chunk by elements again: shuffled, the first bytes of all elements come first, then the second ones.
void unshuffle(const char* from, int64_t bytes, int64_t width, char* to) {
  const int64_t elements = bytes / width;
  for (int64_t byte = 0; byte < width; ++byte)
    for (int64_t k = 0; k < elements; ++k) to[k * width + byte] = from[byte * elements + k];
}

/// What one thread unpacks chunks in, one after the other.
struct Scratch {
  explicit Scratch(int64_t chunk)
      : packed_bytes(chunk + chunk / 8 + 1024),
        packed(new char[static_cast<size_t>(packed_bytes)]),
        first(new char[static_cast<size_t>(chunk)]),
        second(new char[static_cast<size_t>(chunk)]) {}
  const int64_t packed_bytes;  // packed bytes may be more than there were
  const std::unique_ptr<char[]> packed, first, second;
};

class Block {
 public:
  Block(int64_t dataset, const Hdf5Type& type, const Hdf5Shape& shape, const Hdf5Storage& storage, const int64_t* start,
        const int64_t* count, char* into)
      : dataset_(dataset),
        type_(type),
        storage_(storage),
        rank_(static_cast<size_t>(shape.rank)),
        start_(start, start + rank_),
        count_(count, count + rank_),
        into_(into) {
    chunk_bytes_ = type.bytes;
    for (size_t k = 0; k < rank_; ++k) {
      first_.push_back(start_[k] / storage.chunks[k]);
      grid_.push_back((start_[k] + count_[k] - 1) / storage.chunks[k] - first_[k] + 1);
      chunks_ *= grid_[k];
      if (__builtin_mul_overflow(chunk_bytes_, storage.chunks[k], &chunk_bytes_)) chunk_bytes_ = kMostChunk + 1;
    }
  }

  int64_t chunks() const { return chunks_; }
  int64_t chunk_bytes() const { return chunk_bytes_; }

  void read() const {
    std::atomic<int64_t> next = 0;
    in_parallel(std::min(chunks_, kMostThreads), [&](int64_t) {
      const Scratch scratch(chunk_bytes_);
      for (int64_t number; (number = next++) < chunks_;) read(number, scratch);
    });
  }

 private:
  void read(int64_t number, const Scratch& scratch) const {
    Places at(rank_);  // of the chunk's first element
    for (size_t k = rank_; k-- > 0; number /= grid_[k]) at[k] = (first_[k] + number % grid_[k]) * storage_.chunks[k];
    copy(at, elements(at, scratch));
  }

  /// All elements of a chunk, those at the dataset's end filled up.
  const char* elements(const Places& at, const Scratch& scratch) const {
    int64_t size = 0;
    call(plugin().chunk_size, dataset_, at.data(), &size);
    if (size < 0) {
      char fill[16];
      call(plugin().dataset_fill, dataset_, &type_, static_cast<void*>(fill));
      for (int64_t k = 0; k < chunk_bytes_; k += type_.bytes) std::memcpy(scratch.first.get() + k, fill, static_cast<size_t>(type_.bytes));
      return scratch.first.get();
    }
    if (size > scratch.packed_bytes) refuse();
    int skipped = 0;
    call(plugin().chunk_read, dataset_, at.data(), static_cast<void*>(scratch.packed.get()), &skipped);
    // Filters are numbered in the order in which they were applied: shuffle, then gzip.
    const bool is_packed = storage_.gzip >= 0 && (skipped >> storage_.shuffle & 1) == 0;
    const bool is_shuffled = storage_.shuffle && (skipped & 1) == 0;
    const char* bytes = scratch.packed.get();
    if (is_packed) {
      auto unpacked = static_cast<uLongf>(chunk_bytes_);
      if (uncompress(reinterpret_cast<Bytef*>(scratch.first.get()), &unpacked, reinterpret_cast<const Bytef*>(bytes),
                     static_cast<uLong>(size)) != Z_OK)
        refuse();
      bytes = scratch.first.get();
      size = static_cast<int64_t>(unpacked);
    }
    if (size != chunk_bytes_) refuse();
    if (!is_shuffled) return bytes;
    unshuffle(bytes, chunk_bytes_, type_.bytes, scratch.second.get());
    return scratch.second.get();
  }

  [[noreturn]] static void refuse() { throw Error("OSError", "Can't synchronously read data (inflate() failed)", {}, Blame::environment); }

  /// What lies in the block, by rows along the last axis.
  void copy(const Places& at, const char* from) const {
    Places low(rank_), high(rank_);  // of the part, in the dataset
    for (size_t k = 0; k < rank_; ++k) {
      low[k] = std::max(at[k], start_[k]);
      high[k] = std::min(at[k] + storage_.chunks[k], start_[k] + count_[k]);
    }
    const size_t last = rank_ - 1;
    const auto row = static_cast<size_t>((high[last] - low[last]) * type_.bytes);
    for (Places place = low;;) {
      int64_t source = 0, target = 0;
      for (size_t k = 0; k < rank_; ++k) {
        source = source * storage_.chunks[k] + (place[k] - at[k]);
        target = target * count_[k] + (place[k] - start_[k]);
      }
      std::memcpy(into_ + target * type_.bytes, from + source * type_.bytes, row);
      size_t k = last;
      while (k > 0 && ++place[k - 1] == high[k - 1]) {
        place[k - 1] = low[k - 1];
        --k;
      }
      if (k == 0) return;
    }
  }

  const int64_t dataset_;
  const Hdf5Type type_;
  const Hdf5Storage storage_;
  const size_t rank_;
  const Places start_, count_;
  char* const into_;
  Places first_, grid_;  // of the chunks that it lies in
  int64_t chunks_ = 1, chunk_bytes_ = 1;
};

}  // namespace

bool read_chunks(int64_t dataset, const Hdf5Type& type, const int64_t* start, const int64_t* count, void* into) {
  Hdf5Type kept{};
  Hdf5Shape shape{};
  Hdf5Storage storage{};
  call(plugin().dataset_describe, dataset, &kept, &shape, &storage);
  if (!storage.is_chunked || !storage.has_known_filters || !storage.is_native || shape.rank < 1) return false;
  if (kept.kind != type.kind || kept.bytes != type.bytes) return false;
  int64_t bytes = type.bytes;
  for (int k = 0; k < shape.rank; ++k) bytes *= count[k];
  if (bytes < kLeastBytes) return false;
  const Block block(dataset, type, shape, storage, start, count, static_cast<char*>(into));
  if (block.chunks() < 2 || block.chunk_bytes() > kMostChunk) return false;
  block.read();
  return true;
}

}  // namespace gasell::hdf5
