#include "runtime/frame/window.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "runtime/frame/filling.h"
#include "runtime/frame/sums.h"
#include "runtime/frame/window_values.h"
#include "runtime/primitives/operator_report.h"

namespace gasell::frame {

Scratch<double> doubles(Engine& engine, const Column& column) {
  if (column.type.has_codes() || (column.type.is_time() && column.type.logical != Logical::timedelta))
    throw Error("DataError", "No numeric types to aggregate");
  Column source = column;
  const ColumnData data = read(engine, source);
  Scratch<double> result(engine, data.count);
  visit_values(column.type, data, [&](auto values) {
    over_rows(engine, data.count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        typename decltype(values)::Type v;
        const double d = values.get(i, v) ? static_cast<double>(v) : std::numeric_limits<double>::quiet_NaN();
        result[i] = std::isinf(d) ? std::numeric_limits<double>::quiet_NaN() : d;
      }
    });
  });
  return result;
}

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// How many equal values came last: a window of equal ones has an exact mean and no variance.
struct Repeated {
  int64_t times = 0;
  double value = kNaN;
  void add(double v) {
    times = v == value ? times + 1 : 1;
    value = v;
  }
};

struct MovingSum {
  int64_t count = 0, negative = 0;
  double sum = 0, lost_adding = 0, lost_removing = 0;
  Repeated repeated;
  static void move(double& sum, double& lost, double v) {
    const double y = v - lost, t = sum + y;
    lost = t - sum - y;
    sum = t;
  }
  void add(double v) {
    ++count;
    negative += std::signbit(v);
    move(sum, lost_adding, v);
    repeated.add(v);
  }
  void remove(double v) {
    --count;
    negative -= std::signbit(v);
    move(sum, lost_removing, -v);
  }
  double total() const { return repeated.times >= count && count > 0 ? repeated.value * static_cast<double>(count) : sum; }
  double mean() const {
    if (count == 0) return kNaN;
    if (repeated.times >= count) return repeated.value;
    const double m = sum / static_cast<double>(count);
    if ((negative == 0 && m < 0) || (negative == count && m > 0)) return 0;
    return m;
  }
};

/// Welford's updates in both directions.
struct MovingVariance {
  int64_t count = 0;
  double mean = 0, squares = 0, lost_adding = 0, lost_removing = 0;
  Repeated repeated;
  void add(double v) {
    ++count;
    repeated.add(v);
    const double before = mean - lost_adding, y = v - lost_adding, t = y - mean;
    lost_adding = t + mean - y;
    mean += t / static_cast<double>(count);
    squares += (v - before) * (v - mean);
  }
  void remove(double v) {
    if (--count == 0) {
      mean = squares = 0;
      return;
    }
    const double before = mean - lost_removing, y = v - lost_removing, t = y - mean;
    lost_removing = t + mean - y;
    mean -= t / static_cast<double>(count);
    squares -= (v - before) * (v - mean);
  }
  double variance(int64_t ddof) const {
    if (count <= ddof) return kNaN;
    if (count == 1 || repeated.times >= count) return 0;
    return std::max(0.0, squares / static_cast<double>(count - ddof));
  }
};

/// The values of a window by their ranks among all values: a Fenwick tree of counts.
class MovingOrder {
 public:
  explicit MovingOrder(const double* values, int64_t count) : rank_(static_cast<size_t>(count), -1) {
    for (int64_t i = 0; i < count; ++i)
      if (values[i] == values[i]) sorted_.push_back(values[i]);
    std::sort(sorted_.begin(), sorted_.end());
    sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
    for (int64_t i = 0; i < count; ++i)
      if (values[i] == values[i])
        rank_[static_cast<size_t>(i)] = static_cast<int32_t>(std::lower_bound(sorted_.begin(), sorted_.end(), values[i]) - sorted_.begin());
    tree_.assign(sorted_.size() + 1, 0);
  }
  void change(int64_t row, int32_t by) {
    const int32_t rank = rank_[static_cast<size_t>(row)];
    if (rank < 0) return;
    size_ += by;
    for (size_t k = static_cast<size_t>(rank) + 1; k < tree_.size(); k += k & (~k + 1)) tree_[k] += by;
  }
  int64_t size() const { return size_; }
  /// How many values are smaller than a row's, and how many are not larger.
  std::pair<int64_t, int64_t> around(int64_t row) const {
    const auto rank = static_cast<size_t>(rank_[static_cast<size_t>(row)]);
    return {before(rank), before(rank + 1)};
  }
  /// The value with `before` values before it.
  double at(int64_t before) const {
    size_t place = 0;
    for (size_t step = std::bit_floor(tree_.size()); step > 0; step /= 2)
      if (place + step < tree_.size() && tree_[place + step] <= before) {
        place += step;
        before -= tree_[place];
      }
    return sorted_[place];
  }

