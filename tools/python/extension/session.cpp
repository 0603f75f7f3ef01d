// Engine and Session.
#include <cstring>
#include <memory>
#include <vector>

#include "objects.h"

namespace gasell::python {

PyTypeObject *engine_type = nullptr, *session_type = nullptr;

namespace {

void free_object(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyObject* allocate(PyTypeObject* type) { return reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc))(type, 0); }

// ---- Engine ----

PyObject* engine_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"threads", "memory", "device", "chunk", "fuse", "cache", "cache_directory", nullptr};
  gasell_engine_options options{};
  options.struct_size = sizeof options;
  long long memory = 0, chunk = 0;
  int fuse = 1, cache = 1;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$iLzLppz", const_cast<char**>(names), &options.threads, &memory, &options.device,
                                   &chunk, &fuse, &cache, &options.cache_directory))
    return nullptr;
  options.memory = memory;
  options.chunk = chunk;
  options.no_fuse = !fuse;
  options.no_cache = !cache;
  Ref self(allocate(type));
  if (!self) return nullptr;
  gasell_error* error = nullptr;
  auto& engine = *reinterpret_cast<EngineObject*>(self.get());
  if (!succeeded(gasell_engine_create(&options, &engine.engine, &error), error)) return nullptr;
  return self.release();
}

void engine_dealloc(PyObject* self) {
  gasell_engine* const engine = reinterpret_cast<EngineObject*>(self)->engine;
  PyThreadState* const thread = PyEval_SaveThread();
  gasell_engine_free(engine);
  PyEval_RestoreThread(thread);
  free_object(self);
}

PyObject* engine_interrupt(PyObject* self, PyObject*) {
  gasell_engine_interrupt(reinterpret_cast<EngineObject*>(self)->engine);
  Py_RETURN_NONE;
}

PyObject* engine_progress(PyObject* self, void*) {
  const double fraction = gasell_engine_progress(reinterpret_cast<EngineObject*>(self)->engine);
  if (fraction < 0) Py_RETURN_NONE;
  return PyFloat_FromDouble(fraction);
}

PyGetSetDef engine_properties[] = {
    {"progress", engine_progress, nullptr,
     "What part of the computation that runs is done, 0 to 1; None where none runs. Computations from the first look on are told of.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef engine_methods[] = {
    {"interrupt", engine_interrupt, METH_NOARGS, "Stop what all sessions of this engine run; their calls raise KeyboardInterrupt."},
    {nullptr, nullptr, 0, nullptr}};

// ---- Session ----

/// "write:/tmp" and the like, kept alive by the tuple.
bool grants_of(PyObject* tuple, std::vector<const char*>& grants) {
  for (Py_ssize_t k = 0; k < PyTuple_Size(tuple); ++k) {
    const char* const grant = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, k), nullptr);
    if (!grant) return false;
    grants.push_back(grant);
  }
  grants.push_back(nullptr);
  return true;
}

PyObject* session_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"engine", "sandbox", "allow", "memory", "output", "seconds", "recursion", nullptr};
  gasell_session_options options{};
  options.struct_size = sizeof options;
  PyObject *engine = nullptr, *allow = nullptr;
  long long memory = 0, output = 0;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!|$pO!LLdi", const_cast<char**>(names), engine_type, &engine, &options.sandbox,
                                   &PyTuple_Type, &allow, &memory, &output, &options.seconds, &options.recursion))
    return nullptr;
  options.memory = memory;
  options.output = output;
  std::vector<const char*> grants;
  if (allow && PyTuple_Size(allow) > 0) {
    if (!grants_of(allow, grants)) return nullptr;
    options.allow = grants.data();
  }
  Ref self(allocate(type));
  if (!self) return nullptr;
  SessionObject& session = as_session(self.get());
  session.state = new SessionState;
  Py_INCREF(engine);
  session.engine = reinterpret_cast<EngineObject*>(engine);
  gasell_error* error = nullptr;
  PyThreadState* const thread = PyEval_SaveThread();
  const gasell_status status = gasell_session_create_with(session.engine->engine, &options, &session.session, &error);
  PyEval_RestoreThread(thread);
  if (!succeeded(status, error)) return nullptr;
  return self.release();
}

