// Rows of columns: taken at once, or when somebody reads them.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "compiler/plan/canonical.h"
#include "runtime/frame/column.h"
#include "runtime/frame/pending_rows.h"
#include "runtime/frame/row_parts.h"
#include "runtime/primitives/distant_rows.h"
#include "runtime/primitives/operator_report.h"

namespace gasell::frame {
namespace {

bool waits(const Column& column) {
  const auto* buffer = column.values->as<graph::BufferNode>();
  return buffer && static_cast<const HostStorage*>(buffer->storage.get())->is_waiting();
}

/// Whether the column waits as it came from with_row_parts().
bool has_row_parts(const Column& column) {
  if (!column.pending || !column.pending->part || !waits(column)) return false;
  const Column& source = column.pending->source;
  return source.values == column.values && source.validity == column.validity && source.dictionary == column.dictionary &&
         source.type == column.type;
}

/// By their memory: columns' values and validities that wait and were chosen by masks.
class Filtered {
 public:
  void add(const HostStorageRef& memory, const std::shared_ptr<PendingRows>& rows) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() > 2 * most_alive_) {
      std::erase_if(waiting_, [](const auto& entry) { return entry.second.memory.expired(); });
      most_alive_ = std::max<size_t>(64, waiting_.size());
    }
    waiting_[memory.get()] = {memory, rows};
  }
  /// Null where there is none.
  std::shared_ptr<const PendingRows> find(const StorageRef& memory) {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(memory.get());
    if (found == waiting_.end() || found->second.memory.lock() != memory) return nullptr;
    std::shared_ptr<const PendingRows> rows = found->second.rows.lock();
    return rows && rows->mask ? rows : nullptr;
  }
  static Filtered& all() {
    static Filtered filtered;
    return filtered;
  }

 private:
  struct Entry {
    std::weak_ptr<Storage> memory;
    std::weak_ptr<PendingRows> rows;
  };
  std::mutex mutex_;
  std::unordered_map<const Storage*, Entry> waiting_;
  size_t most_alive_ = 64;
};

/// What stands in for a value that is not there.
void put_missing(const ColumnType& type, void* values, int64_t row) {
  switch (type.logical) {
    case Logical::text:
    case Logical::category: static_cast<int32_t*>(values)[row] = -1; return;
    case Logical::datetime:
    case Logical::timedelta: static_cast<int64_t*>(values)[row] = kNotATime; return;
    case Logical::number:
      if (is_float(type.dtype) || is_complex(type.dtype))
        Scalar::of_float(std::numeric_limits<double>::quiet_NaN())
            .cast(type.dtype)
            .store(static_cast<char*>(values) + row * size_of(type.dtype));
      else
        std::memset(static_cast<char*>(values) + row * size_of(type.dtype), 0, static_cast<size_t>(size_of(type.dtype)));
  }
}

template <class T>
void gather(const void* from, void* to, const int64_t* rows, int64_t begin, int64_t end) {
  const T* source = static_cast<const T*>(from);
  T* target = static_cast<T*>(to);
  for (int64_t i = begin; i < end; ++i)
    if (rows[i] >= 0) target[i] = source[rows[i]];
}

/// Elements of `size` bytes.
void gather(int size, const void* from, void* to, const int64_t* rows, int64_t begin, int64_t end) {
  struct Pair {
    uint64_t a, b;
  };
  switch (size) {
    case 1: return gather<uint8_t>(from, to, rows, begin, end);
    case 2: return gather<uint16_t>(from, to, rows, begin, end);
    case 4: return gather<uint32_t>(from, to, rows, begin, end);
    case 8: return gather<uint64_t>(from, to, rows, begin, end);
    default: return gather<Pair>(from, to, rows, begin, end);
  }
}

/// Whether rows of -1 aside no row stands before one behind it.
bool ascend(const int64_t* rows, int64_t count) {
  int64_t last = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (rows[i] < 0) continue;
    if (rows[i] < last) return false;
    last = rows[i];
  }
  return true;
}

bool has_own_missing(const ColumnType& type) {
  return !type.is_number() || (!type.nullable && (is_float(type.dtype) || is_complex(type.dtype)));
}

}  // namespace

bool is_pending(const Column& column) {
  return column.pending && column.pending->rows && column.pending->source.type == column.type && waits(column);
}

