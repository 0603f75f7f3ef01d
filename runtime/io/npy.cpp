#include "runtime/io/npy.h"
#include "runtime/device/sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

#include "lang/diagnostic.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/os_error.h"

namespace gasell {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr int64_t kArrayAlign = 64;
constexpr size_t kMostAxes = 64;             // NumPy's limit
constexpr uint32_t kLongestHeader = 10'000;  // NumPy's max_header_size
constexpr int64_t kReadBelow = 256 << 10;    // smaller data is read rather than mapped
constexpr bool kLittle = std::endian::native == std::endian::little;

Error bad(const std::filesystem::path& path, std::string_view what) {
  return Error("ValueError", fmt::format("{}: {}", in_quotes(path), what));
}

/// Text of a file for a message, which must be UTF-8 whatever the file holds.
std::string excerpt_of(std::string_view text) {
  std::string out(text.substr(0, 100));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
  return in_quotes(out + (text.size() > 100 ? "…" : ""));
}

struct Descriptor {
  DType dtype;
  bool byte_swapped;
  PythonLiteral named = {};
  int64_t element_bytes = 0;  // of what is no number
};

/// The bytes of an element of a field: those of its format, times those of its shape.
int64_t field_bytes(const PythonLiteral::Tuple& field, const std::filesystem::path& path);

/// '<f8' and the like, and lists of fields.
Descriptor parse_descriptor(const PythonLiteral& literal, const std::filesystem::path& path, bool in_record = false) {
  const auto limitation = [&](std::string_view what) {
    return Error(
        "NotImplementedError",
        fmt::format("{} holds {}; Gasell reads bool, int8 to int64, uint8 to uint64, float16, float32, float64, complex64 and complex128",
                    in_quotes(path), what),
        {}, Blame::limitation);
  };
  if (const auto* fields = literal.as<PythonLiteral::List>()) {
    int64_t bytes = 0;
    for (const PythonLiteral& field : fields->items) {
      const auto* parts = field.as<PythonLiteral::Tuple>();
      if (!parts || parts->items.size() < 2 || parts->items.size() > 3) throw bad(path, "descr is not a valid dtype descriptor: a field");
      if (!parts->items[0].as<std::string>()) throw limitation("a structured array whose fields have titles");
      bytes += field_bytes(*parts, path);
    }
    return {DType::u8, false, literal, bytes};
  }
  if (literal.as<PythonLiteral::Tuple>()) throw limitation("arrays of arrays");
  const auto* text = literal.as<std::string>();
  const auto invalid = [&] {
    return bad(path,
               fmt::format("descr is not a valid dtype descriptor: {}", text ? excerpt_of(*text) : std::string("it is not a string")));
  };
  if (!text || text->size() < 2) throw invalid();
  const char order = (*text)[0];
  const bool has_order = order == '<' || order == '>' || order == '|' || order == '=';
  const std::string_view type = std::string_view(*text).substr(has_order ? 1 : 0);
  if (const std::optional<DType> dtype = dtype_from_name(type)) {
    const bool explicit_order = order == '<' || order == '>';
    const bool swapped = size_of(*dtype) > 1 && explicit_order && (order == '>') == kLittle;
    if (swapped && in_record) throw limitation("records with numbers of the other byte order");
    return {*dtype, swapped};
  }
  if (type.empty()) throw invalid();
  if (type[0] == 'O') throw Error("ValueError", "Object arrays cannot be loaded when allow_pickle=False");
  if (type.starts_with("M8") || type.starts_with("m8")) {
    if (!std::all_of(type.begin(), type.end(), [](unsigned char c) { return std::isalnum(c) || c == '[' || c == ']'; })) throw invalid();
    if (order == '>') throw limitation("times of the other byte order");
    return {DType::i64, false, {"<" + std::string(type)}};
  }
  if (!std::all_of(type.begin() + 1, type.end(), [](char c) { return c >= '0' && c <= '9'; })) throw invalid();
  int64_t letters = 0;
  if (type.size() > 1 && std::from_chars(type.data() + 1, type.data() + type.size(), letters).ec != std::errc()) throw invalid();
  if (letters > INT32_MAX) throw invalid();
  if (type[0] == 'U' && order == '>') throw limitation("texts of the other byte order");
  if (type[0] == 'U' || type[0] == 'S') return {DType::u8, false, literal, letters * (type[0] == 'U' ? 4 : 1)};
  if (type[0] == 'V' && in_record) return {DType::u8, false, literal, letters};
  if (type[0] == 'V') throw limitation("untyped bytes (void)");
  if (type == "f16" || type == "c32" || type == "f12" || type == "c24") throw limitation("extended-precision numbers (longdouble)");
  throw invalid();
}

int64_t bytes_of(const Descriptor& descriptor) {
  const bool bare = descriptor.named.as<PythonLiteral::None>() || descriptor.dtype == DType::i64;
  return bare ? size_of(descriptor.dtype) : descriptor.element_bytes;
}

graph::Shape parse_shape(const PythonLiteral& literal, const std::filesystem::path& path);

int64_t field_bytes(const PythonLiteral::Tuple& field, const std::filesystem::path& path) {
  int64_t bytes = bytes_of(parse_descriptor(field.items[1], path, true));
  if (field.items.size() == 3)
    for (const int64_t extent : parse_shape(field.items[2], path))
      if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > INT32_MAX) throw bad(path, "a record is too large");
  return bytes;
}

