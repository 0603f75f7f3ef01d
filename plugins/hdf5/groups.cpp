// Objects in files, the groups that hold them, and the links by which they are found.
#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "plugins/hdf5/common.h"

namespace gasell::plugin {
namespace {

struct Link {
  std::string name;
  H5L_type_t type;
  int64_t order;  // of creation, where the group keeps it
};

herr_t keep_link(hid_t /*group*/, const char* name, const H5L_info_t* info, void* links) {
  static_cast<std::vector<Link>*>(links)->push_back({name, info->type, info->corder_valid ? info->corder : 0});
  return 0;
}

/// The links of a group by their names. Where the library fails half-way in a list of links, it frees what it never filled: so it does not
/// sort them, and a search that ends in vain, which decodes all links of a small group, comes first.
std::vector<Link> links_of(hid_t group, const char* what) {
  std::vector<Link> links;
  checked(H5Lexists(group, "\x01", H5P_DEFAULT), kHdf5Runtime, what);
  checked(H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, keep_link, &links), kHdf5Runtime, what);
  std::ranges::sort(links, {}, &Link::name);
  return links;
}

/// Paths of what lies below a group. Soft links and links to other files are no way to it.
class Walk {
 public:
  explicit Walk(hid_t group) {
    H5O_info_t info{};
    checked(H5Oget_info2(group, &info, H5O_INFO_BASIC), kHdf5Runtime, kWhat);
    known_.insert(info.addr);
    below(group, "", 0);
  }
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  static constexpr const char* kWhat = "Object visitation failed";
  static constexpr int kMostDepth = 4000;

  void below(hid_t group, const std::string& prefix, int depth) {
    if (depth > kMostDepth) throw Failure{kHdf5Runtime, "Object visitation failed (groups lie too deep in each other)"};
    for (const Link& link : links_of(group, kWhat)) {
      if (link.type != H5L_TYPE_HARD) continue;
      H5O_info_t info{};
      checked(H5Oget_info_by_name2(group, link.name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT), kHdf5Runtime, kWhat);
      if (!known_.insert(info.addr).second) continue;
      paths_.push_back(prefix + link.name);
      if (info.type != H5O_TYPE_GROUP) continue;
      const Handle inner(H5Gopen2(group, link.name.c_str(), H5P_DEFAULT), H5Gclose);
      below(checked<hid_t>(inner, kHdf5Runtime, kWhat), paths_.back() + "/", depth + 1);
    }
  }

  std::set<haddr_t> known_;
  std::vector<std::string> paths_;
};

/// Whether a group keeps the order in which its links were made. The root of a file says so as any other group does.
bool keeps_order(hid_t group) {
  const H5I_type_t type = H5Iget_type(group);
  if (type != H5I_GROUP && type != H5I_FILE) throw Failure{kHdf5Value, "Invalid group (or file) id (invalid group (or file) ID)"};
  const Handle opened(type == H5I_FILE ? H5Gopen2(group, "/", H5P_DEFAULT) : H5Gopen2(group, ".", H5P_DEFAULT), H5Gclose);
  checked<hid_t>(opened, kHdf5Value, "Invalid group (or file) id");
  const Handle made(H5Gget_create_plist(opened), H5Pclose);
  unsigned flags = 0;
  return made >= 0 && H5Pget_link_creation_order(made, &flags) >= 0 && (flags & H5P_CRT_ORDER_INDEXED) != 0;
}

}  // namespace

Handle link_creation() {
  Handle how(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  checked(H5Pset_create_intermediate_group(how, 1), kHdf5Runtime, "Unable to set how links are made");
  checked(H5Pset_char_encoding(how, H5T_CSET_UTF8), kHdf5Runtime, "Unable to set how links are made");
  return how;
}

void close_object(int64_t object) {
  const Session session;
  if (H5Iis_valid(object) > 0) H5Idec_ref(object);
}

int is_open(int64_t object) {
  const Session session;
  return H5Iis_valid(object) > 0;
}

int open_object(int64_t parent, const char* path, int64_t* object, int* kind, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    check_open(parent, kHdf5Key, "Unable to synchronously open object (invalid identifier type to function)");
    Handle opened(H5Oopen(parent, path, H5P_DEFAULT), H5Oclose);
    checked<hid_t>(opened, kHdf5Key, "Unable to synchronously open object");
    switch (H5Iget_type(opened)) {
      case H5I_GROUP: *kind = kHdf5Group; break;
      case H5I_DATASET: *kind = kHdf5Dataset; break;
      default: *kind = kHdf5NamedType; break;
    }
    *object = opened.release();
  });
}

