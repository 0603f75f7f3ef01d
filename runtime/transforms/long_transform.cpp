#include "runtime/transforms/long_transform.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "runtime/transforms/roots.h"
#include "runtime/transforms/routines.h"

namespace gasell::transforms {
namespace {

template <class T>
using Complex = std::complex<T>;

/// n as a product of two, the first no larger, as near to each other as sharing out its prime factors makes them.
std::pair<int64_t, int64_t> divide(int64_t n) {
  std::vector<int64_t> factors;
  for (int64_t f = 2; f * f <= n; f += f == 2 ? 1 : 2)
    for (; n % f == 0; n /= f) factors.push_back(f);
  if (n > 1) factors.push_back(n);
  std::pair<int64_t, int64_t> parts{1, 1};
  for (size_t k = factors.size(); k-- > 0;) (parts.first > parts.second ? parts.second : parts.first) *= factors[k];
  if (parts.first > parts.second) std::swap(parts.first, parts.second);
  return parts;
}

/// The least 2ᵃ 3ᵇ 5ᶜ that is at least n.
int64_t smooth_from(int64_t n) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int64_t five = 1; five < 2 * n; five *= 5)
    for (int64_t three = five; three < 2 * n; three *= 3) {
      int64_t product = three;
      while (product < n) product *= 2;
      least = std::min(least, product);
    }
  return least;
}

/// k² mod m, 0 <= k < 2⁴⁸ and m < 2⁴⁸: by doubling, for the square may be beyond 64 bits.
int64_t square_modulo(int64_t k, int64_t m) {
  if (k < int64_t{1} << 31) return k * k % m;
  int64_t sum = 0, term = k % m;
  for (int64_t rest = k; rest > 0; rest >>= 1, term = term * 2 % m)
    if (rest & 1) sum = (sum + term) % m;
  return sum;
}

template <class T>
void matrix_lanes(const Complex<T>* in, int64_t in_row, int64_t in_column, Complex<T>* out, int64_t out_row, int64_t out_column,
                  int64_t rows, int64_t columns, int axis, bool forward, double factor) {
  const int64_t shape[2] = {rows, columns}, in_steps[2] = {in_row, in_column}, out_steps[2] = {out_row, out_column};
  routines().transform({.kind = Kind::complex,
                        .single = std::is_same_v<T, float>,
                        .forward = forward,
                        .factor = factor,
                        .rank = 2,
                        .axis = axis,
                        .in_shape = shape,
                        .in_steps = in_steps,
                        .out_shape = shape,
                        .out_steps = out_steps,
                        .in = in,
                        .out = out});
}

/// x[i columns + j] as a matrix: its columns are transformed, (k, j) is turned by exp(±2πi k j / n), then its rows; (k, l) is result
/// k + rows l.
template <class T>
void transform_divided(const Cores& cores, const Complex<T>* in, int64_t in_step, Complex<T>* out, int64_t out_step, int64_t rows,
                       int64_t columns, bool forward, double factor) {
  constexpr int64_t kColumns = 32, kRows = 16;
  // Rows a multiple of a page apart would meet in the same few lines of the cache.
  const int64_t row_step =
      columns + (columns * static_cast<int64_t>(sizeof(Complex<T>)) % 4096 == 0 ? 64 / static_cast<int64_t>(sizeof(Complex<T>)) : 0);
  const Scratch<Complex<T>> between(cores.engine, rows * row_step);
  const Roots roots(rows * columns);
  const Scratch<Complex<double>> steps(cores.engine, rows * kColumns);  // of (k, j) for the first columns
  share_ranges(cores, rows, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k)
      for (int64_t j = 0; j < kColumns; ++j) steps[k * kColumns + j] = roots[k * j % roots.count()];
  });
  share(cores, (columns + kColumns - 1) / kColumns, [&](int64_t piece) {
    const int64_t first = piece * kColumns, width = std::min(kColumns, columns - first);
    matrix_lanes(in + first * in_step, columns * in_step, in_step, between.data() + first, row_step, int64_t{1}, rows, width, 0, forward,
                 1.0);
    const std::unique_ptr<Complex<double>[]> bases(new Complex<double>[static_cast<size_t>(rows)]);
    for (int64_t k = 0; k < rows; ++k) bases[static_cast<size_t>(k)] = roots[k * first];
    routines().multiply_rows({.single = std::is_same_v<T, float>,
                              .conjugate = forward,
                              .data = between.data() + first,
                              .rows = rows,
                              .columns = width,
                              .row_step = row_step,
                              .bases = reinterpret_cast<const double*>(bases.get()),
                              .steps = reinterpret_cast<const double*>(steps.data()),
                              .width = kColumns});
  });
  share(cores, (rows + kRows - 1) / kRows, [&](int64_t piece) {
    const int64_t first = piece * kRows, height = std::min(kRows, rows - first);
    matrix_lanes<T>(between.data() + first * row_step, row_step, 1, out + first * out_step, out_step, rows * out_step, height, columns, 1,
                    forward, factor);
  });
}

