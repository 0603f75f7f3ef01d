// Texts read: of fixed lengths and of any.
#include <memory>
#include <vector>

#include "plugins/hdf5/common.h"

namespace gasell::plugin {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 32;  // of texts read at once

void read_fixed(hid_t file_type, int64_t count, const Hdf5Found& found, const std::function<void(hid_t, void*)>& read) {
  const size_t width = H5Tget_size(file_type);
  const auto padding = H5Tget_strpad(file_type);
  const std::unique_ptr<char[]> texts(new char[width * static_cast<size_t>(count)]);
  read(file_type, texts.get());
  for (int64_t k = 0; k < count; ++k) {
    const char* const text = texts.get() + static_cast<size_t>(k) * width;
    size_t size = width;
    while (size > 0 && (text[size - 1] == '\0' || (padding == H5T_STR_SPACEPAD && text[size - 1] == ' '))) --size;
    found.text(found.context, text, static_cast<int64_t>(size));
  }
}

void read_varying(hid_t file_type, int64_t count, const Hdf5Found& found, const std::function<void(hid_t, void*)>& read) {
  std::vector<char*> texts(static_cast<size_t>(count), nullptr);
  const Handle space = flat_space(count);
  // What a read that fails leaves are no pointers: it is not freed.
  read(file_type, texts.data());
  struct Reclaim {
    hid_t type, space;
    void* texts;
    ~Reclaim() { H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts); }
  } const reclaim{file_type, space, texts.data()};
  for (const char* const text : texts)
    found.text(found.context, text ? text : "", text ? static_cast<int64_t>(std::char_traits<char>::length(text)) : 0);
}

}  // namespace

void read_texts(hid_t file_type, int64_t count, const Hdf5Found& found, const std::function<void(hid_t, void*)>& read) {
  if (H5Tget_class(file_type) != H5T_STRING) throw Failure{kHdf5Type, "Can only be read as texts where they are"};
  if (count == 0) return;
  const bool varying = H5Tis_variable_str(file_type) > 0;
  const auto width = static_cast<int64_t>(varying ? sizeof(char*) : H5Tget_size(file_type));
  if (width <= 0 || count > kMostBytes / width) throw Failure{kHdf5Memory, "Unable to allocate texts of more than 4 GiB"};
  (varying ? read_varying : read_fixed)(file_type, count, found, read);
}

}  // namespace gasell::plugin
