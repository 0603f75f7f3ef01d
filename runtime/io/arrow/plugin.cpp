#include "runtime/io/arrow/plugin.h"

#include <dlfcn.h>

#include <cstdlib>

#include "runtime/io/os_error.h"

namespace gasell::arrow {
namespace {

constexpr const char* kName = "gasell_arrow.so";

struct Loaded {
  const GasellArrow* table = nullptr;
  std::string problem;
};

/// Where the plugin may be: GASELL_ARROW_PLUGIN, then beside the program or library that this code is in, as installed and as built.
std::vector<std::filesystem::path> places() {
  if (const char* given = std::getenv("GASELL_ARROW_PLUGIN"); given && *given) return {given};
  Dl_info self{};
  std::vector<std::filesystem::path> found;
  std::error_code ignored;
  if (dladdr(reinterpret_cast<const void*>(&places), &self) && self.dli_fname) {
    std::filesystem::path file = self.dli_fname;
    // The program's own name is what it was called by.
    if (file.is_relative() || !std::filesystem::exists(file, ignored)) file = std::filesystem::read_symlink("/proc/self/exe", ignored);
    file = std::filesystem::weakly_canonical(file, ignored);
    const std::filesystem::path folder = file.parent_path();
    for (const char* below : {"gasell", "../lib/gasell", "../lib64/gasell", "lib/gasell"}) found.push_back(folder / below / kName);
#ifdef __x86_64__
    found.push_back(folder / "../lib/x86_64-linux-gnu/gasell" / kName);
#endif
  }
  return found;
}

Loaded load() {
  Loaded loaded;
  std::error_code ignored;
  for (const std::filesystem::path& place : places()) {
    if (!std::filesystem::exists(place, ignored)) continue;
    void* const library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      loaded.problem = dlerror();
      return loaded;
    }
    const auto entry = reinterpret_cast<decltype(&gasell_arrow)>(dlsym(library, "gasell_arrow"));
    loaded.table = entry ? entry(GASELL_ARROW_ABI) : nullptr;
    if (!loaded.table) loaded.problem = place.string() + " belongs to another version of Gasell";
    return loaded;
  }
  loaded.problem = std::string(kName) + " is not there: this Gasell was built without Apache Arrow C++";
  return loaded;
}

const Loaded& loaded() {
  static const Loaded one = load();  // never closed
  return one;
}

}  // namespace

const GasellArrow& plugin() {
  if (const GasellArrow* table = loaded().table) return *table;
  throw Error("ImportError", "Parquet, Arrow IPC and ORC files are read and written by a plugin that cannot be opened: " + loaded().problem,
              "Gasell's bundle has it; a build has it after scripts/setup.sh, which fetches Apache Arrow C++", Blame::environment);
}

std::string describe_plugin() {
  if (const GasellArrow* table = loaded().table) return std::string("Apache Arrow ") + table->version + " (Parquet, Arrow IPC, ORC)";
  return "none: " + loaded().problem + "; pd.read_parquet does not work (scripts/setup.sh, then a new build, mends that)";
}

Error failure(int kind, const ArrowProblem& problem, const std::filesystem::path& path, const std::string& column) {
  if (kind == kArrowSystem) return os_error(problem.number, path);
  std::string text = in_quotes(path.string());
  if (!column.empty()) text += ", column " + in_quotes(column);
  text += ": ";
  text += problem.text;
  if (kind == kArrowMemory) return Error("MemoryError", text, {}, Blame::environment);
  return Error(kind == kArrowUnsupported ? "NotImplementedError" : "ValueError", text);
}

}  // namespace gasell::arrow
