#include "runtime/gpu/cuda/cusolver.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace gasell::cuda {
namespace {

using Kind = GpuDecomposition::Kind;

constexpr int64_t kAligned = 256;
int64_t aligned(int64_t bytes) { return (bytes + kAligned - 1) / kAligned * kAligned; }

struct WorkBytes {
  size_t device = 0, host = 0;
};

/// The calls for one stack of matrices.
class Calls {
 public:
  Calls(const Cusolver& entries, Cusolver::Handle handle, Cusolver::Parameters parameters, const GpuDecomposition& d)
      : c_(entries),
        handle_(handle),
        parameters_(parameters),
        d_(d),
        type_(d.dtype == DType::c128 ? Cusolver::Type::c128 : Cusolver::Type::f64),
        triangle_(d.upper ? Cusolver::Triangle::upper : Cusolver::Triangle::lower),
        vectors_(d.vectors ? Cusolver::Vectors::wanted : Cusolver::Vectors::none) {}

  /// False: the library does not take these matrices.
  bool ask(WorkBytes& work) const {
    const int64_t m = d_.rows, n = d_.columns;
    void* const a = matrix(0);
    switch (d_.kind) {
      case Kind::solve: return fine(c_.getrf_sizes(handle_, parameters_, n, n, type_, a, n, type_, &work.device, &work.host));
      case Kind::cholesky: return fine(c_.potrf_sizes(handle_, parameters_, triangle_, n, type_, a, n, type_, &work.device, &work.host));
      case Kind::qr: return fine(c_.geqrf_sizes(handle_, parameters_, m, n, type_, a, m, type_, tau(0), type_, &work.device, &work.host));
      case Kind::qr_q: {
        if (m * n > std::numeric_limits<int>::max()) return false;
        int elements = 0;
        const Cusolver::OrgqrSize size = type_ == Cusolver::Type::c128 ? c_.ungqr_size : c_.orgqr_size;
        if (!fine(size(handle_, narrow(m), narrow(n), narrow(d_.others), a, narrow(m), tau(0), &elements))) return false;
        work.device = static_cast<size_t>(elements) * static_cast<size_t>(size_of(d_.dtype));
        return true;
      }
      case Kind::eigenvalues:
        return fine(
            c_.syevd_sizes(handle_, parameters_, vectors_, triangle_, n, type_, a, n, kReal, values(0), type_, &work.device, &work.host));
      default:
        return fine(c_.gesvdp_sizes(handle_, parameters_, vectors_, 1, m, n, type_, a, m, kReal, values(0), type_, u(0), m, type_, v(0), n,
                                    type_, &work.device, &work.host));
    }
  }

  /// Of matrix k, with as much work space as ask() said. `spare`: an int that nobody reads.
  bool run(int64_t k, const WorkBytes& work, void* device, void* host, int* spare) const {
    const int64_t m = d_.rows, n = d_.columns;
    void* const a = matrix(k);
    int* const outcome = at<int>(d_.outcome, k);
    switch (d_.kind) {
      case Kind::solve: {
        auto* const pivots = at<int64_t>(d_.pivots, k * n);
        if (!fine(c_.getrf(handle_, parameters_, n, n, type_, a, n, pivots, type_, device, work.device, host, work.host, outcome)))
          return false;
        return d_.others == 0 || fine(c_.getrs(handle_, parameters_, Cusolver::Operation::none, n, d_.others, type_, a, n, pivots, type_,
                                               elements(d_.b, k * n * d_.others), n, spare));
      }
      case Kind::cholesky:
        return fine(c_.potrf(handle_, parameters_, triangle_, n, type_, a, n, type_, device, work.device, host, work.host, outcome));
      case Kind::qr:
        return fine(c_.geqrf(handle_, parameters_, m, n, type_, a, m, type_, tau(k * std::min(m, n)), type_, device, work.device, host,
                             work.host, outcome));
      case Kind::qr_q: {
        const Cusolver::Orgqr function = type_ == Cusolver::Type::c128 ? c_.ungqr : c_.orgqr;
        return fine(function(handle_, narrow(m), narrow(n), narrow(d_.others), a, narrow(m), tau(k * d_.others), device,
                             static_cast<int>(work.device / static_cast<size_t>(size_of(d_.dtype))), outcome));
      }
      case Kind::eigenvalues:
        return fine(c_.syevd(handle_, parameters_, vectors_, triangle_, n, type_, a, n, kReal, values(k * n), type_, device, work.device,
                             host, work.host, outcome));
      default: {
        const int64_t of = d_.vectors ? k : 0;  // what is not wanted lies in one place
        double error = 0;
        const bool given = fine(c_.gesvdp(handle_, parameters_, vectors_, 1, m, n, type_, a, m, kReal, values(k * n), type_, u(of * m * n),
                                          m, type_, v(of * n * n), n, type_, device, work.device, host, work.host, outcome, &error));
        return given && error == 0;
      }
    }
  }

 private:
  static constexpr Cusolver::Type kReal = Cusolver::Type::f64;

