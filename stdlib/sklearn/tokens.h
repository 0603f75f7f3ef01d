// Natives of _sklearn: texts cut into tokens, and hashes of tokens.
#pragma once

#include <vector>

#include "runtime/session/objects.h"

namespace gasell {

const std::vector<NativeFunction>& token_functions();

}  // namespace gasell