std::string shape_text(const graph::Shape& shape) {
  std::string out = "(";
  for (size_t k = 0; k < shape.size(); ++k) out += fmt::format("{}{}", k ? ", " : "", shape[k]);
  return out + (shape.size() == 1 ? ",)" : ")");
}

graph::Shape parse_shape(const PythonLiteral& literal, const std::filesystem::path& path) {
  const auto* tuple = literal.as<PythonLiteral::Tuple>();
  if (!tuple) throw bad(path, "shape is not valid: it is not a tuple of integers");
  if (tuple->items.size() > kMostAxes) {
    throw bad(path, fmt::format("maximum supported dimension for an ndarray is currently {}, found {}", kMostAxes, tuple->items.size()));
  }
  graph::Shape shape;
  for (const PythonLiteral& item : tuple->items) {
    if (const auto* big = item.as<PythonLiteral::BigInt>())
      throw bad(path, fmt::format("shape is not valid: {} is too large", big->digits));
    const auto* extent = item.as<int64_t>();
    if (!extent) throw bad(path, "shape is not valid: it is not a tuple of integers");
    if (*extent < 0) throw bad(path, fmt::format("shape is not valid: {} is negative", *extent));
    shape.push_back(*extent);
  }
  return shape;
}

/// Bytes of the data; nothing when they exceed int64_t. As in NumPy, extents beside a zero count too.
std::optional<int64_t> data_bytes_of(const graph::Shape& shape, DType dtype) {
  int64_t nonzero = size_of(dtype);
  bool empty = false;
  for (const int64_t extent : shape) {
    if (extent == 0)
      empty = true;
    else if (__builtin_mul_overflow(nonzero, extent, &nonzero))
      return std::nullopt;
  }
  return empty ? 0 : nonzero;
}

class OpenFile {
 public:
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  ~OpenFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

void read_exactly(int descriptor, void* into, int64_t bytes, int64_t offset, const std::filesystem::path& path) {
  auto* at = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t count = pread(descriptor, at, static_cast<size_t>(std::min<int64_t>(bytes, 1 << 30)), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw os_error(errno, path);
    if (count == 0) throw bad(path, "the file became shorter while it was read");
    at += count;
    offset += count;
    bytes -= count;
  }
}

/// The extents, and behind them those of an element's bytes.
graph::Shape shape_in_file(const NpyHeader& header) {
  graph::Shape shape = header.shape;
  if (!header.named.as<PythonLiteral::None>() && header.dtype == DType::u8) shape.push_back(header.element_bytes);
  return shape;
}

/// How the header says that the data lies; without a storage.
NpyArray laid_out(const NpyHeader& header) {
  const graph::Shape shape = shape_in_file(header);
  NpyArray array{nullptr, header.dtype, shape, graph::Shape(shape.size(), 1), 0, header.byte_swapped, header.named};
  int64_t stride = shape.size() > header.shape.size() ? header.element_bytes : 1;
  for (size_t k = 0; k < header.shape.size(); ++k) {
    const size_t axis = header.fortran_order ? k : header.shape.size() - 1 - k;
    array.strides[axis] = stride;
    stride *= std::max<int64_t>(header.shape[axis], 1);
  }
  return array;
}

/// Memory for what the header describes.
HostStorageRef storage_of(const NpyHeader& header, MemoryBudget& budget) {
  try {
    return allocate(budget, header.data_bytes);
  } catch (Error& error) {
    error.diagnostic().message +=
        fmt::format(" for an array with shape {} and data type {}", shape_text(header.shape), name_of(header.dtype));
    throw;
  }
}

}  // namespace

