// Times from text: ISO 8601, formats of strptime, and the free forms that people write; durations. What pandas' parsers take, and what they
// refuse.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/frame/column.h"

namespace gasell::frame {

/// What a text says, or why it says nothing.
struct ParsedTime {
  enum class Status : uint8_t { ok, missing, no_match, trailing, out_of_bounds, bad_date } status = Status::no_match;
  int64_t local = 0;              // nanoseconds of the time as it is written
  std::optional<int32_t> offset;  // seconds east of UTC, where the text says so
  size_t read = 0;                // trailing: the bytes that the format took
  const char* problem = nullptr;  // bad_date: "month must be in 1..12"

  bool ok() const { return status == Status::ok; }
  /// UTC nanoseconds of the text's offset; local ones where it has none. kNotATime where that does not fit.
  int64_t utc() const;
};

struct Moment;
/// The moment as a time; bad_date where one of its parts is outside of its range.
ParsedTime checked_time(const Moment& moment, std::optional<int32_t> offset = {});

/// "", "NaT", "nan", "None", "<NA>" …
bool is_missing_time(std::string_view text);

/// Year to nanoseconds in any of the forms of ISO 8601 that pandas takes: "2020", "2020-01-31T10:11:12.5+01:00", "20200131", with '/' or
/// '.' too.
ParsedTime parse_iso_time(std::string_view text);

/// Any of the usual forms: ISO 8601, "1/31/2020", "31 January 2020 3:04 PM", "Jan 5, 2020", "2020Q2", "now", "today".
ParsedTime parse_free_time(std::string_view text, bool dayfirst = false, bool yearfirst = false);

/// A strptime format, compiled: "%d.%m.%Y %H:%M".
class TimeFormat {
 public:
  /// Throws Error("ValueError", "'Q' is a bad directive in format '%Q'").
  explicit TimeFormat(std::string_view format);
  /// The whole text, or only its beginning where not `exact`.
  ParsedTime parse(std::string_view text, bool exact = true) const;
  const std::string& text() const { return text_; }

 private:
  struct Step {
    char directive;  // 0: the literal
    char literal;    // a blank stands for any number of them
  };
  ParsedTime parse_fixed(std::string_view text) const;
  std::string text_;
  std::vector<Step> steps_;
  size_t fixed_length_ = 0;  // of a text whose numbers all have their full width; 0: the format has parts of other lengths
};

/// The format that a text seems to have, or nothing where that is not certain: how pandas reads a column after its first value.
std::optional<std::string> guess_time_format(std::string_view text, bool dayfirst = false);

/// "1 days 02:03:04.5", "1h30min", "-5 s", "00:10:00", "P1DT2H". Throws Error("ValueError", …) as pd.Timedelta words it; missing texts give
/// NaT.
int64_t parse_timedelta(std::string_view text);
/// Nanoseconds of a unit that pd.Timedelta and to_timedelta name: "h", "hours", "ms" … ; nothing where there is none.
std::optional<int64_t> timedelta_unit(std::string_view name);
/// A number of units, as pandas rounds it: OutOfBoundsTimedelta beyond 64 bits.
int64_t scaled_time(double number, int64_t unit);

}  // namespace gasell::frame
