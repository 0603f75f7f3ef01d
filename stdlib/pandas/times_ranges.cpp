// Natives of _times along frequencies: ranges of moments, bins, what frequency moments have.
#include <algorithm>
#include <atomic>
#include <climits>
#include <cmath>

#include "lang/diagnostic.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/types.h"
#include "stdlib/pandas/offsets.h"
#include "stdlib/pandas/times_natives.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell::pandas {

using namespace frame;

namespace {

/// MemoryError where there is no memory for so many moments. Asked before the first step: a small one leads through a long time in more
/// steps than anyone waits for.
void require_times(Interpreter& in, double count) {
  require_memory(in, count < 0x1p60 ? static_cast<int64_t>(std::max(count, 0.0)) : INT64_MAX, sizeof(int64_t));
}

/// Moments from `first` to `last` (nothing: `periods` of them) along a frequency; of `periods` and `last` backwards.
std::vector<int64_t> along(Interpreter& in, const Frequency& f, std::optional<int64_t> first, std::optional<int64_t> last,
                           std::optional<int64_t> periods) {
  std::vector<int64_t> times;
  const auto step = [&](int64_t from, int64_t times_) {
    const int64_t next = add_frequency(f, from, times_);
    if (next == kNotATime && !f.is_fixed() && (f.count < INT_MIN || f.count > INT_MAX))
      raise("OverflowError", "value too large to convert to int");
    if (next == kNotATime)
      raise("OutOfBoundsDatetime", "Cannot generate range with start=" + std::to_string(first.value_or(0)) +
                                       " and periods=" + std::to_string(periods.value_or(0)));
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
    // An end beyond the times that there are comes before the memory.
    if (f.is_fixed() && *periods > 0) step(*first, *periods - 1);
    if (f.is_fixed()) require_times(in, static_cast<double>(*periods));
    int64_t at = *first;
    for (int64_t k = 0; k < *periods; ++k) {
      times.push_back(at);
      if (k + 1 < *periods) at = step(at, 1);
    }
    return times;
  }
  if (!first || !last) return times;
  const bool forward = f.count > 0;
  if (f.is_fixed()) {
    const double steps = (static_cast<double>(*last) - static_cast<double>(*first)) / static_cast<double>(f.count);
    require_times(in, periods ? std::min(steps, static_cast<double>(*periods)) : steps);
  }
  for (int64_t at = *first; (forward ? at <= *last : at >= *last) && (!periods || static_cast<int64_t>(times.size()) < *periods);) {
    times.push_back(at);
    if (at == *last) break;
    at = f.is_fixed() ? add_frequency(f, at, 1) : step(at, 1);
    if (at == kNotATime) break;
  }
  return times;
}

/// The same by a pd.DateOffset, which leads from any moment to another.
std::vector<int64_t> by_offset(Interpreter& in, const Offset& offset, std::optional<int64_t> first, std::optional<int64_t> last,
                               std::optional<int64_t> periods) {
  std::vector<int64_t> times;
  const int64_t sign = first ? 1 : -1, most = periods.value_or(INT64_MAX);
  int64_t at = first ? *first : last.value_or(0);
  const auto beyond = [&](const Offset& steps) {
    steps.raise_beyond(false, "OutOfBoundsDatetime",
                       "Cannot generate range with start=" + std::to_string(at) + " by " + steps.frequency_text());
  };
  // An end beyond the times that there are comes before the memory.
  if (periods && *periods > 1) {
    const Value whole = offset.times(*periods - 1);
    if (whole.as<Offset>()->moved(at, sign) == kNotATime) beyond(*whole.as<Offset>());
  }
  if (periods) require_times(in, static_cast<double>(*periods));
  if (const int64_t next = offset.moved(at, sign); first && last && next != kNotATime && next > at)
    require_times(in, (static_cast<double>(*last) - static_cast<double>(at)) / (static_cast<double>(next) - static_cast<double>(at)));
  while (static_cast<int64_t>(times.size()) < most && (!first || !last || at <= *last)) {
    times.push_back(at);
    if (static_cast<int64_t>(times.size()) == most || (first && last && at == *last)) break;
    const int64_t next = offset.moved(at, sign);
    if (next == kNotATime) beyond(offset);
    if (!periods && next <= at) raise("ValueError", "Offset " + offset.frequency_text() + " did not increment date");
    at = next;
  }
  if (sign < 0) std::reverse(times.begin(), times.end());
  return times;
}

std::optional<int64_t> optional_int(Interpreter& in, const Value& v) { return v.is_none() ? std::nullopt : std::optional(to_index(in, v)); }

/// range(start, end, periods, freq): nanoseconds; without a frequency evenly from start to end.
Value range(Interpreter& in, Args args) {
  const auto start = optional_int(in, args[0]), end = optional_int(in, args[1]), periods = optional_int(in, args[2]);
  if (args[3].is_none()) {
    std::vector<int64_t> times;
    const int64_t count = periods.value_or(0);
    require_times(in, static_cast<double>(count));
    for (int64_t k = 0; k < count; ++k)
      times.push_back(k + 1 == count && count > 1
                          ? *end
                          : *start + static_cast<int64_t>(static_cast<double>(k) * (static_cast<double>(*end - *start) /
                                                                                    static_cast<double>(std::max<int64_t>(1, count - 1)))));
    return wrap_column(times_column(in.engine(), times));
  }
  if (const auto* offset = args[3].as<Offset>(); offset && offset->parts)
    return wrap_column(times_column(in.engine(), by_offset(in, *offset, start, end, periods)));
  return wrap_column(times_column(in.engine(), along(in, frequency_argument(in, args[3]), start, end, periods)));
}

/// add_offset(column, freq, times): each moment moved along a frequency, or by an offset, so many times. What pandas raises where one
/// leaves the times that there are: see Offset::raise_beyond().
Value add_offset(Interpreter& in, Args args) {
  const Column& column = column_of(args[0]);
  const Value one = args[1].as<Offset>() ? args[1] : offset_value(frequency_argument(in, args[1]));
  const Value all = one.as<Offset>()->times(to_index(in, args[2]));
  const Offset& offset = *all.as<Offset>();
  Column local{datetime_type(), local_node(in.engine(), column)};
  const ColumnData data = read(in.engine(), local);
  NewValues values(in.engine(), DType::i64, data.count);
  std::atomic<bool> beyond = false;
  over_rows(in.engine(), data.count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t from = data.as<int64_t>()[i], to = offset.moved(from, 1);
      if (to == kNotATime && from != kNotATime) beyond = true;
      values.as<int64_t>()[i] = to;
    }
  });
  if (beyond) offset.raise_beyond(true, "OverflowError", "Overflow in int64 addition");
  return wrap_column(placed(in, column, values.node()));
}

