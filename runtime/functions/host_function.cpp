#include "runtime/functions/host_function.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "compiler/codegen/externals.h"
#include "runtime/functions/context.h"
#include "runtime/session/objects.h"
#include "runtime/session/types.h"

namespace gasell::functions {
namespace {

constexpr size_t kMostParameters = 64;

/// Calls it with numbers from the slots of compiled code. A failure is noted in the context; 0 then.
Scalar call_with(FunctionContext& context, const HostCall& call, const int64_t* integers, const double* reals) noexcept {
  std::array<std::complex<double>, kMostParameters> numbers;  // room for one of any dtype
  std::array<void*, kMostParameters> addresses;
  for (size_t k = 0; k < call.parameters.size(); ++k) {
    const DType type = call.parameters[k];
    (is_float(type) ? Scalar::of_float(reals[k]) : Scalar::of_int(integers[k])).cast(type).store(&numbers[k]);
    addresses[k] = &numbers[k];
  }
  std::complex<double> result;
  HostFailure failure;
  failure.kind[0] = failure.message[0] = '\0';
  if (call.callback(call.context, &result, addresses.data(), &failure) != 0) {
    context.fail(error_of(failure, call.name));
    return Scalar::of_int(0);
  }
  return call.result ? Scalar::load(&result, *call.result) : Scalar::of_int(0);
}

extern "C" {
double gasell_host_real(void* context, const HostCall* call, const int64_t* integers, const double* reals) {
  return call_with(*static_cast<FunctionContext*>(context), *call, integers, reals).as_double();
}
int64_t gasell_host_integer(void* context, const HostCall* call, const int64_t* integers, const double* reals) {
  return call_with(*static_cast<FunctionContext*>(context), *call, integers, reals).i;
}
}

}  // namespace

const gasell::Type& host_function_type() {
  static const gasell::Type type{"host_function", "builtins", &object_type()};
  return type;
}
const gasell::Type& HostFunction::type() const { return host_function_type(); }

std::string path_of_host(const HostCall& call) {
  std::string path = "gasell.host " + call.name + " " + std::to_string(reinterpret_cast<int64_t>(&call)) + " ";
  path += call.result ? std::string(name_of(*call.result)) : "none";
  for (const DType type : call.parameters) path += " " + std::string(name_of(type));
  return path;
}

Error error_of(const HostFailure& failure, const std::string& name) {
  const auto text = [](const char* chars, size_t room) { return std::string(chars, strnlen(chars, room)); };
  std::string kind = text(failure.kind, sizeof failure.kind), message = text(failure.message, sizeof failure.message);
  if (kind.empty() || !exception_type(kind)) kind = "RuntimeError";
  if (message.empty()) message = "the program's function " + name + " failed";
  return Error(std::move(kind), std::move(message));
}

void register_host_functions() {
  register_external("gasell_host_real", reinterpret_cast<void*>(&gasell_host_real));
  register_external("gasell_host_integer", reinterpret_cast<void*>(&gasell_host_integer));
}

}  // namespace gasell::functions
