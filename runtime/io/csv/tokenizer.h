// Records of CSV text by the rules of pandas' C parser, a byte at a time: for text that the fast way (scan.h) does not take.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/io/csv/dialect.h"

namespace gasell::csv {

/// A record's fields without quotes, one behind the other, each followed by one byte.
struct Fields {
  std::string text;
  std::vector<uint32_t> ends;  // where each one's byte is

  int64_t size() const { return static_cast<int64_t>(ends.size()); }
  std::string_view operator[](int64_t i) const {
    const uint32_t begin = i ? ends[static_cast<size_t>(i) - 1] + 1 : 0;
    return std::string_view(text).substr(begin, ends[static_cast<size_t>(i)] - begin);
  }
  void clear() {
    text.clear();
    ends.clear();
  }
};

enum class Line : uint8_t {
  record,
  nothing,   // blank, or a comment
  unclosed,  // a record whose quotes end nowhere
  escaping,  // a record that ends with the character that escapes the next one
};

/// Reads the line at `at`, which is before `end`, adds its fields and moves behind it.
Line read_line(const Dialect& dialect, const char*& at, const char* end, Fields& fields);
/// The same without looking at the fields: moves behind the line.
Line skip_line(const Dialect& dialect, const char*& at, const char* end);

}  // namespace gasell::csv
