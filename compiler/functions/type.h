// Types of compiled functions: what a value inside one is, as far as code depends on it. Numba's rules (numba.readthedocs.io, "Types and
// signatures", "NBEP 1: Changes in integer typing").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lang/dtype.h"

namespace gasell::functions {

struct Outside;
struct NamedClass;

enum class Layout : uint8_t {
  c,    // C-contiguous: strides follow from the extents
  any,  // strides are known at run time
};

/// The displays (`[]`) that a list or a table may come from, as keys of Program::found: where what is added to it needs another type of
/// items. Types that differ in nothing else are equal.
struct Origins {
  std::vector<std::pair<const void*, std::string>> keys;
  bool operator==(const Origins&) const { return true; }
};

struct Type {
  enum class Kind : uint8_t {
    none,      // None
    scalar,    // a bool, an int, a float, a complex: one of the dtypes; Python's are bool, i64, f64, c128
    array,     // dtype, rank, layout
    tuple,     // items; `named`: of a named one, its class
    text,      // a string, always a constant: `text`
    function,  // a function of the language, a module, a type, a dtype: always a constant; `text` is its name
    slice,     // items: start, stop, step, each a scalar or none
    ellipsis,
    optional,  // None or items[0]
    range,     // items: start, stop, step, integers
    iterator,  // what `text` ("zip", "enumerate", …) makes of items
    list,  // items: the type of its items, or none where nothing is known to be in it; `text`: "reflected" or "typed", where scripts see it
    table,      // `text`: "dict" or "set"; items: the type of its entries, a tuple (key, value) or (key), or none as a list's
    generator,  // np.random.Generator: the session's, which is drawn from in place
  } kind = Kind::none;
  DType dtype = DType::f64;
  int rank = 0;
  Layout layout = Layout::c;
  bool read_only = false;
  std::vector<Type> items;
  std::string text;
  /// Where it is an argument (function.h): of a function, what it is; of a scalar, the number that it always is, where that is known. Equal
  /// ones have one object.
  std::shared_ptr<const Outside> constant;
  /// One object a class.
  std::shared_ptr<const NamedClass> named;
  Origins origins;

  bool operator==(const Type&) const = default;

  static Type of(DType dtype) { return {.kind = Kind::scalar, .dtype = dtype}; }
  static Type array_of(DType dtype, int rank, Layout layout = Layout::c, bool read_only = false) {
    return {.kind = Kind::array, .dtype = dtype, .rank = rank, .layout = layout, .read_only = read_only};
  }
  static Type tuple_of(std::vector<Type> items) { return {.kind = Kind::tuple, .items = std::move(items)}; }
  static Type list_of(Type item) { return {.kind = Kind::list, .items = {std::move(item)}}; }
  static Type table_of(std::string text, Type entry) { return {.kind = Kind::table, .items = {std::move(entry)}, .text = std::move(text)}; }
  static Type text_of(std::string text) { return {.kind = Kind::text, .text = std::move(text)}; }

  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_array() const { return kind == Kind::array; }
  bool is_tuple() const { return kind == Kind::tuple; }
  bool is_list() const { return kind == Kind::list; }
  bool is_table() const { return kind == Kind::table; }
  /// Whether it has methods of its own and is known by its address.
  bool is_object() const { return kind == Kind::list || kind == Kind::table || kind == Kind::generator; }
  /// Whether it is memory that is counted.
  bool is_memory() const { return kind == Kind::array || is_object(); }
  bool is_none() const { return kind == Kind::none; }
};

/// Numba's spelling: "int64", "array(float64, 2d, C)", "UniTuple(int64 x 2)", "Tuple(int64, float64)", "none".
std::string to_string(const Type& type);
/// What a user would say: "int64", "a 2-d float64 array", "a tuple (int64, float64)", "None".
std::string describe(const Type& type);

/// Where two ways of a program meet, the type that holds both: int64 and float64 give float64, arrays of different layouts one with
/// strides. nullopt: there is none.
std::optional<Type> unify(const Type& a, const Type& b);

/// The dtype in which Numba computes `a op b` of two numbers for + - * // % ** and the like: integers widen to 64 bits (both unsigned:
/// uint64, else int64), booleans are int64.
DType common_number(DType a, DType b);

/// Whether a container whose type was said takes numbers of another dtype, which become its own: all but fractions for integers and complex
/// numbers for real ones.
bool takes_number(DType container, DType given);

}  // namespace gasell::functions
