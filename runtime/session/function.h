// Functions that scripts define.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/session/objects.h"

namespace gasell {

struct FunctionCode;  // a lowered function body (evaluator.h)
struct GlobalScope;   // a module's variables (evaluator.h)

/// A variable that closures share. All cells of a session are in a list: a function that refers to itself through its cell is a cycle,
/// which the session takes apart at its end.
class Cell final : public Object {
 public:
  explicit Cell(Cell*& list) : next_(list), link_(&list) {
    if (next_) next_->link_ = &next_;
    list = this;
  }
  ~Cell() override {
    if (link_) *link_ = next_;
    if (next_) next_->link_ = link_;
  }
  const Type& type() const override;
  /// Empties every cell of a list and detaches them from it.
  static void clear(Cell*& list);

  Value value = Value::absent();

 private:
  Cell* next_;
  Cell** link_;  // what points here: the list's head or the cell before
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
  std::vector<std::string> parameter_names() const;
  /// The tree of a `def`, for those who compile functions; null for a lambda.
  const ast::FunctionDef* definition() const;
  const SourceRef& source() const;
  /// What a call binds to the parameters, one value each, without running the body. For a constructor: errors name the class.
  std::vector<Value> bound_arguments(Interpreter& in, const std::string& class_name, Arguments args) const;
  /// What a name that the function takes from outside stands for now: a variable of an enclosing function, a global, a built-in, a module
  /// known without import. Null: there is none.
  const Value* outside(Interpreter& in, std::string_view name) const;

  std::shared_ptr<const FunctionCode> code;
  std::vector<Value> defaults;  // one a parameter; absent where there is none
  std::vector<Value> captured;  // cells of enclosing functions
  std::vector<std::pair<std::string, Value>> attributes;
};

}  // namespace gasell
