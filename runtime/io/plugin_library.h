// Shared objects that the core opens when a script first needs them: what they are built over need not be there.
#pragma once

#include <string>

namespace gasell {

struct PluginLibrary {
  void* entry = nullptr;  // the function `symbol`, or null: `problem` says why
  std::string place, problem;
};

/// Opens a plugin's file ("gasell_arrow.so") where the environment's variable says, else beside the program or library that this code is
/// in, as installed and as built. `over`: what it is built over, for the text where it is not there. It is never closed.
PluginLibrary open_plugin(const char* file, const char* variable, const char* symbol, const char* over);

}  // namespace gasell
