// What a compiled function gave, by its type.
#pragma once

#include <memory>
#include <vector>

#include "compiler/functions/type.h"
#include "lang/dtype.h"
#include "runtime/array/array.h"

namespace gasell::functions {

struct Returned {
  const Type* type = nullptr;    // the specialisation's
  bool there = true;             // optional: whether the item is
  Scalar scalar;                 // scalar
  std::shared_ptr<Array> array;  // array: new, or a view of an argument or of a captured array
  int argument = -1;             // array: it is this array, whole: of the leaves of the arguments, then of what objects among them hold
  std::vector<Returned> items;   // tuple, list; of a dict or set tuples, its entries; optional: the item
  int object = -1;               // list, dict, set, generator: it is this object of the arguments (given.h)
};

}  // namespace gasell::functions
