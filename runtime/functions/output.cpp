#include "runtime/functions/output.h"

#include <complex>
#include <cstring>

#include "compiler/codegen/externals.h"
#include "runtime/functions/context.h"
#include "runtime/session/number.h"

namespace gasell::functions {

const FunctionOutput*& function_output() {
  static thread_local const FunctionOutput* output = nullptr;
  return output;
}

namespace {

/// The line that this thread is writing: those of a parallel loop come out whole.
thread_local std::string line;

FunctionContext& context_at(void* context) { return *static_cast<FunctionContext*>(context); }

extern "C" {
void gasell_print_text(void* context, int64_t text) { line += context_at(context).text(text); }
void gasell_print_int(void*, int64_t x, int64_t is_unsigned) {
  line += is_unsigned ? std::to_string(static_cast<uint64_t>(x)) : std::to_string(x);
}
void gasell_print_float(void*, double x) { line += float_repr(x); }
void gasell_print_bool(void*, int64_t x) { line += x ? "True" : "False"; }
void gasell_print_complex(void*, double re, double im) { line += complex_repr({re, im}); }
void gasell_print_array(void* context, const void* data, int64_t dtype, int64_t rank, const int64_t* shape) {
  const FunctionOutput* output = context_at(context).output();
  HostStorageRef storage = context_at(context).storage(const_cast<void*>(data));
  if (!output || !storage) {
    line += "<array>";
    return;
  }
  const graph::Shape extents(shape, shape + rank);
  line +=
      output->text_of(Array(graph::buffer(std::move(storage), static_cast<DType>(dtype), extents, graph::contiguous_strides(extents), 0)));
}
void gasell_print_end(void* context) {
  line += '\n';
  context_at(context).print(line);
  line.clear();
}
}

}  // namespace

void register_print_functions() {
  register_external("gasell_print_text", reinterpret_cast<void*>(&gasell_print_text));
  register_external("gasell_print_int", reinterpret_cast<void*>(&gasell_print_int));
  register_external("gasell_print_float", reinterpret_cast<void*>(&gasell_print_float));
  register_external("gasell_print_bool", reinterpret_cast<void*>(&gasell_print_bool));
  register_external("gasell_print_complex", reinterpret_cast<void*>(&gasell_print_complex));
  register_external("gasell_print_array", reinterpret_cast<void*>(&gasell_print_array));
  register_external("gasell_print_end", reinterpret_cast<void*>(&gasell_print_end));
}

}  // namespace gasell::functions
