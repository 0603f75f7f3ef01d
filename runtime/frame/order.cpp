#include "runtime/frame/order.h"

#include <algorithm>

#include "runtime/frame/filling.h"
#include "runtime/primitives/distant_rows.h"
#include "runtime/primitives/radix.h"

namespace gasell::frame {
namespace {

struct Run {
  size_t first, last;
};
/// Keys that fit in one number together, the last of them first.
std::vector<Run> runs_of(const RowKeys& keys) {
  std::vector<Run> runs;
  for (size_t last = keys.size(); last > 0; last = runs.back().first) {
    size_t first = last - 1;
    while (first > 0 && keys.fit(first - 1, last)) --first;
    runs.push_back({first, last});
  }
  return runs;
}

/// The numbers of the rows listed.
void encode_listed(Engine& engine, const RowKeys& keys, const Run& run, const Scratch<uint32_t>& rows, const Scratch<uint64_t>& numbers) {
  if (!keys.on_disk(run.first, run.last))
    return over_rows(engine, rows.size(), [&](int64_t begin, int64_t end) {
      const std::vector<int64_t> listed(rows.data() + begin, rows.data() + end);
      keys.encode_rows(0, listed.data(), end - begin, numbers.data() + begin, run.first, run.last);
    });
  const Scratch<uint64_t> all(engine, keys.rows(0));
  over_rows(engine, all.size(), [&](int64_t begin, int64_t end) { keys.encode(0, begin, end, all.data() + begin, run.first, run.last); });
  gather_rows(engine, *all.storage(), all.data(), rows.data(), rows.size(), all.size(), numbers.data());
}

/// A column's group numbers, as a key.
Column group_key(Engine& engine, const Groups& groups) {
  NewValues ids(engine, DType::i32, groups.rows());
  std::copy(groups.ids(), groups.ids() + groups.rows(), ids.as<int32_t>());
  Column key{{Logical::category, DType::i32}, ids.node()};
  key.categories = std::make_shared<Column>(number_column(graph::iota(groups.count(), Scalar::of_int(0), Scalar::of_int(1))));
  return key;
}

/// Writes the ranks of rows that are in order; `same`: a row has the keys of the one before it, groups among them. Blocks of the order are
/// done side by side: each begins in a group some of whose rows stand before, and does the runs of equal rows that begin in it.
void rank_runs(Engine& engine, const RankOptions& options, const Groups* groups, const Scratch<uint32_t>& rows, const Scratch<bool>& same,
               const bool* is_missing, double* to) {
  const int64_t count = rows.size();
  const bool leave = options.missing == MissingRank::missing;
  const auto group_of = [&](int64_t i) -> int64_t { return groups ? groups->ids()[rows[i]] : 0; };
  // Rows without a rank are the last of their group: what is missing is ordered so where it has none.
  const auto has_none = [&](int64_t i) { return group_of(i) < 0 || (leave && is_missing[rows[i]]); };
  const auto begins_group = [&](int64_t i) { return i == 0 || (groups && !same[i] && group_of(i) != group_of(i - 1)); };
  struct Before {
    // Of the group at a block's end: its first row (-1: before the block), its different values in the block.
    int64_t begin = -1, different = 0;
  };
  const int64_t blocks = (count + kRowsATask - 1) / kRowsATask;
  std::vector<Before> before(static_cast<size_t>(blocks + 1));
  over_rows(engine, count, [&](int64_t begin, int64_t end) {
    Before mine;
    for (int64_t i = begin; i < end; ++i) {
      if (i > 0 && same[i]) continue;
      if (begins_group(i)) mine = {i, 0};
      mine.different += !has_none(i);
    }
    before[static_cast<size_t>(begin / kRowsATask + 1)] = mine;
  });
  for (size_t b = 1; b < before.size(); ++b)
    if (before[b].begin < 0) before[b] = {before[b - 1].begin, before[b - 1].different + before[b].different};
  const Scratch<double> whole(engine, groups ? groups->count() : 1);
  over_rows(engine, count, [&](int64_t first, int64_t last) {
    auto [begin, different] = before[static_cast<size_t>(first / kRowsATask)];
    int64_t i = first;
    while (i > 0 && i < last && same[i]) ++i;
    for (int64_t next; i < last; i = next) {
      next = i + 1;
      while (next < count && same[next]) ++next;
      if (begins_group(i)) begin = i, different = 0;
      const bool none = has_none(i);
      if (!none) ++different;
      for (int64_t k = i; k < next; ++k) {
        double rank = std::numeric_limits<double>::quiet_NaN();
        if (!none) {
          switch (options.method) {
            case RankMethod::average: rank = static_cast<double>(2 * (i - begin) + 1 + (next - i)) / 2; break;
            case RankMethod::min: rank = static_cast<double>(i - begin + 1); break;
            case RankMethod::max: rank = static_cast<double>(next - begin); break;
            case RankMethod::first: rank = static_cast<double>(k - begin + 1); break;
            case RankMethod::dense: rank = static_cast<double>(different); break;
          }
        }
        to[rows[k]] = rank;
      }
      if (next < count && !begins_group(next)) continue;
      if (const int64_t group = group_of(i); group >= 0)
        whole[group] = static_cast<double>(options.method == RankMethod::dense ? different : (none ? i : next) - begin);
    }
  });
  if (!options.pct) return;
  over_rows(engine, count, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      if (const int64_t group = groups ? groups->ids()[row] : 0; group >= 0) to[row] /= whole[group];
  });
}

}  // namespace

