#include "stdlib/scipy/module.h"

#include "stdlib/library.h"
#include "stdlib/modules.h"

namespace gasell {

Value make_scipy(Interpreter&) {
  const Value module = Value::make<LibraryModule>("scipy");
  for (const char* name : {"fft", "linalg", "signal", "sparse"})
    set_member(module, name, Value::make<LibraryModule>(std::string("scipy.") + name));
  return module;
}

Value make_scipy_library(Interpreter&) { return Value::make<LibraryModule>("_scipy"); }

}  // namespace gasell
