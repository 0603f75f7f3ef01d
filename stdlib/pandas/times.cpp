// Natives of the hidden module _times: what the accessor .dt, to_datetime, date_range, resample … are made with.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include "lang/diagnostic.h"
#include "runtime/device/workers.h"
#include "runtime/frame/calendar.h"
#include "runtime/frame/text_functions.h"
#include "runtime/frame/time_formatting.h"
#include "runtime/frame/time_parsing.h"
#include "runtime/session/types.h"
#include "stdlib/modules.h"
#include "stdlib/pandas/column_object.h"
#include "stdlib/pandas/texts.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell::pandas {

using namespace frame;

namespace {

using Args = std::span<Value>;

constexpr int64_t kRowsATask = 1 << 14;

void over(Engine& engine, int64_t count, const std::function<void(int64_t begin, int64_t end)>& f) {
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

Column times_column(Engine& engine, const std::vector<int64_t>& ns, ColumnType type = datetime_type()) {
  NewValues values(engine, DType::i64, static_cast<int64_t>(ns.size()));
  std::copy(ns.begin(), ns.end(), values.as<int64_t>());
  return {std::move(type), values.node()};
}

/// Whether a time is missing among them. What was found about memory that is there already is kept.
bool has_missing(Engine& engine, const NodeRef& times) {
  // Where none is missing before a filter, none is behind it.
  const std::optional<frame::Unfiltered> all = frame::before_filter({number_column(times)});
  if (all && !has_missing(engine, all->columns[0].values)) return false;
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

const TimeZone* zone_of(const Column& column) { return column.type.zone.empty() ? nullptr : &TimeZone::named(column.type.zone); }

/// The column's times by its own clock.
NodeRef local_node(Engine& engine, const Column& column) {
  const TimeZone* zone = zone_of(column);
  return zone ? local_times(engine, column.values, *zone) : column.values;
}

/// Local times back in the column's zone.
Column placed(Interpreter& in, const Column& like, const NodeRef& local, const Value& ambiguous = Value(), const Value& nonexistent = Value()) {
  Column result = like;
  result.values = local;
  if (const TimeZone* zone = zone_of(like)) {
    const LocalTimeChoice choice = local_time_choice(in, ambiguous, nonexistent);
    result.values = utc_times(in.engine(), local, *zone, choice.ambiguous, choice.nonexistent, choice.shift);
  }
  return result;
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
  const int64_t unit = fixed_frequency(gasell::str(in, args[2]));
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
  return wrap_column(texts_of(in, column_of(args[0]), [&](int64_t local, int64_t utc, std::string& out) { writer.write(out, local, utc); }));
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

// ---- from texts and numbers ----

constexpr const char* kAdvice =
    ". You might want to try:\n    - passing `format` if your strings have a consistent format;\n    - passing `format='ISO8601'` if your strings are all ISO8601 but "
    "not necessarily in exactly the same format;\n    - passing `format='mixed'`, and the format will be inferred for each element individually. You might want "
    "to use `dayfirst` alongside this.";

[[noreturn]] void refuse(const ParsedTime& parsed, std::string_view text, int64_t row, const std::string& format) {
  const std::string shown(text), place = ", at position " + std::to_string(row);
  using Status = ParsedTime::Status;
  const bool free = format.empty();
  switch (parsed.status) {
    case Status::out_of_bounds: raise("OutOfBoundsDatetime", "Out of bounds nanosecond timestamp: " + shown + place + (free ? "" : kAdvice));
    case Status::trailing:
      raise("ValueError", "unconverted data remains when parsing with format \"" + format + "\": \"" + shown.substr(parsed.read) + "\"" + place + kAdvice);
    case Status::bad_date:
      if (free) raise("DateParseError", std::string(parsed.problem) + ": " + shown + place);
      raise("ValueError", std::string(parsed.problem) + place + kAdvice);
    default: break;
  }
  if (free) raise("DateParseError", "Unknown datetime string format, unable to parse: " + shown + place);
  if (format == "ISO8601") raise("ValueError", "Time data " + shown + " is not ISO8601 format" + place + kAdvice);
  raise("ValueError", "time data \"" + shown + "\" doesn't match format \"" + format + "\"" + place + kAdvice);
}

struct ParseOptions {
  std::string format;  // empty: as the first text has it
  bool coerce = false, dayfirst = false, yearfirst = false, utc = false, exact = true;
};

Column parse_times(Interpreter& in, const Column& given, const ParseOptions& options) {
  Engine& engine = in.engine();
  Column column = with_used_texts(engine, given);
  std::string format = options.format;
  const auto& [unused, coerce, dayfirst, yearfirst, utc, exact] = options;
  const ColumnData data = read(engine, column);
  const int32_t* codes = data.as<int32_t>();
  const Dictionary& dictionary = *column.dictionary;
  if (format.empty()) {
    for (int64_t i = 0; i < data.count; ++i) {
      if (codes[i] < 0 || is_missing_time(dictionary[codes[i]])) continue;
      format = guess_time_format(dictionary[codes[i]], dayfirst).value_or("");
      break;
    }
  }
  const bool iso = format == "ISO8601", free = format.empty() || format == "mixed";
  if (free) format.clear();
  const std::optional<TimeFormat> compiled = iso || free ? std::nullopt : std::optional<TimeFormat>(format);
  const auto parse_one = [&](std::string_view text) { return iso ? parse_iso_time(text) : free ? parse_free_time(text, dayfirst, yearfirst) : compiled->parse(text, exact); };

  const auto count = static_cast<size_t>(dictionary.size());
  constexpr int32_t kNoOffset = INT32_MIN;
  std::vector<int64_t> times(count);
  std::vector<int32_t> offsets(count, kNoOffset);
  std::vector<uint8_t> failed(count);
  std::atomic<bool> any_failed = false, any_offset = false;
  over(engine, dictionary.size(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const ParsedTime parsed = parse_one(dictionary[i]);
      times[static_cast<size_t>(i)] = parsed.utc();
      if (parsed.ok()) {
        if (parsed.offset) offsets[static_cast<size_t>(i)] = *parsed.offset, any_offset = true;
      } else if (parsed.status != ParsedTime::Status::missing) {
        failed[static_cast<size_t>(i)] = 1;
        any_failed = true;
      }
    }
  });
  if (any_failed && !coerce)
    for (int64_t i = 0; i < data.count; ++i)
      if (codes[i] >= 0 && failed[static_cast<size_t>(codes[i])]) refuse(parse_one(dictionary[codes[i]]), dictionary[codes[i]], i, format);
  std::string zone = utc ? "UTC" : "";
  if (any_offset && !utc) {
    std::optional<int32_t> common;
    for (size_t i = 0; i < count; ++i) {
      if (times[i] == kNotATime) continue;
      if (!common) common = offsets[i];
      if (*common != offsets[i]) raise("ValueError", "Mixed timezones detected. Pass utc=True in to_datetime or tz='UTC' in DatetimeIndex to convert to a common timezone.");
    }
    zone = TimeZone::named(*common == 0 ? "UTC" : offset_text(*common, true)).name();
  }
  return {datetime_type(zone), of_codes<int64_t>(engine, column, times, kNotATime)};
}

/// parse(column of texts, format, coerce, dayfirst, yearfirst, utc, exact)
Value parse(Interpreter& in, Args args) {
  return wrap_column(parse_times(in, column_of(args[0]),
                                 {args[1].is_none() ? "" : gasell::str(in, args[1]), truth(in, args[2]), truth(in, args[3]), truth(in, args[4]), truth(in, args[5]),
                                  truth(in, args[6])}));
}

Column parse_duration_texts(Interpreter& in, const Column& given, bool coerce) {
  Engine& engine = in.engine();
  Column column = with_used_texts(engine, given);
  const ColumnData data = read(engine, column);
  const Dictionary& dictionary = *column.dictionary;
  std::vector<int64_t> times(static_cast<size_t>(dictionary.size()));
  std::vector<uint8_t> failed(times.size());
  over(engine, dictionary.size(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      try {
        times[static_cast<size_t>(i)] = parse_timedelta(dictionary[i]);
      } catch (const Error&) {
        times[static_cast<size_t>(i)] = kNotATime;
        failed[static_cast<size_t>(i)] = 1;
      }
    }
  });
  if (!coerce)
    for (int64_t i = 0; i < data.count; ++i) {
      const int32_t code = data.as<int32_t>()[i];
      if (code >= 0 && failed[static_cast<size_t>(code)]) parse_timedelta(dictionary[code]);
    }
  return {frame::timedelta_type(), of_codes<int64_t>(engine, column, times, kNotATime)};
}

/// parse_durations(column of texts, coerce)
Value parse_durations(Interpreter& in, Args args) { return wrap_column(parse_duration_texts(in, column_of(args[0]), truth(in, args[1]))); }

/// scaled(column of numbers, unit, origin, "datetime" or "timedelta"): integers exactly, floats as pd.Timedelta rounds them.
Value scaled(Interpreter& in, Args args) {
  Engine& engine = in.engine();
  const Column& column = column_of(args[0]);
  const std::string name = gasell::str(in, args[1]);
  const auto unit = timedelta_unit(name);
  const bool durations = gasell::str(in, args[3]) == "timedelta";
  if (!unit) raise("ValueError", durations ? "invalid unit abbreviation: " + name : "Unrecognized unit " + name);
  const int64_t origin = to_index(in, args[2]);
  Column source = column;
  source.values = graph::cast(column.values, is_float(column.type.dtype) ? DType::f64 : DType::i64);
  const ColumnData data = read(engine, source);
  NewValues values(engine, DType::i64, data.count);
  const bool real = is_float(column.type.dtype);
  std::atomic<bool> too_large = false;
  over(engine, data.count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      std::optional<int64_t> ns;
      if (data.valid && !data.valid[i]) {
        ns = kNotATime;
      } else if (real) {
        const double number = data.as<double>()[i];
        if (std::isnan(number)) ns = kNotATime;
        else if (std::abs(number * static_cast<double>(*unit)) < 9.2e18) ns = checked_add(scaled_time(number, *unit), origin);
      } else {
        ns = checked_multiply(data.as<int64_t>()[i], *unit);
        if (ns) ns = checked_add(*ns, origin);
      }
      if (!ns) too_large = true;
      values.as<int64_t>()[i] = ns.value_or(kNotATime);
    }
  });
  if (too_large) raise(durations ? "OutOfBoundsTimedelta" : "OutOfBoundsDatetime", "cannot convert input with the unit '" + name + "'");
  return wrap_column({durations ? frame::timedelta_type() : datetime_type(), values.node()});
}

