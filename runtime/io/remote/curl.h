// libcurl's easy interface (https://curl.se/libcurl/c/), opened at run time; the few of its numbers that we use are declared here, so that
// neither its headers nor the library are needed to build or to start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace gasell::remote {

using CURL = void;
struct CurlHeaders;

/// CURLoption: numbers from 10000 on take a pointer, from 20000 on a function, the others a long.
enum CurlOption : int {
  kCurlRange = 10007,
  kCurlLowSpeedLimit = 19,
  kCurlLowSpeedTime = 20,
  kCurlNoProgress = 43,
  kCurlFollowLocation = 52,
  kCurlMaxRedirections = 68,
  kCurlNoSignal = 99,
  kCurlConnectTimeoutMs = 156,
  kCurlProtocols = 181,
  kCurlRedirectionProtocols = 182,
  kCurlWriteData = 10001,
  kCurlUrl = 10002,
  kCurlErrorBuffer = 10010,
  kCurlUserAgent = 10018,
  kCurlHttpHeader = 10023,
  kCurlHeaderData = 10029,
  kCurlProgressData = 10057,
  kCurlCertificates = 10065,
  kCurlWriteFunction = 20011,
  kCurlHeaderFunction = 20079,
  kCurlProgressFunction = 20219,
};
inline constexpr long kCurlHttpAndHttps = 3;
inline constexpr int kCurlResponseCode = 0x200002;
inline constexpr size_t kCurlErrorSize = 256;

/// CURLcode.
enum CurlResult : int {
  kCurlFine = 0,
  kCurlUnsupportedProtocol = 1,
  kCurlMalformedUrl = 3,
  kCurlNoHost = 6,
  kCurlNoConnection = 7,
  kCurlPartialFile = 18,
  kCurlWriteError = 23,
  kCurlTimeout = 28,
  kCurlAborted = 42,
  kCurlGotNothing = 52,
  kCurlSendError = 55,
  kCurlReceiveError = 56,
  kCurlCertificate = 60,
};

struct Curl {
  int (*global_init)(long flags) = nullptr;
  CURL* (*easy_init)() = nullptr;
  void (*easy_cleanup)(CURL*) = nullptr;
  void (*easy_reset)(CURL*) = nullptr;
  int (*easy_setopt)(CURL*, int option, ...) = nullptr;
  int (*easy_perform)(CURL*) = nullptr;
  int (*easy_getinfo)(CURL*, int info, ...) = nullptr;
  const char* (*easy_strerror)(int) = nullptr;
  CurlHeaders* (*slist_append)(CurlHeaders*, const char*) = nullptr;
  void (*slist_free_all)(CurlHeaders*) = nullptr;
  char* (*version)() = nullptr;
};

/// The library; null where there is none, and why in `problem`.
const Curl* curl(std::string& problem);

}  // namespace gasell::remote
