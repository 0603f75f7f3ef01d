#include "runtime/io/remote/http.h"
#include "runtime/io/certificates.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "lang/diagnostic.h"
#include "runtime/device/device.h"
#include "runtime/engine.h"
#include "runtime/io/os_error.h"
#include "runtime/io/remote/curl.h"

namespace gasell::remote {
namespace {

constexpr int kAttempts = 4;  // waits of 0.25, 0.5 and 1 s between them
constexpr long kConnectTimeoutMs = 10000, kStalledSeconds = 30, kMostRedirections = 10;

const Curl& library() {
  std::string problem;
  if (const Curl* found = curl(problem)) return *found;
  throw Error("ImportError", "http:// and https:// are read by libcurl, which cannot be opened: " + problem,
              "sudo apt install curl installs it", Blame::environment);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

/// One answer of a server.
struct Answer {
  int result = kCurlFine;  // CurlResult
  std::string problem;     // libcurl's words where it failed
  long status = 0;
  std::string reason;             // "Not Found"
  std::optional<int64_t> length;  // Content-Length
  std::optional<int64_t> total;   // of the whole, as Content-Range says
  std::string version;            // ETag
};

/// Where a request's bytes go; `most` of them are taken, and a server that sends more is left.
struct Sink {
  char* into = nullptr;  // null: to `grown`
  std::string* grown = nullptr;
  int64_t most = INT64_MAX, count = 0;
  const Answer* answer = nullptr;
  bool only_part = false;  // of an answer of the whole (200), nothing
};

size_t take_bytes(const char* bytes, size_t, size_t count, void* context) {
  Sink& sink = *static_cast<Sink*>(context);
  if (sink.only_part && sink.answer->status != 206) return 0;
  if (static_cast<int64_t>(count) > sink.most - sink.count) return 0;
  if (sink.into)
    std::memcpy(sink.into + sink.count, bytes, count);
  else if (sink.grown)
    sink.grown->append(bytes, count);
  sink.count += static_cast<int64_t>(count);
  return count;
}

std::optional<int64_t> number_of(std::string_view text) {
  int64_t value = 0;
  const auto [stop, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || value < 0) return {};
  return value;
}

size_t take_header(const char* bytes, size_t, size_t count, void* context) {
  Answer& answer = *static_cast<Answer*>(context);
  std::string_view line(bytes, count);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {  // of a redirection, too: what it said does not count
    answer = Answer{};
    const size_t first = line.find(' '), second = first == line.npos ? line.npos : line.find(' ', first + 1);
    if (first != line.npos) answer.status = static_cast<long>(number_of(line.substr(first + 1)).value_or(0));
    if (second != line.npos) answer.reason = line.substr(second + 1);
    return count;
  }
  const size_t colon = line.find(':');
  if (colon == line.npos) return count;
  const std::string name = lower(line.substr(0, colon));
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  if (name == "content-length")
    answer.length = number_of(value);
  else if (name == "content-range" && value.find('/') != value.npos)
    answer.total = number_of(value.substr(value.find('/') + 1));
  else if (name == "etag")
    answer.version = value;
  return count;
}

int look_for_interrupt(void* context, int64_t, int64_t, int64_t, int64_t) { return *static_cast<const std::atomic<bool>*>(context); }

/// Whether another try may succeed.
bool is_passing(const Answer& answer) {
  switch (answer.result) {
    case kCurlFine: return answer.status == 429 || answer.status >= 500;
    case kCurlNoConnection:
    case kCurlPartialFile:
    case kCurlTimeout:
    case kCurlGotNothing:
    case kCurlSendError:
    case kCurlReceiveError: return true;
    default: return false;
  }
}

class WebFile final : public RemoteFile {
 public:
  WebFile(Engine& engine, std::string address, const StorageOptions& headers) : address_(std::move(address)), curl_(library()) {
    for (const auto& [name, value] : headers) {
      if ((name + value).find_first_of("\r\n") != std::string::npos)
        throw Error("ValueError", "storage_options[" + in_quotes(name) + "]: a header of a request is one line");
      lines_.push_back(name + ": " + value);
    }
    // Its first byte says whether the server gives ranges, and how long the file is: some have no HEAD.
    const std::atomic<bool>& interrupt = engine.interrupt_flag();
    Sink first;
    first.only_part = true;
    const Answer answer = request("0-0", first, interrupt);
    if (answer.status == 206 && answer.total) {
      size_ = *answer.total;
      version_ = answer.version;
    } else if (answer.status == 416) {  // it has no first byte
      whole_ = allocate(engine.device().budget(), 0);
    } else {
      check(answer);
      read_whole(engine, answer.length);
    }
  }
  ~WebFile() override {
    for (CURL* handle : idle_) curl_.easy_cleanup(handle);
  }

  int64_t size() const override { return size_; }
  HostStorageRef whole() const override { return whole_; }

  void read(int64_t offset, int64_t bytes, char* into, const std::atomic<bool>& interrupt) const override {
    if (bytes == 0) return;
    if (whole_) {
      std::memcpy(into, static_cast<const char*>(whole_->read()) + offset, static_cast<size_t>(bytes));
      return;
    }
    Sink sink;
    sink.into = into;
    sink.most = bytes;
    sink.only_part = true;
    const Answer answer = request(std::to_string(offset) + "-" + std::to_string(offset + bytes - 1), sink, interrupt);
    if (answer.status != 206) check(answer);
    if (answer.version != version_ || answer.total.value_or(size_) != size_)
      throw Error("OSError", in_quotes(address_) + " was changed while it was read", {}, Blame::environment);
    if (sink.count != bytes) throw shorter(offset + sink.count);
  }

 private:
  /// Without ranges: what comes, into memory of the size that the server says, or into what grows.
  void read_whole(Engine& engine, std::optional<int64_t> length) {
    std::string grown;
    Sink sink;
    sink.grown = &grown;
    if (length) {
      whole_ = allocate(engine.device().budget(), *length);
      sink.into = *length ? static_cast<char*>(whole_->write()) : nullptr;
      sink.most = *length;
    }
    check(request({}, sink, engine.interrupt_flag()));
    size_ = sink.count;
    if (length && sink.count != *length) throw shorter(sink.count);
    if (length) return;
    auto kept = std::make_shared<std::string>(std::move(grown));
    whole_ = external(kept->data(), size_, false, [kept] {});
  }

  Error shorter(int64_t end) const {
    return Error("OSError", in_quotes(address_) + " ends after " + std::to_string(end) + " bytes: it was changed while it was read", {},
                 Blame::environment);
  }

  /// One request, tried again where it failed for the moment.
  Answer request(const std::string& range, Sink& sink, const std::atomic<bool>& interrupt) const {
    auto wait = std::chrono::milliseconds(250);
    for (int attempt = 1;; ++attempt) {
      sink.count = 0;
      if (sink.grown) sink.grown->clear();
      Answer answer = perform(range, sink, interrupt);
      if (interrupt) throw Interrupted();
      // A write that was refused is how an answer is left that is not the one that was asked for; its status says which it is.
      if (answer.result == kCurlWriteError && answer.status != 206) answer.result = kCurlFine;
      if (!is_passing(answer) || attempt == kAttempts) {
        if (answer.result != kCurlFine) throw failure(answer);
        return answer;
      }
      const auto until = std::chrono::steady_clock::now() + wait;
      while (std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (interrupt) throw Interrupted();
      }
      wait *= 2;
    }
  }

  Answer perform(const std::string& range, Sink& sink, const std::atomic<bool>& interrupt) const {
    CURL* const handle = take_handle();
    Answer answer;
    sink.answer = &answer;
    char problem[kCurlErrorSize] = "";
    CurlHeaders* list = nullptr;
    for (const std::string& line : lines_) list = curl_.slist_append(list, line.c_str());
    const auto set = [&](CurlOption option, auto value) { curl_.easy_setopt(handle, option, value); };
    set(kCurlUrl, address_.c_str());
    set(kCurlNoSignal, 1L);
    set(kCurlProtocols, kCurlHttpAndHttps);
    set(kCurlRedirectionProtocols, kCurlHttpAndHttps);
    set(kCurlFollowLocation, 1L);
    set(kCurlMaxRedirections, kMostRedirections);
    set(kCurlConnectTimeoutMs, kConnectTimeoutMs);
    set(kCurlLowSpeedLimit, 1L);
    set(kCurlLowSpeedTime, kStalledSeconds);
    set(kCurlUserAgent, "gasell");
    if (const char* file = trusted_certificates(); file && !std::getenv("SSL_CERT_FILE")) set(kCurlCertificates, file);
    if (list) set(kCurlHttpHeader, list);
    if (!range.empty()) set(kCurlRange, range.c_str());
    set(kCurlErrorBuffer, problem);
    set(kCurlHeaderFunction, take_header);
    set(kCurlHeaderData, static_cast<void*>(&answer));
    set(kCurlWriteFunction, take_bytes);
    set(kCurlWriteData, static_cast<void*>(&sink));
    set(kCurlNoProgress, 0L);
    set(kCurlProgressFunction, look_for_interrupt);
    set(kCurlProgressData, static_cast<const void*>(&interrupt));
    const int result = curl_.easy_perform(handle);
    long status = 0;
    curl_.easy_getinfo(handle, kCurlResponseCode, &status);
    answer.result = result;
    answer.status = status;
    answer.problem = problem[0] ? problem : curl_.easy_strerror(result);
    curl_.slist_free_all(list);
    give_handle(handle);
    return answer;
  }

  void check(const Answer& answer) const {
    if (answer.status >= 200 && answer.status < 300) return;
    const char* const kind = answer.status == 404 || answer.status == 410   ? "FileNotFoundError"
                             : answer.status == 401 || answer.status == 403 ? "PermissionError"
                                                                            : "OSError";
    throw Error(kind, in_quotes(address_) + ": HTTP Error " + std::to_string(answer.status) + ": " + answer.reason, {}, Blame::environment);
  }

  Error failure(const Answer& answer) const {
    const std::string text = in_quotes(address_) + ": " + answer.problem;
    switch (answer.result) {
      case kCurlMalformedUrl:
      case kCurlUnsupportedProtocol: return Error("ValueError", text);
      case kCurlTimeout: return Error("TimeoutError", text, {}, Blame::environment);
      default: return Error("ConnectionError", text, {}, Blame::environment);
    }
  }

  CURL* take_handle() const {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        CURL* const handle = idle_.back();
        idle_.pop_back();
        return handle;
      }
    }
    CURL* const handle = curl_.easy_init();
    if (!handle) throw Error("MemoryError", "no memory for a connection", {}, Blame::environment);
    return handle;
  }
  void give_handle(CURL* handle) const {
    curl_.easy_reset(handle);  // keeps the connection
    const std::lock_guard lock(mutex_);
    idle_.push_back(handle);
  }

  const std::string address_;
  const Curl& curl_;
  std::vector<std::string> lines_;  // of the requests' headers
  int64_t size_ = 0;
  std::string version_;   // of a file of ranges: the ETag
  HostStorageRef whole_;  // of a file without
  mutable std::mutex mutex_;
  mutable std::vector<CURL*> idle_;  // handles with their connections, for the next requests
};

}  // namespace

std::shared_ptr<const RemoteFile> open_web_file(Engine& engine, const std::string& address, const StorageOptions& headers) {
  return std::make_shared<const WebFile>(engine, address, headers);
}

std::string describe_web() {
  std::string problem;
  const Curl* const found = curl(problem);
  if (!found) return "none: " + problem + "; https:// addresses cannot be read (sudo apt install curl)";
  const std::string version = found->version();  // "libcurl/8.5.0 OpenSSL/…"
  std::string name = version.substr(0, version.find(' '));
  std::replace(name.begin(), name.end(), '/', ' ');
  return name;
}

}  // namespace gasell::remote
