// Functions outside of kernels that kernels call by name.
#pragma once

#include <string>
#include <string_view>

namespace gasell {

/// From now on `call NAME(…)` in a kernel finds this function; a name keeps its first address. Safe to call from several threads; to be
/// done before the first kernel that calls it is compiled or loaded.
///
/// Such a function has C linkage and throws nothing: no frame of a kernel can be unwound. It takes an int64_t for every integer, boolean (0
/// or 1) and address, and a double for every float; it returns int64_t, double, or nothing: what the kernel makes of it says the statement
/// (docs/loop_ir.md).
void register_external(std::string_view name, void* address);
/// Null when there is none of that name.
void* find_external(std::string_view name);

}  // namespace gasell
