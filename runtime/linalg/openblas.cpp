#include "runtime/linalg/openblas.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

#include "compiler/codegen/shared_library.h"
#include "lang/diagnostic.h"

namespace gasell::linalg {
namespace {

constexpr const char* kLibrary = "libopenblas64.so.0";

void* symbol(void* library, const std::string& name, std::string& problem) {
  void* const address = dlsym(library, name.c_str());
  if (!address && problem.empty()) problem = std::string(kLibrary) + " has no function " + name;
  return address;
}

constexpr const char* kCore = "OPENBLAS_CORETYPE";

/// OpenBLAS takes a processor that is newer than itself for one without AVX, on which products of matrices take four times as
/// long: then what it should take it for, else null. A user's own OPENBLAS_CORETYPE stays.
const char* better_core(void* library) {
#ifdef __x86_64__
  const auto core_name = reinterpret_cast<const char* (*)()>(dlsym(library, "openblas_get_corename"));
  if (!core_name || std::string_view(core_name()) != "Prescott" || std::getenv(kCore)) return nullptr;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return nullptr;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return avx512 ? "SkylakeX" : "Haswell";
#else
  return nullptr;
#endif
}

}  // namespace

template <class T>
void OpenBlas::load(void* library, char letter, Routines<T>& r) {
  const auto take = [&](auto& function, const std::string& name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol(library, letter + name + "_", problem_));
  };
  take(r.gemm, "gemm");
  take(r.syrk, "syrk");
  take(r.trsm, "trsm");
  take(r.gemv, "gemv");
  take(r.getrf, "getrf");
  take(r.getrs, "getrs");
  take(r.potrf, "potrf");
  take(r.geqrf, "geqrf");
  take(r.orgqr, kIsComplex<T> ? "ungqr" : "orgqr");
  take(r.gesdd, "gesdd");
  take(r.geev, "geev");
  take(r.syevd, kIsComplex<T> ? "heevd" : "syevd");
  take(r.gelsd, "gelsd");
}

OpenBlas::OpenBlas() {
  // A program that embeds the language may have another BLAS with the same names: this one's calls of itself must stay in it.
  int flags = RTLD_NOW | RTLD_LOCAL;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  flags |= RTLD_DEEPBIND;
#endif
  void* library = open_library(kLibrary, flags, problem_);
  if (const char* core = library ? better_core(library) : nullptr) {
    dlclose(library);  // it looks at the processor when it is opened
    setenv(kCore, core, 1);
    library = open_library(kLibrary, flags, problem_);
    unsetenv(kCore);
  }
  if (!library) return;
  library_ = library;
  load(library, 's', f32_);
  load(library, 'd', f64_);
  load(library, 'c', c64_);
  load(library, 'z', c128_);
  ddot_ = reinterpret_cast<decltype(ddot_)>(symbol(library, "ddot_", problem_));
  sdot_ = reinterpret_cast<decltype(sdot_)>(symbol(library, "sdot_", problem_));
  set_threads_ = reinterpret_cast<void (*)(int)>(symbol(library, "openblas_set_num_threads", problem_));
  config_ = reinterpret_cast<decltype(config_)>(dlsym(library, "openblas_get_config"));
  if (set_threads_) set_threads_(1);
}

const OpenBlas& OpenBlas::instance() {
  static const OpenBlas& library = *new OpenBlas;  // as the library itself, never closed
  return library;
}

const OpenBlas* OpenBlas::find() { return instance().problem_.empty() ? &instance() : nullptr; }

const OpenBlas& OpenBlas::get() {
  if (const OpenBlas* library = find()) return *library;
  throw Error("RuntimeError", "the linear algebra library OpenBLAS cannot be opened: " + instance().problem_,
              "install the package libopenblas64-0-pthread, or use Gasell's bundle, which has it", Blame::environment);
}

void* OpenBlas::named(char letter, const char* name) const {
  std::string problem;
  void* const address = symbol(library_, letter + std::string(name) + "_", problem);
  if (!address) throw Error("RuntimeError", problem, "this needs a build of OpenBLAS with all of LAPACK", Blame::environment);
  return address;
}

template <>
const Routines<float>& OpenBlas::routines() const {
  return f32_;
}
template <>
const Routines<double>& OpenBlas::routines() const {
  return f64_;
}
template <>
const Routines<std::complex<float>>& OpenBlas::routines() const {
  return c64_;
}
template <>
const Routines<std::complex<double>>& OpenBlas::routines() const {
  return c128_;
}

}  // namespace gasell::linalg
