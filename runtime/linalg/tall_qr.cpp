#include "runtime/linalg/tall_qr.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <vector>

#include "runtime/linalg/lapack.h"
#include "runtime/linalg/products.h"

namespace gasell::linalg {
namespace {

constexpr int64_t kTall = 8;                 // rows a column, from which on a matrix is tall
constexpr int64_t kLeastElements = 1 << 16;  // of which blocks pay
constexpr int64_t kBlockBytes = 256 << 10;   // of a block: a core's cache holds it while it is factored
// Rows a column of a block at least, so that what is left of the blocks is a quarter of the matrix at most; and of what is left of large
// matrices not more than some bytes, as long as blocks are not much larger than a cache.
constexpr int64_t kLeastRowsAColumn = 4, kMostRowsAColumn = 64;
constexpr int64_t kLeftBytes = 32 << 20;

template <class T>
std::unique_ptr<T[]> memory(int64_t count) {
  return std::make_unique_for_overwrite<T[]>(static_cast<size_t>(std::max<int64_t>(count, 1)));
}

/// Blocks of rows: of equal size but for the last ones, which have a row less; each has at least as many rows as columns.
class Blocks {
 public:
  Blocks(int64_t m, int64_t n, int64_t width) : m_(m) {
    const int64_t rows_a_column = std::clamp(m * n / kLeftBytes * width, kLeastRowsAColumn, kMostRowsAColumn);
    const int64_t rows = std::max(rows_a_column * n, kBlockBytes / (n * width));
    count_ = std::max<int64_t>(1, m / rows);
  }
  int64_t count() const { return count_; }
  int64_t begin(int64_t k) const { return m_ / count_ * k + std::min(k, m_ % count_); }
  int64_t rows(int64_t k) const { return begin(k + 1) - begin(k); }

 private:
  int64_t m_, count_;
};

/// One matrix by factor_qr, with q in Fortran's order where it is wanted: where there are no blocks to be made.
template <class T>
void factor_whole(int64_t m, int64_t n, const RowsOf<T>& a, T* r, T* q) {
  const auto own = memory<T>(m * n), tau = memory<T>(n);
  T* const copy = q ? q : own.get();
  a(0, m, copy, m);
  factor_qr(m, n, copy, tau.get());
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i) r[j * n + i] = i <= j ? copy[j * m + i] : T(0);
  if (q) make_q(m, n, n, copy, tau.get());
}

/// a = q r with q in Fortran's order, or null.
template <class T>
void factor(Device& host, int64_t m, int64_t n, const RowsOf<T>& a, T* r, T* q, const std::atomic<bool>& stop);

/// The factors of the blocks, and those of what is left of them.
template <class T>
class Factored {
 public:
  /// Of the blocks r alone; with `keep` what make() needs, in memory for m × n elements, where each block has the place of its rows.
  Factored(Device& host, int64_t m, int64_t n, const TallRows<T>& a, T* r, T* keep, bool top, const std::atomic<bool>& stop)
      : host_(host), n_(n), blocks_(m, n, sizeof(T)), keep_(keep), stop_(stop) {
    const int64_t count = blocks_.count(), left = count * n;
    if (keep) taus_ = memory<T>(left);
    const auto rest = memory<T>(left * n);
    if (top) first_ = memory<T>(blocks_.rows(0) * n);
    const auto factor_block = [&](int64_t k) {
      if (stop.load(std::memory_order_relaxed)) return;
      const int64_t rows = blocks_.rows(k);
      const auto own = memory<T>(keep ? 0 : rows * n), tau = memory<T>(n);
      T* const block = keep ? keep + blocks_.begin(k) * n : own.get();
      a.rows(blocks_.begin(k), rows, block, rows);
      factor_qr(rows, n, block, tau.get());
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < n; ++i) rest[static_cast<size_t>(j * left + k * n + i)] = i <= j ? block[j * rows + i] : T(0);
      if (keep) std::copy_n(tau.get(), n, taus_.get() + k * n);
      if (top && k == 0) {
        std::copy_n(block, rows * n, first_.get());
        make_q(rows, n, n, first_.get(), tau.get());
      }
    };
    const int64_t together = a.at_a_time ? std::max<int64_t>(1, a.at_a_time / blocks_.rows(0)) : count;
    for (int64_t begin = 0; begin < count; begin += together) {
      const int64_t end = std::min(count, begin + together);
      if (a.prepare) a.prepare(blocks_.begin(begin), blocks_.begin(end));
      host.share_pieces(end - begin, [&](int64_t k) { factor_block(begin + k); });
    }
    if (stop.load(std::memory_order_relaxed)) return;
    if (keep || top) left_q_ = memory<T>(left * n);
    const RowsOf<T> rows_left = [&](int64_t begin, int64_t rows, T* to, int64_t leading) {
      for (int64_t j = 0; j < n; ++j) std::copy_n(rest.get() + j * left + begin, rows, to + j * leading);
    };
    factor<T>(host, left, n, rows_left, r, left_q_.get(), stop);
  }

