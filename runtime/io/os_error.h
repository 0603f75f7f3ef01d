// Failed system calls as the exceptions Python raises for them.
#pragma once

#include <filesystem>
#include <string>

#include "lang/diagnostic.h"

namespace gasell {

/// Python's exception for an errno: FileNotFoundError, PermissionError, IsADirectoryError, …, else OSError, with the message
/// "[Errno 2] No such file or directory: 'x.npy'".
Error os_error(int number, const std::filesystem::path& path);
/// A path or other text as Python's repr shows it.
std::string in_quotes(const std::string& text);

}  // namespace gasell
