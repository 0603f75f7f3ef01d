// Natives of _frame: CSV and JSON files read and written.
#include <filesystem>
#include <functional>
#include <map>

#include "runtime/device/sandbox.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/csv/csv.h"
#include "runtime/io/csv/unpack.h"
#include "runtime/io/csv/write.h"
#include "runtime/io/json_lines.h"
#include "runtime/io/os_error.h"
#include "runtime/session/dict.h"
#include "runtime/session/error_output.h"
#include "stdlib/pandas/column_object.h"
#include "stdlib/pandas/csv.h"
#include "stdlib/pandas/library_values.h"

namespace gasell::pandas {
namespace {

using Args = std::span<Value>;

/// The options that the library's text passes, by name; absent ones keep what they are.
class Options {
 public:
  Options(Interpreter& in, const Value& dict) : in_(in), dict_(*dict.as<Dict>()) {}
  const Value* find(std::string_view name) const {
    const Value* v = dict_.find(name);
    return v && !v->is_none() ? v : nullptr;
  }
  void read(std::string_view name, bool& to) const {
    if (const Value* v = find(name)) to = truth(in_, *v);
  }
  void read(std::string_view name, int64_t& to) const {
    if (const Value* v = find(name)) to = to_index(in_, *v);
  }
  void read(std::string_view name, std::string& to) const {
    if (const Value* v = find(name)) to = str(in_, *v);
  }
  void read(std::string_view name, char& to) const {
    const Value* v = find(name);
    if (!v) return;
    const std::string text = str(in_, *v);
    if (text.size() != 1)
      raise("NotImplementedError", std::string(name) + "=" + in_quotes(text) + " is not in Gasell: it has to be a character of ASCII");
    to = text[0];
  }
  void read(std::string_view name, std::vector<std::string>& to) const {
    if (const Value* v = find(name))
      for (const Value& item : to_vector(in_, *v)) to.push_back(str(in_, item));
  }

