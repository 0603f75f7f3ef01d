#include "runtime/frame/gathers.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "runtime/frame/missing_values.h"
#include "runtime/frame/row_parts.h"
#include "runtime/frame/run.h"

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
  void add(const HostStorageRef& memory, const std::shared_ptr<Gather>& gather) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() > 2 * most_alive_) {
      std::erase_if(waiting_, [](const auto& entry) { return entry.second.memory.expired(); });
      most_alive_ = std::max<size_t>(64, waiting_.size());
    }
    waiting_[memory.get()] = {memory, gather};
  }
  /// Null where there is none.
  std::shared_ptr<const Gather> find(const StorageRef& memory) {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(memory.get());
    if (found == waiting_.end() || found->second.memory.lock() != memory) return nullptr;
    std::shared_ptr<const Gather> gather = found->second.gather.lock();
    return gather && gather->rows ? gather : nullptr;
  }
  static Filtered& all() {
    static auto& filtered = *new Filtered;
    return filtered;
  }

 private:
  struct Entry {
    std::weak_ptr<Storage> memory;
    std::weak_ptr<Gather> gather;
  };
  std::mutex mutex_;
  std::unordered_map<const Storage*, Entry> waiting_;
  size_t most_alive_ = 64;
};

/// The values of those rows of `source`, which has no validity, when somebody reads them.
NodeRef values_later(Engine& engine, const Column& source, const RowsRef& rows, const std::shared_ptr<Gather>& gather) {
  const DType dtype = source.values->dtype;
  const HostStorageRef storage = deferred(rows->count() * size_of(dtype), [&engine, source, rows, gather] {
    HostStorageRef memory = gathered_values(engine, source, rows);
    *gather = {};  // what the rows come from is not kept longer than it is needed
    return memory;
  });
  if (rows->as<FilterRows>()) Filtered::all().add(storage, gather);
  return graph::buffer(storage, dtype, {rows->count()}, {1}, 0);
}

Column gathered_later(Engine& engine, const Column& source, const RowsRef& rows) {
  const auto gather = std::make_shared<Gather>(Gather{source, rows});
  gather->source.pending = nullptr;
  Column result = source, values = source;
  values.validity = nullptr;
  values.pending = nullptr;
  result.values = values_later(engine, values, rows, gather);
  result.pending = gather;
  if (source.validity) {
    // Rows that miss are false: zeros stand in for booleans that are not there.
    const Column validity = number_column(source.validity);
    result.validity = values_later(engine, validity, rows, std::make_shared<Gather>(Gather{validity, rows}));
  } else if (rows->may_miss() && !has_own_missing(source.type)) {
    const NodeRef zero = graph::constant(Scalar::of_int(0), {rows->count()});
    result.validity = graph::map(ScalarOp::ge, {numbers_later(engine, rows), zero});
  }
  return result;
}

}  // namespace

std::shared_ptr<const Gather> gather_of(const Column& column) {
  const auto& pending = column.pending;
  return pending && pending->rows && pending->source.type == column.type && waits(column) ? pending : nullptr;
}

std::shared_ptr<const Gather> filtered_into(const StorageRef& memory) { return Filtered::all().find(memory); }

std::vector<Column> gather(Engine& engine, const std::vector<Column>& columns, const std::function<RowsRef(const RowsRef&)>& over) {
  /// A column may be made anew again and again without anybody reading it: then what it is made of stays this small.
  constexpr int kDeepest = 8;
  std::vector<std::pair<RowsRef, RowsRef>> made;  // (rows, rows over these)
  std::vector<Column> results;
  for (const Column& column : columns) {
    const std::shared_ptr<const Gather> from = gather_of(column);
    const RowsRef below = from ? from->rows : memory_rows(column.size());
    const Column source = from ? from->source : column;
    auto known = std::find_if(made.begin(), made.end(), [&](const auto& pair) { return pair.first == below; });
    if (known == made.end()) {
      RowsRef rows = over(below);
      if (rows->depth() >= kDeepest) rows = take_rows(memory_rows(source.size()), numbers_of(engine, rows), rows->may_miss());
      known = made.emplace(made.end(), below, std::move(rows));
    }
    results.push_back(gathered_later(engine, source, known->second));
  }
  return results;
}

Column over_rows_below(Engine& engine, const Column& column, const RowsRef& below) {
  const std::shared_ptr<const Gather> from = gather_of(column);
  return below->is_memory() ? from->source : gathered_later(engine, from->source, below);
}

Column with_row_parts(Column column, std::function<Column(int64_t begin, int64_t end)> part) {
  column.pending = std::make_shared<PendingRows>(PendingRows{column, nullptr, std::move(part)});
  return column;
}

Column slice(Engine& engine, const Column& column, int64_t begin, int64_t end, int64_t step) {
  const int64_t way = step > 0 ? end - begin : begin - end, count = way > 0 ? (way - 1) / std::abs(step) + 1 : 0;
  const bool few = count < column.size() / 4;
  if (few && count > 0 && step == 1 && has_row_parts(column)) return column.pending->part(begin, end);
  if (few && gather_of(column))
    return gather(engine, {column}, [&](const RowsRef& rows) { return slice_rows(rows, begin, count, step); })[0];
  Column result = column;
  result.pending = nullptr;
  result.values = graph::view(column.values, {count}, {{0, begin, step}});
  if (column.validity) result.validity = graph::view(column.validity, {count}, {{0, begin, step}});
  return result;
}

}  // namespace gasell::frame
