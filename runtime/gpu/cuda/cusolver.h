// NVIDIA's library of decompositions (libcusolver). Without it, LAPACK computes them on the host.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/gpu/cuda/library.h"
#include "runtime/gpu/cuda/streams.h"
#include "runtime/gpu/gpu.h"

namespace gasell::cuda {

struct Cusolver {
  using Handle = struct CusolverObject*;
  using Parameters = struct CusolverParameters*;
  enum class Status : int { success = 0, no_memory = 2 };
  enum class Type : int { f64 = 1, c128 = 5 };
  enum class Triangle : int { lower = 0, upper = 1 };
  enum class Operation : int { none = 0 };
  enum class Vectors : int { none = 0, wanted = 1 };
  Status (*create)(Handle* handle);
  Status (*destroy)(Handle handle);
  Status (*set_stream)(Handle handle, Stream stream);
  Status (*create_parameters)(Parameters* parameters);
  Status (*destroy_parameters)(Parameters parameters);
  Status (*getrf_sizes)(Handle, Parameters, int64_t m, int64_t n, Type, const void* a, int64_t lda, Type, size_t* device, size_t* host);
  Status (*getrf)(Handle, Parameters, int64_t m, int64_t n, Type, void* a, int64_t lda, int64_t* pivots, Type, void* device, size_t,
                  void* host, size_t, int* info);
  Status (*getrs)(Handle, Parameters, Operation, int64_t n, int64_t others, Type, const void* a, int64_t lda, const int64_t* pivots, Type,
                  void* b, int64_t ldb, int* info);
  Status (*potrf_sizes)(Handle, Parameters, Triangle, int64_t n, Type, const void* a, int64_t lda, Type, size_t* device, size_t* host);
  Status (*potrf)(Handle, Parameters, Triangle, int64_t n, Type, void* a, int64_t lda, Type, void* device, size_t, void* host, size_t,
                  int* info);
  Status (*geqrf_sizes)(Handle, Parameters, int64_t m, int64_t n, Type, const void* a, int64_t lda, Type, const void* tau, Type,
                        size_t* device, size_t* host);
  Status (*geqrf)(Handle, Parameters, int64_t m, int64_t n, Type, void* a, int64_t lda, Type, void* tau, Type, void* device, size_t,
                  void* host, size_t, int* info);
  Status (*syevd_sizes)(Handle, Parameters, Vectors, Triangle, int64_t n, Type, const void* a, int64_t lda, Type, const void* values, Type,
                        size_t* device, size_t* host);
  Status (*syevd)(Handle, Parameters, Vectors, Triangle, int64_t n, Type, void* a, int64_t lda, Type, void* values, Type, void* device,
                  size_t, void* host, size_t, int* info);
  /// By the polar decomposition: `error` is by how much a was changed for it.
  Status (*gesvdp_sizes)(Handle, Parameters, Vectors, int economic, int64_t m, int64_t n, Type, const void* a, int64_t lda, Type,
                         const void* values, Type, const void* u, int64_t ldu, Type, const void* v, int64_t ldv, Type, size_t* device,
                         size_t* host);
  Status (*gesvdp)(Handle, Parameters, Vectors, int economic, int64_t m, int64_t n, Type, void* a, int64_t lda, Type, void* values, Type,
                   void* u, int64_t ldu, Type, void* v, int64_t ldv, Type, void* device, size_t, void* host, size_t, int* info,
                   double* error);
  /// The only ones with a function a type. Sizes count elements.
  using OrgqrSize = Status (*)(Handle, int m, int n, int k, const void* a, int lda, const void* tau, int* size);
  using Orgqr = Status (*)(Handle, int m, int n, int k, void* a, int lda, const void* tau, void* work, int size, int* info);
  OrgqrSize orgqr_size, ungqr_size;
  Orgqr orgqr, ungqr;
  void find(const EntryFinder& finder);
};

inline constexpr LibraryKind kCusolver{"cuSOLVER",        "decomposes matrices on NVIDIA GPUs",
                                       "GASELL_CUSOLVER", "nvidia-cusolver-cu12",
                                       "libcusolver.so",  {"libcusolver.so.12", "libcusolver.so.11"}};
/// The process's: of GASELL_CUSOLVER, or the first of libcusolver.so.12 and .11 that opens.
const LoadedLibrary<Cusolver>& process_cusolver();

/// Decompositions of matrices on one GPU. Thread-safe.
class Decompositions {
 public:
  Decompositions(ContextRef context, Streams& streams) : context_(std::move(context)), streams_(streams) {}
  ~Decompositions();
  Decompositions(const Decompositions&) = delete;
  Decompositions& operator=(const Decompositions&) = delete;
  /// As Gpu::decompose. The context must be current.
  bool decompose(const GpuDecomposition& decomposition, const GpuWorkSpace& space);
  /// Whether the library did not start on this GPU, not for want of memory: it is not asked again.
  bool refused() const { return refused_; }

 private:
  bool ready();

  ContextRef context_;
  Streams& streams_;
  std::mutex mutex_;
  std::atomic<bool> refused_ = false;
  Cusolver::Handle handle_ = nullptr;
  Cusolver::Parameters parameters_ = nullptr;
  std::vector<char> host_work_;  // of calls that may still run
};

}  // namespace gasell::cuda
