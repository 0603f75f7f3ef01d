// The modules that scripts can import.
#pragma once

#include "runtime/session/interpreter.h"
#include "runtime/session/objects.h"

namespace gasell {

/// Every known module with the names it is bound to without import. A further module is one line of the table in modules.cpp.
const ModuleTable& known_modules();

// ---- helpers for those who write a module ----
/// A module with these functions. The table lives as long as the process: pass a static one.
Value make_module(const std::string& name, const std::vector<NativeFunction>& functions);
/// Adds a member.
void set_member(const Value& module, const std::string& name, Value value);

}  // namespace gasell
