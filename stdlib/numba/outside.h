// What the session's values are to compiled functions: arguments by type and leaves, what functions take from outside.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/functions/function.h"
#include "runtime/functions/call.h"
#include "runtime/session/function.h"
#include "runtime/session/interpreter.h"

namespace gasell::numba {

/// Arrays that functions took from outside as they were when the functions were compiled. Lives as long as the code that has their
/// addresses.
class FrozenArrays {
 public:
  /// One array for one object of the session.
  const Array& freeze(const Value& array);

 private:
  struct Frozen {
    Value original;  // kept, so that no other object gets its address
    Array array;
  };
  std::map<const Object*, Frozen> arrays_;
};

/// What belongs to one dispatcher and to all functions compiled with it.
struct Compilation {
  Interpreter& in;
  std::shared_ptr<FrozenArrays> frozen = std::make_shared<FrozenArrays>();
  /// Functions of the language by object; the constants of argument types.
  std::map<const Object*, std::shared_ptr<const functions::Function>> known;
  std::map<const Object*, std::pair<Value, std::shared_ptr<const functions::Outside>>> constants;
};

/// A script's function for the compiler. The Compilation outlives what it is compiled to.
std::shared_ptr<const functions::Function> to_function(Compilation& compilation, const Value& function, const functions::Options& options);

/// What a value is to code that takes it from outside.
functions::Outside to_outside(Compilation& compilation, const Value& v);

/// The arguments of a call: types and leaves. `arrays`: the objects of the array leaves.
struct CallArguments {
  std::vector<functions::Type> types;
  std::vector<functions::Leaf> leaves;
  std::vector<Value> arrays;
  /// The lists, dicts and sets among the arguments, and their items as they were given; the leaves point to copies, which a call changes.
  struct GivenList {
    Value list;
    std::vector<int64_t> items, after;
  };
  std::deque<GivenList> lists;
  void clear() {
    lists.clear();
    types.clear();
    leaves.clear();
    arrays.clear();
  }
};
/// Adds an argument. TypingError for what compiled functions cannot take.
void add_argument(Compilation& compilation, const Value& v, CallArguments& to);

/// Adds the leaves of an argument where its type is this one; false, with leaves half added, where it is not. For calls like the one
/// before.
bool add_leaves(Compilation& compilation, const Value& v, const functions::Type& type, CallArguments& to);

/// What a function returned; arrays and lists of the arguments that come back are those objects.
Value to_value(Interpreter& in, const functions::Returned& returned, const CallArguments& arguments);
/// Gives lists, dicts and sets among the arguments the items that the call left in them.
void reflect_lists(Interpreter& in, const CallArguments& arguments, const std::vector<functions::Type>& types);

/// Numba's error for what cannot be typed; registered with its relatives on first use.
void register_numba_errors();
[[noreturn]] void raise_typing_error(std::string message, std::string hint = {});

}  // namespace gasell::numba
