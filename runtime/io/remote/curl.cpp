#include "runtime/io/remote/curl.h"

#include <dlfcn.h>

#include "compiler/codegen/shared_library.h"

namespace gasell::remote {
namespace {

struct Loaded {
  Curl table;
  bool is_there = false;
  std::string problem;
};

Loaded load() {
  constexpr long kAll = 3;  // CURL_GLOBAL_ALL
  Loaded loaded;
  // The same library with any of the libraries for TLS: distributions have one or the other.
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
    void* const library = open_library(name, RTLD_NOW | RTLD_LOCAL, loaded.problem);
    if (!library) continue;
    bool complete = true;
    const auto find = [&]<class F>(F*& function, const char* symbol) {
      function = reinterpret_cast<F*>(dlsym(library, symbol));
      complete = complete && function;
    };
    Curl& c = loaded.table;
    find(c.global_init, "curl_global_init");
    find(c.easy_init, "curl_easy_init");
    find(c.easy_cleanup, "curl_easy_cleanup");
    find(c.easy_reset, "curl_easy_reset");
    find(c.easy_setopt, "curl_easy_setopt");
    find(c.easy_perform, "curl_easy_perform");
    find(c.easy_getinfo, "curl_easy_getinfo");
    find(c.easy_strerror, "curl_easy_strerror");
    find(c.slist_append, "curl_slist_append");
    find(c.slist_free_all, "curl_slist_free_all");
    find(c.version, "curl_version");
    if (complete && c.global_init(kAll) == kCurlFine) {
      loaded.is_there = true;
      return loaded;
    }
    loaded.problem = std::string(name) + " cannot be used";
  }
  return loaded;
}

}  // namespace

const Curl* curl(std::string& problem) {
  static const Loaded loaded = load();  // never closed
  problem = loaded.problem;
  return loaded.is_there ? &loaded.table : nullptr;
}

}  // namespace gasell::remote
