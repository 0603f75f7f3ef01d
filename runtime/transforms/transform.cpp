#include "runtime/transforms/transform.h"

#include <algorithm>
#include <bit>

#include "runtime/transforms/long_transform.h"
#include "runtime/transforms/pieces.h"
#include "runtime/transforms/routines.h"

namespace gasell::transforms {
namespace {

/// Work space of the library, which it takes from the heap: in the budget while this lives.
class HeapShare {
 public:
  HeapShare(Engine& engine, int64_t bytes) : budget_(engine.device().budget()), bytes_(bytes) { budget_.take(bytes); }
  ~HeapShare() { budget_.give(bytes_); }
  HeapShare(const HeapShare&) = delete;
  HeapShare& operator=(const HeapShare&) = delete;

 private:
  MemoryBudget& budget_;
  const int64_t bytes_;
};

int64_t element_bytes(const Transform& t, bool complex) { return (t.single ? 4 : 8) * (complex ? 2 : 1); }

/// f(where the vector begins in `in`, where in `out`), of one vector after the other.
template <class F>
void each_lane(const Strided<const void>& in, const Strided<void>& out, int axis, const F& f) {
  const size_t rank = in.shape.size();
  graph::Shape at(rank, 0);
  while (true) {
    int64_t from = 0, to = 0;
    for (size_t k = 0; k < rank; ++k) from += at[k] * in.steps[k], to += at[k] * out.steps[k];
    f(from, to);
    size_t k = rank;
    while (k-- > 0) {
      if (static_cast<int>(k) == axis) continue;
      if (++at[k] < in.shape[k]) break;
      at[k] = 0;
    }
    if (k == static_cast<size_t>(-1)) return;
  }
}

template <class T>
void each_long(const Cores& cores, const Transform& t, const Strided<const void>& in, const Strided<void>& out, int axis, int64_t n) {
  using Complex = std::complex<T>;
  const int64_t in_step = in.steps[static_cast<size_t>(axis)], out_step = out.steps[static_cast<size_t>(axis)];
  each_lane(in, out, axis, [&](int64_t from, int64_t to) {
    const auto* complex_in = static_cast<const Complex*>(in.data) + from;
    auto* const complex_out = static_cast<Complex*>(out.data) + to;
    if (t.kind == Kind::complex)
      transform_long<T>(cores, complex_in, in_step, complex_out, out_step, n, t.forward, t.factor);
    else if (t.kind == Kind::real_to_complex)
      transform_long_real<T>(cores, static_cast<const T*>(in.data) + from, in_step, complex_out, out_step, n, t.forward, t.factor);
    else
      transform_long_back<T>(cores, complex_in, in_step, static_cast<T*>(out.data) + to, out_step, n, t.forward, t.factor);
  });
}

}  // namespace

void transform(const Cores& cores, const Transform& t, const Strided<const void>& in, const Strided<void>& out, int axis) {
  const Routines& library = routines();
  const auto dimension = static_cast<size_t>(axis);
  const int64_t n = t.kind == Kind::complex_to_real ? out.shape[dimension] : in.shape[dimension];
  if (graph::size_of(out.shape) == 0) return;
  const int64_t lanes = graph::size_of(in.shape) / in.shape[dimension];
  const bool fourier = t.kind == Kind::complex || t.kind == Kind::real_to_complex || t.kind == Kind::complex_to_real;
  const int64_t complex_length = t.kind == Kind::complex ? n : n / 2;
  // What decides does not depend on the number of threads, so that the bits of results do not.
  constexpr int64_t kBeyondCache = 1 << 18, kFew = 16;
  if (fourier && (complex_length >= kBeyondCache || (complex_length >= kLong && lanes < kFew)))
    return t.single ? each_long<float>(cores, t, in, out, axis, n) : each_long<double>(cores, t, in, out, axis, n);

  constexpr double kPiece = 2e5, kMost = 64,
                   kPatience = 4e7;  // elements × their logarithm: worth waking a core; as long as Ctrl-C may wait
  const double work = static_cast<double>(lanes) * static_cast<double>(n) * (std::bit_width(static_cast<uint64_t>(n)) + 4);
  const double wanted = std::max(std::min(work / kPiece, kMost), work / kPatience);
  const Pieces pieces(in.shape, out.steps, axis, static_cast<int64_t>(wanted));
  const auto run = [&](int64_t piece) {
    const Pieces::Box box = pieces.box(piece);
    graph::Shape in_shape = box.shape, out_shape = box.shape;
    in_shape[dimension] = in.shape[dimension];
    out_shape[dimension] = out.shape[dimension];
    int64_t from = 0, to = 0;
    for (size_t k = 0; k < box.first.size(); ++k) from += box.first[k] * in.steps[k], to += box.first[k] * out.steps[k];
    library.transform(
        {.kind = t.kind,
         .single = t.single,
         .forward = t.forward,
         .orthogonal = t.orthogonal,
         .type = t.type,
         .factor = t.factor,
         .rank = static_cast<int>(in_shape.size()),
         .axis = axis,
         .in_shape = in_shape.data(),
         .in_steps = in.steps.data(),
         .out_shape = out_shape.data(),
         .out_steps = out.steps.data(),
         .in = static_cast<const char*>(in.data) + from * element_bytes(t, t.kind == Kind::complex || t.kind == Kind::complex_to_real),
         .out = static_cast<char*>(out.data) + to * element_bytes(t, t.kind == Kind::complex || t.kind == Kind::real_to_complex)});
  };
  if (pieces.count() == 1) return run(0);
  constexpr int64_t kSideBySide = 16, kBuffers = 3;
  const HeapShare reserved(cores.engine, cores.threads() * kBuffers * n * std::min(kSideBySide, lanes) * element_bytes(t, true));
  share(cores, pieces.count(), run);
}

}  // namespace gasell::transforms
