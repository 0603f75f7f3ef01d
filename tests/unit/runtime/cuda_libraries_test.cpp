// How NVIDIA's libraries are found, and what is said where one is not.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/gpu/cuda/cublas.h"
#include "runtime/gpu/cuda/cufft.h"
#include "runtime/gpu/cuda/cusolver.h"
#include "runtime/gpu/cuda/toolkit.h"
#include "unit/runtime/cuda_fake.h"

using namespace gasell;

namespace {

/// A library that is not there is named, with the way out; so is one that is another.
template <class Entries>
void check_messages(const cuda::LibraryKind& kind, const char* first_entry) {
  const auto none = cuda::load_library<Entries>(kind, "/nowhere/lib.so");
  CHECK_FALSE(none.ready());
  CHECK_FALSE(none.opened);
  CHECK(none.problem == std::string(kind.name) + ", which " + kind.purpose + ", is not there (/nowhere/lib.so)");
  CHECK(none.remedy.find(kind.variable) != std::string::npos);
  const auto other = cuda::load_library<Entries>(kind, GASELL_FAKE_CUDA);
  CHECK_FALSE(other.ready());
  CHECK(other.opened);
  CHECK(other.problem.find(first_entry) != std::string::npos);
}

}  // namespace

TEST_CASE("a library of NVIDIA's that is not there is named, with the way out") {
  check_messages<cuda::Cublas>(cuda::kCublas, "cublasCreate_v2");
  check_messages<cuda::Cufft>(cuda::kCufft, "cufftCreate");
  check_messages<cuda::Cusolver>(cuda::kCusolver, "cusolverDnCreate");
}

TEST_CASE("a variable names a library's file, or does without it") {
  cuda::LibraryKind kind{"cuNone", "does nothing", "GASELL_TEST_LIBRARY", "nvidia-none", "libnone.so", {"libnone.so.3", "libnone.so.2"}};
  ::setenv(kind.variable, "0", 1);
  CHECK(cuda::library_files(kind).empty());
  CHECK(cuda::find_library<cuda::Cufft>(kind).problem == "GASELL_TEST_LIBRARY=0: cuNone is not used");
  ::setenv(kind.variable, "/nowhere/libmine.so", 1);
  CHECK(cuda::library_files(kind) == std::vector<std::string>{"/nowhere/libmine.so"});
  CHECK(cuda::find_library<cuda::Cufft>(kind).problem == "cuNone, which does nothing, is not there (/nowhere/libmine.so)");
  ::unsetenv(kind.variable);
  CHECK(cuda::find_library<cuda::Cufft>(kind).problem == "cuNone, which does nothing, is not there (libnone.so.3 or libnone.so.2)");
  // An old or broken one says what it lacks.
  kind.files = {GASELL_FAKE_CUDA, "libnone.so.2"};
  CHECK(cuda::find_library<cuda::Cufft>(kind).problem.find("it has no cufftCreate") != std::string::npos);
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