/// assembled(parts): days of columns of years, months and days, with nanoseconds behind them.
Value assembled(Interpreter& in, Args args) {
  Engine& engine = in.engine();
  std::vector<Column> parts;
  std::vector<ColumnData> data;
  for (const Value& v : to_vector(in, args[0])) {
    Column c = column_of(v);
    c.values = graph::cast(c.values, DType::i64);
    parts.push_back(std::move(c));
  }
  for (Column& c : parts) data.push_back(read(engine, c));
  const bool coerce = truth(in, args[1]);
  NewValues values(engine, DType::i64, data[0].count);
  for (int64_t i = 0; i < data[0].count; ++i) {
    const auto at = [&](size_t k) { return data[k].as<int64_t>()[i]; };
    Moment m;
    m.year = at(0), m.month = static_cast<int>(at(1)), m.day = static_cast<int>(at(2));
    const ParsedTime time = checked_time(m);
    const auto ns = time.ok() ? checked_add(time.local, at(3)) : std::nullopt;
    if (!ns && !coerce) raise("ValueError", "cannot assemble the datetimes: " + std::string(time.problem ? time.problem : "out of bounds") + ", at position " + std::to_string(i));
    values.as<int64_t>()[i] = ns.value_or(kNotATime);
  }
  return wrap_column({datetime_type(), values.node()});
}

