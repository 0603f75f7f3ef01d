// Calendars against counting days one by one, graphs against single values, time zones against known tables, parsers against formatters.
#include <cstdlib>
#include <random>

#include "catch.h"
#include "lang/diagnostic.h"
#include "runtime/frame/calendar.h"
#include "runtime/frame/time_formatting.h"
#include "runtime/frame/time_parsing.h"
#include "runtime/frame/time_zones.h"

using namespace gasell;
using namespace gasell::frame;

namespace {

int64_t at(int64_t year, int month, int day, int hour = 0, int minute = 0, int second = 0, int nanosecond = 0) {
  return nanoseconds_of({year, month, day, hour, minute, second, nanosecond}).value();
}

std::vector<int64_t> samples() {
  std::vector<int64_t> times = {0,    -1,    1,        INT64_MAX,       INT64_MIN + 1,  kNotATime,
                                kDay, -kDay, kDay - 1, at(2000, 2, 29), at(1900, 3, 1), at(2100, 2, 28, 23, 59, 59)};
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) times.push_back(static_cast<int64_t>(random()));
  return times;
}

NodeRef node_of(Engine& engine, const std::vector<int64_t>& times) {
  NewValues values(engine, DType::i64, static_cast<int64_t>(times.size()));
  std::copy(times.begin(), times.end(), values.as<int64_t>());
  return values.node();
}

}  // namespace

TEST_CASE("days count on through four centuries") {
  int64_t days = days_from_date(1800, 1, 1);
  int of_week = weekday(days), of_year = 1;
  CHECK(weekday(0) == 3);  // 1970-01-01 was a Thursday
  for (int64_t year = 1800; year < 2210; ++year) {
    of_year = 1;
    for (int month = 1; month <= 12; ++month)
      for (int day = 1; day <= days_in_month(year, month); ++day, ++days, ++of_year, of_week = (of_week + 1) % 7) {
        const Date date = date_from_days(days);
        if (date.year != year || date.month != month || date.day != day || days_from_date(year, month, day) != days ||
            weekday(days) != of_week || day_of_year(date) != of_year)
          FAIL(year << '-' << month << '-' << day);
      }
    REQUIRE(of_year - 1 == (is_leap_year(year) ? 366 : 365));
  }
}

TEST_CASE("ISO weeks of known days") {
  struct Known {
    int64_t year;
    int month, day;
    int64_t iso_year;
    int week, weekday;
  };
  for (const Known& k : {Known{2005, 1, 1, 2004, 53, 6},
                         {2007, 12, 31, 2008, 1, 1},
                         {2008, 12, 28, 2008, 52, 7},
                         {2010, 1, 3, 2009, 53, 7},
                         {2020, 12, 31, 2020, 53, 4}}) {
    const IsoWeek week = iso_week(days_from_date(k.year, k.month, k.day));
    CHECK(week.year == k.iso_year);
    CHECK(week.week == k.week);
    CHECK(week.day == k.weekday);
  }
}

TEST_CASE("moments come back from their parts, up to the limits") {
  for (const int64_t t : samples())
    if (t != kNotATime) REQUIRE(nanoseconds_of(moment_of(t)) == t);
  CHECK_FALSE(nanoseconds_of({2262, 4, 11, 23, 47, 16, 854775808}));
  CHECK_FALSE(nanoseconds_of({1677, 9, 21, 0, 12, 43, 145224192}));
  CHECK_FALSE(nanoseconds_of({1500, 1, 1}));
}

TEST_CASE("fields as graphs are those of single values") {
  Engine engine;
  const std::vector<int64_t> times = samples();
  const NodeRef node = node_of(engine, times);
  for (int f = 0; f <= static_cast<int>(TimeField::is_leap_year); ++f) {
    const auto field = static_cast<TimeField>(f);
    Column column = number_column(time_field(field, node));
    const ColumnData data = read(engine, column);
    const bool truth = field >= TimeField::is_month_start;
    for (size_t i = 0; i < times.size(); ++i) {
      if (times[i] == kNotATime) {
        if (truth) REQUIRE_FALSE(data.as<bool>()[i]);
        continue;
      }
      const int64_t got = truth ? data.as<bool>()[i] : data.as<int32_t>()[i];
      if (got != time_field(field, times[i])) FAIL("field " << f << " of " << times[i] << ": " << got);
    }
  }
  for (const Rounding how : {Rounding::floor, Rounding::ceil, Rounding::round})
    for (const int64_t unit : {int64_t{7}, kMicrosecond, kHour, 2 * kHour, 3 * kDay}) {
      std::vector<int64_t> inside = times;
      for (int64_t& t : inside)
        if (t != kNotATime) t /= 4;
      Column column{datetime_type(), rounded_time(how, node_of(engine, inside), unit)};
      const ColumnData data = read(engine, column);
      for (size_t i = 0; i < inside.size(); ++i)
        if (data.as<int64_t>()[i] != rounded_time(how, inside[i], unit)) FAIL(inside[i] << " to " << unit);
    }
}

