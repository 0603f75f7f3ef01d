#include "runtime/frame/join.h"

#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "runtime/frame/dictionary.h"
#include "runtime/frame/filling.h"
#include "runtime/frame/order.h"
#include "runtime/primitives/distant_rows.h"

namespace gasell::frame {
namespace {

/// The matches of a row: places in the list of the other side's rows.
struct Span {
  uint32_t begin, end;
};

/// Of `count` rows each with its matches, span_of(row), or those that have some (`inner`). On the right are `rows` of the places; null: the
/// places.
template <class SpanOf>
JoinedRows matched(Engine& engine, int64_t count, const SpanOf& span_of, const uint32_t* rows, bool inner) {
  const int64_t parts = std::max<int64_t>(1, (count + kRowsATask - 1) / kRowsATask);
  std::vector<int64_t> offsets(static_cast<size_t>(parts + 1));
  const auto over = [&](int64_t part, const auto& f) {
    for (int64_t i = part * kRowsATask, end = std::min(count, (part + 1) * kRowsATask); i < end; ++i) f(i, span_of(i));
  };
  std::atomic<bool> missing = false;
  in_parallel(parts, [&](int64_t part) {
    check_interrupt(engine);
    int64_t found = 0;
    bool any_missing = false;
    over(part, [&](int64_t, const Span& span) {
      const uint32_t matches = span.end - span.begin;
      any_missing |= matches == 0;
      found += matches;
      if (!inner && matches == 0) ++found;
    });
    offsets[static_cast<size_t>(part)] = found;
    if (any_missing) missing = true;
  });
  int64_t total = 0;
  for (int64_t& o : offsets) o = std::exchange(total, total + o);
  JoinedRows result{Scratch<int64_t>(engine, total), Scratch<int64_t>(engine, total), false, !inner && missing};
  in_parallel(parts, [&](int64_t part) {
    check_interrupt(engine);
    int64_t at = offsets[static_cast<size_t>(part)];
    over(part, [&](int64_t i, const Span& span) {
      if (span.begin == span.end && !inner) {
        result.left[at] = i;
        result.right[at++] = -1;
      }
      for (uint32_t k = span.begin; k < span.end; ++k) {
        result.left[at] = i;
        result.right[at++] = rows ? rows[k] : k;
      }
    });
  });
  return result;
}

constexpr uint32_t kNoRow = UINT32_MAX;

/// The row of each code; nothing where a code has several, or the rows are too many to be used at random.
Scratch<uint32_t> rows_of_codes(Engine& engine, const int32_t* codes, int64_t count, int64_t bound) {
  Scratch<uint32_t> rows(engine, bound);
  if (is_distant(engine, *rows.storage(), rows.data(), bound * int64_t{sizeof(uint32_t)})) return {};
  fill(engine, rows, kNoRow);
  std::atomic<bool> several = false;
  over_rows(engine, count, [&](int64_t begin, int64_t end) {
    if (several.load(std::memory_order_relaxed)) return;
    bool again = false;
    for (int64_t i = begin; i < end; ++i)
      again |= std::atomic_ref<uint32_t>(rows[codes[i]]).exchange(static_cast<uint32_t>(i), std::memory_order_relaxed) != kNoRow;
    if (again) several = true;
  });
  return several ? Scratch<uint32_t>() : std::move(rows);
}

/// For each row of `from` its match, row_of[code]: all rows of `from`, or those that have one (`inner`).
JoinedRows look_up_unique(Engine& engine, const int32_t* from, int64_t count, const Scratch<uint32_t>& row_of, bool inner) {
  const int64_t parts = std::max<int64_t>(1, (count + kRowsATask - 1) / kRowsATask);
  std::vector<int64_t> offsets(static_cast<size_t>(parts + 1));
  const Scratch<uint32_t> matches(engine, count);
  std::atomic<bool> missing = false;
  in_parallel(parts, [&](int64_t part) {
    check_interrupt(engine);
    int64_t found = 0;
    const int64_t begin = part * kRowsATask, end = std::min(count, begin + kRowsATask);
    for (int64_t i = begin; i < end; ++i) {
      matches[i] = row_of[from[i]];
      found += matches[i] != kNoRow;
    }
    offsets[static_cast<size_t>(part)] = inner ? found : end - begin;
    if (found < end - begin) missing = true;
  });
  int64_t total = 0;
  for (int64_t& o : offsets) o = std::exchange(total, total + o);
  JoinedRows result{Scratch<int64_t>(engine, total), Scratch<int64_t>(engine, total), false, !inner && missing};
  in_parallel(parts, [&](int64_t part) {
    int64_t at = offsets[static_cast<size_t>(part)];
    for (int64_t i = part * kRowsATask, end = std::min(count, i + kRowsATask); i < end; ++i) {
      const uint32_t row = matches[i];
      if (inner && row == kNoRow) continue;
      result.left[at] = i;
      result.right[at++] = row == kNoRow ? -1 : int64_t{row};
    }
  });
  return result;
}

/// For each row of `from` its matches in `to`: all rows of `from`, or those that have some (`inner`).
JoinedRows look_up(Engine& engine, const int32_t* from, int64_t from_count, const int32_t* to, int64_t to_count, int64_t bound,
                   bool inner) {
  if (const Scratch<uint32_t> row_of = rows_of_codes(engine, to, to_count, bound))
    return look_up_unique(engine, from, from_count, row_of, inner);
  RowLists<uint32_t> table = list_rows<uint32_t>(engine, to, to_count, bound);
  const uint32_t* const starts = table.starts.data();
  const bool distant_rows = is_distant(engine, *table.rows.storage(), table.rows.data(), to_count * int64_t{sizeof(uint32_t)});
  const uint32_t* const rows = distant_rows ? nullptr : table.rows.data();
  JoinedRows result;
  if (is_distant(engine, *table.starts.storage(), starts, bound * int64_t{sizeof(Span)})) {
    const Scratch<Span> of_codes(engine, bound), of_rows(engine, from_count);
    over_rows(engine, bound, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) of_codes[c] = {starts[c], starts[c + 1]};
    });
    DistantRows(engine, from, from_count, bound, sizeof(Span)).gather(of_codes.data(), of_rows.data(), sizeof(Span));
    result = matched(engine, from_count, [&](int64_t i) { return of_rows[i]; }, rows, inner);
  } else {
    result = matched(engine, from_count, [&](int64_t i) { return Span{starts[from[i]], starts[from[i] + 1]}; }, rows, inner);
  }
  if (!distant_rows) return result;
  const Scratch<uint32_t> numbers(engine, result.count());
  DistantRows(engine, result.right.data(), result.count(), to_count, sizeof(uint32_t))
      .gather(table.rows.data(), numbers.data(), sizeof(uint32_t));
  over_rows(engine, result.count(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) result.right[i] = result.right[i] < 0 ? -1 : int64_t{numbers[i]};
  });
  return result;
}

