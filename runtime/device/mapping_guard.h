// Files that become shorter while they are mapped. Reading a page behind the new end raises SIGBUS, which would end the process; a guarded
// mapping gets pages of zeros there instead and is marked lost, and whoever reads it asks lost() when he is done.
#pragma once

#include <cstdint>

namespace gasell {

/// Guards [base, base + bytes) while it lives. The first one installs the process's handler of SIGBUS; faults at other addresses go to the
/// handler that was there before. More than 4096 mappings at a time: the further ones are not guarded.
class MappingGuard {
 public:
  MappingGuard(void* base, int64_t bytes) noexcept;
  ~MappingGuard();
  MappingGuard(const MappingGuard&) = delete;
  MappingGuard& operator=(const MappingGuard&) = delete;

  /// Whether some of it is zeros that were never in the file. Looks at the last page: a truncation shows there.
  bool lost() const noexcept;

 private:
  int slot_;
  const char* last_;
};

}  // namespace gasell
