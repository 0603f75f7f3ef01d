#include "runtime/frame/calendar.h"

#include <algorithm>
#include <array>
#include <utility>

namespace gasell::frame {

int64_t days_from_date(int64_t year, int month, int64_t day) {
  year -= month <= 2;
  const int64_t era = floor_divide(year, 400);
  const int64_t of_era = year - era * 400;
  const int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

Date date_from_days(int64_t days) {
  days += 719468;
  const int64_t era = floor_divide(days, 146097);
  const int64_t of_era = days - era * 146097;
  const int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
  const int64_t month = (5 * of_year + 2) / 153;
  const int calendar_month = static_cast<int>(month < 10 ? month + 3 : month - 9);
  return {year + era * 400 + (calendar_month <= 2), calendar_month, static_cast<int>(of_year - (153 * month + 2) / 5 + 1)};
}

int days_in_month(int64_t year, int month) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap_year(year) ? 29 : kDays[static_cast<size_t>(month - 1)];
}

int weekday(int64_t days) { return static_cast<int>(floor_modulo(days + 3, 7)); }

int day_of_year(const Date& date) {
  return static_cast<int>(days_from_date(date.year, date.month, date.day) - days_from_date(date.year, 1, 1)) + 1;
}

IsoWeek iso_week(int64_t days) {
  const int day = weekday(days);
  const int64_t thursday = days - day + 3;  // its year is the week's
  const Date date = date_from_days(thursday);
  return {date.year, (day_of_year(date) - 1) / 7 + 1, day + 1};
}

Moment moment_of(int64_t nanoseconds) {
  const int64_t days = floor_divide(nanoseconds, kDay);
  const int64_t rest = floor_modulo(nanoseconds, kDay);
  const Date date = date_from_days(days);
  return {date.year,
          date.month,
          date.day,
          static_cast<int>(rest / kHour),
          static_cast<int>(rest / kMinute % 60),
          static_cast<int>(rest / kSecond % 60),
          static_cast<int>(rest % kSecond)};
}

std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum) || sum == kNotATime) return {};
  return sum;
}

std::optional<int64_t> checked_multiply(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product) || product == kNotATime) return {};
  return product;
}

std::optional<int64_t> nanoseconds_of(const Moment& m) {
  if (m.year < 1677 || m.year > 2262) return {};
  const int64_t days = days_from_date(m.year, m.month, m.day);
  const int64_t seconds = days * 86400 + m.hour * 3600 + m.minute * 60 + m.second;
  // Towards zero first, so that the earliest moments do not overflow on the way.
  if (seconds < 0) {
    const auto whole = checked_multiply(seconds + 1, kSecond);
    return whole ? checked_add(*whole, m.nanosecond - kSecond) : whole;
  }
  const auto whole = checked_multiply(seconds, kSecond);
  return whole ? checked_add(*whole, m.nanosecond) : whole;
}

int64_t add_months(int64_t nanoseconds, int64_t months) {
  if (nanoseconds == kNotATime) return kNotATime;
  Moment m = moment_of(nanoseconds);
  const int64_t month = m.year * 12 + m.month - 1 + months;
  m.year = floor_divide(month, 12);
  m.month = static_cast<int>(floor_modulo(month, 12)) + 1;
  m.day = std::min(m.day, days_in_month(m.year, m.month));
  return nanoseconds_of(m).value_or(kNotATime);
}

int64_t add_business_days(int64_t nanoseconds, int64_t count) {
  if (nanoseconds == kNotATime) return kNotATime;
  const int64_t days = floor_divide(nanoseconds, kDay);
  const int day = weekday(days);
  // From the weekend a step forwards starts from Friday, a step backwards comes to Friday, and no step at all goes to Monday.
  int64_t steps = count;
  if (day > 4 && count < 0) ++steps;
  if (day > 4 && count == 0) steps = 1;
  const int64_t start = std::min(day, 4);
  const int64_t place = start + steps;  // business days since that week's Monday
  const int64_t target = days - day + floor_divide(place, 5) * 7 + floor_modulo(place, 5);
  const auto moved = checked_multiply(target - days, kDay);
  return moved ? checked_add(nanoseconds, *moved).value_or(kNotATime) : kNotATime;
}