JoinedRows swapped(JoinedRows rows) {
  std::swap(rows.left, rows.right);
  std::swap(rows.left_missing, rows.right_missing);
  return rows;
}

/// The groups in the order that sorted joins give their keys: times that are missing stand before the others, other missing keys behind.
Scratch<uint32_t> merged_order(Engine& engine, const std::vector<Column>& columns, const Groups& groups) {
  std::vector<KeyOrder> order;
  for (const Column& c : columns) order.push_back({false, c.type.is_time()});
  return order_rows(engine, RowKeys(engine, {take(engine, columns, groups.first_rows(), groups.count())}, MissingKeys::kept, true, order));
}

/// Key by key in their order, left rows first: inner, left or outer.
JoinedRows join_sorted(Engine& engine, const std::vector<Column>& left, const std::vector<Column>& right, Join how) {
  std::vector<Column> both;
  for (size_t k = 0; k < left.size(); ++k) both.push_back(concatenate(engine, {left[k], right[k]}));
  const int64_t left_count = left[0].size(), right_count = right[0].size();
  const GroupsRef groups = group_rows(engine, both, GroupOrder::any, MissingKeys::kept);
  const Scratch<uint32_t> order = merged_order(engine, both, *groups);
  const RowLists<uint32_t> lefts = list_rows<uint32_t>(engine, groups->ids(), left_count, groups->count());
  const RowLists<uint32_t> rights = list_rows<uint32_t>(engine, groups->ids() + left_count, right_count, groups->count());
  const bool all_left = how == Join::left || how == Join::outer, all_right = how == Join::outer;
  const auto pairs = [&](int64_t g, const auto& f) {
    const uint32_t l = lefts.starts[g], l_end = lefts.starts[g + 1], r = rights.starts[g], r_end = rights.starts[g + 1];
    if (r == r_end && all_left)
      for (uint32_t i = l; i < l_end; ++i) f(int64_t{lefts.rows[i]}, int64_t{-1});
    if (l == l_end && all_right)
      for (uint32_t k = r; k < r_end; ++k) f(int64_t{-1}, int64_t{rights.rows[k]});
    for (uint32_t i = l; i < l_end; ++i)
      for (uint32_t k = r; k < r_end; ++k) f(int64_t{lefts.rows[i]}, int64_t{rights.rows[k]});
  };
  int64_t total = 0;
  for (int64_t g = 0; g < groups->count(); ++g) {
    const int64_t l = lefts.starts[g + 1] - lefts.starts[g], r = rights.starts[g + 1] - rights.starts[g];
    total += l > 0 && r > 0 ? l * r : (all_left ? l : 0) + (all_right ? r : 0);
  }
  JoinedRows result{Scratch<int64_t>(engine, total), Scratch<int64_t>(engine, total)};
  int64_t at = 0;
  for (const uint32_t g : order)
    pairs(g, [&](int64_t l, int64_t r) {
      result.left_missing |= l < 0;
      result.right_missing |= r < 0;
      result.left[at] = l;
      result.right[at++] = r;
    });
  return result;
}

