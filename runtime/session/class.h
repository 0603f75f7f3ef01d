// Classes that scripts define, and their objects. A class is a TypeObject with members of its own; its type's base is the built-in type
// that it derives from in the end: object, or an exception. The classes of library texts (stdlib/library_object.h) keep their functions in
// modules instead, so that they are loaded when they are first used.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/session/name.h"
#include "runtime/session/objects.h"

namespace gasell {

class Dict;
class Function;
struct Session;

/// Names and values in the order in which they came, as in CPython's dicts of attributes. Long ones have an index. Once somebody has asked
/// for them as a dict (object.__dict__), they are kept in that.
class Members {
 public:
  Value* find(std::string_view name);
  /// The same, where `place` says at which entry the name was last time, in these or in others; it is kept up to date.
  Value* find(Name name, uint32_t& place) {
    if (place < entries_.size() && entries_[place].first == name) return &entries_[place].second;
    return may_have(name) ? find_place(name, place) : nullptr;
  }
  void set(std::string_view name, Value value);
  /// Of a name that is not among them yet.
  void add(Name name, Value value);
  bool remove(std::string_view name);
  std::vector<std::pair<std::string, Value>> entries() const;
  const Value& as_dict(Interpreter& in);

 private:
  /// What few have: most objects are short and never seen as a dict.
  struct Further {
    std::unordered_map<std::string_view, size_t> index;  // of long ones
    Value dict;                                          // None: they are entries_
    Interpreter* in = nullptr;                           // of the dict
  };
  void number();
  Further& further();
  /// A bit that few names share. What an object does not have itself, a method of its class above all, is seen so without a search.
  static uint64_t bit_of(Name name) { return uint64_t{1} << (reinterpret_cast<uintptr_t>(name) * 0x9E3779B97F4A7C15 >> 58); }
  bool may_have(Name name) const { return (names_ & bit_of(name)) != 0; }
  Dict* dict() const;
  Value* find_place(Name name, uint32_t& place);
  std::vector<std::pair<Name, Value>> entries_;
  uint64_t names_ = 0;  // the bits of all that were added; all bits once a dict has them
  std::unique_ptr<Further> further_;
};

/// Holds the type that a class describes: made before the TypeObject that refers to it.
struct ClassType {
  Type own;
};

/// Changes whenever a class is made or a member of one changes: what was found in classes before holds while it stays.
extern std::atomic<uint64_t> class_changes;

class Class final : private ClassType, public TypeObject {
 public:
  /// `bases`: Classes, `object` and exceptions; NotImplementedError for others, and for special methods that have no meaning here.
  /// `keywords`: of the class statement, for __init_subclass__; `own_class` is told of the class before anything of it is called.
  static Value make(Interpreter& in, const std::string& module, const std::string& name, const std::string& qualified_name,
                    std::vector<Value> bases, std::vector<std::pair<std::string, Value>> keywords, Members members, Value* own_class);
  /// A class as another interpreter has it, whose members come by set_members(): nothing of it is called.
  static Value copy(const std::string& module, const std::string& name, const std::string& qualified_name, std::vector<Value> bases,
                    Value meta);
  void set_members(Interpreter& in, std::vector<std::pair<std::string, Value>> entries);
  Class(Type t, std::deque<Type> further, std::string qualified_name, std::vector<Value> bases, Value meta, Members members);

  const Type& type() const override;
  std::string repr(Interpreter& in) override;
  Value call(Interpreter& in, Arguments args) override;
  /// The same for positional arguments alone, which are moved from.
  Value construct(Session& session, std::span<Value> positional);
  /// As the class's class says, where a library text gives it one: enum's.
  Value iterate(Interpreter& in) override;
  int64_t length(Interpreter& in) override;
  bool truth(Interpreter&) override { return true; }
  bool contains(Interpreter& in, const Value& item) override;
  Value get_item(Interpreter& in, const Value& index) override;
  std::optional<Value> binary(Interpreter& in, ast::BinaryOp op, const Value& other) override;
  std::optional<Value> reflected(Interpreter& in, ast::BinaryOp op, const Value& other) override;
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override;
  void set_attribute(Interpreter& in, std::string_view name, const Value& value) override;
  std::vector<std::string> attribute_names(Interpreter& in) override;

