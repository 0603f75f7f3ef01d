#include "runtime/frame/order.h"

#include "runtime/frame/radix.h"

namespace gasell::frame {

Scratch<uint32_t> order_rows(Engine& engine, const RowKeys& keys) {
  const int64_t count = keys.rows(0);
  Scratch<uint32_t> rows(engine, count);
  over_rows(engine, count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) rows[i] = static_cast<uint32_t>(i);
  });
  // Keys that fit in one number are sorted by at once; of several such runs the last one comes first.
  Scratch<uint64_t> numbers(engine, count);
  for (size_t last = keys.size(); last > 0;) {
    size_t first = last - 1;
    while (first > 0 && keys.fit(first - 1, last)) --first;
    over_rows(engine, count, [&](int64_t begin, int64_t end) {
      if (last == keys.size()) return keys.encode(0, begin, end, numbers.data() + begin, first, last);
      std::vector<int64_t> listed(rows.data() + begin, rows.data() + end);
      keys.encode_rows(0, listed.data(), end - begin, numbers.data() + begin, first, last);
    });
    sort_by_keys(engine, numbers, rows, count);
    last = first;
  }
  return rows;
}

}  // namespace gasell::frame