 private:
  Interpreter& in_;
  Dict& dict_;
};

csv::ColumnKey key_of_column(Interpreter& in, const Value& v) {
  if (v.as<Str>()) return {str(in, v)};
  return {{}, to_index(in, v)};
}

csv::WantedType wanted_type(Interpreter& in, const Value& v) {
  const ColumnType type = to_column_type(in, v);
  const std::string shown = frame::dtype_name(in.engine(), {type, graph::constant(Scalar::of_int(0), {0})});
  if (type.is_time())
    raise("TypeError", "the dtype " + shown + " is not supported for parsing" +
                           (type.logical == Logical::datetime ? ", pass this column using parse_dates instead" : ""));
  if (is_complex(type.dtype)) raise("TypeError", "the dtype " + shown + " is not supported for parsing");
  return {type, shown};
}

csv::CsvOptions read_options(Interpreter& in, const Value& dict) {
  const Options given(in, dict);
  csv::CsvOptions o;
  o.sniff_separator = !given.find("sep");
  given.read("sep", o.dialect.separator);
  given.read("whitespace", o.dialect.whitespace);
  if (o.dialect.whitespace) o.sniff_separator = false;
  given.read("quotechar", o.dialect.quote);
  given.read("doublequote", o.dialect.double_quote);
  given.read("escapechar", o.dialect.escape);
  given.read("comment", o.dialect.comment);
  given.read("lineterminator", o.dialect.line_end);
  given.read("skipinitialspace", o.dialect.skip_initial_space);
  given.read("skip_blank_lines", o.dialect.skip_blank_lines);
  int64_t quoting = 0;
  given.read("quoting", quoting);
  if (quoting < 0 || quoting > 3) raise("TypeError", "bad \"quoting\" value");
  if (quoting == 3) o.dialect.quote = 0;
  if (given.find("header")) given.read("header", o.header.emplace());
  if (given.find("names")) given.read("names", o.names.emplace());
  given.read("no_index", o.no_index);
  if (const Value* use = given.find("usecols")) {
    o.use.emplace();
    for (const Value& v : to_vector(in, *use)) o.use->push_back(key_of_column(in, v));
  }
  if (const Value* type = given.find("type")) o.type = wanted_type(in, *type);
  if (const Value* types = given.find("types"))
    for (const Value& v : to_vector(in, *types)) {
      const std::vector<Value> pair = to_vector(in, v);
      o.types.emplace_back(key_of_column(in, pair[0]), wanted_type(in, pair[1]));
    }
  if (const Value* dates = given.find("dates"))
    for (const Value& v : to_vector(in, *dates)) o.dates.push_back(key_of_column(in, v));
  given.read("date_format", o.date_format);
  given.read("dayfirst", o.day_first);
  given.read("skiprows", o.skip_rows);
  if (const Value* lines = given.find("skip_lines"))
    for (const Value& v : to_vector(in, *lines)) o.skip_lines.push_back(to_index(in, v));
  given.read("skipfooter", o.skip_footer);
  if (given.find("nrows")) given.read("nrows", o.rows.emplace());
  given.read("missing", o.missing);
  if (const Value* columns = given.find("missing_of"))
    for (const Value& v : to_vector(in, *columns)) {
      const std::vector<Value> pair = to_vector(in, v);
      auto& [key, texts] = o.missing_of.emplace_back(key_of_column(in, pair[0]), std::vector<std::string>{});
      for (const Value& text : to_vector(in, pair[1])) texts.push_back(str(in, text));
    }
  given.read("keep_default_na", o.default_missing);
  given.read("na_filter", o.find_missing);
  given.read("thousands", o.thousands);
  given.read("decimal", o.decimal);
  given.read("true_values", o.true_values);
  given.read("false_values", o.false_values);
  std::string word;
  given.read("encoding", word);
  std::string errors;
  given.read("encoding_errors", errors);
  set_coding(o, word, errors);
  word = "infer";
  given.read("compression", word);
  o.compression = word == "gzip"   ? csv::Compression::gzip
                  : word == "zstd" ? csv::Compression::zstd
                  : word == "none" ? csv::Compression::none
                                   : csv::Compression::infer;
  word = "error";
  given.read("bad", word);
  o.bad_lines = word == "skip" ? csv::BadLines::skip : word == "warn" ? csv::BadLines::warn : csv::BadLines::error;
  given.read("block", o.block_bytes);
  if (const Value* storage = given.find("storage")) o.storage = storage_options_of(in, *storage);
  return o;
}

/// read_csv(source, is_text, options): (names, columns, rows, columns of the index, whether the names are numbers).
Value read_csv(Interpreter& in, Args args) {
  const csv::CsvOptions options = read_options(in, args[2]);
  const auto warn = [](const std::string& text) { write_error("ParserWarning: " + text); };
  csv::CsvTable table;
  if (truth(in, args[1])) {
    table = csv::read_csv_text(in.engine(), str(in, args[0]), options, warn);
  } else {
    std::vector<std::filesystem::path> paths;
    for (const Value& v : to_vector(in, args[0]))
      for (const std::filesystem::path& path : csv::files_of(str(in, v), options.storage)) paths.push_back(path);
    if (paths.empty()) raise("ValueError", "read_csv of an empty list of files");
    table = csv::read_csv(in.engine(), paths, options, warn);
  }
  std::vector<Value> names, columns;
  for (const std::string& name : table.names) names.push_back(make_str(name));
  for (Column& column : table.columns) columns.push_back(wrap_column(std::move(column)));
  return make_tuple({make_list(std::move(names)), make_list(std::move(columns)), Value::of(table.rows), Value::of(table.index_columns),
                     Value::of(table.numbered)});
}

/// Writes what `put_parts` gives to a file, or gives the text where there is no path.
Value write_parts(const Value& path_or_none, Interpreter& in, const Options& given,
                  const std::function<void(const std::function<void(std::string_view)>&)>& put_parts) {
  std::string packing, mode = "w";
  given.read("compression", packing);
  given.read("mode", mode);
  if (!path_or_none.is_none() && packing.empty() && mode == "w") {
    AtomicFile file(str(in, path_or_none));
    put_parts([&](std::string_view part) { file.write(part); });
    file.commit();
    return {};
  }
  std::string text;
  put_parts([&](std::string_view part) { text += part; });
  if (path_or_none.is_none()) return make_str(std::move(text));
  const std::filesystem::path path = str(in, path_or_none);
  require_writable(path);
  if (packing == "gzip") text = csv::pack_gzip(text);
  if (packing == "zstd") text = csv::pack_zstd(text);
  if (mode == "a") {
    append_to_file(path, text);
    return {};
  }
  if (mode == "x" && std::filesystem::exists(path)) throw os_error(EEXIST, path);
  AtomicFile file(path);
  file.write(text);
  file.commit();
  return {};
}

std::vector<std::string> texts_of(Interpreter& in, const Value& list) {
  std::vector<std::string> texts;
  for (const Value& v : to_vector(in, list)) texts.push_back(str(in, v));
  return texts;
}
std::vector<Column> columns_of(Interpreter& in, const Value& list) {
  std::vector<Column> columns;
  for (const Value& v : to_vector(in, list)) columns.push_back(column_of(v));
  for (Column& c : columns) c = written_as_texts(in, c);
  return columns;
}

/// write_csv(path, names, columns, options): the text where there is no path.
Value write_csv(Interpreter& in, Args args) {
  const Options given(in, args[3]);
  csv::WriteOptions o;
  given.read("sep", o.separator);
  given.read("na_rep", o.missing);
  given.read("float_format", o.float_format);
  given.read("date_format", o.date_format);
  given.read("header", o.header);
  given.read("quotechar", o.quote);
  given.read("doublequote", o.double_quote);
  given.read("escapechar", o.escape);
  given.read("decimal", o.decimal);
  given.read("line_end", o.line_end);
  if (const Value* lines = given.find("lines_above"))
    for (const Value& line : to_vector(in, *lines)) o.lines_above.push_back(texts_of(in, line));
  int64_t quoting = 0;
  given.read("quoting", quoting);
  if (quoting < 0 || quoting > 3) raise("TypeError", "bad \"quoting\" value");
  o.quoting = static_cast<csv::Quoting>(quoting);
  return write_parts(args[0], in, given,
                     [&](const auto& put) { csv::write_csv(in.engine(), texts_of(in, args[1]), columns_of(in, args[2]), o, put); });
}

/// write_json(path, names, name_values, columns, labels, options): the text where there is no path. Of one column where names is None.
Value write_json(Interpreter& in, Args args) {
  const Options given(in, args[5]);
  JsonOptions o;
  std::string layout;
  given.read("layout", layout);
  static const std::map<std::string, JsonLayout> kLayouts = {{"lines", JsonLayout::lines},     {"records", JsonLayout::records},
                                                             {"columns", JsonLayout::columns}, {"index", JsonLayout::index},
                                                             {"split", JsonLayout::split},     {"values", JsonLayout::values}};
  o.layout = kLayouts.at(layout);
  given.read("with_labels", o.with_labels);
  given.read("iso_dates", o.iso_dates);
  given.read("force_ascii", o.force_ascii);
  given.read("date_unit", o.date_unit);
  int64_t precision = o.precision;
  given.read("precision", precision);
  o.precision = static_cast<int>(precision);
  return write_parts(args[0], in, given, [&](const auto& put) {
    std::vector<Column> columns = columns_of(in, args[3]);
    const std::vector<std::string> name_values = texts_of(in, args[2]);
    if (args[1].is_none())
      write_json_series(in.engine(), name_values[0], columns[0], column_of(args[4]), o, put);
    else
      gasell::write_json(in.engine(), texts_of(in, args[1]), name_values, std::move(columns), column_of(args[4]), o, put);
  });
}

/// Exceptions of Python's csv and gzip.
void register_exceptions() {
  static const bool once = [] {
    static const Type types[] = {{"BadGzipFile", "gzip", exception_type("OSError")}, {"Error", "_csv", exception_type("Exception")}};
    for (const Type& type : types) register_exception(type);
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace

void set_coding(csv::CsvOptions& options, std::string_view encoding, std::string_view errors) {
  options.encoding = encoding == "latin-1" ? csv::Encoding::latin1 : encoding == "utf-16" ? csv::Encoding::utf16 : csv::Encoding::utf8;
  options.bad_bytes = errors == "replace"            ? csv::BadBytes::replace
                      : errors == "ignore"           ? csv::BadBytes::drop
                      : errors == "backslashreplace" ? csv::BadBytes::escape
                                                     : csv::BadBytes::refuse;
}

remote::StorageOptions storage_options_of(Interpreter& in, const Value& pairs) {
  remote::StorageOptions options;
  for (const Value& v : to_vector(in, pairs)) {
    const std::vector<Value> pair = to_vector(in, v);
    options[str(in, pair[0])] = str(in, pair[1]);
  }
  return options;
}

std::vector<NativeFunction> csv_functions() {
  register_exceptions();
  return {
      {"read_csv", "source, is_text, options", read_csv, "Columns of CSV files or of a text."},
      {"write_csv", "path, names, columns, options", write_csv, "Columns as a CSV file or text."},
      {"write_json", "path, names, name_values, columns, labels, options", write_json, "Columns as a file or text of JSON objects."},
  };
}

}  // namespace gasell::pandas
