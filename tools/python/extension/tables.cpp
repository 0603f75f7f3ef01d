#include "tables.h"

#include <cstdint>
#include <memory>
#include <vector>

// Arrow's C stream interface, and the head of DLPack 1's tensor: what has to be known of them to hand them on.
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void* manager_context;
  void (*deleter)(DLManagedTensorVersioned*);
};

namespace gasell::python {

namespace {

constexpr const char* kStream = "arrow_array_stream";
constexpr const char* kTensor = "dltensor_versioned";

void free_stream(PyObject* capsule) {
  auto* const stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, kStream));
  if (stream->release) stream->release(stream);
  delete stream;
}

void free_tensor(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, kTensor)) return;  // taken
  auto* const tensor = static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, kTensor));
  if (tensor->deleter) tensor->deleter(tensor);
}

}  // namespace

PyObject* arrow_stream_of(PyObject* self, PyObject*) {
  ValueObject& value = as_value(self);
  auto stream = std::make_unique<ArrowArrayStream>();
  gasell_error* error = nullptr;
  const gasell_status status = in_session(*value.session, [&] { return gasell_value_arrow_stream(value.value, stream.get(), &error); });
  if (!succeeded(status, error)) return nullptr;
  PyObject* const capsule = PyCapsule_New(stream.get(), kStream, free_stream);
  if (!capsule) return nullptr;
  stream.release();
  keep_engine(*value.session);
  return capsule;
}

PyObject* dlpack_of(PyObject* self, PyObject* args) {
  int device_type = 0, device = 0;
  if (!PyArg_ParseTuple(args, "ii", &device_type, &device)) return nullptr;
  ValueObject& value = as_value(self);
  DLManagedTensorVersioned* tensor = nullptr;
  gasell_error* error = nullptr;
  const gasell_status status =
      in_session(*value.session, [&] { return gasell_value_dlpack_on(value.value, device_type, device, &tensor, &error); });
  if (!succeeded(status, error)) return nullptr;
  keep_engine(*value.session);
  return PyCapsule_New(tensor, kTensor, free_tensor);
}

PyObject* frame_of_stream(PyObject*, PyObject* args) {
  PyObject *given = nullptr, *capsule = nullptr;
  if (!PyArg_ParseTuple(args, "O!O", session_type, &given, &capsule)) return nullptr;
  auto* const stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, kStream));
  if (!stream) return nullptr;
  SessionObject& session = as_session(given);
  gasell_value* frame = nullptr;
  gasell_error* error = nullptr;
  const gasell_status status = in_session(session, [&] { return gasell_make_frame(session.session, stream, &frame, &error); });
  if (!succeeded(status, error)) return nullptr;
  return to_python(session, frame, true);
}

PyObject* array_of_dlpack(PyObject*, PyObject* args) {
  PyObject *given = nullptr, *capsule = nullptr;
  if (!PyArg_ParseTuple(args, "O!O", session_type, &given, &capsule)) return nullptr;
  auto* const tensor = static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, kTensor));
  if (!tensor) return nullptr;
  SessionObject& session = as_session(given);
  gasell_value* array = nullptr;
  gasell_error* error = nullptr;
  const gasell_status status = briefly_in_session(session, [&] { return gasell_make_tensor(session.session, tensor, &array, &error); });
  if (!succeeded(status, error)) return nullptr;
  if (PyCapsule_SetName(capsule, "used_dltensor_versioned") != 0) return nullptr;
  return to_python(session, array, true);
}

namespace {

/// Python's tuple of numbers.
bool numbers_of(PyObject* tuple, std::vector<int64_t>& numbers) {
  for (Py_ssize_t k = 0; k < PyTuple_Size(tuple); ++k) {
    const long long number = PyLong_AsLongLong(PyTuple_GetItem(tuple, k));
    if (number == -1 && PyErr_Occurred()) return false;
    numbers.push_back(number);
  }
  return true;
}

}  // namespace

PyObject* device_array(PyObject*, PyObject* args) {
  PyObject *given = nullptr, *owner = nullptr, *shape = nullptr, *strides = nullptr;
  unsigned long long address = 0, stream = 0;
  int dtype = 0;
  if (!PyArg_ParseTuple(args, "O!OKiO!O!K", session_type, &given, &owner, &address, &dtype, &PyTuple_Type, &shape, &PyTuple_Type, &strides,
                        &stream))
    return nullptr;
  std::vector<int64_t> extents, steps;
  if (!numbers_of(shape, extents) || !numbers_of(strides, steps)) return nullptr;
  if (steps.size() != extents.size()) {
    PyErr_SetString(PyExc_ValueError, "an array in a GPU's memory wants as many strides as axes");
    return nullptr;
  }
  SessionObject& session = as_session(given);
  gasell_value* array = nullptr;
  gasell_error* error = nullptr;
  Py_INCREF(owner);
  const auto release = [](void* object) {
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(static_cast<PyObject*>(object));
    PyGILState_Release(state);
  };
  const gasell_status status = in_session(session, [&] {
    return gasell_make_device_view(session.session, reinterpret_cast<void*>(address), static_cast<gasell_dtype>(dtype),
                                   static_cast<int>(extents.size()), extents.data(), steps.data(), -1, stream, release, owner, &array,
                                   &error);
  });
  if (status != GASELL_OK) Py_DECREF(owner);
  if (!succeeded(status, error)) return nullptr;
  return to_python(session, array, true);
}

}  // namespace gasell::python
