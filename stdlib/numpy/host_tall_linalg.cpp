// QR of matrices with many more rows than columns. One that is to be computed need not be stored for that: its rows are made a panel at a
// time. Of large ones q waits until somebody reads it, for often r is all that is wanted (singular values), and takes another pass then.
#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/linalg/order.h"
#include "runtime/linalg/tall_qr.h"
#include "stdlib/numpy/host.h"
#include "stdlib/numpy/lapack_elements.h"

namespace gasell::numpy {
namespace {

using Args = std::span<Value>;

constexpr int64_t kLargeBytes = 32 << 20;  // from which on a matrix is worth panels
constexpr int64_t kPanelBytes = 64 << 20, kPanels = 8;

HostStorageRef allocated(Engine& engine, int64_t bytes) {
  return std::dynamic_pointer_cast<HostStorage>(engine.device().allocate(std::max<int64_t>(1, bytes)));
}

/// The rows of a matrix: those in memory, or of one that is to be computed and is large, a panel at a time.
template <class T>
class Rows {
 public:
  Rows(Engine& engine, const NodeRef& node) : engine_(engine), node_(node), columns_(node->shape[1]) {
    const auto bytes = graph::bytes_of(node->shape, node->dtype);
    if (node->as<graph::BufferNode>() || bytes < kLargeBytes) {
      array_ = Array(node);
      elements_ = array_->elements(engine);
      data_ = reinterpret_cast<const T*>(elements_->data);
      return;
    }
    const MemoryBudget& budget = engine.device().budget();
    const int64_t room = std::clamp((budget.limit() - budget.used()) / kPanels, kPanelBytes / 64, kPanelBytes);
    rows_a_panel_ = std::clamp<int64_t>(room / (columns_ * static_cast<int64_t>(sizeof(T))), 1, node->shape[0]);
  }
  linalg::TallRows<T> as_rows() {
    linalg::TallRows<T> rows;
    rows.rows = [this](int64_t begin, int64_t number, T* to, int64_t leading) {
      linalg::copy_matrix(data_ + (begin - first_) * columns_, columns_, 1, to, 1, leading, number, columns_);
    };
    rows.at_a_time = rows_a_panel_;
    if (rows_a_panel_) rows.prepare = [this](int64_t begin, int64_t end) { make(begin, end); };
    return rows;
  }

 private:
  void make(int64_t begin, int64_t end) {
    const int64_t bytes = (end - begin) * columns_ * static_cast<int64_t>(sizeof(T));
    if (!panel_ || panel_->bytes() < bytes) panel_ = allocated(engine_, bytes);
    const NodeRef part = graph::view(node_, {end - begin, columns_}, {{0, begin, 1}, {1, 0, 1}});
    engine_.force_into(part, panel_, {columns_, 1}, 0);
    data_ = static_cast<const T*>(panel_->read());
    first_ = begin;
  }