 private:
  int64_t before(size_t rank) const {
    int64_t count = 0;
    for (size_t k = rank; k > 0; k -= k & (~k + 1)) count += tree_[k];
    return count;
  }

  std::vector<double> sorted_;
  std::vector<int32_t> rank_, tree_;
  int64_t size_ = 0;
};

/// Excess kurtosis, unbiased, of a window's values: in two passes, since differences of fourth powers lose too much.
double kurtosis_of(const Scratch<double>& values, int64_t begin, int64_t end, int64_t least) {
  double count = 0, sum = 0;
  for (int64_t k = begin; k < end; ++k)
    if (values[k] == values[k]) ++count, sum += values[k];
  if (count < static_cast<double>(std::max<int64_t>(least, 4))) return kNaN;
  const double mean = sum / count;
  double squares = 0, fourths = 0;
  bool equal = true;
  double first = kNaN;
  for (int64_t k = begin; k < end; ++k) {
    if (values[k] != values[k]) continue;
    if (first != first) first = values[k];
    equal &= values[k] == first;
    const double d = values[k] - mean, square = d * d;
    squares += square;
    fourths += square * square;
  }
  if (equal) return -3;
  const double b = squares / count, d = fourths / count;
  if (b <= 1e-14) return kNaN;
  return ((count * count - 1) * d / (b * b) - 3 * (count - 1) * (count - 1)) / ((count - 2) * (count - 3));
}

/// Moves a window over the rows: start() for an empty one, add(row), remove(row), then result(row of the result).
template <class Start, class Add, class Remove, class Result>
void move_window(Engine& engine, const Windows& windows, const Start& start, const Add& add, const Remove& remove, const Result& result) {
  const int64_t count = windows.begin.size();
  int64_t begin = 0, end = 0;
  start();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t to_begin = windows.begin[i], to_end = windows.end[i];
    if (to_begin >= end || to_begin < begin || to_end < end) {
      start();
      begin = end = to_begin;
    }
    for (; begin < to_begin; ++begin) remove(begin);
    for (; end < to_end; ++end) add(end);
    result(i);
    if ((i & 0xfffff) == 0) check_interrupt(engine);
  }
}

template <class State, class F>
void moments(Engine& engine, const Scratch<double>& values, const Windows& windows, int64_t least, double* to, const F& value) {
  State state;
  move_window(
      engine, windows, [&] { state = State(); },
      [&](int64_t row) {
        if (values[row] == values[row]) state.add(values[row]);
      },
      [&](int64_t row) {
        if (values[row] == values[row]) state.remove(values[row]);
      },
      [&](int64_t i) { to[i] = state.count >= least ? value(state) : kNaN; });
}

/// The best value of each window stands first in a queue of rows, each of them better than all behind it.
template <bool kMax>
void extremes(Engine& engine, const Scratch<double>& values, const Windows& windows, int64_t least, double* to) {
  std::deque<int64_t> rows;
  int64_t there = 0;
  move_window(
      engine, windows,
      [&] {
        rows.clear();
        there = 0;
      },
      [&](int64_t row) {
        const double v = values[row];
        if (v != v) return;
        ++there;
        while (!rows.empty() && (kMax ? values[rows.back()] <= v : values[rows.back()] >= v)) rows.pop_back();
        rows.push_back(row);
      },
      [&](int64_t row) {
        if (values[row] == values[row]) --there;
        if (!rows.empty() && rows.front() == row) rows.pop_front();
      },
      [&](int64_t i) { to[i] = there >= least && !rows.empty() ? values[rows.front()] : kNaN; });
}

/// Moves a window of ordered values: result(row of the result) asks the order.
template <class Result>
void move_order(Engine& engine, MovingOrder& order, const Windows& windows, const Result& result) {
  int64_t from = 0, until = 0;
  move_window(
      engine, windows,
      [&] {
        for (; from < until; ++from) order.change(from, -1);
        from = until = -1;
      },
      [&](int64_t row) {
        if (from < 0) from = row;
        until = row + 1;
        order.change(row, 1);
      },
      [&](int64_t row) {
        from = row + 1;
        order.change(row, -1);
      },
      result);
}

void order_statistics(Engine& engine, const Scratch<double>& values, const Windows& windows, double q, Interpolation interpolation,
                      int64_t least, double* to) {
  MovingOrder order(values.data(), values.size());
  move_order(engine, order, windows, [&](int64_t i) {
    const int64_t n = order.size();
    if (n < least || n == 0) {
      to[i] = kNaN;
      return;
    }
    const double place = q * static_cast<double>(n - 1);
    const auto lower = static_cast<int64_t>(place);
    const double part = place - static_cast<double>(lower), low = order.at(lower);
    if (part == 0 || lower + 1 >= n) {
      to[i] = low;
      return;
    }
    switch (interpolation) {
      case Interpolation::linear: to[i] = low + (order.at(lower + 1) - low) * part; break;
      case Interpolation::lower: to[i] = low; break;
      case Interpolation::higher: to[i] = order.at(lower + 1); break;
      case Interpolation::midpoint: to[i] = (low + order.at(lower + 1)) / 2; break;
      case Interpolation::nearest:
        to[i] = part == 0.5 ? (lower % 2 == 0 ? low : order.at(lower + 1)) : part < 0.5 ? low : order.at(lower + 1);
        break;
    }
  });
}

}  // namespace