void session_dealloc(PyObject* self) {
  SessionObject& session = as_session(self);
  if (session.state) {
    PyThreadState* const thread = PyEval_SaveThread();
    for (const auto& [text, operation] : session.state->operations) gasell_value_free(operation);
    gasell_session_free(session.session);
    PyEval_RestoreThread(thread);
    delete session.state;
    Py_DECREF(reinterpret_cast<PyObject*>(session.engine));
  }
  free_object(self);
}

PyObject* session_evaluate(PyObject* self, PyObject* args) {
  const char *text = nullptr, *source = nullptr;
  int keep_scalars = 0;
  if (!PyArg_ParseTuple(args, "ss|p", &text, &source, &keep_scalars)) return nullptr;
  SessionObject& session = as_session(self);
  gasell_value* value = nullptr;
  gasell_error* error = nullptr;
  if (!succeeded(in_session(session, [&] { return gasell_evaluate(session.session, text, source, &value, &error); }), error))
    return nullptr;
  return to_python(session, value, keep_scalars != 0);
}

PyObject* session_bind(PyObject* self, PyObject* args) {
  const char* name = nullptr;
  PyObject* object = nullptr;
  if (!PyArg_ParseTuple(args, "sO", &name, &object)) return nullptr;
  SessionObject& session = as_session(self);
  const Held value = to_gasell(session, object);
  if (!value) return nullptr;
  gasell_error* error = nullptr;
  if (!succeeded(briefly_in_session(session, [&] { return gasell_bind_value(session.session, name, value.get(), &error); }), error))
    return nullptr;
  Py_RETURN_NONE;
}

PyObject* session_get(PyObject* self, PyObject* args) {
  const char* name = nullptr;
  int keep_scalars = 0;
  if (!PyArg_ParseTuple(args, "s|p", &name, &keep_scalars)) return nullptr;
  SessionObject& session = as_session(self);
  gasell_value* value = nullptr;
  gasell_error* error = nullptr;
  if (!succeeded(briefly_in_session(session, [&] { return gasell_get_global(session.session, name, &value, &error); }), error))
    return nullptr;
  return to_python(session, value, keep_scalars != 0);
}

PyObject* session_convert(PyObject* self, PyObject* object) {
  SessionObject& session = as_session(self);
  Held value = to_gasell(session, object);
  if (!value) return nullptr;
  PyObject* const held = value.object();
  if (held && (held == object || reinterpret_cast<PyObject*>(Py_TYPE(held)) != registered.object)) {
    Py_INCREF(held);
    return held;
  }
  if (held) return to_python(session, std::exchange(as_value(held).value, nullptr), true);  // made on the way
  return to_python(session, value.release(), true);
}

PyObject* session_interrupt(PyObject* self, PyObject*) {
  gasell_session_interrupt(as_session(self).session);
  Py_RETURN_NONE;
}

PyObject* session_set_cancelled(PyObject* self, PyObject* flag) {
  const int cancelled = PyObject_IsTrue(flag);
  if (cancelled < 0) return nullptr;
  gasell_session_set_cancelled(as_session(self).session, cancelled);
  Py_RETURN_NONE;
}

PyObject* session_set_seconds(PyObject* self, PyObject* number) {
  const double seconds = PyFloat_AsDouble(number);
  if (seconds == -1 && PyErr_Occurred()) return nullptr;
  SessionObject& session = as_session(self);
  gasell_error* error = nullptr;
  if (!succeeded(gasell_session_set_seconds(session.session, seconds, &error), error)) return nullptr;
  Py_RETURN_NONE;
}

/// What a script prints, to a callable of Python's. An exception in it is told as one that nobody can catch, and the script goes on.
template <Ref SessionState::* callable>
void write_to_python(void* context, const char* text, size_t length) {
  const auto& session = *static_cast<SessionObject*>(context);
  const PyGILState_STATE state = PyGILState_Ensure();
  {
    PyObject* const write = (session.state->*callable).get();
    const Ref written(PyObject_CallFunction(write, "s#", text, static_cast<Py_ssize_t>(length)));
    if (!written) PyErr_WriteUnraisable(write);
  }
  PyGILState_Release(state);
}

void log_to_python(void* context, int level, const char* text, size_t length) {
  const auto& session = *static_cast<SessionObject*>(context);
  const PyGILState_STATE state = PyGILState_Ensure();
  {
    PyObject* const log = session.state->log.get();
    const Ref logged(PyObject_CallFunction(log, "is#", level, text, static_cast<Py_ssize_t>(length)));
    if (!logged) PyErr_WriteUnraisable(log);
  }
  PyGILState_Release(state);
}

