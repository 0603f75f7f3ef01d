#include "runtime/engine.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "catch.h"
#include "lang/diagnostic.h"
#include "runtime/array/array.h"

using namespace gasell;
using namespace gasell::graph;

namespace {

Engine& engine() {
  static Engine e([] {
    EngineOptions options = EngineOptions::from_environment();
    options.cache = false;
    return options;
  }());
  return e;
}

NodeRef f64_ramp(const Shape& shape) { return reshape(iota(graph::size_of(shape), Scalar::of_float(0), Scalar::of_float(1)), shape); }
NodeRef uniform(Shape shape, uint64_t seed = 1) { return random(Distribution::uniform, DType::f64, std::move(shape), seed, 0); }
NodeRef number(double v) { return constant(Scalar::of_float(v)); }

std::vector<double> values(const NodeRef& node) {
  const Array::Elements e = Array(node).elements(engine());
  std::vector<double> v;
  for (int64_t i = 0; i < e.count; ++i) v.push_back(e[i].is_integral() ? static_cast<double>(e[i].i) : e[i].c.real());
  return v;
}

size_t kernels(const std::vector<NodeRef>& nodes) { return engine().explain(nodes).size(); }

}  // namespace

TEST_CASE("element-wise chains are one kernel") {
  const NodeRef x = f64_ramp({5, 7});
  const NodeRef y = map(ScalarOp::add, {map(ScalarOp::mul, {x, number(2)}), number(1)});
  CHECK(kernels({y}) == 1);
  const auto v = values(y);
  REQUIRE(v.size() == 35);
  for (size_t i = 0; i < v.size(); ++i) CHECK(v[i] == 2.0 * static_cast<double>(i) + 1);
}

TEST_CASE("views reach the source") {
  const NodeRef x = f64_ramp({6, 8});
  const NodeRef slice = view(map(ScalarOp::add, {x, number(100)}), {4, 3}, {{1, 5, -2}, {0, 1, 2}});
  const auto v = values(slice);
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 3; ++j) CHECK(v[static_cast<size_t>(i * 3 + j)] == static_cast<double>((5 - 2 * j) * 8 + 1 + 2 * i + 100));
}

TEST_CASE("a border is written with what it is around") {
  for (const Shape& shape : {Shape{40}, Shape{6, 9}, Shape{3, 4, 5}, Shape{5, 3000}}) {
    const NodeRef inside = map(ScalarOp::add, {map(ScalarOp::mul, {f64_ramp(shape), number(2)}), number(1)});
    Shape around;
    std::vector<int64_t> before;
    for (size_t k = 0; k < shape.size(); ++k) {
      before.push_back(static_cast<int64_t>(k + 1) % 3);
      around.push_back(shape[k] + before[k] + (k ? 0 : 2));
    }
    const NodeRef whole = pad(inside, around, before, Scalar::of_float(-7));
    CHECK(kernels({whole}) == 1);
    const auto v = values(whole);
    std::vector<int64_t> index(around.size(), 0);
    size_t wrong = 0;
    for (size_t n = 0; n < v.size(); ++n) {
      int64_t at = 0, rest = static_cast<int64_t>(n);
      bool within = true;
      for (size_t k = around.size(); k-- > 0; rest /= around[k]) index[k] = rest % around[k] - before[k];
      for (size_t k = 0; k < shape.size(); ++k) {
        within = within && index[k] >= 0 && index[k] < shape[k];
        at = at * shape[k] + index[k];
      }
      wrong += v[n] != (within ? 2.0 * static_cast<double>(at) + 1 : -7.0);
    }
    CHECK(wrong == 0);
  }
  // Random numbers come in strips that know nothing of borders.
  const NodeRef x = uniform({4, 5});
  CHECK(values(view(pad(x, {6, 5}, {1, 0}, Scalar::of_float(0)), {4, 5}, {{0, 1, 1}, {1, 0, 1}})) == values(x));
}

