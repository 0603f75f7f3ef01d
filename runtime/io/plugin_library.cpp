#include "runtime/io/plugin_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace gasell {
namespace {

std::vector<std::filesystem::path> places(const char* name, const char* variable) {
  if (const char* given = std::getenv(variable); given && *given) return {given};
  Dl_info self{};
  std::vector<std::filesystem::path> found;
  std::error_code ignored;
  if (dladdr(reinterpret_cast<const void*>(&places), &self) && self.dli_fname) {
    std::filesystem::path file = self.dli_fname;
    // The program's own name is what it was called by.
    if (file.is_relative() || !std::filesystem::exists(file, ignored)) file = std::filesystem::read_symlink("/proc/self/exe", ignored);
    file = std::filesystem::weakly_canonical(file, ignored);
    const std::filesystem::path folder = file.parent_path();
    for (const char* below : {"gasell", "../lib/gasell", "../lib64/gasell", "lib/gasell"}) found.push_back(folder / below / name);
#ifdef __x86_64__
    found.push_back(folder / "../lib/x86_64-linux-gnu/gasell" / name);
#endif
  }
  return found;
}

}  // namespace

PluginLibrary open_plugin(const char* file, const char* variable, const char* symbol, const char* over) {
  PluginLibrary opened;
  std::error_code ignored;
  for (const std::filesystem::path& place : places(file, variable)) {
    if (!std::filesystem::exists(place, ignored)) continue;
    opened.place = place.string();
    void* const library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    opened.entry = library ? dlsym(library, symbol) : nullptr;
    if (!opened.entry) opened.problem = library ? opened.place + " belongs to another version of Gasell" : dlerror();
    return opened;
  }
  opened.problem = std::string(file) + " is not there: this Gasell was built without " + over;
  return opened;
}

}  // namespace gasell
