// Orders of rows: sorting by several columns, the first of an order, ranks, duplicates.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/frame/groups.h"
#include "runtime/frame/keys.h"

namespace gasell::frame {

/// The rows in the order of their keys, which were made with `ranked`; equal ones stay as they stand. One side.
Scratch<uint32_t> order_rows(Engine& engine, const RowKeys& keys);
/// The same by columns; `order` is empty (ascending, missing last) or has one entry a column. Texts are in the order of their code points.
Scratch<uint32_t> order_rows(Engine& engine, const std::vector<Column>& columns, const std::vector<KeyOrder>& order = {});

/// The first `count` rows of that order (all, where there are fewer), without ordering the rest. `last_first`: equal rows come last first.
Scratch<uint32_t> first_rows(Engine& engine, const std::vector<Column>& columns, const std::vector<KeyOrder>& order, int64_t count,
                             bool last_first = false);
/// Of so few; by keys that fit in a number and were made with `ranked`.
inline constexpr int64_t kMostFirstRows = 1 << 16;
Scratch<uint32_t> first_rows(Engine& engine, const RowKeys& keys, int64_t count, bool last_first = false);

enum class RankMethod : uint8_t { average, min, max, first, dense };
enum class MissingRank : uint8_t { missing, top, bottom };
struct RankOptions {
  RankMethod method = RankMethod::average;
  bool descending = false;
  MissingRank missing = MissingRank::missing;
  bool pct = false;  // as parts of the number of ranked rows (dense: of different values)
};
/// Ranks from 1, float64; within each group where groups are given (a row without a group has none).
Column ranks(Engine& engine, const Column& column, const RankOptions& options, const Groups* groups = nullptr);

enum class Keep : uint8_t { first, last, none };
/// Whether another row before (`last`: behind; `none`: anywhere) has the same keys; missing ones are equal. Boolean.
Column duplicated(Engine& engine, const std::vector<Column>& columns, Keep keep);

}  // namespace gasell::frame
