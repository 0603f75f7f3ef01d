// Natives of _frame: rows grouped, ordered, joined.
#include <algorithm>
#include <cmath>

#include "runtime/frame/gathers.h"
#include "runtime/frame/group_firsts.h"
#include "runtime/frame/join.h"
#include "runtime/frame/order.h"
#include "runtime/frame/row_groups.h"
#include "runtime/frame/rules.h"
#include "runtime/frame/run.h"
#include "runtime/frame/running.h"
#include "runtime/session/types.h"
#include "stdlib/library.h"
#include "stdlib/pandas/column_object.h"
#include "stdlib/pandas/frame_arguments.h"
#include "stdlib/pandas/object_texts.h"
#include "stdlib/pandas/operators.h"

namespace gasell::pandas {
namespace {

using Args = std::span<Value>;
using frame::NewValues;

class GroupsObject final : public Object {
 public:
  GroupsObject(Engine& engine, const std::vector<Column>& keys, frame::GroupOrder order, frame::MissingKeys missing)
      : groups(engine, keys, order, missing) {}
  const Type& type() const override {
    static const Type type{"Groups", "_frame", &object_type()};
    return type;
  }
  int64_t length(Interpreter&) override { return groups.count(); }
  const frame::RowGroups groups;
};
const frame::RowGroups& row_groups_of(const Value& v) { return v.as<GroupsObject>()->groups; }
const frame::Groups& groups_of(Interpreter& in, const Value& v) { return row_groups_of(v).groups(in.engine()); }

std::vector<Column> columns_of(Interpreter& in, const Value& v) {
  std::vector<Column> columns;
  for (const Value& c : to_vector(in, v)) columns.push_back(column_of(c));
  return columns;
}
/// Keys of rows: without any nobody knows how many rows there are. Values of any types are equal as Python says.
std::vector<Column> keys_of(Interpreter& in, const Value& v) {
  std::vector<Column> keys = columns_of(in, v);
  for (Column& key : keys)
    if (key.type.objects == kAnyObject) key = object_keys(in, key);
  if (keys.empty()) raise("ValueError", "not enough values to unpack (expected 2, got 0)");
  return keys;
}

/// Keys whose values have an order: NotImplementedError for values of any types, whose order is Python's.
std::vector<Column> sortable_keys_of(Interpreter& in, const Value& v) {
  std::vector<Column> keys = keys_of(in, v);
  for (const Column& key : keys)
    if (key.type.objects == kAnyObject)
      raise("NotImplementedError", "the order of a column of lists, or of values of several types, is not in Gasell");
  return keys;
}

std::vector<frame::KeyOrder> order_of(Interpreter& in, const Value& ascending, const Value& missing) {
  const std::string place = text_of(in, missing);
  if (place != "first" && place != "last") raise("ValueError", "invalid na_position: " + place);
  std::vector<frame::KeyOrder> order;
  for (const Value& v : to_vector(in, ascending)) order.push_back({!truth(in, v), place == "first"});
  return order;
}

Value order(Interpreter& in, Args args) {
  return rows_array(in, frame::order_rows(in.engine(), sortable_keys_of(in, args[0]), order_of(in, args[1], args[2])));
}
Value list_of(std::vector<Column> columns) {
  std::vector<Value> values;
  for (Column& c : columns) values.push_back(wrap_column(std::move(c)));
  return make_list(std::move(values));
}

/// The rows in the order of keys by the library's kernels for GPUs, or null: the host shall order them.
NodeRef order_on_gpus(Interpreter& in, const std::vector<Column>& keys, const std::vector<frame::KeyOrder>& order) {
  std::vector<Value> ascending;
  for (const frame::KeyOrder& o : order) ascending.push_back(Value::of(!o.descending));
  const std::optional<Value> rows =
      run_on_gpus(in, "order", keys[0].size(), keys.size(),
                  {list_of(keys), make_list(std::move(ascending)), make_str(order[0].missing_first ? "first" : "last")});
  return rows ? graph::cast(numpy::as_array(in, *rows).node(), DType::i64) : nullptr;
}

/// sort(columns, keys, ascending, missing): the columns in that order when somebody reads them.
Value sort(Interpreter& in, Args args) {
  std::vector<Column> keys = sortable_keys_of(in, args[1]);
  for (const Column& key : keys)
    if (is_complex(key.values->dtype))
      raise("NotImplementedError", "complex numbers as keys are not in Gasell", "use their real and imaginary parts");
  const auto by = std::make_shared<frame::Order>();
  by->keys = std::move(keys);
  by->order = order_of(in, args[2], args[3]);
  by->on_gpus = [&in](const auto& of, const auto& ways) { return order_on_gpus(in, of, ways); };
  return list_of(frame::gather(in.engine(), columns_of(in, args[0]), [&](const frame::RowsRef& rows) { return ordered_rows(rows, by); }));
}
/// firsts_of_groups(columns, keys, dropna, n, last, only_last): the columns' rows that are among the first (last) n of their group, or
/// None: the rows are better counted in each group.
Value firsts_of_groups(Interpreter& in, Args args) {
  Engine& engine = in.engine();
  if (frame::place_of_gathers(engine) == frame::Place::gpus) return {};
  frame::Input input{columns_of(in, args[0])};
  const size_t width = input.columns.size();
  for (Column& key : keys_of(in, args[1])) input.columns.push_back(std::move(key));
  apply(engine, frame::order_into_operator(), input);
  // Where most rows stayed when they were filtered the others are passed over.
  const int64_t stayed = input.columns[0].size();
  const auto pays = [&](const frame::Input& made) { return made.mask->size() < 2 * stayed; };
  if (apply(engine, frame::filter_into_operator(), input, pays) && input.mask->size() == stayed) input.mask = nullptr;
  const auto keys_begin = input.columns.begin() + static_cast<int64_t>(width);
  frame::FirstsOfGroups wanted;
  wanted.keys.assign(keys_begin, input.columns.end());
  input.columns.erase(keys_begin, input.columns.end());
  wanted.mask = input.mask;
  wanted.by = input.by;
  wanted.order = input.order;
  wanted.missing = truth(in, args[2]) ? frame::MissingKeys::dropped : frame::MissingKeys::kept;
  wanted.count = to_index(in, args[3]);
  wanted.last = truth(in, args[4]);
  wanted.only_last_of_them = truth(in, args[5]);
  const std::optional<Scratch<uint32_t>> rows = frame::firsts_of_groups(engine, wanted);
  if (!rows) return {};
  NewValues numbers(engine, DType::i64, rows->size());
  std::copy(rows->begin(), rows->end(), numbers.as<int64_t>());
  const NodeRef at = numbers.node();
  return list_of(frame::gather(engine, input.columns, [&](const frame::RowsRef& of) { return take_rows(of, at, false); }));
}
Value first_in_order(Interpreter& in, Args args) {
  return rows_array(in, frame::first_rows(in.engine(), sortable_keys_of(in, args[0]), order_of(in, args[1], args[2]), to_index(in, args[3]),
                                          truth(in, args[4])));
}
Value rank(Interpreter& in, Args args) {
  sortable_keys_of(in, make_list({args[0]}));
  frame::RankOptions options;
  options.method = one_of<frame::RankMethod>(in, args[1], {"average", "min", "max", "first", "dense"}, "method");
  options.descending = !truth(in, args[2]);
  const std::string missing = text_of(in, args[3]);
  if (missing != "keep" && missing != "top" && missing != "bottom")
    raise("ValueError", "na_option must be one of 'keep', 'top', or 'bottom'");
  options.missing = missing == "keep"  ? frame::MissingRank::missing
                    : missing == "top" ? frame::MissingRank::top
                                       : frame::MissingRank::bottom;
  options.pct = truth(in, args[4]);
  return wrap_column(frame::ranks(in.engine(), column_of(args[0]), options, args[5].is_none() ? nullptr : &groups_of(in, args[5])));
}
Value duplicated(Interpreter& in, Args args) {
  const frame::Keep keep = args[1].as<Str>() ? one_of<frame::Keep>(in, args[1], {"first", "last"}, "keep") : frame::Keep::none;
  return numpy::wrap_array(frame::duplicated(in.engine(), keys_of(in, args[0]), keep).values);
}

Value group(Interpreter& in, Args args) {
  const bool sorted = truth(in, args[1]);
  return Value::make<GroupsObject>(in.engine(), sorted ? sortable_keys_of(in, args[0]) : keys_of(in, args[0]),
                                   sorted ? frame::GroupOrder::sorted : frame::GroupOrder::appearance,
                                   truth(in, args[2]) ? frame::MissingKeys::dropped : frame::MissingKeys::kept);
}
Value group_first(Interpreter& in, Args args) { return array_over(row_groups_of(args[0]).first_rows(in.engine())); }
/// group_ids(groups): (the group of each row as an array, the first row of each group).
Value group_ids(Interpreter& in, Args args) {
  const frame::Groups& groups = groups_of(in, args[0]);
  NewValues ids(in.engine(), DType::i64, groups.rows()), first(in.engine(), DType::i64, groups.count());
  std::copy(groups.ids(), groups.ids() + groups.rows(), ids.as<int64_t>());
  std::copy(groups.first_rows(), groups.first_rows() + groups.count(), first.as<int64_t>());
  return make_tuple({numpy::wrap_array(ids.node()), numpy::wrap_array(first.node())});
}
Value group_rows(Interpreter& in, Args args) {
  const frame::Groups::Listing& listing = groups_of(in, args[0]).listing(in.engine());
  return make_tuple({array_over(listing.starts), rows_array(in, listing.rows)});
}

/// aggregate(groups, requests): requests are (name, column, options).
Value aggregate(Interpreter& in, Args args) {
  using frame::Aggregate;
  std::vector<frame::AggregateRequest> requests;
  for (const Value& v : to_vector(in, args[1])) {
    const std::vector<Value> parts = to_vector(in, v);
    frame::AggregateRequest r;
    r.how = one_of<Aggregate>(in, parts[0], {"size", "count", "sum",  "prod", "mean", "min",    "max",    "first",  "last",     "var",
                                             "std",  "sem",   "skew", "any",  "all",  "idxmin", "idxmax", "median", "quantile", "nunique"},
                              "aggregate");
    r.column = column_of(parts[1]);
    if (r.column.type.objects == kAnyObject && r.how != Aggregate::size && r.how != Aggregate::count && r.how != Aggregate::first &&
        r.how != Aggregate::last && r.how != Aggregate::nunique)
      raise("NotImplementedError", "this aggregate of a column of lists, or of values of several types, is not in Gasell");
    if (parts.size() > 2) r.min_count = to_index(in, parts[2]);
    if (parts.size() > 3) r.ddof = to_index(in, parts[3]);
    if (parts.size() > 4) r.quantile = to_double(in, parts[4]);
    if (parts.size() > 5) r.interpolation = interpolation_of(in, parts[5]);
    if (parts.size() > 6) r.skip_missing = truth(in, parts[6]);
    if (r.quantile < 0 || r.quantile > 1)
      raise("ValueError", "'q' must be between 0 and 1. Got '" + std::to_string(r.quantile) + "' instead");
    requests.push_back(std::move(r));
  }
  return list_of(row_groups_of(args[0]).aggregate(in.engine(), std::move(requests)));
}

Value group_running(Interpreter& in, Args args) {
  return wrap_column(frame::running(in.engine(), groups_of(in, args[0]),
                                    one_of<frame::Running>(in, args[1], {"sum", "prod", "min", "max"}, "running aggregate"),
                                    column_of(args[2]), truth(in, args[3])));
}
Value group_count(Interpreter& in, Args args) {
  return numpy::wrap_array(frame::running_count(in.engine(), groups_of(in, args[0]), truth(in, args[1])).values);
}
Value group_shift(Interpreter& in, Args args) {
  return numpy::wrap_array(frame::shifted_rows(in.engine(), groups_of(in, args[0]), to_index(in, args[1])).values);
}
Value group_fill(Interpreter& in, Args args) {
  const Column missing = frame::number_column(numpy::as_array(in, args[1]).node());
  return numpy::wrap_array(
      frame::filling_rows(in.engine(), groups_of(in, args[0]), missing, truth(in, args[2]), args[3].is_none() ? -1 : to_index(in, args[3]))
          .values);
}

/// match_types(left, right, names): both sides' key columns in common types.
void match(Interpreter& in, std::vector<Column>& left, std::vector<Column>& right, const Value& names) {
  const std::vector<Value> shown = to_vector(in, names);
  for (size_t k = 0; k < left.size(); ++k)
    frame::match_types(in.engine(), left[k], right[k], k < shown.size() ? text_of(in, shown[k]) : "");
}

/// join(left, right, how, sort, names): (left rows, right rows, a left one is missing, a right one is missing).
Value join(Interpreter& in, Args args) {
  std::vector<Column> left = keys_of(in, args[0]), right = keys_of(in, args[1]);
  match(in, left, right, args[4]);
  const auto how = one_of<frame::Join>(in, args[2], {"inner", "left", "right", "outer"}, "how");
  const frame::JoinedRows rows = frame::join_rows(in.engine(), left, right, how, truth(in, args[3]));
  return make_tuple({array_over(rows.left), array_over(rows.right), Value::of(rows.left_missing), Value::of(rows.right_missing)});
}
Value cross(Interpreter& in, Args args) {
  const frame::JoinedRows rows = frame::cross_rows(in.engine(), to_index(in, args[0]), to_index(in, args[1]));
  return make_tuple({array_over(rows.left), array_over(rows.right)});
}
Value has_match(Interpreter& in, Args args) {
  std::vector<Column> left = keys_of(in, args[0]), right = keys_of(in, args[1]);
  match(in, left, right, make_list({}));
  return numpy::wrap_array(frame::has_match(in.engine(), left, right).values);
}
Value asof(Interpreter& in, Args args) {
  std::vector<Column> left = columns_of(in, args[2]), right = columns_of(in, args[3]);
  match(in, left, right, make_list({}));
  frame::AsofOptions options;
  options.direction = one_of<frame::AsofDirection>(in, args[4], {"backward", "forward", "nearest"}, "direction");
  options.allow_exact = truth(in, args[5]);
  if (!args[6].is_none()) options.tolerance = to_double(in, args[6]);
  return array_over(frame::asof_rows(in.engine(), column_of(args[0]), column_of(args[1]), left, right, options));
}

}  // namespace

std::vector<NativeFunction> relational_functions() {
  return {
      {"order", "columns, ascending, na_position='last'", order, "The rows in the order of some columns."},
      {"sort", "columns, keys, ascending, na_position", sort, "Columns in the order of keys, when somebody reads them."},
      {"firsts_of_groups", "columns, keys, dropna, n, last=False, only_last=False", firsts_of_groups, "The first rows of each group."},
      {"first_in_order", "columns, ascending, na_position, n, last_first=False", first_in_order, "The first rows of that order."},
      {"rank", "column, method='average', ascending=True, na_option='keep', pct=False, groups=None", rank,
       "The place of each value in their order."},
      {"duplicated", "columns, keep='first'", duplicated, "Which rows are there before."},
      {"group", "columns, sort=True, dropna=True", group, "Groups of rows with equal keys."},
      {"group_ids", "groups", group_ids, "(the group of each row, the first row of each group)"},
      {"group_first", "groups", group_first, "The first row of each group."},
      {"group_rows", "groups", group_rows, "(where each group begins, the rows group by group)"},
      {"aggregate", "groups, requests", aggregate,
       "A value a group for each (name, column, min_count, ddof, q, interpolation, skip_missing)."},
      {"group_running", "groups, how, column, skip_missing=True", group_running, "Running aggregates within groups."},
      {"group_count", "groups, ascending=True", group_count, "The number of rows of the group before each row."},
      {"group_shift", "groups, periods", group_shift, "The row so many rows before within the group, or -1."},
      {"group_fill", "groups, missing, forward, limit=None", group_fill, "The nearest row of the group that is there, or -1."},
      {"join", "left, right, how, sort=False, names=()", join, "Rows whose keys are equal."},
      {"cross", "left, right", cross, "All pairs of rows."},
      {"has_match", "left, right", has_match, "Whether each left row is among the right ones."},
      {"asof", "left_on, right_on, left_by, right_by, direction='backward', allow_exact=True, tolerance=None", asof,
       "The nearest right row of each left one."},
  };
}

}  // namespace gasell::pandas
