#include "runtime/io/remote/stores.h"

#include <algorithm>
#include <cerrno>

#include "lang/diagnostic.h"
#include "runtime/io/arrow/plugin.h"
#include "runtime/io/os_error.h"
#include "runtime/io/remote/store_address.h"

namespace gasell::remote {
namespace {

/// The address as the plugin takes it; it lives as long as this does.
class Given {
 public:
  Given(const std::string& address, const StorageOptions& options) : address_(store_address(address, options)) {
    for (const auto& [name, value] : address_.settings) settings_.push_back({name.c_str(), value.c_str()});
  }
  ArrowAddress arrow() const { return {address_.uri.c_str(), settings_.data(), static_cast<int64_t>(settings_.size())}; }

 private:
  StoreAddress address_;
  std::vector<ArrowSetting> settings_;
};

/// Words of the stores' own failures, as far as they reach us: the kind of error they stand for.
struct Words {
  const char* text;
  const char* kind;
};
constexpr Words kWords[] = {
    {"ACCESS_DENIED", "PermissionError"},
    {"INVALID_ACCESS_KEY_ID", "PermissionError"},
    {"SIGNATURE_DOES_NOT_MATCH", "PermissionError"},
    {"INVALID_SIGNATURE", "PermissionError"},
    {"EXPIRED_TOKEN", "PermissionError"},
    {"PERMISSION_DENIED", "PermissionError"},
    {"PermissionDenied", "PermissionError"},
    {"Unauthenticated", "PermissionError"},
    {"UNAUTHENTICATED", "PermissionError"},
    {"Permission denied", "PermissionError"},
    {"credentials", "PermissionError"},
    {"HTTP status code 403", "PermissionError"},
    {"Could not resolve host", "ConnectionError"},
    {"NETWORK_CONNECTION", "ConnectionError"},
    {"Couldn't connect", "ConnectionError"},
    {"Could not connect", "ConnectionError"},
    {"Failed to connect", "ConnectionError"},
    {"curlCode", "ConnectionError"},
    {"NO_SUCH_BUCKET", "FileNotFoundError"},
    {"NO_SUCH_KEY", "FileNotFoundError"},
    {"RESOURCE_NOT_FOUND", "FileNotFoundError"},
};

const char* credentials_hint(const std::string& scheme) {
  if (scheme == "s3" || scheme == "s3a")
    return "keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, ~/.aws or storage_options={'key': …, 'secret': …}; public buckets "
           "want {'anon': True}";
  if (scheme == "gs" || scheme == "gcs")
    return "credentials come from GOOGLE_APPLICATION_CREDENTIALS or gcloud's login; public buckets want storage_options={'token': 'anon'}";
  return "";
}

Error failure(int kind, const ArrowProblem& problem, const std::string& address) {
  if (kind == kArrowSystem) return os_error(problem.number, address);
  if (kind == kArrowMemory) return Error("MemoryError", in_quotes(address) + ": " + problem.text, {}, Blame::environment);
  if (kind == kArrowUnsupported) return Error("NotImplementedError", in_quotes(address) + ": " + problem.text, {}, Blame::limitation);
  const std::string text = problem.text;
  const Words* const found =
      std::find_if(std::begin(kWords), std::end(kWords), [&](const Words& w) { return text.find(w.text) != text.npos; });
  const std::string name = found == std::end(kWords) ? "OSError" : found->kind;
  return Error(name, in_quotes(address) + ": " + text, name == "PermissionError" ? credentials_hint(scheme_of(address)) : "",
               Blame::environment);
}

class Object final : public RemoteFile {
 public:
  Object(std::string address, const StorageOptions& options) : address_(std::move(address)) {
    const Given given(address_, options);
    const ArrowAddress arrow = given.arrow();
    ArrowProblem problem{};
    if (const int kind = arrow::plugin().store_open(&arrow, &source_, &problem); kind != kArrowFine) throw failure(kind, problem, address_);
  }
  ~Object() override { source_.free(source_.context); }
  int64_t size() const override { return source_.size; }
  void read(int64_t offset, int64_t bytes, char* into, const std::atomic<bool>& interrupt) const override {
    if (interrupt) throw Interrupted();
    ArrowProblem problem{};
    if (const int kind = source_.read(source_.context, offset, bytes, into, &problem); kind != kArrowFine)
      throw failure(kind, problem, address_);
  }

 private:
  std::string address_;
  ArrowSource source_{0, nullptr, [](void*) {}, nullptr};
};

}  // namespace

std::shared_ptr<const RemoteFile> open_object(const std::string& address, const StorageOptions& options) {
  return std::make_shared<const Object>(address, options);
}

Listed list_objects(const std::string& address, const StorageOptions& options, bool deep) {
  const Given given(address, options);
  const ArrowAddress arrow = given.arrow();
  ArrowProblem problem{};
  std::vector<std::string> paths;
  int is_folder = 0;
  const auto found = [](void* context, const char* path) { static_cast<std::vector<std::string>*>(context)->emplace_back(path); };
  if (const int kind = arrow::plugin().store_list(&arrow, deep, &is_folder, found, &paths, &problem); kind != kArrowFine)
    throw failure(kind, problem, address);
  // Arrow's paths are "bucket/key", and only "/key" where the host stands in the address.
  const std::string scheme = scheme_of(address);
  const std::string host = address.substr(0, std::min(address.find('/', scheme.size() + 3), address.size()));
  const bool has_host = scheme == "hdfs" || (scheme != "s3" && host.find('@') != host.npos);
  Listed result;
  result.is_folder = is_folder != 0;
  for (std::string& path : paths) {
    if (scheme == "hdfs")
      result.files.push_back(path.find("://") == path.npos ? host + path : std::move(path));
    else if (has_host)
      result.files.push_back(host + path.substr(std::min(path.find('/'), path.size())));
    else
      result.files.push_back(scheme + "://" + path);
  }
  std::sort(result.files.begin(), result.files.end());
  return result;
}

}  // namespace gasell::remote
