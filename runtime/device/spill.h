// Memory on disk: where arrays go that exceed the memory budget.
//
// Such memory is a file without a name, mapped shared: the system writes it out as it needs memory, and it is gone with the process however
// that ends. Its space is reserved when it is made, so that a full disk is found then and not when a page is written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

namespace gasell {

struct SpillPlace {
  std::filesystem::path directory;                     // empty: nowhere
  int64_t most = std::numeric_limits<int64_t>::max();  // bytes at a time
};

/// GASELL_TMPDIR, or else the first of TMPDIR, /var/tmp and /tmp that is a directory not in memory; at most GASELL_SPILL bytes (a size; 0:
/// never). Throws Error: ValueError for a GASELL_SPILL that is no size.
SpillPlace spill_place_from_environment();

/// Zeros, from a page's border on, in a new file in `directory`; munmap() gives them back. A tenth of what the disk has free is left to
/// others. Null where that is not to be had; `why` is the reason then: "the disk has no room for it".
void* map_temporary_file(const std::filesystem::path& directory, int64_t bytes, std::string& why) noexcept;

}  // namespace gasell