Scratch<uint32_t> order_rows(Engine& engine, const RowKeys& keys) {
  const int64_t count = keys.rows(0);
  Scratch<uint32_t> rows(engine, count);
  over_rows(engine, count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) rows[i] = static_cast<uint32_t>(i);
  });
  Scratch<uint64_t> numbers(engine, count);
  for (const Run& run : runs_of(keys)) {
    if (run.last == keys.size())
      over_rows(engine, count,
                [&](int64_t begin, int64_t end) { keys.encode(0, begin, end, numbers.data() + begin, run.first, run.last); });
    else
      encode_listed(engine, keys, run, rows, numbers);
    sort_by_keys(engine, numbers, rows, count);
  }
  return rows;
}

Scratch<uint32_t> order_rows(Engine& engine, const std::vector<Column>& columns, const std::vector<KeyOrder>& order) {
  OperatorTimer timer("sort", columns[0].size());
  Scratch<uint32_t> rows = order_rows(engine, RowKeys(engine, {columns}, MissingKeys::kept, true, order));
  timer.finish(rows.size(), counted(columns.size(), "key"));
  return rows;
}

Scratch<uint32_t> first_rows(Engine& engine, const std::vector<Column>& columns, const std::vector<KeyOrder>& order, int64_t count,
                             bool last_first) {
  const RowKeys keys(engine, {columns}, MissingKeys::kept, true, order);
  const int64_t rows = keys.rows(0);
  count = std::clamp<int64_t>(count, 0, rows);
  if (keys.fit() && count <= kMostFirstRows) return first_rows(engine, keys, count, last_first);
  // Stable, so of equal rows the first comes first; for the last one first the rows are taken from behind.
  std::vector<Column> turned;
  for (const Column& c : columns) turned.push_back(last_first ? slice(engine, c, rows - 1, -1, -1) : c);
  const Scratch<uint32_t> all = last_first ? order_rows(engine, turned, order) : order_rows(engine, keys);
  Scratch<uint32_t> result(engine, count);
  for (int64_t i = 0; i < count; ++i) result[i] = last_first ? static_cast<uint32_t>(rows - 1) - all[i] : all[i];
  return result;
}

