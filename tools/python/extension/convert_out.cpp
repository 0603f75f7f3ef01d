// Values of a session as Python objects.
#include <complex>
#include <cstring>

#include "objects.h"

namespace gasell::python {

namespace {

template <class T>
T load(const void* address) {
  T number;
  std::memcpy(&number, address, sizeof number);
  return number;
}

PyObject* plain_number(SessionObject& session, gasell_value* value, gasell_kind kind) {
  gasell_error* error = nullptr;
  int64_t integer = 0;
  int boolean = 0;
  double real = 0, imaginary = 0;
  const gasell_status status = in_session(session, [&] {
    switch (kind) {
      case GASELL_KIND_BOOLEAN: return gasell_value_boolean(value, &boolean, &error);
      case GASELL_KIND_INTEGER: return gasell_value_integer(value, &integer, &error);
      case GASELL_KIND_FLOAT: return gasell_value_float(value, &real, &error);
      default: return gasell_value_complex(value, &real, &imaginary, &error);
    }
  });
  if (!succeeded(status, error)) return nullptr;
  switch (kind) {
    case GASELL_KIND_BOOLEAN: return PyBool_FromLong(boolean);
    case GASELL_KIND_INTEGER: return PyLong_FromLongLong(integer);
    case GASELL_KIND_FLOAT: return PyFloat_FromDouble(real);
    default: return PyComplex_FromDoubles(real, imaginary);
  }
}

/// NumPy's scalars by their element, which has every dtype.
PyObject* scalar_number(SessionObject& session, gasell_value* value) {
  gasell_error* error = nullptr;
  gasell_array array{};
  array.struct_size = sizeof array;
  const gasell_status status = in_session(session, [&] { return gasell_value_array(value, &array, &error); });
  if (!succeeded(status, error)) return nullptr;
  return number_at(array.data, array.dtype);
}

PyObject* sequence(SessionObject& session, gasell_value* value, bool is_tuple, bool keep_scalars) {
  gasell_error* error = nullptr;
  size_t length = 0;
  if (!succeeded(briefly_in_session(session, [&] { return gasell_value_length(value, &length, &error); }), error)) return nullptr;
  const auto size = static_cast<Py_ssize_t>(length);
  Ref made(is_tuple ? PyTuple_New(size) : PyList_New(size));
  if (!made) return nullptr;
  for (Py_ssize_t k = 0; k < size; ++k) {
    gasell_value* item = nullptr;
    const gasell_status status =
        briefly_in_session(session, [&] { return gasell_value_item(value, static_cast<size_t>(k), &item, &error); });
    if (!succeeded(status, error)) return nullptr;
    PyObject* const converted = to_python(session, item, keep_scalars);
    if (!converted) return nullptr;
    if ((is_tuple ? PyTuple_SetItem(made.get(), k, converted) : PyList_SetItem(made.get(), k, converted)) != 0) return nullptr;
  }
  return made.release();
}

/// dict(zip(keys, values)), these being lists of the session's.
PyObject* dict(SessionObject& session, gasell_value* value, bool keep_scalars) {
  gasell_value* const split = operation_of(session, "lambda d: (list(d.keys()), list(d.values()))");
  if (!split) return nullptr;
  gasell_error* error = nullptr;
  gasell_value* parts = nullptr;
  const gasell_status status =
      in_session(session, [&] { return gasell_value_call(split, &value, 1, nullptr, nullptr, 0, &parts, &error); });
  if (!succeeded(status, error)) return nullptr;
  const Ref both(to_python(session, parts, keep_scalars)), made(PyDict_New());
  if (!both || !made) return nullptr;
  PyObject *const keys = PyTuple_GetItem(both.get(), 0), *const values = PyTuple_GetItem(both.get(), 1);
  for (Py_ssize_t k = 0; k < PyList_Size(keys); ++k)
    if (PyDict_SetItem(made.get(), PyList_GetItem(keys, k), PyList_GetItem(values, k)) != 0) return nullptr;
  Py_INCREF(made.get());
  return made.get();
}

/// A handle that is freed unless it is handed on.
struct Owner {
  gasell_value* value;
  ~Owner() {
    if (value) free_value(value);
  }
  gasell_value* give() { return std::exchange(value, nullptr); }
};

PyObject* other(SessionObject& session, Owner& owner, const char* type) {
  const std::string name = type;  // belongs to the handle
  const Ref wrapped(wrap(session, owner.give(), registered.object));
  if (!wrapped) return nullptr;
  return PyObject_CallFunction(registered.finish, "Os", wrapped.get(), name.c_str());
}

}  // namespace

PyObject* number_at(const void* address, gasell_dtype dtype) {
  switch (dtype) {
    case GASELL_BOOL: return PyBool_FromLong(load<uint8_t>(address));
    case GASELL_I8: return PyLong_FromLong(load<int8_t>(address));
    case GASELL_I16: return PyLong_FromLong(load<int16_t>(address));
    case GASELL_I32: return PyLong_FromLong(load<int32_t>(address));
    case GASELL_I64: return PyLong_FromLongLong(load<int64_t>(address));
    case GASELL_U8: return PyLong_FromLong(load<uint8_t>(address));
    case GASELL_U16: return PyLong_FromLong(load<uint16_t>(address));
    case GASELL_U32: return PyLong_FromUnsignedLong(load<uint32_t>(address));
    case GASELL_U64: return PyLong_FromUnsignedLongLong(load<uint64_t>(address));
    case GASELL_F32: return PyFloat_FromDouble(static_cast<double>(load<float>(address)));
    case GASELL_F64: return PyFloat_FromDouble(load<double>(address));
    case GASELL_C64: {
      const auto number = load<std::complex<float>>(address);
      return PyComplex_FromDoubles(static_cast<double>(number.real()), static_cast<double>(number.imag()));
    }
    case GASELL_C128: {
      const auto number = load<std::complex<double>>(address);
      return PyComplex_FromDoubles(number.real(), number.imag());
    }
  }
  PyErr_SetString(PyExc_SystemError, "an element of unknown type");
  return nullptr;
}

PyObject* to_python(SessionObject& session, gasell_value* value, bool keep_scalars) {
  Owner owner{value};
  const gasell_kind kind = gasell_value_kind(value);
  switch (kind) {
    case GASELL_KIND_NONE: Py_INCREF(Py_None); return Py_None;
    case GASELL_KIND_ARRAY: return wrap(session, owner.give(), registered.array);
    case GASELL_KIND_FRAME: return wrap(session, owner.give(), registered.frame);
    case GASELL_KIND_SERIES: return wrap(session, owner.give(), registered.series);
    case GASELL_KIND_FUNCTION: return wrap(session, owner.give(), registered.function);
    case GASELL_KIND_STRING: {
      gasell_error* error = nullptr;
      const char* text = nullptr;
      size_t length = 0;
      if (!succeeded(briefly_in_session(session, [&] { return gasell_value_text(value, &text, &length, &error); }), error)) return nullptr;
      return PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(length), "surrogateescape");
    }
    case GASELL_KIND_TUPLE:
    case GASELL_KIND_LIST: {
      if (Py_EnterRecursiveCall(" while converting a value of Gasell")) return nullptr;
      PyObject* const made = sequence(session, value, kind == GASELL_KIND_TUPLE, keep_scalars);
      Py_LeaveRecursiveCall();
      return made;
    }
    case GASELL_KIND_DICT: {
      if (Py_EnterRecursiveCall(" while converting a value of Gasell")) return nullptr;
      PyObject* const made = dict(session, value, keep_scalars);
      Py_LeaveRecursiveCall();
      return made;
    }
    default: break;
  }
  if (kind != GASELL_KIND_OTHER && kind != GASELL_KIND_HANDLE) {
    if (!gasell_value_has_dtype(value)) return plain_number(session, value, kind);
    return keep_scalars ? wrap(session, owner.give(), registered.array) : scalar_number(session, value);
  }
  gasell_error* error = nullptr;
  const char* type = nullptr;
  if (!succeeded(briefly_in_session(session, [&] { return gasell_value_type(value, &type, &error); }), error)) return nullptr;
  return other(session, owner, type);
}

}  // namespace gasell::python