// ---- ranges and bins ----

/// Moments from `first` to `last` (nothing: `periods` of them) along a frequency; of `periods` and `last` backwards.
std::vector<int64_t> along(const Frequency& f, std::optional<int64_t> first, std::optional<int64_t> last, std::optional<int64_t> periods) {
  std::vector<int64_t> times;
  const auto step = [&](int64_t from, int64_t times_) {
    const int64_t next = add_frequency(f, from, times_);
    if (next == kNotATime) raise("OutOfBoundsDatetime", "Cannot generate range with start=" + std::to_string(first.value_or(0)) + " and periods=" + std::to_string(periods.value_or(0)));
    return next;
  };
  if (periods && *periods < 0) raise("ValueError", "Number of samples, " + std::to_string(*periods) + ", must be non-negative.");
  if (first) first = roll_forward(f, *first);
  if (last) last = roll_back(f, *last);
  if (!first && last && periods) {
    if (*periods == 0) return times;
    first = step(*last, 1 - *periods);
  }
  if (first && periods && !last) {
    int64_t at = *first;
    for (int64_t k = 0; k < *periods; ++k) {
      times.push_back(at);
      if (k + 1 < *periods) at = step(at, 1);
    }
    return times;
  }
  if (!first || !last) return times;
  const bool forward = f.count > 0;
  for (int64_t at = *first; (forward ? at <= *last : at >= *last) && (!periods || static_cast<int64_t>(times.size()) < *periods);) {
    times.push_back(at);
    at = add_frequency(f, at, 1);
    if (at == kNotATime) break;
  }
  return times;
}

