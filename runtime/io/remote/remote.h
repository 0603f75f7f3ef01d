// Files elsewhere: objects of stores (s3://, gs://, abfs://, hdfs://) and what web servers have (https://), read by their ranges.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device/storage.h"

namespace gasell {
class Engine;
}

namespace gasell::remote {

/// pandas' storage_options: names and values as fsspec's file systems take them; those of dictionaries within it as
/// "client_kwargs.region_name". For https:// they are headers of the requests.
using StorageOptions = std::map<std::string, std::string>;

/// Whether a path is an address of another machine's file. file:// is none.
bool is_remote(std::string_view path);
/// "s3": what stands before "://".
std::string scheme_of(std::string_view address);

/// An open file elsewhere.
class RemoteFile {
 public:
  virtual ~RemoteFile() = default;
  virtual int64_t size() const = 0;  // bytes
  /// All bytes [offset, offset + bytes). Threads may read side by side. What fails for the moment is tried again; then ConnectionError,
  /// TimeoutError, PermissionError, FileNotFoundError or OSError. Throws Interrupted where the flag is set.
  virtual void read(int64_t offset, int64_t bytes, char* into, const std::atomic<bool>& interrupt) const = 0;
  /// The contents of a file that was read when it was opened, since its server gives no ranges; else null.
  virtual HostStorageRef whole() const { return nullptr; }
};

/// Throws RemoteFile::read's errors; ValueError for an address that is none, NotImplementedError for a scheme or an option that Gasell has
/// not, ImportError where the library for it is not there.
std::shared_ptr<const RemoteFile> open(Engine& engine, const std::string& address, const StorageOptions& options);

/// The addresses that a pattern with * ? [ names, sorted, or the address itself. FileNotFoundError where there are none;
/// NotImplementedError for patterns of https://, whose servers have no listings.
std::vector<std::string> files_of(const std::string& pattern, const StorageOptions& options);

struct Listed {
  bool is_folder = false;
  std::vector<std::string> files;  // addresses, sorted
};
/// What is below an address: the files of a folder and of its folders, or the file itself.
Listed list(const std::string& address, const StorageOptions& options);

/// The contents of a file, in memory that counts towards the engine's budget (on disk where that is used up): its ranges are fetched side
/// by side.
HostStorageRef fetch(Engine& engine, const std::string& address, const StorageOptions& options);

}  // namespace gasell::remote
