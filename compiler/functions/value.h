// Values while a function is lowered: a type, and the loop IR that holds it. Everything in a value is immutable (constants, lets, loop
// variables, fixed names of memory), so it means the same wherever it is used later.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/functions/function.h"

namespace gasell::functions {

using ir::ExprRef;

/// An array that lies in memory: element (i0, i1, …) is memory[offset + Σ i_k * strides[k]].
struct ArrayValue {
  std::string memory;  // an array of the loop IR
  ExprRef offset;
  std::vector<ExprRef> extents, strides;
  /// Which memory it may lie in: equal roots may overlap, different ones do not; kAnywhere overlaps everything.
  int root = 0;
  static constexpr int kAnywhere = -1;
  /// Which axis of the root each axis is (kPart: a part of one, or a new one), and the index that views have fixed on the root's axes
  /// (null: none); both empty where that is not known.
  static constexpr int kPart = -1;
  std::vector<int> axes;
  std::vector<ExprRef> fixed;

  /// Its axes are the root's.
  void is_whole() {
    axes.clear();
    for (size_t k = 0; k < extents.size(); ++k) axes.push_back(static_cast<int>(k));
    fixed.assign(extents.size(), nullptr);
  }
};

/// An array that is not computed yet: its element as a function of the index. It lives within one statement.
struct LazyArray {
  std::vector<ExprRef> extents;
  /// May emit statements where it is called.
  std::function<ExprRef(const std::vector<ExprRef>& index)> at;
  /// What it reads. `straight`: only the element at the very index that is asked for (axes aligned from the last).
  struct Source {
    ArrayValue array;
    bool straight;
  };
  std::vector<Source> sources;
  /// Whether no axis is stretched, where that is only known when it runs: then indices are used as they are. Null: nothing depends on it.
  ExprRef exact;
};

struct Value {
  Type type;
  ExprRef scalar;                           // Kind::scalar
  std::shared_ptr<const ArrayValue> array;  // Kind::array, in memory
  std::shared_ptr<const LazyArray> lazy;    // Kind::array, not computed
  std::vector<Value> items;                 // tuple; slice: start, stop, step; optional: the item
  ExprRef present;                          // optional: whether the item is there
  Outside outside;                          // Kind::function: what it is
  std::shared_ptr<const Value> self;        // a method: whose
  Span span;                                // where it was written

  const ir::ExprRef& number() const { return scalar; }
  bool is_constant() const { return scalar && scalar->kind == ir::ExprKind::constant; }
  const std::vector<ExprRef>& extents() const { return array ? array->extents : lazy->extents; }
};

inline Value scalar_value(ExprRef e) {
  Value v;
  v.type = Type::of(e->type);
  v.scalar = std::move(e);
  return v;
}
inline Value none_value() { return {}; }
inline Value text_value(std::string text) {
  Value v;
  v.type = Type::text_of(std::move(text));
  return v;
}
/// What the library has at a path: "numpy.float64".
inline Value path_value(std::string path) {
  Value v;
  v.type.kind = Type::Kind::function;
  v.type.text = path;
  v.outside = {.kind = Outside::Kind::path, .text = std::move(path)};
  return v;
}
inline Value dtype_value(DType dtype) { return path_value("numpy." + std::string(name_of(dtype))); }
Value tuple_value(std::vector<Value> items);
Value array_value(DType dtype, Layout layout, ArrayValue array, bool read_only = false);
Value lazy_value(DType dtype, LazyArray array);
/// The expressions of an array in C order: strides from extents.
std::vector<ExprRef> c_strides(const std::vector<ExprRef>& extents);

}  // namespace gasell::functions
