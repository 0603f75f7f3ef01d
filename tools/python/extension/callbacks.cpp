#include "callbacks.h"

#include <cstdio>

namespace gasell::python {

namespace {

struct Callback {
  PyObject* callable;
  SessionObject* session;  // outlives its values
};

thread_local PyObject* raised = nullptr;

/// str(error); of a KeyError the key, which the session's KeyError puts between quotes itself.
PyObject* message_of(PyObject* error) {
  if (!PyObject_TypeCheck(error, reinterpret_cast<PyTypeObject*>(PyExc_KeyError))) return PyObject_Str(error);
  const Ref args(PyObject_GetAttrString(error, "args"));
  return args && PyTuple_Size(args.get()) == 1 ? PyObject_Str(PyTuple_GetItem(args.get(), 0)) : PyObject_Str(error);
}

/// The Python exception that is set, for the script; it is cleared.
void tell(gasell_failure& failure) {
  PyObject *type = nullptr, *error = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &error, &trace);
  PyErr_NormalizeException(&type, &error, &trace);
  if (error && trace) PyException_SetTraceback(error, trace);
  const Ref kind(PyObject_GetAttrString(type, "__name__")), message(error ? message_of(error) : nullptr);
  const char* const name = kind ? PyUnicode_AsUTF8AndSize(kind.get(), nullptr) : nullptr;
  const char* const text = message ? PyUnicode_AsUTF8AndSize(message.get(), nullptr) : nullptr;
  std::snprintf(failure.kind, sizeof failure.kind, "%s", name ? name : "");
  std::snprintf(failure.message, sizeof failure.message, "%s", text ? text : "");
  PyErr_Clear();
  Py_XDECREF(std::exchange(raised, error));
  Py_XDECREF(type);
  Py_XDECREF(trace);
}

/// The call itself. The handles are taken over, whatever happens.
gasell_value* called(Callback& callback, gasell_value* const* arguments, size_t count, const char* const* names,
                     gasell_value* const* keywords, size_t keyword_count) {
  SessionObject& session = *callback.session;
  const Ref positional(PyTuple_New(static_cast<Py_ssize_t>(count))), named(keyword_count ? PyDict_New() : nullptr);
  bool complete = positional && (named || !keyword_count);
  for (size_t k = 0; k < count; ++k) {
    PyObject* const argument = complete ? to_python(session, arguments[k], false) : (free_value(arguments[k]), nullptr);
    complete = complete && argument && PyTuple_SetItem(positional.get(), static_cast<Py_ssize_t>(k), argument) == 0;
  }
  for (size_t k = 0; k < keyword_count; ++k) {
    const Ref argument(complete ? to_python(session, keywords[k], false) : (free_value(keywords[k]), nullptr));
    complete = complete && argument && PyDict_SetItemString(named.get(), names[k], argument.get()) == 0;
  }
  if (!complete) return nullptr;
  const Ref result(PyObject_Call(callback.callable, positional.get(), named.get()));
  if (!result) return nullptr;
  Held value = to_gasell(session, result.get());
  if (!value) return nullptr;
  if (!value.object()) return value.release();
  gasell_value* shared = nullptr;
  gasell_error* error = nullptr;
  return succeeded(briefly_in_session(session, [&] { return gasell_value_share(value.get(), &shared, &error); }), error) ? shared : nullptr;
}

int call_python(void* context, gasell_value* const* arguments, size_t count, const char* const* names, gasell_value* const* keywords,
                size_t keyword_count, gasell_value** result, gasell_failure* failure) {
  auto& callback = *static_cast<Callback*>(context);
  const PyGILState_STATE state = PyGILState_Ensure();
  *result = called(callback, arguments, count, names, keywords, keyword_count);
  const bool failed = !*result;
  if (failed) {
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) gasell_session_interrupt(callback.session->session);
    tell(*failure);
  }
  PyGILState_Release(state);
  return failed ? 1 : 0;
}

void release_callback(void* context) {
  auto* const callback = static_cast<Callback*>(context);
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF(callback->callable);
  PyGILState_Release(state);
  delete callback;
}

}  // namespace

Ref take_raised() { return Ref(std::exchange(raised, nullptr)); }

PyObject* host_function(PyObject*, PyObject* args) {
  PyObject *given = nullptr, *callable = nullptr;
  const char* name = nullptr;
  if (!PyArg_ParseTuple(args, "O!Os", session_type, &given, &callable, &name)) return nullptr;
  SessionObject& session = as_session(given);
  auto* const callback = new Callback{callable, &session};
  gasell_value* value = nullptr;
  gasell_error* error = nullptr;
  const gasell_status status = briefly_in_session(
      session, [&] { return gasell_make_function(session.session, name, call_python, release_callback, callback, &value, &error); });
  if (!succeeded(status, error)) {
    delete callback;
    return nullptr;
  }
  Py_INCREF(callable);
  return wrap(session, value, registered.function);
}

}  // namespace gasell::python
