// Classes that scripts define, and their objects. A class is a TypeObject with members of its own; its type's base is the built-in type
// that it derives from in the end: object, or an exception. The classes of library texts (stdlib/library_object.h) keep their functions in
// modules instead, so that they are loaded when they are first used.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/session/objects.h"

namespace gasell {

class Function;

/// Names and values in the order in which they came, as in CPython's dicts of attributes. Long ones have an index.
class Members {
 public:
  Value* find(std::string_view name);
  void set(std::string_view name, Value value);
  bool remove(std::string_view name);
  const std::vector<std::pair<std::string, Value>>& entries() const { return entries_; }

 private:
  void number();
  std::vector<std::pair<std::string, Value>> entries_;
  std::unordered_map<std::string_view, size_t> index_;
};

/// Holds the type that a class describes: made before the TypeObject that refers to it.
struct ClassType {
  Type own;
};

class Class final : private ClassType, public TypeObject {
 public:
  /// `base`: a Class, `object` or an exception; NotImplementedError for others, and for special methods that have no meaning here.
  static Value make(const std::string& module, const std::string& name, const std::string& qualified_name, const Value& base,
                    Members members);
  Class(Type t, std::string qualified_name, Value base, Members members);

  std::string repr(Interpreter& in) override;
  Value call(Interpreter& in, Arguments args) override;
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override;
  void set_attribute(Interpreter& in, std::string_view name, const Value& value) override;
  std::vector<std::string> attribute_names(Interpreter& in) override;

  /// What the class or a base of it says of a name; null where none does.
  const Value* find(std::string_view name);
  Class* parent() const { return parent_; }
  bool is_exception() const;
  const Value& base() const { return base_; }
  const std::string& qualified_name() const { return qualified_name_; }

  Members members;

 private:
  const std::string qualified_name_;
  const Value base_;
  Class* const parent_;  // the base, where a script defines it
};

/// What every object of such a class holds.
struct UserObject {
  explicit UserObject(Value c) : made_by_value(std::move(c)) {}
  virtual ~UserObject() = default;
  Class& made_by() const { return static_cast<Class&>(*made_by_value.object()); }
  const Value made_by_value;
  Members members;
};
/// The value as an object of a script's class, or null.
UserObject* user_object(const Value& v);

class Instance final : public Object, public UserObject {
 public:
  explicit Instance(Value c) : UserObject(std::move(c)) {}
  const Type& type() const override { return made_by().described; }
  std::string repr(Interpreter& in) override;
  std::string str(Interpreter& in) override;
  std::string format(Interpreter& in, std::string_view spec) override;
  bool truth(Interpreter& in) override;
  int64_t hash(Interpreter& in) override;
  std::optional<Value> compare(Interpreter& in, ast::CompareOp op, const Value& other) override;
  std::optional<Value> binary(Interpreter& in, ast::BinaryOp op, const Value& other) override;
  std::optional<Value> reflected(Interpreter& in, ast::BinaryOp op, const Value& other) override;
  std::optional<Value> in_place(Interpreter& in, ast::BinaryOp op, const Value& other) override;
  Value unary(Interpreter& in, ast::UnaryOp op) override;
  int64_t length(Interpreter& in) override;
  bool contains(Interpreter& in, const Value& item) override;
  Value get_item(Interpreter& in, const Value& index) override;
  void set_item(Interpreter& in, const Value& index, const Value& value) override;
  void delete_item(Interpreter& in, const Value& index) override;
  Value iterate(Interpreter& in) override;
  std::optional<Value> next(Interpreter& in) override;
  Value call(Interpreter& in, Arguments args) override;
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override;
  void set_attribute(Interpreter& in, std::string_view name, const Value& value) override;
  std::vector<std::string> attribute_names(Interpreter& in) override;
  Value enter(Interpreter& in) override;
  bool exit(Interpreter& in, const Value& exception) override;
  std::optional<Value> to_int(Interpreter& in) override;
  std::optional<Value> to_float(Interpreter& in) override;
  std::optional<int64_t> to_index(Interpreter& in) override;

  /// The function that `object.name(…)` calls, where it is a plain method: it takes the object first. Null: go by get_attribute.
  const Function* plain_method(std::string_view name);

 private:
  /// What the special method gives; absent where the class has none.
  Value special(Interpreter& in, std::string_view name, std::vector<Value> args = {});
};

/// An exception of a class that a script defines.
class ExceptionInstance final : public Exception, public UserObject {
 public:
  ExceptionInstance(Value c, std::vector<Value> args)
      : Exception(static_cast<Class*>(c.object())->described, std::move(args)), UserObject(std::move(c)) {}
  std::string repr(Interpreter& in) override;
  std::string str(Interpreter& in) override;
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override;
  void set_attribute(Interpreter& in, std::string_view name, const Value& value) override;
  std::vector<std::string> attribute_names(Interpreter& in) override;
};

/// del object.name
void delete_attribute(Interpreter& in, const Value& object, std::string_view name);

const Type& property_type();
const Type& static_method_type();
const Type& class_method_type();
/// super, delattr.
std::vector<NativeFunction> class_functions();

}  // namespace gasell