TEST_CASE("rounding goes to the nearest multiple, ties to even ones") {
  CHECK(rounded_time(Rounding::round, 30 * kMinute, kHour) == 0);
  CHECK(rounded_time(Rounding::round, 90 * kMinute, kHour) == 2 * kHour);
  CHECK(rounded_time(Rounding::round, -30 * kMinute, kHour) == 0);
  CHECK(rounded_time(Rounding::floor, -1, kDay) == -kDay);
  CHECK(rounded_time(Rounding::ceil, -1, kDay) == 0);
}

TEST_CASE("frequencies are read and walked as pandas does") {
  CHECK(parse_frequency("90min").text == "90min");
  CHECK(parse_frequency("1h30min").text == "90min");
  CHECK(parse_frequency("1.5h").text == "90min");
  CHECK(parse_frequency("W").text == "W-SUN");
  CHECK(parse_frequency("Q").text == "QE-DEC");
  CHECK(parse_frequency("2D").count == 2 * kDay);
  CHECK_THROWS_AS(parse_frequency("xx"), Error);
  CHECK_THROWS_AS(parse_frequency("0D"), Error);
  CHECK_THROWS_AS(parse_frequency("1.5ME"), Error);
  CHECK(add_frequency(parse_frequency("ME"), at(2020, 1, 31)) == at(2020, 2, 29));
  CHECK(add_frequency(parse_frequency("ME"), at(2020, 1, 15)) == at(2020, 1, 31));
  CHECK(add_frequency(parse_frequency("MS"), at(2020, 1, 15)) == at(2020, 2, 1));
  CHECK(add_frequency(parse_frequency("QE-JAN"), at(2020, 1, 31), -1) == at(2019, 10, 31));
  CHECK(roll_back(parse_frequency("YS"), at(2020, 5, 5)) == at(2020, 1, 1));
  CHECK(roll_forward(parse_frequency("W-MON"), at(2020, 1, 1)) == at(2020, 1, 6));
  CHECK(add_months(at(2020, 3, 31), -1) == at(2020, 2, 29));
  // Business days against stepping over single days.
  for (int start = 0; start < 7; ++start)
    for (int count = -12; count <= 12; ++count) {
      if (count == 0) continue;
      const int64_t from = at(2020, 1, 6 + start);
      int64_t day = from / kDay;
      for (int left = std::abs(count); left > 0;) {
        day += count > 0 ? 1 : -1;
        if (weekday(day) < 5) --left;
      }
      CHECK(add_business_days(from, count) == day * kDay);
    }
}

TEST_CASE("time zones of known moments") {
  const TimeZone& berlin = TimeZone::named("Europe/Berlin");
  CHECK(offset_of_utc(berlin, at(2020, 1, 1)) == 3600);
  CHECK(offset_of_utc(berlin, at(2020, 7, 1)) == 7200);
  CHECK(offset_of_utc(berlin, at(2100, 7, 1)) == 7200);  // by the rule behind the table
  CHECK(offset_of_utc(berlin, at(2020, 3, 29, 0, 59, 59)) == 3600);
  CHECK(offset_of_utc(berlin, at(2020, 3, 29, 1)) == 7200);
  CHECK(offset_of_utc(TimeZone::named("America/St_Johns"), at(2020, 1, 1)) == -12600);
  CHECK(offset_of_utc(TimeZone::named("Asia/Kathmandu"), at(2020, 1, 1)) == 20700);
  CHECK(TimeZone::named("europe/berlin").name() == "Europe/Berlin");
  CHECK(TimeZone::named("+05:30").name() == "UTC+05:30");
  for (const char* bad : {"Mars/Olympus", "../../etc/passwd", "/etc/passwd", "", "Europe"}) CHECK_THROWS_AS(TimeZone::named(bad), Error);
}

