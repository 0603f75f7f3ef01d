// Pieces that the parsers of times share.
#pragma once

#include <cctype>
#include <optional>
#include <string_view>

#include "lang/characters.h"
#include "runtime/frame/calendar.h"
#include "runtime/frame/time_parsing.h"

namespace gasell::frame {

inline size_t count_digits(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - at;
}
/// Of digits that are there; at most nine.
inline int number_at(std::string_view text, size_t at, size_t count) {
  int value = 0;
  for (size_t i = 0; i < count; ++i) value = value * 10 + (text[at + i] - '0');
  return value;
}
/// Equal ASCII letters, whatever their case.
inline bool equal_letters(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(a[i])) != std::tolower(static_cast<unsigned char>(b[i]))) return false;
  return true;
}
/// 1 to 12, or 0; 0 to 6, or -1. Full names and those of three letters.
int month_of_name(std::string_view word);
int weekday_of_name(std::string_view word);
/// "Z", "+01:00", "-0330", "+5" at `at`, which moves behind it.
std::optional<int32_t> read_offset(std::string_view text, size_t& at);
/// Digits behind a point as nanoseconds; what goes beyond nine is cut off.
int read_fraction(std::string_view text, size_t& at);

}  // namespace gasell::frame