std::optional<int64_t> optional_int(Interpreter& in, const Value& v) { return v.is_none() ? std::nullopt : std::optional(to_index(in, v)); }

/// range(start, end, periods, freq): nanoseconds; without a frequency evenly from start to end.
Value range(Interpreter& in, Args args) {
  const auto start = optional_int(in, args[0]), end = optional_int(in, args[1]), periods = optional_int(in, args[2]);
  if (args[3].is_none()) {
    std::vector<int64_t> times;
    const int64_t count = periods.value_or(0);
    for (int64_t k = 0; k < count; ++k)
      times.push_back(k + 1 == count && count > 1 ? *end : *start + static_cast<int64_t>(static_cast<double>(k) * (static_cast<double>(*end - *start) / static_cast<double>(std::max<int64_t>(1, count - 1)))));
    return wrap_column(times_column(in.engine(), times));
  }
  return wrap_column(times_column(in.engine(), along(parse_frequency(gasell::str(in, args[3])), start, end, periods)));
}

/// add_offsets(column, freq, times): each moment moved along a frequency.
Value add_offset(Interpreter& in, Args args) {
  const Column& column = column_of(args[0]);
  const Frequency f = parse_frequency(gasell::str(in, args[1]));
  const int64_t times = to_index(in, args[2]);
  Column local{datetime_type(), local_node(in.engine(), column)};
  const ColumnData data = read(in.engine(), local);
  NewValues values(in.engine(), DType::i64, data.count);
  over(in.engine(), data.count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) values.as<int64_t>()[i] = add_frequency(f, data.as<int64_t>()[i], times);
  });
  return wrap_column(placed(in, column, values.node()));
}