/// bins(column, freq, closed, label, origin, offset): (the bin of each row or -1, the labels of the bins) as pandas' resample cuts them;
/// origin is 'start_day', 'start', 'end', 'end_day', 'epoch' or nanoseconds, offset nanoseconds that the bins begin later.
Value bins(Interpreter& in, Args args) {
  Engine& engine = in.engine();
  const Column& column = column_of(args[0]);
  const Frequency f = frequency_argument(in, args[1]);
  using Unit = Frequency::Unit;
  const bool ends = f.unit == Unit::week || f.unit == Unit::month_end || f.unit == Unit::quarter_end || f.unit == Unit::year_end;
  const bool from_end = args[4].as<Str>() && gasell::str(in, args[4]).starts_with("end");
  const auto right_of = [&](const Value& v) { return v.is_none() ? ends || from_end : gasell::str(in, v) == "right"; };
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
      } else if (from_end) {
        const int64_t end = word == "end" ? last
                                          : rounded_time(Rounding::ceil, zone ? local_of_utc(*zone, last) : last, kDay) -
                                                (zone ? local_of_utc(*zone, last) - last : 0);
        first = end - (floor_divide(end - first, f.count) + (right ? 0 : 1)) * f.count;
        origin = first;
      }
      origin += to_index(in, args[5]);
      const int64_t before = floor_modulo(first - origin, f.count), behind = floor_modulo(last - origin, f.count);
      first = before > 0 ? first - before : right ? first - f.count : first;
      last = behind > 0 ? last + (f.count - behind) : right ? last : last + f.count;
    } else {
      first = rounded_time(Rounding::floor, first, kDay);
      last = rounded_time(Rounding::floor, last, kDay);
      first = right ? add_frequency(f, first, -1) : roll_back(f, first);
      last = add_frequency(f, last, 1);
    }
    labels = along(in, f, first, last, {});
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
  over_rows(engine, data.count, [&](int64_t begin, int64_t end) {
    // Most rows lie in the bin of the row before: [lowest, highest].
    int64_t lowest = 0, highest = -1, bin = -1;
    for (int64_t i = begin; i < end; ++i) {
      if (t[i] == kNotATime || bin_count == 0) {
        id[i] = -1;
        continue;
      }
      if (t[i] < lowest || t[i] > highest) {
        if (f.is_fixed()) {
          bin = right ? floor_divide(t[i] - edges[0] - 1, f.count) : floor_divide(t[i] - edges[0], f.count);
        } else {
          const auto place =
              right ? std::lower_bound(edges.begin(), edges.end(), t[i]) : std::upper_bound(edges.begin(), edges.end(), t[i]);
          bin = place - edges.begin() - 1;
        }
        bin = std::clamp<int64_t>(bin, 0, bin_count - 1);
        lowest = std::min(t[i], edges[static_cast<size_t>(bin)] + (right ? 1 : 0));
        highest = std::max(t[i], edges[static_cast<size_t>(bin) + 1] - (right ? 0 : 1));
      }
      id[i] = bin;
    }
  });
  if (label_right && !labels.empty()) labels.erase(labels.begin());
  labels.resize(static_cast<size_t>(bin_count));
  ColumnType type = column.type;
  Column made = times_column(engine, labels, type);
  if (by_clock && !type.zone.empty())
    made.values = utc_times(engine, made.values, TimeZone::named(type.zone), Ambiguous::first, Nonexistent::shift_forward);
  return make_tuple({numpy::wrap_array(ids.node()), wrap_column(std::move(made))});
}

