// What stands for cuBLAS, cuFFT and cuSOLVER in tests without a GPU: libraries whose functions have their names. FAKE_LIBRARY_START=n: the
// functions that make handles answer n (0). With FAKE_LIBRARY_OLD they are all that there is, as in a version that lacks the others. Their
// other functions answer that they failed, and are never to be called.
#include <cstdlib>

#define FAKE extern "C" __attribute__((visibility("default"))) int

namespace {

int object;

int start(void** handle) {
  const char* const status = std::getenv("FAKE_LIBRARY_START");
  const int answer = status ? std::atoi(status) : 0;
  if (answer == 0) *handle = &object;
  return answer;
}

}  // namespace

FAKE cublasCreate_v2(void** handle) { return start(handle); }
FAKE cublasDestroy_v2(void*) { return 0; }
FAKE cusolverDnCreate(void** handle) { return start(handle); }
FAKE cusolverDnDestroy(void*) { return 0; }
FAKE cufftCreate(int* plan) {
  void* handle = nullptr;
  *plan = 1;
  return start(&handle);
}
FAKE cufftDestroy(int) { return 0; }

#ifndef FAKE_LIBRARY_OLD
#define FAILS(name) \
  FAKE name() { return 1; }
FAILS(cublasSetStream_v2)
FAILS(cublasSgemmStridedBatched_64)
FAILS(cublasDgemmStridedBatched_64)
FAILS(cublasCgemmStridedBatched_64)
FAILS(cublasZgemmStridedBatched_64)
FAILS(cufftSetAutoAllocation)
FAILS(cufftMakePlanMany64)
FAILS(cufftSetStream)
FAILS(cufftSetWorkArea)
FAILS(cufftXtExec)
FAILS(cusolverDnSetStream)
FAILS(cusolverDnCreateParams)
FAILS(cusolverDnDestroyParams)
FAILS(cusolverDnXgetrf_bufferSize)
FAILS(cusolverDnXgetrf)
FAILS(cusolverDnXgetrs)
FAILS(cusolverDnXpotrf_bufferSize)
FAILS(cusolverDnXpotrf)
FAILS(cusolverDnXgeqrf_bufferSize)
FAILS(cusolverDnXgeqrf)
FAILS(cusolverDnXsyevd_bufferSize)
FAILS(cusolverDnXsyevd)
FAILS(cusolverDnXgesvdp_bufferSize)
FAILS(cusolverDnXgesvdp)
FAILS(cusolverDnDorgqr_bufferSize)
FAILS(cusolverDnZungqr_bufferSize)
FAILS(cusolverDnDorgqr)
FAILS(cusolverDnZungqr)
#endif
