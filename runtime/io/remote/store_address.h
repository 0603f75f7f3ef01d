// The addresses and storage_options of stores in the form in which Apache Arrow takes them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/io/remote/remote.h"

namespace gasell::remote {

struct StoreAddress {
  std::string uri;                                            // "s3://bucket/key?region=eu-west-1"
  std::vector<std::pair<std::string, std::string>> settings;  // what must not stand in it: keys
};

/// Of an address of pandas' and fsspec's form: "s3://bucket/key", "gcs://", "gs://", "abfs://container/path", "az://", "hdfs://host/path".
/// Endpoints of emulators come from the environment as the stores' own tools take them (AWS_ENDPOINT_URL, STORAGE_EMULATOR_HOST).
/// Throws ValueError for an address without a bucket, NotImplementedError for options that are not known.
StoreAddress store_address(const std::string& address, const StorageOptions& options);

/// "%2F": a text as a part of a URI.
std::string percent_encoded(const std::string& text, bool keep_slashes);

}  // namespace gasell::remote
