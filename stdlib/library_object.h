// Objects of classes that the library's texts define: a class is a module of functions whose first parameter is the object.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/session/function.h"
#include "runtime/session/objects.h"

namespace gasell {

/// A class as the script sees it. Its methods, and the slots __add__, __getitem__, … , are the functions of the library module `texts`
/// ("pandas.Series"), then those of its base's. The constructor is `__new__`, without self, or an `__init__(self, …)` that has no body but
/// its docstring: the object keeps what it is given, each parameter as the attribute of its name. Functions that were given to `getter` are
/// properties, functions given to `static_method` have no self, those given to `class_method` the class in its place. One class belongs to
/// one session.
class LibraryClass final : public TypeObject {
 public:
  /// `module`.`name` is what the class is called ("pandas.core.series", "Series").
  /// isinstance() takes its objects for those of the type `counts_as`, too, whose natives they do not have.
  static Value make(const std::string& module, const std::string& name, const std::string& texts, const Value& base,
                    const Value& counts_as = {});
  LibraryClass(const Type& t, std::string texts, Value base) : TypeObject(t), texts_(std::move(texts)), base_(std::move(base)) {}

  Value call(Interpreter& in, Arguments args) override;
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override;
  std::vector<std::string> attribute_names(Interpreter& in) override;
  std::vector<std::string> peer_owners() override;
  /// A function of the class or of its bases; absent where there is none.
  const Value& find(Interpreter& in, std::string_view name);
  const std::string& texts() const { return texts_; }
  /// The function __init__ of the class or of its bases, or null.
  const Function* initializer(Interpreter& in);

 private:
  const std::string texts_;
  const Value base_;
  std::map<std::string, Value, std::less<>> found_;
};

class LibraryObject final : public Object {
 public:
  explicit LibraryObject(Value c) : class_(std::move(c)) {}
  const Type& type() const override;
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
  /// Members, then functions of the class, then what __getattr__ says.
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override;
  /// Names that open with an underscore are members, and all names where the class has an __init__; others go to __setattr__.
  void set_attribute(Interpreter& in, std::string_view name, const Value& value) override;
  std::vector<std::string> attribute_names(Interpreter& in) override;
  std::vector<std::string> peer_owners() override { return made_by().peer_owners(); }
  std::optional<Value> to_int(Interpreter& in) override;
  std::optional<Value> to_float(Interpreter& in) override;
  Value enter(Interpreter& in) override;
  bool exit(Interpreter& in, const Value& exception) override;

  /// What the class's __lost_write__(self, name) says, (category, message, hint) or None; of an object that stands for a part of another
  /// (_object), it is the other that the write is lost in.
  std::optional<LostWrite> lost_write(Interpreter& in, std::string_view name) override;

  const Value& class_value() const { return class_; }
  bool has(Interpreter& in, std::string_view method);
  /// Calls a method; absent where the class has none.
  Value try_call(Interpreter& in, std::string_view method, std::vector<Value> arguments = {});
  /// The same; TypeError or AttributeError as Python words it where there is none.
  Value call_method(Interpreter& in, std::string_view method, std::vector<Value> arguments = {});

  std::map<std::string, Value, std::less<>> members;

 private:
  LibraryClass& made_by() const { return static_cast<LibraryClass&>(*class_.object()); }
  const Value class_;
};

/// For library texts: `class_of(module, name, texts, base=None)`, `new(class, **members)`, `getter(function)`, `static_method(function)`,
/// `class_method(function)`, `members(object)`, `forget(object, name)`, `init_parameters(class)`.
const std::vector<NativeFunction>& library_object_functions();

}  // namespace gasell
