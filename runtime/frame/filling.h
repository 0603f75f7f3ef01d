// Columns computed row by row.
#pragma once

#include <atomic>
#include <limits>
#include <optional>

#include "runtime/frame/values.h"
#include "runtime/primitives/scratch.h"

namespace gasell::frame {

/// A column of `type` whose row i is what value(i, result) puts in `result`; missing where it returns false. On all cores.
template <class T, class F>
Column filled(Engine& engine, const ColumnType& type, int64_t count, const F& value, int64_t rows_a_task = kRowsATask) {
  const DType dtype = type.dtype;
  NewValues values(engine, dtype, count);
  const bool own = !type.nullable && (type.is_time() || is_float(dtype));  // a value stands for what is missing
  std::optional<NewValues> valid;
  if (!own) valid.emplace(engine, DType::boolean, count);
  T* const to = values.as<T>();
  bool* const flags = valid ? valid->as<bool>() : nullptr;
  std::atomic<bool> any_missing = false;
  over_rows(
      engine, count,
      [&](int64_t begin, int64_t end) {
        bool missing = false;
        for (int64_t i = begin; i < end; ++i) {
          T v{};
          const bool present = value(i, v);
          if (!present) {
            missing = true;
            v = T{};
            if constexpr (std::is_floating_point_v<T>)
              v = std::numeric_limits<T>::quiet_NaN();
            else if constexpr (std::is_same_v<T, int64_t>)
              if (type.is_time()) v = kNotATime;
          }
          to[i] = v;
          if (flags) flags[i] = present;
        }
        if (missing) any_missing = true;
      },
      rows_a_task);
  Column result{type, values.node()};
  if (valid && any_missing) result.validity = valid->node();
  return result;
}

}  // namespace gasell::frame
