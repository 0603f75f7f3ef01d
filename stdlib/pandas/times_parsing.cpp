// Natives of _times that make times of texts and numbers.
#include <atomic>
#include <cmath>

#include "lang/diagnostic.h"
#include "runtime/frame/text_functions.h"
#include "runtime/frame/time_formatting.h"
#include "runtime/frame/time_parsing.h"
#include "runtime/session/types.h"
#include "stdlib/pandas/texts.h"
#include "stdlib/pandas/times_natives.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell::pandas {

using namespace frame;

namespace {

constexpr const char* kAdvice =
    ". You might want to try:\n    - passing `format` if your strings have a consistent format;\n    - passing `format='ISO8601'` if your "
    "strings are all ISO8601 but "
    "not necessarily in exactly the same format;\n    - passing `format='mixed'`, and the format will be inferred for each element "
    "individually. You might want "
    "to use `dayfirst` alongside this.";

[[noreturn]] void refuse(const ParsedTime& parsed, std::string_view text, int64_t row, const std::string& format) {
  const std::string shown(text), place = ", at position " + std::to_string(row);
  using Status = ParsedTime::Status;
  const bool free = format.empty();
  switch (parsed.status) {
    case Status::out_of_bounds:
      raise("OutOfBoundsDatetime", "Out of bounds nanosecond timestamp: " + shown + place + (free ? "" : kAdvice));
    case Status::trailing:
      raise("ValueError", "unconverted data remains when parsing with format \"" + format + "\": \"" + shown.substr(parsed.read) + "\"" +
                              place + kAdvice);
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
  const auto parse_one = [&](std::string_view text) {
    return iso ? parse_iso_time(text) : free ? parse_free_time(text, dayfirst, yearfirst) : compiled->parse(text, exact);
  };

  const auto count = static_cast<size_t>(dictionary.size());
  constexpr int32_t kNoOffset = INT32_MIN;
  std::vector<int64_t> times(count);
  std::vector<int32_t> offsets(count, kNoOffset);
  std::vector<uint8_t> failed(count);
  std::atomic<bool> any_failed = false, any_offset = false;
  over_rows(engine, dictionary.size(), [&](int64_t begin, int64_t end) {
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
      if (*common != offsets[i])
        raise("ValueError",
              "Mixed timezones detected. Pass utc=True in to_datetime or tz='UTC' in DatetimeIndex to convert to a common timezone.");
    }
    zone = TimeZone::named(*common == 0 ? "UTC" : offset_text(*common, true)).name();
  }
  return {datetime_type(zone), of_codes<int64_t>(engine, column, times, kNotATime)};
}

/// parse(column of texts, format, coerce, dayfirst, yearfirst, utc, exact)
Value parse(Interpreter& in, Args args) {
  return wrap_column(parse_times(in, column_of(args[0]),
                                 {args[1].is_none() ? "" : gasell::str(in, args[1]), truth(in, args[2]), truth(in, args[3]),
                                  truth(in, args[4]), truth(in, args[5]), truth(in, args[6])}));
}

Column parse_duration_texts(Interpreter& in, const Column& given, bool coerce) {
  Engine& engine = in.engine();
  Column column = with_used_texts(engine, given);
  const ColumnData data = read(engine, column);
  const Dictionary& dictionary = *column.dictionary;
  std::vector<int64_t> times(static_cast<size_t>(dictionary.size()));
  std::vector<uint8_t> failed(times.size());
  over_rows(engine, dictionary.size(), [&](int64_t begin, int64_t end) {
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
  over_rows(engine, data.count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      std::optional<int64_t> ns;
      if (data.valid && !data.valid[i]) {
        ns = kNotATime;
      } else if (real) {
        const double number = data.as<double>()[i];
        if (std::isnan(number))
          ns = kNotATime;
        else if (std::abs(number * static_cast<double>(*unit)) < 9.2e18)
          ns = checked_add(scaled_time(number, *unit), origin);
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
    if (!ns && !coerce)
      raise("ValueError", "cannot assemble the datetimes: " + std::string(time.problem ? time.problem : "out of bounds") +
                              ", at position " + std::to_string(i));
    values.as<int64_t>()[i] = ns.value_or(kNotATime);
  }
  return wrap_column({datetime_type(), values.node()});
}

}  // namespace

Column times_of_texts(Interpreter& in, const Column& column, const ColumnType& to) {
  if (to.logical == Logical::timedelta) return parse_duration_texts(in, column, false);
  Column result = parse_times(in, column, {});
  if (to.zone.empty()) return result;
  if (result.type.zone.empty()) result.values = utc_times(in.engine(), result.values, TimeZone::named(to.zone));
  result.type.zone = to.zone;
  return result;
}

std::vector<NativeFunction> time_parsing_functions() {
  return {
      {"parse", "column, format, coerce, dayfirst, yearfirst, utc, exact", parse, "Texts as moments."},
      {"parse_durations", "column, coerce", parse_durations, "Texts as durations."},
      {"scaled", "column, unit, origin, kind", scaled, "Numbers of units as times."},
      {"assembled", "parts, coerce", assembled, "Moments of years, months, days, nanoseconds."},
  };
}

}  // namespace gasell::pandas
