#include "runtime/gpu/cuda/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "compiler/codegen/shared_library.h"
#include "runtime/gpu/cuda/toolkit.h"

namespace gasell::cuda {

EntryFinder::EntryFinder(const LibraryKind& kind, const std::string& file, LibraryStatus& status) : kind_(kind), status_(status) {
  std::string ignored;
  handle_ = open_library(file, RTLD_NOW | RTLD_LOCAL, ignored);
  status_.library = file;
  status_.opened = handle_ != nullptr;
  if (handle_) return;
  status_.problem = fmt::format("{}, which {}, is not there ({})", kind_.name, kind_.purpose, file);
  status_.remedy =
      fmt::format("pip install {} (or a CUDA toolkit), and name the library in {} where it is not found", kind_.wheel, kind_.variable);
}

void* EntryFinder::find(const char* symbol) const {
  void* const entry = handle_ ? dlsym(handle_, symbol) : nullptr;
  if (!entry && status_.problem.empty()) {
    status_.problem = fmt::format("{} is no {} that can be used: it has no {}", status_.library, kind_.name, symbol);
    status_.remedy = "one of CUDA 12 or newer is needed";
  }
  return entry;
}

std::vector<std::string> library_files(const LibraryKind& kind) {
  if (const char* name = std::getenv(kind.variable); name && *name) {
    if (std::string_view(name) == "0") return {};
    return {name};
  }
  std::vector<std::string> files = library_candidates(kind.files);
  files.emplace_back(kind.plain_file);
  return files;
}

LibraryStatus explained(const LibraryKind& kind, const std::vector<std::string>& files, LibraryStatus best) {
  if (files.empty())
    best.problem = fmt::format("{}=0: {} is not used", kind.variable, kind.name);
  else if (files.size() > 1 && !best.opened)
    best.problem = fmt::format("{}, which {}, is not there ({} or {})", kind.name, kind.purpose, kind.files[0], kind.files[1]);
  return best;
}

}  // namespace gasell::cuda
