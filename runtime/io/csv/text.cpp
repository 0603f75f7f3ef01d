#include "runtime/io/csv/text.h"
#include "runtime/device/sandbox.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "lang/diagnostic.h"
#include "runtime/device/device.h"
#include "runtime/io/csv/unpack.h"
#include "runtime/io/csv/utf8.h"
#include "runtime/io/os_error.h"

namespace gasell::csv {
namespace {

/// Files larger than this part of the memory budget are streamed.
constexpr int64_t kKeptPart = 16;

HostStorageRef storage_of(std::string&& bytes) {
  auto kept = std::make_shared<std::string>(std::move(bytes));
  return external(kept->data(), static_cast<int64_t>(kept->size()), false, [kept] {});
}

std::string from_latin1(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 8);
  for (const char c : bytes) put_utf8(text, static_cast<uint8_t>(c));
  return text;
}

std::string from_utf16(std::string_view bytes) {
  const auto refuse = [](size_t at, const char* why) {
    throw Error("UnicodeDecodeError",
                "'utf-16' codec can't decode bytes in position " + std::to_string(at) + "-" + std::to_string(at + 1) + ": " + why);
  };
  size_t at = 0;
  bool big = false;
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) {
    big = bytes[0] == '\xfe';
    at = 2;
  }
  if (bytes.size() % 2) refuse(bytes.size() - 1, "truncated data");
  const auto unit = [&](size_t i) {
    const auto a = static_cast<uint8_t>(bytes[i]), b = static_cast<uint8_t>(bytes[i + 1]);
    return static_cast<uint32_t>(big ? a << 8 | b : b << 8 | a);
  };
  std::string text;
  text.reserve(bytes.size());
  for (; at < bytes.size(); at += 2) {
    uint32_t c = unit(at);
    if (c >= 0xd800 && c < 0xe000) {
      if (c >= 0xdc00 || at + 4 > bytes.size()) refuse(at, "illegal encoding");
      const uint32_t low = unit(at + 2);
      if (low < 0xdc00 || low >= 0xe000) refuse(at, "illegal UTF-16 surrogate");
      c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
      at += 2;
    }
    put_utf8(text, c);
  }
  return text;
}

Text over(HostStorageRef storage) {
  Text text;
  text.begin = storage->bytes() ? static_cast<const char*>(storage->read()) : nullptr;
  text.end = text.begin + storage->bytes();
  text.storage = std::move(storage);
  return text;
}

void skip_mark(Text& text) {
  if (text.end - text.begin < 3 || std::memcmp(text.begin, "\xef\xbb\xbf", 3) != 0) return;
  text.begin += 3;
  text.mark_bytes = 3;
}

}  // namespace

void put_utf8(std::string& to, uint32_t c) {
  if (c < 0x80) {
    to += static_cast<char>(c);
  } else if (c < 0x800) {
    to += static_cast<char>(0xc0 | c >> 6);
    to += static_cast<char>(0x80 | (c & 63));
  } else if (c < 0x10000) {
    to += static_cast<char>(0xe0 | c >> 12);
    to += static_cast<char>(0x80 | (c >> 6 & 63));
    to += static_cast<char>(0x80 | (c & 63));
  } else {
    to += static_cast<char>(0xf0 | c >> 18);
    to += static_cast<char>(0x80 | (c >> 12 & 63));
    to += static_cast<char>(0x80 | (c >> 6 & 63));
    to += static_cast<char>(0x80 | (c & 63));
  }
}

Text open_text(Engine& engine, const std::filesystem::path& path, const CsvOptions& options) {
  const std::string name = path.string();
  if (!remote::is_remote(name)) require_readable(path);
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)) throw os_error(EISDIR, path);
  const auto size = std::filesystem::file_size(path, failed);
  const bool regular = !failed && std::filesystem::is_regular_file(path, failed);
  HostStorageRef storage;
  if (remote::is_remote(name)) {
    storage = remote::fetch(engine, name, options.storage);
  } else if (regular) {
    storage = size ? map_file(path, 0, static_cast<int64_t>(size)) : storage_of({});
  } else {  // a pipe
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    if (!in) throw os_error(errno ? errno : ENOENT, path);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    storage = storage_of(std::move(bytes));
  }
  Text text = over(std::move(storage));
  text.streamed = text.storage->is_mapped() && text.storage->bytes() > engine.device().budget().limit() / kKeptPart;
  Compression packed = options.compression;
  if (packed == Compression::infer) {
    // The query of an address is no part of the name.
    const std::filesystem::path named = remote::is_remote(name) ? name.substr(0, name.find('?')) : name;
    const std::string extension = named.extension();
    packed = extension == ".gz" ? Compression::gzip : extension == ".zst" ? Compression::zstd : Compression::none;
    for (const char* other : {".bz2", ".zip", ".xz", ".tar"})
      if (extension == other)
        throw Error("NotImplementedError", "files packed as " + std::string(other) + " are not in Gasell",
                    "unpack it; .gz and .zst are read", Blame::limitation);
  }
  const std::string_view bytes(text.begin, static_cast<size_t>(text.end - text.begin));
  if (packed == Compression::gzip) text = over(storage_of(unpack_gzip(bytes, path)));
  if (packed == Compression::zstd) text = over(storage_of(unpack_zstd(bytes, path)));
  if (options.encoding != Encoding::utf8) {
    const std::string_view coded(text.begin, static_cast<size_t>(text.end - text.begin));
    text = over(storage_of(options.encoding == Encoding::latin1 ? from_latin1(coded) : from_utf16(coded)));
    text.checked = true;
  } else if (options.bad_bytes != BadBytes::refuse) {
    if (auto repaired = repaired_utf8(text.begin, text.end, options.bad_bytes)) text = over(storage_of(*std::move(repaired)));
    text.checked = true;
  }
  skip_mark(text);
  text.shown = name;
  return text;
}

Text text_of(std::string_view bytes) {
  Text text;
  text.begin = bytes.data();
  text.end = bytes.data() + bytes.size();
  text.checked = false;
  skip_mark(text);
  return text;
}

}  // namespace gasell::csv
