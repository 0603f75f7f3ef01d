#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "catch.h"
#include "lang/diagnostic.h"
#include "runtime/device/storage.h"
#include "runtime/frame/dictionary.h"
#include "runtime/io/arrow/decode.h"
#include "runtime/io/arrow/plugin.h"
#include "runtime/io/arrow/tables.h"

using namespace gasell;
using namespace gasell::arrow;
namespace fs = std::filesystem;

namespace {

Engine& engine() {
  static Engine instance;
  return instance;
}

/// False, saying so, where Gasell was built without the plugin.
bool has_plugin() {
  const bool there = describe_plugin().starts_with("Apache Arrow");
  if (!there) WARN("no plugin: " + describe_plugin());
  return there;
}

struct Folder {
  fs::path path = fs::temp_directory_path() / ("gasell-parquet-" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  fs::path operator/(const char* name) const { return path / name; }
};

template <class T>
frame::Column numbers(DType dtype, const std::vector<T>& values) {
  frame::NewValues memory(engine(), dtype, static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), memory.as<T>());
  return frame::number_column(memory.node());
}

frame::Column texts(const std::vector<const char*>& values) {
  frame::DistinctTexts different;
  std::vector<int32_t> codes;
  for (const char* v : values) codes.push_back(v ? different.add(v) : -1);
  frame::Column column = numbers(DType::i32, codes);
  column.type = frame::text_type();
  column.dictionary = different.finish();
  return column;
}

/// Integers, floats with NaN, nullable bytes, few texts, many texts: `rows` of each.
Table example(int64_t rows) {
  std::vector<int64_t> integers;
  std::vector<double> floats;
  std::vector<int8_t> bytes;
  std::vector<char> valid;
  std::vector<std::string> own;
  std::vector<const char*> few, many;
  for (int64_t i = 0; i < rows; ++i) own.push_back("text " + std::to_string(i));
  for (int64_t i = 0; i < rows; ++i) {
    integers.push_back(i);
    floats.push_back(i % 7 == 3 ? std::nan("") : 0.5 * static_cast<double>(i));
    bytes.push_back(i % 5 == 0 ? 0 : static_cast<int8_t>(i));
    valid.push_back(i % 5 != 0);
    few.push_back(i % 11 == 4 ? nullptr : i % 2 ? "odd" : "");
    many.push_back(own[static_cast<size_t>(i)].c_str());
  }
  Table table;
  table.names = {"i", "x", "b", "few", "many"};
  table.columns = {numbers(DType::i64, integers), numbers(DType::f64, floats), numbers(DType::i8, bytes), texts(few), texts(many)};
  frame::NewValues flags(engine(), DType::boolean, rows);
  std::copy(valid.begin(), valid.end(), flags.as<bool>());
  table.columns[2].validity = flags.node();
  table.rows = rows;
  return table;
}

std::string cell(frame::Column& column, int64_t row) {
  const frame::ColumnData data = frame::read(engine(), column);
  if (data.valid && !data.valid[row]) return "-";
  if (column.type.has_codes()) {
    const int32_t code = data.as<int32_t>()[row];
    return code < 0 ? "-" : std::string((*column.dictionary)[code]);
  }
  if (column.type.dtype == DType::f64) return std::isnan(data.as<double>()[row]) ? "-" : std::to_string(data.as<double>()[row]);
  return column.type.dtype == DType::i8 ? std::to_string(data.as<int8_t>()[row]) : std::to_string(data.as<int64_t>()[row]);
}
std::string shown(Table table) {
  std::string text;
  for (size_t k = 0; k < table.columns.size(); ++k) text += table.names[k] + ":" + frame::dtype_name(engine(), table.columns[k]) + " ";
  for (int64_t row = 0; row < table.rows; ++row)
    for (frame::Column& column : table.columns) text += cell(column, row) + (&column == &table.columns.back() ? "\n" : ",");
  return text;
}

bool waits(const frame::Column& column) {
  return static_cast<const HostStorage*>(column.values->as<graph::BufferNode>()->storage.get())->is_waiting();
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.diagnostic().kind + ": " + e.diagnostic().message;
  }
  return "nothing raised";
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}
void put_bytes(const fs::path& path, std::string_view bytes) { std::ofstream(path, std::ios::binary) << bytes; }

