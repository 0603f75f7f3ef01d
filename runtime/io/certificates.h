// Where the system keeps the certificates that it trusts: for the core, and for plugins.
#pragma once

#include <filesystem>

namespace gasell {

/// Null where there is none.
inline const char* trusted_certificates() {
  for (const char* file : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem"})
    if (std::filesystem::exists(file)) return file;
  return nullptr;
}

}  // namespace gasell
