// What the natives of times (the hidden module _times) share: rows in parallel, clocks of zones, columns of times.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/frame/calendar.h"
#include "runtime/frame/time_zones.h"
#include "stdlib/pandas/column_object.h"

namespace gasell::pandas {

using Args = std::span<Value>;

/// f of parts of the rows, on all cores.
void over_rows(Engine& engine, int64_t count, const std::function<void(int64_t begin, int64_t end)>& f);
Column times_column(Engine& engine, const std::vector<int64_t>& ns, ColumnType type = frame::datetime_type());
/// Nothing where the column has no zone.
const frame::TimeZone* zone_of(const Column& column);
/// The column's times by its own clock.
NodeRef local_node(Engine& engine, const Column& column);
/// Local times back in the column's zone.
Column placed(Interpreter& in, const Column& like, const NodeRef& local, const Value& ambiguous = Value(),
              const Value& nonexistent = Value());

/// Natives of _times, by file.
std::vector<NativeFunction> time_parsing_functions();
std::vector<NativeFunction> time_range_functions();

}  // namespace gasell::pandas
