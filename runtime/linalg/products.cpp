#include "runtime/linalg/products.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "lang/diagnostic.h"
#include "runtime/linalg/gemm_form.h"
#include "runtime/linalg/openblas.h"
#include "runtime/linalg/small_products.h"

namespace gasell::linalg {
namespace {

// A tile of the result is computed by one call: large enough for the library to run at its full rate, small enough for every core to get
// some.
constexpr int64_t kLeastTile = 256, kMostTile = 1024, kTiles = 32;
// Where the result is small and much is summed, the sum is cut instead.
constexpr int64_t kLeastSummed = 2048, kMostParts = 32;
constexpr int64_t kSmallResult = 192 * 192;
// A call of the library, which nothing can interrupt, takes a few hundredths of a second at most.
constexpr double kMostAtOnce = 1e9;  // multiplications of real numbers
constexpr double kShare = 3e5;       // multiplications that a core does at a time, of many small products
constexpr double kAlone = 4e6;       // multiplications that are not worth waking another core

int64_t pieces(int64_t extent, int64_t tile) { return (extent + tile - 1) / tile; }

/// The most rows (or columns) of a tile.
int64_t tile_of(int64_t n, int64_t m) {
  int64_t tile = kLeastTile;
  while (tile < kMostTile && pieces(n, tile) * pieces(m, tile) > kTiles) tile += 64;
  return tile;
}

/// `extent` in equal parts of at most `tile`, in whole vectors: a thin rest would cost more than its share.
int64_t even_part(int64_t extent, int64_t tile) {
  constexpr int64_t kVectors = 16;
  return pieces(pieces(extent, pieces(extent, tile)), kVectors) * kVectors;
}

template <class T>
Matrix<T> part(Matrix<T> x, int64_t row, int64_t column) {
  return {x.data + row * x.row_step + column * x.column_step, x.row_step, x.column_step};
}

/// Runs f(0) … f(count - 1), each once, until `stop`; on this thread where `host` is null.
template <class F>
void for_all(Device* host, int64_t count, const std::atomic<bool>& stop, const F& f) {
  const auto stopped = [&] { return stop.load(std::memory_order_relaxed); };
  if (!host) {
    for (int64_t k = 0; k < count && !stopped(); ++k) f(k);
    return;
  }
  host->share_pieces(count, [&](int64_t k) {
    if (!stopped()) f(k);
  });
}

}  // namespace

template <class T>
void multiply(Matrix<const T> left, Matrix<const T> right, Matrix<T> result, int64_t n, int64_t m, int64_t k, bool add) {
  if (n == 0 || m == 0) return;
  const GemmForm form =
      gemm_form({left.row_step, left.column_step}, {right.row_step, right.column_step}, {result.row_step, result.column_step}, n, m, k);
  const T *first = left.data, *second = right.data;
  if (form.exchanged) std::swap(first, second);
  const auto letter = [](const GemmForm::Operand& x) { return x.transposed ? "T" : "N"; };
  const T one = 1, other = add ? T(1) : T(0);
  OpenBlas::get().routines<T>().gemm(letter(form.first), letter(form.second), &form.n, &form.m, &k, &one, first, &form.first.leading,
                                     second, &form.second.leading, &other, result.data, &form.result_leading, 1, 1);
}

namespace {

/// The part below the diagonal of the product of `left`, n × k, and of its transposed one.
template <class T>
void multiply_by_itself(Matrix<const T> left, Matrix<T> result, int64_t n, int64_t k, bool add) {
  const GemmForm form =
      gemm_form({left.row_step, left.column_step}, {left.column_step, left.row_step}, {result.row_step, result.column_step}, n, n, k);
  const T one = 1, other = add ? T(1) : T(0);
  OpenBlas::get().routines<T>().syrk(form.exchanged ? "U" : "L", form.first.transposed ? "T" : "N", &form.n, &k, &one, left.data,
                                     &form.first.leading, &other, result.data, &form.result_leading, 1, 1);
}

/// What one thread does at a time: the sum cut into pieces, one added to the other, so that `stop` is seen. `symmetric`: the part below the
/// diagonal.
template <class T>
void multiply_alone(const Matrix<const T>& left, const Matrix<const T>& right, const Matrix<T>& result, int64_t n, int64_t m, int64_t k,
                    bool symmetric, bool add, const std::atomic<bool>& stop) {
  constexpr int64_t kLeastPiece = 256;
  const double column = static_cast<double>(n) * static_cast<double>(m) * (kIsComplex<T> ? 4 : 1);
  const int64_t piece = std::max(kLeastPiece, static_cast<int64_t>(kMostAtOnce / std::max(column, 1.0)));
  int64_t done = 0;
  do {
    const int64_t here = std::min(piece, k - done);
    if (symmetric)
      multiply_by_itself(part(left, 0, done), result, n, here, add || done > 0);
    else
      multiply(part(left, 0, done), part(right, done, 0), result, n, m, here, add || done > 0);
    done += here;
  } while (done < k && !stop.load(std::memory_order_relaxed));
}

/// Sums over parts of k, each into memory of its own, added up in their order. `symmetric`: the part below the diagonal.
template <class T>
void multiply_in_parts(Device* host, Matrix<const T> left, Matrix<const T> right, Matrix<T> result, int64_t n, int64_t m, int64_t k,
                       bool symmetric, bool add, const std::atomic<bool>& stop) {
  const int64_t parts = std::min(kMostParts, k / kLeastSummed);
  std::vector<T> sums(static_cast<size_t>(parts * n * m));
  for_all(host, parts, stop, [&](int64_t p) {
    const int64_t begin = k * p / parts, end = k * (p + 1) / parts;
    multiply_alone(part(left, 0, begin), part(right, begin, 0), Matrix<T>{sums.data() + p * n * m, m, 1}, n, m, end - begin, symmetric,
                   false, stop);
  });
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < (symmetric ? i + 1 : m); ++j) {
      T& to = result.data[i * result.row_step + j * result.column_step];
      T sum = add ? to : T(0);
      for (int64_t p = 0; p < parts; ++p) sum += sums[static_cast<size_t>((p * n + i) * m + j)];
      to = sum;
    }
  }
}