// ---- fields ----

namespace {

/// Arithmetic over nodes as C++ spells it.
struct N {
  NodeRef node;
  N with(ScalarOp op, int64_t value) const {
    return {graph::map(op, {node, graph::constant(Scalar::of_int(value, node->dtype), node->shape)})};
  }
  N with(ScalarOp op, const N& b) const { return {graph::map(op, {node, b.node})}; }
  N operator+(int64_t b) const { return with(ScalarOp::add, b); }
  N operator-(int64_t b) const { return with(ScalarOp::sub, b); }
  N operator*(int64_t b) const { return with(ScalarOp::mul, b); }
  N operator/(int64_t b) const { return with(ScalarOp::floordiv, b); }
  N operator%(int64_t b) const { return with(ScalarOp::mod, b); }
  N operator+(const N& b) const { return with(ScalarOp::add, b); }
  N operator-(const N& b) const { return with(ScalarOp::sub, b); }
  N operator==(int64_t b) const { return with(ScalarOp::eq, b); }
  N operator!=(int64_t b) const { return with(ScalarOp::ne, b); }
  N operator<=(int64_t b) const { return with(ScalarOp::le, b); }
  N operator<(int64_t b) const { return with(ScalarOp::lt, b); }
  N operator==(const N& b) const { return with(ScalarOp::eq, b); }
  N operator&&(const N& b) const { return with(ScalarOp::logical_and, b); }
  N operator||(const N& b) const { return with(ScalarOp::logical_or, b); }
  N as(DType dtype) const { return {graph::cast(node, dtype)}; }
};
N select(const N& condition, const N& a, const N& b) { return {graph::map(ScalarOp::select, {condition.node, a.node, b.node})}; }
N select(const N& condition, int64_t a, const N& b) {
  return select(condition, N{graph::constant(Scalar::of_int(a, b.node->dtype), b.node->shape)}, b);
}

/// The 64-bit range has days from -106752 to 106751: 32 bits do for what follows, and in u32 divisions by constants are one product.
struct CivilNodes {
  N year, month, day;  // i32
};
N days_node(const N& ns) { return (ns / kDay).as(DType::i32); }

CivilNodes civil_nodes(const N& days) {
  const N shifted = (days + 719468).as(DType::u32);
  const N era = shifted / 146097;
  const N of_era = shifted - era * 146097;
  const N year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const N of_year = of_era - (year * 365 + year / 4 - year / 100);
  const N shifted_month = (of_year * 5 + 2) / 153;
  const N day = of_year - (shifted_month * 153 + 2) / 5 + 1;
  const N month = select(shifted_month < 10, shifted_month + 3, shifted_month - 9);
  const N calendar_year = year + era * 400 + (month <= 2).as(DType::u32);
  return {calendar_year.as(DType::i32), month.as(DType::i32), day.as(DType::i32)};
}

N leap_node(const N& year) { return ((year % 4 == 0) && (year % 100 != 0)) || (year % 400 == 0); }

/// Days of a month in 1 to 12: 31, one less in those of 30, 28 or 29 in February.
N month_length_node(const N& year, const N& month) {
  const N other = ((month + month / 8) % 2) + 30;
  return select(month == 2, leap_node(year).as(DType::i32) + 28, other);
}

/// Days since 1970-01-01 of a year's first of January.
N new_year_node(const N& year) {
  const N before = year - 1;
  return before * 365 + before / 4 - before / 100 + before / 400 - 719162;
}

N weekday_node(const N& days) { return (days + (3 + 7 * 20000)) % 7; }

}  // namespace

NodeRef keep_missing(const NodeRef& nanoseconds, const NodeRef& result) {
  return select(N{nanoseconds} == kNotATime, kNotATime, N{result}).node;
}

