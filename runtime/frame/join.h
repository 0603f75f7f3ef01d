// Rows of two tables that match.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/frame/groups.h"

namespace gasell::frame {

enum class Join : uint8_t { inner, left, right, outer };

/// Row numbers of the result's rows; -1: none on that side.
struct JoinedRows {
  Scratch<int64_t> left, right;
  bool left_missing = false, right_missing = false;  // a -1 may be there
  int64_t count() const { return left.size(); }
};

/// Brings key columns of two tables to common types, so that equal values are equal: integers and floats, texts and categories. Throws
/// ValueError, as pandas' merge, for types that cannot be equal; `name` is the key's there.
void match_types(Engine& engine, Column& left, Column& right, const std::string& name);

/// Rows whose keys are equal, a missing key being equal to a missing one, in pandas' order: inner and left by left rows, then right ones;
/// right by right rows, then left ones; outer and, with `sorted`, all by the keys. Keys have common types.
/// Numbers the keys of both sides (groups.h), then looks the rows of one side up in a table of the other's.
JoinedRows join_rows(Engine& engine, const std::vector<Column>& left, const std::vector<Column>& right, Join how, bool sorted = false);

/// All pairs of rows.
JoinedRows cross_rows(Engine& engine, int64_t left, int64_t right);

/// Whether each left row has an equal one on the right: isin, semi-joins. Boolean.
Column has_match(Engine& engine, const std::vector<Column>& left, const std::vector<Column>& right);

enum class AsofDirection : uint8_t { backward, forward, nearest };
struct AsofOptions {
  AsofDirection direction = AsofDirection::backward;
  bool allow_exact = true;
  std::optional<double> tolerance;  // in the unit of the values
};
/// For each left row the right row whose `on` is the last that is not greater (forward: the first not less; nearest: the nearer, of equally
/// near ones the one before), or -1. Of rows with equal `by` keys. Both sides are sorted by `on`, or ValueError is thrown.
Scratch<int64_t> asof_rows(Engine& engine, const Column& left_on, const Column& right_on, const std::vector<Column>& left_by,
                           const std::vector<Column>& right_by, const AsofOptions& options);

}  // namespace gasell::frame
