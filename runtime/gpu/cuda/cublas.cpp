#include "runtime/gpu/cuda/cublas.h"

#include <utility>

namespace gasell::cuda {

void Cublas::find(const EntryFinder& finder) {
  finder(create, "cublasCreate_v2");
  finder(destroy, "cublasDestroy_v2");
  finder(set_stream, "cublasSetStream_v2");
  finder(gemm_f32, "cublasSgemmStridedBatched_64");
  finder(gemm_f64, "cublasDgemmStridedBatched_64");
  finder(gemm_c64, "cublasCgemmStridedBatched_64");
  finder(gemm_c128, "cublasZgemmStridedBatched_64");
}

const LoadedLibrary<Cublas>& process_cublas() {
  static const LoadedLibrary<Cublas> loaded = find_library<Cublas>(kCublas);
  return loaded;
}

Products::~Products() {
  if (!handle_) return;
  if (const Current current(*context_, std::nothrow); current.entered()) process_cublas().entries.destroy(handle_);
}

template <class T>
bool Products::multiply_typed(Cublas::Gemm<T> gemm, const GpuProduct& p) {
  const linalg::GemmForm form = linalg::gemm_form(p.left.steps, p.right.steps, p.result.steps, p.rows, p.columns, p.summed);
  const GpuProduct::Matrix *first = &p.left, *second = &p.right;
  if (form.exchanged) std::swap(first, second);
  const auto operation = [](const linalg::GemmForm::Operand& x) {
    return x.transposed ? Cublas::Operation::transposed : Cublas::Operation::none;
  };
  const auto address = [](const GpuProduct::Matrix& x) { return reinterpret_cast<T*>(x.data); };
  const T one = 1, other = p.add ? T(1) : T(0);
  return gemm(handle_, operation(form.first), operation(form.second), form.n, form.m, p.summed, &one, address(*first), form.first.leading,
              first->stack, address(*second), form.second.leading, second->stack, &other, address(p.result), form.result_leading,
              p.result.stack, p.count) == Cublas::Status::success;
}

bool Products::ready() {
  if (handle_ || refused_) return handle_ != nullptr;
  const Cublas::Status status = process_cublas().entries.create(&handle_);
  if (status == Cublas::Status::success) return true;
  handle_ = nullptr;
  refused_ = status != Cublas::Status::no_memory;
  return false;
}

bool Products::multiply(const GpuProduct& product) {
  const LoadedLibrary<Cublas>& loaded = process_cublas();
  if (!loaded.ready()) return false;
  const Cublas& c = loaded.entries;
  const std::lock_guard lock(mutex_);
  if (!ready()) return false;
  if (c.set_stream(handle_, streams_[GpuStream::compute]) != Cublas::Status::success) return false;
  bool given = false;
  switch (product.dtype) {
    case DType::f32: given = multiply_typed(c.gemm_f32, product); break;
    case DType::f64: given = multiply_typed(c.gemm_f64, product); break;
    case DType::c64: given = multiply_typed(c.gemm_c64, product); break;
    default: given = multiply_typed(c.gemm_c128, product); break;
  }
  if (given) streams_.gave(GpuStream::compute);
  return given;
}

}  // namespace gasell::cuda
