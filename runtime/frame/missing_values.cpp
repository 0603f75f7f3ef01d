#include "runtime/frame/missing_values.h"

#include <cstring>
#include <limits>

namespace gasell::frame {

void put_missing(const ColumnType& type, void* values, int64_t row) {
  switch (type.logical) {
    case Logical::text:
    case Logical::category: static_cast<int32_t*>(values)[row] = -1; return;
    case Logical::datetime:
    case Logical::timedelta:
    case Logical::period: static_cast<int64_t*>(values)[row] = kNotATime; return;
    case Logical::number:
      if (is_float(type.dtype) || is_complex(type.dtype))
        Scalar::of_float(std::numeric_limits<double>::quiet_NaN())
            .cast(type.dtype)
            .store(static_cast<char*>(values) + row * size_of(type.dtype));
      else
        std::memset(static_cast<char*>(values) + row * size_of(type.dtype), 0, static_cast<size_t>(size_of(type.dtype)));
  }
}

bool has_own_missing(const ColumnType& type) {
  return !type.is_number() || (!type.nullable && (is_float(type.dtype) || is_complex(type.dtype)));
}

}  // namespace gasell::frame
