// What chunks are packed by.
#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <cstring>
#include <memory>

#include "lang/diagnostic.h"
#include "runtime/io/os_error.h"
#include "runtime/io/zarr/zarr.h"

namespace gasell::zarr {
namespace {

[[noreturn]] void refuse_damaged(const std::filesystem::path& file, const std::string& why) {
  throw Error("ValueError", "the chunk " + in_quotes(file.string()) + " is damaged: " + why, {}, Blame::environment);
}

/// CRC-32C (Castagnoli's polynomial, reflected).
uint32_t crc32c(std::string_view bytes) {
  static const auto kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int k = 0; k < 8; ++k) c = (c & 1) ? 0x82f63b78U ^ (c >> 1) : c >> 1;
      table[i] = c;
    }
    return table;
  }();
  uint32_t crc = ~uint32_t{0};
  for (const char c : bytes) crc = kTable[(crc ^ static_cast<uint8_t>(c)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

/// zlib's and gzip's streams; `window` as inflateInit2 and deflateInit2 take it.
std::string inflated(std::string_view bytes, size_t most, int window, const std::filesystem::path& file) {
  z_stream stream{};
  if (inflateInit2(&stream, window) != Z_OK) throw Error("MemoryError", "zlib has no memory", {}, Blame::environment);
  const std::unique_ptr<z_stream, int (*)(z_stream*)> close(&stream, inflateEnd);
  std::string out(most + 1, '\0');  // one more than may be there
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  size_t in_left = bytes.size(), out_left = out.size();
  constexpr size_t kMost = size_t{1} << 30;
  for (;;) {
    const size_t in_step = std::min(in_left, kMost), out_step = std::min(out_left, kMost);
    stream.avail_in = static_cast<uInt>(in_step);
    stream.avail_out = static_cast<uInt>(out_step);
    const int result = inflate(&stream, Z_NO_FLUSH);
    in_left -= in_step - stream.avail_in;
    out_left -= out_step - stream.avail_out;
    if (result == Z_STREAM_END) break;
    if (result != Z_OK) refuse_damaged(file, stream.msg ? stream.msg : in_left == 0 ? "it is cut" : "it holds too much");
    if (out_left == 0) break;
  }
  out.resize(out.size() - out_left);
  return out;
}

std::string deflated(std::string_view bytes, int level, int window) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error("ValueError", fmt::format("zlib has no compression level {}", level));
  const std::unique_ptr<z_stream, int (*)(z_stream*)> close(&stream, deflateEnd);
  if (bytes.size() >= (size_t{1} << 31)) throw Error("ValueError", "a chunk of 2 GiB and more cannot be packed by zlib or gzip");
  std::string out(deflateBound(&stream, bytes.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  return out;
}

std::string checksum(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  std::string text(sizeof crc, '\0');
  std::memcpy(text.data(), &crc, sizeof crc);
  return text;
}

}  // namespace

Codec codec_of(const std::string& name, std::optional<int> level) {
  using Kind = Codec::Kind;
  if (name == "zlib" || name == "numcodecs.zlib") return {Kind::zlib, level.value_or(1)};
  if (name == "gzip" || name == "numcodecs.gzip") return {Kind::gzip, level.value_or(name == "gzip" ? 5 : 1)};
  if (name == "zstd" || name == "numcodecs.zstd") return {Kind::zstd, level.value_or(0)};
  if (name == "crc32c") return {Kind::crc32c, 0};
  throw Error("NotImplementedError", "Zarr's codec '" + name + "' is not in Gasell", "zstd, gzip, zlib and none are there",
              Blame::limitation);
}

std::string packed(const Codec& codec, std::string_view bytes) {
  switch (codec.kind) {
    case Codec::Kind::zlib: return deflated(bytes, codec.level, 15);
    case Codec::Kind::gzip: return deflated(bytes, codec.level, 15 + 16);
    case Codec::Kind::crc32c: return std::string(bytes) + checksum(bytes);
    case Codec::Kind::zstd: break;
  }
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), codec.level);
  if (ZSTD_isError(size)) throw Error("ValueError", std::string("zstd: ") + ZSTD_getErrorName(size));
  out.resize(size);
  return out;
}

std::string unpacked(const Codec& codec, std::string_view bytes, size_t most, const std::filesystem::path& file) {
  switch (codec.kind) {
    case Codec::Kind::zlib: return inflated(bytes, most, 15, file);
    case Codec::Kind::gzip: return inflated(bytes, most, 15 + 16, file);
    case Codec::Kind::crc32c:
      if (bytes.size() < 4 || checksum(bytes.substr(0, bytes.size() - 4)) != bytes.substr(bytes.size() - 4))
        refuse_damaged(file, "its checksum is another");
      return std::string(bytes.substr(0, bytes.size() - 4));
    case Codec::Kind::zstd: break;
  }
  std::string out(most + 1, '\0');
  const size_t size = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size)) refuse_damaged(file, ZSTD_getErrorName(size));
  out.resize(size);
  return out;
}

}  // namespace gasell::zarr
