// Frequencies: pandas' offset aliases, and steps along them.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "lang/diagnostic.h"
#include "runtime/frame/calendar.h"

namespace gasell::frame {
namespace {

using Unit = Frequency::Unit;

constexpr std::array<std::string_view, 7> kWeekdays = {"MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"};
constexpr std::array<std::string_view, 12> kMonths = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};

struct Tick {
  std::string_view name;
  int64_t nanoseconds;
};
constexpr std::array<Tick, 7> kTicks = {Tick{"D", kDay},      {"h", kHour},         {"min", kMinute}, {"s", kSecond},
                                        {"ms", kMillisecond}, {"us", kMicrosecond}, {"ns", 1}};

/// Spellings of older versions of pandas, which it takes still.
constexpr std::pair<std::string_view, std::string_view> kFormerNames[] = {
    {"d", "D"},  {"H", "h"},  {"T", "min"},  {"t", "min"},  {"S", "s"},    {"L", "ms"},   {"l", "ms"},   {"U", "us"},
    {"u", "us"}, {"N", "ns"}, {"n", "ns"},   {"M", "ME"},   {"Q", "QE"},   {"Y", "YE"},   {"A", "YE"},   {"AS", "YS"},
    {"b", "B"},  {"w", "W"},  {"BM", "BME"}, {"BQ", "BQE"}, {"BY", "BYE"}, {"BA", "BYE"}, {"BAS", "BYS"}};

[[noreturn]] void refuse(std::string_view text) {
  throw Error("ValueError", "Invalid frequency: " + std::string(text),
              "frequencies are D, h, min, s, ms, us, ns, B, W, W-MON, MS, ME, QS, QE, YS, YE, BMS, BME, BQS, BQE, BYS, BYE with a count in "
              "front, as in '15min'");
}

std::string with_count(int64_t count, std::string_view name) { return (count == 1 ? "" : std::to_string(count)) + std::string(name); }

template <size_t n>
int place_of(const std::array<std::string_view, n>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

/// One part, "15" and "min".
Frequency parse_part(std::string_view whole, double count, std::string_view name) {
  const size_t dash = name.find('-');
  std::string_view base = name.substr(0, dash);
  std::string anchor(dash == name.npos ? std::string_view() : name.substr(dash + 1));
  std::transform(anchor.begin(), anchor.end(), anchor.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (base == "Min" || base == "MIN") base = "min";
  if (base == "w") base = "W";
  for (const auto& [former, now] : kFormerNames)
    if (base == former) base = now;
  if (anchor.empty())
    for (const Tick& tick : kTicks) {
      if (base != tick.name) continue;
      const double nanoseconds = count * static_cast<double>(tick.nanoseconds);
      if (std::abs(nanoseconds) >= 9.2e18) refuse(whole);
      if (count == std::floor(count))
        return {Unit::tick, static_cast<int64_t>(count) * tick.nanoseconds, 0, with_count(static_cast<int64_t>(count), tick.name)};
      return tick_frequency(std::llround(nanoseconds));
    }
  if (count != std::floor(count)) refuse(whole);
  Frequency f;
  f.count = static_cast<int64_t>(count);
  if (base == "W") {
    f.unit = Unit::week;
    f.anchor = anchor.empty() ? 6 : place_of(kWeekdays, anchor);
    if (f.anchor < 0) refuse(whole);
    f.text = with_count(f.count, "W-" + std::string(kWeekdays[static_cast<size_t>(f.anchor)]));
    return f;
  }
  static constexpr std::pair<std::string_view, Unit> kUnits[] = {
      {"B", Unit::business_day}, {"MS", Unit::month_start}, {"ME", Unit::month_end}, {"QS", Unit::quarter_start},
      {"QE", Unit::quarter_end}, {"YS", Unit::year_start},  {"YE", Unit::year_end}};
  const bool business = base.size() > 1 && base[0] == 'B';
  for (const auto& [known, unit] : kUnits) {
    if ((business ? base.substr(1) : base) != known || (business && unit == Unit::business_day)) continue;
    f.unit = unit;
    f.business = business;
    f.text = with_count(f.count, base);
    const bool anchored = unit >= Unit::quarter_start;
    if (!anchored && !anchor.empty()) refuse(whole);
    if (!anchored) return f;
    const bool start = unit == Unit::quarter_start || unit == Unit::year_start;
    f.anchor = anchor.empty() ? (start ? 1 : 12) : place_of(kMonths, anchor) + 1;
    if (f.anchor < 1) refuse(whole);
    f.text += "-" + std::string(kMonths[static_cast<size_t>(f.anchor - 1)]);
    return f;
  }
  refuse(whole);
}

/// Whole months between two places where the unit may lie.
int months_of(Unit unit) {
  if (unit == Unit::year_start || unit == Unit::year_end) return 12;
  return unit == Unit::quarter_start || unit == Unit::quarter_end ? 3 : 1;
}
bool lies_at_end(Unit unit) { return unit == Unit::month_end || unit == Unit::quarter_end || unit == Unit::year_end; }

/// The unit's day in a month.
int day_in(const Frequency& f, int64_t year, int month) {
  const int day = lies_at_end(f.unit) ? days_in_month(year, month) : 1;
  const int excess = weekday(days_from_date(year, month, day)) - 4;  // Saturdays 1, Sundays 2
  if (!f.business || excess <= 0) return day;
  return lies_at_end(f.unit) ? day - excess : day + 3 - excess;
}

/// The unit's day of the month that is `months` behind the first one at or after the moment's; the time of day stays.
int64_t at_month(const Frequency& f, const Moment& moment, int64_t months) {
  Moment m = moment;
  const int64_t month = m.year * 12 + m.month - 1 + months;
  m.year = floor_divide(month, 12);
  m.month = static_cast<int>(floor_modulo(month, 12)) + 1;
  m.day = day_in(f, m.year, m.month);
  return nanoseconds_of(m).value_or(kNotATime);
}

/// Months from the moment's month to the next month (this one included) in which the unit lies.
int months_ahead(const Frequency& f, int month) {
  return static_cast<int>(floor_modulo(f.anchor == 0 ? 0 : f.anchor - month, months_of(f.unit)));
}

int64_t by_days(int64_t nanoseconds, int64_t days) {
  const auto step = checked_multiply(days, kDay);
  return step ? checked_add(nanoseconds, *step).value_or(kNotATime) : kNotATime;
}

}  // namespace

Frequency tick_frequency(int64_t nanoseconds) {
  for (const Tick& tick : kTicks)
    if (nanoseconds % tick.nanoseconds == 0) return {Unit::tick, nanoseconds, 0, with_count(nanoseconds / tick.nanoseconds, tick.name)};
  return {};
}

Frequency parse_frequency(std::string_view text) {
  std::string_view rest = text;
  Frequency sum;
  bool any = false;
  int64_t ticks = 0;
  while (!rest.empty() || !any) {
    while (!rest.empty() && (rest[0] == ' ' || rest[0] == '+' || (any && rest[0] == ','))) rest.remove_prefix(1);
    double count = 1;
    bool negative = false;
    if (!rest.empty() && rest[0] == '-') negative = true, rest.remove_prefix(1);
    if (!rest.empty() && (std::isdigit(static_cast<unsigned char>(rest[0])) || rest[0] == '.')) {
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), count, std::chars_format::fixed);
      if (error != std::errc()) refuse(text);
      rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    }
    while (!rest.empty() && rest[0] == ' ') rest.remove_prefix(1);
    size_t length = 0;
    while (length < rest.size() && (std::isalpha(static_cast<unsigned char>(rest[length])) || rest[length] == '-')) ++length;
    if (length == 0) refuse(text);
    const Frequency part = parse_part(text, negative ? -count : count, rest.substr(0, length));
    rest.remove_prefix(length);
    if (any && !(part.is_fixed() && sum.is_fixed())) refuse(text);
    ticks += part.is_fixed() ? part.count : 0;
    sum = any ? tick_frequency(ticks) : part;
    any = true;
  }
  if (sum.count == 0) refuse(text);
  return sum;
}

