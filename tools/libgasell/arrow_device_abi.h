// Arrow's C device interface (https://arrow.apache.org/docs/format/CDeviceDataInterface.html): a stable ABI, declared here so that the
// library needs no header of Arrow.
#pragma once

#include "runtime/io/arrow/c_data.h"

extern "C" {

#ifndef ARROW_C_DEVICE_DATA_INTERFACE
#define ARROW_C_DEVICE_DATA_INTERFACE

#define ARROW_DEVICE_CPU 1
#define ARROW_DEVICE_CUDA 2
#define ARROW_DEVICE_CUDA_HOST 3
#define ARROW_DEVICE_EXT_DEV 12
#define ARROW_DEVICE_CUDA_MANAGED 13

struct ArrowDeviceArray {
  struct ArrowArray array;
  int64_t device_id;
  int32_t device_type;
  void* sync_event;  // of CUDA: a cudaEvent_t*; null: nothing to wait for
  int64_t reserved[3];
};

#endif

}  // extern "C"