NodeRef time_field(TimeField field, const NodeRef& nanoseconds) {
  using F = TimeField;
  const N ns{nanoseconds};
  const auto of_day = [&](int64_t unit, int64_t count) { return ((ns / unit) % count).as(DType::i32).node; };
  switch (field) {
    case F::hour: return of_day(kHour, 24);
    case F::minute: return of_day(kMinute, 60);
    case F::second: return of_day(kSecond, 60);
    case F::microsecond: return of_day(kMicrosecond, 1'000'000);
    case F::nanosecond: return of_day(1, 1000);
    default: break;
  }
  const N days = days_node(ns);
  const auto present = [&](const N& truth) { return ((ns != kNotATime) && truth).node; };
  if (field == F::day_of_week) return weekday_node(days).node;
  if (field == F::iso_day) return (weekday_node(days) + 1).node;
  if (field == F::iso_week || field == F::iso_year) {
    const N thursday = days - weekday_node(days) + 3;
    const N year = civil_nodes(thursday).year;
    return field == F::iso_year ? year.node : ((thursday - new_year_node(year)) / 7 + 1).node;
  }
  const CivilNodes date = civil_nodes(days);
  switch (field) {
    case F::year: return date.year.node;
    case F::month: return date.month.node;
    case F::day: return date.day.node;
    case F::day_of_year: return (days - new_year_node(date.year) + 1).node;
    case F::quarter: return ((date.month + 2) / 3).node;
    case F::days_in_month: return month_length_node(date.year, date.month).node;
    case F::is_month_start: return present(date.day == 1);
    case F::is_month_end: return present(date.day == month_length_node(date.year, date.month));
    case F::is_quarter_start: return present((date.day == 1) && (date.month % 3 == 1));
    case F::is_quarter_end: return present((date.day == month_length_node(date.year, date.month)) && (date.month % 3 == 0));
    case F::is_year_start: return present((date.day == 1) && (date.month == 1));
    case F::is_year_end: return present((date.day == 31) && (date.month == 12));
    default: return present(leap_node(date.year));
  }
}

int64_t time_field(TimeField field, int64_t ns) {
  using F = TimeField;
  const Moment m = moment_of(ns);
  const Date date{m.year, m.month, m.day};
  const int64_t days = floor_divide(ns, kDay);
  const bool last = m.day == days_in_month(m.year, m.month);
  switch (field) {
    case F::year: return m.year;
    case F::month: return m.month;
    case F::day: return m.day;
    case F::hour: return m.hour;
    case F::minute: return m.minute;
    case F::second: return m.second;
    case F::microsecond: return m.nanosecond / 1000;
    case F::nanosecond: return m.nanosecond % 1000;
    case F::day_of_week: return weekday(days);
    case F::day_of_year: return day_of_year(date);
    case F::quarter: return (m.month + 2) / 3;
    case F::days_in_month: return days_in_month(m.year, m.month);
    case F::iso_year: return iso_week(days).year;
    case F::iso_week: return iso_week(days).week;
    case F::iso_day: return iso_week(days).day;
    case F::is_month_start: return m.day == 1;
    case F::is_month_end: return last;
    case F::is_quarter_start: return m.day == 1 && m.month % 3 == 1;
    case F::is_quarter_end: return last && m.month % 3 == 0;
    case F::is_year_start: return m.day == 1 && m.month == 1;
    case F::is_year_end: return m.day == 31 && m.month == 12;
    case F::is_leap_year: return is_leap_year(m.year);
  }
  return 0;
}