TEST_CASE("elements are gathered within the kernel that uses them") {
  const NodeRef x = map(ScalarOp::mul, {f64_ramp({1000}), number(3)});
  const NodeRef index =
      map(ScalarOp::sub, {constant(Scalar::of_int(997), {300}),
                          map(ScalarOp::mul, {iota(300, Scalar::of_int(0), Scalar::of_int(1)), constant(Scalar::of_int(3))})});
  const NodeRef sum = map(ScalarOp::add, {gather(x, index), number(1)});
  CHECK(kernels({sum}) == 2);  // what is read in any order is stored
  const NodeRef stored = engine().force(x);
  CHECK(kernels({map(ScalarOp::add, {gather(stored, index), number(1)})}) == 1);
  const auto v = values(sum);
  REQUIRE(v.size() == 300);
  for (size_t i = 0; i < v.size(); ++i) CHECK(v[i] == 3.0 * (997 - 3 * static_cast<double>(i)) + 1);
  // Backwards, in two dimensions, by gathered places, summed.
  const NodeRef backwards = view(stored, {1000}, {{0, 999, -1}});
  CHECK(values(gather(backwards, reshape(index, {30, 10})))[31] == 3.0 * (999 - (997 - 3 * 31)));
  CHECK(values(gather(gather(stored, index), constant(Scalar::of_int(2), {4}))) == std::vector<double>(4, 3.0 * 991));
  CHECK(values(reduce(ReduceOp::sum, gather(stored, reshape(index, {30, 10})), {0}))[9] == [&] {
    double total = 0;
    for (int row = 0; row < 30; ++row) total += 3.0 * (997 - 3 * (row * 10 + 9));
    return total;
  }());
  CHECK(values(view(gather(stored, index), {3}, {{0, 5, 2}})) == std::vector<double>{3.0 * 982, 3.0 * 976, 3.0 * 970});
}

TEST_CASE("joined arrays are written part by part") {
  const NodeRef x = f64_ramp({2, 3}), y = map(ScalarOp::neg, {x});
  const NodeRef rows = concatenate({x, y}, 1);
  const NodeRef both = concatenate({rows, rows}, 0);
  CHECK(kernels({both}) == 4);
  CHECK(values(both) == std::vector<double>{0, 1, 2, -0.0, -1, -2, 3, 4, 5, -3, -4, -5, 0, 1, 2, -0.0, -1, -2, 3, 4, 5, -3, -4, -5});
  CHECK(values(map(ScalarOp::add, {both, number(1)}))[5] == -1);
}

TEST_CASE("reductions over every choice of axes") {
  const Shape shape = {3, 41, 70};
  const NodeRef x = uniform(shape);
  const auto v = values(x);
  for (int choice = 1; choice < 8; ++choice) {
    std::vector<int> axes;
    for (int k = 0; k < 3; ++k)
      if (choice >> k & 1) axes.push_back(k);
    std::vector<double> expected;
    Shape kept;
    for (int k = 0; k < 3; ++k)
      if (!(choice >> k & 1)) kept.push_back(shape[static_cast<size_t>(k)]);
    expected.assign(static_cast<size_t>(graph::size_of(kept)), 0);
    std::vector<double> smallest(expected.size(), 2);
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 41; ++j)
        for (int64_t k = 0; k < 70; ++k) {
          int64_t at = 0;
          const int64_t index[] = {i, j, k};
          for (int d = 0; d < 3; ++d)
            if (!(choice >> d & 1)) at = at * shape[static_cast<size_t>(d)] + index[d];
          const double e = v[static_cast<size_t>((i * 41 + j) * 70 + k)];
          expected[static_cast<size_t>(at)] += e;
          smallest[static_cast<size_t>(at)] = std::min(smallest[static_cast<size_t>(at)], e);
        }
    const auto sums = values(reduce(ReduceOp::sum, x, axes)), minima = values(reduce(ReduceOp::min, x, axes));
    REQUIRE(sums.size() == expected.size());
    for (size_t i = 0; i < sums.size(); ++i) {
      CHECK(sums[i] == Approx(expected[i]).epsilon(1e-13));
      CHECK(minima[i] == smallest[i]);
    }
  }
}

