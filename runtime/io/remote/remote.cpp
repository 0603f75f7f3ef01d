#include "runtime/io/remote/remote.h"
#include "runtime/device/sandbox.h"

#include <fnmatch.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "lang/diagnostic.h"
#include "runtime/device/device.h"
#include "runtime/engine.h"
#include "runtime/io/os_error.h"
#include "runtime/io/remote/http.h"
#include "runtime/io/remote/stores.h"

namespace gasell::remote {
namespace {

/// What is asked for at a time, and how many requests run side by side: one connection seldom gives what a network can.
constexpr int64_t kRangeBytes = int64_t{8} << 20;
constexpr int kConnections = 8;

constexpr std::string_view kStores[] = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "hdfs"};
constexpr std::string_view kGlobs = "*?[";

bool is_web(std::string_view scheme) { return scheme == "http" || scheme == "https"; }
bool is_store(std::string_view scheme) { return std::find(std::begin(kStores), std::end(kStores), scheme) != std::end(kStores); }

void require_known(const std::string& address) {
  require_network("files of other machines");
  const std::string scheme = scheme_of(address);
  if (!is_web(scheme) && !is_store(scheme))
    throw Error("NotImplementedError", scheme + ":// addresses are not in Gasell",
                "s3://, gs://, abfs://, hdfs://, http:// and https:// are; or fetch the file first", Blame::limitation);
}

}  // namespace

std::string scheme_of(std::string_view address) {
  const size_t end = address.find("://");
  if (end == address.npos || end < 2) return {};
  for (const char c : address.substr(0, end))
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+')) return {};
  return std::string(address.substr(0, end));
}

bool is_remote(std::string_view path) {
  const std::string scheme = scheme_of(path);
  return !scheme.empty() && scheme != "file" && scheme != "local";
}

std::shared_ptr<const RemoteFile> open(Engine& engine, const std::string& address, const StorageOptions& options) {
  require_known(address);
  if (is_web(scheme_of(address))) return open_web_file(engine, address, options);
  return open_object(address, options);
}

std::vector<std::string> files_of(const std::string& pattern, const StorageOptions& options) {
  require_known(pattern);
  const size_t glob = pattern.find_first_of(kGlobs);
  if (is_web(scheme_of(pattern))) {  // a question mark opens the query
    if (pattern.find('*') == pattern.npos) return {pattern};
    throw Error("NotImplementedError",
                "patterns of " + scheme_of(pattern) + ":// addresses are not in Gasell: a web server has no list of its files",
                "give a list of addresses", Blame::limitation);
  }
  if (glob == pattern.npos) return {pattern};
  const std::string folder = pattern.substr(0, pattern.rfind('/', glob));
  if (folder.ends_with(":/"))
    throw Error("NotImplementedError", "patterns of buckets' names are not in Gasell: " + in_quotes(pattern), {}, Blame::limitation);
  const bool deep = pattern.find('/', glob) != pattern.npos;
  std::vector<std::string> files = list_objects(folder, options, deep).files;
  std::erase_if(files, [&](const std::string& file) { return fnmatch(pattern.c_str(), file.c_str(), FNM_PATHNAME) != 0; });
  if (files.empty()) throw Error("FileNotFoundError", in_quotes(pattern) + " resolved to no files", {}, Blame::environment);
  return files;
}

Listed list(const std::string& address, const StorageOptions& options) {
  require_known(address);
  if (is_web(scheme_of(address))) return {false, {address}};
  return list_objects(address, options, true);
}

HostStorageRef fetch(Engine& engine, const std::string& address, const StorageOptions& options) {
  const std::atomic<bool>& interrupt = engine.interrupt_flag();
  const std::shared_ptr<const RemoteFile> file = open(engine, address, options);
  if (HostStorageRef whole = file->whole()) return whole;
  const int64_t size = file->size();
  HostStorageRef storage = allocate(engine.device().budget(), size);
  char* const into = size ? static_cast<char*>(storage->write()) : nullptr;

  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const int64_t ranges = (size + kRangeBytes - 1) / kRangeBytes;
  const auto work = [&] {
    for (int64_t k = next++; k < ranges; k = next++) {
      try {
        file->read(k * kRangeBytes, std::min(kRangeBytes, size - k * kRangeBytes), into + k * kRangeBytes, interrupt);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = ranges;
      }
    }
  };
  // They wait for the network and compute nothing, so they are threads of their own.
  std::vector<std::jthread> others;
  for (int64_t k = 1; k < std::min<int64_t>(kConnections, ranges); ++k) others.emplace_back(work);
  work();
  others.clear();
  if (failure) std::rethrow_exception(failure);
  return storage;
}

}  // namespace gasell::remote