/// As a convolution: jk = (j² + k² - (j - k)²) / 2, so that X[k] = c̄[k] Σ x[j] c̄[j] c[k - j] with c[j] = exp(πi j² / n).
template <class T>
void transform_convolved(const Cores& cores, const Complex<T>* in, int64_t in_step, Complex<T>* out, int64_t out_step, int64_t n,
                         bool forward, double factor) {
  const int64_t m = smooth_from(2 * n - 1);
  const Roots roots(2 * n);
  const Scratch<Complex<double>> chirp(cores.engine, n);
  const Scratch<Complex<T>> values(cores.engine, m), kernel(cores.engine, m);
  const auto turned = [&](Complex<double> root) { return forward ? std::conj(root) : root; };
  const auto times = [](Complex<T> x, Complex<double> root) {
    const auto a = static_cast<double>(x.real()), b = static_cast<double>(x.imag());
    return Complex<T>(static_cast<T>(a * root.real() - b * root.imag()), static_cast<T>(a * root.imag() + b * root.real()));
  };
  share_ranges(cores, n, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      chirp[k] = turned(roots[square_modulo(k, 2 * n)]);
      values[k] = times(in[k * in_step], chirp[k]);
      kernel[k] = Complex<T>(std::conj(chirp[k]));
      if (k > 0) kernel[m - k] = kernel[k];
    }
  });
  share_ranges(cores, m - n,
               [&](int64_t begin, int64_t end) { std::fill(values.data() + n + begin, values.data() + n + end, Complex<T>()); });
  std::fill(kernel.data() + n, kernel.data() + m - n + 1, Complex<T>());
  transform_long<T>(cores, kernel.data(), 1, kernel.data(), 1, m, true, 1 / static_cast<double>(m));
  transform_long<T>(cores, values.data(), 1, values.data(), 1, m, true, 1);
  share_ranges(cores, m, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const Complex<T> a = values[k], b = kernel[k];
      values[k] = {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
    }
  });
  transform_long<T>(cores, values.data(), 1, values.data(), 1, m, false, 1);
  share_ranges(cores, n, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) out[k * out_step] = times(values[k], chirp[k] * factor);
  });
}

}  // namespace

template <class T>
void transform_long(const Cores& cores, const Complex<T>* in, int64_t in_step, Complex<T>* out, int64_t out_step, int64_t n, bool forward,
                    double factor) {
  constexpr int64_t kLeastRows = 16;
  const auto [rows, columns] = divide(n);
  if (rows >= kLeastRows) return transform_divided(cores, in, in_step, out, out_step, rows, columns, forward, factor);
  transform_convolved(cores, in, in_step, out, out_step, n, forward, factor);
}

