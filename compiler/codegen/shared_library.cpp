#include "compiler/codegen/shared_library.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace gasell {
namespace {

/// Where the loader looks for what this program or library opens, in its order, but for its cache.
std::vector<std::string> loader_directories() {
  std::vector<std::string> found;
  Dl_info self{};
  link_map* map = nullptr;
  if (!dladdr1(reinterpret_cast<const void*>(&open_library), &self, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) || !map) return found;
  Dl_serinfo size{};
  if (dlinfo(map, RTLD_DI_SERINFOSIZE, &size) != 0) return found;
  std::vector<char> memory(size.dls_size);
  auto* const paths = reinterpret_cast<Dl_serinfo*>(memory.data());
  *paths = size;
  if (dlinfo(map, RTLD_DI_SERINFO, paths) != 0) return found;
  for (unsigned k = 0; k < paths->dls_cnt; ++k) found.emplace_back(paths->dls_serpath[k].dls_name);
  return found;
}

bool is_absolute(const std::string& directory) { return directory.starts_with('/'); }

/// The folders that the loader's cache is made of: those of /etc/ld.so.conf and of the files that it includes.
void add_configured(const std::string& file, std::vector<std::string>& found, int depth = 0) {
  constexpr int kDeepest = 4;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) continue;
    if (word != "include") {
      if (is_absolute(word)) found.push_back(word);
      continue;
    }
    while (depth < kDeepest && words >> word) {
      glob_t files{};
      const std::string pattern = is_absolute(word) ? word : std::filesystem::path(file).replace_filename(word).string();
      if (glob(pattern.c_str(), 0, nullptr, &files) == 0)
        for (size_t k = 0; k < files.gl_pathc; ++k) add_configured(files.gl_pathv[k], found, depth + 1);
      globfree(&files);
    }
  }
}

}  // namespace

void* open_library(const std::string& name, int flags, std::string& problem) {
  const auto open = [&](const std::string& path) {
    void* const library = dlopen(path.c_str(), flags);
    const char* const reason = library ? nullptr : dlerror();
    problem = reason ? reason : "";
    return library;
  };
  std::vector<std::string> directories = loader_directories();
  if (name.find('/') != name.npos || std::all_of(directories.begin(), directories.end(), is_absolute)) return open(name);

  add_configured("/etc/ld.so.conf", directories);
  for (const std::string& directory : directories) {
    std::error_code ignored;
    const std::filesystem::path path = std::filesystem::path(directory) / name;
    if (!is_absolute(directory) || !std::filesystem::exists(path, ignored)) continue;
    if (void* const library = open(path)) return library;
  }
  if (problem.empty()) problem = name + ": cannot open shared object file: No such file or directory";
  return nullptr;
}

}  // namespace gasell
