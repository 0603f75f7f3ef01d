#include "stdlib/numpy/gpu_linalg.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "lang/diagnostic.h"
#include "runtime/gpu/gpu_device.h"
#include "runtime/primitives/operator_report.h"
#include "stdlib/library.h"
#include "stdlib/numpy/memory_order.h"

namespace gasell::numpy {
namespace {

using graph::NodeRef;
using Kind = GpuDecomposition::Kind;

// Extents from which on the GPU's library is faster than LAPACK on the host.
constexpr int64_t kLeast = 256;

bool is_complex_array(const NodeRef& node) { return is_complex(node->dtype); }
NodeRef conjugate(const NodeRef& node) { return is_complex_array(node) ? graph::map(ScalarOp::conj, {node}) : node; }

/// A stack of matrices for a GPU's library, and the memory that a call of it uses.
class OnGpu {
 public:
  /// Nothing where the host shall decompose `array`. `operations`: of one element times the lesser extent, about.
  static std::optional<OnGpu> of(Interpreter& in, const Array& array, double operations);

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  const NodeRef& node() const { return node_; }

  /// Memory of our own for a stack of m × n matrices.
  HostStorageRef empty(int64_t m, int64_t n, DType dtype);
  HostStorageRef empty(int64_t m, int64_t n) { return empty(m, n, node_->dtype); }
  /// That holds `matrices`, their columns together or their rows.
  HostStorageRef filled(const NodeRef& matrices, bool columns_together = true);
  /// What is in such memory now. `m` and `n` of the last two axes; rows() and columns() mean nothing to it.
  NodeRef matrices(const HostStorageRef& memory, int64_t m, int64_t n, bool columns_together = true) const;
  NodeRef vectors(const HostStorageRef& memory, int64_t n, DType dtype, int64_t step = 1, int64_t stack = 0) const;

  /// Gives the decomposition to the library: its count, dtype and outcome are set here. Nothing: it cannot be done there.
  struct Argument {
    GpuAddress GpuDecomposition::* address;
    HostStorageRef memory;
  };
  std::optional<std::vector<char>> run(GpuDecomposition decomposition, const std::vector<Argument>& arguments, const char* name);

 private:
  OnGpu(Interpreter& in, GpuDevice& gpus, NodeRef node) : in_(in), gpus_(gpus), node_(std::move(node)) {
    const graph::Shape& shape = node_->shape;
    outer_.assign(shape.begin(), shape.end() - 2);
    rows_ = shape[shape.size() - 2], columns_ = shape.back(), count_ = graph::size_of(outer_);
  }
  /// Of the outer axes, over stacks of so many elements a matrix.
  std::vector<int64_t> outer_steps(int64_t elements) const {
    std::vector<int64_t> steps = graph::contiguous_strides(outer_);
    for (int64_t& step : steps) step *= elements;
    return steps;
  }
  std::vector<int64_t> steps_of(int64_t m, int64_t n, bool columns_together) const {
    std::vector<int64_t> steps = outer_steps(m * n);
    steps.insert(steps.end(), {columns_together ? 1 : n, columns_together ? m : 1});
    return steps;
  }