int64_t read_from_python(void* context, const char* prompt, char* line, int64_t room) {
  const auto& session = *static_cast<SessionObject*>(context);
  const PyGILState_STATE state = PyGILState_Ensure();
  int64_t length = -1;
  {
    const Ref read(PyObject_CallFunction(session.state->input.get(), "s", prompt));
    Py_ssize_t size = 0;
    const char* const text = read && PyUnicode_Check(read.get()) ? PyUnicode_AsUTF8AndSize(read.get(), &size) : nullptr;
    if (text) {
      length = size < room ? size : room;
      std::memcpy(line, text, static_cast<size_t>(length));
    } else if (PyErr_ExceptionMatches(PyExc_EOFError)) {
      PyErr_Clear();
    } else if (PyErr_Occurred()) {
      PyErr_WriteUnraisable(session.state->input.get());
    }
  }
  PyGILState_Release(state);
  return length;
}

PyObject* session_set_streams(PyObject* self, PyObject* args) {
  PyObject *output = nullptr, *error_output = nullptr, *input = nullptr;
  if (!PyArg_ParseTuple(args, "OOO", &output, &error_output, &input)) return nullptr;
  SessionObject& session = as_session(self);
  gasell_error* error = nullptr;
  const auto set = [&](auto set_writer, gasell_write write) {
    return succeeded(briefly_in_session(session, [&] { return set_writer(session.session, write, &session, &error); }), error);
  };
  if (output != Py_None) {
    session.state->output = Ref::shared(output);
    if (!set(gasell_session_set_output, write_to_python<&SessionState::output>)) return nullptr;
  }
  if (error_output != Py_None) {
    session.state->error_output = Ref::shared(error_output);
    if (!set(gasell_session_set_error_output, write_to_python<&SessionState::error_output>)) return nullptr;
  }
  if (input == Py_None) Py_RETURN_NONE;
  session.state->input = Ref::shared(input);
  const gasell_status reading =
      briefly_in_session(session, [&] { return gasell_session_set_input(session.session, read_from_python, &session, &error); });
  if (!succeeded(reading, error)) return nullptr;
  Py_RETURN_NONE;
}

PyObject* session_set_log(PyObject* self, PyObject* args) {
  PyObject* log = nullptr;
  int level = 0;
  if (!PyArg_ParseTuple(args, "Oi", &log, &level)) return nullptr;
  SessionObject& session = as_session(self);
  Ref next = log == Py_None ? Ref() : Ref::shared(log);
  gasell_error* error = nullptr;
  const gasell_status status = briefly_in_session(session, [&] {
    const gasell_status set = gasell_session_set_log(session.session, level, next ? log_to_python : nullptr, &session, &error);
    if (set == GASELL_OK) session.state->log = std::move(next);  // they change places: the one before goes with the GIL
    return set;
  });
  if (!succeeded(status, error)) return nullptr;
  Py_RETURN_NONE;
}

PyObject* session_complete(PyObject* self, PyObject* args) {
  const char* text = nullptr;
  Py_ssize_t length = 0, cursor = 0;
  if (!PyArg_ParseTuple(args, "s#n", &text, &length, &cursor)) return nullptr;
  SessionObject& session = as_session(self);
  const char* json = nullptr;
  gasell_error* error = nullptr;
  const gasell_status status = in_session(session, [&] {
    return gasell_complete(session.session, text, static_cast<size_t>(length), static_cast<size_t>(cursor), &json, &error);
  });
  return succeeded(status, error) ? PyUnicode_FromString(json) : nullptr;
}

PyObject* session_inspect(PyObject* self, PyObject* args) {
  const char* text = nullptr;
  Py_ssize_t length = 0, cursor = 0;
  int detail = 0;
  if (!PyArg_ParseTuple(args, "s#np", &text, &length, &cursor, &detail)) return nullptr;
  SessionObject& session = as_session(self);
  const char* description = nullptr;
  gasell_error* error = nullptr;
  const gasell_status status = in_session(session, [&] {
    return gasell_inspect(session.session, text, static_cast<size_t>(length), static_cast<size_t>(cursor), detail, &description, &error);
  });
  return succeeded(status, error) ? PyUnicode_FromString(description) : nullptr;
}

PyObject* session_engine(PyObject* self, void*) {
  auto* const engine = reinterpret_cast<PyObject*>(as_session(self).engine);
  Py_INCREF(engine);
  return engine;
}

