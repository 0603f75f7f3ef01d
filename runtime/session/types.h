// The built-in types, by accessor. Each is a constant that is made on first use, so that tables may refer to each other in any order.
#pragma once

#include "runtime/session/value.h"

namespace gasell {

// value.cpp, operations.cpp and the files of the classes
const Type& object_type();
const Type& type_type();
const Type& none_type();
const Type& ellipsis_type();
const Type& not_implemented_type();
const Type& dict_type();
const Type& set_type();
const Type& frozenset_type();
const Type& range_type();
const Type& slice_type();
const Type& function_type();
const Type& builtin_type();
const Type& module_type();

// number.cpp, complex.cpp, str.cpp, tuple.cpp, list.cpp, file.cpp
const Type& int_type();
const Type& bool_type();  // derives from int
const Type& float_type();
const Type& complex_type();
const Type& str_type();
const Type& tuple_type();
const Type& list_type();
const Type& file_type();

}  // namespace gasell