/// What a category's codes stand for.
Column decoded(Engine& engine, const Column& column) {
  Column source = column;
  const ColumnData codes = read(engine, source);
  const Scratch<int64_t> rows(engine, codes.count);
  for (int64_t i = 0; i < codes.count; ++i) rows[i] = codes.valid && !codes.valid[i] ? -1 : codes.as<int32_t>()[i];
  return take(engine, *column.categories, rows.data(), codes.count, true);
}

/// Whether it has no categories, so that all is missing.
bool is_nothing(const Column& column) { return column.type.logical == Logical::category && column.categories->size() == 0; }

/// A column of the type of another one in which all is missing.
Column nothing_like(Engine& engine, const Column& other, int64_t count) {
  const Scratch<int64_t> rows(engine, count);
  std::fill(rows.begin(), rows.end(), -1);
  return take(engine, other, rows.data(), count, true);
}

}  // namespace

void match_types(Engine& engine, Column& left, Column& right, const std::string& name) {
  const bool differ = left.type.logical == Logical::category && left.categories != right.categories;
  const bool left_is_nothing = differ && is_nothing(left), right_is_nothing = is_nothing(right) && left.categories != right.categories;
  if (left.type.logical == Logical::category && left.categories != right.categories) left = decoded(engine, left);
  if (right.type.logical == Logical::category && left.categories != right.categories) right = decoded(engine, right);
  if (left_is_nothing)
    left = nothing_like(engine, right, left.size());
  else if (right_is_nothing)
    right = nothing_like(engine, left, right.size());
  const Logical a = left.type.logical, b = right.type.logical;
  const auto refuse = [&] {
    throw Error("ValueError",
                fmt::format("You are trying to merge on {} and {} columns for key '{}'. If you wish to proceed you should use pd.concat",
                            dtype_name(engine, left), dtype_name(engine, right), name));
  };
  if (a != b || (a == Logical::period && left.type != right.type) || left.type.is_interval() != right.type.is_interval() ||
      (a == Logical::datetime && left.type.zone.empty() != right.type.zone.empty()))
    refuse();
  if (a == Logical::text) {
    std::vector<Column> common = with_common_texts(engine, {left, right});
    left = common[0];
    right = common[1];
  }
  if (a != Logical::number || left.type.dtype == right.type.dtype) return;
  const DType x = left.type.dtype, y = right.type.dtype;
  DType common = DType::i64;
  if (is_float(x) || is_float(y) || ((x == DType::u64 || y == DType::u64) && kind(x) != kind(y)))
    common = DType::f64;
  else if (x == DType::u64 || y == DType::u64)
    common = DType::u64;
  for (Column* c : {&left, &right}) {
    c->values = graph::cast(c->values, common);
    c->type.dtype = common;
  }
}

namespace {

JoinedRows joined(Engine& engine, const std::vector<Column>& left, const std::vector<Column>& right, Join how, bool sorted) {
  if (sorted && how == Join::right) return swapped(join_sorted(engine, right, left, Join::left));
  if (sorted || how == Join::outer) return join_sorted(engine, left, right, how);
  const int64_t left_count = left[0].size(), right_count = right[0].size();
  const RowCodes codes = number_rows(engine, RowKeys(engine, {left, right}, MissingKeys::kept, false));
  const int32_t* const lefts = codes.codes.data();
  const int32_t* const rights = lefts + left_count;
  if (how == Join::right) return swapped(look_up(engine, rights, right_count, lefts, left_count, codes.bound, false));
  return look_up(engine, lefts, left_count, rights, right_count, codes.bound, how == Join::inner);
}

}  // namespace

JoinedRows join_rows(Engine& engine, const std::vector<Column>& left, const std::vector<Column>& right, Join how, bool sorted) {
  OperatorTimer timer("join", left[0].size() + right[0].size());
  JoinedRows rows = joined(engine, left, right, how, sorted);
  timer.finish(rows.count(), counted(left.size(), "key"));
  return rows;
}