int contains(int64_t parent, const char* path, int* found, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    *found = 0;
    if (H5Iis_valid(parent) <= 0) return;
    // The library answers for the last part of a path alone, and only where the parts before it are there. A name whose path leads nowhere
    // is a name.
    const std::string_view whole = path;
    std::string part = whole.starts_with('/') ? "/" : "";
    bool is_there = !part.empty() && whole.find_first_not_of('/') == whole.npos;
    for (size_t begin = 0, end; (begin = whole.find_first_not_of('/', begin)) != whole.npos; begin = end) {
      end = std::min(whole.find('/', begin), whole.size());
      if (is_there && H5Oexists_by_name(parent, part.c_str(), H5P_DEFAULT) <= 0) return;
      part += part.empty() || part == "/" ? "" : "/";
      part += whole.substr(begin, end - begin);
      is_there = H5Lexists(parent, part.c_str(), H5P_DEFAULT) > 0;
      if (!is_there) return;
    }
    *found = is_there;
  });
}

int object_name(int64_t object, Hdf5Found found, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    const ssize_t size = H5Iget_name(object, nullptr, 0);
    if (size <= 0) return;
    std::string name(static_cast<size_t>(size) + 1, '\0');
    H5Iget_name(object, name.data(), name.size());
    found.text(found.context, name.data(), size);
  });
}

int identity(int64_t object, int64_t* file, int64_t* place, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    H5O_info_t info{};
    checked(H5Oget_info2(object, &info, H5O_INFO_BASIC), kHdf5Runtime, "Unable to get object info");
    *file = static_cast<int64_t>(info.fileno);
    *place = static_cast<int64_t>(info.addr);
  });
}

int children(int64_t group, Hdf5Found found, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    const bool by_order = keeps_order(group);
    std::vector<Link> links = links_of(group, "Link iteration failed");
    if (by_order) std::ranges::sort(links, {}, &Link::order);
    for (const Link& link : links) found.text(found.context, link.name.data(), static_cast<int64_t>(link.name.size()));
  });
}

int visit(int64_t group, Hdf5Found found, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    check_open(group, kHdf5Value, "Invalid location identifier (invalid identifier type to function)");
    const Walk walk(group);
    for (const std::string& path : walk.paths()) found.text(found.context, path.data(), static_cast<int64_t>(path.size()));
  });
}

int group_create(int64_t parent, const char* path, int64_t* group, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    check_open(parent, kHdf5Value, "Unable to synchronously create group (invalid identifier type to function)");
    *group = checked(
        path ? H5Gcreate2(parent, path, link_creation(), H5P_DEFAULT, H5P_DEFAULT) : H5Gcreate_anon(parent, H5P_DEFAULT, H5P_DEFAULT),
        kHdf5Value, "Unable to synchronously create group");
  });
}

int unlink_object(int64_t parent, const char* path, Hdf5Problem* problem) {
  return guarded(problem, [&] { checked(H5Ldelete(parent, path, H5P_DEFAULT), kHdf5Key, "Couldn't delete link"); });
}

int link_object(int64_t parent, const char* path, int64_t object, Hdf5Problem* problem) {
  return guarded(problem, [&] { checked(H5Olink(object, parent, path, link_creation(), H5P_DEFAULT), kHdf5Os, "Unable to create link"); });
}

int soft_link(int64_t parent, const char* path, const char* target, Hdf5Problem* problem) {
  return guarded(problem, [&] {
    checked(H5Lcreate_soft(target, parent, path, link_creation(), H5P_DEFAULT), kHdf5Value, "Unable to synchronously create soft link");
  });
}

int move_object(int64_t parent, const char* from, const char* to, Hdf5Problem* problem) {
  return guarded(
      problem, [&] { checked(H5Lmove(parent, from, H5L_SAME_LOC, to, link_creation(), H5P_DEFAULT), kHdf5Value, "Unable to move link"); });
}

}  // namespace gasell::plugin