std::vector<Column> take(Engine& engine, const std::vector<Column>& columns, const int64_t* rows, int64_t count, bool may_miss) {
  std::vector<Column> sources = columns;
  for (Column& c : sources) c.pending = nullptr;
  std::vector<Column*> all;
  for (Column& c : sources) all.push_back(&c);
  force(engine, all);
  OperatorTimer timer("gather", columns.empty() ? 0 : columns[0].size());
  std::optional<DistantRows<int64_t>> distant;
  /// Whether `from` is on disk and its rows are wanted in another order; then they come by way of buckets.
  const auto taken_from_disk = [&](const StorageRef& storage, const void* from, void* to, int64_t sources, int size) {
    if (!is_distant(engine, static_cast<HostStorage&>(*storage), from, sources * size)) return false;
    if (!distant && ascend(rows, count)) return false;
    if (!distant) distant.emplace(engine, rows, count, sources, std::max(size, 8));
    distant->gather(from, to, size);
    return true;
  };
  std::vector<Column> results;
  for (Column& source : sources) {
    const ColumnData from = read(engine, source);
    NewValues values(engine, source.values->dtype, count);
    const bool validity = from.valid || (may_miss && !has_own_missing(source.type));
    std::optional<NewValues> valid;
    if (validity) valid.emplace(engine, DType::boolean, count);
    void* const to = values.as<char>();
    bool* const flags = valid ? valid->as<bool>() : nullptr;
    const bool there = taken_from_disk(from.keep_values, from.values, to, from.count, size_of(values.dtype));
    const bool valid_there = from.valid && taken_from_disk(from.keep_validity, from.valid, flags, from.count, sizeof(bool));
    over_rows(engine, count, [&](int64_t begin, int64_t end) {
      if (!there) gather(size_of(values.dtype), from.values, to, rows, begin, end);
      if (may_miss)
        for (int64_t i = begin; i < end; ++i)
          if (rows[i] < 0) put_missing(source.type, to, i);
      if (flags && !valid_there)
        for (int64_t i = begin; i < end; ++i) flags[i] = rows[i] >= 0 && (!from.valid || from.valid[rows[i]]);
      if (flags && valid_there && may_miss)
        for (int64_t i = begin; i < end; ++i) flags[i] = rows[i] >= 0 && flags[i];
    });
    Column result = source;
    result.values = values.node();
    result.validity = valid ? valid->node() : nullptr;
    results.push_back(std::move(result));
  }
  timer.finish(count, counted(columns.size(), "column"));
  return results;
}

Column take(Engine& engine, const Column& column, const int64_t* rows, int64_t count, bool may_miss) {
  return take(engine, std::vector{column}, rows, count, may_miss)[0];
}