  Interpreter& in_;
  GpuDevice& gpus_;
  NodeRef node_;
  graph::Shape outer_;
  int64_t rows_ = 0, columns_ = 0, count_ = 0;
};

bool all_finite(Engine& engine, const NodeRef& node) {
  NodeRef finite = is_complex_array(node)
                       ? graph::map(ScalarOp::logical_and, {graph::map(ScalarOp::isfinite, {graph::map(ScalarOp::real, {node})}),
                                                            graph::map(ScalarOp::isfinite, {graph::map(ScalarOp::imag, {node})})})
                       : graph::map(ScalarOp::isfinite, {node});
  std::vector<int> axes(node->shape.size());
  for (size_t k = 0; k < axes.size(); ++k) axes[k] = static_cast<int>(k);
  return Array(graph::reduce(graph::ReduceOp::all, finite, axes)).item(engine, {}).i != 0;
}

std::optional<OnGpu> OnGpu::of(Interpreter& in, const Array& array, double operations) {
  const graph::Shape& shape = array.shape();
  const int64_t least = std::min(shape.back(), shape[shape.size() - 2]);
  if (least < kLeast || array.size() == 0) return std::nullopt;
  // Of LAPACK's operations a core does some billions a second.
  constexpr double kFasterThanLoops = 4;
  const double work = operations * static_cast<double>(array.size()) * static_cast<double>(least);
  GpuDevice* const gpus =
      in.engine().gpus_for_function(host_seconds(0, work / kFasterThanLoops, in.engine().device().properties().threads));
  if (!gpus || !gpus->library(GpuLibrary::decompositions)) return std::nullopt;
  array.force(in.engine());  // it is read twice
  if (!all_finite(in.engine(), array.node())) return std::nullopt;
  return OnGpu(in, *gpus, array.node());
}

HostStorageRef OnGpu::empty(int64_t m, int64_t n, DType dtype) {
  return std::dynamic_pointer_cast<HostStorage>(in_.engine().allocate(count_ * m * n * gasell::size_of(dtype)));
}

HostStorageRef OnGpu::filled(const NodeRef& matrices, bool columns_together) {
  const int64_t m = matrices->shape[matrices->shape.size() - 2], n = matrices->shape.back();
  HostStorageRef memory = empty(m, n, matrices->dtype);
  in_.engine().force_into(matrices, memory, steps_of(m, n, columns_together), 0);
  return memory;
}

NodeRef OnGpu::matrices(const HostStorageRef& memory, int64_t m, int64_t n, bool columns_together) const {
  graph::Shape shape = outer_;
  shape.insert(shape.end(), {m, n});
  return graph::buffer(memory, node_->dtype, std::move(shape), steps_of(m, n, columns_together), 0);
}

NodeRef OnGpu::vectors(const HostStorageRef& memory, int64_t n, DType dtype, int64_t step, int64_t stack) const {
  graph::Shape shape = outer_;
  shape.push_back(n);
  std::vector<int64_t> steps = outer_steps(stack ? stack : n);
  steps.push_back(step);
  return graph::buffer(memory, dtype, std::move(shape), std::move(steps), 0);
}

std::optional<std::vector<char>> OnGpu::run(GpuDecomposition decomposition, const std::vector<Argument>& arguments, const char* name) {
  OperatorTimer timer(name, count_ * rows_);
  const HostStorageRef outcome = empty(1, 1, DType::i32);
  decomposition.dtype = node_->dtype;
  decomposition.count = count_;
  std::vector<GpuDevice::GridLaunch::Piece> pieces;
  for (const Argument& argument : arguments) pieces.push_back({argument.memory.get(), 0, 0, argument.memory->bytes(), true});
  pieces.push_back({outcome.get(), 0, 0, outcome->bytes(), true});
  try {
    const bool given = gpus_.call_library(std::move(pieces), [&](Gpu& gpu, std::span<const GpuArray> arrays, const GpuWorkSpace& space) {
      for (size_t k = 0; k < arguments.size(); ++k) decomposition.*arguments[k].address = arrays[k].base;
      decomposition.outcome = arrays.back().base;
      return gpu.decompose(decomposition, space);
    });
    if (!given) return std::nullopt;
    const auto* const codes = static_cast<const int32_t*>(outcome->read());
    std::vector<char> fine(static_cast<size_t>(count_));
    for (size_t k = 0; k < fine.size(); ++k) fine[k] = codes[k] == 0;
    timer.finish(count_ * rows_, gpus_.library(GpuLibrary::decompositions), "GPU");
    return fine;
  } catch (const WorkLost&) {
    gpus_.abandon();
    return std::nullopt;
  }
}

bool all_of(const std::vector<char>& flags) { return std::find(flags.begin(), flags.end(), 0) == flags.end(); }

/// The library's results lie in Fortran's order, NumPy's in C's: they are moved when somebody looks at their memory.
Value in_c_order(NodeRef node) { return wrap_ordered(std::move(node), {}); }

/// work(), or nothing where a GPU is too small for it or was lost.
template <class Work>
auto unless_gpus_fail(Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const Error& error) {
    const std::string& kind = error.diagnostic().kind;
    if (kind != "MemoryError" && kind != "RuntimeError") throw;
    return std::nullopt;
  }
}

}  // namespace

