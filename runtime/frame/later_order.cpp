#include "runtime/frame/later_order.h"

#include <algorithm>

#include "runtime/frame/order.h"
#include "runtime/frame/pending_rows.h"

namespace gasell::frame {

namespace {

/// As many first rows are found at least.
constexpr int64_t kFewRows = 64;

}  // namespace

const Scratch<uint32_t>& LaterOrder::first(Engine& engine, int64_t count) const {
  const std::lock_guard lock(mutex_);
  if (first_.size() >= count) return first_;
  // Who asks for row after row makes few passes over all of them.
  count = std::max({count, 4 * first_.size(), kFewRows});
  OperatorTimer timer("first rows", rows->size());
  const RowKeys numbers(engine, {keys}, MissingKeys::kept, true, order);
  if (numbers.fit() && count <= kMostFirstRows)
    first_ = first_rows(engine, numbers, count);
  else {  // all are ordered, and kept
    const ColumnData all = read(engine, number_column(rows));
    first_ = Scratch<uint32_t>(engine, std::min(count, all.count));
    std::copy_n(all.as<int64_t>(), first_.size(), first_.data());
  }
  timer.finish(first_.size(), counted(keys.size(), "key"));
  return first_;
}

std::vector<Column> sort_later(Engine& engine, const std::vector<Column>& columns, const std::vector<Column>& keys,
                               const std::vector<KeyOrder>& order) {
  for (const Column& key : keys)
    if (is_complex(key.values->dtype))
      throw Error("NotImplementedError", "complex numbers as keys are not in Gasell", "use their real and imaginary parts");
  const int64_t count = keys[0].size();
  const HostStorageRef rows = deferred(count * int64_t{sizeof(int64_t)}, [&engine, keys, order] {
    const Scratch<uint32_t> ordered = order_rows(engine, keys, order);
    NewValues result(engine, DType::i64, ordered.size());
    int64_t* const to = result.as<int64_t>();
    over_rows(engine, ordered.size(),
              [&](int64_t begin, int64_t end) { std::copy(ordered.data() + begin, ordered.data() + end, to + begin); });
    return result.storage;
  });
  const auto later = std::make_shared<LaterOrder>();
  later->keys = keys;
  later->order = order;
  later->rows = graph::buffer(rows, DType::i64, {count}, {1}, 0);
  return take_in_order(engine, columns, later);
}

std::optional<Unordered> before_order(const std::vector<Column>& columns) {
  Unordered result;
  for (const Column& c : columns) {
    if (!is_pending(c) || !c.pending->order || (result.order && result.order != c.pending->order)) return {};
    result.order = c.pending->order;
    result.columns.push_back(*c.pending->before);
  }
  if (!result.order) return {};
  return result;
}

}  // namespace gasell::frame
