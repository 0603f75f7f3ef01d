#include "runtime/io/npy.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>
#include <thread>

#include "catch.h"
#include "lang/diagnostic.h"
#include "runtime/io/npy_header.h"

using namespace gasell;
namespace fs = std::filesystem;

namespace {

/// A directory of its own that goes away with the object.
struct Directory {
  Directory() : path(fs::temp_directory_path() / ("gasell_npy_" + std::to_string(getpid()))) {
    fs::remove_all(path);
    fs::create_directory(path);
  }
  ~Directory() { fs::remove_all(path); }
  fs::path file(const std::string& name, const std::string& bytes) const {
    std::ofstream(path / name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path / name;
  }
  int64_t entries() const { return std::distance(fs::directory_iterator(path), fs::directory_iterator()); }
  fs::path path;
};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string npy(const std::string& dict, const std::string& data, int major = 1) {
  std::string bytes = "\x93NUMPY";
  const auto size = static_cast<uint32_t>(dict.size());
  bytes += {static_cast<char>(major), '\0', static_cast<char>(size & 0xff), static_cast<char>(size >> 8 & 0xff)};
  if (major > 1) bytes += {static_cast<char>(size >> 16 & 0xff), static_cast<char>(size >> 24)};
  return bytes + dict + data;
}
std::string dict(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': " + descr + ", 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
}

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class F>
Diagnostic failure(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.diagnostic();
  }
  return {};
}

std::string complaint(const std::string& bytes) {
  const Diagnostic error = failure([&] { parse_npy_header(bytes, static_cast<int64_t>(bytes.size()), "x.npy"); });
  return error.kind + ": " + error.message;
}

}  // namespace

