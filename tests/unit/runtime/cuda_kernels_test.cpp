#include <filesystem>
#include <fstream>
#include <thread>

#include "compiler/codegen/kernel_cache.h"
#include "compiler/ir/text.h"
#include "unit/runtime/cuda_fake.h"

using namespace gasell;

namespace {

struct Seen {
  std::vector<uint64_t> parameters;
  unsigned grid = 0, threads = 0, shared_bytes = 0;
  int launches = 0;
} seen_launch;

void record(const uint64_t* parameters, unsigned grid, unsigned threads, unsigned shared_bytes) {
  seen_launch.parameters.assign(parameters, parameters + 6);
  seen_launch.grid = grid;
  seen_launch.threads = threads;
  seen_launch.shared_bytes = shared_bytes;
  ++seen_launch.launches;
}

ir::Kernel kernel(const char* name = "scale") {
  return {name,
          {{ir::Parameter::Kind::in, "a", DType::f64},
           {ir::Parameter::Kind::out, "b", DType::f64},
           {ir::Parameter::Kind::scalar, "s", DType::f64}},
          {}};
}

/// A compiler that counts.
struct Compiler {
  int compiled = 0, threads = 256;
  int64_t shared_bytes = 1024;
  std::string symbol = "scale";
  CudaOptions options(std::shared_ptr<const KernelCache> cache = nullptr, std::string name = {}) {
    CudaOptions made;
    made.cache = std::move(cache);
    made.compiler = std::move(name);
    made.compile = [this](const ir::Kernel& k, int capability) -> std::optional<GpuCode> {
      ++compiled;
      CHECK(capability == 90);
      if (k.name == "host only") return {};
      return GpuCode{
          symbol,
          "// " + k.name +
              "\n.visible .entry scale(.param .u64 a, .param .u64 b, .param .u64 s, .param .u64 begin, .param .u64 end, .param .u64 stop)",
          threads, shared_bytes};
    };
    return made;
  }
};

struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "gasell-cubins.XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::vector<std::filesystem::path> entries() const {
    std::vector<std::filesystem::path> found;
    for (const auto& file : std::filesystem::directory_iterator(path / "cache" / "kernels"))
      if (file.path().extension() == ".kernel") found.push_back(file.path());
    return found;
  }
  std::shared_ptr<const KernelCache> cache() const { return std::make_shared<KernelCache>(true, path / "cache", 1 << 20); }
};

}  // namespace

TEST_CASE("a launch gives arrays, scalars, units and the stop flag", "[cuda]") {
  FakeCuda fake;
  fake.define("scale", record);
  seen_launch = {};
  Compiler compiler;
  {
    const auto gpu = fake.gpu(0, compiler.options());
    const auto loaded = gpu->load(kernel());
    CHECK(loaded->compile_seconds > 0);
    CHECK(gpu->load(kernel()) == loaded);
    CHECK(compiler.compiled == 1);
    const GpuArray arrays[] = {{0x1000, 0x1000, 0x2000}, {0x2000, 0x2000, 0x3000}};
    const int64_t scalars[] = {-7};
    gpu->launch(*loaded, arrays, scalars, 10, 13);
    gpu->launch(*loaded, arrays, scalars, 5, 5);  // nothing to do
    gpu->synchronize(GpuStream::compute);
    CHECK(seen_launch.launches == 1);
    CHECK(seen_launch.grid == 3);
    CHECK(seen_launch.threads == 256);
    CHECK(seen_launch.shared_bytes == 1024);
    const auto& p = seen_launch.parameters;
    CHECK(p[0] == 0x1000);
    CHECK(p[1] == 0x2000);
    CHECK(static_cast<int64_t>(p[2]) == -7);
    CHECK(p[3] == 10);
    CHECK(p[4] == 13);
    const auto* stop = reinterpret_cast<const uint32_t*>(p[5]);
    CHECK(*stop == 0);
    gpu->set_stop(true);
    CHECK(*stop == 1);
    gpu->set_stop(false);
    CHECK(*stop == 0);

    gpu->launch(*loaded, arrays, scalars, 0, int64_t{1} << 40);  // 4 multiprocessors of 8 blocks, sixteen times over
    gpu->synchronize(GpuStream::compute);
    CHECK(seen_launch.grid == 512);
    CHECK(error_of([&] { gpu->launch(*loaded, {arrays, 1}, scalars, 0, 1); }).kind == "SystemError");
  }
  fake.check_empty();
}

