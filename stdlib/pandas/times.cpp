// Natives of the hidden module _times: what the accessor .dt, to_datetime, date_range, resample … are made with.
#include <algorithm>
#include <cmath>
#include <mutex>

#include "lang/diagnostic.h"
#include "runtime/device/workers.h"
#include "runtime/frame/rules.h"
#include "runtime/frame/text_functions.h"
#include "runtime/frame/time_formatting.h"
#include "runtime/session/types.h"
#include "stdlib/modules.h"
#include "stdlib/pandas/offsets.h"
#include "stdlib/pandas/texts.h"
#include "stdlib/pandas/times_natives.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell::pandas {

using namespace frame;

void over_rows(Engine& engine, int64_t count, const std::function<void(int64_t begin, int64_t end)>& f) {
  constexpr int64_t kRowsATask = 1 << 14;
  const auto one = [&](int64_t task) {
    if (engine.interrupt_flag()) throw Interrupted();
    f(task * kRowsATask, std::min(count, (task + 1) * kRowsATask));
  };
  if (count <= kRowsATask) {
    if (count > 0) one(0);
    return;
  }
  in_parallel((count + kRowsATask - 1) / kRowsATask, one);
}

Column times_column(Engine& engine, const std::vector<int64_t>& ns, ColumnType type) {
  NewValues values(engine, DType::i64, static_cast<int64_t>(ns.size()));
  std::copy(ns.begin(), ns.end(), values.as<int64_t>());
  return {std::move(type), values.node()};
}

const TimeZone* zone_of(const Column& column) { return column.type.zone.empty() ? nullptr : &TimeZone::named(column.type.zone); }

NodeRef local_node(Engine& engine, const Column& column) {
  const TimeZone* zone = zone_of(column);
  return zone ? local_times(engine, column.values, *zone) : column.values;
}

Column placed(Interpreter& in, const Column& like, const NodeRef& local, const Value& ambiguous, const Value& nonexistent) {
  Column result = like;
  result.values = local;
  if (const TimeZone* zone = zone_of(like)) {
    const LocalTimeChoice choice = local_time_choice(in, ambiguous, nonexistent);
    result.values = utc_times(in.engine(), local, *zone, choice.ambiguous, choice.nonexistent, choice.shift);
  }
  return result;
}

