// The format of the files: RFC 9636 (TZif). The rule at a file's end, POSIX' TZ, is written out up to the year 2263, so that every look-up
// is a search in a table.
#include "runtime/frame/time_zones.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <utility>

#include "lang/diagnostic.h"
#include "runtime/device/workers.h"
#include "runtime/frame/calendar.h"
#include "runtime/frame/time_formatting.h"
#include "runtime/frame/time_parsing_text.h"

namespace gasell::frame {
namespace {

constexpr int64_t kLastYear = 2263;

[[noreturn]] void unknown(std::string_view name, std::string hint = {}) {
  throw Error("UnknownTimeZoneError", std::string(name), std::move(hint));
}

/// Big-endian numbers of a TZif file; throws std::out_of_range at its end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <class T>
  T number() {
    T value = 0;
    for (const char c : take(sizeof(T))) value = static_cast<T>((static_cast<uint64_t>(value) << 8) | static_cast<unsigned char>(c));
    return value;
  }
  std::string_view take(size_t count) {
    if (count > bytes_.size()) throw std::out_of_range("the file ends early");
    const std::string_view part = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return part;
  }
  std::string_view rest() const { return bytes_; }

 private:
  std::string_view bytes_;
};

struct Header {
  char version;
  uint32_t utc_flags, standard_flags, leaps, times, types, characters;
};
Header read_header(Reader& in) {
  if (in.take(4) != "TZif") throw std::out_of_range("no TZif file");
  Header h{};
  h.version = in.take(1)[0];
  in.take(15);
  h.utc_flags = in.number<uint32_t>();
  h.standard_flags = in.number<uint32_t>();
  h.leaps = in.number<uint32_t>();
  h.times = in.number<uint32_t>();
  h.types = in.number<uint32_t>();
  h.characters = in.number<uint32_t>();
  return h;
}

// ---- POSIX' TZ: "CET-1CEST,M3.5.0,M10.5.0/3" ----

class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : text_(text) {}
  bool at_end() const { return text_.empty(); }
  bool take(char c) {
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::string abbreviation() {
    if (take('<')) {
      const std::string name(text_.substr(0, text_.find('>')));
      text_.remove_prefix(std::min(text_.size(), name.size() + 1));
      return name;
    }
    size_t n = 0;
    while (n < text_.size() && std::isalpha(static_cast<unsigned char>(text_[n]))) ++n;
    const std::string name(text_.substr(0, n));
    text_.remove_prefix(n);
    return name;
  }
  int number() {
    int value = 0;
    while (!text_.empty() && std::isdigit(static_cast<unsigned char>(text_[0])))
      value = value * 10 + (text_[0] - '0'), text_.remove_prefix(1);
    return value;
  }
  /// [+-]hh[:mm[:ss]] in seconds.
  int clock() {
    const bool negative = take('-');
    if (!negative) take('+');
    int seconds = number() * 3600;
    if (take(':')) seconds += number() * 60;
    if (take(':')) seconds += number();
    return negative ? -seconds : seconds;
  }

 private:
  std::string_view text_;
};

/// The day of a change in a year, and the local second of that day.
struct ChangeDay {
  char form = 'M';  // M: month.week.day, J: day 1 to 365 without 29 February, 0: day 0 to 365
  int month = 0, week = 0, day = 0, seconds = 7200;

