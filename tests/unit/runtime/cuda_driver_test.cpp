#include "runtime/gpu/cuda/driver.h"

#include "runtime/gpu/cuda/describe.h"
#include "unit/runtime/cuda_fake.h"

using namespace gasell;
using cuda::DriverStatus;

TEST_CASE("a driver is opened, and its entries are all there", "[cuda]") {
  FakeCuda fake(Environment{{"DEVICES", "3"}});
  const DriverStatus& status = fake.loaded.status;
  CHECK(status.kind == DriverStatus::Kind::ready);
  CHECK(status.problem.empty());
  CHECK(status.devices == 3);
  CHECK(cuda::version_text(status.version) == "12.4");
  const GpuProperties properties = cuda::properties_of(fake.loaded.entries, 1);
  CHECK(properties.name == "Fake H200");
  CHECK(properties.ordinal == 1);
  CHECK(properties.capability == 90);
  CHECK(properties.multiprocessors == 4);
  CHECK(properties.memory == int64_t{1} << 30);
  CHECK(properties.bandwidth == Approx(4.917e12).epsilon(1e-3));
}

TEST_CASE("why there is no driver to use is said in one line with its remedy", "[cuda]") {
  SECTION("none") {
    const auto loaded = cuda::load_driver("libcuda-that-is-not-there.so.1");
    CHECK(loaded.status.kind == DriverStatus::Kind::missing);
    CHECK(loaded.status.problem == "no NVIDIA driver found (libcuda-that-is-not-there.so.1)");
    CHECK(loaded.status.remedy == "install NVIDIA's driver to use a GPU");
  }
  SECTION("another library") {
    const auto loaded = cuda::load_driver("libm.so.6");
    CHECK(loaded.status.kind == DriverStatus::Kind::failed);
    CHECK(loaded.status.problem == "libm.so.6 is not NVIDIA's driver");
  }
  SECTION("too old") {
    FakeCuda fake(Environment{{"VERSION", "11020"}});
    CHECK(fake.loaded.status.kind == DriverStatus::Kind::too_old);
    CHECK(fake.loaded.status.problem == "the NVIDIA driver serves CUDA 11.2; Gasell needs CUDA 11.8 or newer");
    CHECK(fake.loaded.status.remedy == "update the driver (520 or newer)");
  }
  SECTION("no device") {
    FakeCuda fake(Environment{{"INIT", "100"}});
    CHECK(fake.loaded.status.kind == DriverStatus::Kind::no_device);
    CHECK(fake.loaded.status.problem == "the NVIDIA driver finds no GPU (CUDA_ERROR_NO_DEVICE)");
  }
  SECTION("no device to be seen") {
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    FakeCuda fake(Environment{{"INIT", "100"}});
    unsetenv("CUDA_VISIBLE_DEVICES");
    CHECK(fake.loaded.status.remedy == "CUDA_VISIBLE_DEVICES is \"\": unset it to see all");
  }
  SECTION("zero devices") {
    FakeCuda fake(Environment{{"DEVICES", "0"}});
    CHECK(fake.loaded.status.kind == DriverStatus::Kind::no_device);
  }
  SECTION("library and kernel module differ") {
    FakeCuda fake(Environment{{"INIT", "803"}});
    CHECK(fake.loaded.status.kind == DriverStatus::Kind::failed);
    CHECK(fake.loaded.status.problem.find("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH") != std::string::npos);
  }
  SECTION("an entry is missing") {
    FakeCuda fake(Environment{{"MISSING", "cuMemPoolCreate"}});
    CHECK(fake.loaded.status.kind == DriverStatus::Kind::failed);
    CHECK(fake.loaded.status.problem == "the NVIDIA driver (CUDA 12.4) has no cuMemPoolCreate");
  }
}

TEST_CASE("a driver that cannot be used makes no GPU", "[cuda]") {
  FakeCuda fake(Environment{{"VERSION", "11020"}});
  const Diagnostic said = error_of([&] { fake.gpu(); });
  CHECK(said.kind == "RuntimeError");
  CHECK(said.blame == Blame::environment);
  CHECK(said.message == "the NVIDIA driver serves CUDA 11.2; Gasell needs CUDA 11.8 or newer");
}

TEST_CASE("a GPU that cannot be had says who has it", "[cuda]") {
  SECTION("no such ordinal") {
    FakeCuda fake(Environment{{"DEVICES", "2"}});
    const Diagnostic said = error_of([&] { fake.gpu(2); });
    CHECK(said.kind == "ValueError");
    CHECK(said.message == "there is no gpu:2: this machine has 2 GPUs");
    CHECK(error_of([&] { fake.gpu(-1); }).kind == "ValueError");
  }
  SECTION("exclusive use") {
    FakeCuda fake(Environment{{"RETAIN", "46"}, {"MODE", "3"}});
    const Diagnostic said = error_of([&] { fake.gpu(); });
    CHECK(said.kind == "RuntimeError");
    CHECK(said.message == "gpu:0 (Fake H200) is in exclusive use by another process (CUDA_ERROR_DEVICE_UNAVAILABLE)");
    CHECK(said.hint == "nvidia-smi shows which; nvidia-smi -i 0 -c DEFAULT lets several share it");
  }
  SECTION("prohibited") {
    FakeCuda fake(Environment{{"RETAIN", "46"}, {"MODE", "2"}});
    CHECK(error_of([&] { fake.gpu(); }).message == "gpu:0 (Fake H200) is set to take no work (CUDA_ERROR_DEVICE_UNAVAILABLE)");
  }
  SECTION("full") {
    FakeCuda fake(Environment{{"RETAIN", "2"}});
    CHECK(error_of([&] { fake.gpu(); }).kind == "MemoryError");
  }
}

TEST_CASE("GPUs are described with their free memory, links, or why they cannot be had", "[cuda]") {
  {
    FakeCuda fake(Environment{{"DEVICES", "2"}});
    const auto gpus = cuda::describe_gpus(fake.loaded);
    REQUIRE(gpus.size() == 2);
    CHECK(gpus[1].problem.empty());
    CHECK(gpus[1].free_memory == int64_t{1} << 30);
    REQUIRE(gpus[1].links.size() == 1);
    CHECK(gpus[1].links[0].ordinal == 0);
    CHECK(gpus[1].links[0].reach);
    fake.check_empty();
  }
  FakeCuda fake(Environment{{"RETAIN", "46"}});
  const auto gpus = cuda::describe_gpus(fake.loaded);
  REQUIRE(gpus.size() == 1);
  CHECK(gpus[0].free_memory == -1);
  CHECK(gpus[0].problem.find("is in exclusive use by another process (CUDA_ERROR_DEVICE_UNAVAILABLE): nvidia-smi shows which") !=
        std::string::npos);
}
