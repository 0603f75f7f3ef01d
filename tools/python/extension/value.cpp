// Value: a handle of the library's; arrays among them export their memory.
#include <memory>
#include <vector>

#include "buffers.h"
#include "calls.h"
#include "objects.h"
#include "tables.h"

namespace gasell::python {

PyTypeObject* value_type = nullptr;

namespace {

void value_dealloc(PyObject* self) {
  ValueObject& value = as_value(self);
  PyTypeObject* const type = Py_TYPE(self);
  delete value.calls;
  if (value.value) free_value(value.value);
  Py_XDECREF(reinterpret_cast<PyObject*>(value.session));
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

/// Value(value): takes the handle over, for subclasses with more in them.
PyObject* value_new(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject* from = nullptr;
  if (!PyArg_ParseTuple(args, "O!", value_type, &from)) return nullptr;
  ValueObject& source = as_value(from);
  if (!source.value) {
    PyErr_SetString(PyExc_ValueError, "this value was taken over by another");
    return nullptr;
  }
  PyObject* const made = wrap(*source.session, source.value, reinterpret_cast<PyObject*>(type));
  if (made) source.value = nullptr;
  return made;
}

PyObject* value_call(PyObject* self, PyObject* args, PyObject* keywords) {
  ValueObject& value = as_value(self);
  const Py_ssize_t count = PyTuple_Size(args);
  PyObject* few[16];
  std::vector<PyObject*> many;
  PyObject** given = few;
  if (count > 16) {
    many.resize(static_cast<size_t>(count));
    given = many.data();
  }
  for (Py_ssize_t k = 0; k < count; ++k) given[k] = PyTuple_GetItem(args, k);
  const bool has_keywords = keywords && PyDict_Size(keywords) > 0;
  if (value.calls && !has_keywords) {
    bool taken = false;
    PyObject* const result = value.calls->call(given, count, taken);
    if (taken) return result;
  }
  return call_value(*value.session, value.value, given, count, has_keywords ? keywords : nullptr, false);
}

PyObject* value_attribute(PyObject* self, PyObject* args) {
  const char* name = nullptr;
  int keep_scalars = 1;
  if (!PyArg_ParseTuple(args, "s|p", &name, &keep_scalars)) return nullptr;
  ValueObject& value = as_value(self);
  gasell_value* attribute = nullptr;
  gasell_error* error = nullptr;
  const gasell_status status = in_session(*value.session, [&] { return gasell_value_attribute(value.value, name, &attribute, &error); });
  if (!succeeded(status, error)) return nullptr;
  return to_python(*value.session, attribute, keep_scalars != 0);
}

PyObject* value_text(PyObject* self, PyObject*) {
  ValueObject& value = as_value(self);
  const char* text = nullptr;
  size_t length = 0;
  gasell_error* error = nullptr;
  if (!succeeded(in_session(*value.session, [&] { return gasell_value_text(value.value, &text, &length, &error); }), error)) return nullptr;
  return PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(length), "surrogateescape");
}

PyObject* value_type_name(PyObject* self, PyObject*) {
  ValueObject& value = as_value(self);
  const char* name = nullptr;
  gasell_error* error = nullptr;
  if (!succeeded(briefly_in_session(*value.session, [&] { return gasell_value_type(value.value, &name, &error); }), error)) return nullptr;
  return PyUnicode_FromString(name);
}

PyObject* shape_of(const int64_t* shape, int rank, int64_t factor = 1) {
  Ref made(PyTuple_New(rank));
  for (int k = 0; made && k < rank; ++k) PyTuple_SetItem(made.get(), k, PyLong_FromLongLong(shape[k] * factor));
  return made.release();
}

PyObject* value_describe(PyObject* self, PyObject*) {
  ValueObject& value = as_value(self);
  gasell_array array{};
  array.struct_size = sizeof array;
  gasell_error* error = nullptr;
  if (!succeeded(in_session(*value.session, [&] { return gasell_value_describe(value.value, &array, &error); }), error)) return nullptr;
  return Py_BuildValue("sN", gasell_dtype_name(array.dtype), shape_of(array.shape, array.rank));
}

/// The array's memory, computed.
bool view_of(ValueObject& value, gasell_dtype& dtype, int& rank, gasell_view& view) {
  gasell_error* error = nullptr;
  return succeeded(in_session(*value.session, [&] { return gasell_value_view(value.value, &dtype, &rank, &view, &error); }), error);
}

PyObject* value_memory(PyObject* self, PyObject*) {
  gasell_dtype dtype;
  int rank = 0;
  gasell_view view;
  if (!view_of(as_value(self), dtype, rank, view)) return nullptr;
  return Py_BuildValue("KsNN", static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(view.data)), gasell_dtype_name(dtype),
                       shape_of(view.shape, rank), shape_of(view.strides, rank, static_cast<int64_t>(gasell_dtype_size(dtype))));
}

PyObject* value_device_memory(PyObject* self, PyObject* args) {
  int device = 0;
  if (!PyArg_ParseTuple(args, "i", &device)) return nullptr;
  ValueObject& value = as_value(self);
  gasell_dtype dtype;
  int rank = 0;
  gasell_view view;
  gasell_error* error = nullptr;
  const gasell_status status =
      in_session(*value.session, [&] { return gasell_value_device_view(value.value, device, &dtype, &rank, &view, &error); });
  if (!succeeded(status, error)) return nullptr;
  return Py_BuildValue("KsNN", static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(view.data)), gasell_dtype_name(dtype),
                       shape_of(view.shape, rank), shape_of(view.strides, rank, static_cast<int64_t>(gasell_dtype_size(dtype))));
}

