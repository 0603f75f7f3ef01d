// enumerate, zip, map, filter and the plain iterators.
#pragma once

#include <functional>

#include "runtime/session/objects.h"

namespace gasell {

const Type& enumerate_type();
const Type& zip_type();
const Type& map_type();
const Type& filter_type();
const Type& reversed_type();
const Type& generator_type();

/// A container that reversed() takes though it has no integer indices (the views of dicts).
class Reversible {
 public:
  virtual ~Reversible() = default;
  virtual Value reversed(Interpreter& in) const = 0;
};

/// An iterator over what a function gives until it gives nullopt. `type` is what type(it) says.
Value make_iterator(const Type& type, std::function<std::optional<Value>(Interpreter&)> next);
/// A type without members for an iterator: "dict_keyiterator".
Type iterator_type_of(std::string name);

}  // namespace gasell
