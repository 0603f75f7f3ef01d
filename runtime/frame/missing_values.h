// Values that stand for what is missing.
#pragma once

#include "runtime/frame/column.h"

namespace gasell::frame {

/// Writes values[row]: what stands in a column of this type where nothing is.
void put_missing(const ColumnType& type, void* values, int64_t row);
/// Whether a value of the type says that it is missing, so that no validity is needed.
bool has_own_missing(const ColumnType& type);

}  // namespace gasell::frame
