// What compiled functions take from outside: globals, closed-over variables, defaults.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/functions/function.h"
#include "runtime/array/array.h"
#include "runtime/session/function.h"
#include "runtime/session/interpreter.h"

namespace gasell::numba {

/// Arrays that functions took from outside as they were when the functions were compiled. Lives as long as the code that has their
/// addresses.
class FrozenArrays {
 public:
  /// One array for one object of the session.
  const Array& freeze(const Value& array);

 private:
  struct Frozen {
    Value original;  // kept, so that no other object gets its address
    Array array;
  };
  std::map<const Object*, Frozen> arrays_;
};

/// What belongs to one dispatcher and to all functions compiled with it.
struct Compilation {
  Interpreter& in;
  const Object* owner = nullptr;  // what holds the Compilation, and is not held by it
  std::shared_ptr<FrozenArrays> frozen = std::make_shared<FrozenArrays>();
  /// Functions of the language by object; the constants of argument types.
  std::map<const Object*, std::shared_ptr<const functions::Function>> known, overloaded;
  std::map<const Object*, std::pair<Value, std::shared_ptr<const functions::Outside>>> constants;
};

/// A script's function for the compiler. The Compilation outlives what it is compiled to.
std::shared_ptr<const functions::Function> to_function(Compilation& compilation, const Value& function, const functions::Options& options);

/// What a value is to code that takes it from outside.
functions::Outside to_outside(Compilation& compilation, const Value& v);

/// A number of the language, or a NumPy scalar.
std::optional<Scalar> scalar_of(Interpreter& in, const Value& v);
/// What compiled functions see of an array.
functions::Type type_of_array(const Array& a);

/// Numba's error for what cannot be typed; registered with its relatives on first use.
void register_numba_errors();
[[noreturn]] void raise_typing_error(std::string message, std::string hint = {});

}  // namespace gasell::numba
