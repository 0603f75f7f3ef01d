#include "runtime/io/hdf5/plugin.h"

#include <cerrno>

#include "runtime/io/plugin_library.h"

namespace gasell::hdf5 {
namespace {

struct Loaded {
  const GasellHdf5* table = nullptr;
  std::string problem;
};

const Loaded& loaded() {
  static const Loaded one = [] {
    const PluginLibrary library = open_plugin("gasell_hdf5.so", "GASELL_HDF5_PLUGIN", "gasell_hdf5", "libhdf5");
    if (!library.entry) return Loaded{nullptr, library.problem};
    const GasellHdf5* table = reinterpret_cast<decltype(&gasell_hdf5)>(library.entry)(GASELL_HDF5_ABI);
    return Loaded{table, table ? "" : library.place + " belongs to another version of Gasell"};
  }();
  return one;
}

/// Python's subclass of OSError for an errno.
const char* system_error(int number) {
  switch (number) {
    case ENOENT: return "FileNotFoundError";
    case EEXIST: return "FileExistsError";
    case EACCES:
    case EPERM: return "PermissionError";
    case EISDIR: return "IsADirectoryError";
    case ENOTDIR: return "NotADirectoryError";
    case EAGAIN: return "BlockingIOError";
    default: return "OSError";
  }
}

}  // namespace

const GasellHdf5& plugin() {
  if (const GasellHdf5* table = loaded().table) return *table;
  throw Error("ImportError", "HDF5 files are read and written by a plugin that cannot be opened: " + loaded().problem,
              "scripts/setup.sh installs libhdf5; a build after it has the plugin", Blame::environment);
}

std::string describe_plugin() {
  if (const GasellHdf5* table = loaded().table) return std::string("HDF5 ") + table->version;
  return "none: " + loaded().problem + "; h5py and da.to_hdf5 do not work (scripts/setup.sh, then a new build, mends that)";
}

Error failure(int kind, const Hdf5Problem& problem) {
  const std::string text = problem.text;
  switch (kind) {
    case kHdf5System:
      return Error(system_error(problem.number), "[Errno " + std::to_string(problem.number) + "] " + text, {}, Blame::environment);
    case kHdf5Os: return Error("OSError", text, {}, Blame::environment);
    case kHdf5Key: return Error("KeyError", text);
    case kHdf5Type: return Error("TypeError", text);
    case kHdf5Runtime: return Error("RuntimeError", text);
    case kHdf5Unsupported: return Error("NotImplementedError", text);
    case kHdf5Memory: return Error("MemoryError", text, {}, Blame::environment);
    default: return Error("ValueError", text);
  }
}

}  // namespace gasell::hdf5