  Engine& engine_;
  const NodeRef node_;
  const int64_t columns_;
  std::optional<Array> array_;
  std::optional<Array::Elements> elements_;
  HostStorageRef panel_;
  int64_t rows_a_panel_ = 0, first_ = 0;
  const T* data_ = nullptr;
};

/// Writes r, n × n with its rows together, and q where there is memory for it.
void factor(Engine& engine, const NodeRef& a, char* r, char* q) {
  const int64_t m = a->shape[0], n = a->shape[1];
  linalg::OpenBlas::get();  // an error where it is not there
  with_element(a->dtype, [&]<class T>(std::type_identity<T>) {
    const auto triangle = unset_memory<T>(n * n);
    Rows<T> rows(engine, a);
    linalg::tall_qr<T>(engine.device(), m, n, rows.as_rows(), triangle.get(), reinterpret_cast<T*>(q), true, engine.interrupt_flag());
    gasell::check_interrupt(engine);
    linalg::copy_matrix(triangle.get(), 1, n, reinterpret_cast<T*>(r), n, 1, n, n);
  });
}

/// Whether q is made when somebody reads it: of a large array that has chunks, which Dask computes when it is asked for, or that leaves no
/// memory for q.
bool waits(Interpreter& in, const Array& a) {
  const int64_t bytes = graph::bytes_of(a.shape(), a.dtype());
  const MemoryBudget& budget = in.engine().device().budget();
  return bytes >= kLargeBytes && in.engine().options().fuse &&
         (!a.requested_chunks().empty() || 3 * bytes > budget.limit() - budget.used());
}

/// is_tall(a): whether tall_qr serves it.
Value is_tall(Interpreter& in, Args args) {
  const Array a = as_array(in, args[0]);
  return Value::of(a.rank() == 2 && linalg::is_tall(a.shape()[0], a.shape()[1]));
}

/// lapack_signs(top, r): of q's first rows and r, the signs by which LAPACK's columns of q (and rows of r) differ.
Value lapack_signs(Interpreter& in, Args args) {
  const Array top = as_array(in, args[0]), r = as_array(in, args[1]);
  const Array::Elements top_rows = top.elements(in.engine()), r_rows = r.elements(in.engine());
  const int64_t n = r.shape().back();
  HostArray signs(in, DType::f64, {n});
  with_element(r.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto rows = unset_memory<T>(n * n), triangle = unset_memory<T>(n * n);
    linalg::copy_matrix(reinterpret_cast<const T*>(top_rows.data), n, 1, rows.get(), 1, n, n, n);
    linalg::copy_matrix(reinterpret_cast<const T*>(r_rows.data), n, 1, triangle.get(), 1, n, n, n);
    const auto found = linalg::signs_of_lapack<T>(in.engine().device(), n, rows.get(), triangle.get(), in.engine().interrupt_flag());
    std::ranges::copy(found, signs.data<double>());
  });
  check_interrupt(in);
  return signs.value();
}

/// tall_qr(a, with_q): (q, or None, and r) of one matrix that is_tall, on GPUs or block by block on all cores, with the signs of LAPACK's.
Value tall_qr(Interpreter& in, Args args) {
  if (std::optional<Value> made = on_gpus(in, "gpu_tall_qr", {args[0], args[1]})) return *std::move(made);
  const Array a = as_array(in, args[0]);
  const bool with_q = truth(in, args[1]), later = waits(in, a);
  if (!later) a.force(in.engine());  // whoever has it may use it again
  const NodeRef node = a.node();
  const int64_t n = a.shape()[1];
  HostArray r(in, a.dtype(), {n, n});
  if (!with_q || later) {
    factor(in.engine(), node, r.data<char>(), nullptr);
    if (!with_q) return make_tuple({Value(), r.value()});
    const int64_t bytes = graph::bytes_of(a.shape(), a.dtype()), square = n * n * gasell::size_of(a.dtype());
    const HostStorageRef q = deferred(bytes, [&in, node, bytes, square] {
      const HostStorageRef memory = allocated(in.engine(), bytes), again = allocated(in.engine(), square);
      factor(in.engine(), node, static_cast<char*>(again->write()), static_cast<char*>(memory->write()));
      return memory;
    });
    return make_tuple({wrap_array(graph::buffer(q, a.dtype(), a.shape(), {n, 1}, 0)), r.value()});
  }
  HostArray q(in, a.dtype(), a.shape());
  factor(in.engine(), node, r.data<char>(), q.data<char>());
  return make_tuple({q.value(), r.value()});
}

}  // namespace

std::vector<NativeFunction> tall_linalg_functions() {
  return {
      {"is_tall", "a", is_tall, "Whether tall_qr serves a matrix."},
      {"lapack_signs", "top, r", lapack_signs, "The signs of LAPACK's QR."},
      {"tall_qr", "a, with_q", tall_qr, "q, or None, and r of a matrix with many more rows than columns."},
  };
}

}  // namespace gasell::numpy