void raise_singular() {
  raise("LinAlgError", "Singular matrix", "np.linalg.lstsq gives the nearest solution, np.linalg.pinv what is nearest to an inverse");
}
void raise_not_positive_definite() {
  raise("LinAlgError", "Matrix is not positive definite", "its eigenvalues must be above 0: np.linalg.eigvalsh shows them");
}

namespace {

/// The solutions, or nothing; which matrices are regular.
struct Solved {
  NodeRef solutions;
  std::vector<char> regular;
};
std::optional<Solved> solved(OnGpu& stack, const NodeRef& right) {
  const int64_t n = stack.columns(), others = right->shape.back();
  const HostStorageRef b = stack.filled(right);
  GpuDecomposition d;
  d.kind = Kind::solve;
  d.rows = d.columns = n;
  d.others = others;
  std::optional<std::vector<char>> regular = stack.run(d,
                                                       {{&GpuDecomposition::a, stack.filled(stack.node())},
                                                        {&GpuDecomposition::b, b},
                                                        {&GpuDecomposition::pivots, stack.empty(n, 1, DType::i64)}},
                                                       "solution of equations");
  if (!regular) return std::nullopt;
  return Solved{stack.matrices(b, n, others), *std::move(regular)};
}

}  // namespace

std::optional<Value> gpu_solve(Interpreter& in, const Value& a, const Value& b) {
  return unless_gpus_fail([&]() -> std::optional<Value> {
    const Array right = as_array(in, b);
    std::optional<OnGpu> stack = OnGpu::of(in, as_array(in, a), 1);
    if (!stack || right.size() == 0) return std::nullopt;
    right.force(in.engine());  // whoever has it may use it again
    const std::optional<Solved> x = solved(*stack, right.node());
    if (!x) return std::nullopt;
    if (!all_of(x->regular)) raise_singular();
    return in_c_order(x->solutions);
  });
}

std::optional<Value> gpu_inverse(Interpreter& in, const Value& a, bool strict) {
  return unless_gpus_fail([&]() -> std::optional<Value> {
    std::optional<OnGpu> stack = OnGpu::of(in, as_array(in, a), 2);
    if (!stack) return std::nullopt;
    const int64_t n = stack->columns();
    const NodeRef row = graph::iota(n, Scalar::of_int(0), Scalar::of_int(1));
    const NodeRef column = graph::reshape(row, {n, 1});
    const NodeRef identity = graph::cast(graph::map(ScalarOp::eq, {column, row}), stack->node()->dtype);
    const std::optional<Solved> x = solved(*stack, graph::broadcast_to(identity, stack->node()->shape));
    if (!x || (!strict && !all_of(x->regular))) return std::nullopt;
    if (!all_of(x->regular)) raise_singular();
    return in_c_order(x->solutions);
  });
}