/// A number as the footers of Parquet files have it.
std::string varint(int64_t value) {
  std::string bytes;
  for (auto rest = static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63); true; rest >>= 7) {
    bytes += static_cast<char>(rest < 128 ? rest : (rest & 127) | 128);
    if (rest < 128) return bytes;
  }
}

}  // namespace

TEST_CASE("Parquet files give back what was written, in any number of row groups") {
  if (!has_plugin()) return;
  const Folder folder;
  for (const int64_t rows : {0, 1, 63, 64, 65, 1000}) {
    const Table table = example(rows);
    for (const int64_t group : {7, 64, 5000}) {
      WriteOptions options;
      options.rows_a_group = group;
      write_parquet(engine(), folder / "t", table, options);
      CHECK(shown(read_parquet(engine(), {{folder / "t", {}}}, {})) == shown(table));
    }
    write_table(engine(), Format::feather, folder / "f", table, {"lz4", {}, 1});
    CHECK(shown(read_table(engine(), Format::feather, folder / "f", {})) == shown(table));
    write_table(engine(), Format::orc, folder / "o", table, {"none", {}, 1});
    CHECK(shown(read_table(engine(), Format::orc, folder / "o", {})) == shown(table));
  }
}

TEST_CASE("Parquet columns are read when somebody looks at them") {
  if (!has_plugin()) return;
  const Folder folder;
  write_parquet(engine(), folder / "t", example(1000), {});
  Table table = read_parquet(engine(), {{folder / "t", {}}}, {});
  for (const frame::Column& column : table.columns) CHECK(waits(column));
  CHECK(cell(table.columns[1], 2) == "1.000000");
  CHECK(!waits(table.columns[1]));
  CHECK(waits(table.columns[0]));
  CHECK((*table.columns[4].dictionary)[0] == "text 0");  // texts before their codes
  CHECK(cell(table.columns[4], 999) == "text 999");
  CHECK(waits(table.columns[3]));

  // Two columns of one expression come from one pass, also where the file has gone meanwhile.
  fs::remove(folder / "t");
  frame::force(engine(), {&table.columns[0], &table.columns[2]});
  CHECK(cell(table.columns[0], 5) == "5");
  CHECK(cell(table.columns[2], 5) == "-");
}

TEST_CASE("Many different texts are read a text a row, whatever the file says of their bytes") {
  if (!has_plugin()) return;
  const Folder folder;
  // Two row groups whose texts exceed what a dictionary page takes, and one whose do not.
  const int64_t rows = 140'000, group = 60'000;
  frame::DictionaryBuilder builder;
  std::vector<int32_t> codes;
  int64_t first_bytes = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const std::string text = "a text among many, number " + std::to_string(i * 7919 % 1'000'003) + (i % 3 ? "" : " é");
    builder.add(text);
    codes.push_back(i % 9 == 4 ? -1 : static_cast<int32_t>(i));
    if (i < group && codes.back() >= 0) first_bytes += static_cast<int64_t>(text.size());
  }
  Table table;
  table.names = {"t"};
  table.columns = {numbers(DType::i32, codes)};
  table.columns[0].type = frame::text_type();
  table.columns[0].dictionary = builder.finish(true);
  table.rows = rows;
  WriteOptions options;
  options.rows_a_group = group;
  write_parquet(engine(), folder / "t", table, options);
  const std::string wanted = shown(table);
  const auto text_rows = [&](const char* name) {
    Table read = read_parquet(engine(), {{folder / name, {}}}, {});
    CHECK((shown(read) == wanted));
    return read.columns[0].dictionary->size() == rows;
  };
  CHECK(text_rows("t"));

  // The number of bytes in the footer made wrong.
  const std::string whole = bytes_of(folder / "t");
  const size_t at = whole.rfind(varint(first_bytes));
  REQUIRE(at != std::string::npos);
  for (const int64_t wrong : {first_bytes - 1, first_bytes + 1, first_bytes * 7 / 8, first_bytes * 2 - 1}) {
    std::string changed = whole;
    REQUIRE(varint(wrong).size() == varint(first_bytes).size());
    changed.replace(at, varint(wrong).size(), varint(wrong));
    put_bytes(folder / "w", changed);
    CHECK(!text_rows("w"));
  }
}