NpyHeader parse_npy_header(std::span<const char> start, int64_t file_size, const std::filesystem::path& path) {
  const std::string_view bytes(start.data(), start.size());
  if (file_size == 0) throw Error("EOFError", "No data left in file", fmt::format("{} is empty", in_quotes(path)));
  if (bytes.substr(0, kMagic.size()) != kMagic.substr(0, bytes.size())) {
    throw bad(path, "this is not a .npy file (those begin with b'\\x93NUMPY')");
  }
  if (bytes.size() < 8) throw bad(path, fmt::format("EOF: reading magic string, expected 8 bytes got {}", bytes.size()));
  const auto byte = [&](size_t k) { return static_cast<uint32_t>(static_cast<unsigned char>(bytes[k])); };
  const uint32_t major = byte(6), minor = byte(7);
  if (major < 1 || major > 3 || minor != 0) {
    throw bad(path, fmt::format("we only support format version (1,0), (2,0), and (3,0), not ({}, {})", major, minor));
  }
  const size_t length_bytes = major == 1 ? 2 : 4;
  if (bytes.size() < 8 + length_bytes) {
    throw bad(path, fmt::format("EOF: reading array header length, expected {} bytes got {}", length_bytes, bytes.size() - 8));
  }
  uint32_t length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  const size_t text_start = 8 + length_bytes;
  if (static_cast<int64_t>(length) > file_size - static_cast<int64_t>(text_start)) {
    throw bad(path,
              fmt::format("EOF: reading array header, expected {} bytes got {}", length, file_size - static_cast<int64_t>(text_start)));
  }
  if (length > kLongestHeader)
    throw bad(path, fmt::format("Header info length ({}) is large and may not be safe to load securely", length));

  std::string_view text = bytes.substr(text_start, length);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\0')) text.remove_suffix(1);
  const std::optional<PythonLiteral> literal = parse_python_literal(text);
  const std::string excerpt = excerpt_of(text);
  if (!literal) throw bad(path, fmt::format("Cannot parse header: {}", excerpt));
  const auto* dict = literal->as<PythonLiteral::Dict>();
  if (!dict) throw bad(path, fmt::format("Header is not a dictionary: {}", excerpt));
  const PythonLiteral *descr = nullptr, *order = nullptr, *shape = nullptr;
  bool known_keys_only = true;
  for (const auto& [key, value] : dict->items) {
    const auto* name = key.as<std::string>();
    if (name && *name == "descr")
      descr = &value;
    else if (name && *name == "fortran_order")
      order = &value;
    else if (name && *name == "shape")
      shape = &value;
    else
      known_keys_only = false;
  }
  if (!descr || !order || !shape || !known_keys_only) {
    throw bad(path, fmt::format("Header does not contain the correct keys 'descr', 'fortran_order' and 'shape': {}", excerpt));
  }
  const auto* fortran = order->as<bool>();
  if (!fortran) throw bad(path, "fortran_order is not a valid bool");

  NpyHeader header;
  const Descriptor descriptor = parse_descriptor(*descr, path);
  header.dtype = descriptor.dtype;
  header.byte_swapped = descriptor.byte_swapped;
  header.named = descriptor.named;
  header.element_bytes = descriptor.element_bytes;
  header.shape = parse_shape(*shape, path);
  header.fortran_order = *fortran;
  header.data_offset = static_cast<int64_t>(text_start) + length;
  const std::optional<int64_t> data_bytes = data_bytes_of(shape_in_file(header), header.dtype);
  if (!data_bytes) throw bad(path, fmt::format("an array of shape {} is larger than memory can be", shape_text(header.shape)));
  header.data_bytes = *data_bytes;
  const int64_t present = file_size - header.data_offset;
  if (present < header.data_bytes) {
    throw bad(path, fmt::format("the file is truncated: shape {} of {} needs {} bytes of data, the file has {}", shape_text(header.shape),
                                name_of(header.dtype), header.data_bytes, present));
  }
  return header;
}

