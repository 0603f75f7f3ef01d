#include "runtime/frame/aggregate.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "catch.h"
#include "unit/runtime/frame_random.h"

using namespace frame_test;

namespace {

using Found = std::vector<std::pair<int64_t, double>>;  // rows and values of a group

/// An aggregate by its definition; nothing: missing.
std::optional<double> expected(Aggregate how, const Found& found, int64_t size, double q) {
  std::vector<double> v;
  for (const auto& [row, value] : found) v.push_back(value);
  const auto n = static_cast<double>(v.size());
  double sum = 0, prod = 1;
  for (const double x : v) sum += x, prod *= x;
  const double mean = sum / n;
  double squares = 0, cubes = 0;
  for (const double x : v) squares += (x - mean) * (x - mean), cubes += std::pow(x - mean, 3);
  std::vector<double> sorted = v;
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](auto better) {
    size_t best = 0;
    for (size_t i = 1; i < v.size(); ++i)
      if (better(v[i], v[best])) best = i;
    return best;
  };
  const auto quantile = [&](double part) {
    const double place = part * (n - 1);
    const auto low = static_cast<size_t>(place);
    return sorted[low] + (low + 1 < sorted.size() ? (sorted[low + 1] - sorted[low]) * (place - static_cast<double>(low)) : 0);
  };
  switch (how) {
    case Aggregate::size: return static_cast<double>(size);
    case Aggregate::count: return n;
    case Aggregate::sum: return sum;
    case Aggregate::prod: return prod;
    case Aggregate::nunique: return static_cast<double>(std::set<double>(v.begin(), v.end()).size());
    case Aggregate::any: return std::any_of(v.begin(), v.end(), [](double x) { return x != 0; });
    case Aggregate::all: return std::all_of(v.begin(), v.end(), [](double x) { return x != 0; });
    default: break;
  }
  if (v.empty()) return {};
  switch (how) {
    case Aggregate::mean: return mean;
    case Aggregate::min: return sorted.front();
    case Aggregate::max: return sorted.back();
    case Aggregate::first: return v.front();
    case Aggregate::last: return v.back();
    case Aggregate::idxmin: return static_cast<double>(found[at(std::less<>())].first);
    case Aggregate::idxmax: return static_cast<double>(found[at(std::greater<>())].first);
    case Aggregate::median: return quantile(0.5);
    case Aggregate::quantile: return quantile(q);
    case Aggregate::skew:
      if (n < 3) return {};
      if (squares < 1e-14) return 0;
      return n * std::sqrt(n - 1) / (n - 2) * cubes / std::pow(squares, 1.5);
    default: break;
  }
  if (n < 2) return {};
  const double var = squares / (n - 1);
  return how == Aggregate::var ? var : how == Aggregate::std ? std::sqrt(var) : std::sqrt(var) / std::sqrt(n);
}

constexpr Aggregate kAll[] = {Aggregate::size,   Aggregate::count,  Aggregate::sum,    Aggregate::prod,     Aggregate::mean,
                              Aggregate::min,    Aggregate::max,    Aggregate::first,  Aggregate::last,     Aggregate::var,
                              Aggregate::std,    Aggregate::sem,    Aggregate::skew,   Aggregate::any,      Aggregate::all,
                              Aggregate::idxmin, Aggregate::idxmax, Aggregate::median, Aggregate::quantile, Aggregate::nunique};

bool defined(Aggregate how, const ColumnType& type) {
  const bool rows = how == Aggregate::size || how == Aggregate::count || how == Aggregate::first || how == Aggregate::last ||
                    how == Aggregate::min || how == Aggregate::max || how == Aggregate::idxmin || how == Aggregate::idxmax ||
                    how == Aggregate::nunique;
  if (type.has_codes()) return rows;
  if (type.is_time())
    return rows || how == Aggregate::mean || how == Aggregate::std || how == Aggregate::median || how == Aggregate::quantile;
  return true;
}

