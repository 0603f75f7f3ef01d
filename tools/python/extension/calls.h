// Calls of compiled functions with numbers and with other libraries' memory, past the session.
#pragma once

#include <string>
#include <vector>

#include "objects.h"

namespace gasell::python {

/// What was compiled of one function, by the types of the arguments.
class CallCache {
 public:
  explicit CallCache(ValueObject& callee) : callee_(callee) {}
  ~CallCache();
  CallCache(const CallCache&) = delete;
  CallCache& operator=(const CallCache&) = delete;

  /// Calls the function if these arguments are numbers and arrays in memory, and a direct call exists for them; nullptr with `taken` false
  /// where the call has to be made in the session.
  PyObject* call(PyObject* const* arguments, Py_ssize_t count, bool& taken);

 private:
  struct Entry {
    std::string key;
    gasell_function* function;  // null: no direct call
    gasell_kind kind;
    gasell_dtype dtype;
  };
  const Entry* find(const std::string& key, const std::string& signature);

  ValueObject& callee_;
  std::vector<Entry> entries_;
};

}  // namespace gasell::python
