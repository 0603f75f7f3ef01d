// Natives of _frame: Parquet, Arrow IPC and ORC files read and written.
#include <filesystem>

#include "runtime/device/sandbox.h"
#include "runtime/io/arrow/tables.h"
#include "runtime/io/os_error.h"
#include "runtime/session/dict.h"
#include "stdlib/pandas/arrow_stream.h"
#include "stdlib/pandas/column_object.h"
#include "stdlib/pandas/csv.h"
#include "stdlib/pandas/parquet.h"

namespace gasell::pandas {
namespace {

using Args = std::span<Value>;

std::vector<std::string> texts_of(Interpreter& in, const Value& list) {
  std::vector<std::string> texts;
  for (const Value& v : to_vector(in, list)) texts.push_back(str(in, v));
  return texts;
}
std::optional<std::vector<std::string>> optional_texts(Interpreter& in, const Value& v) {
  if (v.is_none()) return {};
  return texts_of(in, v);
}

/// A condition (column, operator, values): values are ints (nanoseconds of times, too), floats and texts.
arrow::Condition condition_of(Interpreter& in, const Value& v) {
  using Op = arrow::Condition::Op;
  static constexpr std::pair<std::string_view, Op> kOps[] = {{"==", Op::eq}, {"!=", Op::ne}, {"<", Op::lt},  {"<=", Op::le},
                                                             {">", Op::gt},  {">=", Op::ge}, {"in", Op::in}, {"not in", Op::not_in}};
  const std::vector<Value> parts = to_vector(in, v);
  arrow::Condition condition;
  condition.column = str(in, parts[0]);
  const std::string op = str(in, parts[1]);
  for (const auto& [name, value] : kOps)
    if (op == name) condition.op = value;
  for (const Value& wanted : to_vector(in, parts[2])) {
    if (wanted.as<Str>())
      condition.values.emplace_back(str(in, wanted));
    else if (wanted.is_float())
      condition.values.emplace_back(wanted.as_float());
    else
      condition.values.emplace_back(to_index(in, wanted));
  }
  return condition;
}

Value optional_name(const std::optional<std::string>& name) { return name ? make_str(*name) : Value(); }

/// (names, columns, rows, labels, whether names are integers): labels are None (counted), (start, stop, step, name) or (column, name).
Value table_value(arrow::Table table) {
  std::vector<Value> names, columns;
  for (const std::string& name : table.names) names.push_back(make_str(name));
  for (Column& column : table.columns) columns.push_back(wrap_column(std::move(column)));
  const arrow::RowLabels& l = table.labels;
  Value labels;
  if (l.kind == arrow::RowLabels::Kind::range)
    labels = make_tuple({Value::of(l.start), Value::of(l.stop), Value::of(l.step), optional_name(l.name)});
  else if (l.kind == arrow::RowLabels::Kind::column)
    labels = make_tuple({make_str(l.column), optional_name(l.name)});
  return make_tuple(
      {make_list(std::move(names)), make_list(std::move(columns)), Value::of(table.rows), labels, Value::of(table.integer_names)});
}

/// read_parquet(paths, columns, any_of, natural_order, storage)
Value read_parquet(Interpreter& in, Args args) {
  arrow::ReadOptions options;
  options.storage = storage_options_of(in, args[4]);
  std::vector<arrow::DataFile> files;
  for (const std::string& path : texts_of(in, args[0]))
    for (arrow::DataFile& file : arrow::data_files(path, truth(in, args[3]), options.storage)) files.push_back(std::move(file));
  if (files.empty()) raise("ValueError", "read_parquet of an empty list of files");
  options.columns = optional_texts(in, args[1]);
  for (const Value& all : to_vector(in, args[2])) {
    auto& conditions = options.any_of.emplace_back();
    for (const Value& v : to_vector(in, all)) conditions.push_back(condition_of(in, v));
  }
  return table_value(arrow::read_parquet(in.engine(), files, options));
}

arrow::Format format_of(Interpreter& in, const Value& v) { return str(in, v) == "orc" ? arrow::Format::orc : arrow::Format::feather; }

/// read_table(format, path, columns, storage)
Value read_table(Interpreter& in, Args args) {
  return table_value(arrow::read_table(in.engine(), format_of(in, args[0]), str(in, args[1]), optional_texts(in, args[2]),
                                       storage_options_of(in, args[3])));
}

/// Of (names, columns, labels, integer_names); labels as they are read, and the column of labels comes last.
arrow::Table table_of(Interpreter& in, Args args) {
  arrow::Table table;
  table.names = texts_of(in, args[0]);
  for (const Value& v : to_vector(in, args[1])) table.columns.push_back(column_of(v));
  if (!table.columns.empty()) table.rows = table.columns[0].size();
  if (!args[2].is_none()) {
    const std::vector<Value> labels = to_vector(in, args[2]);
    table.labels.kind = labels.size() == 4 ? arrow::RowLabels::Kind::range : arrow::RowLabels::Kind::column;
    if (labels.size() == 4) {
      table.labels.start = to_index(in, labels[0]);
      table.labels.stop = to_index(in, labels[1]);
      table.labels.step = to_index(in, labels[2]);
    } else {
      table.labels.column = str(in, labels[0]);
    }
    if (const Value& name = labels.back(); !name.is_none()) table.labels.name = str(in, name);
  }
  table.integer_names = truth(in, args[3]);
  return table;
}

/// read_stream(stream)
Value read_stream(Interpreter& in, Args args) {
  auto& given = *args[0].as<ArrowStream>();
  return table_value(arrow::read_stream(in.engine(), std::move(given.stream), "the stream", given.lender));
}

/// write_stream(names, columns, labels, integer_names)
Value write_stream(Interpreter& in, Args args) { return Value::make<ArrowStream>(arrow::write_stream(in.engine(), table_of(in, args))); }

/// write_table(format, path, names, columns, labels, integer_names, options)
Value write_table(Interpreter& in, Args args) {
  const arrow::Table table = table_of(in, args.subspan(2, 4));
  arrow::WriteOptions options;
  Dict& given = *args[6].as<Dict>();
  if (const Value* codec = given.find("compression")) options.codec = codec->is_none() ? "none" : str(in, *codec);
  if (const Value* level = given.find("compression_level"); level && !level->is_none())
    options.level = static_cast<int>(to_index(in, *level));
  if (const Value* rows = given.find("row_group_size"); rows && !rows->is_none()) options.rows_a_group = to_index(in, *rows);
  if (options.rows_a_group < 1) raise("ValueError", "row_group_size must be 1 or more");
  const std::filesystem::path path = str(in, args[1]);
  if (const Value* folders = given.find("folders"); folders && truth(in, *folders)) {
    require_writable(path.parent_path());
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) throw os_error(error.value(), path.parent_path());
  }
  const std::string format = str(in, args[0]);
  if (format == "parquet")
    arrow::write_parquet(in.engine(), path, table, options);
  else
    arrow::write_table(in.engine(), format_of(in, args[0]), path, table, options);
  return {};
}

}  // namespace

std::vector<NativeFunction> parquet_functions() {
  return {
      {"read_parquet", "paths, columns, any_of, natural_order, storage", read_parquet, "Columns of Parquet files."},
      {"read_table", "format, path, columns, storage", read_table, "Columns of a 'feather' or 'orc' file."},
      {"read_stream", "stream", read_stream, "Columns of another library's table."},
      {"write_stream", "names, columns, labels, integer_names", write_stream, "Columns as a table for another library."},
      {"write_table", "format, path, names, columns, labels, integer_names, options", write_table,
       "Columns as a 'parquet', 'feather' or 'orc' file."},
  };
}

}  // namespace gasell::pandas
