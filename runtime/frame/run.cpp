#include "runtime/frame/run.h"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/device/device.h"
#include "runtime/frame/missing_values.h"
#include "runtime/frame/order.h"
#include "runtime/frame/rules.h"
#include "runtime/gpu/gpu_device.h"
#include "runtime/primitives/distant_rows.h"
#include "runtime/primitives/operator_report.h"

namespace gasell::frame {
namespace {

/// What holds the node's elements and nothing else.
HostStorageRef memory_of(Engine& engine, const NodeRef& node) {
  const auto* buffer = node->as<graph::BufferNode>();
  std::vector<StorageRef> memory{buffer->storage};
  make_ready(memory);
  const auto whole = std::static_pointer_cast<HostStorage>(memory[0]);
  if (buffer->offset == 0 && whole->bytes() == node->size() * size_of(node->dtype)) return whole;
  const NodeRef copy = engine.force(graph::map(ScalarOp::add, {node, graph::constant(Scalar::of_int(0), node->shape)}));
  return std::static_pointer_cast<HostStorage>(copy->as<graph::BufferNode>()->storage);
}

/// Rows of a column as an array expression.
Column gathered(const Column& source, const NodeRef& rows, bool may_miss) {
  const NodeRef zero = graph::constant(Scalar::of_int(0), rows->shape);
  const NodeRef index = may_miss ? graph::map(ScalarOp::max, {rows, zero}) : rows;
  Column result = source;
  result.values = graph::gather(source.values, index);
  if (source.validity) result.validity = graph::gather(source.validity, index);
  if (!may_miss) return result;
  const NodeRef there = graph::map(ScalarOp::ge, {rows, zero});
  std::array<char, 16> bytes;
  put_missing(source.type, bytes.data(), 0);
  const NodeRef missing = graph::constant(Scalar::load(bytes.data(), source.values->dtype), rows->shape);
  result.values = graph::map(ScalarOp::select, {there, result.values, missing});
  if (source.validity)
    result.validity = graph::map(ScalarOp::logical_and, {there, result.validity});
  else if (!has_own_missing(source.type))
    result.validity = there;
  return result;
}

/// first[rows], where rows of -1 stay so.
NodeRef compose(Engine& engine, const NodeRef& first, const NodeRef& rows, bool may_miss) {
  if (place_of_gathers(engine) == Place::gpus) {
    const Column composed = gathered({number_type(DType::i64), first}, rows, may_miss);
    return engine.force(
        may_miss ? graph::map(ScalarOp::select, {composed.validity, composed.values, graph::constant(Scalar::of_int(-1), rows->shape)})
                 : composed.values);
  }
  NewValues result(engine, DType::i64, rows->size());
  int64_t* const to = result.as<int64_t>();
  const ColumnData outer = read(engine, number_column(rows)), inner = read(engine, number_column(first));
  const auto *at = outer.as<int64_t>(), *from = inner.as<int64_t>();
  const bool distant = is_distant(engine, static_cast<HostStorage&>(*inner.keep_values), from, first->size() * size_of(DType::i64));
  if (distant) DistantRows(engine, at, result.count, first->size(), sizeof(int64_t)).gather(from, to, sizeof(int64_t));
  over_rows(engine, result.count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = at[i] < 0 ? -1 : distant ? to[i] : from[at[i]];
  });
  return result.node();
}

NodeRef in_int64(Engine& engine, const Scratch<uint32_t>& rows, int64_t count) {
  NewValues result(engine, DType::i64, count);
  int64_t* const to = result.as<int64_t>();
  over_rows(engine, count, [&](int64_t begin, int64_t end) { std::copy(rows.data() + begin, rows.data() + end, to + begin); });
  return result.node();
}

/// Whether all rows are known in the order: they were found, or GPUs find them.
bool is_found_on_gpus(Engine& engine, const Order& order) {
  if (!order.found.rows && order.on_gpus)
    if (const NodeRef rows = order.on_gpus(order.keys, order.order)) order.found.rows = engine.force(rows);
  return order.found.rows != nullptr;
}

/// All rows in the order.
NodeRef run(Engine& engine, const Order& order) {
  const std::lock_guard lock(order.found.mutex);
  if (!is_found_on_gpus(engine, order)) order.found.rows = in_int64(engine, order_rows(engine, order.keys, order.order), order.size());
  return order.found.rows;
}

/// The first `count` of them.
NodeRef run_first(Engine& engine, const Order& order, int64_t count) {
  /// As many first rows are found at least.
  constexpr int64_t kFewRows = 64;
  const std::lock_guard lock(order.found.mutex);
  Scratch<uint32_t>& first = order.found.first;
  const auto part_of_all = [&] { return engine.force(graph::view(run(engine, order), {count}, {{0, 0, 1}})); };
  if (is_found_on_gpus(engine, order)) return part_of_all();
  if (first.size() < count) {
    OperatorTimer timer("first rows", order.size());
    // Who asks for row after row makes few passes over all of them.
    const int64_t wanted = std::max({count, 4 * first.size(), kFewRows});
    const RowKeys numbers(engine, {order.keys}, MissingKeys::kept, true, order.order);
    if (!numbers.fit() || wanted > kMostFirstRows) return part_of_all();
    first = first_rows(engine, numbers, wanted);
    timer.finish(first.size(), counted(order.keys.size(), "key"));
  }
  return in_int64(engine, first, count);
}

/// The rows of what the node is made of.
NodeRef run(Engine& engine, const Rows& rows) {
  if (const auto* filter = rows.as<FilterRows>()) return filter->numbers;
  if (const auto* take = rows.as<TakeRows>()) return take->numbers;
  if (const auto* order = rows.as<OrderRows>()) return run(engine, *order->by);
  if (const auto* first = rows.as<FirstRows>()) return run_first(engine, *first->by, rows.count());
  const auto* slice = rows.as<SliceRows>();
  const int64_t first = slice ? slice->first : 0, step = slice ? slice->step : 1;
  NewValues numbers(engine, DType::i64, rows.count());
  for (int64_t i = 0; i < rows.count(); ++i) numbers.as<int64_t>()[i] = first + i * step;
  return numbers.node();
}

}  // namespace

