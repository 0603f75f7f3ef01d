// Functions of numbers as array expressions: what a kernel does to one element is done to arrays.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/functions/function.h"
#include "compiler/graph/node.h"

namespace gasell::functions {

/// The name of the library's function that reads an element of a stencil's array relative to the one at hand: `relative(a, -1, 0)`.
inline constexpr const char* kRelative = "numba.relative";

/// What a function that returns one number gives for arrays in place of its arguments, element by element: branches become selections,
/// loops whose bounds are known are written out.
///
/// `arguments`: by the kernel's scalar parameters; all of one shape, or of none. `relative(array, offsets)`: what stands for an element of
/// an array that is `offsets` away, one an axis; nullptr where it has none.
///
/// nullopt: the function cannot be told so. It may raise, write, allocate or call what is outside, its loops depend on its numbers, or it
/// would be too long.
std::optional<graph::NodeRef> as_graph(
    const Compiled& function, const std::map<std::string, graph::NodeRef>& arguments,
    const std::function<graph::NodeRef(const std::string& array, const std::vector<int64_t>& offsets)>& relative = {});

}  // namespace gasell::functions
