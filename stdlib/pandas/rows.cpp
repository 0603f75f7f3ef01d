// Natives of _frame: columns taken apart and put together, rows chosen.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "runtime/device/device.h"
#include "runtime/device/workers.h"
#include "runtime/frame/dictionary.h"
#include "runtime/frame/gathers.h"
#include "runtime/frame/rules.h"
#include "runtime/frame/run.h"
#include "runtime/gpu/gpu_device.h"
#include "runtime/primitives/operator_report.h"
#include "runtime/session/dict.h"
#include "runtime/session/list_sequence.h"
#include "stdlib/library.h"
#include "stdlib/pandas/column_object.h"
#include "stdlib/pandas/object_texts.h"
#include "stdlib/pandas/operators.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell::pandas {
namespace {

using Args = std::span<Value>;
using frame::NewValues;

NodeRef array_node(Interpreter& in, const Value& v) { return numpy::as_array(in, v).node(); }
std::optional<ColumnType> optional_type(Interpreter& in, const Value& v) {
  if (v.is_none() || is_missing(v)) return {};
  return to_column_type(in, v);
}

Value column(Interpreter& in, Args args) { return wrap_column(make_column(in, args[0], optional_type(in, args[1]))); }

/// like(values, validity, column): these values in the column's type; numbers keep the dtype of the array.
Value like(Interpreter& in, Args args) {
  Column result = column_of(args[2]);
  result.values = array_node(in, args[0]);
  result.validity = args[1].is_none() ? nullptr : array_node(in, args[1]);
  if (result.type.is_number())
    result.type.dtype = result.values->dtype;
  else
    result.values = graph::cast(result.values, result.type.dtype);
  return wrap_column(std::move(result));
}
Value numbers(Interpreter& in, Args args) {
  Column result = frame::number_column(array_node(in, args[0]));
  if (!args[1].is_none()) result.validity = array_node(in, args[1]);
  result.type.nullable = truth(in, args[2]);
  return wrap_column(std::move(result));
}
Value times(Interpreter& in, Args args) {
  const NodeRef ns = graph::cast(array_node(in, args[0]), DType::i64);
  return wrap_column({gasell::str(in, args[1]) == "datetime" ? frame::datetime_type(args[2].is_none() ? "" : gasell::str(in, args[2]))
                                                             : frame::timedelta_type(),
                      ns});
}
/// category(codes, categories, ordered): codes of -1 are missing.
Value category(Interpreter& in, Args args) {
  ColumnType type{Logical::category, DType::i32};
  type.ordered = truth(in, args[2]);
  Column result{type, graph::cast(array_node(in, args[0]), DType::i32)};
  result.categories = std::make_shared<Column>(column_of(args[1]));
  return wrap_column(std::move(result));
}
/// codes(column): of texts: (codes, the different texts as a column); of categories: (codes, categories).
Value codes(Interpreter& in, Args args) {
  const Column& c = column_of(args[0]);
  if (c.type.logical == Logical::category) return make_tuple({numpy::wrap_array(c.values), wrap_column(*c.categories)});
  const Column distinct = frame::with_distinct_texts(in.engine(), c);
  Column texts = frame::text_column(in.engine(), distinct.dictionary);
  texts.type = c.type;
  return make_tuple({numpy::wrap_array(distinct.values), wrap_column(std::move(texts))});
}
/// common_codes(columns): columns of texts over one dictionary.
Value common_codes(Interpreter& in, Args args) {
  std::vector<Column> columns;
  for (const Value& v : to_vector(in, args[0])) columns.push_back(column_of(v));
  std::vector<Value> results;
  for (Column& c : frame::with_common_texts(in.engine(), columns)) results.push_back(wrap_column(std::move(c)));
  return make_list(std::move(results));
}

/// objects(column of texts, "date" or "time"): the same texts as what they stand for.
Value objects(Interpreter& in, Args args) {
  Column column = column_of(args[0]);
  column.type.objects = gasell::str(in, args[1]);
  return wrap_column(std::move(column));
}

/// object_column(values): values of any types, as they are.
Value objects_column(Interpreter& in, Args args) { return wrap_column(object_column(in, to_vector(in, args[0]))); }

Value tolist(Interpreter& in, Args args) { return list_of_column(in, column_of(args[0])); }

Value missing_of(Interpreter&, Args args) {
  const NodeRef mask = frame::missing_mask(column_of(args[0]));
  return mask ? numpy::wrap_array(mask) : Value();
}

Value on_gpus(Interpreter& in, Args args) {
  return Value::of(frame::place_of_operator(in.engine(), to_double(in, args[0])) == frame::Place::gpus);
}
/// empty(shape, dtype): memory for a kernel to write, with nothing in it.
Value empty(Interpreter& in, Args args) {
  graph::Shape shape;
  if (args[0].as<Tuple>()) {
    for (const Value& extent : to_vector(in, args[0])) shape.push_back(to_index(in, extent));
  } else {
    shape.push_back(to_index(in, args[0]));
  }
  const DType dtype = *numpy::to_dtype(in, args[1]);
  StorageRef memory = in.engine().allocate(graph::bytes_of(shape, dtype));
  std::vector<int64_t> strides = graph::contiguous_strides(shape);
  return numpy::wrap_array(graph::buffer(std::move(memory), dtype, std::move(shape), std::move(strides), 0));
}
Value clock(Interpreter&, Args) {
  return Value::of(std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count());
}
/// report(name, start, rows_in, rows_out, detail, where): for --explain.
Value report(Interpreter& in, Args args) {
  const double now = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  report_operator({gasell::str(in, args[0]), gasell::str(in, args[4]), gasell::str(in, args[5]), to_index(in, args[2]),
                   to_index(in, args[3]), now - to_double(in, args[1])});
  return {};
}

/// host_rows_where(mask): Rows where a boolean array is true, as an array of int64.
Value host_rows_where(Interpreter& in, Args args) {
  const Array mask(graph::cast(array_node(in, args[0]), DType::boolean));
  const Array::Elements flags = mask.elements(in.engine());
  OperatorTimer timer("filter", flags.count);
  constexpr int64_t kBlock = 1 << 16;
  const int64_t blocks = (flags.count + kBlock - 1) / kBlock;
  std::vector<int64_t> begins(static_cast<size_t>(blocks) + 1, 0);
  const auto over_blocks = [&](const auto& f) {
    if (blocks < 2)
      for (int64_t b = 0; b < blocks; ++b) f(b);
    else
      in_parallel(blocks, f);
  };
  over_blocks([&](int64_t b) {
    const char* at = flags.data + b * kBlock;
    const int64_t count = std::min(kBlock, flags.count - b * kBlock);
    int64_t set = 0;
    for (int64_t i = 0; i < count; ++i) set += at[i] != 0;
    begins[static_cast<size_t>(b) + 1] = set;
  });
  for (size_t b = 1; b < begins.size(); ++b) begins[b] += begins[b - 1];
  NewValues rows(in.engine(), DType::i64, begins.back());
  int64_t* const to = rows.as<int64_t>();
  over_blocks([&](int64_t b) {
    int64_t at = begins[static_cast<size_t>(b)];
    const int64_t end = begins[static_cast<size_t>(b) + 1], first = b * kBlock;
    for (int64_t i = first; at < end; ++i) {
      to[at] = i;
      at += flags.data[i] != 0;
    }
  });
  timer.finish(rows.count);
  return numpy::wrap_array(rows.node());
}

/// The same on GPUs where these are in use; there the rows are made when somebody wants them.
Value rows_where(Interpreter& in, Args args) {
  const Array given = numpy::as_array(in, args[0]);
  if (given.dtype() == DType::boolean) given.force(in.engine());  // whoever has the mask may use it again
  const Array mask(graph::cast(given.node(), DType::boolean));
  std::optional<Value> rows = run_on_gpus(in, "rows_where", mask.size(), 1, {numpy::wrap_array(mask.node())});
  return rows ? *std::move(rows) : host_rows_where(in, args);
}

/// Whether all of these int64 are in [low, high).
bool all_within(Engine& engine, const NodeRef& numbers, int64_t low, int64_t high) {
  if (frame::place_of_gathers(engine) == frame::Place::gpus) {
    const auto than = [&](ScalarOp op, int64_t bound) {
      return graph::map(op, {numbers, graph::constant(Scalar::of_int(bound), numbers->shape)});
    };
    const NodeRef outside = graph::map(ScalarOp::logical_or, {than(ScalarOp::lt, low), than(ScalarOp::ge, high)});
    return Array(graph::reduce(graph::ReduceOp::any, outside, {0})).item(engine, {}).i == 0;
  }
  const Array::Elements e = Array(numbers).elements(engine);
  const auto* n = reinterpret_cast<const int64_t*>(e.data);
  return std::all_of(n, n + e.count, [&](int64_t v) { return v >= low && v < high; });
}

/// take(columns, rows, may_miss, known): each column's rows, taken when somebody looks at them; rows of -1 are missing then. IndexError for
/// numbers that are no row's, unless they are known to be: by a mask, which is true at the rows, or True.
Value take(Interpreter& in, Args args) {
  Engine& engine = in.engine();
  NodeRef rows = graph::cast(array_node(in, args[1]), DType::i64);
  if (args[3].is_none()) rows = engine.force(rows);  // else they may come later
  const bool may_miss = truth(in, args[2]);
  std::vector<Column> columns;
  for (const Value& v : to_vector(in, args[0])) columns.push_back(column_of(v));
  if (!columns.empty() && args[3].is_none() && !all_within(engine, rows, may_miss ? -1 : 0, columns[0].size()))
    raise("IndexError", "indices are out-of-bounds");
  const auto* memory = rows->as<graph::BufferNode>();
  if (!memory || memory->offset != 0 || memory->strides != graph::contiguous_strides(rows->shape)) rows = engine.force(rows);
  const NodeRef mask = args[3].as<numpy::NdArray>() ? array_node(in, args[3]) : nullptr;
  const auto over = [&](const frame::RowsRef& of) { return mask ? filter_rows(of, mask, rows) : take_rows(of, rows, may_miss); };
  std::vector<Value> results;
  for (Column& c : frame::gather(engine, columns, over)) results.push_back(wrap_column(std::move(c)));
  return make_list(std::move(results));
}

/// over_all_rows(columns): (the same columns before a filter that nobody needed yet, the mask that chose among their rows), or None.
Value over_all_rows(Interpreter& in, Args args) {
  frame::Input input;
  for (const Value& v : to_vector(in, args[0])) input.columns.push_back(column_of(v));
  if (!apply(in.engine(), frame::filter_into_operator(), input)) return {};
  std::vector<Value> results;
  for (const Column& c : input.columns) results.push_back(wrap_column(c));
  return make_tuple({make_list(std::move(results)), numpy::wrap_array(input.mask)});
}

/// slice(column, start, count, step)
Value slice(Interpreter& in, Args args) {
  const int64_t start = to_index(in, args[1]), count = to_index(in, args[2]), step = to_index(in, args[3]);
  return wrap_column(frame::slice(in.engine(), column_of(args[0]), start, start + count * step, step));
}

Value concatenate(Interpreter& in, Args args) {
  std::vector<Column> parts;
  for (const Value& v : to_vector(in, args[0])) parts.push_back(column_of(v));
  return wrap_column(frame::concatenate(in.engine(), parts));
}

Value cast_to(Interpreter& in, Args args) { return wrap_column(cast(in, column_of(args[0]), to_column_type(in, args[1]))); }

/// find(column, value): the rows where the value is, a list; [] where it is not there.
Value find(Interpreter& in, Args args) {
  auto* object = args[0].as<ColumnObject>();
  const ColumnIndex& index = object->index(in);
  std::vector<Value> rows;
  if (const auto key = key_of(in, object->column, args[1]))
    for (const int64_t row : index.rows(*key)) rows.push_back(Value::of(row));
  return make_list(std::move(rows));
}
Value is_unique(Interpreter& in, Args args) { return Value::of(args[0].as<ColumnObject>()->index(in).is_unique()); }
/// find_all(column, wanted): the first row of each wanted value, -1 where it is not there; columns of one type, as an array.
Value find_all(Interpreter& in, Args args) {
  auto* object = args[0].as<ColumnObject>();
  const ColumnIndex& index = object->index(in);
  Column& wanted = column_of(args[1]);
  NewValues rows(in.engine(), DType::i64, wanted.size());
  for (int64_t i = 0; i < rows.count; ++i) {
    const auto key = key_of(in, object->column, cell(in, wanted, i));
    rows.as<int64_t>()[i] = key ? index.first(*key) : -1;
  }
  return numpy::wrap_array(rows.node());
}

Value force(Interpreter& in, Args args) {
  std::vector<Column*> columns;
  for (const Value& v : to_vector(in, args[0])) columns.push_back(&column_of(v));
  frame::force(in.engine(), columns);
  return {};
}

Value array_of(Interpreter&, Args args) {
  const Column& c = column_of(args[0]);
  if (c.type.objects == kAnyObject)
    raise("NotImplementedError", "a column of lists, or of values of several types, is no array of numbers in Gasell",
          "map() takes a function of each value");
  return numpy::wrap_array(c.values);
}
Value validity_of(Interpreter&, Args args) {
  const Column& c = column_of(args[0]);
  return c.validity ? numpy::wrap_array(c.validity) : Value();
}
Value kind_of(Interpreter&, Args args) {
  const ColumnType& type = column_of(args[0]).type;
  switch (type.logical) {
    case Logical::text: return make_str(type.objects == kAnyObject ? "P" : "O");
    case Logical::category: return make_str("C");
    case Logical::datetime: return make_str("M");
    case Logical::timedelta: return make_str("m");
    case Logical::period: return make_str("p");
    default: return make_str(std::string(1, kind(type.dtype)));
  }
}
Value facts(Interpreter&, Args args) {
  const ColumnType& type = column_of(args[0]).type;
  const auto named = [](const std::string& name) { return name.empty() ? Value() : make_str(name); };
  return make_tuple({Value::of(type.nullable), Value::of(type.ordered), named(type.zone), named(type.objects)});
}
Value dtype_text(Interpreter& in, Args args) { return make_str(frame::dtype_name(in.engine(), column_of(args[0]))); }
Value type_text(Interpreter& in, Args args) {
  return make_str(frame::dtype_name(in.engine(), {to_column_type(in, args[0]), graph::constant(Scalar::of_int(0), {0})}));
}
Value missing_scalar(Interpreter& in, Args args) { return Value::of(is_missing_value(in, args[0])); }
Value item(Interpreter& in, Args args) { return cell(in, column_of(args[0]), to_index(in, args[1])); }

/// to_ns(scalar, kind): nanoseconds of a datetime ('M') or a timedelta ('m').
Value to_ns(Interpreter& in, Args args) {
  const bool datetime = gasell::str(in, args[1]) == "M";
  const auto ns = datetime ? to_timestamp(in, args[0]) : to_timedelta(in, args[0], true);
  if (!ns)
    raise("TypeError", "Invalid comparison between dtype=" + std::string(datetime ? "datetime64[ns]" : "timedelta64[ns]") + " and " +
                           type_of(args[0]).name);
  return Value::of(*ns);
}
/// bits(array): floats as signed integers of their size, over the same memory.
Value bits(Interpreter& in, Args args) {
  const NodeRef floats = in.engine().force(array_node(in, args[0]));
  const auto& memory = *floats->as<graph::BufferNode>();
  return numpy::wrap_array(
      graph::buffer(memory.storage, size_of(floats->dtype) == 4 ? DType::i32 : DType::i64, floats->shape, memory.strides, memory.offset));
}
/// text_places(column): where each text of its dictionary, in which each is once, stands in their order; of no texts [0].
Value text_places(Interpreter& in, Args args) {
  const std::vector<int32_t>& ranks = column_of(args[0]).dictionary->ranks(in.engine());
  NewValues places(in.engine(), DType::i32, std::max<int64_t>(1, static_cast<int64_t>(ranks.size())));
  std::fill_n(places.as<int32_t>(), places.count, 0);
  std::copy(ranks.begin(), ranks.end(), places.as<int32_t>());
  return numpy::wrap_array(places.node());
}
/// text_equals(column, text): an array of booleans.
Value text_equals(Interpreter& in, Args args) {
  const Column distinct = frame::with_distinct_texts(in.engine(), column_of(args[0]));
  const auto code = distinct.dictionary->find(args[1].as<Str>()->value);
  if (!code) return numpy::wrap_array(graph::constant(Scalar::of_bool(false), distinct.values->shape));
  return numpy::wrap_array(
      graph::map(ScalarOp::eq, {distinct.values, graph::constant(Scalar::of_int(*code, DType::i32), distinct.values->shape)}));
}
/// text_ranks(a, b): numbers that stand to each other as the texts do, of columns and texts; -1 where one is missing.
Value text_ranks(Interpreter& in, Args args) {
  std::vector<Column> columns;
  for (const Value& v : args) columns.push_back(v.as<Str>() ? make_column(in, make_list({v}), {}) : column_of(v));
  for (const Column& c : columns)
    if (!c.dictionary) raise("TypeError", "'<' not supported between instances of 'str' and '" + frame::dtype_name(in.engine(), c) + "'");
  std::vector<Value> results;
  for (Column& c : frame::with_common_texts(in.engine(), columns)) {
    const frame::ColumnData data = frame::read(in.engine(), c);
    const std::vector<int32_t>& ranks = c.dictionary->ranks(in.engine());
    NewValues values(in.engine(), DType::i32, data.count);
    for (int64_t i = 0; i < data.count; ++i) {
      const int32_t code = data.as<int32_t>()[i];
      values.as<int32_t>()[i] = code < 0 ? -1 : ranks[static_cast<size_t>(code)];
    }
    results.push_back(numpy::wrap_array(values.node()));
  }
  for (size_t k = 0; k < results.size(); ++k)
    if (args[k].as<Str>()) results[k] = get_item(in, results[k], Value::of(0));
  return make_tuple(std::move(results));
}

}  // namespace

