// NVIDIA's library of Fourier transforms (libcufft). Without it, transforms are kernels of ours.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>

#include "runtime/gpu/cuda/library.h"
#include "runtime/gpu/cuda/streams.h"
#include "runtime/gpu/gpu.h"

namespace gasell::cuda {

struct Cufft {
  using Plan = int;
  enum class Status : int { success = 0, no_memory = 2 };
  /// The numbers of an element and the direction of the transform between them, in single and in double precision.
  enum class Type : int { c2c = 0x29, r2c = 0x2a, c2r = 0x2c, z2z = 0x69, d2z = 0x6a, z2d = 0x6c };
  enum class Direction : int { forward = -1, backward = 1 };
  Status (*create)(Plan* plan);
  Status (*destroy)(Plan plan);
  Status (*set_auto_allocation)(Plan plan, int on);
  Status (*make)(Plan plan, int rank, long long int* extents, long long int* from_box, long long int from_step, long long int from_stack,
                 long long int* to_box, long long int to_step, long long int to_stack, Type type, long long int count, size_t* work_bytes);
  Status (*set_stream)(Plan plan, Stream stream);
  Status (*set_work_area)(Plan plan, void* work);
  Status (*execute)(Plan plan, void* from, void* to, Direction direction);
  void find(const EntryFinder& finder);
};

inline constexpr LibraryKind kCufft{"cuFFT",       "transforms arrays on NVIDIA GPUs",  "GASELL_CUFFT", "nvidia-cufft-cu12",
                                    "libcufft.so", {"libcufft.so.12", "libcufft.so.11"}};
/// The process's: of GASELL_CUFFT, or the first of libcufft.so.12 and .11 that opens.
const LoadedLibrary<Cufft>& process_cufft();

/// Fourier transforms on one GPU. Thread-safe. Keeps the plans that were used last: making one takes from some 100 microseconds to as many
/// milliseconds.
class Transforms {
 public:
  Transforms(ContextRef context, Streams& streams) : context_(std::move(context)), streams_(streams) {}
  ~Transforms();
  Transforms(const Transforms&) = delete;
  Transforms& operator=(const Transforms&) = delete;
  /// As Gpu::transform. The context must be current.
  bool transform(const GpuTransform& transform, const GpuWorkSpace& space);
  /// Whether the library did not start on this GPU, not for want of memory: it is not asked again.
  bool refused() const { return refused_; }

 private:
  struct Made {
    GpuTransform shape;  // whose addresses do not count
    Cufft::Plan plan;
    size_t work_bytes;
  };
  const Made* plan_for(const GpuTransform& transform);
  bool make(Made& made);
  void drop_last();

  ContextRef context_;
  Streams& streams_;
  std::mutex mutex_;
  std::atomic<bool> refused_ = false;
  std::list<Made> plans_;  // what was used last comes first
};

}  // namespace gasell::cuda