TEST_CASE("Parquet row groups that cannot have wanted rows are left out") {
  if (!has_plugin()) return;
  const Folder folder;
  WriteOptions write;
  write.rows_a_group = 100;
  write_parquet(engine(), folder / "t", example(1000), write);
  using Op = Condition::Op;
  const auto rows = [&](const std::vector<std::vector<Condition>>& any_of) {
    ReadOptions options;
    options.any_of = any_of;
    return read_parquet(engine(), {{folder / "t", {}}}, options).rows;
  };
  CHECK(rows({{{"i", Op::gt, {int64_t{849}}}}}) == 200);
  CHECK(rows({{{"i", Op::lt, {200.0}}}}) == 200);
  CHECK(rows({{{"i", Op::le, {200.0}}}}) == 300);
  CHECK(rows({{{"i", Op::eq, {int64_t{150}}}}}) == 100);
  CHECK(rows({{{"i", Op::in, {int64_t{150}, int64_t{950}, int64_t{-3}}}}}) == 200);
  CHECK(rows({{{"i", Op::eq, {int64_t{150}}}}, {{"i", Op::eq, {int64_t{250}}}}}) == 200);
  CHECK(rows({{{"i", Op::ge, {int64_t{500}}}, {"i", Op::lt, {int64_t{600}}}}}) == 100);
  CHECK(rows({{{"i", Op::ne, {int64_t{5}}}}}) == 1000);
  CHECK(rows({{{"few", Op::gt, {std::string("p")}}}}) == 0);
  CHECK(rows({{{"few", Op::eq, {std::string("odd")}}}}) == 1000);
  CHECK(rows({{{"x", Op::gt, {449.75}}}}) == 100);
  CHECK(rows({{{"many", Op::eq, {int64_t{3}}}}}) == 1000);  // no order between texts and numbers: all are kept
}

TEST_CASE("Errors of Parquet files") {
  if (!has_plugin()) return;
  const Folder folder;
  const auto read = [&](const char* name, ReadOptions options = {}) {
    return error_of([&] { shown(read_parquet(engine(), data_files(folder / name), options)); });
  };
  CHECK(read("none").starts_with("FileNotFoundError: [Errno 2]"));
  fs::create_directory(folder / "empty");
  CHECK(read("empty").find("has no Parquet files") != std::string::npos);
  put_bytes(folder / "text", "a,b\n1,2\n, and more than twelve bytes");
  CHECK(read("text").find("magic bytes") != std::string::npos);
  put_bytes(folder / "short", "PAR1");
  CHECK(read("short").starts_with("ValueError: "));
  write_parquet(engine(), folder / "t", example(10), {});
  ReadOptions options;
  options.columns = {"i", "nope"};
  CHECK(read("t", options).find("has no column 'nope'") != std::string::npos);
  CHECK(error_of([&] { write_parquet(engine(), folder / "t", example(10), {"nope", {}, 1}); }).starts_with("ValueError: "));
  CHECK(read("t") == "nothing raised");  // what was there stays
  CHECK(error_of([&] { write_parquet(engine(), folder / "no/t", example(10), {}); }).starts_with("FileNotFoundError"));
  CHECK(error_of([&] { read_table(engine(), Format::feather, folder / "t", {}); }).starts_with("ValueError: "));
  CHECK(error_of([&] { read_table(engine(), Format::orc, folder / "t", {}); }).starts_with("ValueError: "));

  frame::Column other = texts({"a"});
  Table table;
  table.names = {"i"};
  table.columns = {other};
  table.rows = 1;
  fs::create_directory(folder / "set");
  write_parquet(engine(), folder / "set/a", table, {});
  table.columns = {numbers(DType::i64, std::vector<int64_t>{1})};
  write_parquet(engine(), folder / "set/b", table, {});
  CHECK(read("set").find("column 'i' is of type") != std::string::npos);
}

