// Orders of rows.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/frame/keys.h"

namespace gasell::frame {

/// The rows in the order of their keys, which were made with `ranked`; equal ones stay as they stand. One side.
Scratch<uint32_t> order_rows(Engine& engine, const RowKeys& keys);

}  // namespace gasell::frame
