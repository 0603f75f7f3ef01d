// Files.
#include <algorithm>
#include <vector>

#include "plugins/hdf5/common.h"

namespace gasell::plugin {

/// The library could do so by itself (H5F_CLOSE_STRONG), but follows no link from another file to
/// one that was opened so.
void close_objects(hid_t file) {
  constexpr unsigned kObjects = H5F_OBJ_DATASET | H5F_OBJ_GROUP | H5F_OBJ_DATATYPE | H5F_OBJ_ATTR | H5F_OBJ_LOCAL;
  const ssize_t count = H5Fget_obj_count(file, kObjects);
  std::vector<hid_t> objects(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  const ssize_t found = objects.empty() ? 0 : H5Fget_obj_ids(file, kObjects, objects.size(), objects.data());
  for (ssize_t k = 0; k < found; ++k)
    while (H5Iis_valid(objects[static_cast<size_t>(k)]) > 0 && H5Idec_ref(objects[static_cast<size_t>(k)]) > 0) continue;
}

int file_open(const char* path, int access, int64_t* file, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    const Handle how(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    checked(H5Pset_fclose_degree(how, H5F_CLOSE_WEAK), kHdf5Runtime, "Unable to set how the file is closed");
    if (access == kHdf5Read || access == kHdf5Change) {
      *file =
          checked(H5Fopen(path, access == kHdf5Read ? H5F_ACC_RDONLY : H5F_ACC_RDWR, how), kHdf5Os, "Unable to synchronously open file");
    } else {
      *file = checked(H5Fcreate(path, access == kHdf5CreateNew ? H5F_ACC_EXCL : H5F_ACC_TRUNC, H5P_DEFAULT, how), kHdf5Os,
                      "Unable to synchronously create file");
    }
  });
}

int file_close(int64_t file, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    close_objects(file);
    checked(H5Fclose(file), kHdf5Os, "Unable to close file");
  });
}

int file_is_writable(int64_t file, int* writable, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    check_open(file, kHdf5Value, "Invalid file identifier (identifier is not of specified type)");
    unsigned intent = 0;
    checked(H5Fget_intent(file, &intent), kHdf5Runtime, "Unable to get the access of file");
    *writable = (intent & H5F_ACC_RDWR) != 0;
  });
}

int file_flush(int64_t file, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    check_open(file, kHdf5Runtime, "Unable to synchronously flush file (not a file or file object)");
    checked(H5Fflush(file, H5F_SCOPE_GLOBAL), kHdf5Runtime, "Unable to synchronously flush file");
  });
}

int is_hdf5(const char* path) {
  const Session session;
  return H5Fis_hdf5(path) > 0;
}

}  // namespace gasell::plugin