bool is_on_offset(const Frequency& f, int64_t nanoseconds) {
  switch (f.unit) {
    case Unit::tick: return true;
    case Unit::week: return weekday(floor_divide(nanoseconds, kDay)) == f.anchor;
    case Unit::business_day: return weekday(floor_divide(nanoseconds, kDay)) < 5;
    default: {
      const Moment m = moment_of(nanoseconds);
      return m.day == day_in(f, m.year, m.month) && months_ahead(f, m.month) == 0;
    }
  }
}

int64_t roll_forward(const Frequency& f, int64_t nanoseconds) {
  if (nanoseconds == kNotATime || is_on_offset(f, nanoseconds)) return nanoseconds;
  const int day = weekday(floor_divide(nanoseconds, kDay));
  if (f.unit == Unit::week) return by_days(nanoseconds, floor_modulo(f.anchor - day, 7));
  if (f.unit == Unit::business_day) return by_days(nanoseconds, 7 - day);
  const Moment m = moment_of(nanoseconds);
  const int ahead = months_ahead(f, m.month);
  return at_month(f, m, ahead > 0 || m.day < day_in(f, m.year, m.month) ? ahead : months_of(f.unit));
}

int64_t roll_back(const Frequency& f, int64_t nanoseconds) {
  if (nanoseconds == kNotATime || is_on_offset(f, nanoseconds)) return nanoseconds;
  const int day = weekday(floor_divide(nanoseconds, kDay));
  if (f.unit == Unit::week) return by_days(nanoseconds, -floor_modulo(day - f.anchor, 7));
  if (f.unit == Unit::business_day) return by_days(nanoseconds, 4 - day);
  const Moment m = moment_of(nanoseconds);
  const int ahead = months_ahead(f, m.month);
  return at_month(f, m, ahead > 0 || m.day < day_in(f, m.year, m.month) ? ahead - months_of(f.unit) : 0);
}

int64_t add_frequency(const Frequency& f, int64_t nanoseconds, int64_t times) {
  if (nanoseconds == kNotATime) return kNotATime;
  const auto count = checked_multiply(f.count, times);
  if (!count) return kNotATime;
  if (f.unit == Unit::tick) return checked_add(nanoseconds, *count).value_or(kNotATime);
  if (f.unit == Unit::business_day) return add_business_days(nanoseconds, *count);
  int64_t from = nanoseconds;
  if (!is_on_offset(f, nanoseconds)) {
    if (*count == 0) return roll_forward(f, nanoseconds);
    from = *count > 0 ? roll_back(f, nanoseconds) : roll_forward(f, nanoseconds);
  }
  if (from == kNotATime) return kNotATime;
  if (f.unit == Unit::week) return by_days(from, 7 * *count);
  return at_month(f, moment_of(from), *count * months_of(f.unit));
}

}  // namespace gasell::frame
