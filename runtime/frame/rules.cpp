#include "runtime/frame/rules.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/plan/canonical.h"
#include "runtime/environment.h"
#include "runtime/frame/gathers.h"
#include "runtime/frame/order.h"
#include "runtime/frame/run.h"
#include "runtime/primitives/operator_report.h"

namespace gasell::frame {
namespace {

bool rules_are_on() {
  static const bool kOn = switched_on("GASELL_RULES", true);
  return kOn;
}

/// slice(slice(x)) → slice(x)
RowsRef merge_slices(Engine&, const RowsRef& rows) {
  const auto* outer = rows->as<SliceRows>();
  const auto* inner = outer ? outer->of->as<SliceRows>() : nullptr;
  if (!inner) return nullptr;
  return slice_rows(inner->of, inner->first + outer->first * inner->step, rows->count(), outer->step * inner->step);
}

/// slice(order(x)) → slice(first(x)), where the slice ends among few first rows.
RowsRef top_n(Engine& engine, const RowsRef& rows) {
  /// So many first rows are found in less time than all are ordered.
  constexpr int64_t kFirstRows = 1 << 12;
  const auto* slice = rows->as<SliceRows>();
  const RowsRef below = slice ? simplify(engine, slice->of) : nullptr;  // an order that it does not need is dropped there
  const auto* order = slice ? below->as<OrderRows>() : nullptr;
  if (!order || slice->step != 1 || is_found(*order->by)) return nullptr;
  const int64_t end = slice->first + rows->count();
  if (end > kFirstRows) return nullptr;
  return slice_rows(first_of_order(order->of, order->by, end), slice->first, rows->count());
}

/// slice(take(x, numbers)) → take(x, numbers[slice]); the same of a filter.
RowsRef slice_of_numbers(Engine&, const RowsRef& rows) {
  const auto* slice = rows->as<SliceRows>();
  if (!slice || slice->step < 1) return nullptr;
  const auto part = [&](const NodeRef& numbers) { return graph::view(numbers, {rows->count()}, {{0, slice->first, slice->step}}); };
  if (const auto* take = slice->of->as<TakeRows>()) return take_rows(take->of, part(take->numbers), take->may_miss);
  if (const auto* filter = slice->of->as<FilterRows>()) return take_rows(filter->of, part(filter->numbers), false);
  return nullptr;
}

/// Whether they are the same values of the same rows.
bool same(const Column& a, const Column& b) {
  const auto x = gather_of(a), y = gather_of(b);
  if (!x || !y) return a.values == b.values && a.validity == b.validity;
  return x->rows == y->rows && x->source.values == y->source.values && x->source.validity == y->source.validity;
}

/// order(order(x, inner), outer) → order(x, outer), where all of the inner keys are among the outer ones: rows that the outer order leaves
/// as they stand are equal by the inner keys too, which left them as they stood.
RowsRef drop_inner_order(Engine& engine, const RowsRef& rows) {
  const auto* outer = rows->as<OrderRows>();
  const auto* inner = outer ? outer->of->as<OrderRows>() : nullptr;
  if (!inner || is_found(*outer->by) || is_found(*inner->by)) return nullptr;
  std::vector<Column> keys;
  for (const Column& key : outer->by->keys) {
    const auto gather = gather_of(key);
    if (!gather || gather->rows != outer->of) return nullptr;
    keys.push_back(over_rows_below(engine, key, inner->of));
  }
  for (const Column& key : inner->by->keys)
    if (std::none_of(keys.begin(), keys.end(), [&](const Column& k) { return same(k, key); })) return nullptr;
  const auto by = std::make_shared<Order>();
  by->keys = std::move(keys);
  by->order = outer->by->order;
  by->on_gpus = outer->by->on_gpus;
  return ordered_rows(inner->of, by);
}

/// Columns in an order that nobody needed yet → the columns before it, and the order.
bool take_order_out(Engine& engine, Input& input) {
  OrderRef by;
  for (const Column& c : input.columns) {
    const auto gather = gather_of(c);
    const auto* order = gather ? gather->rows->as<OrderRows>() : nullptr;
    if (!order || (by && order->by != by)) return false;
    by = order->by;
  }
  if (!by) return false;
  for (Column& c : input.columns) c = over_rows_below(engine, c, gather_of(c)->rows->of());
  input.by = by->keys;
  input.order = by->order;
  return true;
}

graph::Shape shape_of(const RowsRef& rows) { return graph::Shape(1, rows->count()); }

bool is_filter_of_memory(const Rows& rows) {
  const auto* filter = rows.as<FilterRows>();
  return filter && (filter->of->is_memory() || is_filter_of_memory(*filter->of));
}

/// Columns over filtered rows → those over all rows, and a mask.
bool take_filter_out(Engine& engine, Input& input) {
  std::vector<Column*> columns;
  for (Column& c : input.columns) columns.push_back(&c);
  for (Column& c : input.by) columns.push_back(&c);
  std::vector<NodeRef> roots;
  for (const Column* c : columns) {
    roots.push_back(c->values);
    if (c->validity) roots.push_back(c->validity);
  }
  const std::vector<NodeRef> nodes = plan::topological_order(roots);
  RowsRef rows;
  std::unordered_map<const graph::Node*, NodeRef> all;  // rows, of nodes over the chosen ones
  for (const NodeRef& node : nodes) {
    const auto* buffer = node->as<graph::BufferNode>();
    if (!buffer) continue;
    const std::shared_ptr<const Gather> gather = filtered_into(buffer->storage);
    if (!gather || (rows && gather->rows != rows) || node->shape != shape_of(gather->rows) || buffer->offset != 0) return false;
    if (!is_filter_of_memory(*gather->rows)) return false;
    rows = gather->rows;
    all.emplace(node.get(), gather->source.values);
  }
  if (!rows) return false;
  const NodeRef mask = mask_of_all(engine, rows);
  if (!mask) return false;
  for (const NodeRef& node : nodes) {
    if (node->as<graph::BufferNode>()) continue;
    const auto* constant = node->as<graph::ConstantNode>();
    if (node->shape != shape_of(rows) || !(constant || node->as<graph::MapNode>() || node->as<graph::CastNode>())) return false;
    std::vector<NodeRef> inputs;
    for (const NodeRef& input_node : node->inputs) inputs.push_back(all.at(input_node.get()));
    all.emplace(node.get(), constant ? graph::constant(constant->value, mask->shape) : plan::rebuild(node, std::move(inputs)));
  }
  for (Column* c : columns) {
    c->pending = nullptr;
    c->values = all.at(c->values.get());
    if (c->validity) c->validity = all.at(c->validity.get());
  }
  input.mask = mask;
  input.filter = rows;
  return true;
}

}  // namespace

const std::vector<Rule>& row_rules() {
  static const std::vector<Rule> kRules = {
      {"merge_slices", merge_slices, "first: a slice of a slice ends where the others look"},
      {"top_n", top_n, "before slices are cut out of numbers, which would have to be those of a whole order"},
      {"slice_of_numbers", slice_of_numbers, "behind the other slices: what is cut out of numbers is no slice any more"},
      {"drop_inner_order", drop_inner_order, "last: by then no slice stands between two orders that would keep both"},
  };
  return kRules;
}

RowsRef simplify(Engine& engine, RowsRef rows, std::vector<std::string>* fired) {
  if (!rules_are_on()) return rows;
  for (bool again = true; again;) {
    again = false;
    for (const Rule& rule : row_rules())
      if (RowsRef rewritten = rule.rewrite(engine, rows)) {
        rows = std::move(rewritten);
        if (fired) fired->push_back(rule.name);
        again = true;
      }
  }
  return rows;
}

const InputRule& order_into_operator() {
  static const InputRule kRule{"order_into_operator", take_order_out,
                               "before filters: what was filtered and then ordered is filtered below"};
  return kRule;
}

const InputRule& filter_into_operator() {
  static const InputRule kRule{"filter_into_operator", take_filter_out, "behind orders, whose keys are over the filtered rows too"};
  return kRule;
}

bool apply(Engine& engine, const InputRule& rule, Input& input, const std::function<bool(const Input&)>& pays) {
  if (!rules_are_on()) return false;
  Input another = input;
  if (!rule.rewrite(engine, another) || (pays && !pays(another))) return false;
  input = std::move(another);
  note_rule(rule.name);
  return true;
}

}  // namespace gasell::frame