namespace {

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
  if (engine.gpus()) {
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

/// The memory of the rows' values.
HostStorageRef make_rows(Engine& engine, const Column& source, const NodeRef& rows, bool may_miss) {
  Column taken;
  if (engine.gpus()) {
    OperatorTimer timer("gather", source.size());
    taken = gathered(source, rows, may_miss);
    force(engine, {&taken});
    timer.finish(rows->size(), "1 column", "array engine");
  } else {
    const ColumnData numbers = read(engine, number_column(rows));
    taken = take(engine, source, numbers.as<int64_t>(), rows->size(), may_miss);
  }
  return std::static_pointer_cast<HostStorage>(taken.values->as<graph::BufferNode>()->storage);
}

/// The same when somebody reads them.
NodeRef compose_later(Engine& engine, const NodeRef& first, const NodeRef& rows) {
  const HostStorageRef storage = deferred(rows->size() * size_of(DType::i64), [&engine, first, rows] {
    return std::static_pointer_cast<HostStorage>(compose(engine, first, rows, false)->as<graph::BufferNode>()->storage);
  });
  return graph::buffer(storage, DType::i64, rows->shape, {1}, 0);
}

/// Takes rows of columns later: in memory they are, or they come later themselves.
struct LaterRows {
  Engine& engine;
  bool may_miss = false;
  NodeRef mask = nullptr;
  LaterOrderRef order = nullptr;  // the rows are all of its
  struct Composed {
    NodeRef first, rows, both;
  };
  std::vector<Composed> composed = {};

  Column of(const Column& column, const NodeRef& rows) {
    return of(column, rows, may_miss, mask, order ? std::make_shared<Column>(column) : nullptr);
  }

 private:
  /// first[rows]: of several columns that came from one frame it is made once.
  const NodeRef& rows_of_rows(const NodeRef& first, const NodeRef& rows, bool miss) {
    for (const Composed& c : composed)
      if (c.first == first && c.rows == rows) return c.both;
    composed.push_back({first, rows, order ? compose_later(engine, first, rows) : compose(engine, first, rows, miss)});
    return composed.back().both;
  }

  Column of(const Column& column, const NodeRef& rows, bool miss, const NodeRef& by, const std::shared_ptr<const Column>& before) {
    if (is_pending(column)) {
      // Rows of rows that were not made: of what those come from.
      const PendingRows first = *column.pending;
      const NodeRef both = rows_of_rows(first.rows, rows, miss);
      return of(first.source, both, miss || first.may_miss, nullptr, before);
    }
    const auto later = [&](const Column& source, const std::shared_ptr<PendingRows>& pending) {
      const DType dtype = source.values->dtype;
      const HostStorageRef storage = deferred(rows->size() * size_of(dtype), [&engine = engine, source, rows, miss, pending] {
        HostStorageRef memory = make_rows(engine, source, rows, miss);
        *pending = {};  // what the rows come from is not kept longer than it is needed
        return memory;
      });
      if (by) Filtered::all().add(storage, pending);
      return graph::buffer(storage, dtype, rows->shape, {1}, 0);
    };
    const auto pending_of = [&](const Column& source) {
      return std::make_shared<PendingRows>(PendingRows{source, rows, miss, by, {}, order, before});
    };
    const auto pending = pending_of(column);
    Column result = column, values = column;
    values.validity = nullptr;
    result.values = later(values, pending);
    result.pending = pending;
    if (column.validity) {
      // Rows that miss are false: zeros stand in for booleans that are not there.
      const Column validity = number_column(column.validity);
      result.validity = later(validity, pending_of(validity));
    } else if (miss && !has_own_missing(column.type)) {
      result.validity = graph::map(ScalarOp::ge, {rows, graph::constant(Scalar::of_int(0), rows->shape)});
    }
    return result;
  }
};

std::vector<Column> rows_later(LaterRows later, const std::vector<Column>& columns, const NodeRef& rows) {
  std::vector<Column> results;
  for (const Column& c : columns) results.push_back(later.of(c, rows));
  return results;
}

}  // namespace

std::vector<Column> take_later(Engine& engine, const std::vector<Column>& columns, const NodeRef& given, bool may_miss,
                               const NodeRef& mask) {
  const auto* memory = given->as<graph::BufferNode>();
  const bool come_later = memory && memory->offset == 0 && memory->strides == graph::contiguous_strides(given->shape) &&
                          static_cast<const HostStorage&>(*memory->storage).is_waiting();
  return rows_later({engine, may_miss, mask}, columns, come_later ? given : engine.force(given));
}

std::vector<Column> take_in_order(Engine& engine, const std::vector<Column>& columns, const LaterOrderRef& order) {
  return rows_later({engine, false, nullptr, order}, columns, order->rows);
}

std::optional<Unfiltered> before_filter(const std::vector<Column>& columns) {
  std::vector<NodeRef> roots;
  for (const Column& c : columns) {
    roots.push_back(c.values);
    if (c.validity) roots.push_back(c.validity);
  }
  const std::vector<NodeRef> order = plan::topological_order(roots);
  Unfiltered result;
  NodeRef rows;
  std::unordered_map<const graph::Node*, NodeRef> all;  // rows, of nodes over the chosen ones
  for (const NodeRef& node : order) {
    const auto* buffer = node->as<graph::BufferNode>();
    if (!buffer) continue;
    const std::shared_ptr<const PendingRows> pending = Filtered::all().find(buffer->storage);
    if (!pending || (rows && pending->rows != rows) || node->shape != pending->rows->shape || buffer->offset != 0) return {};
    rows = pending->rows;
    result.mask = pending->mask;
    all.emplace(node.get(), pending->source.values);
  }
  if (!rows) return {};
  for (const NodeRef& node : order) {
    if (node->as<graph::BufferNode>()) continue;
    const auto* constant = node->as<graph::ConstantNode>();
    if (node->shape != rows->shape || !(constant || node->as<graph::MapNode>() || node->as<graph::CastNode>())) return {};
    std::vector<NodeRef> inputs;
    for (const NodeRef& input : node->inputs) inputs.push_back(all.at(input.get()));
    all.emplace(node.get(), constant ? graph::constant(constant->value, result.mask->shape) : plan::rebuild(node, std::move(inputs)));
  }
  for (Column c : columns) {
    c.pending = nullptr;
    c.values = all.at(c.values.get());
    if (c.validity) c.validity = all.at(c.validity.get());
    result.columns.push_back(std::move(c));
  }
  return result;
}

Column with_row_parts(Column column, std::function<Column(int64_t begin, int64_t end)> part) {
  column.pending = std::make_shared<PendingRows>(PendingRows{column, nullptr, false, nullptr, std::move(part)});
  return column;
}

namespace {

/// So many first rows of an order are found without ordering the rest.
constexpr int64_t kFirstRows = 1 << 12;

}  // namespace

Column slice(Engine& engine, const Column& column, int64_t begin, int64_t end, int64_t step) {
  const int64_t way = step > 0 ? end - begin : begin - end, count = way > 0 ? (way - 1) / std::abs(step) + 1 : 0;
  const bool few = count < column.size() / 4;
  if (few && count > 0 && step == 1 && has_row_parts(column)) return column.pending->part(begin, end);
  if (few && is_pending(column)) {
    NewValues rows(engine, DType::i64, count);
    const LaterOrderRef order = column.pending->order;
    if (order && step == 1 && end <= kFirstRows && waits(number_column(order->rows))) {
      const Column before = *column.pending->before;
      const Scratch<uint32_t>& first = order->first(engine, end);
      std::copy(first.data() + begin, first.data() + end, rows.as<int64_t>());
      return take_later(engine, {before}, rows.node())[0];
    }
    for (int64_t i = 0; i < count; ++i) rows.as<int64_t>()[i] = begin + i * step;
    return take_later(engine, {column}, rows.node())[0];
  }
  Column result = column;
  result.pending = nullptr;
  result.values = graph::view(column.values, {count}, {{0, begin, step}});
  if (column.validity) result.validity = graph::view(column.validity, {count}, {{0, begin, step}});
  return result;
}

}  // namespace gasell::frame
