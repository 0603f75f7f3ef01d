#include "runtime/frame/time_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lang/diagnostic.h"
#include "runtime/frame/calendar.h"
#include "runtime/frame/time_parsing.h"

namespace gasell::frame {
namespace {

__extension__ using Wide = __int128;

struct Facts {
  std::string_view name, words;
  int64_t nanoseconds;
};
constexpr std::array<Facts, 11> kFacts = {{{"Y", "years", 0},
                                           {"M", "months", 0},
                                           {"W", "weeks", 7 * kDay},
                                           {"D", "days", kDay},
                                           {"h", "hours", kHour},
                                           {"m", "minutes", kMinute},
                                           {"s", "seconds", kSecond},
                                           {"ms", "milliseconds", kMillisecond},
                                           {"us", "microseconds", kMicrosecond},
                                           {"ns", "nanoseconds", 1},
                                           {"generic", "generic time units", 1}}};

const Facts& facts(TimeUnit unit) { return kFacts[static_cast<size_t>(unit)]; }

/// The length of a unit in nanoseconds as a fraction.
struct Length {
  Wide numerator;
  int64_t denominator;
};
Length length_of(TimeUnit unit) {
  constexpr int64_t kDaysOf400Years = 146'097;
  if (unit == TimeUnit::Y) return {Wide{kDaysOf400Years} * kDay, 400};
  if (unit == TimeUnit::M) return {Wide{kDaysOf400Years} * kDay, 4800};
  return {facts(unit).nanoseconds, 1};
}

Wide floor_wide(Wide a, Wide b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }

/// How many of a unit another one has, as a fraction without common factors, so that 128 bits hold its product with any count.
struct Ratio {
  Wide up, down;
};
Ratio ratio_of(TimeUnit from, TimeUnit to) {
  static const auto kRatios = [] {
    std::array<std::array<Ratio, kFacts.size()>, kFacts.size()> all;
    for (size_t i = 0; i < kFacts.size(); ++i)
      for (size_t j = 0; j < kFacts.size(); ++j) {
        const Length a = length_of(static_cast<TimeUnit>(i)), b = length_of(static_cast<TimeUnit>(j));
        const Wide up = a.numerator * b.denominator, down = b.numerator * a.denominator;
        Wide x = up, y = down;
        while (y != 0) {
          const Wide rest = x % y;
          x = y, y = rest;
        }
        all[i][j] = {up / x, down / x};
      }
    return all;
  }();
  return kRatios[static_cast<size_t>(from)][static_cast<size_t>(to)];
}

/// Reads a text from left to right.
class Reader {
 public:
  explicit Reader(std::string_view t) : text_(t) {}
  bool done() const { return at_ == text_.size(); }
  bool takes(char c) {
    if (done() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool on_digit() const { return !done() && text_[at_] >= '0' && text_[at_] <= '9'; }
  int digit() { return text_[at_++] - '0'; }
  /// Two digits. ValueError where there are none, or they lie beyond the limits.
  int two(const char* what, int low, int high) {
    const size_t begin = at_;
    if (!on_digit()) fail();
    int value = digit();
    if (!on_digit()) {
      at_ = begin + 1;
      fail(begin);
    }
    value = 10 * value + digit();
    if (value < low || value > high) throw Error("ValueError", fmt::format("{} out of range in datetime string \"{}\"", what, text_));
    return value;
  }
  [[noreturn]] void fail() const { fail(at_); }
  [[noreturn]] void fail(size_t position) const {
    throw Error("ValueError", fmt::format("Error parsing datetime string \"{}\" at position {}", text_, position));
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::string_view name_of(TimeUnit unit) { return facts(unit).name; }
std::string_view words_of(TimeUnit unit) { return facts(unit).words; }
int64_t nanoseconds_of(TimeUnit unit) { return facts(unit).nanoseconds; }

std::optional<TimeUnit> time_unit_named(std::string_view name) {
  if (name == "\xce\xbcs") name = "us";  // with the Greek letter
  for (size_t k = 0; k < kFacts.size(); ++k)
    if (kFacts[k].name == name) return static_cast<TimeUnit>(k);
  return {};
}

bool have_common_unit(TimeUnit a, TimeUnit b) {
  if (a == TimeUnit::generic || b == TimeUnit::generic) return true;
  return (a <= TimeUnit::M) == (b <= TimeUnit::M);
}

TimeUnit finer_unit(TimeUnit a, TimeUnit b) {
  if (a == TimeUnit::generic) return b;
  return b == TimeUnit::generic ? a : std::max(a, b);
}

int64_t convert_duration(int64_t count, TimeUnit from, TimeUnit to) {
  if (count == kNotATime || from == to || from == TimeUnit::generic || to == TimeUnit::generic) return count;
  const Ratio ratio = ratio_of(from, to);
  return static_cast<int64_t>(floor_wide(Wide{count} * ratio.up, ratio.down));
}

int64_t convert_moment(int64_t count, TimeUnit from, TimeUnit to) {
  if (count == kNotATime || from == to || from == TimeUnit::generic || to == TimeUnit::generic) return count;
  if (from <= TimeUnit::M && to > TimeUnit::M) {
    const int64_t months = from == TimeUnit::Y ? 0 : floor_modulo(count, 12), years = from == TimeUnit::Y ? count : floor_divide(count, 12);
    return convert_duration(days_from_date(1970 + years, static_cast<int>(months) + 1, 1), TimeUnit::D, to);
  }
  if (from > TimeUnit::M && to <= TimeUnit::M) {
    const Date d = date_from_days(convert_duration(count, from, TimeUnit::D));
    return to == TimeUnit::Y ? d.year - 1970 : (d.year - 1970) * 12 + d.month - 1;
  }
  return convert_duration(count, from, to);
}

std::optional<int64_t> duration_nanoseconds(int64_t count, TimeUnit unit) {
  if (count == kNotATime) return count;
  const int64_t size = nanoseconds_of(unit);
  return size ? checked_multiply(count, size) : checked_multiply(convert_duration(count, unit, TimeUnit::s), kSecond);
}

std::optional<int64_t> moment_nanoseconds(int64_t count, TimeUnit unit) {
  if (count == kNotATime) return count;
  if (nanoseconds_of(unit)) return checked_multiply(count, nanoseconds_of(unit));
  constexpr int64_t kFar = 100'000;  // months beyond all that nanoseconds hold
  if (count < -kFar || count > kFar) return std::nullopt;
  return checked_multiply(convert_moment(count, unit, TimeUnit::D), kDay);
}

TimeText parse_time_text(std::string_view text, std::optional<TimeUnit> wanted) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (text.empty() || lower == "nat") return {kNotATime, wanted.value_or(TimeUnit::generic)};
  if (text == "now" || text == "today") throw Error("NotImplementedError", "np.datetime64('" + std::string(text) + "') is not in Gasell");
  Reader in(text);
  const bool negative = in.takes('-');
  if (!negative) in.takes('+');
  if (!in.on_digit()) in.fail(0);
  int64_t year = 0;
  while (in.on_digit()) year = 10 * year + in.digit();
  if (negative) year = -year;
  int month = 1, day = 1;
  int64_t nanoseconds = 0;  // of the day
  const auto made = [&](TimeUnit own) -> TimeText {
    if (!in.done()) in.fail();
    const TimeUnit unit = wanted.value_or(own);
    if (unit == TimeUnit::Y) return {year - 1970, unit};
    if (unit == TimeUnit::M) return {(year - 1970) * 12 + month - 1, unit};
    const int64_t days = days_from_date(year, month, day);
    if (unit <= TimeUnit::D) return {convert_duration(days, TimeUnit::D, unit), unit};
    const int64_t size = nanoseconds_of(unit);
    return {
        static_cast<int64_t>(static_cast<uint64_t>(days) * static_cast<uint64_t>(kDay / size) + static_cast<uint64_t>(nanoseconds / size)),
        unit};
  };
  if (in.done()) return made(TimeUnit::Y);
  if (!in.takes('-')) in.fail();
  month = in.two("Month", 1, 12);
  if (in.done()) return made(TimeUnit::M);
  if (!in.takes('-')) in.fail();
  day = in.two("Day", 1, days_in_month(year, month));
  if (in.done()) return made(TimeUnit::D);
  if (!in.takes('T') && !in.takes(' ')) in.fail();
  nanoseconds += in.two("Hours", 0, 23) * kHour;
  TimeUnit own = TimeUnit::h;
  if (in.takes(':')) {
    own = TimeUnit::m;
    nanoseconds += in.two("Minutes", 0, 59) * kMinute;
    if (in.takes(':')) {
      own = TimeUnit::s;
      nanoseconds += in.two("Seconds", 0, 59) * kSecond;
      if (in.takes('.')) {
        int64_t size = kSecond;
        int digits = 0;
        for (; in.on_digit(); ++digits) nanoseconds += (size /= 10) * in.digit();
        if (digits == 0) in.fail();
        if (digits > 9 && !wanted)
          throw Error("NotImplementedError", fmt::format("times finer than nanoseconds (\"{}\") are not in Gasell", text));
        own = digits <= 3 ? TimeUnit::ms : digits <= 6 ? TimeUnit::us : TimeUnit::ns;
      }
    }
  }
  if (in.takes('Z') || in.takes('+') || in.takes('-'))
    throw Error("NotImplementedError", fmt::format("np.datetime64 of a text with a zone (\"{}\") is not in Gasell", text),
                "pd.Timestamp has zones");
  return made(own);
}

std::string time_text(int64_t count, TimeUnit unit) {
  if (count == kNotATime) return "NaT";
  if (unit == TimeUnit::generic) return std::to_string(count);
  if (unit == TimeUnit::Y) return fmt::format("{:04}", 1970 + count);
  if (unit == TimeUnit::M) return fmt::format("{:04}-{:02}", 1970 + floor_divide(count, 12), floor_modulo(count, 12) + 1);
  const int64_t days = convert_duration(count, unit, TimeUnit::D);
  const Date d = date_from_days(days);
  std::string out = fmt::format("{:04}-{:02}-{:02}", d.year, d.month, d.day);
  if (unit <= TimeUnit::D) return out;
  const int64_t size = nanoseconds_of(unit), rest = floor_modulo(count, kDay / size) * size;
  out += fmt::format("T{:02}", rest / kHour);
  if (unit >= TimeUnit::m) out += fmt::format(":{:02}", rest / kMinute % 60);
  if (unit >= TimeUnit::s) out += fmt::format(":{:02}", rest / kSecond % 60);
  const std::string fraction = fmt::format("{:09}", rest % kSecond);
  if (unit >= TimeUnit::ms) out += "." + fraction.substr(0, 3 * (static_cast<size_t>(unit) - static_cast<size_t>(TimeUnit::s)));
  return out;
}

}  // namespace gasell::frame