PyObject* value_item(PyObject* self, PyObject*) {
  gasell_dtype dtype;
  int rank = 0;
  gasell_view view;
  if (!view_of(as_value(self), dtype, rank, view)) return nullptr;
  for (int k = 0; k < rank; ++k)
    if (view.shape[k] != 1) {
      PyErr_SetString(PyExc_TypeError, "only length-1 arrays can be converted to Python scalars");
      return nullptr;
    }
  return number_at(view.data, dtype);
}

PyObject* value_become(PyObject* self, PyObject* from) {
  if (!is_value(from) || as_value(from).session != as_value(self).session || !as_value(from).value) {
    PyErr_SetString(PyExc_TypeError, "_become() wants a value of this session");
    return nullptr;
  }
  std::swap(as_value(self).value, as_value(from).value);
  Py_RETURN_NONE;
}

// ---- the buffer protocol ----

int value_get_buffer(PyObject* self, Buffer* buffer, int flags) {
  buffer->obj = nullptr;
  if (flags & kBufferWritable) {
    PyErr_SetString(PyExc_BufferError, "memory of Gasell's arrays is read-only for others: write with a[...] = ...");
    return -1;
  }
  ValueObject& value = as_value(self);
  gasell_dtype dtype;
  int rank = 0;
  gasell_view view;
  if (!view_of(value, dtype, rank, view)) {
    if (PyErr_ExceptionMatches(PyExc_TypeError)) PyErr_SetString(PyExc_BufferError, "this value is not an array");
    return -1;
  }
  const auto width = static_cast<Py_ssize_t>(gasell_dtype_size(dtype));
  auto layout = std::make_unique<Py_ssize_t[]>(static_cast<size_t>(2 * rank + 1));
  Py_ssize_t count = 1;
  bool contiguous = true;
  for (int k = rank; k-- > 0;) {
    layout[static_cast<size_t>(k)] = view.shape[k];
    layout[static_cast<size_t>(rank + k)] = view.strides[k] * width;
    if (view.shape[k] != 1 && view.strides[k] != count) contiguous = false;
    count *= view.shape[k];
  }
  if ((flags & kBufferStrides) != kBufferStrides && !contiguous) {
    PyErr_SetString(PyExc_BufferError, "the array is not contiguous, and strides were not asked for");
    return -1;
  }
  buffer->buf = view.data;
  buffer->len = count * width;
  buffer->itemsize = width;
  buffer->readonly = 1;
  buffer->ndim = rank;
  buffer->format = flags & kBufferFormat ? const_cast<char*>(format_of(dtype)) : nullptr;
  buffer->shape = (flags & kBufferShape) ? layout.get() : nullptr;
  buffer->strides = (flags & kBufferStrides) == kBufferStrides ? layout.get() + rank : nullptr;
  buffer->suboffsets = nullptr;
  buffer->internal = layout.release();
  Py_INCREF(self);
  buffer->obj = self;
  return 0;
}

void value_release_buffer(PyObject*, Buffer* buffer) { delete[] static_cast<Py_ssize_t*>(buffer->internal); }

PyObject* value_session(PyObject* self, void*) {
  auto* const session = reinterpret_cast<PyObject*>(as_value(self).session);
  Py_INCREF(session);
  return session;
}