  /// The first n rows of q.
  std::unique_ptr<T[]> top() const {
    auto rows = memory<T>(n_ * n_);
    multiply<T>({first_.get(), 1, blocks_.rows(0)}, {left_q_.get(), 1, blocks_.count() * n_}, {rows.get(), 1, n_}, n_, n_, n_, false);
    return rows;
  }
  /// Changes the signs of q's columns.
  void turn(const std::vector<Real<T>>& signs) {
    const int64_t left = blocks_.count() * n_;
    for (int64_t j = 0; j < n_; ++j)
      for (int64_t i = 0; i < left; ++i) left_q_[static_cast<size_t>(j * left + i)] *= signs[static_cast<size_t>(j)];
  }
  /// The rows of q that are block k's; `result` says where they are to be. It may be the memory that was kept.
  void make(int64_t k, Matrix<T> result) const {
    const int64_t rows = blocks_.rows(k);
    const auto block = memory<T>(rows * n_);
    std::copy_n(keep_ + blocks_.begin(k) * n_, rows * n_, block.get());
    make_q(rows, n_, n_, block.get(), taus_.get() + k * n_);
    multiply<T>({block.get(), 1, rows}, {left_q_.get() + k * n_, 1, blocks_.count() * n_}, result, rows, n_, n_, false);
  }
  template <class Place>
  void make_all(const Place& place) const {
    host_.share_pieces(blocks_.count(), [&](int64_t k) {
      if (!stop_.load(std::memory_order_relaxed)) make(k, place(blocks_.begin(k)));
    });
  }

 private:
  Device& host_;
  const int64_t n_;
  const Blocks blocks_;
  T* const keep_;
  const std::atomic<bool>& stop_;
  std::unique_ptr<T[]> taus_, first_, left_q_;
};

template <class T>
void factor(Device& host, int64_t m, int64_t n, const RowsOf<T>& a, T* r, T* q, const std::atomic<bool>& stop) {
  if (!is_tall(m, n)) return factor_whole(m, n, a, r, q);
  const auto keep = memory<T>(q ? m * n : 0);
  const Factored<T> factored(host, m, n, {a, 0, {}}, r, q ? keep.get() : nullptr, false, stop);
  if (q) factored.make_all([&](int64_t begin) { return Matrix<T>{q + begin, 1, m}; });
}

}  // namespace

// They come out of elimination without pivots: a reflection turns a column to the other side of what stands on the diagonal, of a zero to
// the negative one. A column that has nothing below it is left as it is. Columns go in panels; what a panel changes right of it is a
// product.
template <class T>
std::vector<Real<T>> signs_of_lapack(Device& host, int64_t n, T* top, const T* r, const std::atomic<bool>& stop) {
  constexpr int64_t kPanel = 32;
  constexpr Real<T> kNothing = 16 * std::numeric_limits<Real<T>>::epsilon();  // what rounding leaves of a zero
  std::vector<Real<T>> signs(static_cast<size_t>(n));
  const auto rows = memory<T>(kPanel * n);
  for (int64_t begin = 0; begin < n && !stop.load(std::memory_order_relaxed); begin += kPanel) {
    const int64_t end = std::min(n, begin + kPanel), right = n - end;
    for (int64_t k = begin; k < end; ++k) {
      T* const column = top + k * n;
      const Real<T> diagonal = std::real(column[k]);
      if (std::abs(diagonal) == 1) {
        signs[static_cast<size_t>(k)] = diagonal;
        std::fill(column + k + 1, column + n, T(0));
        continue;
      }
      const Real<T> turned = std::abs(diagonal) > kNothing ? diagonal : std::real(r[k * n + k]);
      const Real<T> sign = turned < 0 ? Real<T>(1) : Real<T>(-1);
      signs[static_cast<size_t>(k)] = sign;
      const T pivot = column[k] - sign;
      for (int64_t i = k + 1; i < n; ++i) column[i] /= pivot;
      for (int64_t j = k + 1; j < end; ++j)
        for (int64_t i = k + 1; i < n; ++i) top[j * n + i] -= column[i] * top[j * n + k];
    }
    if (right == 0) break;
    for (int64_t j = end; j < n; ++j) {
      for (int64_t k = begin; k < end; ++k)
        for (int64_t i = k + 1; i < end; ++i) top[j * n + i] -= top[k * n + i] * top[j * n + k];
      for (int64_t k = begin; k < end; ++k) rows[static_cast<size_t>((j - end) * kPanel + k - begin)] = -top[j * n + k];
    }
    multiply_together<T>(&host, {top + begin * n + end, 1, n}, {rows.get(), 1, kPanel}, {top + end * n + end, 1, n}, right, right,
                         end - begin, false, true, stop);
  }
  return signs;
}

