// Python's functions in scripts.
#pragma once

#include "objects.h"

namespace gasell::python {

/// host_function(session, callable, name): a value of the session that calls it.
PyObject* host_function(PyObject* module, PyObject* args);

/// What a callable raised last in a call of this thread, which the library's error tells again: its cause. Null where there was nothing.
Ref take_raised();

}  // namespace gasell::python
