// Functions that are written for the user's: the loops around the functions of vectorize, guvectorize and stencil.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/functions/call.h"
#include "stdlib/numba/outside.h"

namespace gasell::numba {

/// The function that a text defines; `names` are what it takes from outside, beside the built-ins.
std::shared_ptr<const functions::Function> function_of_text(const std::string& what, const std::string& text,
                                                            std::map<std::string, functions::Outside> names,
                                                            const functions::Options& options);
functions::Outside outside_path(std::string path);
functions::Outside outside_function(std::shared_ptr<const functions::Function> function);

/// What a function returns for arguments of these types; found without making code. TypingError where it cannot be typed.
functions::Type result_of(const functions::Function& function, const std::vector<functions::Type>& types);

/// Calls one of the generated functions. Exceptions as a Dispatcher gives them.
functions::Returned call_generated(functions::Dispatch& dispatch, const std::vector<functions::Type>& types,
                                   std::span<const functions::Leaf> leaves);

/// A new array in C order whose elements are not set.
Array new_array(Interpreter& in, DType dtype, const graph::Shape& shape);
/// The array repeated to a shape: a view. ValueError where it does not fit.
Array broadcast(const Array& a, const graph::Shape& shape);
functions::Type type_of_array(const Array& a);

}  // namespace gasell::numba
