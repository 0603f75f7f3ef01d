// How NVIDIA's libraries are found, and what is said where one is not.
#include "runtime/gpu/cuda/cublas.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/gpu/cuda/toolkit.h"
#include "unit/runtime/cuda_fake.h"

using namespace gasell;

TEST_CASE("a cuBLAS that is not there is named, with the way out") {
  const cuda::LoadedCublas none = cuda::load_cublas("/nowhere/libcublas.so");
  CHECK_FALSE(none.ready());
  CHECK(none.problem.find("/nowhere/libcublas.so") != std::string::npos);
  CHECK(none.remedy.find("GASELL_CUBLAS") != std::string::npos);
  const cuda::LoadedCublas other = cuda::load_cublas(GASELL_FAKE_CUDA);
  CHECK_FALSE(other.ready());
  CHECK(other.problem.find("cublasCreate_v2") != std::string::npos);
}

TEST_CASE("libraries are looked for by name first, then in toolkits and wheels") {
  namespace fs = std::filesystem;
  const fs::path root = fs::temp_directory_path() / ("gasell_toolkit_" + std::to_string(::getpid()));
  const fs::path wheel = root / "venv/lib/python3.12/site-packages/nvidia/cublas/lib", toolkit = root / "cuda/lib64";
  for (const fs::path& folder : {wheel, toolkit}) {
    fs::create_directories(folder);
    std::ofstream(folder / "libnone.so.2");
  }
  ::setenv("VIRTUAL_ENV", (root / "venv").c_str(), 1);
  ::setenv("CUDA_PATH", (root / "cuda").c_str(), 1);
  constexpr const char* kNames[] = {"libnone.so.3", "libnone.so.2"};
  const std::vector<std::string> found = cuda::library_candidates(kNames);
  CHECK(found ==
        std::vector<std::string>{"libnone.so.3", "libnone.so.2", (toolkit / "libnone.so.2").string(), (wheel / "libnone.so.2").string()});
  ::unsetenv("VIRTUAL_ENV");
  ::setenv("CUDA_PATH", "cuda", 1);  // not the whole path: a folder that lies somewhere does not count
  CHECK(cuda::library_candidates(kNames).size() == 2);
  ::unsetenv("CUDA_PATH");
  fs::remove_all(root);
}
