#include "runtime/session/script_path.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "runtime/device/sandbox.h"

namespace gasell {

namespace fs = std::filesystem;

std::vector<std::string> script_folders() {
  std::vector<std::string> folders;
  if (const char* path = std::getenv("GASELL_PATH")) {
    std::stringstream list(path);
    for (std::string folder; std::getline(list, folder, ':');)
      if (!folder.empty()) folders.push_back(folder);
  }
  return folders;
}

std::optional<fs::path> find_script_path(const std::string& name, const char* ending, const SourceRef& importer,
                                         const std::vector<std::string>& first) {
  std::string relative = name;
  std::replace(relative.begin(), relative.end(), '.', '/');
  relative += ending;
  std::vector<fs::path> directories(first.begin(), first.end());
  if (importer) directories.push_back(fs::path(importer->name()).parent_path());
  directories.emplace_back("");
  for (const std::string& folder : script_folders()) directories.emplace_back(folder);
  std::error_code error;
  for (const fs::path& directory : directories) {
    fs::path candidate = directory / relative;
    if (!is_readable_in_sandbox(candidate)) continue;
    if (*ending ? fs::is_regular_file(candidate, error) : fs::is_directory(candidate, error)) return candidate;
  }
  return {};
}

}  // namespace gasell