/// bins(column, freq, closed, label, origin): (the bin of each row or -1, the labels of the bins) as pandas' resample cuts them; origin is
/// 'start_day', 'start', 'epoch' or nanoseconds.
Value bins(Interpreter& in, Args args) {
  Engine& engine = in.engine();
  const Column& column = column_of(args[0]);
  const Frequency f = parse_frequency(gasell::str(in, args[1]));
  using Unit = Frequency::Unit;
  const bool ends = f.unit == Unit::week || f.unit == Unit::month_end || f.unit == Unit::quarter_end || f.unit == Unit::year_end;
  const auto right_of = [&](const Value& v) { return v.is_none() ? ends : gasell::str(in, v) == "right"; };
  const bool right = right_of(args[2]), label_right = right_of(args[3]);
  const bool by_clock = !f.is_fixed() || f.count % kDay == 0;  // days begin at local midnights
  Column times{column.type, column.values};
  if (by_clock && column.type.logical == Logical::datetime) times = {datetime_type(), local_node(engine, column)};
  const ColumnData data = read(engine, times);
  const int64_t* t = data.as<int64_t>();
  int64_t first = INT64_MAX, last = INT64_MIN;
  for (int64_t i = 0; i < data.count; ++i)
    if (t[i] != kNotATime) first = std::min(first, t[i]), last = std::max(last, t[i]);
  NewValues ids(engine, DType::i64, data.count);
  int64_t* const id = ids.as<int64_t>();
  std::vector<int64_t> labels, edges;
  if (first <= last) {
    const int64_t earliest = first;
    if (f.is_fixed()) {
      const TimeZone* zone = zone_of(times);
      int64_t origin = 0;
      if (args[4].is_int()) {
        origin = args[4].as_int();
      } else if (const std::string word = gasell::str(in, args[4]); word == "start_day") {
        const int64_t local = zone ? local_of_utc(*zone, first) : first;
        origin = column.type.logical == Logical::timedelta ? first : rounded_time(Rounding::floor, local, kDay) - (local - first);
      } else if (word == "start") {
        origin = first;
      }
      const int64_t before = floor_modulo(first - origin, f.count), behind = floor_modulo(last - origin, f.count);
      first = before > 0 ? first - before : right ? first - f.count : first;
      last = behind > 0 ? last + (f.count - behind) : right ? last : last + f.count;
    } else {
      first = rounded_time(Rounding::floor, first, kDay);
      last = rounded_time(Rounding::floor, last, kDay);
      first = right ? add_frequency(f, first, -1) : roll_back(f, first);
      last = add_frequency(f, last, 1);
    }
    labels = along(f, first, last, {});
    edges = labels;
    if (ends && right) {
      for (int64_t& e : edges) e += kDay - 1;
      int64_t latest = earliest;
      for (int64_t i = 0; i < data.count; ++i)
        if (t[i] != kNotATime) latest = std::max(latest, t[i]);
      if (edges.size() > 1 && edges[edges.size() - 2] > latest) edges.pop_back(), labels.pop_back();
    }
  }
  const auto bin_count = std::max<int64_t>(0, static_cast<int64_t>(edges.size()) - 1);
  over(engine, data.count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (t[i] == kNotATime || bin_count == 0) {
        id[i] = -1;
        continue;
      }
      int64_t at;
      if (f.is_fixed()) {
        at = right ? floor_divide(t[i] - edges[0] - 1, f.count) : floor_divide(t[i] - edges[0], f.count);
      } else {
        const auto place = right ? std::lower_bound(edges.begin(), edges.end(), t[i]) : std::upper_bound(edges.begin(), edges.end(), t[i]);
        at = place - edges.begin() - 1;
      }
      id[i] = std::clamp<int64_t>(at, 0, bin_count - 1);
    }
  });
  if (label_right && !labels.empty()) labels.erase(labels.begin());
  labels.resize(static_cast<size_t>(bin_count));
  ColumnType type = column.type;
  Column made = times_column(engine, labels, type);
  if (by_clock && !type.zone.empty()) made.values = utc_times(engine, made.values, TimeZone::named(type.zone), Ambiguous::first, Nonexistent::shift_forward);
  return make_tuple({numpy::wrap_array(ids.node()), wrap_column(std::move(made))});
}

/// frequency(text): (the normalised text, nanoseconds or None).
Value frequency(Interpreter& in, Args args) {
  const Frequency f = parse_frequency(gasell::str(in, args[0]));
  return make_tuple({make_str(f.text), f.is_fixed() ? Value::of(f.count) : Value()});
}

