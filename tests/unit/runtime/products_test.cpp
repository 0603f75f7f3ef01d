#include "runtime/linalg/products.h"
#include "runtime/linalg/small_products.h"

#include <cstring>
#include <mutex>
#include <set>

#include "catch.h"
#include "runtime/device/host_device.h"
#include "runtime/linalg/lapack.h"
#include "runtime/linalg/openblas.h"

using namespace gasell;
using linalg::Matrix;

namespace {

std::unique_ptr<Device> host(int threads) {
  static const std::atomic<bool> never{false};
  return make_host_device(threads, int64_t{1} << 30, [](const ir::Kernel&) { return HostKernel{}; }, never);
}
const std::atomic<bool> kNever{false};

template <class T>
std::vector<T> made(int64_t count, int64_t seed) {
  std::vector<T> x(static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k) {
    const auto re = static_cast<linalg::Real<T>>((k * 7 + seed) % 11 - 5);
    if constexpr (linalg::kIsComplex<T>)
      x[static_cast<size_t>(k)] = {re, static_cast<linalg::Real<T>>((k * 3 + seed) % 5 - 2)};
    else
      x[static_cast<size_t>(k)] = re;
  }
  return x;
}

/// Whether products in all layouts are those of plain loops; elements are small integers, so that all sums are exact.
template <class T, class Multiply>
bool all_layouts_agree(int64_t n, int64_t m, int64_t k, const Multiply& multiply) {
  const auto a = made<T>(n * k, 1), b = made<T>(k * m, 2);
  bool same = true;
  for (int layout = 0; layout < 8; ++layout) {
    const Matrix<const T> left = layout & 1 ? Matrix<const T>{a.data(), 1, n} : Matrix<const T>{a.data(), k, 1};
    const Matrix<const T> right = layout & 2 ? Matrix<const T>{b.data(), 1, k} : Matrix<const T>{b.data(), m, 1};
    std::vector<T> c(static_cast<size_t>(n * m), T(77));
    const Matrix<T> result = layout & 4 ? Matrix<T>{c.data(), 1, n} : Matrix<T>{c.data(), m, 1};
    multiply(left, right, result);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < m; ++j) {
        T sum = 0;
        for (int64_t p = 0; p < k; ++p)
          sum += left.data[i * left.row_step + p * left.column_step] * right.data[p * right.row_step + j * right.column_step];
        same = same && result.data[i * result.row_step + j * result.column_step] == sum;
      }
    }
  }
  return same;
}

template <class T>
bool all_layouts_agree(Device& device, int64_t n, int64_t m, int64_t k) {
  return all_layouts_agree<T>(n, m, k, [&](const Matrix<const T>& left, const Matrix<const T>& right, const Matrix<T>& result) {
    linalg::multiply_together(&device, left, right, result, n, m, k, false, false, kNever);
  });
}

/// The same of small ones, and of results that are added to.
template <class T>
bool small_ones_agree(int64_t n, int64_t m, int64_t k) {
  return all_layouts_agree<T>(n, m, k, [&](const Matrix<const T>& left, const Matrix<const T>& right, const Matrix<T>& result) {
    linalg::multiply_small(left, right, result, n, m, k, false);
    linalg::multiply_small(left, right, result, n, m, k, true);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < m; ++j) result.data[i * result.row_step + j * result.column_step] *= linalg::Real<T>(0.5);
  });
}

std::vector<double> inexact(int64_t count) {
  std::vector<double> x(static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k) x[static_cast<size_t>(k)] = std::sin(static_cast<double>(k));
  return x;
}

}  // namespace

TEST_CASE("products in every layout and of every type are right") {
  if (!linalg::OpenBlas::find()) return;
  const auto device = host(3);
  for (const auto& [n, m, k] : {std::tuple{1, 1, 1}, {3, 5, 7}, {1, 40, 30}, {40, 1, 30}, {30, 40, 1}, {200, 300, 50}, {4, 6, 5000}}) {
    CAPTURE(n, m, k);
    CHECK(all_layouts_agree<double>(*device, n, m, k));
    CHECK(all_layouts_agree<float>(*device, n, m, k));
    CHECK(all_layouts_agree<std::complex<float>>(*device, n, m, k));
    CHECK(all_layouts_agree<std::complex<double>>(*device, n, m, k));
  }
}

TEST_CASE("small products in every layout and of every type are right") {
  for (int64_t n = 1; n <= 9; ++n)
    for (const auto& [m, k] : {std::pair{1, 1}, {2, 3}, {3, 9}, {4, 4}, {7, 5}, {15, 2}, {17, 16}, {33, 7}}) {
      CAPTURE(n, m, k);
      CHECK(small_ones_agree<float>(n, m, k));
      CHECK(small_ones_agree<double>(n, m, k));
      CHECK(small_ones_agree<std::complex<float>>(n, m, k));
      CHECK(small_ones_agree<std::complex<double>>(n, m, k));
    }
  CHECK(linalg::is_small(16, 16, 16));
  CHECK_FALSE(linalg::is_small(100, 100, 100));
}

