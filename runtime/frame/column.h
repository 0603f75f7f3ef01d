// Columns of frames: values of one type, some of which may be missing. Numbers are array graphs, so expressions over columns are recorded
// and fused as those over arrays are; texts are codes into a dictionary.
//
// What is missing: NaN in floats and INT64_MIN ("NaT") in datetimes, timedeltas and periods, as in pandas; a code of -1 in texts and
// categories; in integers, booleans and nullable floats what `validity` says.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/graph/node.h"
#include "runtime/device/storage.h"
#include "runtime/engine.h"

namespace gasell::frame {

using graph::NodeRef;

enum class Logical : uint8_t { number, text, category, datetime, timedelta, period };

inline constexpr int64_t kNotATime = INT64_MIN;

/// What a column's values are.
struct ColumnType {
  Logical logical = Logical::number;
  DType dtype = DType::f64;  // of the values: i64 nanoseconds (since 1970-01-01 UTC) for times, i64 steps since 1970 for periods,
                             // i32 codes for texts and categories
  bool nullable = false;     // numbers: declared as pandas' Int64, boolean, Float64 …
  bool ordered = false;      // categories: < and > are defined
  std::string zone = {};     // datetimes: the IANA name of the time zone that they are shown in; empty: none
  /// Texts: what they stand for, "date" or "time" of the module datetime, or "interval[float64, right]"; empty: themselves. Periods: their
  /// frequency, "M".
  std::string objects = {};

  bool operator==(const ColumnType&) const = default;
  bool is_number() const { return logical == Logical::number; }
  bool has_codes() const { return logical == Logical::text || logical == Logical::category; }
  bool is_time() const { return logical == Logical::datetime || logical == Logical::timedelta || logical == Logical::period; }
  bool is_interval() const { return logical == Logical::text && objects.starts_with("interval["); }
};
ColumnType number_type(DType dtype, bool nullable = false);
inline ColumnType text_type() { return {Logical::text, DType::i32}; }
inline ColumnType datetime_type(std::string zone = {}) { return {Logical::datetime, DType::i64, false, false, std::move(zone)}; }
inline ColumnType timedelta_type() { return {Logical::timedelta, DType::i64}; }
inline ColumnType period_type(std::string frequency) { return {Logical::period, DType::i64, false, false, {}, std::move(frequency)}; }

class Dictionary;
using DictionaryRef = std::shared_ptr<const Dictionary>;
struct PendingRows;

/// Immutable; copies share everything.
struct Column {
  ColumnType type;
  NodeRef values;                                 // rank 1
  NodeRef validity = nullptr;                     // boolean, of the same length; null: nothing is missing but what the values say
  DictionaryRef dictionary = nullptr;             // texts
  std::shared_ptr<const Column> categories = {};  // categories: what the codes stand for, distinct
  /// Of a column whose values wait: what rows of which column it is, so that rows of these rows need not make all of them (gathers.h).
  std::shared_ptr<const PendingRows> pending = {};

  int64_t size() const { return values->shape[0]; }
};

/// A column of numbers without missing ones.
Column number_column(NodeRef values);
/// A column whose name in pandas' words is "int64", "Int64", "object" (texts), "category", "datetime64[ns, Europe/Berlin]" …; looks at the
/// validity where the type alone does not say it.
std::string dtype_name(Engine& engine, const Column& column);

/// A column's memory, on the host, C-contiguous. Valid while the object lives.
struct ColumnData {
  StorageRef keep_values, keep_validity;
  const void* values = nullptr;
  const bool* valid = nullptr;  // one a row; null: all
  int64_t count = 0;

  template <class T>
  const T* as() const {
    return static_cast<const T*>(values);
  }
};
/// Computes the column and keeps what was computed in it. Throws as Engine::force.
ColumnData read(Engine& engine, Column& column);
inline ColumnData read(Engine& engine, Column&& column) { return read(engine, column); }
/// Several in one plan.
void force(Engine& engine, const std::vector<Column*>& columns);

/// Memory of a column under construction.
struct NewValues {
  NewValues(Engine& engine, DType dtype, int64_t count);
  template <class T>
  T* as() {
    return static_cast<T*>(storage->write());
  }
  NodeRef node() const;  // when filled
  HostStorageRef storage;
  DType dtype;
  int64_t count;
};

/// For each row whether its value is missing, as a boolean array graph; null when none can be.
NodeRef missing_mask(const Column& column);

/// Rows `rows[0..count)` in that order; a row of -1 is missing in the result (integers and booleans get a validity then). On all cores.
Column take(Engine& engine, const Column& column, const int64_t* rows, int64_t count, bool may_miss = false);
/// Several columns of one frame by the same rows, evaluated in one plan.
std::vector<Column> take(Engine& engine, const std::vector<Column>& columns, const int64_t* rows, int64_t count, bool may_miss = false);
/// Rows [begin, end) with a step, as a view where they are there.
Column slice(Engine& engine, const Column& column, int64_t begin, int64_t end, int64_t step = 1);
/// One behind the other; the types are equal, but dictionaries may differ. Categories must be the same.
Column concatenate(Engine& engine, const std::vector<Column>& parts);

}  // namespace gasell::frame