TEST_CASE("every moment comes back from its local time") {
  for (const char* name : {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "UTC"}) {
    const TimeZone& zone = TimeZone::named(name);
    for (int64_t utc = at(1950, 1, 1); utc < at(2060, 1, 1); utc += 5 * kDay + 7 * kHour + 13 * kMinute) {
      const int64_t local = local_of_utc(zone, utc);
      const int64_t first = utc_of_local(zone, local, Ambiguous::first, Nonexistent::raise);
      if (first != utc && utc_of_local(zone, local, Ambiguous::second, Nonexistent::raise) != utc) FAIL(name << ' ' << timestamp_text(utc));
    }
  }
  const TimeZone& berlin = TimeZone::named("Europe/Berlin");
  const int64_t twice = at(2020, 10, 25, 2, 30), never = at(2020, 3, 29, 2, 30);
  CHECK(utc_of_local(berlin, twice, Ambiguous::first, Nonexistent::raise) == at(2020, 10, 25, 0, 30));
  CHECK(utc_of_local(berlin, twice, Ambiguous::second, Nonexistent::raise) == at(2020, 10, 25, 1, 30));
  CHECK(utc_of_local(berlin, twice, Ambiguous::nat, Nonexistent::raise) == kNotATime);
  CHECK_THROWS_AS(utc_of_local(berlin, twice, Ambiguous::raise, Nonexistent::raise), Error);
  CHECK(utc_of_local(berlin, never, Ambiguous::raise, Nonexistent::shift_forward) == at(2020, 3, 29, 1));
  CHECK(utc_of_local(berlin, never, Ambiguous::raise, Nonexistent::shift_backward) == at(2020, 3, 29, 1) - 1);
  CHECK(utc_of_local(berlin, never, Ambiguous::raise, Nonexistent::shift_by, kHour) == at(2020, 3, 29, 1, 30));
  CHECK_THROWS_AS(utc_of_local(berlin, never, Ambiguous::raise, Nonexistent::raise), Error);
}

TEST_CASE("what is written is read again") {
  for (const int64_t t : samples()) {
    if (t == kNotATime) continue;
    const std::string text = timestamp_text(t);
    REQUIRE(parse_iso_time(text).local == t);
    REQUIRE(parse_iso_time(timestamp_text(t, 'T') + "Z").utc() == t);
    REQUIRE(parse_timedelta(timedelta_repr_text(t)) == t);
    const int64_t whole = floor_divide(t, kSecond) * kSecond;
    if (t < INT64_MIN + kSecond) continue;
    for (const char* format : {"%Y-%m-%d %H:%M:%S", "%d.%m.%Y %I:%M:%S %p", "%j/%Y %H%M%S", "%A, %d %B %Y %H:%M:%S", "%b %d %Y %H:%M:%S"})
      if (TimeFormat(format).parse(strftime_text(format, whole, nullptr, whole)).local != whole) FAIL(format << ' ' << text);
  }
}

TEST_CASE("texts that are no times say so and crash nothing") {
  for (const char* text : {"",
                           " ",
                           "-",
                           "2020-",
                           "2020-0",
                           "2020-13-01",
                           "2020-02-30",
                           "T",
                           "20",
                           "99999999999999999999",
                           "2020-01-01T",
                           "2020-01-01 10:",
                           "1/2",
                           "a/b/c",
                           "\xff\xfe",
                           "2020-01-01 10:11:12.",
                           "+01:00",
                           "Q",
                           "2020Q9",
                           "pm"}) {
    parse_iso_time(text);
    parse_free_time(text, true);
    guess_time_format(text);
    TimeFormat("%Y-%m-%d").parse(text);
    TimeFormat("%d %b %Y %I:%M %p %z").parse(text, false);
    try {
      parse_timedelta(text);
    } catch (const Error&) {
    }
  }
  CHECK(parse_free_time("2020-02-30").status == ParsedTime::Status::bad_date);
  CHECK(parse_free_time("foo").status == ParsedTime::Status::no_match);
  CHECK(parse_free_time("3000-01-01").status == ParsedTime::Status::out_of_bounds);
  std::mt19937 random(3);
  const std::string letters = "0123456789-/:. TZ+JanPM%";
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (uint32_t n = random() % 24; n > 0; --n) text += letters[random() % letters.size()];
    parse_free_time(text);
    if (const auto format = guess_time_format(text)) CHECK(TimeFormat(*format).parse(text).ok());
    try {
      parse_timedelta(text);
    } catch (const Error&) {
    }
  }
}

TEST_CASE("formats that texts seem to have") {
  CHECK(guess_time_format("2020-01-31 10:11:12.5") == "%Y-%m-%d %H:%M:%S.%f");
  CHECK(guess_time_format("31/01/2020") == "%d/%m/%Y");
  CHECK(guess_time_format("01/02/2020") == "%m/%d/%Y");
  CHECK(guess_time_format("01/02/2020", true) == "%d/%m/%Y");
  CHECK(guess_time_format("5 Jan 2020") == "%d %b %Y");
  CHECK(guess_time_format("20200131T101112Z") == "%Y%m%dT%H%M%S%z");
  CHECK_FALSE(guess_time_format("foo"));
  CHECK_FALSE(guess_time_format("01/02/20"));
}
