// OpenBLAS: the functions of BLAS and LAPACK that are used here. The library has integers of 64 bits (libopenblas64.so.0) and is opened
// when the first of them is wanted, for opening it takes milliseconds. Matrices are Fortran's: columns lie together.
//
// It runs one thread, for tasks of ours call it beside each other, but while a LibraryThreads says otherwise.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>

namespace gasell::linalg {

template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
inline constexpr bool kIsComplex = !std::is_same_v<T, Real<T>>;

/// Fortran's functions of one element type: all arguments by address, the lengths of texts at the end.
template <class T>
struct Routines {
  using Text = const char*;
  using Int = const int64_t*;
  using Length = size_t;
  using R = Real<T>;
  void (*gemm)(Text, Text, Int m, Int n, Int k, const T* alpha, const T* a, Int lda, const T* b, Int ldb, const T* beta, T* c, Int ldc,
               Length, Length);
  void (*syrk)(Text, Text, Int n, Int k, const T* alpha, const T* a, Int lda, const T* beta, T* c, Int ldc, Length, Length);
  void (*trsm)(Text, Text, Text, Text, Int m, Int n, const T* alpha, const T* a, Int lda, T* b, Int ldb, Length, Length, Length, Length);
  void (*gemv)(Text, Int m, Int n, const T* alpha, const T* a, Int lda, const T* x, Int incx, const T* beta, T* y, Int incy, Length);
  void (*getrf)(Int m, Int n, T* a, Int lda, int64_t* pivots, int64_t* info);
  void (*getrs)(Text, Int n, Int nrhs, const T* a, Int lda, const int64_t* pivots, T* b, Int ldb, int64_t* info, Length);
  void (*potrf)(Text, Int n, T* a, Int lda, int64_t* info, Length);
  void (*geqrf)(Int m, Int n, T* a, Int lda, T* tau, T* work, Int lwork, int64_t* info);
  void (*orgqr)(Int m, Int n, Int k, T* a, Int lda, const T* tau, T* work, Int lwork, int64_t* info);  // ungqr of complex numbers
  void* gesdd;  // the next four have other arguments where numbers are complex
  void* geev;
  void* syevd;  // heevd
  void* gelsd;
};

class OpenBlas {
 public:
  /// Null where the library cannot be opened; that is tried once.
  static const OpenBlas* find();
  /// Throws Error("RuntimeError") that says what is missing.
  static const OpenBlas& get();

  /// Of f32, f64, c64, c128.
  template <class T>
  const Routines<T>& routines() const;

  /// The address of another function of LAPACK, by its name without the letter of the element type and the underscore: "trsyl". Looked up
  /// anew each time. Throws Error("RuntimeError") where the library has none.
  template <class T>
  void* routine(const char* name) const {
    constexpr bool kSingle = std::is_same_v<Real<T>, float>;
    return named(kIsComplex<T> ? (kSingle ? 'c' : 'z') : (kSingle ? 's' : 'd'), name);
  }

  /// "OpenBLAS 0.3.21 … Zen", its own words; empty where it gives none.
  std::string description() const { return config_ ? config_() : ""; }

  /// Σ x y; both steps above 0.
  double dot(int64_t n, const double* x, int64_t x_step, const double* y, int64_t y_step) const {
    return ddot_(&n, x, &x_step, y, &y_step);
  }
  float dot(int64_t n, const float* x, int64_t x_step, const float* y, int64_t y_step) const { return sdot_(&n, x, &x_step, y, &y_step); }

 private:
  friend class LibraryThreads;
  OpenBlas();
  static const OpenBlas& instance();
  template <class T>
  void load(void* library, char letter, Routines<T>& routines);
  void* named(char letter, const char* name) const;
  void* library_ = nullptr;
  std::string problem_;  // why it cannot be used; empty: it can
  void (*set_threads_)(int) = nullptr;
  const char* (*config_)() = nullptr;
  double (*ddot_)(const int64_t*, const double*, const int64_t*, const double*, const int64_t*) = nullptr;
  float (*sdot_)(const int64_t*, const float*, const int64_t*, const float*, const int64_t*) = nullptr;
  Routines<float> f32_{};
  Routines<double> f64_{};
  Routines<std::complex<float>> c64_{};
  Routines<std::complex<double>> c128_{};
};

/// The library's own threads for one call that is worth them, while this lives. Calls of other threads of the process run as many
/// meanwhile.
class LibraryThreads {
 public:
  explicit LibraryThreads(int count) : library_(OpenBlas::get()), many_(count > 1) {
    if (many_) library_.set_threads_(count);
  }
  ~LibraryThreads() {
    if (many_) library_.set_threads_(1);
  }
  LibraryThreads(const LibraryThreads&) = delete;
  LibraryThreads& operator=(const LibraryThreads&) = delete;

 private:
  const OpenBlas& library_;
  const bool many_;
};

template <>
const Routines<float>& OpenBlas::routines() const;
template <>
const Routines<double>& OpenBlas::routines() const;
template <>
const Routines<std::complex<float>>& OpenBlas::routines() const;
template <>
const Routines<std::complex<double>>& OpenBlas::routines() const;

}  // namespace gasell::linalg
