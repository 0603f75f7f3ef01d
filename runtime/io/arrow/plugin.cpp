#include "runtime/io/arrow/plugin.h"

#include "runtime/io/os_error.h"
#include "runtime/io/plugin_library.h"

namespace gasell::arrow {
namespace {

struct Loaded {
  const GasellArrow* table = nullptr;
  std::string problem;
};

const Loaded& loaded() {
  static const Loaded one = [] {
    const PluginLibrary library = open_plugin("gasell_arrow.so", "GASELL_ARROW_PLUGIN", "gasell_arrow", "Apache Arrow C++");
    if (!library.entry) return Loaded{nullptr, library.problem};
    const GasellArrow* table = reinterpret_cast<decltype(&gasell_arrow)>(library.entry)(GASELL_ARROW_ABI);
    return Loaded{table, table ? "" : library.place + " belongs to another version of Gasell"};
  }();
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
