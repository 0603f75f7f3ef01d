// Tuples whose items have names: what NumPy returns from np.linalg.eig and its like.
#pragma once

#include <string>
#include <vector>

#include "runtime/session/objects.h"

namespace gasell::numpy {

/// A tuple whose items are attributes, too, of the type `name` in numpy.linalg.
Value make_named_tuple(const std::string& name, std::vector<std::string> fields, std::vector<Value> values);

}  // namespace gasell::numpy
