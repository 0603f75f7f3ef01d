// The values of a call of a compiled function: arguments by type and leaves, objects that the call changes, results.
#pragma once

#include <unordered_map>
#include <vector>

#include "runtime/functions/call.h"
#include "stdlib/numba/outside.h"

namespace gasell::numba {

/// The arguments of a call: types and leaves.
struct CallArguments {
  std::vector<functions::Type> types;
  std::vector<functions::Leaf> leaves;
  std::vector<Value> arrays;  // the objects of the array leaves
  /// Lists, dicts, sets and generators among the arguments and in each other, with the arrays that they hold; and what these are to the
  /// script.
  functions::Givens givens;
  std::vector<Value> objects, held;
  std::unordered_map<const Object*, int> numbers;  // of both

  /// For Dispatch::call.
  functions::Givens* given() { return givens.objects.empty() ? nullptr : &givens; }
  void clear();
};
/// Adds an argument. TypingError for what compiled functions cannot take.
void add_argument(Compilation& compilation, const Value& v, CallArguments& to);

/// Adds the leaves of an argument where its type is this one; false, with leaves half added, where it is not. For calls like the one
/// before.
bool add_leaves(Compilation& compilation, const Value& v, const functions::Type& type, CallArguments& to);

/// Adds the leaves of an argument as one of this type: numbers are converted, and what may be None is there or not. Its own type fits.
void add_as(Compilation& compilation, const Value& v, const functions::Type& type, CallArguments& to);

/// A number as a script has it: Python's, but for unsigned ones that int64 does not hold.
Value to_number(const Scalar& s);
/// What a function returned; arrays and objects of the arguments that come back are those.
Value to_value(Interpreter& in, const functions::Returned& returned, const CallArguments& arguments);
/// Gives lists, dicts and sets among the arguments what the call left in them.
void reflect(Interpreter& in, const CallArguments& arguments);

}  // namespace gasell::numba
