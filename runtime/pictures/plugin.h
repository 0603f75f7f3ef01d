// The plugin gasell_pictures.so.
#pragma once

#include <string>

#include "runtime/pictures/plugin_abi.h"

namespace gasell::pictures {

/// The plugin, opened at the first call. ImportError where it is not there, saying how to get it.
const GasellPictures& plugin();
/// "cairo 1.16.0", or why there is none.
std::string describe_plugin();

}  // namespace gasell::pictures