/// inferred(column): the frequency that moments in order have, or None.
Value inferred(Interpreter& in, Args args) {
  const Column& column = column_of(args[0]);
  Column local{datetime_type(), local_node(in.engine(), column)};
  const ColumnData data = read(in.engine(), local);
  const int64_t* t = data.as<int64_t>();
  if (data.count < 3) raise("ValueError", "Need at least 3 dates to infer frequency");
  const int64_t step = t[1] - t[0];
  bool even = step != 0;
  for (int64_t i = 2; i < data.count && even; ++i) even = t[i] - t[i - 1] == step;
  if (even && step > 0) {
    static constexpr std::pair<const char*, int64_t> kUnits[] = {{"D", kDay}, {"h", kHour}, {"min", kMinute}, {"s", kSecond}, {"ms", kMillisecond}, {"us", kMicrosecond}, {"ns", 1}};
    static constexpr const char* kDays[] = {"MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"};
    if (step % (7 * kDay) == 0) {
      const int64_t weeks = step / (7 * kDay);
      return make_str((weeks == 1 ? "" : std::to_string(weeks)) + "W-" + kDays[weekday(floor_divide(t[0], kDay))]);
    }
    for (const auto& [name, size] : kUnits)
      if (step % size == 0) return make_str((step == size ? "" : std::to_string(step / size)) + name);
  }
  for (const char* text : {"YS", "YE", "QS", "QE", "MS", "ME", "B"}) {
    std::vector<std::string> candidates{text};
    if (text[0] == 'Y' || text[0] == 'Q') {
      const int month = moment_of(t[0]).month;
      static constexpr const char* kMonths[] = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
      const int anchor = text[0] == 'Y' ? month : (month - 1) % 3 + 10;
      candidates = {std::string(text) + "-" + kMonths[anchor - 1]};
    }
    const Frequency f = parse_frequency(candidates[0]);
    bool fits = true;
    for (int64_t i = 0; i < data.count && fits; ++i) fits = is_on_offset(f, t[i]) && (i == 0 || add_frequency(f, t[i - 1], 1) == t[i]);
    if (fits) return make_str(f.text);
  }
  return Value();
}

}  // namespace

Column time_texts(Interpreter& in, const Column& column) {
  if (column.type.logical == Logical::timedelta) return texts_of(in, column, [](int64_t ns, int64_t, std::string& out) { out = timedelta_repr_text(ns); });
  const TimeZone* zone = zone_of(column);
  Column local{datetime_type(), local_node(in.engine(), column)};
  const ColumnData data = read(in.engine(), local);
  // As pandas' astype(str): dates alone where all are midnights.
  const bool dates = !zone && precision_of({data.as<int64_t>(), static_cast<size_t>(data.count)}) == TimePrecision::date;
  return texts_of(in, column, [&](int64_t clock, int64_t utc, std::string& out) {
    out = dates ? time_text(clock, TimePrecision::date) : timestamp_text(clock) + (zone ? offset_text(offset_of_utc(*zone, utc), true) : "");
  });
}

Column times_of_texts(Interpreter& in, const Column& column, const ColumnType& to) {
  if (to.logical == Logical::timedelta) return parse_duration_texts(in, column, false);
  Column result = parse_times(in, column, {});
  if (to.zone.empty()) return result;
  if (result.type.zone.empty()) result.values = utc_times(in.engine(), result.values, TimeZone::named(to.zone));
  result.type.zone = to.zone;
  return result;
}

}  // namespace gasell::pandas

namespace gasell {

Value make_time_natives(Interpreter&) {
  using namespace pandas;
  register_time_exceptions();
  static const std::vector<NativeFunction> kFunctions = {
      {"field", "column, name", field, "A field of each."},
      {"seconds", "column", seconds, "Durations in seconds."},
      {"normalize", "column", normalize, "Midnights."},
      {"round", "column, how, freq, ambiguous, nonexistent", round, "floor, ceil, round."},
      {"localize", "column, zone, ambiguous, nonexistent", localize, "The same clock in a zone."},
      {"convert", "column, zone", convert, "The same moments in another zone."},
      {"strftime", "column, format", format_times, "Times as texts."},
      {"texts", "column", texts, "str() of each."},
      {"names", "column, what", names, "Names of days or months."},
      {"parse", "column, format, coerce, dayfirst, yearfirst, utc, exact", parse, "Texts as moments."},
      {"parse_durations", "column, coerce", parse_durations, "Texts as durations."},
      {"scaled", "column, unit, origin, kind", scaled, "Numbers of units as times."},
      {"assembled", "parts, coerce", assembled, "Moments of years, months, days, nanoseconds."},
      {"range", "start, end, periods, freq", range, "Moments along a frequency."},
      {"add_offset", "column, freq, times", add_offset, "Moments moved along a frequency."},
      {"bins", "column, freq, closed, label, origin", bins, "(bins of the rows, labels)."},
      {"frequency", "text", frequency, "(normalised text, nanoseconds or None)."},
      {"inferred", "column", inferred, "The frequency of moments."},
  };
  return make_module("_times", kFunctions);
}

}  // namespace gasell
