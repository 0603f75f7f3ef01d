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

/// An iterator over tuples of two, which gives the two to who takes them apart.
class PairIterator : public Object {
 public:
  Value iterate(Interpreter&) override { return Value::of(this); }
  std::optional<Value> next(Interpreter& in) final;
  /// False at the end.
  virtual bool next_pair(Interpreter& in, Value& first, Value& second) = 0;
};
/// The PairIterator over the items of what is one, or of a view of a dict's items; None for others.
Value pairs_of(const Value& iterable);

/// An iterator over what a function gives until it gives nullopt. `type` is what type(it) says.
Value make_iterator(const Type& type, std::function<std::optional<Value>(Interpreter&)> next);
/// A type without members for an iterator: "dict_keyiterator".
Type iterator_type_of(std::string name);

}  // namespace gasell
