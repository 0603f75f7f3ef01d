// The built-in object classes: what Value holds beside the immediate values.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/session/value.h"

namespace gasell {

class Str : public Object {
 public:
  explicit Str(std::string v) : value(std::move(v)) {}
  const Type& type() const override;
  std::string repr(Interpreter&) override;
  std::string str(Interpreter&) override { return value; }
  std::string format(Interpreter&, std::string_view spec) override;
  bool truth(Interpreter&) override { return !value.empty(); }
  int64_t hash(Interpreter&) override;
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;
  std::optional<Value> binary(Interpreter&, ast::BinaryOp, const Value&) override;
  std::optional<Value> reflected(Interpreter&, ast::BinaryOp, const Value&) override;
  int64_t length(Interpreter&) override;
  bool contains(Interpreter&, const Value&) override;
  Value get_item(Interpreter&, const Value&) override;
  Value iterate(Interpreter&) override;
  std::optional<Value> to_int(Interpreter&) override;
  std::optional<Value> to_float(Interpreter&) override;
  std::optional<Value> to_complex(Interpreter&) override;

  /// Code points; counted once.
  int64_t size() const;
  bool ascii() const { return size() == static_cast<int64_t>(value.size()); }

  /// Puts text behind it. Only where nothing else refers to it: a str does not change.
  void append(const Str& more);

  std::string value;  // UTF-8; indices count code points

 private:
  mutable int64_t size_ = -1;
  mutable int64_t hash_ = -1;  // -1: not computed
};
inline Value make_str(std::string v) { return Value::make<Str>(std::move(v)); }

class Complex : public Object {
 public:
  explicit Complex(std::complex<double> v) : value(v) {}
  const Type& type() const override;
  std::string repr(Interpreter&) override;
  std::string format(Interpreter&, std::string_view spec) override;
  bool truth(Interpreter&) override { return value != 0.0; }
  int64_t hash(Interpreter&) override;
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;
  std::optional<Value> binary(Interpreter&, ast::BinaryOp, const Value&) override;
  std::optional<Value> reflected(Interpreter&, ast::BinaryOp, const Value&) override;
  Value unary(Interpreter&, ast::UnaryOp) override;
  std::optional<Value> to_complex(Interpreter&) override;

  const std::complex<double> value;
};

class Tuple : public Object {
 public:
  explicit Tuple(std::vector<Value> v) : items(std::move(v)) {}
  const Type& type() const override;
  std::string repr(Interpreter&) override;
  int64_t hash(Interpreter&) override;
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;
  std::optional<Value> binary(Interpreter&, ast::BinaryOp, const Value&) override;
  std::optional<Value> reflected(Interpreter&, ast::BinaryOp, const Value&) override;
  int64_t length(Interpreter&) override { return static_cast<int64_t>(items.size()); }
  bool contains(Interpreter&, const Value&) override;
  Value get_item(Interpreter&, const Value&) override;
  Value iterate(Interpreter&) override;

  const std::vector<Value> items;
};
inline Value make_tuple(std::vector<Value> v) { return Value::make<Tuple>(std::move(v)); }

class List : public Object {
 public:
  explicit List(std::vector<Value> v) : items(std::move(v)) {}
  const Type& type() const override;
  std::string repr(Interpreter&) override;
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;
  std::optional<Value> binary(Interpreter&, ast::BinaryOp, const Value&) override;
  std::optional<Value> reflected(Interpreter&, ast::BinaryOp, const Value&) override;
  std::optional<Value> in_place(Interpreter&, ast::BinaryOp, const Value&) override;
  int64_t length(Interpreter&) override { return static_cast<int64_t>(items.size()); }
  bool contains(Interpreter&, const Value&) override;
  Value get_item(Interpreter&, const Value&) override;
  void set_item(Interpreter&, const Value&, const Value&) override;
  void delete_item(Interpreter&, const Value&) override;
  Value iterate(Interpreter&) override;
  int64_t hash(Interpreter&) override;  // TypeError

