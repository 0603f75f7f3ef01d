// Nested lists and tuples that become arrays.
#pragma once

#include <vector>

#include "runtime/session/types.h"
#include "stdlib/numpy/ndarray.h"

namespace gasell::numpy {

inline bool is_sequence(const Value& v) { return v.as<List>() || v.as<Tuple>(); }
inline const std::vector<Value>& items_of(const Value& v) { return v.as<List>() ? v.as<List>()->items : v.as<Tuple>()->items; }

/// Walks nested sequences and learns their shape: one extent an axis, with elements at the same depth. ValueError where they differ, as
/// NumPy's.
class NestedShape {
 public:
  explicit NestedShape(Interpreter& in) : in_(in) {}

  /// leaf(element, depth) of what is no sequence, in C order; it says end(depth of the innermost axis).
  template <class Leaf>
  void walk(const Value& v, const Leaf& leaf, size_t depth = 0) {
    if (!is_sequence(v)) return leaf(v, depth);
    const std::vector<Value>& items = items_of(v);
    extent(depth, static_cast<int64_t>(items.size()));
    if (items.empty()) complete_ = true;
    for (const Value& item : items) walk(item, leaf, depth + 1);
  }
  /// So many items stand along the axis of this depth.
  void extent(size_t depth, int64_t n);
  /// Numbers stand at this depth.
  void end(size_t depth);

  const Shape& shape() const { return shape_; }

 private:
  [[noreturn]] void ragged(size_t depth) const;

  Interpreter& in_;
  Shape shape_;
  bool complete_ = false;  // no more axes come
};

}  // namespace gasell::numpy
