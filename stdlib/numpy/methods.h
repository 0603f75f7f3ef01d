// Methods and properties of arrays and NumPy scalars, and the functions of np that share them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stdlib/numpy/ndarray.h"

namespace gasell::numpy {

std::vector<NativeFunction> array_methods();
std::vector<Type::Property> array_properties();
std::vector<NativeFunction> scalar_methods();
std::vector<Type::Property> scalar_properties();
/// np.generic.
const Type& generic_type();

// Functions of np, by file.
std::vector<NativeFunction> creation_functions();
std::vector<NativeFunction> reduction_functions();
std::vector<NativeFunction> reduction_methods();
std::vector<NativeFunction> shape_functions();
std::vector<NativeFunction> misc_functions();
/// np.float64, np.dtype, np.ndarray, …
std::vector<std::pair<std::string, Value>> scalar_type_members();
/// np.random.
Value make_random_module();

/// What an object that is more than an array (a Series, a frame) answers by itself where a function of np is asked of it: what its slot
/// __array_function__(name, positional, keywords) gives. Absent where there is none, or where it leaves the answer to its array.
Value own_answer(Interpreter& in, std::string_view function, const Value& object, std::vector<Value> positional,
                 std::vector<std::pair<std::string, Value>> keywords = {});

/// reshape's argument list: (2, 3), ((2, 3)) or -1 for one extent that follows from the rest.
Shape shape_argument(Interpreter& in, const std::vector<Value>& given, int64_t size);
/// A view with its axes in another order. ValueError for a repeated one.
Array transposed(const Array& a, const std::vector<int>& order);
/// Elements limited to [low, high], of which None is no limit, and neither is an int that no element is beyond.
Value clipped(Interpreter& in, const Value& x, const Value& low, const Value& high);
/// np.dot and its method: a, b, out.
Value dot_of(Interpreter& in, std::span<Value> args);
/// npy_array(bytes, shown): the array of the bytes of a .npy file.
Value npy_array(Interpreter& in, std::span<Value> args);
/// np.save; `times` names the dtype of times whose counts the array has.
void save_array(Interpreter& in, const Value& file, const Value& array, std::string_view descr);
/// np.round.
NodeRef rounded(const NodeRef& x, int64_t decimals);

/// sum, mean, … with NumPy's dtype rules. `name` is a ReduceOp's or "std".
NodeRef reduce(Interpreter& in, std::string_view name, const NodeRef& x, const Value& axis, const Value& dtype, bool keepdims,
               int64_t ddof);

/// Whether v is an array of texts, times or categories, which is a column of a frame.
bool is_column(const Value& v);

}  // namespace gasell::numpy
