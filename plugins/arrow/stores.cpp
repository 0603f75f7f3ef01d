// Object stores and HDFS, through Arrow's file systems.
#include <arrow/filesystem/filesystem.h>
#include <arrow/io/interfaces.h>
#include <dlfcn.h>
#include <glob.h>

#include <algorithm>
#include <any>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/arrow/common.h"
#include "runtime/io/certificates.h"

namespace gasell::plugin {
namespace {

namespace fs = arrow::fs;

/// S3 is a library of its own where Arrow was built so, and stands beside Arrow's; it tells Arrow of itself when it is loaded.
arrow::Status load_s3() {
  Dl_info arrow{};
  if (!dladdr(reinterpret_cast<const void*>(&arrow::GetBuildInfo), &arrow) || !arrow.dli_fname) return arrow::Status::OK();
  const std::string pattern = std::filesystem::path(arrow.dli_fname).parent_path() / "libarrow_s3.so*";
  glob_t found{};
  arrow::Status status;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) status = fs::LoadFileSystemFactories(found.gl_pathv[0]);
  globfree(&found);
  return status;
}

/// What Arrow needs before its first file system, once.
arrow::Status prepare(std::string_view scheme) {
  static std::mutex mutex;
  static bool is_prepared = false, has_s3 = false;
  const std::lock_guard lock(mutex);
  if (!std::exchange(is_prepared, true)) {
    fs::FileSystemGlobalOptions options;
    // Arrow's own guess is that of the system which it was built on.
    if (const char* file = trusted_certificates()) options.tls_ca_file_path = file;
    ARROW_RETURN_NOT_OK(fs::Initialize(options));
  }
  if (scheme == "s3" && !std::exchange(has_s3, true)) ARROW_RETURN_NOT_OK(load_s3());
  return arrow::Status::OK();
}

struct Place {
  std::shared_ptr<fs::FileSystem> store;
  std::string path;
};

/// The stores that were used, with their connections: one for each "scheme://bucket?options" and its settings.
class Kept {
 public:
  std::shared_ptr<fs::FileSystem> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = stores_.find(key);
    return found == stores_.end() ? nullptr : found->second;
  }
  void add(const std::string& key, std::shared_ptr<fs::FileSystem> store) {
    const std::lock_guard lock(mutex_);
    stores_.emplace(key, std::move(store));
  }
  /// Arrow wants to be told before the process ends. What a store needs to live is made with the first one that is tried of its kind, also
  /// where that fails; so this, which is said after it, happens before it goes.
  void tried(const std::string& scheme) {
    const std::lock_guard lock(mutex_);
    if (schemes_.insert(scheme).second) std::atexit([] { kept().finish(); });
  }
  static Kept& kept() {
    static Kept* const one = new Kept;  // never destroyed: threads may use it while the process ends
    return *one;
  }

 private:
  void finish() {
    const std::lock_guard lock(mutex_);
    stores_.clear();
    fs::EnsureFinalized();
  }
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<fs::FileSystem>> stores_;
  std::set<std::string> schemes_;
};

/// The store of an address and the path in it.
arrow::Result<Place> place_of(const ArrowAddress& address) {
  const std::string uri = address.uri;
  const size_t scheme_end = uri.find("://"), query = uri.find('?');
  if (scheme_end == uri.npos) return arrow::Status::Invalid("an address without a scheme");
  ARROW_RETURN_NOT_OK(prepare(std::string_view(uri).substr(0, scheme_end)));

  const size_t bucket_end = std::min(uri.find('/', scheme_end + 3), query);
  std::string key = uri.substr(0, bucket_end) + (query == uri.npos ? "" : uri.substr(query));
  fs::FileSystemFactoryOptions settings;
  for (int64_t i = 0; i < address.count; ++i) {
    settings.emplace_back(address.settings[i].name, std::string(address.settings[i].value));
    key.append("\n").append(address.settings[i].name).append("=").append(address.settings[i].value);
  }
  Place place{Kept::kept().find(key), {}};
  if (place.store) {
    ARROW_ASSIGN_OR_RAISE(place.path, place.store->PathFromUri(uri));
    return place;
  }
  auto made = settings.empty() ? fs::FileSystemFromUri(uri, &place.path) : fs::FileSystemFromUriAndOptions(uri, settings, &place.path);
  Kept::kept().tried(uri.substr(0, scheme_end));
  ARROW_ASSIGN_OR_RAISE(place.store, std::move(made));
  Kept::kept().add(key, place.store);
  return place;
}

int read_object(void* context, int64_t offset, int64_t count, void* into, ArrowProblem* problem) {
  return guarded(problem, [&]() -> arrow::Status {
    const auto& file = *static_cast<std::shared_ptr<arrow::io::RandomAccessFile>*>(context);
    ARROW_ASSIGN_OR_RAISE(const int64_t read, file->ReadAt(offset, count, into));
    if (read != count) return arrow::Status::IOError("it ends after ", offset + read, " bytes: it was changed while it was read");
    return arrow::Status::OK();
  });
}

void close_object(void* context) { delete static_cast<std::shared_ptr<arrow::io::RandomAccessFile>*>(context); }

}  // namespace

int store_open(const ArrowAddress* address, ArrowSource* source, ArrowProblem* problem) {
  return guarded(problem, [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const Place place, place_of(*address));
    ARROW_ASSIGN_OR_RAISE(auto file, place.store->OpenInputFile(place.path));
    ARROW_ASSIGN_OR_RAISE(const int64_t size, file->GetSize());
    *source = {size, read_object, close_object, new std::shared_ptr<arrow::io::RandomAccessFile>(std::move(file))};
    return arrow::Status::OK();
  });
}

int store_list(const ArrowAddress* address, int deep, int* is_folder, void (*found)(void* context, const char* path), void* context,
               ArrowProblem* problem) {
  return guarded(problem, [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const Place place, place_of(*address));
    ARROW_ASSIGN_OR_RAISE(const fs::FileInfo info, place.store->GetFileInfo(place.path));
    *is_folder = info.type() == fs::FileType::Directory;
    if (info.type() == fs::FileType::File) found(context, info.path().c_str());
    if (!*is_folder) return arrow::Status::OK();
    fs::FileSelector below;
    below.base_dir = place.path;
    below.recursive = deep != 0;
    ARROW_ASSIGN_OR_RAISE(const std::vector<fs::FileInfo> files, place.store->GetFileInfo(below));
    for (const fs::FileInfo& file : files)
      if (file.type() == fs::FileType::File) found(context, file.path().c_str());
    return arrow::Status::OK();
  });
}

}  // namespace gasell::plugin