PyMethodDef value_methods[] = {
    {"_attribute", value_attribute, METH_VARARGS, "_attribute(name, keep_scalars=True)"},
    {"_text", value_text, METH_NOARGS, "_text(): str(value)"},
    {"_type_name", value_type_name, METH_NOARGS, "_type_name(): type(value).__name__"},
    {"_describe", value_describe, METH_NOARGS, "_describe(): (dtype, shape) of an array, without computing it."},
    {"_memory", value_memory, METH_NOARGS, "_memory(): (address, dtype, shape, strides in bytes) of an array, computed."},
    {"_become", value_become, METH_O, "_become(value): exchanges what the two are."},
    {"_item", value_item, METH_NOARGS, "_item(): the one element as a Python number."},
    {"_arrow_stream", arrow_stream_of, METH_NOARGS, "_arrow_stream(): a capsule of a frame, computed."},
    {"_device_memory", value_device_memory, METH_VARARGS, "_device_memory(device): the same in the memory of the GPU of this number."},
    {"_dlpack", dlpack_of, METH_VARARGS, "_dlpack(device_type, device): a versioned capsule of an array, computed."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef value_properties[] = {{"session", value_session, nullptr, "The Session that this belongs to.", nullptr},
                                  {nullptr, nullptr, nullptr, nullptr, nullptr}};

template <class F>
void* slot(F* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

Held::Held(PyObject* value_object) : value_(as_value(value_object).value), object_(Ref::shared(value_object)) {}
Held::~Held() {
  if (value_ && !object_) free_value(value_);
}

void free_value(gasell_value* value) {
  PyThreadState* const thread = PyEval_SaveThread();
  gasell_value_free(value);
  PyEval_RestoreThread(thread);
}

PyObject* wrap(SessionObject& session, gasell_value* value, PyObject* type) {
  auto* const of = reinterpret_cast<PyTypeObject*>(type);
  PyObject* const made = reinterpret_cast<allocfunc>(PyType_GetSlot(of, Py_tp_alloc))(of, 0);
  if (!made) {
    free_value(value);
    return nullptr;
  }
  ValueObject& object = as_value(made);
  object.value = value;
  Py_INCREF(reinterpret_cast<PyObject*>(&session));
  object.session = &session;
  object.calls = nullptr;
  if (gasell_value_kind(value) == GASELL_KIND_FUNCTION) {
    const char* name = nullptr;
    if (briefly_in_session(session, [&] { return gasell_value_type(value, &name, nullptr); }) == GASELL_OK &&
        std::string_view(name) == "CPUDispatcher")
      object.calls = new CallCache(object);
  }
  return made;
}

gasell_value* result_of_call(SessionObject& session, gasell_value* callee, PyObject* const* arguments, Py_ssize_t count,
                             PyObject* keywords) {
  std::vector<Held> held;
  std::vector<gasell_value*> positional, named;
  std::vector<const char*> names;
  held.reserve(static_cast<size_t>(count));
  for (Py_ssize_t k = 0; k < count; ++k) {
    held.push_back(to_gasell(session, arguments[k]));
    if (!held.back()) return nullptr;
    positional.push_back(held.back().get());
  }
  if (keywords) {
    Py_ssize_t at = 0;
    PyObject *name = nullptr, *object = nullptr;
    while (PyDict_Next(keywords, &at, &name, &object)) {
      names.push_back(PyUnicode_AsUTF8AndSize(name, nullptr));
      if (!names.back()) return nullptr;
      held.push_back(to_gasell(session, object));
      if (!held.back()) return nullptr;
      named.push_back(held.back().get());
    }
  }
  gasell_value* result = nullptr;
  gasell_error* error = nullptr;
  const gasell_status status = in_session(session, [&] {
    return gasell_value_call(callee, positional.data(), positional.size(), names.data(), named.data(), named.size(), &result, &error);
  });
  return succeeded(status, error) ? result : nullptr;
}

PyObject* call_value(SessionObject& session, gasell_value* callee, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords,
                     bool keep_scalars) {
  gasell_value* const result = result_of_call(session, callee, arguments, count, keywords);
  return result ? to_python(session, result, keep_scalars) : nullptr;
}

int add_value(PyObject* module) {
  static PyType_Slot slots[] = {{Py_tp_new, slot(value_new)},
                                {Py_tp_dealloc, slot(value_dealloc)},
                                {Py_tp_methods, value_methods},
                                {Py_tp_getset, value_properties},
                                {kSlotGetBuffer, slot(value_get_buffer)},
                                {kSlotReleaseBuffer, slot(value_release_buffer)},
                                {Py_tp_doc, const_cast<char*>("A value of a session; the base of Array, DataFrame, Series, Function.")},
                                {0, nullptr}};
  static PyType_Spec spec{"gasell._gasell.Value", sizeof(ValueObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  value_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!value_type || PyModule_AddType(module, value_type) != 0) return -1;
  // Arrays are not callable: libraries ask.
  static PyType_Slot call_slots[] = {
      {Py_tp_call, slot(value_call)}, {Py_tp_doc, const_cast<char*>("A value that may be one to call.")}, {0, nullptr}};
  static PyType_Spec call_spec{"gasell._gasell.Callable", sizeof(ValueObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, call_slots};
  const Ref bases(PyTuple_Pack(1, reinterpret_cast<PyObject*>(value_type)));
  const Ref callable(bases ? PyType_FromSpecWithBases(&call_spec, bases.get()) : nullptr);
  return callable ? PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(callable.get())) : -1;
}

}  // namespace gasell::python
