// Where the scripts are that `import` names.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lang/source.h"

namespace gasell {

/// Looks for NAME with this ending (a dotted name is a path) in `first`, beside the importer, in the working directory and along
/// GASELL_PATH; for a folder where the ending is empty.
std::optional<std::filesystem::path> find_script_path(const std::string& name, const char* ending, const SourceRef& importer,
                                                      const std::vector<std::string>& first = {});

/// The folders in GASELL_PATH.
std::vector<std::string> script_folders();

}  // namespace gasell
