#include "runtime/gpu/cuda/toolkit.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace gasell::cuda {
namespace {

namespace fs = std::filesystem;

/// An environment variable that names a folder by its whole path.
std::string folder_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value && *value == '/' ? value : "";
}

/// The entries of a folder, sorted, so that what is found does not depend on the file system; none where it is not there.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end; !error && at != end;
       at.increment(error))
    found.push_back(at->path());
  std::sort(found.begin(), found.end());
  return found;
}

/// The folders of libraries in NVIDIA's wheels: <root>/lib/python3.x/site-packages/nvidia/<part>/lib.
std::vector<fs::path> wheel_folders() {
  std::vector<fs::path> found;
  const std::string home = folder_of("HOME");
  for (const std::string& root :
       {folder_of("VIRTUAL_ENV"), folder_of("CONDA_PREFIX"), home.empty() ? home : home + "/.local", std::string("/usr/local")}) {
    if (root.empty()) continue;
    for (const fs::path& python : entries_of(root + "/lib")) {
      if (!python.filename().string().starts_with("python3")) continue;
      for (const char* packages : {"site-packages", "dist-packages"})
        for (const fs::path& part : entries_of(python / packages / "nvidia")) found.push_back(part / "lib");
    }
  }
  return found;
}

}  // namespace

std::vector<std::string> toolkits() {
  std::vector<std::string> roots;
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
    if (std::string root = folder_of(variable); !root.empty()) roots.push_back(std::move(root));
  roots.emplace_back("/usr/local/cuda");
  return roots;
}

std::vector<std::string> library_candidates(std::span<const char* const> names) {
  std::vector<std::string> candidates(names.begin(), names.end());
  std::vector<fs::path> folders;
  for (const std::string& root : toolkits()) folders.emplace_back(root + "/lib64");
  for (fs::path& folder : wheel_folders()) folders.push_back(std::move(folder));
  std::error_code error;
  for (const char* name : names)
    for (const fs::path& folder : folders)
      if (fs::exists(folder / name, error)) candidates.push_back((folder / name).string());
  return candidates;
}

}  // namespace gasell::cuda
