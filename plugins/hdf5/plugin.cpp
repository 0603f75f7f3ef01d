// The plugin's one symbol, and failures.
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "plugins/hdf5/common.h"

namespace gasell::plugin {
namespace {

std::mutex& library_mutex() {
  static std::mutex& mutex = *new std::mutex;  // never destroyed: threads may use it while the process ends
  return mutex;
}

/// What is still open when the process ends is written. The library's own end is not asked for: after a damaged file it complains of what
/// it lost count of.
void close_files() {
  const std::lock_guard lock(library_mutex());
  constexpr auto kFiles = static_cast<unsigned>(H5F_OBJ_FILE);
  const ssize_t count = H5Fget_obj_count(static_cast<hid_t>(H5F_OBJ_ALL), kFiles);
  if (count <= 0) return;
  std::vector<hid_t> files(static_cast<size_t>(count));
  const ssize_t found = H5Fget_obj_ids(static_cast<hid_t>(H5F_OBJ_ALL), kFiles, files.size(), files.data());
  for (ssize_t k = 0; k < found; ++k) {
    close_objects(files[static_cast<size_t>(k)]);
    H5Fclose(files[static_cast<size_t>(k)]);
  }
}

/// Settings of the whole process, before its first file.
bool prepare() {
  H5dont_atexit();
  H5PLset_loading_state(0);  // no file makes the library open others to find a filter that it names
  std::atexit(close_files);
  return true;
}

/// The description of the innermost failure: the walk begins with it.
herr_t keep_first(unsigned number, const H5E_error2_t* error, void* text) {
  if (number == 0 && error->desc) *static_cast<std::string*>(text) = error->desc;
  return 0;
}

}  // namespace

Session::Session() : lock_(library_mutex()) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // a setting of each thread
  H5Eclear2(H5E_DEFAULT);
}

Failure failure(int kind, const std::string& what) {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  if (reason.empty()) return {kind, what};
  Failure result{kind, what + " (" + reason + ")"};
  const size_t number = reason.find("errno = ");
  if (number != reason.npos) {
    result.number = std::atoi(reason.c_str() + number + 8);
    if (result.number > 0) result.kind = kHdf5System;
  }
  // Letters of both cases open the library's descriptions; in parentheses they are small.
  if (reason.size() > 1 && std::isupper(static_cast<unsigned char>(reason[0])) && std::islower(static_cast<unsigned char>(reason[1])))
    result.text[what.size() + 2] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
  return result;
}

void check_open(hid_t object, int kind, const char* text) {
  if (H5Iis_valid(object) <= 0) throw Failure{kind, text};
}

int report(Hdf5Problem* problem, const Failure& failure) {
  problem->number = failure.number;
  std::snprintf(problem->text, sizeof problem->text, "%s", failure.text.c_str());
  return failure.kind;
}

}  // namespace gasell::plugin

extern "C" __attribute__((visibility("default"))) const GasellHdf5* gasell_hdf5(int abi) {
  using namespace gasell::plugin;
  static const bool prepared = prepare();  // before the library's first call, which asks to be ended with the process
  (void)prepared;
  static const std::string version = [] {
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
  }();
  static const GasellHdf5 table = {
      GASELL_HDF5_ABI,
      version.c_str(),
      file_open,
      file_close,
      file_is_writable,
      file_flush,
      is_hdf5,
      close_object,
      is_open,
      open_object,
      contains,
      object_name,
      identity,
      children,
      visit,
      group_create,
      unlink_object,
      link_object,
      soft_link,
      move_object,
      dataset_create,
      dataset_describe,
      dataset_fill,
      dataset_resize,
      dataset_offset,
      chunk_size,
      chunk_read,
      dataset_read,
      dataset_write,
      dataset_read_texts,
      dataset_write_texts,
      attribute_names,
      attribute_exists,
      attribute_remove,
      attribute_describe,
      attribute_read,
      attribute_read_texts,
      attribute_write,
      attribute_write_texts,
  };
  return abi == GASELL_HDF5_ABI ? &table : nullptr;
}
