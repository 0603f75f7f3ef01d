// The library of compiled functions, by file. Each gives nullptr for a path that it does not have.
#pragma once

#include "compiler/functions/parameters.h"

namespace gasell::functions {

LibraryFunction builtin_function(const std::string& path);      // library_builtins.cpp
LibraryFunction elementwise_function(const std::string& path);  // elementwise.cpp
LibraryFunction number_function(const std::string& path);       // library_math.cpp
LibraryFunction number_method(const std::string& path);
LibraryFunction creation_function(const std::string& path);   // library_creation.cpp
LibraryFunction reduction_function(const std::string& path);  // library_reductions.cpp
LibraryFunction linalg_function(const std::string& path);     // library_linalg.cpp
LibraryFunction arranging_function(const std::string& path);  // library_arrange.cpp
LibraryFunction container_function(const std::string& path);  // library_containers.cpp
LibraryFunction random_function(const std::string& path);     // library_random.cpp
/// The parameters of what only texts of prelude/ call, which know how.
inline constexpr const char* kInner = "*arguments";
/// What texts of prelude/ use ("gasell.…"), and what belongs to it.
LibraryFunction inner_function(const std::string& path);  // library_inner.cpp
/// "numpy.finfo(float64).eps".
std::optional<Scalar> limit_of_dtype(const std::string& path);
LibraryFunction printing_function(const std::string& path);  // library_print.cpp
LibraryFunction host_function(const std::string& path);      // library_host.cpp
LibraryFunction cuda_function(const std::string& path);      // library_cuda.cpp

/// What names of numba.cuda stand for in kernels that are no functions: "numba.cuda.threadIdx.x".
std::optional<Value> cuda_value(Lowering& lowering, const std::string& path);

}  // namespace gasell::functions
