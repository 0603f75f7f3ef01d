// The module cupy: NumPy's, and kernels that scripts write in C.
#include "stdlib/numpy/module.h"
#include "runtime/session/builtins.h"
#include "runtime/session/types.h"
#include "stdlib/bindings.h"
#include "stdlib/cupy/kernels.h"
#include "stdlib/library.h"
#include "stdlib/modules.h"
#include "stdlib/numpy/exchange.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

/// Arrays live wherever they are used: an array is NumPy's already.
Value as_numpy(Interpreter& in, Args args) {
  if (args[0].as<numpy::NdArray>()) return args[0];
  return Value::make<numpy::NdArray>(numpy::as_array(in, args[0]));
}

}  // namespace

Value make_cupy(Interpreter& in) {
  static const std::vector<NativeFunction> kFunctions = {
      {"asnumpy", "a, stream=None, order='C', out=None, *, blocking=True", as_numpy,
       "The array itself: it is copied when the host reads it."},
      {"fromDlpack", "dltensor", numpy::from_capsule, "The array of a capsule of toDlpack."}};
  const Value module = Value::make<LibraryModule>("cupy", in.import_module("numpy", nullptr));
  for (const NativeFunction& f : kFunctions) set_member(module, f.name, Value::make<Builtin>(f));
  set_member(module, "ElementwiseKernel", type_object(cupy::elementwise_kernel_type()));
  set_member(module, "ReductionKernel", type_object(cupy::reduction_kernel_type()));
  set_member(module, "RawKernel", type_object(cupy::raw_kernel_type()));
  set_member(module, "RawModule", type_object(cupy::raw_module_type()));
  static const std::vector<NativeFunction> kNone;
  const Value cuda = Value::make<LibraryModule>("cupy.cuda"), compiler = make_module("cupy.cuda.compiler", kNone);
  set_member(compiler, "CompileException", type_object(cupy::compile_exception()));
  set_member(cuda, "compiler", compiler);
  set_member(cuda, "MemoryPointer", type_object(cupy::memory_pointer_type()));
  for (const char* name : {"runtime", "nvtx"}) set_member(cuda, name, Value::make<LibraryModule>(std::string("cupy.cuda.") + name));
  set_member(module, "cuda", cuda);
  const auto fft = *module.object()->get_attribute(in, "fft");  // NumPy's
  set_member(module, "fft", Value::make<LibraryModule>("cupy.fft", fft));
  return module;
}

Value make_cupyx_scipy(Interpreter& in) {
  const Value scipy = in.import_module("scipy", nullptr), module = Value::make<LibraryModule>("cupyx.scipy");
  for (const char* name : {"fft", "signal"})
    set_member(module, name, Value::make<LibraryModule>(std::string("cupyx.scipy.") + name, *scipy.object()->get_attribute(in, name)));
  return module;
}

Value make_cupyx_jit(Interpreter&) { return Value::make<LibraryModule>("cupyx.jit"); }
Value make_cupyx_profiler(Interpreter&) { return Value::make<LibraryModule>("cupyx.profiler"); }

}  // namespace gasell
