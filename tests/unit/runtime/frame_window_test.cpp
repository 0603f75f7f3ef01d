#include "runtime/frame/window.h"

#include <algorithm>

#include "catch.h"
#include "unit/runtime/frame_random.h"

using namespace frame_test;

namespace {

double expected(WindowStatistic what, std::vector<double> v) {
  const auto n = static_cast<double>(v.size());
  double sum = 0, squares = 0;
  for (const double x : v) sum += x;
  for (const double x : v) squares += (x - sum / n) * (x - sum / n);
  std::sort(v.begin(), v.end());
  switch (what) {
    case WindowStatistic::sum: return sum;
    case WindowStatistic::mean: return sum / n;
    case WindowStatistic::min: return v.front();
    case WindowStatistic::max: return v.back();
    case WindowStatistic::median: return (v[(v.size() - 1) / 2] + v[v.size() / 2]) / 2;
    case WindowStatistic::var: return squares / (n - 1);
    default: {
      const double place = 0.3 * (n - 1);
      const auto low = static_cast<size_t>(place);
      return v[low] + (low + 1 < v.size() ? (v[low + 1] - v[low]) * (place - static_cast<double>(low)) : 0);
    }
  }
}

}  // namespace

TEST_CASE("statistics of windows are as defined") {
  std::mt19937_64 random(41);
  for (int trial = 0; trial < 60; ++trial) {
    const int64_t n = static_cast<int64_t>(random() % 400), size = static_cast<int64_t>(random() % 20);
    const Random value = random_column(random() % 2 ? Sort::f64 : Sort::nullable_i64, n, 30, 0.2, random);
    const Windows windows = random() % 4 == 0 ? windows_from_start(engine(), n)
                                              : windows_by_count(engine(), n, size, random() % 2, static_cast<Closed>(random() % 4));
    WindowOptions options;
    options.min_periods = 1 + static_cast<int64_t>(random() % 3);
    options.quantile = 0.3;
    for (const WindowStatistic what : {WindowStatistic::sum, WindowStatistic::mean, WindowStatistic::min, WindowStatistic::max,
                                       WindowStatistic::median, WindowStatistic::var, WindowStatistic::quantile}) {
      const auto got = numbers(window_statistic(engine(), value.column, windows, what, options));
      for (int64_t i = 0; i < n; ++i) {
        std::vector<double> v;
        for (int64_t k = windows.begin[i]; k < windows.end[i]; ++k)
          if (const auto& x = value.plain.number[static_cast<size_t>(k)]) v.push_back(*x);
        const auto& result = got[static_cast<size_t>(i)];
        if (static_cast<int64_t>(v.size()) < options.min_periods || (what == WindowStatistic::var && v.size() < 2)) {
          REQUIRE(!result);
          continue;
        }
        REQUIRE(result);
        REQUIRE(std::fabs(*result - expected(what, v)) < 1e-9);
      }
    }
  }
}

TEST_CASE("windows of time hold what is less than their size before") {
  const Column times{datetime_type(), node_of(std::vector<int64_t>{0, 2, 3, 9, 9, 10})};
  const Windows windows = windows_by_time(engine(), times, 3, false, Closed::right);
  CHECK(std::vector<int64_t>(windows.begin.begin(), windows.begin.end()) == std::vector<int64_t>{0, 0, 1, 3, 3, 3});
  CHECK(std::vector<int64_t>(windows.end.begin(), windows.end.end()) == std::vector<int64_t>{1, 2, 3, 4, 5, 6});
  const Column disordered{datetime_type(), node_of(std::vector<int64_t>{0, 2, 1})};
  CHECK_THROWS(windows_by_time(engine(), disordered, 3, false, Closed::right));
}
