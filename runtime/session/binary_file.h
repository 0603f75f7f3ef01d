// Files of bytes: what open(path, 'rb') returns.
#pragma once

#include <cstdio>
#include <string>

#include "runtime/session/value.h"

namespace gasell {

/// Takes the handle over.
Value make_binary_file(std::string path, std::string mode, std::FILE* handle, bool readable, bool writable);

}  // namespace gasell