  static bool fine(Cusolver::Status status) { return status == Cusolver::Status::success; }
  static int narrow(int64_t n) { return static_cast<int>(n); }
  template <class T>
  static T* at(GpuAddress address, int64_t element) {
    return reinterpret_cast<T*>(address) + element;
  }
  void* elements(GpuAddress address, int64_t element) const { return at<char>(address, element * size_of(d_.dtype)); }
  void* matrix(int64_t k) const { return elements(d_.a, k * d_.rows * d_.columns); }
  void* tau(int64_t element) const { return elements(d_.b, element); }
  void* values(int64_t element) const { return at<double>(d_.values, element); }
  void* u(int64_t element) const { return elements(d_.u, element); }
  void* v(int64_t element) const { return elements(d_.v, element); }

  const Cusolver& c_;
  const Cusolver::Handle handle_;
  const Cusolver::Parameters parameters_;
  const GpuDecomposition& d_;
  const Cusolver::Type type_;
  const Cusolver::Triangle triangle_;
  const Cusolver::Vectors vectors_;
};

}  // namespace

void Cusolver::find(const EntryFinder& finder) {
  finder(create, "cusolverDnCreate");
  finder(destroy, "cusolverDnDestroy");
  finder(set_stream, "cusolverDnSetStream");
  finder(create_parameters, "cusolverDnCreateParams");
  finder(destroy_parameters, "cusolverDnDestroyParams");
  finder(getrf_sizes, "cusolverDnXgetrf_bufferSize");
  finder(getrf, "cusolverDnXgetrf");
  finder(getrs, "cusolverDnXgetrs");
  finder(potrf_sizes, "cusolverDnXpotrf_bufferSize");
  finder(potrf, "cusolverDnXpotrf");
  finder(geqrf_sizes, "cusolverDnXgeqrf_bufferSize");
  finder(geqrf, "cusolverDnXgeqrf");
  finder(syevd_sizes, "cusolverDnXsyevd_bufferSize");
  finder(syevd, "cusolverDnXsyevd");
  finder(gesvdp_sizes, "cusolverDnXgesvdp_bufferSize");
  finder(gesvdp, "cusolverDnXgesvdp");
  finder(orgqr_size, "cusolverDnDorgqr_bufferSize");
  finder(ungqr_size, "cusolverDnZungqr_bufferSize");
  finder(orgqr, "cusolverDnDorgqr");
  finder(ungqr, "cusolverDnZungqr");
}

const LoadedLibrary<Cusolver>& process_cusolver() {
  static const LoadedLibrary<Cusolver> loaded = find_library<Cusolver>(kCusolver);
  return loaded;
}

Decompositions::~Decompositions() {
  if (!handle_) return;
  if (const Current current(*context_, std::nothrow); current.entered()) {
    process_cusolver().entries.destroy_parameters(parameters_);
    process_cusolver().entries.destroy(handle_);
  }
}

bool Decompositions::ready() {
  const LoadedLibrary<Cusolver>& loaded = process_cusolver();
  if (!loaded.ready()) return false;
  if (handle_ || refused_) return handle_ != nullptr;
  const Cusolver& c = loaded.entries;
  Cusolver::Handle handle = nullptr;
  Cusolver::Status status = c.create(&handle);
  const bool made = status == Cusolver::Status::success;
  if (made) status = c.set_stream(handle, streams_[GpuStream::compute]);
  if (status == Cusolver::Status::success) status = c.create_parameters(&parameters_);
  if (status != Cusolver::Status::success) {
    if (made) c.destroy(handle);
    refused_ = status != Cusolver::Status::no_memory;
    return false;
  }
  handle_ = handle;
  return true;
}

bool Decompositions::decompose(const GpuDecomposition& decomposition, const GpuWorkSpace& space) {
  const std::lock_guard lock(mutex_);
  if (!ready()) return false;
  // gesvdp writes the vectors also where nobody wants them.
  GpuDecomposition d = decomposition;
  const bool unwanted = d.kind == Kind::singular_values && !d.vectors;
  const int64_t width = size_of(d.dtype), of_u = unwanted ? d.rows * d.columns * width : 0,
                of_v = unwanted ? d.columns * d.columns * width : 0;
  const Calls calls(process_cusolver().entries, handle_, parameters_, d);
  WorkBytes work;
  if (!calls.ask(work)) return false;
  const int64_t u_at = aligned(static_cast<int64_t>(work.device)), v_at = aligned(u_at + of_u), spare_at = aligned(v_at + of_v);
  const GpuAddress device = space(spare_at + kAligned);
  if (unwanted) d.u = device + static_cast<GpuAddress>(u_at), d.v = device + static_cast<GpuAddress>(v_at);
  if (work.host > host_work_.size()) {
    context_->driver().stream_synchronize(streams_[GpuStream::compute]);
    host_work_.resize(work.host);
  }
  bool given = true;
  for (int64_t k = 0; given && k < d.count; ++k)
    given = calls.run(k, work, reinterpret_cast<void*>(device), host_work_.data(),
                      reinterpret_cast<int*>(device + static_cast<GpuAddress>(spare_at)));
  streams_.gave(GpuStream::compute);
  return given;
}

}  // namespace gasell::cuda
