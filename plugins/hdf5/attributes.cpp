// Attributes of files, groups and datasets.
#include <algorithm>
#include <vector>

#include "plugins/hdf5/common.h"

namespace gasell::plugin {
namespace {

herr_t keep_name(hid_t /*object*/, const char* name, const H5A_info_t* /*info*/, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

Handle open_attribute(hid_t object, const char* name) {
  Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  checked<hid_t>(attribute, kHdf5Key, "Unable to synchronously open attribute");
  return attribute;
}

int64_t size_of(hid_t attribute) {
  const Handle space(H5Aget_space(attribute), H5Sclose);
  return checked(H5Sget_simple_extent_npoints(space), kHdf5Runtime, "Unable to get a shape");
}

/// Makes an attribute of these elements. One that is there is replaced when the new one is whole, for the library may refuse it.
void write_attribute(hid_t object, const char* name, hid_t type, const Hdf5Shape& shape, const void* from) {
  constexpr const char* kWhat = "Unable to synchronously create attribute";
  const bool replaces = H5Aexists(object, name) > 0;
  std::string first = name;
  while (replaces && H5Aexists(object, first.c_str()) > 0) first += '~';
  {
    const Handle space = space_of(shape);
    const Handle made(H5Acreate2(object, first.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    checked<hid_t>(made, kHdf5Os, kWhat);
    if (shape.rank >= 0 && H5Sget_simple_extent_npoints(space) > 0 && H5Awrite(made, type, from) < 0) {
      const Failure reason = failure(kHdf5Os, "Can't synchronously write attribute");
      H5Adelete(object, first.c_str());
      throw reason;
    }
  }
  if (!replaces) return;
  checked(H5Adelete(object, name), kHdf5Key, "Unable to delete attribute");
  checked(H5Arename(object, first.c_str(), name), kHdf5Os, "Unable to rename attribute");
}

}  // namespace

int attribute_names(int64_t object, Hdf5Found found, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    // A search that ends in vain decodes all attributes. Where one is damaged it fails as the iteration would, which then frees what it
    // never filled.
    checked(H5Aexists(object, "\x01"), kHdf5Runtime, "Attribute iteration failed");
    std::vector<std::string> names;
    checked(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, keep_name, &names), kHdf5Runtime, "Attribute iteration failed");
    std::ranges::sort(names);
    for (const std::string& name : names) found.text(found.context, name.data(), static_cast<int64_t>(name.size()));
  });
}

int attribute_exists(int64_t object, const char* name, int* found, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    *found = checked(H5Aexists(object, name), kHdf5Runtime, "Unable to synchronously determine if attribute exists by name") > 0;
  });
}

int attribute_remove(int64_t object, const char* name, Hdf5Problem* problem) {
  return guarded(problem, [&] { checked(H5Adelete(object, name), kHdf5Key, "Unable to delete attribute"); });
}

int attribute_describe(int64_t object, const char* name, Hdf5Type* type, Hdf5Shape* shape, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    const Handle attribute = open_attribute(object, name);
    const Handle kept(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
    *type = describe(kept);
    *shape = shape_of(space);
  });
}

int attribute_read(int64_t object, const char* name, const Hdf5Type* type, void* into, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    const Handle attribute = open_attribute(object, name);
    checked(H5Aread(attribute, memory_type(*type), into), kHdf5Os, "Can't synchronously read attribute");
  });
}

int attribute_read_texts(int64_t object, const char* name, Hdf5Found found, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    const Handle attribute = open_attribute(object, name);
    const Handle kept(H5Aget_type(attribute), H5Tclose);
    read_texts(kept, size_of(attribute), found,
               [&](hid_t type, void* into) { checked(H5Aread(attribute, type, into), kHdf5Os, "Can't synchronously read attribute"); });
  });
}

int attribute_write(int64_t object, const char* name, const Hdf5Type* type, const Hdf5Shape* shape, const void* from,
                    Hdf5Problem* problem) {
  return guarded(problem, [&] { write_attribute(object, name, file_type(*type), *shape, from); });
}

int attribute_write_texts(int64_t object, const char* name, const Hdf5Shape* shape, const char* const* texts, Hdf5Problem* problem) {
  return guarded(problem, [&] { write_attribute(object, name, text_type(), *shape, texts); });
}

}  // namespace gasell::plugin
