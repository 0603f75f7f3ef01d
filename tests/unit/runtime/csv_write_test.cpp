#include "runtime/io/csv/write.h"

#include <unistd.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "catch.h"
#include "lang/diagnostic.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/csv/csv.h"
#include "runtime/io/csv/field_text.h"
#include "runtime/io/json_lines.h"

using namespace gasell;
using namespace gasell::csv;
namespace fs = std::filesystem;

namespace {

Engine& engine() {
  static Engine instance;
  return instance;
}

std::string written(const CsvTable& table, const WriteOptions& options = {}) {
  std::string text;
  write_csv(engine(), table.names, table.columns, options, [&](std::string_view part) { text += part; });
  return text;
}

}  // namespace

TEST_CASE("CSV: numbers have the shortest digits that read back") {
  const auto text_of = [](auto value) {
    char text[kLongestField];
    return std::string(text, put_float(text, value));
  };
  CHECK(text_of(0.0) == "0.0");
  CHECK(text_of(-0.0) == "-0.0");
  CHECK(text_of(-2.0) == "-2.0");
  CHECK(text_of(12.25) == "12.25");
  CHECK(text_of(-0.0001) == "-0.0001");
  CHECK(text_of(0.00015) == "0.00015");
  CHECK(text_of(1e-5) == "1e-05");
  CHECK(text_of(123456789012345.6) == "123456789012345.6");
  CHECK(text_of(1e15) == "1000000000000000.0");
  CHECK(text_of(1e16) == "1e+16");
  CHECK(text_of(-1.5e300) == "-1.5e+300");
  CHECK(text_of(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(text_of(0.1f) == "0.1");
  CHECK(text_of(3e10f) == "30000000000.0");
  std::mt19937_64 random(7);
  const auto check = [&](double value) {
    const std::string text = text_of(value);
    CHECK(text.size() <= size_t{kLongestField});
    CHECK(std::strtod(text.c_str(), nullptr) == value);
    char shortest[64];
    const char* const end = std::to_chars(shortest, shortest + sizeof shortest, value, std::chars_format::scientific).ptr;
    const auto digits = [](std::string_view t) {  // without zeros at either end
      std::string found;
      for (const char c : t.substr(0, t.find('e')))
        if (std::isdigit(static_cast<unsigned char>(c)) && (c != '0' || !found.empty())) found += c;
      while (!found.empty() && found.back() == '0') found.pop_back();
      return found;
    };
    CHECK(digits(text) == digits({shortest, end}));
  };
  for (int k = 0; k < 20000; ++k) {
    const auto bits = random();
    double any = 0;
    std::memcpy(&any, &bits, sizeof any);
    if (std::isfinite(any)) check(any);
    check(static_cast<double>(static_cast<int64_t>(bits >> 14) - (int64_t{1} << 49)) / std::pow(10, k % 7));
    check(std::nextafter(static_cast<double>(bits % 1000000) / 1e4, k % 2 ? 1e300 : -1e300));
  }
}

TEST_CASE("CSV: times have the fields they need") {
  const auto text_of = [](int64_t ns, frame::TimePrecision precision) {
    char text[kLongestField];
    return std::string(text, put_time(text, ns, precision));
  };
  for (const int64_t ns : {int64_t{0}, int64_t{1420854267} * 1'000'000'000 + 7, int64_t{-1}, std::numeric_limits<int64_t>::max(),
                           std::numeric_limits<int64_t>::min() + 1})
    for (const auto precision : {frame::TimePrecision::date, frame::TimePrecision::seconds, frame::TimePrecision::milliseconds,
                                 frame::TimePrecision::microseconds, frame::TimePrecision::nanoseconds})
      CHECK(text_of(ns, precision) == frame::time_text(ns, precision));
}

TEST_CASE("CSV: what is read is written") {
  for (const char* text : {"a,b\n1,2.5\n-3,0.1\n", "a,b\nx,True\n\"y,z\",False\n", "a\n\"\"\n1.5\n", "a,b\n,1\n\"say \"\"hi\"\"\",2\n",
                           "a\n1e+16\n1e-05\ninf\n"}) {
    INFO(text);
    CHECK(written(read_csv_text(engine(), text, {})) == text);
  }
  WriteOptions options;
  options.missing = "NA";
  options.float_format = "%.2f";
  options.separator = ';';
  options.decimal = ',';
  CHECK(written(read_csv_text(engine(), "a,b\n1.239,x\n,y\n", {}), options) == "a;b\n1,24;x\nNA;y\n");
  options.float_format = "%s";
  CHECK_THROWS(written(read_csv_text(engine(), "a\n1.5\n", {}), options));
  options.float_format = "%.2f%n";
  CHECK_THROWS(written(read_csv_text(engine(), "a\n1.5\n", {}), options));
}

TEST_CASE("CSV: floats come back bit by bit") {
  std::mt19937_64 random(1);
  frame::NewValues values(engine(), DType::f64, 30000);
  for (int64_t i = 0; i < values.count; ++i) {
    do {
      const uint64_t bits = i % 3 ? random() : random() >> (random() % 60);
      std::memcpy(values.as<double>() + i, &bits, 8);
      if (i % 5 == 0) values.as<double>()[i] = static_cast<double>(random() % 100000000) / 1000;
    } while (!std::isfinite(values.as<double>()[i]));
  }
  CsvTable table;
  table.names = {"a"};
  table.columns = {frame::number_column(values.node())};
  CsvOptions options;
  options.block_bytes = 5000;
  options.type = WantedType{frame::number_type(DType::f64), "float64"};
  const CsvTable back = read_csv_text(engine(), written(table), options);
  const frame::ColumnData data = frame::read(engine(), frame::Column(back.columns[0]));
  REQUIRE(data.count == values.count);
  CHECK(std::memcmp(data.values, values.as<double>(), static_cast<size_t>(values.count) * 8) == 0);
}

TEST_CASE("files are written as a whole or not at all") {
  const fs::path folder = fs::temp_directory_path() / ("gasell_atomic_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const auto contents = [&](const char* name) {
    std::ifstream in(folder / name, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  const auto entries = [&] { return std::distance(fs::directory_iterator(folder), fs::directory_iterator()); };
  {
    AtomicFile file(folder / "a");
    file.write("one");
    CHECK(!fs::exists(folder / "a"));
    file.commit();
  }
  CHECK(contents("a") == "one");
  fs::permissions(folder / "a", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("a", folder / "link");
  {
    AtomicFile file(folder / "link");
    file.write("two");
  }  // not committed
  CHECK(contents("a") == "one");
  CHECK(entries() == 2);
  {
    AtomicFile file(folder / "link");
    file.write("two");
    file.commit();
  }
  CHECK(contents("a") == "two");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(fs::status(folder / "a").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  append_to_file(folder / "a", " three");
  CHECK(contents("a") == "two three");
  CHECK_THROWS_AS(AtomicFile(folder), Error);
  CHECK_THROWS_AS(AtomicFile(folder / "none" / "a"), Error);
  // A disk that is full.
  if (fs::exists("/dev/full")) {
    AtomicFile full("/dev/full");
    CHECK_THROWS_AS(full.write("x"), Error);
    CHECK_THROWS_AS(append_to_file("/dev/full", "x"), Error);
  }
  CHECK(entries() == 2);
  fs::remove_all(folder);
}

TEST_CASE("JSON lines: the first of several errors, whatever the threads do") {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "{\"a\":" + std::to_string(i) + ",\"b\":\"text " + std::to_string(i) + "\"}\n";
  const JsonTable table = read_json_text(engine(), text, JsonForm::lines);
  CHECK(table.rows == 100000);
  CHECK(table.names == std::vector<std::string>{"a", "b"});
  CHECK(frame::read(engine(), frame::Column(table.columns[0])).as<int64_t>()[77777] == 77777);
  text.replace(text.find("\"a\":90000"), 3, "xax");
  text.replace(text.find("\"a\":50000"), 3, "xax");
  for (int k = 0; k < 5; ++k) {
    try {
      read_json_text(engine(), text, JsonForm::lines);
      FAIL("nothing raised");
    } catch (const Error& error) {
      CHECK(error.diagnostic().hint == "line 50001 of the text");
    }
  }
}