template <class T>
void transform_long_real(const Cores& cores, const T* in, int64_t in_step, Complex<T>* out, int64_t out_step, int64_t n, bool forward,
                         double factor) {
  if (n % 2 != 0) {
    const Scratch<Complex<T>> values(cores.engine, n);
    share_ranges(cores, n, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) values[k] = in[k * in_step];
    });
    transform_long<T>(cores, values.data(), 1, values.data(), 1, n, forward, factor);
    for (int64_t k = 0; k <= n / 2; ++k) out[k * out_step] = values[k];
    return;
  }
  // Even elements are real parts, odd ones imaginary parts: Z = E + i O, and E and O are told apart by their symmetry.
  const int64_t half = n / 2;
  Scratch<Complex<T>> copy;
  auto pairs = reinterpret_cast<const Complex<T>*>(in);
  if (in_step != 1) {
    copy = Scratch<Complex<T>>(cores.engine, half);
    for (int64_t k = 0; k < half; ++k) copy[k] = {in[2 * k * in_step], in[(2 * k + 1) * in_step]};
    pairs = copy.data();
  }
  transform_long<T>(cores, pairs, 1, out, out_step, half, forward, factor);
  const Roots roots(n);
  const Complex<T> first = out[0];
  share_ranges(cores, half / 2, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin + 1; k <= end; ++k) {
      const int64_t other = half - k;
      const Complex<T> a = out[k * out_step], b = out[other * out_step];
      const Complex<double> root = forward ? std::conj(roots[k]) : roots[k];
      const double even_real = 0.5 * (a.real() + b.real()), even_imaginary = 0.5 * (a.imag() - b.imag());
      const double odd_real = 0.5 * (a.imag() + b.imag()), odd_imaginary = -0.5 * (a.real() - b.real());
      const double turned_real = odd_real * root.real() - odd_imaginary * root.imag(),
                   turned_imaginary = odd_real * root.imag() + odd_imaginary * root.real();
      out[k * out_step] = {static_cast<T>(even_real + turned_real), static_cast<T>(even_imaginary + turned_imaginary)};
      if (other != k) out[other * out_step] = {static_cast<T>(even_real - turned_real), static_cast<T>(turned_imaginary - even_imaginary)};
    }
  });
  out[0] = {first.real() + first.imag(), 0};
  out[half * out_step] = {first.real() - first.imag(), 0};
}

template <class T>
void transform_long_back(const Cores& cores, const Complex<T>* in, int64_t in_step, T* out, int64_t out_step, int64_t n, bool forward,
                         double factor) {
  const int64_t half = n / 2;
  if (n % 2 != 0) {
    const Scratch<Complex<T>> values(cores.engine, n);
    values[0] = in[0].real();
    for (int64_t k = 1; k <= half; ++k) {
      values[k] = in[k * in_step];
      values[n - k] = std::conj(values[k]);
    }
    transform_long<T>(cores, values.data(), 1, values.data(), 1, n, forward, factor);
    for (int64_t k = 0; k < n; ++k) out[k * out_step] = values[k].real();
    return;
  }
  const Scratch<Complex<T>> pairs(cores.engine, half);
  const Roots roots(n);
  const T first = in[0].real(), last = in[half * in_step].real();
  pairs[0] = {first + last, first - last};
  share_ranges(cores, half / 2, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin + 1; k <= end; ++k) {
      const int64_t other = half - k;
      const Complex<T> a = in[k * in_step], b = in[other * in_step];
      const Complex<double> root = forward ? std::conj(roots[k]) : roots[k];
      const double even_real = a.real() + b.real(), even_imaginary = a.imag() - b.imag();
      const double turned_real = a.real() - b.real(), turned_imaginary = a.imag() + b.imag();
      const double odd_real = turned_real * root.real() - turned_imaginary * root.imag(),
                   odd_imaginary = turned_real * root.imag() + turned_imaginary * root.real();
      pairs[k] = {static_cast<T>(even_real - odd_imaginary), static_cast<T>(even_imaginary + odd_real)};
      if (other != k) pairs[other] = {static_cast<T>(even_real + odd_imaginary), static_cast<T>(odd_real - even_imaginary)};
    }
  });
  const bool together = out_step == 1;
  Complex<T>* const target = together ? reinterpret_cast<Complex<T>*>(out) : pairs.data();
  transform_long<T>(cores, pairs.data(), 1, target, 1, half, forward, factor);
  if (together) return;
  for (int64_t k = 0; k < half; ++k) {
    out[2 * k * out_step] = target[k].real();
    out[(2 * k + 1) * out_step] = target[k].imag();
  }
}

#define GASELL_LONG(T)                                                                                                    \
  template void transform_long<T>(const Cores&, const Complex<T>*, int64_t, Complex<T>*, int64_t, int64_t, bool, double); \
  template void transform_long_real<T>(const Cores&, const T*, int64_t, Complex<T>*, int64_t, int64_t, bool, double);     \
  template void transform_long_back<T>(const Cores&, const Complex<T>*, int64_t, T*, int64_t, int64_t, bool, double);
GASELL_LONG(float)
GASELL_LONG(double)
#undef GASELL_LONG

}  // namespace gasell::transforms