TEST_CASE("Damaged Parquet, Arrow IPC and ORC files raise or give something, and never more") {
  if (!has_plugin()) return;
  const Folder folder;
  WriteOptions options;
  options.rows_a_group = 20;
  write_parquet(engine(), folder / "t", example(50), options);
  write_table(engine(), Format::feather, folder / "f", example(50), {"lz4", {}, 1});
  const auto read = [&](bool parquet) {
    return error_of([&] {
      shown(parquet ? read_parquet(engine(), {{folder / "d", {}}}, {}) : read_table(engine(), Format::feather, folder / "d", {}));
    });
  };
  for (const bool parquet : {true, false}) {
    const std::string whole = bytes_of(parquet ? folder / "t" : folder / "f");
    REQUIRE(whole.size() > 100);
    for (size_t size = 0; size < whole.size(); size += 37) {
      put_bytes(folder / "d", whole.substr(0, size));
      CHECK(read(parquet).find("Error: ") != std::string::npos);
    }
    std::mt19937 random(5);
    for (int round = 0; round < 400; ++round) {
      std::string bytes = whole;
      for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips) bytes[random() % bytes.size()] = static_cast<char>(random());
      put_bytes(folder / "d", bytes);
      const std::string result = read(parquet);
      CHECK((result == "nothing raised" || result.find("Error: ") != std::string::npos));
    }
  }
}

TEST_CASE("Parquet files that announce more rows than there can be are damaged") {
  if (!has_plugin()) return;
  const Folder folder;
  const int64_t rows = 12345;
  write_parquet(engine(), folder / "t", example(rows), {});
  const std::string whole = bytes_of(folder / "t");
  uint32_t length = 0;
  std::memcpy(&length, whole.data() + whole.size() - 8, 4);
  const size_t begin = whole.size() - 8 - length;
  for (const int64_t wrong : {int64_t{1} << 61, (int64_t{1} << 61) + rows, int64_t{1} << 62, INT64_MAX, int64_t{-1}, INT64_MIN}) {
    std::string footer = whole.substr(begin, length);
    for (size_t at = 0; (at = footer.find(varint(rows), at)) != std::string::npos; at += varint(wrong).size())
      footer.replace(at, varint(rows).size(), varint(wrong));
    length = static_cast<uint32_t>(footer.size());
    put_bytes(folder / "d", whole.substr(0, begin) + footer + std::string(reinterpret_cast<const char*>(&length), 4) + "PAR1");
    length = static_cast<uint32_t>(whole.size() - 8 - begin);
    CHECK(error_of([&] { shown(read_parquet(engine(), {{folder / "d", {}}}, {})); }) ==
          "ValueError: '" + (folder / "d").string() + "' is damaged: it says that it has " + std::to_string(wrong) + " rows");
  }
}

TEST_CASE("Parquet: binary columns are texts where they are UTF-8") {
  const char bytes[] = "ab\xc3\xa9\xff";
  const int32_t offsets[] = {0, 2, 4, 4, 5};
  const void* buffers[] = {nullptr, offsets, bytes};
  ArrowSchema schema{};
  schema.format = "z";
  const auto type = field_type(schema);
  REQUIRE(type);
  CHECK(type->type == frame::text_type());
  ArrowArray array{};
  array.n_buffers = 3;
  array.buffers = buffers;
  const auto read = [&](int64_t rows) {
    array.length = rows;
    std::vector<TextPart> parts(1);
    parts[0].array = &array;
    parts[0].type = *type;
    const JoinedTexts texts = join_texts(engine(), parts, rows, false, "b");
    std::string all;
    for (int64_t i = 0; i < rows; ++i) all += std::string((*texts.dictionary)[i]) + "|";
    return all;
  };
  CHECK(read(3) == "ab|\xc3\xa9||");
  try {
    read(4);
    FAIL("bytes that are no text were read");
  } catch (const Error& error) {
    CHECK(error.diagnostic().kind == "NotImplementedError");
    CHECK(error.diagnostic().message == "column 'b' is of type binary and holds bytes that are no text");
  }
}
