// Where the steps of an offset lead: their length, moments moved by them, and what is raised where there is no such moment.
#include <algorithm>
#include <climits>
#include <cmath>

#include "runtime/frame/time_parsing.h"
#include "stdlib/pandas/offsets.h"

namespace gasell::pandas {

using namespace frame;

int64_t limited_months(double months) { return static_cast<int64_t>(std::clamp(months, -0x1p40, 0x1p40)); }

int64_t Offset::length() const {
  const auto step = parts ? parts->nanoseconds : one.count;
  const auto ns = step ? checked_multiply(*step, count) : std::nullopt;
  if (!ns) raise("OutOfBoundsTimedelta", "Cannot cast " + text() + " to unit='ns' without overflow.");
  return *ns;
}

Frequency Offset::steps() const {
  Frequency f = one;
  if (parts) {
    if (parts->months != 0 || parts->sets_fields())
      raise("NotImplementedError", "a DateOffset of months or fields is no frequency of bins in Gasell", "use 'MS', 'ME', 'QS' …");
    return tick_frequency(length());
  }
  f.count = one.is_fixed() ? length() : count;
  f.text = frequency_text();
  return f;
}

Value Offset::times(int64_t n) const {
  int64_t product = 0;
  if (__builtin_mul_overflow(count, n, &product)) raise("OverflowError", "Python int too large to convert to C long");
  return with_count(product);
}

Value Offset::with_count(int64_t n) const {
  Value made = Value::make<Offset>(type_);
  Offset& offset = *made.as<Offset>();
  offset.count = n;
  offset.normalize = normalize;
  offset.one = one;
  offset.parts = parts;
  offset.keywords = keywords;
  return made;
}

int64_t Offset::moved_by_parts(int64_t ns, int64_t times) const {
  const auto span = parts->nanoseconds ? checked_multiply(*parts->nanoseconds, times) : std::nullopt;
  const int64_t months = limited_months(static_cast<double>(parts->months) * static_cast<double>(times));
  if (!span) return kNotATime;
  if (parts->sets_fields()) {
    const auto field = [](const std::optional<int64_t>& given, int64_t otherwise) {
      const int64_t value = given.value_or(otherwise);
      if (value > INT_MAX) raise("OverflowError", "signed integer is greater than maximum");
      if (value < INT_MIN) raise("OverflowError", "signed integer is less than minimum");
      return static_cast<int>(value);
    };
    Moment m = moment_of(ns);
    m.year = field(parts->year, m.year);
    m.month = field(parts->month, m.month);
    m.day = static_cast<int>(std::min<int64_t>(parts->day.value_or(m.day), days_in_month(m.year, std::clamp(m.month, 1, 12))));
    m.hour = field(parts->hour, m.hour);
    m.minute = field(parts->minute, m.minute);
    m.second = field(parts->second, m.second);
    const int microsecond = field(parts->microsecond, m.nanosecond / 1000);
    if (microsecond < 0 || microsecond > 999'999) raise("ValueError", "microsecond must be in 0..999999");
    if (parts->microsecond) m.nanosecond = microsecond * 1000;
    const ParsedTime checked = checked_time(m);
    if (checked.status == ParsedTime::Status::bad_date) raise("ValueError", checked.problem);
    if (!checked.ok()) return kNotATime;
    ns = checked.local;
    // The day that was asked for counts in the month that is reached.
    if (parts->day && months != 0) {
      const int64_t first = add_months(rounded_time(Rounding::floor, ns, kDay) - (m.day - 1) * kDay, months);
      if (first == kNotATime) return kNotATime;
      const Moment reached = moment_of(first);
      const auto day = std::min<int64_t>(*parts->day, days_in_month(reached.year, reached.month));
      return checked_add(days_from_date(reached.year, reached.month, day) * kDay + floor_modulo(ns, kDay), *span).value_or(kNotATime);
    }
  }
  const int64_t months_on = months ? add_months(ns, months) : ns;
  return months_on == kNotATime ? kNotATime : checked_add(months_on, *span).value_or(kNotATime);
}

void Offset::raise_beyond(bool column, std::string_view beyond_type, std::string beyond) const {
  const auto n = static_cast<double>(count);
  if (parts) {
    constexpr double kMostDays = 999'999'999;  // of a datetime.timedelta
    if (std::abs(parts->years * n) > INT_MAX)
      raise("OverflowError", column ? "value too large to convert to int" : "signed integer is greater than maximum");
    if (!column && std::abs(parts->days * n) > kMostDays) raise("OverflowError", "Python int too large to convert to C int");
    if (column) (void)length();
  } else if (is_tick()) {
    constexpr double kMostSeconds = 0x1p63;
    const double seconds = n * (static_cast<double>(one.count) / static_cast<double>(kSecond));
    if (column || std::abs(seconds) >= kMostSeconds) (void)length();
  } else if (count < INT_MIN || count > INT_MAX) {
    raise("OverflowError", "value too large to convert to int");
  }
  raise(std::string(beyond_type), std::move(beyond));
}

int64_t Offset::moved(int64_t ns, int64_t sign) const {
  if (ns == kNotATime) return ns;
  const int64_t result = parts ? moved_by_parts(ns, sign * count) : add_frequency(one, ns, sign * count);
  return normalize && result != kNotATime ? rounded_time(Rounding::floor, result, kDay) : result;
}

}  // namespace gasell::pandas
