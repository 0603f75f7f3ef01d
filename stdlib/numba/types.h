// Numba's types as values: numba.float64, float64[:, ::1], float64(int64, float64), and texts of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/functions/type.h"
#include "runtime/session/interpreter.h"
#include "runtime/session/objects.h"

namespace gasell::numba {

class NumbaType final : public Object {
 public:
  /// `layout`: what the user wrote of an array: 'C', 'F', or 'A' for any.
  explicit NumbaType(functions::Type t, char layout = 'A') : described(std::move(t)), layout_(layout) {}
  const gasell::Type& type() const override;
  std::string repr(Interpreter&) override;
  int64_t hash(Interpreter&) override;
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;
  /// float64[:, ::1]: arrays of it.
  Value get_item(Interpreter&, const Value& index) override;
  /// float64(int64, float64): a signature; float64(3): a number of this type.
  Value call(Interpreter&, Arguments) override;
  std::optional<Value> get_attribute(Interpreter&, std::string_view name) override;

  const functions::Type described;
  char layout() const { return layout_; }
  std::string name() const;

 private:
  char layout_;
};

/// What arguments a function is compiled for, and what it returns (nullopt: what comes out).
struct Signature {
  std::vector<functions::Type> arguments;
  std::optional<functions::Type> result;
};

class SignatureObject final : public Object {
 public:
  explicit SignatureObject(Signature s) : signature(std::move(s)) {}
  const gasell::Type& type() const override;
  std::string repr(Interpreter&) override;
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;
  int64_t hash(Interpreter&) override;
  std::optional<Value> get_attribute(Interpreter&, std::string_view name) override;
  const Signature signature;
};

/// A type object of a numba type; a scalar type or dtype of NumPy counts as one (float64, np.float64). Null: it is none.
std::optional<functions::Type> to_type(const Value& v);
/// A signature argument of jit: a text, a signature, a tuple of types. TypeError else.
Signature to_signature(Interpreter& in, const Value& v);
/// Whether jit's first argument is one of these (and not the function).
bool is_signature(const Value& v);

/// All names of numba.types, for the modules that have them.
const std::vector<std::pair<std::string, Value>>& type_members();

}  // namespace gasell::numba