/// The part above the diagonal as that below it, where both are symmetric.
template <class T>
void mirror(Matrix<T> x, int64_t n) {
  constexpr int64_t kBlock = 32;  // rows read and written while they are in the cache
  for (int64_t ib = 0; ib < n; ib += kBlock)
    for (int64_t jb = ib; jb < n; jb += kBlock)
      for (int64_t i = ib; i < std::min(n, ib + kBlock); ++i)
        for (int64_t j = std::max(i + 1, jb); j < std::min(n, jb + kBlock); ++j)
          x.data[i * x.row_step + j * x.column_step] = x.data[j * x.row_step + i * x.column_step];
}

}  // namespace

template <class T>
void multiply_together(Device* host, Matrix<const T> left, Matrix<const T> right, Matrix<T> result, int64_t n, int64_t m, int64_t k,
                       bool symmetric, bool add, const std::atomic<bool>& stop) {
  const double work = static_cast<double>(n) * static_cast<double>(m) * static_cast<double>(k);
  if (n * m <= kSmallResult && k >= 2 * kLeastSummed) {
    multiply_in_parts(host, left, right, result, n, m, k, symmetric, add, stop);
    if (symmetric) mirror(result, n);
    return;
  }
  const int64_t tile = tile_of(n, m), height = even_part(n, tile), width = symmetric ? height : even_part(m, tile);
  const int64_t rows = pieces(n, height), columns = pieces(m, width);
  for_all(work < kAlone ? nullptr : host, rows * columns, stop, [&](int64_t number) {
    const int64_t i = number / columns * height, j = number % columns * width;
    if (symmetric && j > i) return;
    multiply_alone(part(left, i, 0), part(right, 0, j), part(result, i, j), std::min(height, n - i), std::min(width, m - j), k,
                   symmetric && i == j, add, stop);
  });
  if (symmetric) mirror(result, n);
}

namespace {

/// The places of products in a stack, counted up one axis after the other.
class Places {
 public:
  using Axis = plan::Contraction::Axis;
  int64_t left = 0, right = 0, result = 0;

  Places(const std::vector<Axis>& axes, int64_t number) : axes_(axes), at_(axes.size()) {
    for (size_t k = axes.size(); k-- > 0; number /= axes[k].extent) go(k, number % axes[k].extent);
  }
  void next() {
    for (size_t k = axes_.size(); k-- > 0;) {
      if (at_[k] + 1 < axes_[k].extent) return go(k, 1);
      go(k, -at_[k]);
    }
  }
  static int64_t count(const std::vector<Axis>& axes) {
    int64_t count = 1;
    for (const Axis& axis : axes) count *= axis.extent;
    return count;
  }