Scratch<uint32_t> first_rows(Engine& engine, const RowKeys& keys, int64_t count, bool last_first) {
  const int64_t rows = keys.rows(0);
  count = std::clamp<int64_t>(count, 0, rows);
  Scratch<uint32_t> result(engine, count);
  if (count == 0) return result;
  struct Candidate {
    uint64_t number;
    uint32_t row;
  };
  const auto before = [last_first](const Candidate& a, const Candidate& b) {
    return a.number != b.number ? a.number < b.number : last_first ? a.row > b.row : a.row < b.row;
  };
  // Each part of the rows gives its first ones.
  const int64_t parts = std::clamp<int64_t>(rows / (1 << 18), 1, 64);
  std::vector<std::vector<Candidate>> found(static_cast<size_t>(parts));
  in_parallel(parts, [&](int64_t part) {
    check_interrupt(engine);
    std::vector<Candidate>& mine = found[static_cast<size_t>(part)];
    uint64_t numbers[1024];
    uint64_t worst = UINT64_MAX;  // later rows must not be behind it
    for (int64_t begin = rows * part / parts, stop = rows * (part + 1) / parts; begin < stop; begin += 1024) {
      const int64_t end = std::min(stop, begin + 1024);
      keys.encode(0, begin, end, numbers);
      for (int64_t i = begin; i < end; ++i)
        if (numbers[i - begin] <= worst) mine.push_back({numbers[i - begin], static_cast<uint32_t>(i)});
      if (static_cast<int64_t>(mine.size()) >= 2 * count + 1024) {
        std::nth_element(mine.begin(), mine.begin() + count - 1, mine.end(), before);
        mine.resize(static_cast<size_t>(count));
        worst = mine.back().number;
      }
    }
  });
  std::vector<Candidate> all;
  for (const auto& mine : found) all.insert(all.end(), mine.begin(), mine.end());
  std::partial_sort(all.begin(), all.begin() + count, all.end(), before);
  for (int64_t i = 0; i < count; ++i) result[i] = all[static_cast<size_t>(i)].row;
  return result;
}

Column ranks(Engine& engine, const Column& column, const RankOptions& options, const Groups* groups) {
  std::vector<Column> columns{column};
  std::vector<KeyOrder> order{{options.descending, options.missing == MissingRank::top}};
  if (groups) {
    columns.insert(columns.begin(), group_key(engine, *groups));
    order.insert(order.begin(), KeyOrder{});
  }
  const RowKeys keys(engine, {columns}, MissingKeys::kept, true, order);
  const Scratch<uint32_t> rows = order_rows(engine, keys);
  const int64_t count = rows.size();
  // Whether each row has the keys of the one before it in the order.
  const Scratch<bool> same(engine, count);
  fill(engine, same, true);
  const Scratch<uint64_t> numbers(engine, count);
  for (const Run& run : runs_of(keys)) {
    encode_listed(engine, keys, run, rows, numbers);
    over_rows(engine, count, [&](int64_t begin, int64_t end) {
      for (int64_t i = std::max<int64_t>(begin, 1); i < end; ++i) same[i] &= numbers[i] == numbers[i - 1];
    });
  }
  Column missing = number_column(graph::constant(Scalar::of_bool(false), {count}));
  if (const NodeRef mask = missing_mask(column)) missing = number_column(mask);
  const ColumnData is_missing = read(engine, missing);
  NewValues values(engine, DType::f64, count);
  rank_runs(engine, options, groups, rows, same, is_missing.as<bool>(), values.as<double>());
  return number_column(values.node());
}

Column duplicated(Engine& engine, const std::vector<Column>& columns, Keep keep) {
  const GroupsRef groups = group_rows(engine, columns, GroupOrder::any, MissingKeys::kept);
  const int64_t count = groups->rows();
  const int32_t* const ids = groups->ids();
  NewValues flags(engine, DType::boolean, count);
  bool* const to = flags.as<bool>();
  if (keep == Keep::first) {
    over_rows(engine, count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = groups->first_rows()[ids[i]] != i;
    });
  } else {
    const Scratch<int64_t> seen(engine, groups->count());  // last: the last row; none: the number of rows
    fill(engine, seen, int64_t{0});
    for (int64_t i = 0; i < count; ++i) seen[ids[i]] = keep == Keep::last ? i : seen[ids[i]] + 1;
    over_rows(engine, count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = keep == Keep::last ? seen[ids[i]] != i : seen[ids[i]] > 1;
    });
  }
  return number_column(flags.node());
}

}  // namespace gasell::frame
