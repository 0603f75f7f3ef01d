// Objects of scripts' classes that derive from list or dict: lists and dicts whose special methods the class may say anew.
#pragma once

#include "runtime/session/class.h"
#include "runtime/session/dict.h"

namespace gasell {

template <class Base>
class BuiltinInstance final : public Base, public UserObject {
 public:
  explicit BuiltinInstance(Value c)
    requires std::is_same_v<Base, List>
      : Base(std::vector<Value>{}), UserObject(std::move(c)) {}
  explicit BuiltinInstance(Value c)
    requires std::is_same_v<Base, Dict>
      : UserObject(std::move(c)) {}
  const Type& type() const override { return made_by().described; }
  std::string repr(Interpreter& in) override;
  std::string str(Interpreter& in) override;
  bool truth(Interpreter& in) override;
  int64_t hash(Interpreter& in) override;
  std::optional<Value> compare(Interpreter& in, ast::CompareOp op, const Value& other) override;
  std::optional<Value> binary(Interpreter& in, ast::BinaryOp op, const Value& other) override;
  std::optional<Value> in_place(Interpreter& in, ast::BinaryOp op, const Value& other) override;
  int64_t length(Interpreter& in) override;
  bool contains(Interpreter& in, const Value& item) override;
  Value get_item(Interpreter& in, const Value& index) override;
  void set_item(Interpreter& in, const Value& index, const Value& value) override;
  void delete_item(Interpreter& in, const Value& index) override;
  Value iterate(Interpreter& in) override;
  Value call(Interpreter& in, Arguments args) override;
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override;
  void set_attribute(Interpreter& in, std::string_view name, const Value& value) override;
  std::vector<std::string> attribute_names(Interpreter& in) override;
  Value enter(Interpreter& in) override;
  bool exit(Interpreter& in, const Value& exception) override;

 private:
  /// What the class's own method gives; absent where it has none.
  Value special(Interpreter& in, std::string_view name, std::vector<Value> args = {});
};
using ListInstance = BuiltinInstance<List>;
using DictInstance = BuiltinInstance<Dict>;

/// list or dict, where the type derives from it; else null.
const Type* builtin_base(const Type& type);
/// The special methods that such a class may define.
bool is_special_of_builtin(std::string_view name);
/// What list or dict have of special methods, for super(); null where they have none.
const NativeFunction* method_of_builtin(const Type& base, std::string_view name);
/// list's or dict's own __init__.
void fill_builtin(Interpreter& in, const Value& self, Arguments args);

}  // namespace gasell