void check(const Random& key, const Random& value, int64_t n, const std::vector<Aggregate>& hows, double tolerance = 1e-9) {
  const GroupsRef groups = group_rows(engine(), {key.column});
  std::vector<Found> found(static_cast<size_t>(groups->count()));
  std::vector<int64_t> sizes(found.size());
  for (int64_t i = 0; i < n; ++i) {
    const int32_t g = groups->ids()[i];
    if (g < 0) continue;
    ++sizes[static_cast<size_t>(g)];
    if (const auto& v = value.plain.number[static_cast<size_t>(i)]) found[static_cast<size_t>(g)].emplace_back(i, *v);
  }
  std::vector<AggregateRequest> requests;
  for (const Aggregate how : hows)
    if (defined(how, value.column.type)) {
      AggregateRequest request{how, value.column};
      request.quantile = 0.3;
      requests.push_back(request);
    }
  const std::vector<Column> results = aggregate(engine(), *groups, requests);
  for (size_t k = 0; k < results.size(); ++k) {
    const Aggregate how = requests[k].how;
    std::vector<std::optional<double>> got = numbers(results[k]);
    if (results[k].type.has_codes()) {  // codes to ranks
      for (auto& code : got)
        if (code && results[k].type.logical == Logical::text) code = results[k].dictionary->ranks(engine())[static_cast<size_t>(*code)];
    }
    REQUIRE(got.size() == found.size());
    for (size_t g = 0; g < got.size(); ++g) {
      const std::optional<double> want = expected(how, found[g], sizes[g], 0.3);
      const bool equal = got[g].has_value() == want.has_value() &&
                         (!want || std::isinf(*want) || std::fabs(*got[g] - *want) <= tolerance * std::max(1.0, std::fabs(*want)));
      if (!equal)
        FAIL(name_of(how) << " of " << name_of(value.column.type.dtype) << ", group " << g << ": " << got[g].value_or(NAN) << ", not "
                          << want.value_or(NAN));
    }
  }
}

}  // namespace

TEST_CASE("aggregates of every type are as defined") {
  std::mt19937_64 random(11);
  for (int sort = 0; sort < static_cast<int>(Sort::count); ++sort) {
    if (static_cast<Sort>(sort) == Sort::wide_i64) continue;  // sums wrap
    for (const int64_t n : {0, 1, 40, 5000})
      for (const int64_t groups : {1, 13, 2000}) {
        const Random key = random_column(Sort::nullable_i64, n, groups, 0.05, random);
        const Random value = random_column(static_cast<Sort>(sort), n, 9, 0.2, random);
        std::vector<Aggregate> hows;
        for (const Aggregate how : kAll)
          if (how != Aggregate::prod || is_float(value.column.type.dtype)) hows.push_back(how);  // those of integers wrap
        check(key, value, n, hows, value.column.type.dtype == DType::f32 ? 1e-5 : 1e-8);
      }
  }
}

TEST_CASE("aggregates of many rows are as defined") {
  std::mt19937_64 random(12);
  const int64_t n = 1'100'000;
  for (const int64_t groups : {3, 700, 400'000}) {
    const Random key = random_column(Sort::i64, n, groups, 0, random);
    const Random value = random_column(Sort::f64, n, 100, 0.1, random);
    check(key, value, n,
          {Aggregate::size, Aggregate::count, Aggregate::sum, Aggregate::mean, Aggregate::min, Aggregate::max, Aggregate::std,
           Aggregate::median, Aggregate::nunique, Aggregate::last});
    const Random with_missing = random_column(Sort::f64, n, groups, 0.1, random);
    check(with_missing, value, n, {Aggregate::size, Aggregate::sum, Aggregate::idxmax, Aggregate::skew});
  }
}

TEST_CASE("results have pandas' types") {
  std::mt19937_64 random(13);
  const Random key = random_column(Sort::i64, 100, 5, 0, random);
  const GroupsRef groups = group_rows(engine(), {key.column});
  const auto type_of = [&](Sort sort, Aggregate how) {
    return dtype_name(engine(), aggregate(engine(), *groups, {{how, random_column(sort, 100, 9, 0.1, random).column}})[0]);
  };
  CHECK(type_of(Sort::i8, Aggregate::sum) == "int64");  // of values near -128, which do not fit in int8
  CHECK(type_of(Sort::boolean, Aggregate::sum) == "int64");
  CHECK(type_of(Sort::u16, Aggregate::sum) == "uint16");
  CHECK(type_of(Sort::f32, Aggregate::sum) == "float32");
  CHECK(type_of(Sort::f32, Aggregate::mean) == "float32");
  CHECK(type_of(Sort::i32, Aggregate::mean) == "float64");
  CHECK(type_of(Sort::i32, Aggregate::max) == "int32");
  CHECK(type_of(Sort::nullable_i64, Aggregate::sum) == "Int64");
  CHECK(type_of(Sort::nullable_i64, Aggregate::mean) == "Float64");
  CHECK(type_of(Sort::datetime, Aggregate::std) == "timedelta64[ns]");
  CHECK(type_of(Sort::text, Aggregate::min) == "object");
  CHECK_THROWS(type_of(Sort::text, Aggregate::mean));
  CHECK_THROWS(type_of(Sort::datetime, Aggregate::sum));
}

TEST_CASE("fewer values than min_count make sums missing") {
  const GroupsRef groups = group_rows(engine(), {number_column(node_of(std::vector<int64_t>{1, 1, 2}))});
  AggregateRequest request{Aggregate::sum, number_column(node_of(std::vector<double>{1, 2, 5}))};
  request.min_count = 2;
  const auto got = numbers(aggregate(engine(), *groups, {request})[0]);
  CHECK(got[0] == 3);
  CHECK(!got[1]);
}