std::vector<NativeFunction> row_functions() {
  return {
      {"column", "values, dtype=None", column, "A column of a list, an array or a column."},
      {"like", "values, validity, column", like, "Values in the type of a column."},
      {"numbers", "values, validity=None, nullable=False", numbers, "A column of an array of numbers."},
      {"times", "nanoseconds, logical, zone=None", times, "A column of 'datetime' or 'timedelta'."},
      {"category", "codes, categories, ordered=False", category, "A column of categories."},
      {"codes", "column", codes, "(codes, what they stand for) of texts and categories."},
      {"common_codes", "columns", common_codes, "Columns of texts over one dictionary."},
      {"objects", "column, what", objects, "Texts as the dates or times of day that they stand for."},
      {"object_column", "values", objects_column, "A column of values of any types, as they are."},
      {"is_column", "x", [](Interpreter&, Args args) { return Value::of(args[0].as<ColumnObject>() != nullptr); },
       "Whether this is a column."},
      {"tolist", "column", tolist, "The values as a list."},
      {"item", "column, row", item, "One value."},
      {"missing", "column", missing_of, "Where values are missing, or None where none can be."},
      {"on_gpus", "bytes", on_gpus, "Whether an operator that moves so many bytes runs on GPUs."},
      {"clock", "", clock, "Seconds."},
      {"empty", "shape, dtype", empty, "Memory for a kernel to write."},
      {"report", "name, start, rows_in, rows_out, detail, where", report, "What an operator did, for --explain."},
      {"rows_where", "mask", rows_where, "The rows where a mask is true."},
      {"host_rows_where", "mask", host_rows_where, "The same by the host's cores."},
      {"take", "columns, rows, may_miss=False, known=None", take, "These rows of columns."},
      {"over_all_rows", "columns", over_all_rows, "Columns before their rows were chosen by a mask, and the mask."},
      {"slice", "column, start, count, step=1", slice, "Rows at even distances."},
      {"concatenate", "columns", concatenate, "Columns of one type behind each other."},
      {"cast", "column, dtype", cast_to, "In another type."},
      {"find", "column, value", find, "The rows of a value."},
      {"find_all", "column, wanted", find_all, "The first row of each wanted value, or -1."},
      {"is_unique", "column", is_unique, "Whether no value is there twice."},
      {"to_ns", "scalar, kind", to_ns, "Nanoseconds of a time."},
      {"bits", "array", bits, "Floats as integers over the same memory."},
      {"text_places", "column", text_places, "The places of a dictionary's texts in their order."},
      {"text_equals", "column, text", text_equals, "Where a column has a text."},
      {"text_ranks", "a, b", text_ranks, "Numbers in the order of texts."},
      {"force", "columns", force, "Computes columns."},
      {"array", "column", array_of, "The values: numbers, nanoseconds, codes."},
      {"validity", "column", validity_of, "Which are there, or None."},
      {"kind", "column", kind_of,
       "'b', 'i', 'u', 'f', 'c'; 'O' texts, 'P' values of any types, 'C' categories, 'M' datetimes, 'm' timedeltas, 'p' periods."},
      {"facts", "column", facts, "(nullable, ordered, zone, what texts stand for or the frequency of periods)"},
      {"dtype_name", "column", dtype_text, "pandas' name of the type."},
      {"type_name", "dtype", type_text, "pandas' name of a type."},
      {"is_missing", "value", missing_scalar, "None, NaN, NA or NaT."},
  };
}

}  // namespace gasell::pandas