TEST_CASE("GPUs of the same options share machine code", "[cuda]") {
  FakeCuda fake(Environment{{"DEVICES", "3"}});
  Compiler compiler;
  const CudaOptions options = compiler.options(nullptr, "LLVM 19");
  const auto a = fake.gpu(0, options), b = fake.gpu(1, options), other = fake.gpu(2, compiler.options(nullptr, "LLVM 19"));
  const auto on_a = a->load(kernel()), on_b = b->load(kernel());
  CHECK(on_a != on_b);
  CHECK(on_a->compile_seconds > 0);
  CHECK(on_b->compile_seconds == 0);
  CHECK(compiler.compiled == 1);
  CHECK(fake.calls("cuLinkComplete") == 1);
  CHECK(fake.calls("cuModuleLoadData") == 2);
  CHECK(other->load(kernel())->compile_seconds > 0);
}

TEST_CASE("threads that want one kernel wait for who makes it; a failure is everybody's own", "[cuda]") {
  cuda::MachineCodes codes;
  std::atomic<int> made{0};
  const auto make = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (++made == 1) throw Error("SystemError", "once");
    return cuda::MachineCode{{"k", "", 32, 0}, "code"};
  };
  std::atomic<int> failed{0}, found{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      try {
        found += codes.find_or_make("key", nullptr, make)->cubin == "code";
      } catch (const Error&) {
        ++failed;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 1);
  CHECK(found == 3);
  CHECK(made == 2);
}

TEST_CASE("a kernel that a GPU cannot run is none, and is not tried again", "[cuda]") {
  FakeCuda fake;
  Compiler compiler;
  const auto gpu = fake.gpu(0, compiler.options());
  CHECK_FALSE(gpu->load(kernel("host only")));
  CHECK_FALSE(gpu->load(kernel("host only")));
  CHECK(compiler.compiled == 1);
}

TEST_CASE("kernels of the compiler itself are loaded", "[cuda]") {
  FakeCuda fake;
  const auto gpu = fake.gpu();
  const auto loaded = gpu->load(ir::parse(R"(kernel add_one(in a: f64, out r: f64, n: i64) {
  for u in 0 .. ((n + 99) // 100) unit {
    for i in (u * 100) .. min(((u * 100) + 100), n) simd {
      r[i] = (a[i] + 1.0)
    }
  }
}
)"));
  REQUIRE(loaded);
  const GpuArray arrays[] = {{0x1000, 0x1000, 0x2000}, {0x2000, 0x2000, 0x3000}};
  const int64_t scalars[] = {300};
  gpu->launch(*loaded, arrays, scalars, 0, 3);
  gpu->synchronize(GpuStream::compute);
  CHECK(fake.calls("cuLaunchKernel") == 1);
}

TEST_CASE("shared memory beyond 48 KiB is asked for; too much is an error of ours", "[cuda]") {
  FakeCuda fake;
  fake.define("scale", record);
  Compiler compiler;
  compiler.shared_bytes = 200 << 10;
  const auto gpu = fake.gpu(0, compiler.options());
  const GpuArray arrays[] = {{0x1000, 0x1000, 0x2000}, {0x2000, 0x2000, 0x3000}};
  const int64_t scalars[] = {0};
  gpu->launch(*gpu->load(kernel()), arrays, scalars, 0, 1);
  gpu->synchronize(GpuStream::compute);
  CHECK(seen_launch.shared_bytes == 200 << 10);
  CHECK(fake.calls("cuFuncSetAttribute") == 1);
  compiler.shared_bytes = 300 << 10;
  const Diagnostic said = error_of([&] { gpu->load(kernel("other")); });
  CHECK(said.blame == Blame::internal);
  CHECK(said.message == "a kernel wants 256 threads and 307200 bytes of shared memory a block; gpu:0 (Fake H200) has 1024 and 232448");
  compiler.shared_bytes = 0;
  compiler.threads = 2048;
  CHECK(error_of([&] { gpu->load(kernel("third")); }).kind == "SystemError");
}

TEST_CASE("PTX that the driver refuses is our fault, and its words are told", "[cuda]") {
  Compiler compiler;
  const auto said_of = [&](const char* code) {
    FakeCuda fake(Environment{{"LINK", code}});
    Diagnostic said;
    {
      const auto gpu = fake.gpu(0, compiler.options());
      said = error_of([&] { gpu->load(kernel()); });
    }
    fake.check_empty();
    return said;
  };
  const Diagnostic wrong = said_of("218");
  CHECK(wrong.kind == "SystemError");
  CHECK(wrong.blame == Blame::internal);
  CHECK(wrong.message ==
        "the driver refuses a kernel for gpu:0 (Fake H200) (CUDA_ERROR_INVALID_PTX): ptxas fatal   : line 7; Unresolved extern function "
        "'nowhere'");
  const Diagnostic old = said_of("222");
  CHECK(old.blame == Blame::environment);
  CHECK(old.hint == "update the NVIDIA driver");
  CHECK(said_of("221").hint.find("libnvidia-ptxjitcompiler.so.1") != std::string::npos);

  FakeCuda fake;
  compiler.symbol = "elsewhere";
  const auto gpu = fake.gpu(0, compiler.options());
  CHECK(error_of([&] { gpu->load(kernel()); }).message.find("while looking for a kernel (CUDA_ERROR_NOT_FOUND") != std::string::npos);
}

