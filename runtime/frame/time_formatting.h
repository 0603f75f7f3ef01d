// Times as text: str and repr of single values as pandas writes them, the precision that a whole column needs, strftime.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/frame/column.h"
#include "runtime/frame/time_zones.h"

namespace gasell::frame {

struct Moment;

/// What follows the date: nothing, or seconds with so many digits.
enum class TimePrecision : uint8_t { date, seconds, milliseconds, microseconds, nanoseconds };
/// The least that writes all of them exactly; of local nanoseconds.
TimePrecision precision_of(std::span<const int64_t> local_nanoseconds);
/// "2020-01-31 10:11:12.500"; "NaT".
std::string time_text(int64_t local_nanoseconds, TimePrecision precision);

/// str(pd.Timestamp(…)) of local nanoseconds: the fraction has six or nine digits, where there is one.
std::string timestamp_text(int64_t local_nanoseconds, char between = ' ');
/// "+0100", or "+01:00" with `colon`.
std::string offset_text(int32_t seconds, bool colon);

/// str(pd.Timedelta(…)): "1 days 02:03:04.500000", "-1 days +23:00:00"; "NaT".
std::string timedelta_repr_text(int64_t nanoseconds);
/// "P1DT2H3M4.5S", as pandas' isoformat writes it.
std::string timedelta_iso_text(int64_t nanoseconds);

/// strftime in the C locale; %f has six digits. `zone` null: %z and %Z are empty.
class TimeWriter {
 public:
  TimeWriter(std::string_view format, const TimeZone* zone) : format_(format), zone_(zone) {}
  /// Appends the text of a moment.
  void write(std::string& out, int64_t local_nanoseconds, int64_t utc_nanoseconds) const;
  /// The same of a moment of any year, by a format.
  void write(std::string& out, std::string_view format, const Moment& local, int64_t utc_seconds) const;

 private:
  const std::string format_;
  const TimeZone* const zone_;
};
std::string strftime_text(std::string_view format, int64_t local_nanoseconds, const TimeZone* zone, int64_t utc_nanoseconds);
std::string strftime_text(std::string_view format, const Moment& local, const TimeZone* zone, int64_t utc_seconds);

std::string_view month_name(int month);      // 1: "January"
std::string_view weekday_name(int weekday);  // 0: "Monday"

}  // namespace gasell::frame
