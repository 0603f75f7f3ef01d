// The module numba.cuda.
#include "stdlib/numba/cuda.h"

#include <fmt/format.h>

#include "runtime/session/dict.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/types.h"
#include "stdlib/bindings.h"
#include "stdlib/library.h"
#include "stdlib/modules.h"
#include "stdlib/numba/module.h"

namespace gasell::numba {
namespace {

using Args = std::span<Value>;

Value kernel_of(Interpreter& in, const Value& function, functions::Options options, bool device, const std::vector<Value>& signatures) {
  if (function.as<CudaKernel>()) raise("TypeError", "cuda.jit was called on a function that it made: " + repr(in, function));
  const Value plain = need_function(function, "cuda.jit");
  Value made = Value::make<CudaKernel>(in, plain, options, device);
  for (const Value& s : signatures) made.as<CudaKernel>()->declare(in, to_signature(in, s));
  return made;
}

Value jit(Interpreter& in, Args args) {
  Value first = args[0];
  const bool device = truth(in, args[1]);
  functions::Options options = take_options(
      in, args[2], {"device", "link", "opt", "max_registers", "lineinfo", "lto", "launch_bounds", "extensions", "shared_memory_carveout"});
  options.cuda = true;
  options.parallel = options.unchecked_parallel = false;
  options.python_errors = false;  // a GPU divides by zero as NumPy does
  std::vector<Value> signatures;
  if (const auto* list = first.as<List>()) {
    signatures = list->items;
    first = Value();
  } else if (is_signature(first)) {
    signatures.push_back(first);
    first = Value();
  }
  if (!first.is_none()) return kernel_of(in, first, options, device, signatures);
  return make_decorator("jit", [=](Interpreter& inner, const Value& f) { return kernel_of(inner, f, options, device, signatures); });
}

/// What kernels have and the host has not.
Value of_kernels(Interpreter&, Args) {
  raise("RuntimeError", "this function is of CUDA kernels: it is called in a function decorated with @cuda.jit");
}

Value part(const Value& module, const char* name, const std::vector<NativeFunction>& functions) {
  const Value made = make_module(std::string("numba.cuda.") + name, functions);
  set_member(module, name, made);
  return made;
}

std::vector<NativeFunction> named(std::initializer_list<const char*> names) {
  std::vector<NativeFunction> functions;
  for (const char* name : names) functions.push_back({name, "*args, **kwargs", of_kernels, "Of kernels."});
  return functions;
}

}  // namespace
}  // namespace gasell::numba

namespace gasell {

Value make_numba_cuda_random(Interpreter&) { return Value::make<LibraryModule>("numba.cuda.random"); }

Value make_numba_cuda(Interpreter& in) {
  using namespace numba;
  static const std::vector<NativeFunction> kFunctions = [] {
    std::vector<NativeFunction> all = {
        {"jit", "func_or_sig=None, device=False, **options", jit, "Makes a kernel of a function: what one thread of a grid does."}};
    for (auto* more : {cuda_array_functions, cuda_device_functions})
      for (NativeFunction& f : more()) all.push_back(std::move(f));
    for (NativeFunction& f : named({"grid",
                                    "gridsize",
                                    "syncthreads",
                                    "syncthreads_count",
                                    "syncthreads_and",
                                    "syncthreads_or",
                                    "syncwarp",
                                    "threadfence",
                                    "threadfence_block",
                                    "threadfence_system",
                                    "shfl_sync",
                                    "shfl_up_sync",
                                    "shfl_down_sync",
                                    "shfl_xor_sync",
                                    "all_sync",
                                    "any_sync",
                                    "eq_sync",
                                    "ballot_sync",
                                    "match_any_sync",
                                    "match_all_sync",
                                    "activemask",
                                    "lanemask_lt",
                                    "ldcg",
                                    "ldcv",
                                    "stcg",
                                    "stwt",
                                    "popc",
                                    "clz",
                                    "ffs",
                                    "brev",
                                    "fma",
                                    "mma_m16n8k4",
                                    "cbrt",
                                    "selp",
                                    "nanosleep"}))
      all.push_back(std::move(f));
    return all;
  }();
  static const std::vector<NativeFunction> kArray = named({"array"}), kArrayLike = named({"array_like"}), kGrid = named({"this_grid"}),
                                           kAtomic = named({"add", "sub", "max", "min", "nanmax", "nanmin", "inc", "dec", "and_", "or_",
                                                            "xor", "exch", "cas", "compare_and_swap"}),
                                           kNone;
  const Value module = Value::make<LibraryModule>("numba.cuda");
  for (const NativeFunction& f : kFunctions) set_member(module, f.name, Value::make<Builtin>(f));
  set_member(module, "random", make_numba_cuda_random(in));
  part(module, "shared", kArray);
  part(module, "local", kArray);
  part(module, "const", kArrayLike);
  part(module, "atomic", kAtomic);
  part(module, "cg", kGrid);
  for (const char* name : {"threadIdx", "blockIdx", "blockDim", "gridDim", "laneid"}) part(module, name, kNone);
  set_member(module, "warpsize", Value::of(32));
  set_member(module, "gpus", cuda_gpus());
  return module;
}

}  // namespace gasell
