// Values that cross from one session to another, of which each belongs to a thread of its own: reference counts are not atomic, and lowered
// functions know the session's variables. So what crosses is a copy that nobody else refers to, a parcel. Numbers, texts, tuples, lists,
// dicts, sets and objects are copied; the memory of arrays is shared where it is large (it is copied when somebody writes it);
// functions and classes go as their texts, with copies of the variables that they see, and the receiver lowers them for itself, once;
// modules and library functions go as names. A class that crosses stays one class: an object of it that comes back is an instance of it.
//
// What has no copy (open files, iterators, generators of random numbers, compiled functions) is NotCarried.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/session/evaluator.h"
#include "runtime/session/function_effects.h"

namespace gasell {

class Unpacking;

/// Thrown by those who pack.
struct NotCarried {
  std::string what;
};

/// Stands in a parcel for what its receiver makes anew. It is read by several threads at once.
class Packed : public Object {
 public:
  const Type& type() const override;
  virtual Value unpack(Unpacking& to) const = 0;
  /// Sets what may refer to the object itself, once that is known.
  virtual void fill(Unpacking&, const Value& /*made*/) const {}
};

/// The functions and classes of a parcel, with what they see. They refer to each other by number.
struct CarriedCode {
  struct Scope {  // a module's variables
    std::string path, name;
    bool library = false;
    std::vector<std::pair<std::string, Value>> variables = {};
  };
  struct Function {
    FunctionText text;
    size_t scope = 0;
    std::vector<Value> defaults = {};
    std::vector<size_t> cells = {};
    std::vector<std::pair<std::string, Value>> attributes = {};
  };
  struct Class {
    uint64_t id = 0;
    std::string module, name, qualified_name;
    std::vector<Value> bases = {};
    Value meta = {};
    std::vector<std::pair<std::string, Value>> members = {};
  };
  std::vector<Scope> scopes;
  std::vector<Function> functions;
  std::vector<Class> classes;
  std::vector<Value> cells;
  bool lasting = false;  // it will come again
};

struct Parcel {
  Value root = Value::absent();
  std::shared_ptr<const CarriedCode> code;  // null: none
  bool plain = true;                        // nothing in it is Packed
  bool may_change = false;                  // an object in it can be changed by who has it
  FunctionEffects effects;                  // of all functions in it, without names
};

}  // namespace gasell
