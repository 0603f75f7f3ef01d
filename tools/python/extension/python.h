// CPython's limited API of 3.10: one build serves 3.10 and all later ones.
#pragma once

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include <utility>

// The buffer protocol entered the limited API with 3.11, with the layout and the slots that it has had since 3.0.
extern "C" {
struct Buffer {
  void* buf;
  PyObject* obj;
  Py_ssize_t len, itemsize;
  int readonly, ndim;
  char* format;
  Py_ssize_t *shape, *strides, *suboffsets;
  void* internal;
};
PyAPI_FUNC(int) PyObject_GetBuffer(PyObject* object, Buffer* buffer, int flags);
PyAPI_FUNC(void) PyBuffer_Release(Buffer* buffer);
}

namespace gasell::python {

constexpr int kBufferWritable = 0x1, kBufferFormat = 0x4, kBufferShape = 0x8, kBufferStrides = 0x10 | kBufferShape;
constexpr int kBufferFullReadOnly = kBufferStrides | kBufferFormat;
constexpr int kSlotGetBuffer = 1, kSlotReleaseBuffer = 2;

/// An owned reference; null where a Python error is set.
class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* owned) : object_(owned) {}
  static Ref shared(PyObject* borrowed) {
    Py_XINCREF(borrowed);
    return Ref(borrowed);
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;
  ~Ref() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

/// The buffer of an object, released at the end.
class HeldBuffer {
 public:
  HeldBuffer() = default;
  HeldBuffer(const HeldBuffer&) = delete;
  HeldBuffer& operator=(const HeldBuffer&) = delete;
  ~HeldBuffer() {
    if (held_) PyBuffer_Release(&buffer_);
  }
  /// False where the object has none; no Python error is left.
  bool take(PyObject* object, int flags) {
    held_ = PyObject_GetBuffer(object, &buffer_, flags) == 0;
    if (!held_) PyErr_Clear();
    return held_;
  }
  /// From now on who got it releases it.
  Buffer give() {
    held_ = false;
    return buffer_;
  }
  const Buffer& operator*() const { return buffer_; }
  const Buffer* operator->() const { return &buffer_; }

 private:
  Buffer buffer_;
  bool held_ = false;
};

}  // namespace gasell::python
