#include "runtime/gpu/cuda/cublas.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>
#include <type_traits>
#include <utility>

#include "compiler/codegen/shared_library.h"
#include "runtime/gpu/cuda/toolkit.h"

namespace gasell::cuda {

LoadedCublas load_cublas(const std::string& library) {
  LoadedCublas loaded;
  loaded.library = library;
  std::string ignored;
  void* const handle = open_library(library, RTLD_NOW | RTLD_LOCAL, ignored);
  if (!handle) {
    loaded.problem = fmt::format("cuBLAS, which multiplies matrices on NVIDIA GPUs, is not there ({})", library);
    loaded.remedy = "pip install nvidia-cublas-cu12 (or a CUDA toolkit), and name the library in GASELL_CUBLAS where it is not found";
    return loaded;
  }
  Cublas& c = loaded.entries;
  const auto resolve = [&](auto& entry, const char* name) {
    entry = reinterpret_cast<std::remove_reference_t<decltype(entry)>>(dlsym(handle, name));
    if (!entry && loaded.problem.empty()) {
      loaded.problem = fmt::format("{} is no cuBLAS that can be used: it has no {}", library, name);
      loaded.remedy = "one of CUDA 12 or newer is needed";
    }
  };
  resolve(c.create, "cublasCreate_v2");
  resolve(c.destroy, "cublasDestroy_v2");
  resolve(c.set_stream, "cublasSetStream_v2");
  resolve(c.get_version, "cublasGetVersion_v2");
  resolve(c.gemm_f32, "cublasSgemmStridedBatched_64");
  resolve(c.gemm_f64, "cublasDgemmStridedBatched_64");
  resolve(c.gemm_c64, "cublasCgemmStridedBatched_64");
  resolve(c.gemm_c128, "cublasZgemmStridedBatched_64");
  return loaded;
}

const LoadedCublas& process_cublas() {
  static const LoadedCublas loaded = [] {
    if (const char* name = std::getenv("GASELL_CUBLAS"); name && *name) {
      if (std::string_view(name) != "0") return load_cublas(name);
      LoadedCublas none;
      none.problem = "GASELL_CUBLAS=0: cuBLAS is not used";
      return none;
    }
    constexpr const char* kNames[] = {"libcublas.so.13", "libcublas.so.12"};
    for (const std::string& library : library_candidates(kNames))
      if (LoadedCublas found = load_cublas(library); found.ready()) return found;
    LoadedCublas none = load_cublas("libcublas.so");
    if (!none.ready()) none.problem = "cuBLAS, which multiplies matrices on NVIDIA GPUs, is not there (libcublas.so.13 or .12)";
    return none;
  }();
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

bool Products::multiply(const GpuProduct& product) {
  const LoadedCublas& loaded = process_cublas();
  if (!loaded.ready()) return false;
  const Cublas& c = loaded.entries;
  const std::lock_guard lock(mutex_);
  if (!handle_ && c.create(&handle_) != Cublas::Status::success) {
    handle_ = nullptr;
    return false;
  }
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
