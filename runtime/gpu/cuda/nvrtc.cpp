#include "runtime/gpu/cuda/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "compiler/codegen/shared_library.h"
#include "lang/diagnostic.h"
#include "runtime/gpu/cuda/toolkit.h"

namespace gasell::cuda {
namespace {

using Result = Nvrtc::Result;

/// complex<T> by the name that CuPy's kernels include: arithmetic, comparison, and the functions that bodies use most.
constexpr const char* kComplex = R"(
#pragma once
template <class T> struct complex {
  T re, im;
  __host__ __device__ constexpr complex(T r = T(), T i = T()) : re(r), im(i) {}
  template <class U> __host__ __device__ explicit complex(const complex<U>& z) : re(z.real()), im(z.imag()) {}
  __host__ __device__ T real() const { return re; }
  __host__ __device__ T imag() const { return im; }
  __host__ __device__ void real(T v) { re = v; }
  __host__ __device__ void imag(T v) { im = v; }
  __host__ __device__ complex& operator+=(const complex& z) { re += z.re; im += z.im; return *this; }
  __host__ __device__ complex& operator-=(const complex& z) { re -= z.re; im -= z.im; return *this; }
  __host__ __device__ complex& operator*=(const complex& z) { T r = re * z.re - im * z.im; im = re * z.im + im * z.re; re = r; return *this; }
  __host__ __device__ complex& operator/=(const complex& z) {
    T s = fabs(z.re) + fabs(z.im), a = z.re / s, b = z.im / s, c = re / s, d = im / s, n = a * a + b * b;
    re = (c * a + d * b) / n; im = (d * a - c * b) / n; return *this;
  }
};
#define GASELL_COMPLEX_OPERATOR(o) \
  template <class T> __host__ __device__ complex<T> operator o(complex<T> a, const complex<T>& b) { return a o##= b; } \
  template <class T> __host__ __device__ complex<T> operator o(complex<T> a, const T& b) { return a o##= complex<T>(b); } \
  template <class T> __host__ __device__ complex<T> operator o(const T& a, const complex<T>& b) { complex<T> c(a); return c o##= b; }
GASELL_COMPLEX_OPERATOR(+)
GASELL_COMPLEX_OPERATOR(-)
GASELL_COMPLEX_OPERATOR(*)
GASELL_COMPLEX_OPERATOR(/)
#undef GASELL_COMPLEX_OPERATOR
template <class T> __host__ __device__ complex<T> operator-(const complex<T>& z) { return complex<T>(-z.real(), -z.imag()); }
template <class T> __host__ __device__ complex<T> operator+(const complex<T>& z) { return z; }
template <class T> __host__ __device__ bool operator==(const complex<T>& a, const complex<T>& b) { return a.real() == b.real() && a.imag() == b.imag(); }
template <class T> __host__ __device__ bool operator!=(const complex<T>& a, const complex<T>& b) { return !(a == b); }
template <class T> __host__ __device__ T real(const complex<T>& z) { return z.real(); }
template <class T> __host__ __device__ T imag(const complex<T>& z) { return z.imag(); }
template <class T> __host__ __device__ complex<T> conj(const complex<T>& z) { return complex<T>(z.real(), -z.imag()); }
template <class T> __host__ __device__ T norm(const complex<T>& z) { return z.real() * z.real() + z.imag() * z.imag(); }
__device__ inline float abs(const complex<float>& z) { return hypotf(z.real(), z.imag()); }
__device__ inline double abs(const complex<double>& z) { return hypot(z.real(), z.imag()); }
__device__ inline float arg(const complex<float>& z) { return atan2f(z.imag(), z.real()); }
__device__ inline double arg(const complex<double>& z) { return atan2(z.imag(), z.real()); }
template <class T> __device__ complex<T> polar(const T& r, const T& t = T()) { return complex<T>(r * cos(t), r * sin(t)); }
template <class T> __device__ complex<T> exp(const complex<T>& z) { return polar(exp(z.real()), z.imag()); }
template <class T> __device__ complex<T> log(const complex<T>& z) { return complex<T>(log(abs(z)), arg(z)); }
template <class T> __device__ complex<T> sqrt(const complex<T>& z) { return polar(sqrt(abs(z)), arg(z) / T(2)); }
)";
constexpr const char* kIntegers = R"(
#pragma once
typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long long int64_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t; typedef unsigned long long uint64_t;
)";

/// Headers that are there without a toolkit, by name.
constexpr const char* kHeaderNames[] = {"cupy/complex.cuh", "stdint.h", "cstdint", "math.h", "cmath",
                                        "stddef.h",         "cstddef",  "stdio.h", "cstdio"};
constexpr const char* kHeaderTexts[] = {kComplex, kIntegers, kIntegers, "", "", "", "", "", ""};
constexpr int kHeaders = std::size(kHeaderNames);

class OwnedProgram {
 public:
  OwnedProgram(const Nvrtc& nvrtc, Nvrtc::Program program) : nvrtc_(nvrtc), program_(program) {}
  ~OwnedProgram() { nvrtc_.destroy_program(&program_); }
  OwnedProgram(const OwnedProgram&) = delete;
  OwnedProgram& operator=(const OwnedProgram&) = delete;
  Nvrtc::Program get() const { return program_; }

 private:
  const Nvrtc& nvrtc_;
  Nvrtc::Program program_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) c == '\n' ? lines.emplace_back() : lines.back() += c;
  return lines;
}

/// The compiler's log as an error: "name(3): error: identifier "w" is undefined", then the line and, below it, a caret.
[[noreturn]] void refuse(const std::vector<SourceRef>& texts, const std::string& log) {
  const std::vector<std::string> lines = lines_of(log);
  Diagnostic d{Blame::user, "CompileException", "the compiler does not take this kernel", {}, {}, {}};
  for (size_t k = 0; k < lines.size(); ++k) {
    const std::string& line = lines[k];
    const size_t kind = std::min(line.find("): error: "), line.find("): catastrophic error: "));
    if (kind == line.npos) continue;
    const size_t open = line.rfind('(', kind);
    int number = 0;
    if (open == line.npos || std::from_chars(line.data() + open + 1, line.data() + kind, number).ec != std::errc{}) continue;
    const auto named = std::find_if(texts.begin(), texts.end(), [&](const SourceRef& t) { return line.compare(0, open, t->name()) == 0; });
    const bool here = named != texts.end() && number >= 1 && number <= (*named)->line_count();
    const std::string said = line.substr(line.find("error: ", kind) + 7);
    if (d.primary) {
      d.hint += d.hint.empty() ? "the compiler also said: " : "; ";
      d.hint += fmt::format("line {}: {}", number, said);
      continue;
    }
    d.message = said;
    if (!here) {
      d.message += fmt::format(" ({}, line {})", line.substr(0, open), number);
      continue;
    }
    const SourceRef& source = *named;
    const std::string_view text = source->line(number);
    const auto begin = static_cast<uint32_t>(text.data() - source->text().data());
    const size_t first = std::min(text.find_first_not_of(" \t"), text.size());
    size_t from = first, to = text.size();
    // The place within the line, where the log shows it under the line as it stands there.
    for (size_t next = k + 1; next < lines.size() && next < k + 4; ++next) {
      const size_t caret = lines[next].find('^');
      if (caret == std::string::npos || lines[next].find_first_not_of(" ^") != std::string::npos) continue;
      const size_t shown = lines[next - 1].find_first_not_of(" \t");
      if (shown != std::string::npos && caret >= shown && first + caret - shown < text.size()) from = first + caret - shown, to = from + 1;
      break;
    }
    d.primary = Label{source, {begin + static_cast<uint32_t>(from), begin + static_cast<uint32_t>(to)}, ""};
  }
  if (!d.primary && d.message == "the compiler does not take this kernel") d.message += ": " + log.substr(0, 1000);
  throw Error(std::move(d));
}

}  // namespace

LoadedNvrtc load_nvrtc(const std::string& library) {
  LoadedNvrtc loaded;
  loaded.library = library;
  std::string ignored;
  void* const handle = open_library(library, RTLD_NOW | RTLD_LOCAL, ignored);
  if (!handle) {
    loaded.problem = fmt::format("NVRTC, which compiles CUDA C++, is not there ({})", library);
    loaded.remedy =
        "pip install nvidia-cuda-nvrtc-cu12 (or a CUDA toolkit), and name the library in GASELL_NVRTC where the loader does not find it";
    return loaded;
  }
  Nvrtc& n = loaded.entries;
  const auto resolve = [&](auto& entry, const char* name) {
    entry = reinterpret_cast<std::remove_reference_t<decltype(entry)>>(dlsym(handle, name));
    if (!entry && loaded.problem.empty()) {
      loaded.problem = fmt::format("{} is no NVRTC that can be used: it has no {}", library, name);
      loaded.remedy = "one of CUDA 11.2 or newer is needed";
    }
  };
  resolve(n.get_error_string, "nvrtcGetErrorString");
  resolve(n.version, "nvrtcVersion");
  resolve(n.create_program, "nvrtcCreateProgram");
  resolve(n.destroy_program, "nvrtcDestroyProgram");
  resolve(n.compile_program, "nvrtcCompileProgram");
  resolve(n.get_cubin_size, "nvrtcGetCUBINSize");
  resolve(n.get_cubin, "nvrtcGetCUBIN");
  resolve(n.get_log_size, "nvrtcGetProgramLogSize");
  resolve(n.get_log, "nvrtcGetProgramLog");
  resolve(n.add_name_expression, "nvrtcAddNameExpression");
  resolve(n.get_lowered_name, "nvrtcGetLoweredName");
  if (loaded.ready()) n.version(&loaded.major, &loaded.minor);
  return loaded;
}

const LoadedNvrtc& process_nvrtc() {
  static const LoadedNvrtc loaded = [] {
    if (const char* name = std::getenv("GASELL_NVRTC"); name && *name) return load_nvrtc(name);
    constexpr const char* kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};
    for (const std::string& library : library_candidates(kNames))
      if (LoadedNvrtc found = load_nvrtc(library); found.ready()) return found;
    LoadedNvrtc none = load_nvrtc("libnvrtc.so");
    if (!none.ready()) none.problem = "NVRTC, which compiles CUDA C++, is not there (libnvrtc.so.13, .12 or .11.2)";
    return none;
  }();
  return loaded;
}

