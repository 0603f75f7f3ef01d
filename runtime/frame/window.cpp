#include "runtime/frame/window.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <numeric>

#include "runtime/frame/filling.h"
#include "runtime/frame/sums.h"

namespace gasell::frame {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The values as doubles; what is missing or infinite is NaN.
Scratch<double> doubles(Engine& engine, const Column& column) {
  if (column.type.has_codes() || column.type.logical == Logical::datetime) throw Error("DataError", "No numeric types to aggregate");
  Column source = column;
  const ColumnData data = read(engine, source);
  Scratch<double> result(engine, data.count);
  visit_values(column.type, data, [&](auto values) {
    over_rows(engine, data.count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        typename decltype(values)::Type v;
        const double d = values.get(i, v) ? static_cast<double>(v) : kNaN;
        result[i] = std::isinf(d) ? kNaN : d;
      }
    });
  });
  return result;
}

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
  std::vector<double> sorted_;
  std::vector<int32_t> rank_, tree_;
  int64_t size_ = 0;
};

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

void order_statistics(Engine& engine, const Scratch<double>& values, const Windows& windows, double q, Interpolation interpolation,
                      int64_t least, double* to) {
  MovingOrder order(values.data(), values.size());
  int64_t from = 0, until = 0;
  const auto result = [&](int64_t i) {
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
  };
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

}  // namespace

Windows windows_by_count(Engine& engine, int64_t rows, int64_t size, bool center, Closed closed) {
  Windows result{Scratch<int64_t>(engine, rows), Scratch<int64_t>(engine, rows)};
  const int64_t ahead = center ? (size - 1) / 2 : 0;
  const int64_t earlier = closed == Closed::left || closed == Closed::both ? 1 : 0,
                shorter = closed == Closed::left || closed == Closed::neither ? 1 : 0;
  over_rows(engine, rows, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t stop = i + 1 + ahead;
      result.begin[i] = std::clamp<int64_t>(stop - size - earlier, 0, rows);
      result.end[i] = std::clamp<int64_t>(stop - shorter, 0, rows);
    }
  });
  return result;
}

Windows windows_by_time(Engine& engine, const Column& times, int64_t size, bool center, Closed closed) {
  Column source = times;
  const ColumnData data = read(engine, source);
  const int64_t rows = data.count;
  const int64_t* const at = data.as<int64_t>();
  bool ascending = true, descending = true;
  for (int64_t i = 0; i < rows; ++i) {
    if (at[i] == kNotATime) throw Error("ValueError", "index values must not have NaT");
    if (i > 0) {
      ascending &= at[i] >= at[i - 1];
      descending &= at[i] <= at[i - 1];
    }
  }
  if (!ascending && !descending) throw Error("ValueError", "index must be monotonic", "sort the rows by their times");
  const int64_t sign = ascending ? 1 : -1;
  const auto time = [&](int64_t i) { return sign * at[i]; };
  Windows result{Scratch<int64_t>(engine, rows), Scratch<int64_t>(engine, rows)};
  const bool with_left = closed == Closed::left || closed == Closed::both, with_right = closed == Closed::right || closed == Closed::both;
  const int64_t back = center ? size / 2 : size;
  int64_t first = 0, last = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t bound = time(i) - back;
    while (first < i && (with_left ? time(first) < bound : time(first) <= bound)) ++first;
    result.begin[i] = first;
    if (center) {
      const int64_t until = time(i) + size / 2;
      while (last < rows && (with_right ? time(last) <= until : time(last) < until)) ++last;
    } else
      last = with_right ? i + 1 : i;
    result.end[i] = std::max(first, last);
  }
  return result;
}

Windows windows_from_start(Engine& engine, int64_t rows) {
  Windows result{Scratch<int64_t>(engine, rows), Scratch<int64_t>(engine, rows)};
  for (int64_t i = 0; i < rows; ++i) {
    result.begin[i] = 0;
    result.end[i] = i + 1;
  }
  return result;
}

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

Column decayed(Engine& engine, const Column& column, DecayStatistic what, const DecayOptions& options) {
  OperatorTimer timer("window", column.size());
  const Scratch<double> values = doubles(engine, column);
  const int64_t rows = values.size(), least = std::max<int64_t>(options.min_periods, 1);
  NewValues result(engine, DType::f64, rows);
  double* const to = result.as<double>();
  const double factor = 1 - options.alpha, fresh = options.adjust ? 1 : options.alpha;
  double mean = kNaN, covariance = 0, weight = 1, weights = 1, squared_weights = 1, sum = kNaN;
  int64_t count = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const double v = values[i];
    const bool there = v == v;
    count += there;
    if (mean == mean) {
      if (there || !options.ignore_missing) {
        weights *= factor;
        squared_weights *= factor * factor;
        weight *= factor;
        sum *= factor;
      }
      if (there) {
        const double before = mean;
        if (mean != v) mean = (weight * before + fresh * v) / (weight + fresh);
        covariance = (weight * (covariance + (before - mean) * (before - mean)) + fresh * ((v - mean) * (v - mean))) / (weight + fresh);
        sum += v;
        weights += fresh;
        squared_weights += fresh * fresh;
        weight += fresh;
        if (!options.adjust) {
          weights /= weight;
          squared_weights /= weight * weight;
          weight = 1;
        }
      }
    } else if (there)
      mean = sum = v;
    if (count < least) {
      to[i] = kNaN;
      continue;
    }
    if (what == DecayStatistic::mean)
      to[i] = mean;
    else if (what == DecayStatistic::sum)
      to[i] = sum;
    else {
      double variance = covariance;
      if (!options.bias) {
        const double all = weights * weights, rest = all - squared_weights;
        variance = rest > 0 ? all / rest * covariance : kNaN;
      }
      to[i] = what == DecayStatistic::std ? std::sqrt(variance) : variance;
    }
  }
  timer.finish(rows);
  return number_column(result.node());
}

}  // namespace gasell::frame