namespace {

/// Whether a time is missing among them. What was found about memory that is there already is kept.
bool has_missing(Engine& engine, const NodeRef& times) {
  // Where none is missing before a filter, none is behind it.
  frame::Input all{{number_column(times)}};
  if (apply(engine, frame::filter_into_operator(), all) && !has_missing(engine, all.columns[0].values)) return false;
  struct Known {
    std::weak_ptr<const graph::Node> node;
    bool missing;
  };
  static std::mutex mutex;
  static auto& known = *new std::vector<Known>;
  const auto* buffer = times->as<graph::BufferNode>();
  {
    std::lock_guard lock(mutex);
    std::erase_if(known, [](const Known& k) { return k.node.expired(); });
    for (const Known& k : known)
      if (k.node.lock() == times) return k.missing;
  }
  const NodeRef is_missing = graph::map(ScalarOp::eq, {times, graph::constant(Scalar::of_int(kNotATime), times->shape)});
  const bool missing = Array(graph::reduce(graph::ReduceOp::any, is_missing, {0})).elements(engine)[0].i != 0;
  if (buffer) {
    std::lock_guard lock(mutex);
    if (known.size() >= 64) known.erase(known.begin());
    known.push_back({times, missing});
  }
  return missing;
}

/// Integers of times that are there; floats with NaN where one is missing, as pandas has it.
Column numbers_of(Engine& engine, const NodeRef& times, const NodeRef& numbers) {
  if (!has_missing(engine, times)) return number_column(numbers);
  const NodeRef missing = graph::map(ScalarOp::eq, {times, graph::constant(Scalar::of_int(kNotATime), times->shape)});
  const NodeRef nothing = graph::constant(Scalar::of_float(std::nan("")), times->shape);
  return number_column(graph::map(ScalarOp::select, {missing, nothing, graph::cast(numbers, DType::f64)}));
}

/// field(column, name): of a datetime or a timedelta.
Value field(Interpreter& in, Args args) {
  const Column& column = column_of(args[0]);
  const std::string name = gasell::str(in, args[1]);
  if (column.type.logical == Logical::timedelta) {
    const auto which = duration_field_from_name(name);
    if (!which) raise("AttributeError", "'TimedeltaProperties' object has no attribute '" + name + "'");
    return wrap_column(numbers_of(in.engine(), column.values, duration_field(*which, column.values)));
  }
  const auto which = time_field_from_name(name);
  if (!which) raise("AttributeError", "'DatetimeProperties' object has no attribute '" + name + "'");
  const NodeRef local = local_node(in.engine(), column);
  const NodeRef values = time_field(*which, local);
  return wrap_column(values->dtype == DType::boolean ? number_column(values) : numbers_of(in.engine(), local, values));
}

Value seconds(Interpreter&, Args args) { return wrap_column(number_column(total_seconds(column_of(args[0]).values))); }

Value normalize(Interpreter& in, Args args) {
  const Column& column = column_of(args[0]);
  return wrap_column(placed(in, column, rounded_time(Rounding::floor, local_node(in.engine(), column), kDay)));
}

/// round(column, how, freq, ambiguous, nonexistent)
Value round(Interpreter& in, Args args) {
  const Column& column = column_of(args[0]);
  const std::string how = gasell::str(in, args[1]);
  const int64_t unit = fixed_frequency_argument(in, args[2]);
  const Rounding rounding = how == "floor" ? Rounding::floor : how == "ceil" ? Rounding::ceil : Rounding::round;
  return wrap_column(placed(in, column, rounded_time(rounding, local_node(in.engine(), column), unit), args[3], args[4]));
}

/// localize(column, zone, ambiguous, nonexistent): None: by the clock, without a zone.
Value localize(Interpreter& in, Args args) {
  Column result = column_of(args[0]);
  const TimeZone* zone = zone_argument(in, args[1]);
  if (!zone) {
    result.values = local_node(in.engine(), result);
    result.type.zone.clear();
    return wrap_column(std::move(result));
  }
  if (!result.type.zone.empty()) raise("TypeError", "Already tz-aware, use tz_convert to convert.");
  const std::string infer = args[2].as<Str>() ? args[2].as<Str>()->value : "";
  if (infer == "infer") raise("NotImplementedError", "tz_localize(ambiguous='infer') is not in Gasell yet");
  const LocalTimeChoice choice = local_time_choice(in, args[2], args[3]);
  result.values = utc_times(in.engine(), result.values, *zone, choice.ambiguous, choice.nonexistent, choice.shift);
  result.type.zone = zone->name();
  return wrap_column(std::move(result));
}

Value convert(Interpreter& in, Args args) {
  Column result = column_of(args[0]);
  if (result.type.zone.empty()) raise("TypeError", "Cannot convert tz-naive timestamps, use tz_localize to localize");
  const TimeZone* zone = zone_argument(in, args[1]);
  result.type.zone = zone ? zone->name() : "";
  return wrap_column(std::move(result));
}

/// A text of each time, written by several threads; texts are not compared, since most columns of moments have few equal ones.
Column texts_of(Interpreter& in, Column column, const std::function<void(int64_t local, int64_t utc, std::string& out)>& f) {
  Column local{datetime_type(), local_node(in.engine(), column)};
  const ColumnData utc = read(in.engine(), column), clock = read(in.engine(), local);
  return make_texts(in.engine(), utc.count, [&](int64_t row, std::string& out) {
    if (utc.as<int64_t>()[row] == kNotATime) return false;
    f(clock.as<int64_t>()[row], utc.as<int64_t>()[row], out);
    return true;
  });
}

Value format_times(Interpreter& in, Args args) {
  const std::string format = gasell::str(in, args[1]);
  const TimeWriter writer(format, zone_of(column_of(args[0])));
  return wrap_column(
      texts_of(in, column_of(args[0]), [&](int64_t local, int64_t utc, std::string& out) { writer.write(out, local, utc); }));
}

Value texts(Interpreter& in, Args args) { return wrap_column(time_texts(in, column_of(args[0]))); }

/// names(column, "day" or "month"): codes into a dictionary of seven or twelve texts.
Value names(Interpreter& in, Args args) {
  const bool day = gasell::str(in, args[1]) == "day";
  const Column& column = column_of(args[0]);
  const NodeRef local = local_node(in.engine(), column);
  DictionaryBuilder builder;
  for (int k = 0; k < (day ? 7 : 12); ++k) builder.add(day ? weekday_name(k) : month_name(k + 1));
  const NodeRef number = time_field(day ? TimeField::day_of_week : TimeField::month, local);
  const auto constant = [&](int64_t v, DType dtype) { return graph::constant(Scalar::of_int(v, dtype), local->shape); };
  const NodeRef code = day ? number : graph::map(ScalarOp::sub, {number, constant(1, DType::i32)});
  const NodeRef missing = graph::map(ScalarOp::eq, {local, constant(kNotATime, DType::i64)});
  return wrap_column({text_type(), graph::map(ScalarOp::select, {missing, constant(-1, DType::i32), code}), nullptr, builder.finish(true)});
}

}  // namespace

Column time_texts(Interpreter& in, const Column& column) {
  if (column.type.logical == Logical::timedelta)
    return texts_of(in, column, [](int64_t ns, int64_t, std::string& out) { out = timedelta_repr_text(ns); });
  const TimeZone* zone = zone_of(column);
  Column local{datetime_type(), local_node(in.engine(), column)};
  const ColumnData data = read(in.engine(), local);
  // As pandas' astype(str): dates alone where all are midnights.
  const bool dates = !zone && precision_of({data.as<int64_t>(), static_cast<size_t>(data.count)}) == TimePrecision::date;
  return texts_of(in, column, [&](int64_t clock, int64_t utc, std::string& out) {
    out =
        dates ? time_text(clock, TimePrecision::date) : timestamp_text(clock) + (zone ? offset_text(offset_of_utc(*zone, utc), true) : "");
  });
}

}  // namespace gasell::pandas

namespace gasell {

Value make_time_natives(Interpreter&) {
  using namespace pandas;
  register_time_exceptions();
  static const std::vector<NativeFunction> kFunctions = [] {
    std::vector<NativeFunction> all = {
        {"field", "column, name", field, "A field of each."},
        {"seconds", "column", seconds, "Durations in seconds."},
        {"normalize", "column", normalize, "Midnights."},
        {"round", "column, how, freq, ambiguous, nonexistent", round, "floor, ceil, round."},
        {"localize", "column, zone, ambiguous, nonexistent", localize, "The same clock in a zone."},
        {"convert", "column, zone", convert, "The same moments in another zone."},
        {"strftime", "column, format", format_times, "Times as texts."},
        {"texts", "column", texts, "str() of each."},
        {"names", "column, what", names, "Names of days or months."},
    };
    for (auto part : {time_parsing_functions(), time_range_functions()})
      for (NativeFunction& f : part) all.push_back(std::move(f));
    return all;
  }();
  return make_module("_times", kFunctions);
}

}  // namespace gasell