TEST_CASE("machine code is found on disk by PTX, or by the kernel without compiling", "[cuda]") {
  const std::string name = GENERATE("", "LLVM 19");
  const int second = name.empty() ? 1 : 0;
  Folder folder;
  const auto load = [&](Environment environment, const std::string& compiler_name, const char* which = "scale") {
    FakeCuda fake(std::move(environment));
    Compiler compiler;
    const auto gpu = fake.gpu(0, compiler.options(folder.cache(), compiler_name));
    const auto loaded = gpu->load(kernel(which));
    return std::tuple(compiler.compiled, fake.calls("cuLinkComplete"), loaded->compile_seconds > 0);
  };
  CHECK(load({}, name) == std::tuple(1, 1, true));
  CHECK(load({}, name) == std::tuple(second, 0, false));
  CHECK(load({}, name, "another") == std::tuple(1, 1, true));
  CHECK(load({{"VERSION", "12050"}}, name) == std::tuple(1, 1, true));  // another driver may make other code
  if (!name.empty()) CHECK(load({}, "LLVM 20") == std::tuple(1, 1, true));

  SECTION("code that the driver refuses is made again") {
    CHECK(load({{"TAG", "new"}}, name) == std::tuple(1, 1, true));
    CHECK(load({{"TAG", "new"}}, name) == std::tuple(second, 0, false));
  }
  SECTION("damaged files are made again") {
    for (const auto& file : folder.entries()) {
      std::fstream stream(file, std::ios::in | std::ios::out);
      stream.seekp(-3, std::ios::end);
      stream << "###";
    }
    CHECK(load({}, name) == std::tuple(1, 1, true));
    CHECK(load({}, name) == std::tuple(second, 0, false));
  }
  SECTION("whole files of another content are made again") {
    const auto cache = folder.cache();
    for (const auto& file : folder.entries()) cache->insert(file.stem().string(), "gasell cubin 1\nscale\n12");
    CHECK(load({}, name) == std::tuple(1, 1, true));
  }
}

TEST_CASE("a kernel that fails loses its GPU, which then fails and ends quietly", "[cuda]") {
  struct Case {
    const char *code, *name, *remedy;
  };
  const Case tried =
      GENERATE(Case{"719", "CUDA_ERROR_LAUNCH_FAILED", "please report it"}, Case{"700", "CUDA_ERROR_ILLEGAL_ADDRESS", "please report it"},
               Case{"214", "CUDA_ERROR_ECC_UNCORRECTABLE", "nvidia-smi -q -d ECC"});
  FakeCuda fake(Environment{{"FAIL_AT", "2"}, {"FAIL", tried.code}, {"DEVICES", "2"}});
  fake.define("scale", record);
  Compiler compiler;
  {
    const auto gpu = fake.gpu(0, compiler.options());
    const auto loaded = gpu->load(kernel());
    const GpuAddress held = gpu->allocate(100);
    const GpuArray arrays[] = {{held, held, held + 100}, {held, held, held + 100}};
    const int64_t scalars[] = {0};
    const auto memory = gpu->pinned(1000);
    gpu->launch(*loaded, arrays, scalars, 0, 1);
    gpu->synchronize(GpuStream::compute);
    gpu->launch(*loaded, arrays, scalars, 0, 1);
    const std::string said = lost_of([&] { gpu->synchronize(GpuStream::compute); });
    CHECK(said.starts_with(std::string(tried.name) + " while working; "));
    CHECK(said.find(tried.remedy) != std::string::npos);

    // The first reason is told whatever is tried.
    const int64_t calls = fake.calls("cuMemcpyHtoDAsync") + fake.calls("cuMemAllocFromPoolAsync") + fake.calls("cuLaunchKernel");
    CHECK(lost_of([&] { gpu->allocate(1); }) == said);
    CHECK(lost_of([&] { gpu->copy_in(held, scalars, 8, GpuStream::copy_in); }) == said);
    CHECK(lost_of([&] { gpu->launch(*loaded, arrays, scalars, 0, 1); }) == said);
    CHECK(lost_of([&] { gpu->done(GpuStream::compute); }) == said);
    CHECK(lost_of([&] { gpu->free_memory(); }) == said);
    CHECK(lost_of([&] { gpu->wait(GpuStream::compute, GpuStream::copy_in); }) == said);
    CHECK(fake.calls("cuMemcpyHtoDAsync") + fake.calls("cuMemAllocFromPoolAsync") + fake.calls("cuLaunchKernel") == calls);
    CHECK_FALSE(gpu->pinned(4000));
    gpu->free(held);
    gpu->set_stop(true);
  }
  CHECK(fake.calls("cuStreamDestroy") == 0);
  fake.check_empty();
}