PyMethodDef session_methods[] = {
    {"_evaluate", session_evaluate, METH_VARARGS, "_evaluate(text, source_name, keep_scalars=False): the value of the last expression."},
    {"_bind", session_bind, METH_VARARGS, "_bind(name, object)"},
    {"_get", session_get, METH_VARARGS, "_get(name, keep_scalars=False)"},
    {"_convert", session_convert, METH_O, "_convert(object): there and back, as a value of this session; NumPy's scalars are Arrays."},
    {"_set_streams", session_set_streams, METH_VARARGS, "_set_streams(write, write_error, read_line); None leaves one as it is."},
    {"_set_log", session_set_log, METH_VARARGS, "_set_log(log, level): log(level, text); None: nobody."},
    {"_set_cancelled", session_set_cancelled, METH_O, "_set_cancelled(flag)"},
    {"_set_seconds", session_set_seconds, METH_O, "_set_seconds(seconds)"},
    {"_complete", session_complete, METH_VARARGS, "_complete(text, cursor in bytes): JSON"},
    {"_inspect", session_inspect, METH_VARARGS, "_inspect(text, cursor in bytes, detail): text"},
    {"interrupt", session_interrupt, METH_NOARGS, "End what this session runs, from any thread; the call raises KeyboardInterrupt."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef session_properties[] = {{"engine", session_engine, nullptr, "The Engine of this session.", nullptr},
                                    {nullptr, nullptr, nullptr, nullptr, nullptr}};

template <class F>
void* slot(F* function) {
  return reinterpret_cast<void*>(function);
}

PyTypeObject* make_type(PyObject* module, const char* name, int size, PyType_Slot* slots) {
  PyType_Spec spec{name, size, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  auto* const type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (type && PyModule_AddType(module, type) != 0) return nullptr;
  return type;
}

}  // namespace

gasell_value* operation_of(SessionObject& session, const char* text) {
  auto& operations = session.state->operations;
  if (const auto found = operations.find(text); found != operations.end()) return found->second;
  gasell_error* error = nullptr;
  gasell_value* made = nullptr;
  const std::string_view whole = text;
  const size_t colon = whole.find(':');
  const bool is_member = colon != std::string_view::npos && whole.find(' ') == std::string_view::npos;
  const gasell_status status = in_session(session, [&] {
    if (!is_member) return gasell_evaluate(session.session, text, "<operation>", &made, &error);
    gasell_status step = gasell_import_module(session.session, std::string(whole.substr(0, colon)).c_str(), &made, &error);
    for (size_t at = colon + 1; step == GASELL_OK && at <= whole.size();) {
      const size_t dot = whole.find('.', at);
      gasell_value* const owner = std::exchange(made, nullptr);
      step = gasell_value_attribute(owner, std::string(whole.substr(at, dot - at)).c_str(), &made, &error);
      gasell_value_free(owner);
      at = dot == std::string_view::npos ? whole.size() + 1 : dot + 1;
    }
    return step;
  });
  if (!succeeded(status, error)) return nullptr;
  const auto [place, added] = operations.emplace(text, made);
  if (!added) free_value(made);  // another thread was faster
  return place->second;
}

int add_engine_and_session(PyObject* module) {
  static PyType_Slot engine_slots[] = {{Py_tp_new, slot(engine_new)},
                                       {Py_tp_dealloc, slot(engine_dealloc)},
                                       {Py_tp_methods, engine_methods},
                                       {Py_tp_getset, engine_properties},
                                       {Py_tp_doc, const_cast<char*>("What sessions share: cores or GPUs, memory, compiled code.")},
                                       {0, nullptr}};
  static PyType_Slot session_slots[] = {{Py_tp_new, slot(session_new)},
                                        {Py_tp_dealloc, slot(session_dealloc)},
                                        {Py_tp_methods, session_methods},
                                        {Py_tp_getset, session_properties},
                                        {Py_tp_doc, const_cast<char*>("Names and what they hold; the base of gasell.Session.")},
                                        {0, nullptr}};
  engine_type = make_type(module, "gasell._gasell.Engine", sizeof(EngineObject), engine_slots);
  session_type = make_type(module, "gasell._gasell.Session", sizeof(SessionObject), session_slots);
  return engine_type && session_type ? 0 : -1;
}

}  // namespace gasell::python
