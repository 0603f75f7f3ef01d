// Tuples whose items have names: collections.namedtuple, and what NumPy and pandas return from np.linalg.eig and their like.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/functions/function.h"
#include "runtime/session/objects.h"

namespace gasell {

/// What namedtuple() makes: the class, which lives as long as the process.
class NamedTupleClass final : public TypeObject {
 public:
  /// `defaults`: of the last fields.
  NamedTupleClass(const Type& described, std::shared_ptr<const functions::NamedClass> compiled, std::vector<Value> defaults)
      : TypeObject(described), compiled(std::move(compiled)), defaults(std::move(defaults)) {}
  Value call(Interpreter&, Arguments args) override;
  std::optional<Value> get_attribute(Interpreter&, std::string_view name) override;

  /// Its name and fields; compiled functions know the class by this object.
  const std::shared_ptr<const functions::NamedClass> compiled;
  const std::vector<Value> defaults;
  /// What the body of `class P(NamedTuple):` defines beside the fields.
  std::vector<std::pair<std::string, Value>> members;
  const Value* member(std::string_view name) const;
};

/// A new class.
const NamedTupleClass& make_named_class(const std::string& module, const std::string& name, std::vector<std::string> fields,
                                        std::vector<Value> defaults = {});

/// One of a class; as many values as fields.
Value make_named_tuple(const functions::NamedClass& named, std::vector<Value> values);
/// The same of a class of the library, known by its name.
Value make_named_result(const std::string& module, const std::string& name, std::vector<std::string> fields, std::vector<Value> values);

/// The class of a named tuple; null: the value is none.
std::shared_ptr<const functions::NamedClass> class_of_named(const Value& v);

/// collections.namedtuple and typing.NamedTuple.
const NativeFunction& named_tuple_function();
const NativeFunction& typed_named_tuple_function();

}  // namespace gasell
