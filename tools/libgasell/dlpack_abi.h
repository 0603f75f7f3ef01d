// The structs of DLPack 1 (https://dmlc.github.io/dlpack/latest/c_api.html): a stable ABI, declared here so that the library needs no
// header of another project.
#pragma once

#include <cstdint>

extern "C" {

#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

struct DLPackVersion {
  uint32_t major, minor;
};

struct DLDevice {
  int32_t device_type;  // 1: the host's memory
  int32_t device_id;
};

struct DLDataType {
  uint8_t code;  // 0: int, 1: unsigned, 2: float, 5: complex, 6: bool
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: C order
  uint64_t byte_offset;
};

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned* self);
  uint64_t flags;  // bit 0: read-only
  DLTensor dl_tensor;
};

#endif

}  // extern "C"