TEST_CASE("large reductions combine partial states") {
  const int64_t n = 300001;
  const NodeRef x = f64_ramp({n});
  CHECK(values(reduce(ReduceOp::sum, x, {0}))[0] == static_cast<double>(n) * static_cast<double>(n - 1) / 2);
  CHECK(values(reduce(ReduceOp::argmax, x, {0}))[0] == static_cast<double>(n - 1));
  CHECK(values(reduce(ReduceOp::mean, x, {0}))[0] == Approx(static_cast<double>(n - 1) / 2));
  const double variance = (static_cast<double>(n) * static_cast<double>(n) - 1) / 12;
  CHECK(values(reduce(ReduceOp::var, x, {0}))[0] == Approx(variance).epsilon(1e-13));
  const NodeRef table = f64_ramp({5000, 60});
  const auto columns = values(reduce(ReduceOp::var, table, {0}));
  for (double c : columns) CHECK(c == Approx(3600 * (5000.0 * 5000.0 - 1) / 12).epsilon(1e-12));
}

TEST_CASE("argmin takes the first of equals and the first NaN") {
  std::vector<double> data(5000, 1.0);
  data[1234] = data[4000] = 0.5;
  const NodeRef x = Array::over(external(data.data(), 40000, false), DType::f64, {5000}).node();
  CHECK(values(reduce(ReduceOp::argmin, x, {0}))[0] == 1234);
  data[3000] = data[2000] = NAN;
  CHECK(values(reduce(ReduceOp::argmin, x, {0}))[0] == 2000);
  CHECK(std::isnan(values(reduce(ReduceOp::max, x, {0}))[0]));
}

TEST_CASE("a random element depends on its index alone") {
  const Shape shape = {300, 500};
  for (const Distribution d : {Distribution::uniform, Distribution::standard_normal}) {
    const NodeRef x = random(d, DType::f64, shape, 42, 3);
    const auto all = values(x);
    const auto every_other = values(view(x, {150, 250}, {{0, 1, 2}, {1, 1, 2}}));
    const auto thirds = values(view(x, {100, 166}, {{0, 0, 3}, {1, 2, 3}}));
    const auto turned = values(transpose(x, {1, 0}));
    for (size_t i = 0; i < 150; ++i)
      for (size_t j = 0; j < 250; ++j) REQUIRE(every_other[i * 250 + j] == all[(2 * i + 1) * 500 + 2 * j + 1]);
    for (size_t i = 0; i < 100; ++i)
      for (size_t j = 0; j < 166; ++j) REQUIRE(thirds[i * 166 + j] == all[3 * i * 500 + 3 * j + 2]);
    for (size_t i = 0; i < 500; ++i) REQUIRE(turned[i * 300 + 7] == all[7 * 500 + i]);
  }
}

TEST_CASE("normal numbers are normal") {
  const int64_t n = 4000000;
  const NodeRef x = random(Distribution::standard_normal, DType::f64, {n}, 7, 0);
  const double mean = values(reduce(ReduceOp::mean, x, {0}))[0], variance = values(reduce(ReduceOp::var, x, {0}))[0];
  CHECK(std::abs(mean) < 5 / std::sqrt(static_cast<double>(n)));
  CHECK(std::abs(variance - 1) < 5 * std::sqrt(2.0 / static_cast<double>(n)));
  // Kolmogorov-Smirnov against the normal distribution.
  auto v = values(view(x, {1000000}, {{0, 0, 4}}));
  std::sort(v.begin(), v.end());
  double distance = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    const double cdf = 0.5 * std::erfc(-v[i] / std::sqrt(2.0)), count = static_cast<double>(v.size());
    distance = std::max({distance, cdf - static_cast<double>(i) / count, static_cast<double>(i + 1) / count - cdf});
  }
  CHECK(distance < 1.95 / 1000);  // p = 0.001
}

