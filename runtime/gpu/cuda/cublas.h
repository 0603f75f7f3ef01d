// NVIDIA's library of linear algebra (libcublas). Without it, products of matrices are kernels of ours.
#pragma once

#include <atomic>
#include <complex>
#include <cstdint>
#include <mutex>

#include "runtime/gpu/cuda/library.h"
#include "runtime/gpu/cuda/streams.h"
#include "runtime/gpu/gpu.h"

namespace gasell::cuda {

struct Cublas {
  using Handle = struct CublasObject*;
  enum class Status : int { success = 0, no_memory = 3 };
  enum class Operation : int { none = 0, transposed = 1 };
  template <class T>
  using Gemm = Status (*)(Handle, Operation, Operation, int64_t m, int64_t n, int64_t k, const T* alpha, const T* a, int64_t lda,
                          long long int stride_a, const T* b, int64_t ldb, long long int stride_b, const T* beta, T* c, int64_t ldc,
                          long long int stride_c, int64_t count);
  Status (*create)(Handle* handle);
  Status (*destroy)(Handle handle);
  Status (*set_stream)(Handle handle, Stream stream);
  Gemm<float> gemm_f32;
  Gemm<double> gemm_f64;
  Gemm<std::complex<float>> gemm_c64;
  Gemm<std::complex<double>> gemm_c128;
  void find(const EntryFinder& finder);
};

inline constexpr LibraryKind kCublas{"cuBLAS",       "multiplies matrices on NVIDIA GPUs",  "GASELL_CUBLAS", "nvidia-cublas-cu12",
                                     "libcublas.so", {"libcublas.so.13", "libcublas.so.12"}};
/// The process's: of GASELL_CUBLAS, or the first of libcublas.so.13 and .12 that opens.
const LoadedLibrary<Cublas>& process_cublas();

/// Products of matrices on one GPU. Thread-safe.
class Products {
 public:
  Products(ContextRef context, Streams& streams) : context_(std::move(context)), streams_(streams) {}
  ~Products();
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;
  /// As Gpu::multiply. The context must be current.
  bool multiply(const GpuProduct& product);
  /// Whether the library did not start on this GPU, not for want of memory: it is not asked again.
  bool refused() const { return refused_; }

 private:
  bool ready();
  template <class T>
  bool multiply_typed(Cublas::Gemm<T> gemm, const GpuProduct& product);

  ContextRef context_;
  Streams& streams_;
  std::mutex mutex_;
  Cublas::Handle handle_ = nullptr;
  std::atomic<bool> refused_ = false;
};

}  // namespace gasell::cuda