std::optional<TimeField> time_field_from_name(std::string_view name) {
  using F = TimeField;
  static constexpr std::pair<std::string_view, F> kNames[] = {{"year", F::year},
                                                              {"month", F::month},
                                                              {"day", F::day},
                                                              {"hour", F::hour},
                                                              {"minute", F::minute},
                                                              {"second", F::second},
                                                              {"microsecond", F::microsecond},
                                                              {"nanosecond", F::nanosecond},
                                                              {"dayofweek", F::day_of_week},
                                                              {"day_of_week", F::day_of_week},
                                                              {"weekday", F::day_of_week},
                                                              {"dayofyear", F::day_of_year},
                                                              {"day_of_year", F::day_of_year},
                                                              {"quarter", F::quarter},
                                                              {"days_in_month", F::days_in_month},
                                                              {"daysinmonth", F::days_in_month},
                                                              {"isoyear", F::iso_year},
                                                              {"isoweek", F::iso_week},
                                                              {"isoday", F::iso_day},
                                                              {"is_month_start", F::is_month_start},
                                                              {"is_month_end", F::is_month_end},
                                                              {"is_quarter_start", F::is_quarter_start},
                                                              {"is_quarter_end", F::is_quarter_end},
                                                              {"is_year_start", F::is_year_start},
                                                              {"is_year_end", F::is_year_end},
                                                              {"is_leap_year", F::is_leap_year}};
  for (const auto& [known, field] : kNames)
    if (known == name) return field;
  return {};
}

NodeRef duration_field(DurationField field, const NodeRef& nanoseconds) {
  const N ns{nanoseconds};
  switch (field) {
    case DurationField::days: return (ns / kDay).node;
    case DurationField::seconds: return ((ns / kSecond) % 86400).as(DType::i32).node;
    case DurationField::microseconds: return ((ns / kMicrosecond) % 1'000'000).as(DType::i32).node;
    case DurationField::nanoseconds: break;
  }
  return (ns % 1000).as(DType::i32).node;
}

int64_t duration_field(DurationField field, int64_t ns) {
  switch (field) {
    case DurationField::days: return floor_divide(ns, kDay);
    case DurationField::seconds: return floor_modulo(floor_divide(ns, kSecond), 86400);
    case DurationField::microseconds: return floor_modulo(floor_divide(ns, kMicrosecond), 1'000'000);
    case DurationField::nanoseconds: break;
  }
  return floor_modulo(ns, 1000);
}

std::optional<DurationField> duration_field_from_name(std::string_view name) {
  if (name == "days") return DurationField::days;
  if (name == "seconds") return DurationField::seconds;
  if (name == "microseconds") return DurationField::microseconds;
  if (name == "nanoseconds") return DurationField::nanoseconds;
  return {};
}

NodeRef total_seconds(const NodeRef& nanoseconds) {
  const NodeRef seconds =
      graph::map(ScalarOp::div, {graph::cast(nanoseconds, DType::f64), graph::constant(Scalar::of_float(1e9), nanoseconds->shape)});
  const NodeRef nothing = graph::constant(Scalar::of_float(__builtin_nan("")), nanoseconds->shape);
  return graph::map(ScalarOp::select, {(N{nanoseconds} == kNotATime).node, nothing, seconds});
}

NodeRef rounded_time(Rounding how, const NodeRef& nanoseconds, int64_t unit) {
  const N ns{nanoseconds};
  if (how == Rounding::floor) return keep_missing(nanoseconds, (ns - ns % unit).node);
  if (how == Rounding::ceil) {
    const N over = ns % unit;
    return keep_missing(nanoseconds, select(over == 0, ns, ns - over + unit).node);
  }
  const N over = ns % unit;
  const N down = ns - over;
  const N half = N{graph::constant(Scalar::of_int(unit - unit / 2), nanoseconds->shape)};  // above: over > unit / 2 rounded up
  const N above = {graph::map(ScalarOp::ge, {over.node, half.node})};
  if (unit % 2 != 0) return keep_missing(nanoseconds, select(above, down + unit, down).node);
  const N tie = over == unit / 2;
  const N odd = (ns / unit) % 2 == 1;
  const N up = select(tie, odd, above);
  return keep_missing(nanoseconds, select(up, down + unit, down).node);
}

int64_t rounded_time(Rounding how, int64_t ns, int64_t unit) {
  if (ns == kNotATime) return ns;
  const int64_t over = floor_modulo(ns, unit);
  if (over == 0) return ns;
  const bool odd = floor_modulo(floor_divide(ns, unit), 2) == 1;
  const bool up = how == Rounding::ceil || (how != Rounding::floor && (over == unit - over ? odd : over > unit - over));
  return checked_add(ns, up ? unit - over : -over).value_or(kNotATime);
}

}  // namespace gasell::frame
