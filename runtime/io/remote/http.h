// Files of web servers, by libcurl, which is opened when an address first needs it.
#pragma once

#include "runtime/io/remote/remote.h"

namespace gasell::remote {

/// `headers`: of all requests. Redirections are followed, proxies and certificates are those of the system (https_proxy, SSL_CERT_FILE).
/// A file of a server that gives no ranges is read at once.
std::shared_ptr<const RemoteFile> open_web_file(Engine& engine, const std::string& address, const StorageOptions& headers);
/// "libcurl 8.5.0", or why there is none.
std::string describe_web();

}  // namespace gasell::remote