  int64_t local_seconds(int64_t year) const {
    int64_t days = days_from_date(year, 1, 1);
    if (form == 'J') {
      days += day - 1 + (day > 59 && is_leap_year(year));
    } else if (form == '0') {
      days += day;
    } else {
      const int64_t first = days_from_date(year, month, 1);
      const int sunday_based = (weekday(first) + 1) % 7;
      int64_t of_month = (day - sunday_based + 7) % 7 + 7 * (week - 1);
      while (of_month >= days_in_month(year, month)) of_month -= 7;
      days = first + of_month;
    }
    return days * 86400 + seconds;
  }
};
ChangeDay read_change(RuleReader& in) {
  ChangeDay change;
  if (in.take('M')) {
    change.month = in.number(), in.take('.');
    change.week = in.number(), in.take('.');
    change.day = in.number();
  } else {
    change.form = in.take('J') ? 'J' : '0';
    change.day = in.number();
  }
  if (in.take('/')) change.seconds = in.clock();
  return change;
}

/// "+01:00", "-0330", "+5" in seconds.
std::optional<int32_t> parse_offset(std::string_view text) {
  if (text.size() < 2 || (text[0] != '+' && text[0] != '-')) return {};
  std::string digits;
  for (const char c : text.substr(1)) {
    if (c == ':') continue;
    if (!std::isdigit(static_cast<unsigned char>(c))) return {};
    digits += c;
  }
  if (digits.size() == 1 || digits.size() == 3) digits.insert(0, "0");
  if (digits.size() != 2 && digits.size() != 4 && digits.size() != 6) return {};
  digits.resize(6, '0');
  const int hours = std::stoi(digits.substr(0, 2)), minutes = std::stoi(digits.substr(2, 2)), seconds = std::stoi(digits.substr(4, 2));
  if (hours > 23 || minutes > 59 || seconds > 59) return {};
  const int32_t total = hours * 3600 + minutes * 60 + seconds;
  return text[0] == '-' ? -total : total;
}

/// The name as the database has it, whatever its letters' case is here; the name itself where there is none such.
std::string spelling_of(const std::string& folder, std::string_view name) {
  if (std::filesystem::is_regular_file(folder + "/" + std::string(name))) return std::string(name);
  std::string found;
  while (!name.empty()) {
    const std::string_view part = name.substr(0, name.find('/'));
    name.remove_prefix(std::min(name.size(), part.size() + 1));
    std::error_code error;
    std::string spelled(part);
    for (const auto& entry : std::filesystem::directory_iterator(folder + "/" + found, error))
      if (equal_letters(entry.path().filename().string(), part)) spelled = entry.path().filename().string();
    found += (found.empty() ? "" : "/") + spelled;
  }
  return found;
}

constexpr int64_t kRowsATask = 1 << 16;

NodeRef convert(Engine& engine, const NodeRef& times, const auto& of_one) {
  Column column{datetime_type(), times};
  const ColumnData from = read(engine, column);
  NewValues to(engine, DType::i64, from.count);
  const int64_t* source = from.as<int64_t>();
  int64_t* target = to.as<int64_t>();
  in_parallel((from.count + kRowsATask - 1) / kRowsATask, [&](int64_t task) {
    if (engine.interrupt_flag()) throw Interrupted();
    const int64_t end = std::min(from.count, (task + 1) * kRowsATask);
    for (int64_t i = task * kRowsATask; i < end; ++i) target[i] = of_one(source[i]);
  });
  return to.node();
}

}  // namespace

const TimeZone& TimeZone::named(std::string_view name) {
  static std::mutex mutex;
  static auto& zones = *new std::map<std::string, std::unique_ptr<const TimeZone>, std::less<>>;
  std::lock_guard lock(mutex);
  auto found = zones.find(name);
  if (found == zones.end()) found = zones.emplace(std::string(name), std::make_unique<const TimeZone>(load(name))).first;
  return *found->second;
}

TimeZone TimeZone::load(std::string_view name) {
  if (name == "UTC" || name == "utc" || name == "Z" || name == "z") return fixed(0);
  if (const auto seconds = parse_offset(name)) return fixed(*seconds);
  if (name.starts_with("UTC"))
    if (const auto seconds = parse_offset(name.substr(3))) return fixed(*seconds);
  const bool plain = !name.empty() && name[0] != '/' && name.find("..") == name.npos && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '/' || c == '_' || c == '-' || c == '+';
  });
  if (!plain) unknown(name);
  const char* given = std::getenv("ZONEINFO");
  const std::string folder = given && *given ? given : "/usr/share/zoneinfo";
  // Names that the database keeps for old programs, which some distributions leave out.
  static constexpr std::pair<std::string_view, std::string_view> kOldNames[] = {
      {"US/Alaska", "America/Anchorage"},
      {"US/Arizona", "America/Phoenix"},
      {"US/Central", "America/Chicago"},
      {"US/Eastern", "America/New_York"},
      {"US/Hawaii", "Pacific/Honolulu"},
      {"US/Michigan", "America/Detroit"},
      {"US/Mountain", "America/Denver"},
      {"US/Pacific", "America/Los_Angeles"},
      {"Canada/Eastern", "America/Toronto"},
      {"Canada/Pacific", "America/Vancouver"},
      {"Japan", "Asia/Tokyo"},
      {"Singapore", "Asia/Singapore"},
      {"GB", "Europe/London"},
      {"Asia/Calcutta", "Asia/Kolkata"},
      {"Asia/Saigon", "Asia/Ho_Chi_Minh"},
      {"Asia/Katmandu", "Asia/Kathmandu"},
  };
  std::string found = spelling_of(folder, name);
  if (!std::ifstream(folder + "/" + found))
    for (const auto& [old_name, present] : kOldNames)
      if (old_name == name) {
        TimeZone zone = load(present);
        zone.name_ = old_name;
        return zone;
      }
  std::ifstream file(folder + "/" + found, std::ios::binary);
  std::ostringstream bytes;
  if (file) bytes << file.rdbuf();
  if (bytes.str().size() < 44) {
    const bool database = static_cast<bool>(std::ifstream(folder + "/Europe/Berlin"));
    unknown(name, database ? "zones have names such as 'Europe/Berlin', 'US/Eastern' and 'UTC'"
                           : "there is no database of time zones at " + folder + ": install the package tzdata, or set ZONEINFO");
  }
  try {
    return from_file(bytes.str(), found);
  } catch (const std::out_of_range&) {
    unknown(name, "the file " + folder + "/" + std::string(name) + " is no time zone");
  }
}