Place place_of_gathers(Engine& engine) { return engine.gpus() ? Place::gpus : Place::host; }

Place place_of_operator(Engine& engine, double bytes) {
  return engine.gpus_for_function(host_seconds(bytes, 0, engine.device().properties().threads)) ? Place::gpus : Place::host;
}

NodeRef numbers_of(Engine& engine, const RowsRef& rows) {
  Rows::Found& found = rows->found();
  const std::lock_guard lock(found.mutex);
  if (found.numbers) return found.numbers;
  std::vector<std::string> fired;
  const RowsRef plan = simplify(engine, rows, &fired);
  for (const std::string& rule : fired) note_rule(rule);
  if (plan != rows)
    found.numbers = numbers_of(engine, plan);
  else {
    const NodeRef local = engine.force(run(engine, *rows));
    const auto* take = rows->as<TakeRows>();
    found.numbers =
        !rows->of() || rows->of()->is_memory() ? local : compose(engine, numbers_of(engine, rows->of()), local, take && take->may_miss);
  }
  return found.numbers;
}

NodeRef numbers_later(Engine& engine, const RowsRef& rows) {
  const HostStorageRef storage =
      deferred(rows->count() * size_of(DType::i64), [&engine, rows] { return memory_of(engine, numbers_of(engine, rows)); });
  return graph::buffer(storage, DType::i64, {rows->count()}, {1}, 0);
}

NodeRef mask_of_all(Engine& engine, const RowsRef& filter) {
  const auto* node = filter->as<FilterRows>();
  if (node->of->is_memory()) return node->mask;
  if (place_of_gathers(engine) == Place::gpus) return nullptr;
  int64_t count = 0;
  for (const Rows* r = filter.get(); r; r = r->of().get()) count = r->count();
  const HostStorageRef storage = deferred(count, [&engine, filter, count] {
    const ColumnData rows = read(engine, number_column(numbers_of(engine, filter)));
    NewValues mask(engine, DType::boolean, count);
    bool* const flags = mask.as<bool>();
    std::fill_n(flags, count, false);
    for (int64_t i = 0; i < rows.count; ++i) flags[rows.as<int64_t>()[i]] = true;
    return mask.storage;
  });
  return graph::buffer(storage, DType::boolean, {count}, {1}, 0);
}

bool is_found(const Order& order) {
  const std::lock_guard lock(order.found.mutex);
  return order.found.rows != nullptr;
}

HostStorageRef gathered_values(Engine& engine, const Column& source, const RowsRef& rows) {
  const NodeRef numbers = numbers_of(engine, rows);
  Column taken;
  if (place_of_gathers(engine) == Place::gpus) {
    OperatorTimer timer("gather", source.size());
    taken = gathered(source, numbers, rows->may_miss());
    force(engine, {&taken});
    timer.finish(numbers->size(), "1 column", "array engine");
  } else {
    const ColumnData at = read(engine, number_column(numbers));
    taken = take(engine, source, at.as<int64_t>(), numbers->size(), rows->may_miss());
  }
  return memory_of(engine, taken.values);
}

}  // namespace gasell::frame
