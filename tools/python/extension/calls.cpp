#include "calls.h"

#include <complex>
#include <deque>

#include "buffers.h"

namespace gasell::python {

namespace {

constexpr Py_ssize_t kMostArguments = 16;

/// An argument as gasell_function_call wants it, and the letters of its type.
struct Argument {
  union {
    int64_t integer;
    double real;
    bool boolean;
  };
  std::complex<double> complex;
  HeldBuffer buffer;
  ArrayMemory memory;
  gasell_view view;
  void* address;

  /// False for what is neither a number nor memory.
  bool take(PyObject* object, char* key);
};

bool Argument::take(PyObject* object, char* key) {
  key[1] = key[2] = key[3] = ' ';
  if (PyFloat_CheckExact(object)) {
    real = PyFloat_AsDouble(object);
    address = &real;
    key[0] = 'f';
    return true;
  }
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    integer = PyLong_AsLongLongAndOverflow(object, &overflow);
    address = &integer;
    key[0] = 'i';
    return overflow == 0;
  }
  if (PyBool_Check(object)) {
    boolean = object == Py_True;
    address = &boolean;
    key[0] = 'b';
    return true;
  }
  if (Py_TYPE(object) == &PyComplex_Type) {
    complex = {PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)};
    address = &complex;
    key[0] = 'c';
    return true;
  }
  if (PyUnicode_Check(object) || PyTuple_Check(object) || PyList_Check(object) || PyBytes_Check(object)) return false;
  if (!buffer.take(object, kBufferFullReadOnly) || !describe_buffer(*buffer, memory)) return false;
  key[1] = static_cast<char>('a' + memory.dtype);
  if (buffer->ndim == 0) {
    key[0] = 'n';
    address = buffer->buf;
    return true;
  }
  key[0] = memory.contiguous ? 'C' : 'A';
  key[2] = static_cast<char>('0' + buffer->ndim);
  key[3] = buffer->readonly ? 'r' : 'w';
  view = {buffer->buf, memory.shape.data(), memory.contiguous ? nullptr : memory.strides.data()};
  address = &view;
  return true;
}

std::string type_of_key(const char* key) {
  switch (key[0]) {
    case 'f': return "float64";
    case 'i': return "int64";
    case 'b': return "boolean";
    case 'c': return "complex128";
    default: break;
  }
  const auto dtype = static_cast<gasell_dtype>(key[1] - 'a');
  const std::string name = dtype == GASELL_BOOL ? "boolean" : gasell_dtype_name(dtype);
  if (key[0] == 'n') return name;
  std::string axes;
  const int rank = key[2] - '0';
  for (int k = 0; k < rank; ++k) axes += std::string(k ? ", " : "") + (k + 1 == rank && key[0] == 'C' ? "::1" : ":");
  return (key[3] == 'r' ? "const " : "") + name + "[" + axes + "]";
}

}  // namespace

CallCache::~CallCache() {
  for (const Entry& entry : entries_) gasell_function_free(entry.function);
}

const CallCache::Entry* CallCache::find(const std::string& key, const std::string& signature) {
  gasell_function* function = nullptr;
  gasell_error* error = nullptr;
  const gasell_status status =
      in_session(*callee_.session, [&] { return gasell_value_function(callee_.value, signature.c_str(), &function, &error); });
  if (!succeeded(status, error)) return nullptr;
  Entry entry{key, function, GASELL_KIND_NONE, GASELL_F64};
  if (!gasell_function_is_direct(function) || gasell_function_result(function, &entry.kind, &entry.dtype, nullptr) != GASELL_OK) {
    gasell_function_free(function);
    entry.function = nullptr;
  }
  return &entries_.emplace_back(std::move(entry));
}

PyObject* CallCache::call(PyObject* const* given, Py_ssize_t count, bool& taken) {
  taken = false;
  if (count > kMostArguments) return nullptr;
  std::deque<Argument> many;
  Argument few[4];
  void* addresses[kMostArguments];
  char key[4 * kMostArguments];
  for (Py_ssize_t k = 0; k < count; ++k) {
    Argument& argument = count <= 4 ? few[k] : many.emplace_back();
    if (!argument.take(given[k], key + 4 * k)) return nullptr;
    addresses[k] = argument.address;
  }
  const std::string_view wanted(key, static_cast<size_t>(4 * count));
  const Entry* entry = nullptr;
  for (const Entry& each : entries_)
    if (each.key == wanted) entry = &each;
  if (!entry) {
    std::string signature = "auto(";
    for (Py_ssize_t k = 0; k < count; ++k) signature += (k ? ", " : "") + type_of_key(key + 4 * k);
    entry = find(std::string(wanted), signature + ")");
    if (!entry) {
      taken = true;  // an error
      return nullptr;
    }
  }
  if (!entry->function) return nullptr;
  taken = true;
  alignas(16) char result[16];
  gasell_error* error = nullptr;
  gasell_function* const function = entry->function;
  const gasell_kind kind = entry->kind;
  const gasell_dtype dtype = entry->dtype;
  gasell_status status;
  PyThreadState* const thread = PyEval_SaveThread();
  {
    const InterruptScope interruptible(callee_.session->session);
    status = gasell_function_call(function, result, addresses, &error);
  }
  PyEval_RestoreThread(thread);
  if (!succeeded(status, error)) return nullptr;
  if (kind == GASELL_KIND_NONE) {
    Py_INCREF(Py_None);
    return Py_None;
  }
  return number_at(result, dtype);
}

}  // namespace gasell::python