/// frequency(text): (the normalised text, nanoseconds or None).
Value frequency(Interpreter& in, Args args) {
  if (const auto* offset = args[0].as<Offset>(); offset && offset->parts) return make_tuple({make_str(offset->frequency_text()), Value()});
  const Frequency f = frequency_argument(in, args[0]);
  return make_tuple({make_str(f.text), f.is_fixed() ? Value::of(f.count) : Value()});
}

/// offset(text): the offset that an index shows as its frequency; of a pd.DateOffset its text.
Value offset(Interpreter& in, Args args) {
  const std::string text = gasell::str(in, args[0]);
  return text.starts_with("<") ? args[0] : offset_value(parse_frequency(text));
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
    static constexpr std::pair<const char*, int64_t> kUnits[] = {
        {"D", kDay}, {"h", kHour}, {"min", kMinute}, {"s", kSecond}, {"ms", kMillisecond}, {"us", kMicrosecond}, {"ns", 1}};
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

std::vector<NativeFunction> time_range_functions() {
  return {
      {"range", "start, end, periods, freq", range, "Moments along a frequency."},
      {"add_offset", "column, freq, times", add_offset, "Moments moved along a frequency."},
      {"bins", "column, freq, closed, label, origin, offset", bins, "(bins of the rows, labels)."},
      {"frequency", "text", frequency, "(normalised text, nanoseconds or None)."},
      {"offset", "text", offset, "The offset of a frequency."},
      {"inferred", "column", inferred, "The frequency of moments."},
  };
}

}  // namespace gasell::pandas
