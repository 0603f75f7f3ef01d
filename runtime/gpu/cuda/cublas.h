// NVIDIA's library of linear algebra (libcublas), opened where a product of matrices shall run on a GPU. It is not needed: without it,
// products are kernels of ours.
//
// The declarations are our own, of the entries we use; all versions from CUDA 12 on have them.
#pragma once

#include <complex>
#include <cstdint>
#include <mutex>
#include <string>

#include "runtime/gpu/cuda/streams.h"
#include "runtime/gpu/gpu.h"

namespace gasell::cuda {

struct Cublas {
  using Handle = struct CublasObject*;
  enum class Status : int { success = 0 };
  enum class Operation : int { none = 0, transposed = 1 };
  template <class T>
  using Gemm = Status (*)(Handle, Operation, Operation, int64_t m, int64_t n, int64_t k, const T* alpha, const T* a, int64_t lda,
                          long long int stride_a, const T* b, int64_t ldb, long long int stride_b, const T* beta, T* c, int64_t ldc,
                          long long int stride_c, int64_t count);
  Status (*create)(Handle* handle);
  Status (*destroy)(Handle handle);
  Status (*set_stream)(Handle handle, Stream stream);
  Status (*get_version)(Handle handle, int* version);
  Gemm<float> gemm_f32;
  Gemm<double> gemm_f64;
  Gemm<std::complex<float>> gemm_c64;
  Gemm<std::complex<double>> gemm_c128;
};

struct LoadedCublas {
  Cublas entries{};
  std::string library;          // the name it was opened by
  std::string problem, remedy;  // both empty when it is ready
  bool ready() const { return problem.empty(); }
};

/// Opens a library; it stays open.
LoadedCublas load_cublas(const std::string& library);
/// The process's: what GASELL_CUBLAS names, or the first of libcublas.so.13 and .12 that opens (toolkit.h says where they are looked for).
/// GASELL_CUBLAS=0: none.
const LoadedCublas& process_cublas();

/// Products of matrices on one GPU. Thread-safe.
class Products {
 public:
  Products(ContextRef context, Streams& streams) : context_(std::move(context)), streams_(streams) {}
  ~Products();
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;
  /// As Gpu::multiply. The context must be current.
  bool multiply(const GpuProduct& product);

 private:
  template <class T>
  bool multiply_typed(Cublas::Gemm<T> gemm, const GpuProduct& product);

  ContextRef context_;
  Streams& streams_;
  std::mutex mutex_;
  Cublas::Handle handle_ = nullptr;
};

}  // namespace gasell::cuda
