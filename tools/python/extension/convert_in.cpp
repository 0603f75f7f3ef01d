// Python objects as values of a session.
#include <array>
#include <vector>

#include "buffers.h"
#include "objects.h"

namespace gasell::python {

namespace {

/// A call of the library that makes a value.
template <class Make>
Held made_by(SessionObject& session, Make&& make) {
  gasell_value* value = nullptr;
  gasell_error* error = nullptr;
  const gasell_status status = briefly_in_session(session, [&] { return make(&value, &error); });
  if (!succeeded(status, error)) return {};
  return Held(value);
}

/// The element of an array of rank 0 as one of NumPy's scalars.
Held scalar_of(SessionObject& session, const Held& array) {
  gasell_value* const callee = operation_of(session, "lambda a: a[()]");
  if (!callee) return {};
  gasell_value* const given = array.get();
  return made_by(session, [&](gasell_value** value, gasell_error** error) {
    return gasell_value_call(callee, &given, 1, nullptr, nullptr, 0, value, error);
  });
}

Held slice_value(SessionObject& session, PyObject* slice) {
  std::array<Held, 3> parts;
  size_t k = 0;
  for (const char* name : {"start", "stop", "step"}) {
    const Ref part(PyObject_GetAttrString(slice, name));
    if (!part) return {};
    if (part.get() != Py_None && !(parts[k] = to_gasell(session, part.get()))) return {};
    ++k;
  }
  return made_by(session, [&](gasell_value** value, gasell_error** error) {
    return gasell_make_slice(session.session, parts[0].get(), parts[1].get(), parts[2].get(), value, error);
  });
}

/// The items of a sequence of Python's, converted.
bool convert_items(SessionObject& session, PyObject* sequence, std::vector<Held>& held, std::vector<gasell_value*>& values) {
  const bool is_tuple = PyTuple_Check(sequence);
  const Py_ssize_t size = is_tuple ? PyTuple_Size(sequence) : PyList_Size(sequence);
  for (Py_ssize_t k = 0; k < size; ++k) {
    if (!is_tuple && k >= PyList_Size(sequence)) break;  // a conversion may have changed it
    const Ref item = Ref::shared(is_tuple ? PyTuple_GetItem(sequence, k) : PyList_GetItem(sequence, k));
    Held value = to_gasell(session, item.get());
    if (!value) return false;
    values.push_back(value.get());
    held.push_back(std::move(value));
  }
  return true;
}

Held sequence_value(SessionObject& session, PyObject* sequence) {
  std::vector<Held> held;
  std::vector<gasell_value*> values;
  if (!convert_items(session, sequence, held, values)) return {};
  const int is_tuple = PyTuple_Check(sequence) ? 1 : 0;
  return made_by(session, [&](gasell_value** value, gasell_error** error) {
    return gasell_make_sequence(session.session, is_tuple, values.data(), values.size(), value, error);
  });
}

Held dict_value(SessionObject& session, PyObject* dict) {
  const Ref keys(PyDict_Keys(dict)), items(PyDict_Values(dict));
  if (!keys || !items) return {};
  std::vector<Held> held;
  std::vector<gasell_value*> names, values;
  if (!convert_items(session, keys.get(), held, names) || !convert_items(session, items.get(), held, values)) return {};
  return made_by(session, [&](gasell_value** value, gasell_error** error) {
    return gasell_make_dict(session.session, names.data(), values.data(), names.size(), value, error);
  });
}

/// Memory that a session uses goes back from whichever thread lets go of it last.
void release_buffer(void* context) {
  auto* const buffer = static_cast<Buffer*>(context);
  const PyGILState_STATE state = PyGILState_Ensure();
  PyBuffer_Release(buffer);
  PyGILState_Release(state);
  delete buffer;
}

/// An array over an object's buffer; empty without an error where it is no array of Gasell's.
Held buffer_value(SessionObject& session, PyObject* object) {
  HeldBuffer held;
  if (!held.take(object, kBufferFullReadOnly)) return {};
  ArrayMemory memory;
  if (!describe_buffer(*held, memory)) return {};
  auto* const kept = new Buffer(held.give());
  gasell_value* value = nullptr;
  gasell_error* error = nullptr;
  const gasell_status status = briefly_in_session(session, [&] {
    return gasell_make_view(session.session, kept->buf, memory.dtype, kept->ndim, memory.shape.data(), memory.strides.data(),
                            kept->readonly ? 0 : GASELL_WRITABLE, release_buffer, kept, &value, &error);
  });
  if (status == GASELL_OK) {
    Held array(value);
    // An array of rank 0 that nobody can write into is one of NumPy's scalars.
    if (kept->ndim > 0 || PyObject_HasAttrString(object, "__setitem__")) return array;
    return scalar_of(session, array);
  }
  PyBuffer_Release(kept);
  delete kept;
  succeeded(status, error);
  return {};
}

Held converted(SessionObject& session, PyObject* object, bool prepared);

/// What has no form here, as Python makes it one that has.
Held prepared_value(SessionObject& session, PyObject* object) {
  const Ref prepared(PyObject_CallFunctionObjArgs(registered.prepare, reinterpret_cast<PyObject*>(&session), object, nullptr));
  return prepared ? converted(session, prepared.get(), true) : Held{};
}

Held converted(SessionObject& session, PyObject* object, bool prepared) {
  if (object == Py_None)
    return made_by(session, [&](gasell_value** value, gasell_error** error) { return gasell_make_none(session.session, value, error); });
  if (PyBool_Check(object)) {
    const int number = object == Py_True ? 1 : 0;
    return made_by(session, [&](gasell_value** v, gasell_error** e) { return gasell_make_boolean(session.session, number, v, e); });
  }
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0)
      return made_by(session, [&](gasell_value** v, gasell_error** e) { return gasell_make_integer(session.session, number, v, e); });
  } else if (PyFloat_CheckExact(object)) {
    const double number = PyFloat_AsDouble(object);
    return made_by(session, [&](gasell_value** v, gasell_error** e) { return gasell_make_float(session.session, number, v, e); });
  } else if (PyUnicode_Check(object)) {
    Py_ssize_t length = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(object, &length);
    if (!text) return {};
    return made_by(session, [&](gasell_value** v, gasell_error** e) {
      return gasell_make_string(session.session, text, static_cast<size_t>(length), v, e);
    });
  } else if (is_value(object)) {
    if (!as_value(object).value) {
      PyErr_SetString(PyExc_ValueError, "this value was taken over by another");
      return {};
    }
    if (as_value(object).session == &session) return Held(object);
    // That of another session is taken over like any other library's array or frame.
    Held array = buffer_value(session, object);
    if (array || PyErr_Occurred()) return array;
  } else if (PyList_CheckExact(object) || PyTuple_Check(object)) {
    return sequence_value(session, object);
  } else if (PyDict_CheckExact(object)) {
    return dict_value(session, object);
  } else if (Py_TYPE(object) == &PyComplex_Type) {
    const double real = PyComplex_RealAsDouble(object), imaginary = PyComplex_ImagAsDouble(object);
    return made_by(session,
                   [&](gasell_value** v, gasell_error** e) { return gasell_make_complex(session.session, real, imaginary, v, e); });
  } else if (Py_TYPE(object) == &PySlice_Type) {
    return slice_value(session, object);
  } else if (!PyBytes_Check(object) && !PyByteArray_Check(object)) {
    Held array = buffer_value(session, object);
    if (array || PyErr_Occurred()) return array;
  }
  if (!prepared) return prepared_value(session, object);
  const Ref name(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__name__"));
  if (name) PyErr_Format(PyExc_TypeError, "an object of type '%U' has no counterpart in Gasell", name.get());
  return {};
}

}  // namespace

Held to_gasell(SessionObject& session, PyObject* object) {
  if (Py_EnterRecursiveCall(" while converting an object for Gasell")) return {};
  Held value = converted(session, object, false);
  Py_LeaveRecursiveCall();
  return value;
}

}  // namespace gasell::python