TimeZone TimeZone::fixed(int32_t seconds) {
  TimeZone zone;
  const int32_t size = std::abs(seconds);
  char text[16];
  std::snprintf(text, sizeof text, "%c%02d:%02d", seconds < 0 ? '-' : '+', size / 3600, size / 60 % 60);
  zone.name_ = seconds == 0 ? "UTC" : std::string("UTC") + text;
  if (size % 60 != 0) zone.name_ += ":" + std::to_string(100 + size % 60).substr(1);
  zone.add(INT64_MIN, {seconds, false, zone.abbreviation_place(zone.name_)});
  return zone;
}

uint32_t TimeZone::abbreviation_place(std::string_view text) {
  const auto place = static_cast<uint32_t>(abbreviations_.size());
  abbreviations_.append(text);
  abbreviations_ += '\0';
  return place;
}

void TimeZone::add(int64_t transition, Offset offset) {
  transitions_.push_back(transition);
  offsets_.push_back(offset);
}

TimeZone TimeZone::from_file(const std::string& bytes, const std::string& name) {
  Reader in(bytes);
  Header header = read_header(in);
  const auto block_size = [](const Header& h, size_t time_size) {
    return h.times * (time_size + 1) + h.types * size_t{6} + h.characters + h.leaps * (time_size + 4) + h.standard_flags + h.utc_flags;
  };
  const bool wide = header.version >= '2';
  if (wide) {
    in.take(block_size(header, 4));
    header = read_header(in);
  }
  TimeZone zone;
  zone.name_ = name;
  std::vector<int64_t> times(header.times);
  for (int64_t& t : times) t = wide ? in.number<int64_t>() : in.number<int32_t>();
  const std::string_view kinds = in.take(header.times);
  std::vector<Offset> types(header.types);
  for (Offset& type : types) {
    type.seconds = in.number<int32_t>();
    type.daylight = in.number<uint8_t>() != 0;
    type.abbreviation = in.number<uint8_t>();
  }
  zone.abbreviations_ = std::string(in.take(header.characters)) + '\0';
  in.take(header.leaps * (wide ? size_t{12} : size_t{8}) + header.standard_flags + header.utc_flags);
  if (types.empty()) throw std::out_of_range("no types");
  zone.add(INT64_MIN, types[0]);
  for (size_t i = 0; i < times.size(); ++i) {
    const Offset& type = types.at(static_cast<unsigned char>(kinds[i]));
    if (type.abbreviation >= zone.abbreviations_.size()) throw std::out_of_range("no such abbreviation");
    if (times[i] > zone.transitions_.back()) zone.add(times[i], type);
  }
  std::string_view rule = in.rest();
  if (wide && rule.size() > 2 && rule.front() == '\n') zone.extend(rule.substr(1, rule.find('\n', 1) - 1));
  return zone;
}

void TimeZone::extend(std::string_view rule) {
  RuleReader in(rule);
  const std::string standard_name = in.abbreviation();
  const int standard = -in.clock();
  if (in.at_end()) return;  // no daylight saving time: the last period goes on
  const std::string daylight_name = in.abbreviation();
  int daylight = standard + 3600;
  if (!in.take(',')) {
    daylight = -in.clock();
    in.take(',');
  }
  const ChangeDay begin = read_change(in);
  in.take(',');
  const ChangeDay end = read_change(in);
  const Offset winter{standard, false, abbreviation_place(standard_name)}, summer{daylight, true, abbreviation_place(daylight_name)};
  const int64_t last = transitions_.back();
  const int64_t first_year = last == INT64_MIN ? 1900 : date_from_days(floor_divide(last, 86400)).year;
  for (int64_t year = first_year; year <= kLastYear; ++year) {
    std::pair<int64_t, Offset> changes[] = {{begin.local_seconds(year) - standard, summer}, {end.local_seconds(year) - daylight, winter}};
    if (changes[1].first < changes[0].first) std::swap(changes[0], changes[1]);
    for (const auto& [time, offset] : changes)
      if (time > transitions_.back()) add(time, offset);
  }
}

