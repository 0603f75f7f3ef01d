// Datetimes in fields of CSV files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/frame/time_parsing.h"

namespace gasell::csv {

/// The one format of a column's datetimes.
struct DateFormat {
  enum class Form : uint8_t { none, iso, general, free };
  Form form = Form::none;
  // ISO 8601: 2024-05-17, or with a time.
  bool dashes = true;     // false: 20240517
  char between = 0;       // of the date and the time: ' ', 'T'; zero: no time
  bool seconds = true;    // false: 10:30
  bool fraction = false;  // 1 to 9 digits behind a point
  bool zone = false;      // Z, +02:00 or +0200
  std::shared_ptr<const frame::TimeFormat> general = {};
  bool day_first = false;  // free: any form that people write
};

/// The format of a value as pandas guesses it; nothing where it is no datetime.
std::optional<DateFormat> guess_format(std::string_view text, bool day_first);
/// Any form that people write, a value at a time.
DateFormat free_format(bool day_first);
/// The format that a strptime text says.
DateFormat format_of(const std::string& strptime);
/// Nanoseconds since 1970-01-01 (UTC where the format has a zone); nothing where the text is not in the format, or the time is not one that
/// 64 bits of nanoseconds hold.
std::optional<int64_t> parse_date(std::string_view text, const DateFormat& format);

}  // namespace gasell::csv
