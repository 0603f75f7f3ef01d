// CUDA C++ through NVRTC, where there is one (it needs no GPU), and modules of machine code through the fake driver.
#include <cstring>

#include "runtime/gpu/cuda/nvrtc.h"
#include "unit/runtime/cuda_fake.h"

using namespace gasell;

namespace {

SourceRef text(std::string t) { return std::make_shared<Source>("<text>", std::move(t)); }

struct Seen {
  std::vector<uint64_t> parameters;
  unsigned grid = 0, threads = 0, shared_bytes = 0;
} seen;

void record(const uint64_t* parameters, unsigned grid, unsigned threads, unsigned shared_bytes) {
  seen = {{parameters, parameters + 3}, grid, threads, shared_bytes};
}

}  // namespace

TEST_CASE("a library that is not there is named, with the way out") {
  const cuda::LoadedNvrtc none = cuda::load_nvrtc("/nowhere/libnvrtc.so");
  CHECK_FALSE(none.ready());
  const Diagnostic d = error_of([&] { cuda::compile_c(none, text(""), {}, 90, {}); });
  CHECK(d.kind == "RuntimeError");
  CHECK(d.message.find("/nowhere/libnvrtc.so") != std::string::npos);
  CHECK(d.hint.find("GASELL_NVRTC") != std::string::npos);
  CHECK_FALSE(cuda::load_nvrtc(GASELL_FAKE_CUDA).ready());
}

TEST_CASE("NVRTC compiles, and its errors have places") {
  const cuda::LoadedNvrtc& nvrtc = cuda::process_nvrtc();
  if (!nvrtc.ready()) {
    WARN(nvrtc.problem);
    return;
  }
  const auto compiled = cuda::compile_c(nvrtc,
                                        text("#include <cupy/complex.cuh>\n#include <stdint.h>\n"
                                             "template <typename T> __global__ void scale(T* x, int32_t n, T f) {\n"
                                             "  int i = threadIdx.x;\n"
                                             "  if (i < n) x[i] = exp(x[i]) * f / (x[i] - T(2)) + sqrt(x[i]);\n}\n"),
                                        {"-DUNUSED=1"}, 90, {"scale<float>", "scale<complex<double>>"});
  CHECK(
      compiled.cubin.starts_with("\x7f"
                                 "ELF"));
  CHECK(compiled.symbols.size() == 2);
  CHECK(compiled.cubin.find(compiled.symbols.at("scale<float>")) != std::string::npos);

  const SourceRef wrong =
      text("extern \"C\" __global__ void f(float* y) {\n    float unused = 1;\n    y[0] = 1 + nothing;\n    also();\n}\n");
  const Diagnostic d = error_of([&] { cuda::compile_c(nvrtc, wrong, {}, 90, {}); });
  CHECK(d.kind == "CompileException");
  CHECK(d.message == "identifier \"nothing\" is undefined");
  REQUIRE(d.primary);
  CHECK(wrong->text().substr(d.primary->span.begin, 7) == "nothing");
  CHECK(d.hint.find("line 4: identifier \"also\" is undefined") != std::string::npos);
  CHECK(error_of([&] { cuda::compile_c(nvrtc, text(""), {"--no-such-option"}, 90, {}); }).kind == "ValueError");
}

TEST_CASE("a module's kernels are started with their arguments as C has them") {
  FakeCuda fake;
  fake.define("my_add", record);
  {
    const auto gpu = fake.gpu();
    CHECK(error_of([&] { gpu->load_module("no machine code"); }).kind == "ValueError");
    const LoadedModuleRef module = gpu->load_module("fake cubin \n.visible .entry my_add(.param .u64 a, .param .u64 b, .param .f64 c)");
    CHECK(gpu->module_kernel(module, "other") == nullptr);
    const LoadedKernelRef kernel = gpu->module_kernel(module, "my_add");
    REQUIRE(kernel);
    uint64_t a = 4096, b = 7;
    double c = 0.5;
    std::vector<void*> arguments = {&a, &b, &c};
    GridShape shape;
    shape.blocks = {3, 1, 1}, shape.threads = {64, 1, 1}, shape.shared_bytes = 100 << 10;
    gpu->launch_code(*kernel, arguments, shape);
    gpu->synchronize(GpuStream::compute);
    CHECK((seen.grid == 3 && seen.threads == 64 && seen.shared_bytes == 100 << 10));
    CHECK((seen.parameters[0] == 4096 && seen.parameters[1] == 7));
    CHECK(std::memcmp(&seen.parameters[2], &c, sizeof c) == 0);
    shape.threads = {1025, 1, 1};
    CHECK(error_of([&] { gpu->launch_code(*kernel, arguments, shape); }).kind == "ValueError");
  }
}

TEST_CASE("a module's variables and kernels tell what the driver knows of them") {
  FakeCuda fake;
  const auto gpu = fake.gpu();
  const LoadedModuleRef module = gpu->load_module(
      "fake cubin \n.visible .const .align 4 .b8 table[12];\n.visible .entry show(.param .u64 to) { read table; }\n"
      ".visible .entry keep(.param .u64 from) { write table; }");
  CHECK_FALSE(gpu->module_global(module, "other"));
  const auto table = gpu->module_global(module, "table");
  REQUIRE(table);
  CHECK(table->bytes == 12);

  const float values[] = {1, 2, 3};
  float seen[3] = {};
  gpu->copy_in(table->address, values, 12, GpuStream::compute);
  const GpuAddress memory = gpu->allocate(12);
  GpuAddress to = memory;
  void* const arguments[] = {&to};
  const LoadedKernelRef show = gpu->module_kernel(module, "show");
  gpu->launch_code(*show, arguments, {});
  gpu->copy_out(seen, memory, 12, GpuStream::compute);
  gpu->synchronize(GpuStream::compute);
  CHECK(std::memcmp(seen, values, 12) == 0);
  gpu->free(memory);

  CHECK(gpu->kernel_attribute(*show, KernelAttribute::max_threads_per_block) == 1024);
  CHECK(gpu->kernel_attribute(*show, KernelAttribute::max_dynamic_shared_bytes) == 48 << 10);
  CHECK(gpu->set_kernel_attribute(*show, KernelAttribute::max_dynamic_shared_bytes, 200 << 10));
  // A launch that needs less than was asked for leaves it.
  GridShape shape;
  shape.shared_bytes = 100 << 10;
  to = gpu->allocate(12);
  gpu->launch_code(*show, arguments, shape);
  gpu->synchronize(GpuStream::compute);
  gpu->free(to);
  CHECK(gpu->kernel_attribute(*show, KernelAttribute::max_dynamic_shared_bytes) == 200 << 10);
  CHECK_FALSE(gpu->set_kernel_attribute(*show, KernelAttribute::max_dynamic_shared_bytes, 300 << 10));
}

TEST_CASE("errors are told in the text that a line of the source came from") {
  const cuda::LoadedNvrtc& nvrtc = cuda::process_nvrtc();
  if (!nvrtc.ready()) return;
  const SourceRef part = std::make_shared<Source>("<part>", "y[0] = 1;\ny[1] = nothing;\n");
  const SourceRef whole = text("extern \"C\" __global__ void f(float* y) {\n#line 1 \"<part>\"\n" + part->text() + "}\n");
  const Diagnostic d = error_of([&] { cuda::compile_c(nvrtc, whole, {}, 90, {}, {part}); });
  REQUIRE(d.primary);
  CHECK(d.primary->source == part);
  CHECK(part->text().substr(d.primary->span.begin, 7) == "nothing");
}
