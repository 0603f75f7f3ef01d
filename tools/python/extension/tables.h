// Capsules: Arrow's streams and DLPack's tensors.
#pragma once

#include "objects.h"

namespace gasell::python {

PyObject* arrow_stream_of(PyObject* value, PyObject*);
PyObject* dlpack_of(PyObject* value, PyObject* args);
/// frame_of_stream(session, capsule), array_of_dlpack(session, capsule): what the capsule holds is moved into the session.
PyObject* frame_of_stream(PyObject* module, PyObject* args);
PyObject* array_of_dlpack(PyObject* module, PyObject* args);
/// device_array(session, owner, address, dtype, shape, strides, stream): over memory of a GPU, which the owner keeps.
PyObject* device_array(PyObject* module, PyObject* args);

}  // namespace gasell::python