bool is_tall(int64_t rows, int64_t columns) { return columns > 0 && rows / columns >= kTall && rows * columns >= kLeastElements; }

template <class T>
void tall_qr(Device& host, int64_t m, int64_t n, const TallRows<T>& a, T* r, T* q, bool like_lapack, const std::atomic<bool>& stop) {
  Factored<T> factored(host, m, n, a, r, q, like_lapack, stop);
  if (stop.load(std::memory_order_relaxed)) return;
  if (like_lapack) {
    const std::vector<Real<T>> signs = signs_of_lapack<T>(host, n, factored.top().get(), r, stop);
    if (stop.load(std::memory_order_relaxed)) return;
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < j; ++i) r[j * n + i] *= signs[static_cast<size_t>(i)];
    for (int64_t j = 0; j < n; ++j) r[j * n + j] = std::real(r[j * n + j]) * signs[static_cast<size_t>(j)];
    if (q) factored.turn(signs);
  }
  if (q) factored.make_all([&](int64_t begin) { return Matrix<T>{q + begin * n, n, 1}; });
}

template <class T>
bool tall_least_squares(Device& host, int64_t m, int64_t n, int64_t columns, const RowsOf<T>& both, T* x, double* residuals, Real<T>* s,
                        Real<T> rcond, int64_t& rank, const std::atomic<bool>& stop) {
  const int64_t all = n + columns;
  const auto r = memory<T>(all * all), a = memory<T>(n * n), b = memory<T>(n * columns);
  tall_qr<T>(host, m, all, {both, 0, {}}, r.get(), nullptr, false, stop);
  if (stop.load(std::memory_order_relaxed)) return true;
  // [a b] = q [r11 r12; 0 r22]: what is nearest to b is r11 x = r12, and beyond it r22 is left.
  for (int64_t j = 0; j < n; ++j) std::copy_n(r.get() + j * all, n, a.get() + j * n);
  for (int64_t j = 0; j < columns; ++j) std::copy_n(r.get() + (n + j) * all, n, b.get() + j * n);
  if (!least_squares(n, n, columns, a.get(), b.get(), s, rcond, rank)) return false;
  std::copy_n(b.get(), n * columns, x);
  for (int64_t j = 0; j < columns; ++j) {
    residuals[j] = 0;
    for (int64_t i = n; i < all; ++i) residuals[j] += std::norm(r[static_cast<size_t>((n + j) * all + i)]);
  }
  return true;
}

#define GASELL_TALL_OF(T)                                                                                                          \
  template std::vector<Real<T>> signs_of_lapack(Device&, int64_t, T*, const T*, const std::atomic<bool>&);                         \
  template void tall_qr(Device&, int64_t, int64_t, const TallRows<T>&, T*, T*, bool, const std::atomic<bool>&);                    \
  template bool tall_least_squares(Device&, int64_t, int64_t, int64_t, const RowsOf<T>&, T*, double*, Real<T>*, Real<T>, int64_t&, \
                                   const std::atomic<bool>&)

GASELL_TALL_OF(float);
GASELL_TALL_OF(double);
GASELL_TALL_OF(std::complex<float>);
GASELL_TALL_OF(std::complex<double>);

}  // namespace gasell::linalg