 private:
  void go(size_t k, int64_t steps) {
    at_[k] += steps;
    left += steps * axes_[k].left, right += steps * axes_[k].right, result += steps * axes_[k].result;
  }
  const std::vector<Axis>& axes_;
  std::vector<int64_t> at_;
};

template <class T>
void contract_typed(Device& host, const plan::Contraction& c, const char* left_data, const char* right_data, char* result_data,
                    const std::atomic<bool>& stop) {
  const auto* left = reinterpret_cast<const T*>(left_data);
  const auto* right = reinterpret_cast<const T*>(right_data);
  auto* result = reinterpret_cast<T*>(result_data);
  const int64_t n = c.rows.extent, m = c.columns.extent, k = c.summed.extent;
  const bool small = is_small(n, m, k);
  const auto one = [&](int64_t at_left, int64_t at_right, int64_t at_result, bool add, Device* together) {
    const Matrix<const T> a{left + at_left, c.rows.left, c.summed.left}, b{right + at_right, c.summed.right, c.columns.right};
    const Matrix<T> to{result + at_result, c.rows.result, c.columns.result};
    if (small)
      multiply_small(a, b, to, n, m, k, add);
    else
      multiply_together(together, a, b, to, n, m, k, c.symmetric, add, stop);
  };
  if (c.outer.empty()) return one(0, 0, 0, c.add, &host);
  // The loops around: first those that the result has, then those that are summed.
  std::vector<plan::Contraction::Axis> kept, added;
  for (const auto& axis : c.outer) (axis.result != 0 ? kept : added).push_back(axis);
  const int64_t count = Places::count(kept), additions = Places::count(added);
  const double work = static_cast<double>(n) * static_cast<double>(m) * static_cast<double>(k);
  // Many small products: whole ones beside each other. Large ones: each in tiles.
  const bool together = work > 8 * kAlone;
  const auto all_of = [&](const Places& at) {
    Places more(added, 0);
    for (int64_t addition = 0; addition < additions; ++addition, more.next()) {
      if (addition % 64 == 63 && stop.load(std::memory_order_relaxed)) return;
      one(at.left + more.left, at.right + more.right, at.result, c.add || addition > 0, together ? &host : nullptr);
    }
  };
  // A core takes so many small ones at a time that handing them out costs little.
  const int64_t share =
      std::clamp(static_cast<int64_t>(kShare / (work * static_cast<double>(additions) + 1)), int64_t{1}, std::max<int64_t>(1, count / 64));
  const bool alone = together || work * static_cast<double>(count * additions) < kAlone;
  for_all(alone ? nullptr : &host, pieces(count, share), stop, [&](int64_t number) {
    Places at(kept, number * share);
    for (int64_t p = number * share; p < std::min(count, (number + 1) * share); ++p, at.next()) all_of(at);
  });
}

}  // namespace

std::string describe(const plan::Contraction& c) {
  std::string text = "product of " + std::string(name_of(c.dtype)) + " matrices (" + std::to_string(c.rows.extent) + ", " +
                     std::to_string(c.summed.extent) + ") and (" + std::to_string(c.summed.extent) + ", " +
                     std::to_string(c.columns.extent) + ")";
  int64_t times = 1;
  for (const auto& axis : c.outer) times *= axis.extent;
  if (times > 1) text += ", " + std::to_string(times) + " times";
  return text + ", by the linear algebra library\n";
}

void contract(Device& host, const plan::Contraction& c, const char* left, const char* right, char* result,
              const std::atomic<bool>& interrupt) {
  switch (c.dtype) {
    case DType::f32: contract_typed<float>(host, c, left, right, result, interrupt); break;
    case DType::f64: contract_typed<double>(host, c, left, right, result, interrupt); break;
    case DType::c64: contract_typed<std::complex<float>>(host, c, left, right, result, interrupt); break;
    default: contract_typed<std::complex<double>>(host, c, left, right, result, interrupt); break;
  }
  if (interrupt.load(std::memory_order_relaxed)) throw Interrupted();
}

template void multiply(Matrix<const float>, Matrix<const float>, Matrix<float>, int64_t, int64_t, int64_t, bool);
template void multiply(Matrix<const double>, Matrix<const double>, Matrix<double>, int64_t, int64_t, int64_t, bool);
template void multiply(Matrix<const std::complex<float>>, Matrix<const std::complex<float>>, Matrix<std::complex<float>>, int64_t, int64_t,
                       int64_t, bool);
template void multiply(Matrix<const std::complex<double>>, Matrix<const std::complex<double>>, Matrix<std::complex<double>>, int64_t,
                       int64_t, int64_t, bool);
template void multiply_together(Device*, Matrix<const float>, Matrix<const float>, Matrix<float>, int64_t, int64_t, int64_t, bool, bool,
                                const std::atomic<bool>&);
template void multiply_together(Device*, Matrix<const double>, Matrix<const double>, Matrix<double>, int64_t, int64_t, int64_t, bool, bool,
                                const std::atomic<bool>&);
template void multiply_together(Device*, Matrix<const std::complex<float>>, Matrix<const std::complex<float>>, Matrix<std::complex<float>>,
                                int64_t, int64_t, int64_t, bool, bool, const std::atomic<bool>&);
template void multiply_together(Device*, Matrix<const std::complex<double>>, Matrix<const std::complex<double>>,
                                Matrix<std::complex<double>>, int64_t, int64_t, int64_t, bool, bool, const std::atomic<bool>&);

}  // namespace gasell::linalg