std::optional<GpuFactors> gpu_factors(Interpreter& in, const Value& a) {
  return unless_gpus_fail([&]() -> std::optional<GpuFactors> {
    std::optional<OnGpu> stack = OnGpu::of(in, as_array(in, a), 0.7);
    if (!stack) return std::nullopt;
    const int64_t n = stack->columns();
    const HostStorageRef factors = stack->filled(stack->node()), pivots = stack->empty(n, 1, DType::i64);
    GpuDecomposition d;
    d.kind = Kind::solve;
    d.rows = d.columns = n;
    std::optional<std::vector<char>> regular =
        stack->run(d, {{&GpuDecomposition::a, factors}, {&GpuDecomposition::pivots, pivots}}, "LU decomposition");
    if (!regular) return std::nullopt;
    return GpuFactors{Array(stack->vectors(factors, n, stack->node()->dtype, n + 1, n * n)), Array(stack->vectors(pivots, n, DType::i64)),
                      *std::move(regular)};
  });
}

std::optional<Value> gpu_cholesky(Interpreter& in, const Value& a, bool upper) {
  return unless_gpus_fail([&]() -> std::optional<Value> {
    std::optional<OnGpu> stack = OnGpu::of(in, as_array(in, a), 0.3);
    if (!stack) return std::nullopt;
    const int64_t n = stack->columns();
    // One triangle, and zeros that stay. The library is asked for lower factors, which take it half the time. With rows together it sees
    // the transposed matrix, of which the lower factor is our upper one transposed: rows of ours that lie together.
    const NodeRef column = graph::iota(n, Scalar::of_int(0), Scalar::of_int(1)), row = graph::reshape(column, {n, 1});
    const NodeRef wanted = graph::map(upper ? ScalarOp::le : ScalarOp::ge, {row, column});
    const NodeRef zero = graph::constant(Scalar::of_int(0).cast(stack->node()->dtype), stack->node()->shape);
    const NodeRef triangle = graph::map(ScalarOp::select, {graph::broadcast_to(wanted, stack->node()->shape), stack->node(), zero});
    const HostStorageRef factor = stack->filled(triangle, !upper);
    GpuDecomposition d;
    d.kind = Kind::cholesky;
    d.rows = d.columns = n;
    const std::optional<std::vector<char>> definite = stack->run(d, {{&GpuDecomposition::a, factor}}, "Cholesky decomposition");
    if (!definite) return std::nullopt;
    if (!all_of(*definite)) raise_not_positive_definite();
    return in_c_order(stack->matrices(factor, n, n, !upper));
  });
}

std::optional<Value> gpu_qr(Interpreter& in, const Value& a) {
  return unless_gpus_fail([&]() -> std::optional<Value> {
    std::optional<OnGpu> stack = OnGpu::of(in, as_array(in, a), 2);
    if (!stack) return std::nullopt;
    const int64_t m = stack->rows(), n = stack->columns(), least = std::min(m, n);
    const HostStorageRef factors = stack->filled(stack->node()), tau = stack->empty(least, 1);
    GpuDecomposition d;
    d.kind = Kind::qr;
    d.rows = m, d.columns = n;
    if (!stack->run(d, {{&GpuDecomposition::a, factors}, {&GpuDecomposition::b, tau}}, "QR decomposition")) return std::nullopt;
    return make_tuple({in_c_order(stack->matrices(factors, m, n)), wrap_array(stack->vectors(tau, least, stack->node()->dtype))});
  });
}

