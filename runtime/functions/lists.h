// Lists of compiled functions: what stands behind the memory that compiler/functions/lists.cpp works on.
#pragma once

#include <cstdint>

namespace gasell::functions {

/// Where a list's header begins. Items lie in `data`, `slots` 64-bit slots each (compiler/functions/slots.h).
struct ListHeader {
  int64_t length;
  int64_t room;  // items that data has room for
  int64_t* data;
  int64_t slots;
};

}  // namespace gasell::functions