  std::vector<Value> items;
};
inline Value make_list(std::vector<Value> v) { return Value::make<List>(std::move(v)); }

/// slice(start, stop, step); None where left out.
class SliceObject : public Object {
 public:
  SliceObject(Value a, Value b, Value c) : start(std::move(a)), stop(std::move(b)), step(std::move(c)) {}
  const Type& type() const override;
  std::string repr(Interpreter&) override;
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;  // as the tuples of their three parts
  int64_t hash(Interpreter&) override;                                                // TypeError
  /// Python's slice.indices(length): start, stop, step clipped, and how many items.
  struct Range {
    int64_t start, stop, step, count;
  };
  Range indices(Interpreter& in, int64_t length) const;

  Value start, stop, step;
};

/// The Ellipsis and NotImplemented singletons.
const Value& ellipsis();
const Value& not_implemented();

/// An exception instance: type, args, cause, where it was raised.
class Exception : public Object {
 public:
  Exception(const Type& t, std::vector<Value> a) : args(std::move(a)), type_(t) {}
  const Type& type() const override { return type_; }
  std::string repr(Interpreter&) override;
  std::string str(Interpreter&) override;
  std::optional<Value> get_attribute(Interpreter&, std::string_view name) override;

  std::vector<Value> args;
  std::string hint;
  Value cause, context;
  bool suppress_context = false;  // raise … from None
  /// `activation` tells two frames of one function apart.
  struct Frame {
    SourceRef source;
    Span span;
    std::string function;
    uint64_t activation = 0;
    std::vector<std::pair<std::string, Value>> variables = {};  // where the session keeps them (Interpreter::keep_variables)
  };
  std::vector<Frame> traceback;  // innermost first
  /// What an Error brought with it when it became this exception.
  std::optional<Label> primary;
  std::vector<Label> labels;
  Blame blame = Blame::user;

 private:
  const Type& type_;
};
/// An exception as a call of its type makes it: OSError with a known error number becomes its subclass.
Value make_exception(const Type& type, std::vector<Value> args);
/// The type of a built-in or registered exception name, or null.
const Type* exception_type(std::string_view name);
/// All exception types, bases before what derives from them: for the table of builtins.
const std::vector<const Type*>& exception_types();
/// Makes a further exception known to raise() and exception_type(); `type` must live as long as the process. Call while the process starts
/// or from a function-local static: it is not synchronised with look-ups in other threads.
void register_exception(const Type& type);
/// An engine's error as the exception that `except` sees, and an uncaught exception as the error that the host sees.
Value exception_from_error(const Error& error);
Error error_from_exception(Interpreter& in, const Value& exception);

/// The members of a module; np, math and the like are filled by their bindings.
class Module : public Object {
 public:
  explicit Module(std::string n) : name(std::move(n)) {}
  const Type& type() const override;
  std::string repr(Interpreter&) override;
  std::optional<Value> get_attribute(Interpreter&, std::string_view name) override;
  void set_attribute(Interpreter&, std::string_view name, const Value& value) override;
  std::vector<std::string> attribute_names(Interpreter&) override;
  std::vector<std::string> peer_owners() override { return {name}; }

  std::string name;
  std::map<std::string, Value, std::less<>> members;
};

/// A built-in function as a value; `self` is bound for methods.
class Builtin : public Object {
 public:
  explicit Builtin(const NativeFunction& f, std::optional<Value> bound = {}) : function(f), self(std::move(bound)) {}
  const Type& type() const override;
  std::string repr(Interpreter&) override;
  Value call(Interpreter&, Arguments args) override;
  std::optional<Value> get_attribute(Interpreter&, std::string_view name) override;

  const NativeFunction& function;  // lives as long as the process: built-in tables are static
  std::optional<Value> self;
};

/// A type as a value: int, np.float64, ValueError.
class TypeObject : public Object {
 public:
  explicit TypeObject(const Type& t) : described(t) {}
  const Type& type() const override;
  std::string repr(Interpreter&) override;
  Value call(Interpreter&, Arguments args) override;
  std::optional<Value> compare(Interpreter&, ast::CompareOp, const Value&) override;
  int64_t hash(Interpreter&) override;
  std::optional<Value> get_attribute(Interpreter&, std::string_view name) override;
  std::vector<std::string> peer_owners() override { return peer_owners_of(described); }

  const Type& described;
};

/// The one TypeObject of a type, so that `type(x) is int` holds.
const Value& type_object(const Type& type);

// Dict, Set, Range, Function, the iterators and the file object are in files of their own beside this one.

}  // namespace gasell
