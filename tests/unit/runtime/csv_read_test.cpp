#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "catch.h"
#include "lang/diagnostic.h"
#include "runtime/frame/dictionary.h"
#include "runtime/io/csv/csv.h"
#include "runtime/io/csv/tokenizer.h"
#include "runtime/io/csv/unpack.h"
#include "runtime/io/json_lines.h"

using namespace gasell;
using namespace gasell::csv;
namespace fs = std::filesystem;

namespace {

Engine& engine() {
  static Engine instance;
  return instance;
}

/// A cell as text: numbers as %.17g, missing ones as "-".
std::string cell(const frame::Column& column, int64_t row) {
  const frame::ColumnData data = frame::read(engine(), frame::Column(column));
  if (data.valid && !data.valid[row]) return "-";
  char text[64];
  switch (column.type.logical) {
    case frame::Logical::text: {
      const int32_t code = data.as<int32_t>()[row];
      return code < 0 ? "-" : std::string((*column.dictionary)[code]);
    }
    case frame::Logical::datetime: {
      const int64_t time = data.as<int64_t>()[row];
      return time == frame::kNotATime ? "-" : std::to_string(time);
    }
    default: break;
  }
  switch (column.type.dtype) {
    case DType::boolean: return data.as<bool>()[row] ? "True" : "False";
    case DType::i64: return std::to_string(data.as<int64_t>()[row]);
    case DType::u64: return std::to_string(data.as<uint64_t>()[row]);
    case DType::i8: return std::to_string(data.as<int8_t>()[row]);
    case DType::f32: std::snprintf(text, sizeof text, "%.9g", static_cast<double>(data.as<float>()[row])); return text;
    default: break;
  }
  const double value = data.as<double>()[row];
  if (std::isnan(value)) return "-";
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

/// "a:int64 b:object|1,x|2,-": names with dtypes, then rows.
std::string shown(const CsvTable& table) {
  std::string text;
  for (size_t i = 0; i < table.columns.size(); ++i)
    text += (i ? " " : "") + table.names[i] + ":" + frame::dtype_name(engine(), table.columns[i]);
  for (int64_t row = 0; row < table.rows; ++row) {
    text += "|";
    for (size_t i = 0; i < table.columns.size(); ++i) text += (i ? "," : "") + cell(table.columns[i], row);
  }
  return text;
}

std::string read(const std::string& text, const CsvOptions& options = {}) { return shown(read_csv_text(engine(), text, options)); }

std::string error(const std::string& text, const CsvOptions& options = {}) {
  try {
    read_csv_text(engine(), text, options);
  } catch (const Error& e) {
    return e.diagnostic().kind + ": " + e.diagnostic().message;
  }
  return "nothing raised";
}

WantedType wanted(frame::ColumnType type, std::string shown) { return {std::move(type), std::move(shown)}; }

}  // namespace

TEST_CASE("CSV: types of columns") {
  CHECK(read("a,b,c,d\n1,1.5,x,True\n2,2,y,False\n") == "a:int64 b:float64 c:object d:bool|1,1.5,x,True|2,2,y,False");
  CHECK(read("a,b,c,d\n1,,x,True\n,2.5,,\n") == "a:Int64 b:float64 c:object d:boolean|1,-,x,True|-,2.5,-,-");
  CHECK(read("a\n\n1\n") == "a:int64|1");
  CHECK(read("a,b\n,\n,\n") == "a:float64 b:float64|-,-|-,-");
  CHECK(read("a\n9223372036854775808\n1\n") == "a:uint64|9223372036854775808|1");
  CHECK(read("a\n9223372036854775808\n-1\n") == "a:object|9223372036854775808|-1");
  CHECK(read("a\n99999999999999999999\n1\n") == "a:object|99999999999999999999|1");
  CHECK(read("a\n99999999999999999999\n1.5\n") == "a:float64|1e+20|1.5");
  CHECK(read("a\n1\nTrue\n") == "a:object|1|True");
  CHECK(read("a,b\n1,NA\n2,null\n") == "a:int64 b:float64|1,-|2,-");
  CHECK(read("a,b\r\n1,2\r\n3,4") == "a:int64 b:int64|1,2|3,4");
  CHECK(read("a,b\r1,2\r3,4\r") == "a:int64 b:int64|1,2|3,4");
  CHECK(read("\xef\xbb\xbf"
             "a\n1\n") == "a:int64|1");
  CHECK(read("a,b\n\n  \n1,2\n\n3,4\n\n") == "a:int64 b:int64|1,2|3,4");
  CHECK(read("a,b\n1\n2,3\n") == "a:int64 b:Int64|1,-|2,3");
}

TEST_CASE("CSV: quotes") {
  CHECK(read("a,b\n\"x,y\",\"1\"\n\"p \"\"q\"\"\",2\n") == "a:object b:int64|x,y,1|p \"q\",2");
  CHECK(read("a,b\n\"x\ny\",1\n\"\",2\n") == "a:object b:int64|x\ny,1|-,2");
  CHECK(read("a,b\n5\" pipe,1\n6\" pipe,2\n") == "a:object b:int64|5\" pipe,1|6\" pipe,2");
  CHECK(read("a,b\n\"ab\"cd,1\n") == "a:object b:int64|abcd,1");
  CHECK(error("a,b\n\"x,1\n2,3\n") == "ParserError: Error tokenizing data. C error: EOF inside string starting at row 1");
  CsvOptions raw;
  raw.dialect.quote = 0;
  CHECK(read("a,b\n\"x,1\n", raw) == "a:object b:int64|\"x,1");
  CsvOptions escaped;
  escaped.dialect.escape = '\\';
  CHECK(read("a,b\nx\\,y,1\n\"p\\\"q\",2\n", escaped) == "a:object b:int64|x,y,1|p\"q,2");
}

TEST_CASE("CSV: heads") {
  CHECK(read("x,x,,x\n1,2,3,4\n") == "x:int64 x.1:int64 Unnamed: 2:int64 x.2:int64|1,2,3,4");
  CsvOptions none;
  none.header = -1;
  CHECK(read("1,2\n3,4\n", none) == "0:int64 1:int64|1,2|3,4");
  CsvOptions second;
  second.header = 1;
  CHECK(read("title\na,b\n1,2\n", second) == "a:int64 b:int64|1,2");
  CsvOptions named;
  named.names = {"p", "q"};
  CHECK(read("1,2\n", named) == "p:int64 q:int64|1,2");
  named.header = 0;
  CHECK(read("a,b\n1,2\n", named) == "p:int64 q:int64|1,2");
  CHECK(read("a,b\nx,1,2\ny,3,4\n") == ":object a:int64 b:int64|x,1,2|y,3,4");
  CHECK(error("") == "EmptyDataError: No columns to parse from file");
  CHECK(error("\n\n") == "EmptyDataError: No columns to parse from file");
  CHECK(read("a,b\n") == "a:float64 b:float64");
  CsvOptions use;
  use.use = {{ColumnKey{"b"}, ColumnKey{"", 0}}};
  CHECK(read("a,b,c\n1,2,3\n", use) == "a:int64 b:int64|1,2");
  use.use = {{ColumnKey{"b"}}};
  CHECK(read("a,b\nx,1,2\ny,3,4\n", use) == ":object b:int64|x,2|y,4");
  use.use = {{ColumnKey{"a"}, ColumnKey{"b"}}};
  CHECK(read("a,b\nx,1,2\ny,3,4\n", use) == "a:object b:int64|x,1|y,3");
  use.use = {{ColumnKey{"z"}}};
  CHECK(error("a,b,c\n1,2,3\n", use) == "ValueError: Usecols do not match columns, columns expected but not found: ['z']");
}

TEST_CASE("CSV: rows that are too long") {
  CHECK(error("a,b\n1,2\n3,4,5\n") == "ParserError: Error tokenizing data. C error: Expected 2 fields in line 3, saw 3\n");
  CsvOptions skip;
  skip.bad_lines = BadLines::skip;
  CHECK(read("a,b\n1,2\n3,4,5\n6,7\n", skip) == "a:int64 b:int64|1,2|6,7");
  CsvOptions cut;
  cut.no_index = true;
  CHECK(read("a,b\n1,2,9\n3,4,5\n", cut) == "a:int64 b:int64|1,2|3,4");
  CHECK(error("a,b\n1,2\n3,4,5\n", cut) == "ParserError: Error tokenizing data. C error: Expected 2 fields in line 3, saw 3\n");
}

TEST_CASE("CSV: options") {
  CsvOptions o;
  o.rows = 2;
  CHECK(read("a\n1\n2\nx\n", o) == "a:int64|1|2");
  o = {};
  o.skip_footer = 1;
  CHECK(read("a\n1\n2\nx\n", o) == "a:int64|1|2");
  o = {};
  o.skip_rows = 2;
  CHECK(read("#\n#\na\n1\n", o) == "a:int64|1");
  o = {};
  o.skip_lines = {1, 3};
  CHECK(read("a\nunit\n1\nx\n2\n", o) == "a:int64|1|2");
  o = {};
  o.dialect.comment = '#';
  CHECK(read("# file\na,b\n1,2 # x\n#\n3,4\n", o) == "a:int64 b:int64|1,2|3,4");
  o = {};
  o.dialect.whitespace = true;
  CHECK(read("a  b\n 1   2 \n3\t4\n", o) == "a:int64 b:int64|1,2|3,4");
  o = {};
  o.dialect.skip_initial_space = true;
  CHECK(read("a, b\n1, \"x, y\"\n", o) == "a:int64 b:object|1,x, y");
  o = {};
  o.dialect.separator = ';';
  o.decimal = ',';
  o.thousands = '.';
  CHECK(read("a;b\n1,5;1.000\n2;2\n", o) == "a:float64 b:int64|1.5,1000|2,2");
  o = {};
  o.missing = {"-999"};
  CHECK(read("a,b\n-999,1.5\n2,-999.0\n", o) == "a:Int64 b:float64|-,1.5|2,-");
  o = {};
  o.default_missing = false;
  CHECK(read("a\nNA\n\"\"\n", o) == "a:object|NA|");
  o = {};
  o.true_values = {"yes"};
  o.false_values = {"no"};
  CHECK(read("a\nyes\nno\n", o) == "a:bool|True|False");
  o = {};
  o.sniff_separator = true;
  CHECK(read("a;b\n1;2\n", o) == "a:int64 b:int64|1,2");
  o = {};
  o.dialect.skip_blank_lines = false;
  CHECK(read("a\n1\n\n2\n", o) == "a:Int64|1|-|2");
  o = {};
  o.dates = {ColumnKey{"t"}};
  CHECK(read("t\n1970-01-02\n\n", o) == "t:datetime64[ns]|86400000000000");
  CHECK(read("t\n1970-01-02\nabc\n", o) == "t:object|1970-01-02|abc");
  CHECK(error("a\n1\n", o) == "ValueError: Missing column provided to 'parse_dates': 't'");
}

TEST_CASE("CSV: types that are asked for") {
  CsvOptions o;
  o.type = wanted(frame::number_type(DType::i8), "int8");
  CHECK(read("a\n1\n-2\n", o) == "a:int8|1|-2");
  CHECK(error("a\n1\n300\n", o) == "OverflowError: Python integer 300 out of bounds for int8");
  CHECK(error("a\n1\nabc\n", o) == "ValueError: invalid literal for int() with base 10: 'abc'");
  CHECK(error("a,b\n1,2\n,3\n", o) == "ValueError: Integer column has NA values in column 0");
  o.type = wanted(frame::text_type(), "str");
  CHECK(read("a\n01\n\nNA\n", o) == "a:object|01|-");
  o.type = wanted(frame::number_type(DType::f32), "float32");
  CHECK(read("a\n1\n0.5\n", o) == "a:float32|1|0.5");
  o.type = wanted(frame::number_type(DType::i64, true), "Int64");
  CHECK(read("a,b\n1,2\n,3\n", o) == "a:Int64 b:Int64|1,2|-,3");
  o.type = wanted({frame::Logical::category, DType::i32}, "category");
  const CsvTable table = read_csv_text(engine(), "a\ny\nx\ny\n", o);
  CHECK(cell(*table.columns[0].categories, 0) == "x");
  CHECK(frame::read(engine(), frame::Column(table.columns[0])).as<int32_t>()[0] == 1);
}

TEST_CASE("CSV: encodings and packed files") {
  CHECK(error("a\nb\xe9z\n") == "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe9 in position 3: invalid continuation byte");
  // Positions are the file's, in the header, too.
  CHECK(error("a\xff,b\n1,2\n") == "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 1: invalid start byte");
  CHECK(error("\xef\xbb\xbf"
              "a,b\n1,\xff\n") == "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 9: invalid start byte");
  CHECK(error("a,b\n1,\xe2\x82\n") == "UnicodeDecodeError: 'utf-8' codec can't decode bytes in position 6-7: invalid continuation byte");
  CHECK(error("a,b\n1,\xed\xa0\x80\n") ==
        "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xed in position 6: invalid continuation byte");
  CsvOptions skipping_one;
  skipping_one.skip_rows = 1;
  CHECK(error("q\xff\na,b\n1,2\n", skipping_one) ==
        "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 1: invalid start byte");
  const fs::path folder = fs::temp_directory_path() / ("gasell_csv_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const auto file = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
    return folder / name;
  };
  const auto read_file = [&](const fs::path& path, const CsvOptions& options = {}) { return shown(read_csv(engine(), {path}, options)); };
  CsvOptions latin;
  latin.encoding = Encoding::latin1;
  CHECK(read_file(file("l.csv", "a\nb\xe9z\n"), latin) == "a:object|b\xc3\xa9z");
  CsvOptions utf16;
  utf16.encoding = Encoding::utf16;
  CHECK(read_file(file("u.csv", std::string("\xff\xfe"
                                            "a\0\n\0\x41\x04\n\0",
                                            10)),
                  utf16) == "a:object|\xd1\x81");
  const auto repaired = [&](const std::string& bytes, BadBytes how) {
    CsvOptions options;
    options.bad_bytes = how;
    return read_file(file("r.csv", bytes), options);
  };
  CHECK(repaired("a\nb\xe9z\n", BadBytes::replace) == "a:object|b\ufffdz");
  CHECK(repaired("a\nb\xe9z\n", BadBytes::drop) == "a:object|bz");
  CHECK(repaired("a\nb\xe9\xffz\n", BadBytes::escape) == "a:object|b\\xe9\\xffz");
  // A character that is cut is replaced once; bytes that begin none each.
  CHECK(repaired("a\n\xe2\x82z\xed\xa0\x80\xf0\x9f\x98", BadBytes::replace) == "a:object|\ufffdz\ufffd\ufffd\ufffd\ufffd");
  CHECK(repaired("\xef\xbb\xbf"
                 "a\n1\n",
                 BadBytes::replace) == "a:int64|1");
  CsvOptions replacing;
  replacing.bad_bytes = BadBytes::replace;
  const JsonTable json = read_json(engine(), {file("r.json", "{\"a\":\"x\xe9\"}\n")}, JsonForm::lines, {}, replacing);
  CHECK(cell(json.columns[0], 0) == "x\ufffd");
  CHECK(read_file(file("x.csv.gz", pack_gzip("a\n1\n") + pack_gzip("2\n"))) == "a:int64|1|2");
  CHECK(read_file(file("x.csv.zst", pack_zstd("a\n1\n"))) == "a:int64|1");
  CHECK_THROWS(read_file(file("cut.csv.gz", pack_gzip("a\n1\n").substr(0, 12))));
  CHECK_THROWS(read_file(file("no.csv.gz", "a\n1\n")));
  CHECK_THROWS(read_file(file("empty.csv", "")));
  CHECK_THROWS(read_file(folder / "none.csv"));
  CHECK_THROWS(read_file(folder));
  const CsvTable both = read_csv(engine(), {file("p1.csv", "a,b\n1,x\n2,y\n"), file("p2.csv", "a,b\n2.5,y\n")}, {});
  CHECK(shown(both) == "a:float64 b:object|1,x|2,y|2.5,y");
  CHECK(files_of(folder / "p*.csv").size() == 2);
  CHECK_THROWS(read_csv(engine(), {file("p1.csv", "a,b\n1,x\n"), file("p3.csv", "a,c\n1,x\n")}, {}));
  fs::remove_all(folder);
}

TEST_CASE("CSV: blocks do not show") {
  std::mt19937 random(3);
  for (int run = 0; run < 400; ++run) {
    // Random tables, with oddities in every fourth.
    const int columns = 1 + static_cast<int>(random() % 5), rows = static_cast<int>(random() % 60);
    std::ostringstream text;
    for (int c = 0; c < columns; ++c) text << (c ? "," : "") << "c" << c;
    const char* const feed = run % 5 == 4 ? "\r\n" : "\n";
    text << feed;
    for (int r = 0; r < rows; ++r) {
      if (run % 4 == 3 && random() % 9 == 0) text << "   " << feed;
      for (int c = 0; c < columns; ++c) {
        if (c) text << ",";
        switch (random() % (run % 4 == 3 ? 9 : 7)) {
          case 0: text << random() % 1000; break;
          case 1: text << static_cast<int>(random()) / 1000.0; break;
          case 2: text << "text" << random() % 5; break;
          case 3: text << "\"quoted, " << random() % 7 << "\""; break;
          case 4: text << "\"two\nlines \"\"" << random() % 7 << "\"\"\""; break;
          case 5: text << "2020-01-" << 10 + random() % 20; break;
          case 6: text << (columns > 1 ? "" : "x"); break;
          case 7: text << "5\" stray"; break;
          default: text << "a\"b\"c"; break;
        }
      }
      if (r + 1 < rows || random() % 2) text << feed;
    }
    CsvOptions whole, small;
    whole.block_bytes = 1 << 20;
    small.block_bytes = 1 + static_cast<int64_t>(random() % 200);
    INFO(text.str());
    const std::string one = read(text.str(), whole);
    REQUIRE(one == read(text.str(), small));
    CsvOptions first = small;
    first.rows = static_cast<int64_t>(random() % 10);
    CHECK(read_csv_text(engine(), text.str(), first).rows ==
          std::min<int64_t>(*first.rows, read_csv_text(engine(), text.str(), whole).rows));
    // Texts as a byte at a time reads them.
    CsvOptions texts = small;
    texts.type = wanted(frame::text_type(), "str");
    texts.find_missing = false;
    const CsvTable table = read_csv_text(engine(), text.str(), texts);
    const std::string source = text.str();
    const char* at = source.data();
    const char* const end = at + source.size();
    Fields fields;
    read_line({}, at, end, fields);
    for (int64_t row = 0; at < end;) {
      fields.clear();
      if (read_line({}, at, end, fields) != Line::record) continue;
      REQUIRE(row < table.rows);
      for (int64_t c = 0; c < fields.size(); ++c) CHECK(cell(table.columns[static_cast<size_t>(c)], row) == fields[c]);
      ++row;
    }
  }
}

TEST_CASE("CSV: values deep in a file widen its columns") {
  std::string ints = "a,b,c,d\n", tail;
  for (int i = 0; i < 20000; ++i) ints += std::to_string(i) + "," + std::to_string(i % 3) + ",2020-01-01,x" + std::to_string(i) + "\n";
  CsvOptions options;
  options.block_bytes = 10000;
  options.dates = {ColumnKey{"c"}};
  CsvTable table = read_csv_text(engine(), ints, options);
  CHECK(table.rows == 20000);
  CHECK(cell(table.columns[0], 19999) == "19999");
  CHECK(cell(table.columns[3], 12345) == "x12345");
  CHECK(!table.columns[3].dictionary->is_distinct());
  table = read_csv_text(engine(), ints + "0.5,x,none,\n", options);
  CHECK(frame::dtype_name(engine(), table.columns[0]) == "float64");
  CHECK(frame::dtype_name(engine(), table.columns[1]) == "object");
  CHECK(frame::dtype_name(engine(), table.columns[2]) == "object");
  CHECK(cell(table.columns[0], 777) == "777");
  CHECK(cell(table.columns[0], 20000) == "0.5");
  CHECK(cell(table.columns[1], 5) == "2");
  CHECK(cell(table.columns[1], 20000) == "x");
  CHECK(cell(table.columns[3], 20000) == "-");
}

TEST_CASE("CSV: columns of large files are read when they are used") {
  const fs::path path = fs::temp_directory_path() / ("gasell_csv_later_" + std::to_string(getpid()) + ".csv");
  std::string text = "a,b,c,d,e,f\n";
  for (int i = 0; i < 5000; ++i)
    text += std::to_string(i) + "," + (i % 7 ? std::to_string(i) : "") + ",x" + std::to_string(i % 9) + ",unique" + std::to_string(i) +
            "," + std::to_string(i) + ".5,2020-01-0" + std::to_string(1 + i % 9) + "\n";
  CsvOptions at_once, later;
  at_once.block_bytes = later.block_bytes = 50000;
  at_once.dates = later.dates = {ColumnKey{"f"}};
  later.later_from = 0;
  std::ofstream(path, std::ios::binary) << text;
  const std::string expected = shown(read_csv(engine(), {path}, at_once));
  CsvTable table = read_csv(engine(), {path}, later);
  CHECK(table.rows == 5000);
  for (const frame::Column& column : table.columns)
    CHECK(static_cast<HostStorage*>(column.values->as<graph::BufferNode>()->storage.get())->is_waiting());
  // Few rows: of their blocks alone, and as they are in the whole.
  const CsvTable whole = read_csv(engine(), {path}, at_once);
  for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 5}, {2490, 3700}, {4995, 5000}})
    for (size_t k = 0; k < table.columns.size(); ++k) {
      const frame::Column some = frame::slice(engine(), table.columns[k], begin, end);
      CHECK(some.type == table.columns[k].type);
      CHECK(some.size() == end - begin);
      CHECK((some.validity != nullptr) == (table.columns[k].validity != nullptr));
      for (int64_t row = begin; row < end; ++row)
        if (cell(some, row - begin) != cell(whole.columns[k], row)) FAIL("column " << k << " row " << row);
      CHECK(static_cast<HostStorage*>(table.columns[k].values->as<graph::BufferNode>()->storage.get())->is_waiting());
    }
  // One alone, then the others.
  CHECK(cell(table.columns[3], 77) == "unique77");
  CHECK(!static_cast<HostStorage*>(table.columns[3].values->as<graph::BufferNode>()->storage.get())->is_waiting());
  CHECK(static_cast<HostStorage*>(table.columns[0].values->as<graph::BufferNode>()->storage.get())->is_waiting());
  std::vector<frame::Column*> all;
  for (frame::Column& column : table.columns) all.push_back(&column);
  frame::force(engine(), all);
  CHECK(shown(table) == expected);

  // A line that the samples do not show.
  const size_t at = text.find("\n4321,");
  const auto wrong = [&](const std::string& line, size_t column) -> std::string {
    std::string other = text;
    other.replace(at, text.find('\n', at + 1) - at, "\n" + line);
    std::ofstream(path, std::ios::binary) << other;
    CsvTable read = read_csv(engine(), {path}, later);
    try {
      frame::force(engine(), {&read.columns[column]});
    } catch (const Error& e) {
      return e.diagnostic().kind + ": " + e.diagnostic().message.substr(0, e.diagnostic().message.find(" of '")) + " " +
             e.diagnostic().hint.substr(e.diagnostic().hint.find("dtype"), 18);
    }
    return "nothing raised";
  };
  CHECK(wrong("0.5,1,x,y,1.5,2020-01-01", 0) == "ValueError: column 'a' seemed to hold int64, but line 4323 dtype={'a': 'float");
  CHECK(wrong(",1,x,y,1.5,2020-01-01", 0) == "ValueError: column 'a' seemed to hold int64, but line 4323 dtype={'a': 'Int64");
  CHECK(wrong("1,1,x,y,z,2020-01-01", 4) == "ValueError: column 'e' seemed to hold float64, but line 4323 dtype={'e': str} i");
  CHECK(wrong("z,1,x,y,1,2020-01-01", 4) == "nothing raised");
  fs::remove(path);
}