CompiledC compile_c(const LoadedNvrtc& loaded, const SourceRef& source, const std::vector<std::string>& options, int capability,
                    const std::vector<std::string>& expressions, const std::vector<SourceRef>& texts) {
  if (!loaded.ready()) throw Error("RuntimeError", loaded.problem, loaded.remedy, Blame::environment);
  const Nvrtc& nvrtc = loaded.entries;
  const auto check = [&](Result result, const char* what) {
    if (result != Result::success) throw Error("RuntimeError", fmt::format("NVRTC fails at {}: {}", what, nvrtc.get_error_string(result)));
  };
  Nvrtc::Program handle = nullptr;
  check(nvrtc.create_program(&handle, source->text().c_str(), source->name().c_str(), kHeaders, kHeaderTexts, kHeaderNames), "its start");
  const OwnedProgram program(nvrtc, handle);
  for (const std::string& e : expressions) check(nvrtc.add_name_expression(handle, e.c_str()), "a name expression");

  std::vector<std::string> all = {fmt::format("--gpu-architecture=sm_{}", capability), "-default-device"};
  bool standard = false;
  for (const std::string& o : options) standard = standard || o.find("-std") != o.npos;
  if (!standard) all.emplace_back("--std=c++17");
  for (const std::string& root : toolkits())
    if (std::filesystem::exists(root + "/include/cuda_runtime.h")) {
      all.push_back("-I" + root + "/include");
      break;
    }
  all.insert(all.end(), options.begin(), options.end());
  std::vector<const char*> pointers;
  for (const std::string& o : all) pointers.push_back(o.c_str());
  const Result result = nvrtc.compile_program(handle, static_cast<int>(pointers.size()), pointers.data());
  if (result != Result::success) {
    size_t bytes = 0;
    std::string log;
    if (nvrtc.get_log_size(handle, &bytes) == Result::success && bytes > 1) {
      log.resize(bytes);
      nvrtc.get_log(handle, log.data());
      log.resize(bytes - 1);
    }
    if (result == Result::compilation) {
      std::vector<SourceRef> all_texts = texts;
      all_texts.push_back(source);
      refuse(all_texts, log);
    }
    if (result == Result::invalid_option)
      throw Error("ValueError", fmt::format("NVRTC {}.{} does not take the options: {}", loaded.major, loaded.minor, log));
    throw Error("RuntimeError", fmt::format("NVRTC fails: {} {}", nvrtc.get_error_string(result), log));
  }
  CompiledC compiled;
  size_t bytes = 0;
  check(nvrtc.get_cubin_size(handle, &bytes), "the machine code");
  compiled.cubin.resize(bytes);
  check(nvrtc.get_cubin(handle, compiled.cubin.data()), "the machine code");
  for (const std::string& e : expressions) {
    const char* name = nullptr;
    check(nvrtc.get_lowered_name(handle, e.c_str(), &name), "the name of a template's kernel");
    compiled.symbols[e] = name;
  }
  return compiled;
}

}  // namespace gasell::cuda