TEST_CASE("Python literals of headers parse", "[npy]") {
  const auto shape = parse_python_literal(" ( 3L, -4 ,0,) ");
  REQUIRE(shape);
  const auto* tuple = shape->as<PythonLiteral::Tuple>();
  REQUIRE(tuple);
  REQUIRE(tuple->items.size() == 3);
  CHECK(*tuple->items[1].as<int64_t>() == -4);
  CHECK(*parse_python_literal("(7)")->as<int64_t>() == 7);
  CHECK(parse_python_literal("()")->as<PythonLiteral::Tuple>()->items.empty());
  CHECK(parse_python_literal("99999999999999999999")->as<PythonLiteral::BigInt>()->digits == "99999999999999999999");
  CHECK(*parse_python_literal("\"a\\\"b\"")->as<std::string>() == "a\"b");
  CHECK(parse_python_literal("[('x', '<f8'), ('y', '<i4', (2,))]")->as<PythonLiteral::List>()->items.size() == 2);
  for (const char* wrong :
       {"", "(", "(,)", "(1 2)", "{'a' 1}", "{'a': 1 'b': 2}", "'open", "1 2", "-", "nan", "__import__('os')", "{1:2", "Truee"}) {
    INFO(wrong);
    CHECK_FALSE(parse_python_literal(wrong));
  }
  CHECK_FALSE(parse_python_literal(std::string(100'000, '(')));
}

TEST_CASE("every dtype, byte order and axis order of a .npy file is understood", "[npy]") {
  MemoryBudget budget(1 << 30);
  const Directory directory;
  struct Case {
    const char* descr;
    DType dtype;
    bool swapped;
  };
  for (const Case& c : std::vector<Case>{{"|b1", DType::boolean, false},
                                         {"|i1", DType::i8, false},
                                         {"<i2", DType::i16, false},
                                         {">i4", DType::i32, true},
                                         {"<i8", DType::i64, false},
                                         {"|u1", DType::u8, false},
                                         {">u2", DType::u16, true},
                                         {"<u4", DType::u32, false},
                                         {"=u8", DType::u64, false},
                                         {"<f4", DType::f32, false},
                                         {">f8", DType::f64, true},
                                         {"<c8", DType::c64, false},
                                         {">c16", DType::c128, true},
                                         {">i1", DType::i8, false},
                                         {"f8", DType::f64, false}}) {
    const int size = size_of(c.dtype);
    std::string data(static_cast<size_t>(6 * size), '\0');
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i + 1);
    for (const bool fortran : {false, true}) {
      for (const int version : {1, 2, 3}) {
        const fs::path path = directory.file("x.npy", npy(dict("'" + std::string(c.descr) + "'", "(2, 3)", fortran), data, version));
        const NpyArray array = open_npy(path, budget);
        INFO(c.descr);
        CHECK(array.dtype == c.dtype);
        CHECK(array.byte_swapped == c.swapped);
        CHECK(array.shape == graph::Shape{2, 3});
        CHECK(array.strides == (fortran ? graph::Shape{1, 2} : graph::Shape{3, 1}));
        CHECK(array.offset == 0);
        REQUIRE(array.storage->bytes() == static_cast<int64_t>(data.size()));
        CHECK(std::memcmp(array.storage->write(), data.data(), data.size()) == 0);
        CHECK(reinterpret_cast<uintptr_t>(array.storage->write()) % static_cast<uintptr_t>(size) == 0);
      }
    }
  }
}

TEST_CASE("shapes of .npy files: none, empty, Python 2's, many axes", "[npy]") {
  const auto shape_of = [](const std::string& shape, const std::string& data) {
    const std::string bytes = npy(dict("'<f8'", shape), data);
    return parse_npy_header(bytes, static_cast<int64_t>(bytes.size()), "x.npy").shape;
  };
  CHECK(shape_of("()", std::string(8, 'x')) == graph::Shape{});
  CHECK(shape_of("(0,)", "") == graph::Shape{0});
  CHECK(shape_of("(3L, 2L)", std::string(48, 'x')) == graph::Shape{3, 2});
  CHECK(shape_of("(1099511627776, 0)", "") == graph::Shape{int64_t{1} << 40, 0});
  std::string ones = "(";
  for (int i = 0; i < 64; ++i) ones += "1,";
  CHECK(shape_of(ones + ")", std::string(8, 'x')).size() == 64);
}

TEST_CASE("large data is mapped, misaligned data is read", "[npy]") {
  MemoryBudget budget(1 << 30);
  const Directory directory;
  std::vector<double> values(100'000);
  std::iota(values.begin(), values.end(), 0.5);
  for (const int pad : {0, 1, 3, 64}) {
    const fs::path path =
        directory.file("big.npy", npy(dict("'<f8'", "(100000,)") + std::string(static_cast<size_t>(pad), ' '), raw(values)));
    const NpyArray array = open_npy(path, budget);
    const bool aligned = (10 + dict("'<f8'", "(100000,)").size() + static_cast<size_t>(pad)) % 8 == 0;
    CHECK(array.storage->is_mapped() == aligned);
    CHECK(reinterpret_cast<uintptr_t>(array.storage->write()) % 8 == 0);
    CHECK(std::memcmp(array.storage->write(), values.data(), 800'000) == 0);
  }
  const fs::path path = directory.file(
      "exact.npy", npy(dict("'<f8'", "(100000,)") + std::string(128 - 10 - dict("'<f8'", "(100000,)").size(), ' '), raw(values)));
  CHECK(open_npy(path, budget).storage->is_mapped());
}

TEST_CASE("bad .npy files are refused in the user's terms", "[npy]") {
  const std::string good = dict("'<f8'", "(3,)");
  const std::string data(24, 'x');
  CHECK(complaint("") == "EOFError: No data left in file");
  CHECK(complaint("hello, world, this is text") == "ValueError: 'x.npy': this is not a .npy file (those begin with b'\\x93NUMPY')");
  CHECK(complaint("\x93NUM") == "ValueError: 'x.npy': EOF: reading magic string, expected 8 bytes got 4");
  CHECK(complaint(npy(good, data, 9)) == "ValueError: 'x.npy': we only support format version (1,0), (2,0), and (3,0), not (9, 0)");
  CHECK(complaint(npy(good, data).substr(0, 9)) == "ValueError: 'x.npy': EOF: reading array header length, expected 2 bytes got 1");
  CHECK(complaint(npy(good, data).substr(0, 40)) == "ValueError: 'x.npy': EOF: reading array header, expected 57 bytes got 30");
  CHECK(complaint(npy("{'descr': '<f8'", data)) == "ValueError: 'x.npy': Cannot parse header: \"{'descr': '<f8'\"");
  CHECK(complaint(npy("(1, 2)", data)) == "ValueError: 'x.npy': Header is not a dictionary: '(1, 2)'");
  CHECK(complaint(npy("{'descr': '<f8'}", data)).find("does not contain the correct keys") != std::string::npos);
  CHECK(complaint(npy(dict("'|O'", "(3,)"), data)) == "ValueError: Object arrays cannot be loaded when allow_pickle=False");
  CHECK(complaint(npy(dict("'<f16'", "(3,)"), data)).find("'x.npy' holds extended-precision numbers (longdouble); Gasell reads") !=
        std::string::npos);
  CHECK(complaint(npy(dict("'>U5'", "(3,)"), data)).find("holds texts of the other byte order") != std::string::npos);
  CHECK(complaint(npy(dict("'<U99999999999'", "(3,)"), data)).find("not a valid dtype descriptor") != std::string::npos);
  CHECK(complaint(npy(dict("'<U9'", "(3,)"), data)).find("the file is truncated") != std::string::npos);
  CHECK(complaint(npy(dict("'>M8[ns]'", "(3,)"), data)).find("holds times of the other byte order") != std::string::npos);
  CHECK(complaint(npy(dict("[('a', '>f8')]", "(3,)"), data)).find("holds records with numbers of the other byte order") !=
        std::string::npos);
  CHECK(complaint(npy(dict("[(('t', 'a'), '<f8')]", "(3,)"), data)).find("fields have titles") != std::string::npos);
  CHECK(complaint(npy(dict("[('a', '<f8', (999999, 999999))]", "(3,)"), data)).find("a record is too large") != std::string::npos);
  CHECK(complaint(npy(dict("[('a',)]", "(3,)"), data)).find("not a valid dtype descriptor") != std::string::npos);
  CHECK(complaint(npy(dict("[('a', '<U9'), ('b', '<f8', (2,))]", "(3,)"), data)).find("the file is truncated") != std::string::npos);
  CHECK(complaint(npy(dict("'<f7'", "(3,)"), data)) == "ValueError: 'x.npy': descr is not a valid dtype descriptor: '<f7'");
  CHECK(complaint(npy(dict("3", "(3,)"), data)).find("not a valid dtype descriptor") != std::string::npos);
  CHECK(complaint(npy(dict("'<f8'", "3"), data)) == "ValueError: 'x.npy': shape is not valid: it is not a tuple of integers");
  CHECK(complaint(npy(dict("'<f8'", "(-3,)"), data)) == "ValueError: 'x.npy': shape is not valid: -3 is negative");
  CHECK(complaint(npy(dict("'<f8'", "(99999999999999999999,)"), data)).find("is too large") != std::string::npos);
  CHECK(complaint(npy(dict("'<f8'", "(4294967296, 4294967296)"), data)) ==
        "ValueError: 'x.npy': an array of shape (4294967296, 4294967296) is larger than memory can be");
  CHECK(complaint(npy(dict("'<f8'", "(4,)"), data)) ==
        "ValueError: 'x.npy': the file is truncated: shape (4,) of float64 needs 32 bytes of data, the file has 24");
  CHECK(complaint(npy(std::string(20'000, ' '), data)) ==
        "ValueError: 'x.npy': Header info length (20000) is large and may not be safe to load securely");
  MemoryBudget budget(1 << 20);
  CHECK(failure([&] { open_npy("missing.npy", budget); }).message == "[Errno 2] No such file or directory: 'missing.npy'");
  CHECK(failure([&] { open_npy("/tmp", budget); }).kind == "IsADirectoryError");
  CHECK(failure([&] { open_npy("/dev/zero", budget); }).kind == "OSError");
  const Directory directory;
  const fs::path large = directory.file("large.npy", npy(dict("'<f8'", "(1000, 300)") + "   ", std::string(2'400'000, 'x')));
  CHECK(failure([&] { open_npy(large, budget); }).message ==
        "Unable to allocate 2.29 MiB for an array with shape (1000, 300) and data type float64");
}

TEST_CASE("no damage to a header does more than raise an Error", "[npy][fuzz]") {
  std::mt19937 random(12345);
  const std::vector<std::string> seeds = {npy(dict("'<f8'", "(3, 4)"), std::string(96, 'x')),
                                          npy(dict("'>c16'", "(1,)", true), std::string(16, 'x'), 2),
                                          npy(dict("[('a', '<i4'), ('b', '|S3', (2,))]", "()"), std::string(10, 'x'), 3)};
  const std::string alphabet = "{}()[],:'\"\\ -+0123456789LTrueFalseNone<>|=biufcSUVOM\n\t\x93";
  int accepted = 0, refused = 0;
  for (int i = 0; i < 60'000; ++i) {
    std::string bytes = seeds[random() % seeds.size()];
    for (int edits = 1 + static_cast<int>(random() % 6); edits > 0; --edits) {
      const size_t at = random() % (bytes.size() + 1);
      switch (random() % 5) {
        case 0: bytes.resize(at); break;
        case 1: bytes.insert(at, 1, alphabet[random() % alphabet.size()]); break;
        case 2:
          if (at < bytes.size()) bytes[at] = static_cast<char>(random());
          break;
        case 3:
          if (at < bytes.size()) bytes[at] = alphabet[random() % alphabet.size()];
          break;
        default: bytes.erase(at, random() % 8); break;
      }
    }
    try {
      const NpyHeader header = parse_npy_header(bytes, static_cast<int64_t>(bytes.size()), "x.npy");
      REQUIRE(header.data_bytes >= 0);
      REQUIRE(header.data_offset + header.data_bytes <= static_cast<int64_t>(bytes.size()));
      ++accepted;
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(accepted > 100);
  CHECK(refused > 10'000);
}

TEST_CASE("files are written as NumPy writes them, from several threads", "[npy]") {
  const Directory directory;
  std::vector<double> values(30'000);
  std::iota(values.begin(), values.end(), 0.25);
  const fs::path path = directory.path / "out.npy";
  {
    NpyWriter writer(path, DType::f64, {300, 100});
    CHECK(writer.data_bytes() == 240'000);
    CHECK_FALSE(fs::exists(path));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back([&, t] { writer.write(t * 60'000, values.data() + t * 7'500, 60'000); });
    for (std::thread& thread : threads) thread.join();
    writer.commit();
  }
  CHECK(directory.entries() == 1);
  // np.save's bytes, recorded.
  const std::string header =
      std::string("\x93NUMPY\1\0v\0", 10) + "{'descr': '<f8', 'fortran_order': False, 'shape': (300, 100), }" + std::string(54, ' ') + "\n";
  const std::string bytes = read_file(path);
  REQUIRE(bytes.size() == 128 + 240'000);
  CHECK(bytes.substr(0, 128) == header);
  CHECK(bytes.substr(128) == raw(values));
  struct stat facts;
  REQUIRE(stat(path.c_str(), &facts) == 0);
  const mode_t mask = umask(0);
  umask(mask);
  CHECK((facts.st_mode & 0777) == (0666 & ~mask));
}

TEST_CASE("a kernel may write into the file's mapping", "[npy]") {
  const Directory directory;
  MemoryBudget budget(1 << 30);
  NpyWriter writer(directory.path / "mapped.npy", DType::i32, {200'000}, true);
  {
    const HostStorageRef storage = writer.storage();
    REQUIRE(storage->writable());
    auto* data = static_cast<int32_t*>(storage->write());
    std::iota(data, data + 200'000, 7);
    storage->release(0, 400'000);  // pages go, data stays
  }
  writer.commit();
  const NpyArray array = open_npy(directory.path / "mapped.npy", budget);
  const auto* data = static_cast<const int32_t*>(array.storage->write());
  for (int i = 0; i < 200'000; ++i) REQUIRE(data[i] == i + 7);
}

TEST_CASE("a file that is not committed leaves nothing, and the old one as it was", "[npy]") {
  const Directory directory;
  const fs::path path = directory.file("old.npy", "old contents");
  {
    NpyWriter writer(path, DType::f32, {1000});
    CHECK(directory.entries() <= 2);  // one where a file may be without a name
  }
  CHECK(directory.entries() == 1);
  CHECK(read_file(path) == "old contents");
  // A replaced file keeps its permissions, and a link keeps pointing.
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("old.npy", directory.path / "link.npy");
  NpyWriter writer(directory.path / "link.npy", DType::f32, {0});
  writer.commit();
  CHECK(fs::is_symlink(directory.path / "link.npy"));
  CHECK(read_file(path).size() == 128);
  CHECK((fs::status(path).permissions() & fs::perms::all) == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("where a file cannot be written the error is Python's", "[npy]") {
  const Directory directory;
  CHECK(failure([&] { NpyWriter(directory.path / "no" / "x.npy", DType::f64, {3}); }).kind == "FileNotFoundError");
  CHECK(failure([&] { NpyWriter(directory.path, DType::f64, {3}); }).kind == "IsADirectoryError");
  CHECK(failure([&] { NpyWriter("/dev/full", DType::f64, {3}); }).kind == "OSError");
  CHECK(failure([&] { NpyWriter(directory.path / "x.npy", DType::f64, {int64_t{1} << 40, int64_t{1} << 40}); }).kind == "OSError");
  // More than any disk has: an error at once, nothing left behind.
  const Diagnostic full = failure([&] { NpyWriter(directory.path / "x.npy", DType::i8, {int64_t{1} << 43}); });
  CHECK(full.kind == "OSError");
  CHECK(full.message.find(full.message.find("[Errno 27]") == 0 ? "File too large" : "[Errno 28] No space left on device: ") !=
        std::string::npos);
  CHECK(directory.entries() == 0);
}

TEST_CASE("a file size limit is an error, not a signal", "[npy]") {
  const Directory directory;
  rlimit saved;
  getrlimit(RLIMIT_FSIZE, &saved);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100'000, saved.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const Diagnostic error = failure([&] { NpyWriter(directory.path / "x.npy", DType::f64, {100'000}); });
  setrlimit(RLIMIT_FSIZE, &saved);
  std::signal(SIGXFSZ, handler);
  CHECK(error.kind == "OSError");
  CHECK(error.message.find("[Errno 27] File too large: ") == 0);
  CHECK(directory.entries() == 0);
}
