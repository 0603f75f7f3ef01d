// The types of the extension: Engine, Session, Value.
#pragma once

#include <gasell/gasell.h>

#include <mutex>
#include <string>
#include <unordered_map>

#include "interrupt.h"
#include "python.h"

namespace gasell::python {

class CallCache;

struct EngineObject {
  PyObject ob_base;
  gasell_engine* engine;
  /// Tensors and tables of other libraries have memory of it: from then on it stays as long as the process.
  bool lent;
};

/// What a session has beside the library's: one thread at a time is in it, others wait.
struct SessionState {
  std::recursive_mutex mutex;
  /// Functions that operate() was asked for, by their texts.
  std::unordered_map<std::string, gasell_value*> operations;
  Ref output, error_output, input, log;  // callables, or null
};
struct SessionObject {
  PyObject ob_base;
  gasell_session* session;
  EngineObject* engine;
  SessionState* state;
};

struct ValueObject {
  PyObject ob_base;
  gasell_value* value;
  SessionObject* session;
  CallCache* calls;  // of a compiled function
};

/// Runs `work` without the GIL and alone in the session; Ctrl-C ends it.
template <class Work>
gasell_status in_session(SessionObject& session, Work&& work) {
  PyThreadState* const thread = PyEval_SaveThread();
  gasell_status status;
  {
    const std::lock_guard lock(session.state->mutex);
    const InterruptScope interruptible(session.session);
    status = work();
  }
  PyEval_RestoreThread(thread);
  return status;
}

/// Likewise for what takes no time.
template <class Work>
gasell_status briefly_in_session(SessionObject& session, Work&& work) {
  PyThreadState* const thread = PyEval_SaveThread();
  gasell_status status;
  {
    const std::lock_guard lock(session.state->mutex);
    status = work();
  }
  PyEval_RestoreThread(thread);
  return status;
}

/// Memory of the session's engine is given to who does not keep the engine.
inline void keep_engine(SessionObject& session) {
  if (!std::exchange(session.engine->lent, true)) Py_INCREF(reinterpret_cast<PyObject*>(session.engine));
}

/// `error` is read when the call that gives `status` has returned. True for GASELL_OK; else sets the Python exception that matches, and
/// frees the error.
bool succeeded(gasell_status status, gasell_error* const& error);

/// The type objects, made once.
extern PyTypeObject *engine_type, *session_type, *value_type;
int add_engine_and_session(PyObject* module);
int add_value(PyObject* module);

/// What Python gave with _gasell.register(): classes for kinds of values, and functions for what is rare.
struct Registered {
  PyObject *array, *frame, *series, *function, *object;  // subclasses of Value
  PyObject* error_class;                                 // error_class(kind) -> type
  PyObject* prepare;                                     // prepare(session, object) -> what the extension can convert
  PyObject* finish;                                      // finish(value, type_name) -> the Python object for it
};
extern Registered registered;

inline bool is_value(PyObject* object) { return PyObject_TypeCheck(object, value_type); }
inline ValueObject& as_value(PyObject* object) { return *reinterpret_cast<ValueObject*>(object); }
inline SessionObject& as_session(PyObject* object) { return *reinterpret_cast<SessionObject*>(object); }

/// A Value over a handle, which it takes over; `type`: a subclass of Value.
PyObject* wrap(SessionObject& session, gasell_value* value, PyObject* type);

/// A value of the session for arguments of calls: a handle of its own, or that of a Python object, which it keeps.
class Held {
 public:
  Held() = default;
  explicit Held(gasell_value* owned) : value_(owned) {}
  explicit Held(PyObject* value_object);
  Held(Held&& other) noexcept : value_(std::exchange(other.value_, nullptr)), object_(std::move(other.object_)) {}
  Held& operator=(Held&& other) noexcept {
    std::swap(value_, other.value_);
    std::swap(object_, other.object_);
    return *this;
  }
  ~Held();
  gasell_value* get() const { return value_; }
  /// The Python object whose handle this is; null where it has one of its own, which release() gives away.
  PyObject* object() const { return object_.get(); }
  gasell_value* release() { return std::exchange(value_, nullptr); }
  explicit operator bool() const { return value_ != nullptr; }

 private:
  gasell_value* value_ = nullptr;
  Ref object_;
};
/// Frees a handle without the GIL: other arrays' memory may be given back by it.
void free_value(gasell_value* value);

/// A Python object as a value of the session; empty with a Python error where it is none.
Held to_gasell(SessionObject& session, PyObject* object);
/// The Python object for a value, whose handle is taken over. NumPy's scalars stay Arrays with `keep_scalars`, else they are numbers.
PyObject* to_python(SessionObject& session, gasell_value* value, bool keep_scalars);
/// One element of memory as a Python number.
PyObject* number_at(const void* address, gasell_dtype dtype);

/// The function that a text stands for, made on first use and kept: "numpy:linalg.norm" is a member of a module, others are evaluated.
/// Null with a Python error.
gasell_value* operation_of(SessionObject& session, const char* text);
/// callee(*arguments, **keywords) in the session; `keywords` is a dict or null. A handle to be freed; null with a Python error.
gasell_value* result_of_call(SessionObject& session, gasell_value* callee, PyObject* const* arguments, Py_ssize_t count,
                             PyObject* keywords);
/// The same, as a Python object.
PyObject* call_value(SessionObject& session, gasell_value* callee, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords,
                     bool keep_scalars);

}  // namespace gasell::python
