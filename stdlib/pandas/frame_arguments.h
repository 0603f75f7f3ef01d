// Arguments and results that natives of _frame over the operators of frames share.
#pragma once

#include <initializer_list>
#include <string>

#include "runtime/frame/quantiles.h"
#include "runtime/primitives/scratch.h"
#include "runtime/session/types.h"
#include "stdlib/pandas/column_object.h"

namespace gasell::pandas {

inline std::string text_of(Interpreter& in, const Value& v) { return gasell::str(in, v); }

/// One of some names by its place; ValueError for another.
template <class Enum>
Enum one_of(Interpreter& in, const Value& v, std::initializer_list<const char*> names, const char* what) {
  const std::string given = text_of(in, v);
  int place = 0;
  for (const char* name : names) {
    if (given == name) return static_cast<Enum>(place);
    ++place;
  }
  raise("ValueError", std::string("invalid ") + what + ": '" + given + "'");
}
inline frame::Interpolation interpolation_of(Interpreter& in, const Value& v) {
  return one_of<frame::Interpolation>(in, v, {"linear", "lower", "higher", "nearest", "midpoint"}, "interpolation");
}

/// Row numbers as an array of int64.
inline Value rows_array(Interpreter& in, const Scratch<uint32_t>& rows) {
  frame::NewValues result(in.engine(), DType::i64, rows.size());
  std::copy(rows.begin(), rows.end(), result.as<int64_t>());
  return numpy::wrap_array(result.node());
}
inline Value array_over(const Scratch<int64_t>& rows, int64_t count) {
  return numpy::wrap_array(graph::buffer(rows.storage(), DType::i64, {count}, {1}, 0));
}
inline Value array_over(const Scratch<int64_t>& rows) { return array_over(rows, rows.size()); }

}  // namespace gasell::pandas
