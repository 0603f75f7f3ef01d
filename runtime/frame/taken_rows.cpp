// Rows of columns in memory, taken at once, on the host.
#include <algorithm>
#include <optional>

#include "runtime/frame/column.h"
#include "runtime/frame/missing_values.h"
#include "runtime/primitives/distant_rows.h"
#include "runtime/primitives/operator_report.h"

namespace gasell::frame {
namespace {

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

}  // namespace

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

}  // namespace gasell::frame
