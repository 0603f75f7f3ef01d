// Time zones from the machine's IANA database (/usr/share/zoneinfo, or $ZONEINFO): offsets of moments, and moments of local times.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/frame/column.h"

namespace gasell::frame {

class TimeZone {
 public:
  struct Offset {
    int32_t seconds;  // east of UTC
    bool daylight;
    uint32_t abbreviation;  // in abbreviations_
  };
  /// Kept for the life of the process. "UTC", "Europe/Berlin", fixed offsets as "+01:00" and "UTC-03:30". Throws
  /// Error("UnknownTimeZoneError", …); names from the user are bytes of no path outside of the database.
  static const TimeZone& named(std::string_view name);

  /// As it is shown: the name that was asked for; fixed offsets as "UTC+01:00".
  const std::string& name() const { return name_; }
  bool is_utc() const { return offsets_.size() == 1 && offsets_[0].seconds == 0; }
  const Offset& at(int64_t utc_seconds) const { return offsets_[period(utc_seconds)]; }
  std::string_view abbreviation(const Offset& offset) const { return abbreviations_.c_str() + offset.abbreviation; }

  struct Local {
    enum class Kind : uint8_t { once, twice, never } kind;
    int32_t first, second;  // offsets; twice: of the earlier and the later moment; never: before and after the gap; once: equal
    int64_t transition;     // UTC seconds; of the change in the other two cases
  };
  Local of_local(int64_t local_seconds) const;

 private:
  size_t period(int64_t utc_seconds) const;
  static TimeZone load(std::string_view name);
  static TimeZone fixed(int32_t seconds);
  static TimeZone from_file(const std::string& bytes, const std::string& name);
  void add(int64_t transition, Offset offset);
  uint32_t abbreviation_place(std::string_view text);
  void extend(std::string_view rule);

  std::string name_;
  std::vector<int64_t> transitions_;  // UTC seconds, ascending; period k begins with transition k; the first is INT64_MIN
  std::vector<Offset> offsets_;       // of the periods
  std::string abbreviations_;         // each with a NUL behind it
};

/// What becomes of local times that occur twice, or never (pandas' words).
enum class Ambiguous : uint8_t { raise, nat, first, second };  // first: daylight saving time
enum class Nonexistent : uint8_t { raise, nat, shift_forward, shift_backward, shift_by };

/// UTC nanoseconds of local ones. Throws Error: AmbiguousTimeError, NonExistentTimeError as pandas words them; kNotATime stays.
int64_t utc_of_local(const TimeZone& zone, int64_t local, Ambiguous ambiguous, Nonexistent nonexistent, int64_t shift = 0);
int64_t local_of_utc(const TimeZone& zone, int64_t utc);
/// Seconds east of UTC at a moment that is not NaT.
int32_t offset_of_utc(const TimeZone& zone, int64_t utc);

/// Columns of nanoseconds, on all cores.
NodeRef local_times(Engine& engine, const NodeRef& utc, const TimeZone& zone);
NodeRef utc_times(Engine& engine, const NodeRef& local, const TimeZone& zone, Ambiguous ambiguous = Ambiguous::raise,
                  Nonexistent nonexistent = Nonexistent::raise, int64_t shift = 0);

}  // namespace gasell::frame
