// The library of compiled functions, by file. Each gives nullptr for a path that it does not have.
#pragma once

#include "compiler/functions/lowering.h"

namespace gasell::functions {

LibraryFunction number_function(const std::string& path);     // library_math.cpp
LibraryFunction creation_function(const std::string& path);   // library_creation.cpp
LibraryFunction reduction_function(const std::string& path);  // library_reductions.cpp

}  // namespace gasell::functions
