// The module gasell._gasell.
#include <vector>

#include "callbacks.h"
#include "objects.h"
#include "tables.h"

namespace gasell::python {

Registered registered{};

namespace {

PyObject* register_classes(PyObject*, PyObject* args) {
  Registered& r = registered;
  if (!PyArg_ParseTuple(args, "OOOOOOOO", &r.array, &r.frame, &r.series, &r.function, &r.object, &r.error_class, &r.prepare, &r.finish))
    return nullptr;
  for (PyObject* object : {r.array, r.frame, r.series, r.function, r.object, r.error_class, r.prepare, r.finish}) Py_INCREF(object);
  Py_RETURN_NONE;
}

enum class Results : uint8_t { converted, kept };

/// operation(*arguments, **keywords) for (session, operation, *arguments): what operate() and make() have in common.
PyObject* operated(PyObject* args, PyObject* keywords, Results results) {
  const Py_ssize_t count = PyTuple_Size(args) - 2;
  if (count < 0 || !PyObject_TypeCheck(PyTuple_GetItem(args, 0), session_type)) {
    PyErr_SetString(PyExc_TypeError, "a session and an operation are wanted");
    return nullptr;
  }
  SessionObject& session = as_session(PyTuple_GetItem(args, 0));
  const char* const text = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(args, 1), nullptr);
  if (!text) return nullptr;
  gasell_value* const operation = operation_of(session, text);
  if (!operation) return nullptr;
  std::vector<PyObject*> given;
  for (Py_ssize_t k = 0; k < count; ++k) given.push_back(PyTuple_GetItem(args, k + 2));
  if (keywords && PyDict_Size(keywords) == 0) keywords = nullptr;
  gasell_value* const result = result_of_call(session, operation, given.data(), count, keywords);
  if (!result) return nullptr;
  return results == Results::kept ? wrap(session, result, registered.object) : to_python(session, result, true);
}

PyObject* operate(PyObject*, PyObject* args, PyObject* keywords) { return operated(args, keywords, Results::converted); }
PyObject* make(PyObject*, PyObject* args, PyObject* keywords) { return operated(args, keywords, Results::kept); }

/// call(callee, *arguments, **keywords): as a call of the value, NumPy's scalars staying Arrays.
PyObject* call(PyObject*, PyObject* args, PyObject* keywords) {
  const Py_ssize_t count = PyTuple_Size(args) - 1;
  if (count < 0 || !is_value(PyTuple_GetItem(args, 0))) {
    PyErr_SetString(PyExc_TypeError, "call() wants a value");
    return nullptr;
  }
  ValueObject& callee = as_value(PyTuple_GetItem(args, 0));
  std::vector<PyObject*> given;
  for (Py_ssize_t k = 0; k < count; ++k) given.push_back(PyTuple_GetItem(args, k + 1));
  return call_value(*callee.session, callee.value, given.data(), count, keywords && PyDict_Size(keywords) > 0 ? keywords : nullptr, true);
}

PyObject* version(PyObject*, PyObject*) { return PyUnicode_FromString(gasell_version()); }

PyObject* is_complete(PyObject*, PyObject* text) {
  Py_ssize_t length = 0;
  const char* const chars = PyUnicode_AsUTF8AndSize(text, &length);
  return chars ? PyLong_FromLong(gasell_is_complete(chars, static_cast<size_t>(length))) : nullptr;
}

PyMethodDef functions[] = {
    {"register", register_classes, METH_VARARGS, "register(Array, DataFrame, Series, Function, Object, error_class, prepare, finish)"},
    {"operate", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(operate)), METH_VARARGS | METH_KEYWORDS,
     "operate(session, operation, *args, **kwargs): calls what the text of an operation stands for."},
    {"make", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(make)), METH_VARARGS | METH_KEYWORDS,
     "make(session, operation, *args, **kwargs): likewise; the result stays a Value of the session, whatever it is."},
    {"call", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call)), METH_VARARGS | METH_KEYWORDS,
     "call(value, *args, **kwargs): NumPy's scalars in the result stay Arrays."},
    {"frame_of_stream", frame_of_stream, METH_VARARGS, "frame_of_stream(session, capsule)"},
    {"array_of_dlpack", array_of_dlpack, METH_VARARGS, "array_of_dlpack(session, capsule)"},
    {"device_array", device_array, METH_VARARGS,
     "device_array(session, owner, address, dtype, shape, strides, stream): over memory of a GPU; the dtype by its number in gasell.h, "
     "strides "
     "in elements."},
    {"host_function", host_function, METH_VARARGS, "host_function(session, callable, name): a value that calls it."},
    {"is_complete", is_complete, METH_O, "is_complete(text): 1, 0 where more lines are wanted, -1 where the syntax is wrong."},
    {"version", version, METH_NOARGS, "The library's version."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition{
    PyModuleDef_HEAD_INIT, "_gasell", "Gasell's library for the package gasell.", -1, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace

}  // namespace gasell::python

PyMODINIT_FUNC PyInit__gasell() {
  using namespace gasell::python;
  Ref module(PyModule_Create(&definition));
  if (!module || add_engine_and_session(module.get()) != 0 || add_value(module.get()) != 0) return nullptr;
  return module.release();
}