Column window_statistic(Engine& engine, const Column& column, const Windows& windows, WindowStatistic what, const WindowOptions& options) {
  const int64_t rows = windows.begin.size();
  OperatorTimer timer("window", rows);
  NewValues result(engine, DType::f64, rows);
  double* const to = result.as<double>();
  const int64_t least = options.min_periods;
  if (what == WindowStatistic::count) {
    Column missing = number_column(graph::constant(Scalar::of_bool(false), {column.size()}));
    if (const NodeRef mask = missing_mask(column)) missing = number_column(mask);
    const ColumnData gone = read(engine, missing);
    int64_t there = 0;
    move_window(
        engine, windows, [&] { there = 0; }, [&](int64_t row) { there += !gone.as<bool>()[row]; },
        [&](int64_t row) { there -= !gone.as<bool>()[row]; },
        [&](int64_t i) { to[i] = windows.end[i] - windows.begin[i] >= least ? static_cast<double>(there) : kNaN; });
    timer.finish(rows);
    return number_column(result.node());
  }
  const Scratch<double> values = doubles(engine, column);
  switch (what) {
    case WindowStatistic::sum: moments<MovingSum>(engine, values, windows, least, to, [](const MovingSum& s) { return s.total(); }); break;
    case WindowStatistic::mean: moments<MovingSum>(engine, values, windows, least, to, [](const MovingSum& s) { return s.mean(); }); break;
    case WindowStatistic::min: extremes<false>(engine, values, windows, least, to); break;
    case WindowStatistic::max: extremes<true>(engine, values, windows, least, to); break;
    case WindowStatistic::median: order_statistics(engine, values, windows, 0.5, Interpolation::midpoint, least, to); break;
    case WindowStatistic::quantile: order_statistics(engine, values, windows, options.quantile, options.interpolation, least, to); break;
    case WindowStatistic::skew: {
      // Recomputed from the values: differences of third powers lose too much.
      const int64_t needed = std::max<int64_t>(least, 3);
      over_rows(
          engine, rows,
          [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              Moments3 m;
              for (int64_t k = windows.begin[i]; k < windows.end[i]; ++k)
                if (values[k] == values[k]) m.add(values[k]);
              to[i] = m.count >= static_cast<double>(needed) ? m.skew() : kNaN;
            }
          },
          1 << 10);
      break;
    }
    case WindowStatistic::kurt:
      over_rows(
          engine, rows,
          [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) to[i] = kurtosis_of(values, windows.begin[i], windows.end[i], least);
          },
          1 << 10);
      break;
    default:
      moments<MovingVariance>(engine, values, windows, std::max<int64_t>(least, 1), to, [&](const MovingVariance& s) {
        if (what == WindowStatistic::sem) return std::sqrt(s.variance(1)) / std::sqrt(static_cast<double>(s.count - options.ddof));
        const double v = s.variance(options.ddof);
        if (what == WindowStatistic::var) return v;
        return std::sqrt(v);
      });
  }
  timer.finish(rows);
  return number_column(result.node());
}

Column window_rank(Engine& engine, const Column& column, const Windows& windows, TiedRank ties, bool ascending, bool of_one,
                   int64_t min_periods) {
  OperatorTimer timer("window", windows.begin.size());
  const Scratch<double> values = doubles(engine, column);
  NewValues result(engine, DType::f64, windows.begin.size());
  double* const to = result.as<double>();
  MovingOrder order(values.data(), values.size());
  move_order(engine, order, windows, [&](int64_t i) {
    const int64_t last = windows.end[i] - 1, count = order.size();
    to[i] = kNaN;
    if (count < std::max<int64_t>(min_periods, 1) || last < windows.begin[i] || values[last] != values[last]) return;
    auto [smaller, not_larger] = order.around(last);
    if (!ascending) std::tie(smaller, not_larger) = std::pair(count - not_larger, count - smaller);
    const auto first = static_cast<double>(smaller + 1), final = static_cast<double>(not_larger);
    const double rank = ties == TiedRank::min ? first : ties == TiedRank::max ? final : (first + final) / 2;
    to[i] = of_one ? rank / static_cast<double>(count) : rank;
  });
  timer.finish(windows.begin.size());
  return number_column(result.node());
}

}  // namespace gasell::frame
