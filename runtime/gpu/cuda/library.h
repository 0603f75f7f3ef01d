// NVIDIA's libraries of mathematics, opened where one shall run on a GPU: cuBLAS, cuFFT, cuSOLVER. None of them is needed.
//
// The declarations of their entries are our own, of those we use; all versions from CUDA 12 on have them.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace gasell::cuda {

/// What a library is called, and where it may come from.
struct LibraryKind {
  const char* name;                  // "cuBLAS"
  const char* purpose;               // "multiplies matrices on NVIDIA GPUs"
  const char* variable;              // of the environment: its file, or 0
  const char* wheel;                 // "nvidia-cublas-cu12"
  const char* plain_file;            // "libcublas.so"
  std::array<const char*, 2> files;  // "libcublas.so.13", "libcublas.so.12": the best first
};

struct LibraryStatus {
  std::string library;          // the name it was opened by, or would be
  std::string problem, remedy;  // both empty when it is ready
  bool opened = false;          // though it may lack entries
  bool ready() const { return problem.empty(); }
};

/// Finds a library's entries by name. The first that is missing becomes the status's problem.
class EntryFinder {
 public:
  /// Opens `file`, which stays open; what fails is noted in `status`.
  EntryFinder(const LibraryKind& kind, const std::string& file, LibraryStatus& status);
  template <class F>
  void operator()(F*& entry, const char* symbol) const {
    entry = reinterpret_cast<F*>(find(symbol));
  }

 private:
  void* find(const char* symbol) const;
  const LibraryKind& kind_;
  LibraryStatus& status_;
  void* handle_;
};

/// `Entries` has a function find(const EntryFinder&).
template <class Entries>
struct LoadedLibrary : LibraryStatus {
  Entries entries{};
};

template <class Entries>
LoadedLibrary<Entries> load_library(const LibraryKind& kind, const std::string& file) {
  LoadedLibrary<Entries> loaded;
  loaded.entries.find(EntryFinder(kind, file, loaded));
  return loaded;
}

/// The files to try, in this order: the one that the variable names, or those that toolkit.h finds. None where the variable says 0.
std::vector<std::string> library_files(const LibraryKind& kind);
/// What is said of a library none of whose `files` is ready; `best`: the first that opened at least, or the last.
LibraryStatus explained(const LibraryKind& kind, const std::vector<std::string>& files, LibraryStatus best);

/// The first of library_files() that is ready.
template <class Entries>
LoadedLibrary<Entries> find_library(const LibraryKind& kind) {
  const std::vector<std::string> files = library_files(kind);
  LibraryStatus best;
  for (const std::string& file : files) {
    LoadedLibrary<Entries> loaded = load_library<Entries>(kind, file);
    if (loaded.ready()) return loaded;
    if (!best.opened) best = loaded;
  }
  LoadedLibrary<Entries> none;
  static_cast<LibraryStatus&>(none) = explained(kind, files, std::move(best));
  return none;
}

}  // namespace gasell::cuda
