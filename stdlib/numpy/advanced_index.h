// Integer arrays and masks as an index: which elements they choose.
#pragma once

#include <vector>

#include "runtime/primitives/budget_vector.h"
#include "stdlib/numpy/ndarray.h"

namespace gasell::numpy {

/// Whether an index is an array of truth values.
bool is_mask(const Value& v);
/// Whether it is a single truth value: as an index it chooses the whole, along a new axis of extent 1 or 0.
bool is_truth_value(const Value& v);

/// An advanced index as element positions in the array, in C order of the result. Each stands for a run of elements.
struct Gather {
  Shape shape;
  BudgetVector<int64_t> positions;
  int64_t run = 1;
};
/// `items`: one for each axis of the array, None's, truth values, and `...` for no axis; some of them arrays or lists. Throws IndexError,
/// in NumPy's words, for places that are not in the array (unless none is chosen), shapes that do not fit, and other elements than whole
/// numbers and truth values.
Gather gather_index(Interpreter& in, const Array& array, const std::vector<Value>& items);
/// The elements that they choose.
Value elements_at(Interpreter& in, const Array& array, const std::vector<Value>& items);

}  // namespace gasell::numpy
