// Functions of the program around the language that scripts call (the embedding API's gasell_define).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/dtype.h"
#include "runtime/session/value.h"

namespace gasell::functions {

/// What went wrong in one: the exception's name (empty: RuntimeError) and its message.
struct HostFailure {
  char kind[64];
  char message[960];
};

/// A function of numbers, which compiled code calls by this address: it lives as long as that code.
struct HostCall {
  std::string name;
  std::vector<DType> parameters;  // none is complex
  std::optional<DType> result;    // nothing: None
  /// One address an argument, each of a number of its dtype. 0, or anything else where it failed. Called from any thread.
  int (*callback)(void* context, void* result, void* const* arguments, HostFailure* failure) = nullptr;
  void* context = nullptr;
};

/// The value of its name.
class HostFunction : public Object {
 public:
  const gasell::Type& type() const override;
  /// Null where it takes other than numbers: compiled functions do not call it.
  virtual const HostCall* call_of_numbers() const = 0;
};

/// "gasell.host NAME ADDRESS RESULT PARAMETER …": the path that the compiler knows it by (compiler/functions/library_host.cpp).
std::string path_of_host(const HostCall& call);

/// The error that a failure stands for.
Error error_of(const HostFailure& failure, const std::string& name);

/// Makes gasell_host_real(context, call, integers, reals) and gasell_host_integer(…) known to compiled code.
void register_host_functions();

}  // namespace gasell::functions
