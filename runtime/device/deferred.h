// Contents that are computed when somebody first reads them: deferred() and make_ready() of storage.h. Here is what tells who computes with
// memory that there are any.
#pragma once

#include "runtime/device/storage.h"

namespace gasell {

/// Whether some contents wait of which parts can be had (HostStorage::part): false costs nothing to know.
bool any_part_waits();

}  // namespace gasell
