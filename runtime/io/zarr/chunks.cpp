// The files of chunks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "lang/diagnostic.h"
#include "runtime/device/sandbox.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/os_error.h"
#include "runtime/io/zarr/zarr.h"

namespace gasell::zarr {
namespace {

void swap_bytes(char* data, int64_t bytes, DType dtype) {
  const auto width = static_cast<int64_t>(size_of(real_of(dtype)));
  for (int64_t at = 0; width > 1 && at < bytes; at += width) std::reverse(data + at, data + at + width);
}

/// A file's bytes; nothing where there is none.
std::optional<std::string> contents(const std::filesystem::path& path) {
  require_readable(path);
  std::error_code none;
  const auto status = std::filesystem::status(path, none);
  if (!std::filesystem::exists(status)) return std::nullopt;
  if (std::filesystem::is_directory(status)) throw os_error(EISDIR, path);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw os_error(errno, path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

int64_t Description::chunk_elements() const { return graph::size_of(chunks); }

std::filesystem::path Description::file(const std::vector<int64_t>& place) const {
  std::string key = fmt::format("{}", fmt::join(place, separator));
  if (!prefix.empty()) key = place.empty() ? prefix : prefix + separator + key;
  if (key.empty()) key = "0";
  return folder / key;
}

std::vector<int64_t> Description::chunk_strides() const {
  std::vector<int64_t> strides(chunks.size());
  int64_t next = 1;
  for (size_t k = order.size(); k-- > 0;) {
    strides[static_cast<size_t>(order[k])] = next;
    next *= chunks[static_cast<size_t>(order[k])];
  }
  return strides;
}

HostStorageRef read_chunk(const Description& array, const std::vector<int64_t>& place, MemoryBudget& budget) {
  const int64_t width = size_of(array.dtype), count = array.chunk_elements(), bytes = count * width;
  HostStorageRef storage = allocate(budget, std::max<int64_t>(1, bytes));
  char* const to = static_cast<char*>(storage->write());
  const std::filesystem::path path = array.file(place);
  std::optional<std::string> found = contents(path);
  if (!found) {
    for (int64_t i = 0; i < count; ++i) array.fill.store(to + i * width);
    return storage;
  }
  // What each codec may give at most: the elements, and the checksums of those before it.
  size_t most = static_cast<size_t>(bytes);
  std::vector<size_t> limits;
  for (const Codec& codec : array.codecs) {
    limits.push_back(most);
    most += codec.kind == Codec::Kind::crc32c ? 4 : most / 8 + 1024;  // packed bytes may be more than there were
  }
  for (size_t k = array.codecs.size(); k-- > 0;) found = unpacked(array.codecs[k], *found, limits[k], path);
  if (static_cast<int64_t>(found->size()) != bytes)
    throw Error("ValueError",
                fmt::format("the chunk {} holds {} {} bytes, and {} are expected", in_quotes(path.string()),
                            static_cast<int64_t>(found->size()) > bytes ? "more than" : "only",
                            std::min<int64_t>(static_cast<int64_t>(found->size()), bytes), bytes),
                {}, Blame::environment);
  std::memcpy(to, found->data(), static_cast<size_t>(bytes));
  if (array.byte_swapped) swap_bytes(to, bytes, array.dtype);
  return storage;
}

void write_chunk(const Description& array, const std::vector<int64_t>& place, std::string_view elements) {
  std::string bytes(elements);
  for (const Codec& codec : array.codecs) bytes = packed(codec, bytes);
  const std::filesystem::path path = array.file(place);
  require_writable(path);
  std::error_code failed;
  std::filesystem::create_directories(path.parent_path(), failed);
  if (failed) throw os_error(failed.value(), path.parent_path());
  AtomicFile file(path, AtomicFile::Access::anywhere);
  file.reserve(static_cast<int64_t>(bytes.size()));
  file.write_at(0, bytes);
  file.commit();
}

}  // namespace gasell::zarr