size_t TimeZone::period(int64_t utc_seconds) const {
  return static_cast<size_t>(std::upper_bound(transitions_.begin() + 1, transitions_.end(), utc_seconds) - transitions_.begin()) - 1;
}

TimeZone::Local TimeZone::of_local(int64_t local) const {
  // Periods that may hold it: those at the UTC moments a day around.
  const size_t from = period(local - 86400), to = period(local + 86400);
  std::optional<size_t> first, second;
  for (size_t k = from; k <= to; ++k) {
    const int64_t utc = local - offsets_[k].seconds;
    if (utc < transitions_[k] || (k + 1 < transitions_.size() && utc >= transitions_[k + 1])) continue;
    (first ? second : first) = k;
    if (second) break;
  }
  if (first && second) return {Local::Kind::twice, offsets_[*first].seconds, offsets_[*second].seconds, transitions_[*second]};
  if (first) return {Local::Kind::once, offsets_[*first].seconds, offsets_[*first].seconds, 0};
  for (size_t k = from + 1; k <= to; ++k)
    if (local - offsets_[k - 1].seconds >= transitions_[k] && local - offsets_[k].seconds < transitions_[k])
      return {Local::Kind::never, offsets_[k - 1].seconds, offsets_[k].seconds, transitions_[k]};
  return {Local::Kind::once, offsets_[from].seconds, offsets_[from].seconds, 0};
}

int32_t offset_of_utc(const TimeZone& zone, int64_t utc) { return zone.at(floor_divide(utc, kSecond)).seconds; }

int64_t local_of_utc(const TimeZone& zone, int64_t utc) { return utc == kNotATime ? utc : utc + offset_of_utc(zone, utc) * kSecond; }

int64_t utc_of_local(const TimeZone& zone, int64_t local, Ambiguous ambiguous, Nonexistent nonexistent, int64_t shift) {
  if (local == kNotATime) return local;
  const TimeZone::Local found = zone.of_local(floor_divide(local, kSecond));
  switch (found.kind) {
    case TimeZone::Local::Kind::once: return local - found.first * kSecond;
    case TimeZone::Local::Kind::twice:
      if (ambiguous == Ambiguous::first) return local - found.first * kSecond;
      if (ambiguous == Ambiguous::second) return local - found.second * kSecond;
      if (ambiguous == Ambiguous::nat) return kNotATime;
      throw Error("AmbiguousTimeError", "Cannot infer dst time from " + timestamp_text(local) + ", try using the 'ambiguous' argument");
    case TimeZone::Local::Kind::never: break;
  }
  switch (nonexistent) {
    case Nonexistent::nat: return kNotATime;
    case Nonexistent::shift_forward: return found.transition * kSecond;
    case Nonexistent::shift_backward: return found.transition * kSecond - 1;
    case Nonexistent::shift_by: {
      const int64_t moved = local + shift;
      const TimeZone::Local there = zone.of_local(floor_divide(moved, kSecond));
      if (there.kind == TimeZone::Local::Kind::never)
        throw Error("ValueError", "The provided timedelta will relocalize on a nonexistent time: " + timedelta_repr_text(shift));
      return moved - (shift < 0 ? there.first : there.second) * kSecond;
    }
    case Nonexistent::raise: break;
  }
  throw Error("NonExistentTimeError", timestamp_text(local), "use the 'nonexistent' argument");
}

NodeRef local_times(Engine& engine, const NodeRef& utc, const TimeZone& zone) {
  if (zone.is_utc()) return utc;
  return convert(engine, utc, [&](int64_t t) { return local_of_utc(zone, t); });
}

NodeRef utc_times(Engine& engine, const NodeRef& local, const TimeZone& zone, Ambiguous ambiguous, Nonexistent nonexistent, int64_t shift) {
  if (zone.is_utc()) return local;
  return convert(engine, local, [&](int64_t t) { return utc_of_local(zone, t, ambiguous, nonexistent, shift); });
}

}  // namespace gasell::frame