JoinedRows cross_rows(Engine& engine, int64_t left, int64_t right) {
  JoinedRows result{Scratch<int64_t>(engine, left * right), Scratch<int64_t>(engine, left * right)};
  over_rows(engine, left * right, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      result.left[i] = i / right;
      result.right[i] = i % right;
    }
  });
  return result;
}

Column has_match(Engine& engine, const std::vector<Column>& left, const std::vector<Column>& right) {
  const int64_t left_count = left[0].size(), right_count = right[0].size();
  const RowCodes codes = number_rows(engine, RowKeys(engine, {left, right}, MissingKeys::kept, false));
  const Scratch<bool> there(engine, std::max<int64_t>(codes.bound, 1));
  fill(engine, there, false);
  over_rows(engine, right_count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) std::atomic_ref<bool>(there[codes.codes[left_count + i]]).store(true, std::memory_order_relaxed);
  });
  return filled<bool>(engine, number_type(DType::boolean), left_count, [&](int64_t i, bool& out) {
    out = there[codes.codes[i]];
    return true;
  });
}

Scratch<int64_t> asof_rows(Engine& engine, const Column& left_on, const Column& right_on, const std::vector<Column>& left_by,
                           const std::vector<Column>& right_by, const AsofOptions& options) {
  Column left = left_on, right = right_on;
  match_types(engine, left, right, "on");
  const ColumnData l = read(engine, left), r = read(engine, right);
  RowCodes by;
  if (!left_by.empty()) by = number_rows(engine, RowKeys(engine, {left_by, right_by}, MissingKeys::kept, false));
  const auto left_code = [&](int64_t i) { return left_by.empty() ? 0 : by.codes[i]; };
  const auto right_code = [&](int64_t i) { return left_by.empty() ? 0 : by.codes[l.count + i]; };
  Scratch<int64_t> result(engine, l.count);
  visit_values(left.type, l, [&](auto lefts) {
    using V = decltype(lefts);
    const V rights{r.as<typename V::Type>(), r.valid};
    const auto check = [&](const V& values, int64_t count, const char* side) {
      for (int64_t i = 0; i < count; ++i) {
        typename V::Type v;
        if (!values.get(i, v))
          throw Error("ValueError", fmt::format("Merge keys contain null values on {} side", side), "drop the rows without a key");
        if (i > 0 && v < values.values[i - 1])
          throw Error("ValueError", fmt::format("{} keys must be sorted", side), "sort both frames by the key");
      }
    };
    check(lefts, l.count, "left");
    check(rights, r.count, "right");
    const auto near = [&](auto a, auto b) {
      return !options.tolerance || static_cast<double>(a > b ? a - b : b - a) <= *options.tolerance;
    };
    const Scratch<int64_t> last(engine, std::max<int64_t>(by.bound, 1));
    const auto before = [&](const Scratch<int64_t>& to) {
      fill(engine, last, int64_t{-1});
      int64_t k = 0;
      for (int64_t i = 0; i < l.count; ++i) {
        const auto on = lefts.values[i];
        for (; k < r.count && (options.allow_exact ? rights.values[k] <= on : rights.values[k] < on); ++k) last[right_code(k)] = k;
        const int64_t found = last[left_code(i)];
        to[i] = found >= 0 && near(on, rights.values[found]) ? found : -1;
      }
    };
    const auto behind = [&](const Scratch<int64_t>& to) {
      fill(engine, last, int64_t{-1});
      int64_t k = r.count - 1;
      for (int64_t i = l.count - 1; i >= 0; --i) {
        const auto on = lefts.values[i];
        for (; k >= 0 && (options.allow_exact ? rights.values[k] >= on : rights.values[k] > on); --k) last[right_code(k)] = k;
        const int64_t found = last[left_code(i)];
        to[i] = found >= 0 && near(on, rights.values[found]) ? found : -1;
      }
    };
    if (options.direction == AsofDirection::backward) return before(result);
    if (options.direction == AsofDirection::forward) return behind(result);
    const Scratch<int64_t> later(engine, l.count);
    before(result);
    behind(later);
    for (int64_t i = 0; i < l.count; ++i) {
      if (later[i] < 0) continue;
      const auto on = lefts.values[i];
      if (result[i] < 0 || static_cast<double>(rights.values[later[i]] - on) < static_cast<double>(on - rights.values[result[i]]))
        result[i] = later[i];
    }
  });
  return result;
}

}  // namespace gasell::frame