std::optional<Value> gpu_qr_q(Interpreter& in, const Value& factors, const Value& tau, int64_t columns) {
  return unless_gpus_fail([&]() -> std::optional<Value> {
    std::optional<OnGpu> stack = OnGpu::of(in, as_array(in, factors), 2);
    if (!stack) return std::nullopt;
    const int64_t m = stack->rows(), least = std::min(m, stack->columns());
    // The columns that have reflections; behind them come those that complete a basis.
    graph::Shape shape = stack->node()->shape;
    const auto last = static_cast<int>(shape.size()) - 1;
    std::vector<graph::ViewAxis> axes;
    for (int k = 0; k <= last; ++k) axes.push_back({k, 0, 1});
    shape.back() = least;
    NodeRef reflections = graph::view(stack->node(), shape, axes);
    shape.back() = columns;
    if (columns > least)
      reflections = graph::pad(reflections, shape, std::vector<int64_t>(shape.size(), 0), Scalar::of_int(0).cast(stack->node()->dtype));
    const HostStorageRef q = stack->filled(reflections);
    const HostStorageRef scales = stack->filled(graph::reshape(as_array(in, tau).node(), [&] {
      graph::Shape as_matrices(shape.begin(), shape.end() - 2);
      as_matrices.insert(as_matrices.end(), {least, 1});
      return as_matrices;
    }()));
    GpuDecomposition d;
    d.kind = Kind::qr_q;
    d.rows = m, d.columns = columns, d.others = least;
    if (!stack->run(d, {{&GpuDecomposition::a, q}, {&GpuDecomposition::b, scales}}, "orthogonal matrix")) return std::nullopt;
    return in_c_order(stack->matrices(q, m, columns));
  });
}

std::optional<Value> gpu_eigh(Interpreter& in, const Value& a, bool upper, bool vectors) {
  return unless_gpus_fail([&]() -> std::optional<Value> {
    std::optional<OnGpu> stack = OnGpu::of(in, as_array(in, a), 4);
    if (!stack) return std::nullopt;
    const int64_t n = stack->columns();
    const HostStorageRef matrices = stack->filled(stack->node()), values = stack->empty(n, 1, DType::f64);
    GpuDecomposition d;
    d.kind = Kind::eigenvalues;
    d.rows = d.columns = n;
    d.upper = upper, d.vectors = vectors;
    const std::optional<std::vector<char>> converged =
        stack->run(d, {{&GpuDecomposition::a, matrices}, {&GpuDecomposition::values, values}}, "eigenvalues");
    if (!converged || !all_of(*converged)) return std::nullopt;
    const Value found = wrap_array(stack->vectors(values, n, DType::f64));
    return vectors ? make_tuple({found, in_c_order(stack->matrices(matrices, n, n))}) : found;
  });
}

std::optional<Value> gpu_svd(Interpreter& in, const Value& a, bool vectors) {
  return unless_gpus_fail([&]() -> std::optional<Value> {
    std::optional<OnGpu> stack = OnGpu::of(in, as_array(in, a), 8);
    if (!stack) return std::nullopt;
    // The library wants as many rows as columns at least, else it gets aᴴ = v s uᴴ: our rows are its columns.
    const bool turned = stack->rows() < stack->columns();
    const int64_t m = std::max(stack->rows(), stack->columns()), n = std::min(stack->rows(), stack->columns());
    const HostStorageRef matrices = stack->filled(turned ? conjugate(stack->node()) : stack->node(), !turned);
    const HostStorageRef values = stack->empty(n, 1, DType::f64);
    const HostStorageRef u = vectors ? stack->empty(m, n) : values, v = vectors ? stack->empty(n, n) : values;
    GpuDecomposition d;
    d.kind = Kind::singular_values;
    d.rows = m, d.columns = n;
    d.vectors = vectors;
    std::vector<OnGpu::Argument> arguments{{&GpuDecomposition::a, matrices}, {&GpuDecomposition::values, values}};
    if (vectors) arguments.insert(arguments.end(), {{&GpuDecomposition::u, u}, {&GpuDecomposition::v, v}});
    const std::optional<std::vector<char>> converged = stack->run(d, arguments, "singular values");
    if (!converged || !all_of(*converged)) return std::nullopt;
    const Value found = wrap_array(stack->vectors(values, n, DType::f64));
    if (!vectors) return found;
    const NodeRef left = turned ? stack->matrices(v, n, n) : stack->matrices(u, m, n);
    const NodeRef right = conjugate(turned ? stack->matrices(u, n, m, false) : stack->matrices(v, n, n, false));
    return make_tuple({in_c_order(left), found, in_c_order(right)});
  });
}

}  // namespace gasell::numpy
