#include "runtime/device/machine.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace gasell {

int64_t machine_memory() {
  int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    int64_t limit = 0;
    if (file >> limit && limit > 0) bytes = std::min(bytes, limit);  // "max" reads as no number
  }
  return bytes;
}

}  // namespace gasell
