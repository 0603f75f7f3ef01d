// Functions that scripts define.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/session/objects.h"

namespace gasell {

struct FunctionCode;  // a lowered function body (evaluator.h)
struct GlobalScope;   // a module's variables (evaluator.h)

/// A variable that closures share.
class Cell final : public Object {
 public:
  const Type& type() const override;
  Value value = Value::absent();
};

class Function final : public Object {
 public:
  Function(std::shared_ptr<const FunctionCode> code, std::vector<Value> defaults, std::vector<Value> captured);
  ~Function() override;
  const Type& type() const override;
  std::string repr(Interpreter&) override;
  Value call(Interpreter&, Arguments args) override;
  std::optional<Value> get_attribute(Interpreter&, std::string_view name) override;
  void set_attribute(Interpreter&, std::string_view name, const Value& value) override;
  std::vector<std::string> attribute_names(Interpreter&) override;

  const std::string& name() const;
  /// The tree of a `def`, for those who compile functions; null for a lambda.
  const ast::FunctionDef* definition() const;
  const SourceRef& source() const;

  std::shared_ptr<const FunctionCode> code;
  std::vector<Value> defaults;  // one a parameter; absent where there is none
  std::vector<Value> captured;  // cells of enclosing functions
  std::vector<std::pair<std::string, Value>> attributes;
};

}  // namespace gasell
