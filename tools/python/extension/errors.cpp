// Errors of the library as Python exceptions.
#include "callbacks.h"
#include "objects.h"

namespace gasell::python {

namespace {

/// KeyboardInterrupt: Python's own where its handler raises one.
void raise_interrupt(const char* message) {
  if (PyErr_CheckSignals() == 0) PyErr_SetString(PyExc_KeyboardInterrupt, message);
}

void raise_exit(int code) {
  const Ref number(PyLong_FromLong(code));
  if (number) PyErr_SetObject(PyExc_SystemExit, number.get());
}

/// Whether an error of a script's is a Python exception that a callable raised in it.
bool tells_again(const gasell_error_info& info, PyObject* exception) {
  const Ref message(PyObject_Str(exception));
  if (!message) PyErr_Clear();
  return message && PyUnicode_CompareWithASCIIString(message.get(), info.message) == 0;
}

}  // namespace

bool succeeded(gasell_status status, gasell_error* const& error) {
  if (status == GASELL_OK) return true;
  gasell_error_info info{};
  info.struct_size = sizeof info;
  if (!error || gasell_error_describe(error, &info) != GASELL_OK) {
    PyErr_NoMemory();
    return false;
  }
  if (status == GASELL_INTERRUPTED) {
    raise_interrupt(info.message);
  } else if (status == GASELL_EXIT) {
    raise_exit(info.exit_code);
  } else {
    const Ref made(PyObject_CallFunction(registered.error_class, "isss", static_cast<int>(status), info.kind, info.json, info.rendered));
    if (const Ref cause = take_raised(); cause && made && tells_again(info, cause.get()))
      PyException_SetCause(made.get(), Ref::shared(cause.get()).release());
    if (made) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.get())), made.get());
  }
  gasell_error_free(error);
  return false;
}

}  // namespace gasell::python
