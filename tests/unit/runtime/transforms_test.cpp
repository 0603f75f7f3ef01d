#include "runtime/transforms/transform.h"

#include <cmath>
#include <complex>
#include <map>
#include <numbers>
#include <random>

#include "catch.h"
#include "runtime/transforms/roots.h"
#include "runtime/transforms/routines.h"

using namespace gasell;
using namespace gasell::transforms;

namespace {

using Exact = std::complex<long double>;

Engine& engine(int threads) {
  static std::map<int, std::unique_ptr<Engine>> engines;
  auto& made = engines[threads];
  if (!made) {
    EngineOptions options;
    options.threads = threads;
    options.device = "cpu";
    made = std::make_unique<Engine>(options);
  }
  return *made;
}

template <class T>
std::vector<std::complex<T>> numbers(int64_t n) {
  std::mt19937_64 generator(static_cast<uint64_t>(n));
  std::uniform_real_distribution<T> uniform(-1, 1);
  std::vector<std::complex<T>> x(static_cast<size_t>(n));
  for (auto& z : x) z = {uniform(generator), uniform(generator)};
  return x;
}

template <class T>
std::vector<std::complex<T>> transformed(const std::vector<std::complex<T>>& x, bool forward, int threads) {
  std::vector<std::complex<T>> y(x.size());
  const auto n = static_cast<int64_t>(x.size());
  transforms::transform({engine(threads)}, {.kind = Kind::complex, .single = std::is_same_v<T, float>, .forward = forward},
                        {x.data(), {n}, {1}}, {y.data(), {n}, {1}}, 0);
  return y;
}

/// Element k by the sum that defines it.
template <class T>
Exact defined(const std::vector<std::complex<T>>& x, int64_t k) {
  const auto n = static_cast<int64_t>(x.size());
  Exact sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    const long double angle = -2 * std::numbers::pi_v<long double> * static_cast<long double>(j * k % n) / static_cast<long double>(n);
    sum += Exact(x[static_cast<size_t>(j)].real(), x[static_cast<size_t>(j)].imag()) * Exact(std::cos(angle), std::sin(angle));
  }
  return sum;
}

/// The root of the mean square of the errors of some elements, in units of the type's precision and of the elements' own mean.
template <class T>
double error(int64_t n, int64_t most) {
  const auto x = numbers<T>(n);
  const auto y = transformed(x, true, 2);
  long double errors = 0, squares = 0;
  for (int64_t k = 0; k < n; k += std::max<int64_t>(1, n / most)) {
    const Exact exact = defined(x, k), got(y[static_cast<size_t>(k)].real(), y[static_cast<size_t>(k)].imag());
    errors += std::norm(got - exact);
    squares += std::norm(exact);
  }
  return static_cast<double>(std::sqrt(errors / squares) / std::numeric_limits<T>::epsilon());
}

}  // namespace

TEST_CASE("roots of unity are rounded once", "[transforms]") {
  for (const int64_t n : {1, 2, 3, 8, 12, 1000, 65536, 1000003})
    for (int64_t k = 0; k < n; k += std::max<int64_t>(1, n / 97)) {
      const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
      const auto root = root_of_unity(k, n);
      CHECK(std::abs(static_cast<long double>(root.real()) - std::cos(angle)) < 0.51L * 1.2e-16L);
      CHECK(std::abs(static_cast<long double>(root.imag()) - std::sin(angle)) < 0.51L * 1.2e-16L);
    }
}

TEST_CASE("transforms are near to the sums that define them", "[transforms][accuracy]") {
  if (description().empty()) return;
  for (const int64_t n : {1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 30, 64, 97, 101, 128, 210, 243, 256, 509, 1000, 1024, 1021, 2310, 4096}) {
    INFO(n);
    CHECK(error<double>(n, 64) < 3);
    CHECK(error<float>(n, 64) < 3);
  }
  // Those that all cores work on: by rows and columns, and as convolutions.
  for (const int64_t n : {32768, 65536, 100000, 1 << 18, 100003, 177147}) {
    INFO(n);
    CHECK(error<double>(n, 8) < 4);
    CHECK(error<float>(n, 8) < 4);
  }
}

TEST_CASE("the bits do not depend on the number of threads", "[transforms]") {
  if (description().empty()) return;
  for (const int64_t n : {1000, 32768, 100003, 1 << 18}) {
    const auto x = numbers<double>(n);
    const auto one = transformed(x, true, 1);
    for (const int threads : {2, 5}) CHECK(transformed(x, true, threads) == one);
  }
}

TEST_CASE("vectors along any axis, of steps of any size", "[transforms]") {
  if (description().empty()) return;
  const int64_t rows = 70, n = 96, columns = 5;
  const auto x = numbers<double>(rows * n * columns);
  std::vector<std::complex<double>> y(x.size());
  // (row, element, column) lies as (element, column, row) here, and turned around along the columns.
  const std::vector<int64_t> steps{1, columns * rows, -rows};
  const int64_t first = (columns - 1) * rows;
  transforms::transform({engine(2)}, {.kind = Kind::complex, .single = false}, {x.data() + first, {rows, n, columns}, steps},
                        {y.data() + first, {rows, n, columns}, steps}, 1);
  for (const auto& [row, column] : {std::pair<int64_t, int64_t>{0, 0}, {69, 4}, {33, 2}}) {
    std::vector<std::complex<double>> lane;
    for (int64_t k = 0; k < n; ++k) lane.push_back(x[static_cast<size_t>(first + row + k * columns * rows - column * rows)]);
    const auto alone = transformed(lane, true, 1);
    for (int64_t k = 0; k < n; ++k)
      CHECK(std::abs(y[static_cast<size_t>(first + row + k * columns * rows - column * rows)] - alone[static_cast<size_t>(k)]) < 1e-13);
  }
}

TEST_CASE("transforms stop when they are interrupted", "[transforms]") {
  if (description().empty()) return;
  const auto x = numbers<double>(1 << 18);
  engine(2).interrupt();
  CHECK_THROWS_AS(transformed(x, true, 2), Interrupted);
  engine(2).clear_interrupt();
  CHECK(transformed(x, true, 2).size() == x.size());
}
