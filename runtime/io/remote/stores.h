// Stores of objects and HDFS, through the plugin of Apache Arrow.
#pragma once

#include "runtime/io/remote/remote.h"

namespace gasell::remote {

std::shared_ptr<const RemoteFile> open_object(const std::string& address, const StorageOptions& options);
/// The files at an address and below it (`deep`: in its folders, too), as addresses of the same scheme.
Listed list_objects(const std::string& address, const StorageOptions& options, bool deep);

}  // namespace gasell::remote
