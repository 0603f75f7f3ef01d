#include "runtime/pictures/plugin.h"

#include "lang/diagnostic.h"
#include "runtime/io/plugin_library.h"

namespace gasell::pictures {
namespace {

struct Loaded {
  const GasellPictures* table = nullptr;
  std::string problem;
};

const Loaded& loaded() {
  static const Loaded one = [] {
    const PluginLibrary library = open_plugin("gasell_pictures.so", "GASELL_PICTURES_PLUGIN", "gasell_pictures", "cairo and pango");
    if (!library.entry) return Loaded{nullptr, library.problem};
    const GasellPictures* table = reinterpret_cast<decltype(&gasell_pictures)>(library.entry)(GASELL_PICTURES_ABI);
    return Loaded{table, table ? "" : library.place + " belongs to another version of Gasell"};
  }();
  return one;
}

}  // namespace

const GasellPictures& plugin() {
  if (const GasellPictures* table = loaded().table) return *table;
  throw Error("ImportError", "pictures are drawn by a plugin that cannot be opened: " + loaded().problem,
              "scripts/setup.sh installs cairo and pango; a build after it has the plugin", Blame::environment);
}

std::string describe_plugin() {
  if (const GasellPictures* table = loaded().table) return std::string("cairo ") + table->version;
  return "none: " + loaded().problem + "; matplotlib's savefig and show do not work (scripts/setup.sh, then a new build, mends that)";
}

}  // namespace gasell::pictures