TEST_CASE("products have the same bits on any number of threads") {
  if (!linalg::OpenBlas::find()) return;
  for (const auto& [n, m, k] : {std::tuple{500, 700, 90}, {30, 20, 20000}}) {
    const auto a = inexact(n * k), b = inexact(k * m);
    std::vector<double> first;
    for (const int threads : {1, 2, 5}) {
      std::vector<double> c(static_cast<size_t>(n * m));
      linalg::multiply_together(host(threads).get(), Matrix<const double>{a.data(), k, 1}, Matrix<const double>{b.data(), m, 1},
                                Matrix<double>{c.data(), m, 1}, n, m, k, false, false, kNever);
      if (first.empty()) first = c;
      CHECK(std::memcmp(first.data(), c.data(), 8 * c.size()) == 0);
    }
  }
}

TEST_CASE("a matrix times itself is symmetric to the bit, and results can be added up") {
  if (!linalg::OpenBlas::find()) return;
  const auto device = host(2);
  // In tiles, and in parts of a long sum.
  const auto [n, k] = GENERATE(std::pair<int64_t, int64_t>{430, 70}, std::pair<int64_t, int64_t>{30, 9000});
  const auto a = inexact(n * k);
  std::vector<double> c(static_cast<size_t>(n * n)), whole(static_cast<size_t>(n * n));
  const Matrix<const double> left{a.data(), k, 1}, right{a.data(), 1, k};
  linalg::multiply_together(device.get(), left, right, Matrix<double>{c.data(), n, 1}, n, n, k, true, false, kNever);
  linalg::multiply_together(device.get(), left, right, Matrix<double>{whole.data(), n, 1}, n, n, k, false, false, kNever);
  bool symmetric = true, close = true;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      symmetric = symmetric && c[static_cast<size_t>(i * n + j)] == c[static_cast<size_t>(j * n + i)];
      close = close && std::abs(c[static_cast<size_t>(i * n + j)] - whole[static_cast<size_t>(i * n + j)]) <
                           1e-12 * static_cast<double>(std::max<int64_t>(1, k / 70));
    }
  }
  CHECK(symmetric);
  CHECK(close);
  std::vector<double> twice = whole;
  linalg::multiply_together(device.get(), left, right, Matrix<double>{twice.data(), n, 1}, n, n, k, false, true, kNever);
  CHECK(twice[5] == Approx(2 * whole[5]));
}

TEST_CASE("a product that is stopped ends early") {
  if (!linalg::OpenBlas::find()) return;
  const std::atomic<bool> stop{true};
  const auto device = host(2);
  const auto a = inexact(400 * 400);
  std::vector<double> c(400 * 400, 3.0);
  const Matrix<const double> x{a.data(), 400, 1};
  linalg::multiply_together(device.get(), x, x, Matrix<double>{c.data(), 400, 1}, 400, 400, 400, false, false, stop);
  CHECK(c[0] == 3.0);
}

TEST_CASE("pieces are each called once") {
  const auto device = host(4);
  std::mutex mutex;
  std::multiset<int64_t> seen;
  device->share_pieces(100, [&](int64_t k) {
    const std::lock_guard lock(mutex);
    seen.insert(k);
  });
  CHECK(seen.size() == 100);
  CHECK(std::set<int64_t>(seen.begin(), seen.end()).size() == 100);
}

TEST_CASE("decompositions say what is not possible") {
  if (!linalg::OpenBlas::find()) return;
  std::vector<double> singular{1, 2, 2, 4}, right{1, 1};
  CHECK_FALSE(linalg::solve<double>(2, 1, singular.data(), right.data()));
  std::vector<double> negative{-1, 0, 0, -1};
  CHECK_FALSE(linalg::cholesky<double>(2, negative.data(), false));
  std::vector<double> zero(4);
  linalg::Determinant<double> d;
  linalg::determinant<double>(2, zero.data(), d);
  CHECK(d.sign == 0);
  CHECK(d.logarithm == -std::numeric_limits<double>::infinity());
  std::vector<double> turn{0, -1, 1, 0};
  std::complex<double> values[2], vectors[4];
  REQUIRE(linalg::eigenvalues<double>(2, turn.data(), values, vectors));
  CHECK(values[0] == std::conj(values[1]));
  CHECK(std::abs(values[0].imag()) == Approx(1.0));
}
