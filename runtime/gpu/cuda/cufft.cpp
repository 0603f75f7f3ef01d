#include "runtime/gpu/cuda/cufft.h"

#include <algorithm>
#include <utility>

namespace gasell::cuda {
namespace {

constexpr size_t kMostPlans = 32;

Cufft::Type type_of(const GpuTransform& t) {
  switch (t.kind) {
    case GpuTransform::Kind::real_to_complex: return t.single ? Cufft::Type::r2c : Cufft::Type::d2z;
    case GpuTransform::Kind::complex_to_real: return t.single ? Cufft::Type::c2r : Cufft::Type::z2d;
    default: return t.single ? Cufft::Type::c2c : Cufft::Type::z2z;
  }
}

/// Whether one plan serves both: cuFFT's plans of complex numbers go either way.
bool same_plan(const GpuTransform& a, const GpuTransform& b) {
  const auto same_side = [](const GpuTransform::Side& x, const GpuTransform::Side& y) { return x.steps == y.steps && x.stack == y.stack; };
  return type_of(a) == type_of(b) && a.rank == b.rank && a.extents == b.extents && a.count == b.count && same_side(a.from, b.from) &&
         same_side(a.to, b.to);
}

/// A side as cuFFT has it: a step along the last axis, and boxes whose last axes lie in memory without gaps.
struct Layout {
  Layout(const GpuTransform& t, const GpuTransform::Side& side)
      : step(side.steps[static_cast<size_t>(t.rank) - 1]), stack(std::max<long long int>(side.stack, 1)) {
    std::copy(t.extents.begin(), t.extents.end(), box.begin());
    for (size_t k = 1; k < static_cast<size_t>(t.rank); ++k) box[k] = side.steps[k - 1] / side.steps[k];
  }
  std::array<long long int, 3> box;
  long long int step, stack;
};

}  // namespace

void Cufft::find(const EntryFinder& finder) {
  finder(create, "cufftCreate");
  finder(destroy, "cufftDestroy");
  finder(set_auto_allocation, "cufftSetAutoAllocation");
  finder(make, "cufftMakePlanMany64");
  finder(set_stream, "cufftSetStream");
  finder(set_work_area, "cufftSetWorkArea");
  finder(execute, "cufftXtExec");
}

const LoadedLibrary<Cufft>& process_cufft() {
  static const LoadedLibrary<Cufft> loaded = find_library<Cufft>(kCufft);
  return loaded;
}

Transforms::~Transforms() {
  if (plans_.empty()) return;
  if (const Current current(*context_, std::nothrow); current.entered())
    while (!plans_.empty()) drop_last();
}

void Transforms::drop_last() {
  process_cufft().entries.destroy(plans_.back().plan);
  plans_.pop_back();
}

bool Transforms::make(Made& made) {
  const Cufft& c = process_cufft().entries;
  const GpuTransform& t = made.shape;
  if (const Cufft::Status status = c.create(&made.plan); status != Cufft::Status::success) {
    refused_ = plans_.empty() && status != Cufft::Status::no_memory;
    return false;
  }
  std::array<long long int, 3> extents;
  std::copy(t.extents.begin(), t.extents.end(), extents.begin());
  Layout from(t, t.from), to(t, t.to);
  const bool fine = c.set_auto_allocation(made.plan, 0) == Cufft::Status::success &&
                    c.make(made.plan, t.rank, extents.data(), from.box.data(), from.step, from.stack, to.box.data(), to.step, to.stack,
                           type_of(t), t.count, &made.work_bytes) == Cufft::Status::success &&
                    c.set_stream(made.plan, streams_[GpuStream::compute]) == Cufft::Status::success;
  if (!fine) c.destroy(made.plan);
  return fine;
}

/// Null where there is no memory for it, or where it is none that the library makes.
const Transforms::Made* Transforms::plan_for(const GpuTransform& transform) {
  const auto found = std::find_if(plans_.begin(), plans_.end(), [&](const Made& made) { return same_plan(made.shape, transform); });
  if (found != plans_.end()) {
    plans_.splice(plans_.begin(), plans_, found);
    return &plans_.front();
  }
  while (plans_.size() >= kMostPlans) drop_last();
  Made made{transform, 0, 0};
  if (!make(made)) {
    // The tables of the others may take the memory that this one's need.
    if (plans_.empty()) return nullptr;
    while (!plans_.empty()) drop_last();
    if (!make(made)) return nullptr;
  }
  plans_.push_front(made);
  return &plans_.front();
}

bool Transforms::transform(const GpuTransform& transform, const GpuWorkSpace& space) {
  const LoadedLibrary<Cufft>& loaded = process_cufft();
  if (!loaded.ready() || refused_) return false;
  const Cufft& c = loaded.entries;
  const std::lock_guard lock(mutex_);
  const Made* const made = plan_for(transform);
  if (!made) return false;
  const auto pointer = [](GpuAddress address) { return reinterpret_cast<void*>(address); };
  if (made->work_bytes > 0) {
    void* const work = pointer(space(static_cast<int64_t>(made->work_bytes)));
    if (c.set_work_area(made->plan, work) != Cufft::Status::success) return false;
  }
  const bool forward = transform.kind == GpuTransform::Kind::forward || transform.kind == GpuTransform::Kind::real_to_complex;
  if (c.execute(made->plan, pointer(transform.from.data), pointer(transform.to.data),
                forward ? Cufft::Direction::forward : Cufft::Direction::backward) != Cufft::Status::success)
    return false;
  streams_.gave(GpuStream::compute);
  return true;
}

}  // namespace gasell::cuda