TEST_CASE("sums do not depend on threads, chunks and fusion") {
  auto sum = [](int threads, int64_t chunk, bool fuse) {
    EngineOptions options;
    options.threads = threads;
    options.chunk = chunk;
    options.fuse = fuse;
    options.cache = false;
    Engine e(options);
    const NodeRef x = random(Distribution::standard_normal, DType::f64, {2000, 3001}, 5, 0);
    const NodeRef y = view(map(ScalarOp::add, {x, number(1)}), {1000, 1501}, {{0, 0, 2}, {1, 0, 2}});
    return Array(reduce(ReduceOp::sum, y, {0, 1})).elements(e)[0].c.real();
  };
  const double reference = sum(1, 0, true);
  CHECK(sum(2, 0, true) == reference);
  CHECK(sum(2, 4096, true) == reference);
  CHECK(sum(2, 100, true) == reference);
  CHECK(sum(2, 0, false) == reference);
}

TEST_CASE("what is stored is chosen by cost") {
  const NodeRef x = uniform({1000000});
  const NodeRef mean = reduce(ReduceOp::mean, x, {0});
  CHECK(kernels({map(ScalarOp::sub, {x, mean})}) == 3);  // the random numbers are stored, reduced, and used again
  const NodeRef cheap = map(ScalarOp::add, {f64_ramp({1000000}), number(1)});
  CHECK(kernels({map(ScalarOp::mul, {view(cheap, {999999}, {{0, 1, 1}}), view(cheap, {999999}, {{0, 0, 1}})})}) == 1);
}

TEST_CASE("writes through views keep NumPy's order of effects") {
  Array a(f64_ramp({10}));
  const Array tail = a.view({9}, {{0, 1, 1}});
  const Array before(map(ScalarOp::mul, {a.node(), number(10)}));
  Array(tail).assign(engine(), a.view({9}, {{0, 0, 1}}));
  CHECK(values(a.node()) == std::vector<double>{0, 0, 1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(values(before.node())[9] == 90);
  a.assign(engine(), number(3));
  CHECK(values(tail.node())[0] == 3);
}

TEST_CASE("elements are put in place unless somebody else reads the memory") {
  Array a(f64_ramp({4, 5}));
  a.force(engine());
  const char* const memory = a.elements(engine()).data;
  const Array::Elements two = Array(f64_ramp({2})).elements(engine());
  a.put(engine(), std::vector<int64_t>{19, 7}, 1, two);
  CHECK(a.elements(engine()).data == memory);
  CHECK(values(a.node())[19] == 0);
  CHECK(values(a.node())[7] == 1);
  Array turned = a.view({5, 4}, {{1, 0, 1}, {0, 0, 1}});
  turned.put(engine(), std::vector<int64_t>{1, 1}, 1, two);  // row 1, column 0 of what it is a view of: the last one counts
  CHECK(values(a.node())[5] == 1);
  CHECK(a.elements(engine()).data == memory);
  const Array before(map(ScalarOp::mul, {a.node(), number(10)}));
  a.put(engine(), std::vector<int64_t>{0}, 1, Array(f64_ramp({2})).view({1}, {{0, 1, 1}}).elements(engine()));
  CHECK(a.elements(engine()).data != memory);
  CHECK(values(a.node())[0] == 1);
  CHECK(values(before.node())[0] == 0);
}

TEST_CASE("a bound array writes to its memory, and earlier expressions keep the old data") {
  std::vector<double> memory(100, 1.0);
  Array a = Array::over(external(memory.data(), 800, true), DType::f64, {100});
  const Array recorded(map(ScalarOp::add, {a.node(), number(1)}));
  a.view({50}, {{0, 0, 2}}).assign(engine(), number(5));
  CHECK(memory[0] == 5);
  CHECK(memory[1] == 1);
  CHECK(values(recorded.node())[0] == 2);
  a.assign(engine(), map(ScalarOp::mul, {a.node(), number(2)}));
  CHECK(memory[0] == 10);
}
