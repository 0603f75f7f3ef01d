// ducc's loops over threads, on the calling thread.
#include "ducc0/infra/threading.h"

namespace DUCC0_NAMESPACE {
namespace detail_threading {
namespace {

/// One thread that is handed all work at once.
class Alone final : public Scheduler {
 public:
  explicit Alone(size_t work) : work_(work) {}
  size_t num_threads() const override { return 1; }
  size_t thread_num() const override { return 0; }
  Range getNext() override {
    const size_t work = work_;
    work_ = 0;
    return {0, work};
  }

 private:
  size_t work_;
};

}  // namespace

size_t adjust_nthreads(size_t) { return 1; }

void execSingle(size_t nwork, std::function<void(Scheduler&)> func) {
  Alone alone(nwork);
  func(alone);
}
void execStatic(size_t nwork, size_t, size_t, std::function<void(Scheduler&)> func) { execSingle(nwork, std::move(func)); }
void execParallel(size_t, std::function<void(Scheduler&)> func) { execSingle(1, std::move(func)); }
void execParallel(size_t work_lo, size_t work_hi, size_t, std::function<void(size_t, size_t)> func) { func(work_lo, work_hi); }

}  // namespace detail_threading
}  // namespace DUCC0_NAMESPACE