  /// What the class or a base of it says of a name; null where none does.
  const Value* find(std::string_view name);
  /// The same of what stands behind `start` in the order of this class's bases: what super() sees.
  const Value* find_behind(const Class& start, std::string_view name);
  /// What attributes of this name mean for objects of the class.
  struct Meaning {
    const Value* found;  // in the class or its bases; null where they have none
    bool property;       // it goes before the object's own
    bool sets;           // an assignment goes to the object and nowhere else
  };
  const Meaning& meaning(Name name);
  bool is_exception() const;
  /// An object without attributes, before __init__.
  Value make_instance(std::vector<Value> args);
  /// Whether objects may have an attribute of this name: __slots__ may say no.
  bool allows(std::string_view name) const;
  const std::string& qualified_name() const { return qualified_name_; }
  const Value& meta_class() const { return meta_; }
  const std::vector<Value>& bases() const { return bases_; }
  /// The class and its bases in the order in which they are asked for names, C3; `object` last.
  const std::vector<TypeObject*>& order() const { return order_; }

  Members members;

 private:
  static Value assemble(const std::string& module, const std::string& name, const std::string& qualified_name, std::vector<Value> bases,
                        const std::vector<Value>& others, Value meta, Members members);
  Value of_meta(Interpreter& in, std::string_view name, std::vector<Value> args);
  void take_slots(Interpreter& in);
  void find_abstract(Interpreter& in);

  const std::deque<Type> further_;  // what `described` derives from beside its base
  const std::string qualified_name_;
  const std::vector<Value> bases_;
  const Value meta_;  // the Class of the class; None
  std::vector<TypeObject*> order_;
  std::vector<Class*> classes_;        // those of order_ that scripts define
  std::vector<std::string> abstract_;  // methods that are wanting
  std::vector<std::string> slots_;
  uint64_t construct_changes_ = 0;               // class_changes when plain_initialiser_ was found
  const Function* plain_initialiser_ = nullptr;  // of a class whose objects are made by calling it and nothing else
  bool restricted_ = false;                      // to slots
  std::unordered_map<Name, Meaning> meanings_;   // of names that were asked for
  uint64_t meanings_changes_ = 0;                // class_changes when they were found
};

/// What one place of the program last found of its name, in the last class and in the one before.
struct ClassLookup {
  struct Seen {
    const Class* made_by = nullptr;
    uint64_t changes = 0;
    Class::Meaning meaning{nullptr, false, false};
  };
  Seen last, before;
  uint32_t place = 0;  // of the object's own attribute

  const Class::Meaning& look(Class& c, Name name) {
    const uint64_t now = class_changes.load(std::memory_order_relaxed);
    if (last.made_by == &c && last.changes == now) [[likely]]
      return last.meaning;
    std::swap(last, before);
    if (last.made_by != &c || last.changes != now) last = {&c, now, c.meaning(name)};
    return last.meaning;
  }
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
  const Function* plain_method(Name name, ClassLookup& lookup);
  /// The attribute where it is the object's own and no property; null: go by get_attribute.
  Value* own_attribute(Name name, ClassLookup& lookup);
  /// Sets it where nothing of the class wants to know; false: go by set_attribute.
  bool set_own_attribute(Name name, const Value& value, ClassLookup& lookup);

 private:
  /// What the special method gives; absent where the class has none.
  Value special(Interpreter& in, std::string_view name, std::initializer_list<Value> args = {});
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

/// Whether iter() takes it, as far as its type tells.
bool is_iterable(const Value& v);

/// del object.name
void delete_attribute(Interpreter& in, const Value& object, std::string_view name);

const Type& property_type();
const Type& static_method_type();
const Type& class_method_type();
/// super, delattr.
std::vector<NativeFunction> class_functions();

}  // namespace gasell