NpyArray open_npy(const std::filesystem::path& path, MemoryBudget& budget, bool write_through) {
  require_readable(path);
  if (write_through) require_writable(path);
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const OpenFile file(open(path.c_str(), (write_through ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) throw os_error(errno, path);
  struct stat facts;
  if (fstat(file.get(), &facts) != 0) throw os_error(errno, path);
  if (S_ISDIR(facts.st_mode)) throw os_error(EISDIR, path);
  if (!S_ISREG(facts.st_mode)) throw Error("OSError", fmt::format("{} is not a regular file", in_quotes(path)), {}, Blame::environment);

  std::vector<char> start(static_cast<size_t>(std::min<int64_t>(facts.st_size, kNpyHeadBytes)));
  read_exactly(file.get(), start.data(), static_cast<int64_t>(start.size()), 0, path);
  const NpyHeader header = parse_npy_header(start, facts.st_size, path);

  NpyArray array = laid_out(header);
  const bool aligned = header.data_offset % size_of(header.dtype) == 0;
  if (write_through) {
    if (!aligned || header.byte_swapped || (header.fortran_order && header.shape.size() > 1)) {
      throw Error("NotImplementedError",
                  fmt::format("{}: only arrays in C order and this machine's byte order can be written in place", in_quotes(path)),
                  "load it with mmap_mode='c', and save what you made", Blame::limitation);
    }
    array.storage = map_descriptor(file.get(), path, header.data_offset, header.data_bytes, true);
  } else if (header.data_bytes < kReadBelow || !aligned) {
    array.storage = storage_of(header, budget);
    const auto from_start = std::clamp<int64_t>(static_cast<int64_t>(start.size()) - header.data_offset, 0, header.data_bytes);
    auto* data = static_cast<char*>(array.storage->write());
    if (from_start > 0) std::memcpy(data, start.data() + header.data_offset, static_cast<size_t>(from_start));
    read_exactly(file.get(), data + from_start, header.data_bytes - from_start, header.data_offset + from_start, path);
  } else {
    array.storage = map_descriptor(file.get(), path, header.data_offset, header.data_bytes);
  }
  return array;
}

NpyArray npy_in_memory(std::span<const char> file, const std::filesystem::path& shown, MemoryBudget& budget) {
  const NpyHeader header = parse_npy_header(file, static_cast<int64_t>(file.size()), shown);
  NpyArray array = laid_out(header);
  array.storage = storage_of(header, budget);
  const std::span<const char> data = file.subspan(static_cast<size_t>(header.data_offset), static_cast<size_t>(header.data_bytes));
  if (!data.empty()) std::memcpy(array.storage->write(), data.data(), data.size());
  return array;
}

bool is_zip_archive(const std::filesystem::path& path) {
  require_readable(path);
  const OpenFile file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char start[4] = {};
  if (file.get() < 0 || pread(file.get(), start, sizeof start, 0) != sizeof start) return false;
  const std::string_view magic(start, sizeof start);
  return magic == std::string_view("PK\3\4", 4) || magic == std::string_view("PK\5\6", 4);  // the second: of an archive without members
}

namespace {

/// NumPy's header of version 1.0: padded so that the data begins at a multiple of 64, with room for the first axis (in Fortran order the
/// last) to grow to 21 digits in place.
std::string npy_header_text(const std::string& descr, const graph::Shape& shape, bool fortran_order) {
  constexpr size_t kGrowthDigits = 21;
  std::string dict =
      fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': {}, }}", descr, fortran_order ? "True" : "False", shape_text(shape));
  if (!shape.empty()) dict.append(kGrowthDigits - std::to_string(fortran_order ? shape.back() : shape.front()).size(), ' ');
  const size_t before = kMagic.size() + 4;
  dict.append(kArrayAlign - (before + dict.size() + 1) % kArrayAlign, ' ');
  dict += '\n';
  std::string header(kMagic);
  header += {'\1', '\0', static_cast<char>(dict.size() & 0xff), static_cast<char>(dict.size() >> 8)};
  return header + dict;
}

}  // namespace

struct NpyWriter::State {
  explicit State(const std::filesystem::path& path) : shown(path), file(path, AtomicFile::Access::anywhere) {}

  std::filesystem::path shown;
  AtomicFile file;
  int64_t data_offset = 0, data_bytes = 0;
};

NpyWriter::NpyWriter(const std::filesystem::path& path, DType dtype, const graph::Shape& shape, bool fortran_order,
                     std::string_view descr) {
  const std::optional<int64_t> data_bytes = data_bytes_of(shape, dtype);
  const char order = size_of(dtype) == 1 ? '|' : kLittle ? '<' : '>';
  graph::Shape extents = shape;
  if (!descr.empty() && dtype == DType::u8) extents.pop_back();
  const std::string header = npy_header_text(
      descr.empty() ? fmt::format("'{}{}{}'", order, kind(dtype), size_of(dtype)) : std::string(descr), extents, fortran_order);
  if (!data_bytes || *data_bytes > INT64_MAX - static_cast<int64_t>(header.size())) throw os_error(EFBIG, path);
  state_ = std::make_unique<State>(path);
  state_->data_offset = static_cast<int64_t>(header.size());
  state_->data_bytes = *data_bytes;
  state_->file.reserve(state_->data_offset + state_->data_bytes);
  state_->file.write_at(0, header);
}

NpyWriter::~NpyWriter() = default;

int64_t NpyWriter::data_bytes() const { return state_->data_bytes; }

void NpyWriter::write(int64_t byte_offset, const void* data, int64_t bytes) {
  if (byte_offset < 0 || bytes < 0 || byte_offset > state_->data_bytes || bytes > state_->data_bytes - byte_offset) {
    throw Error("RuntimeError", "NpyWriter::write beyond the array's data", {}, Blame::internal);
  }
  state_->file.write_at(state_->data_offset + byte_offset, {static_cast<const char*>(data), static_cast<size_t>(bytes)});
}

HostStorageRef NpyWriter::storage() {
  return map_descriptor(state_->file.descriptor(), state_->shown, state_->data_offset, state_->data_bytes, true);
}

void NpyWriter::commit() { state_->file.commit(); }

}  // namespace gasell
