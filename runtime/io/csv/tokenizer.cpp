#include "runtime/io/csv/tokenizer.h"

#include <cstring>

namespace gasell::csv {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Moves behind the line's end at `at`, if there is one.
bool take_line_end(const char*& at, const char* end) {
  if (*at == '\n') {
    ++at;
    return true;
  }
  if (*at != '\r') return false;
  ++at;
  if (at < end && *at == '\n') ++at;
  return true;
}

void take_rest(const char*& at, const char* end) {
  while (at < end && *at != '\n' && *at != '\r') ++at;
  if (at < end) take_line_end(at, end);
}

struct Nothing {
  void put(char) {}
  void end_field() {}
};

struct Collect {
  Fields& fields;
  void put(char c) { fields.text += c; }
  void end_field() {
    fields.ends.push_back(static_cast<uint32_t>(fields.text.size()));
    fields.text += '\0';
  }
};

template <class Sink>
Line read(const Dialect& d, const char*& at, const char* end, Sink sink) {
  const auto separates = [&](char c) { return d.whitespace ? is_blank(c) : c == d.separator; };
  const auto comments = [&](char c) { return d.comment && c == d.comment; };
  const auto skip_blanks = [&](bool separator_too) {
    while (at < end && is_blank(*at) && (separator_too || *at != d.separator)) ++at;
  };

  if (d.skip_blank_lines) {
    const char* p = at;
    while (p < end && is_blank(*p) && (d.whitespace || *p != d.separator)) ++p;
    if (p == end || *p == '\n' || *p == '\r') {
      at = p;
      if (p < end) take_line_end(at, end);
      return Line::nothing;
    }
  }
  if (d.whitespace) skip_blanks(true);
  if (at < end && comments(*at)) {
    take_rest(at, end);
    return Line::nothing;
  }

  for (;;) {  // a field at a time
    if (d.skip_initial_space) skip_blanks(false);
    bool quoted = false;
    if (at < end && d.quote && *at == d.quote) {
      quoted = true;
      ++at;
    }
    for (;;) {
      if (at == end) {
        if (quoted) return Line::unclosed;
        sink.end_field();
        return Line::record;
      }
      const char c = *at;
      if (quoted) {
        ++at;
        if (d.escape && c == d.escape) {
          if (at == end) return Line::unclosed;
          sink.put(*at++);
        } else if (c != d.quote) {
          sink.put(c);
        } else if (d.double_quote && at < end && *at == d.quote) {
          sink.put(*at++);
        } else {
          quoted = false;
        }
      } else if (separates(c)) {
        if (d.whitespace)
          skip_blanks(true);
        else
          ++at;
        if (d.whitespace && (at == end || *at == '\n' || *at == '\r' || comments(*at))) continue;  // blanks at the end begin no field
        sink.end_field();
        break;
      } else if (c == '\n' || c == '\r') {
        sink.end_field();
        take_line_end(at, end);
        return Line::record;
      } else if (comments(c)) {
        sink.end_field();
        take_rest(at, end);
        return Line::record;
      } else if (d.escape && c == d.escape) {
        ++at;
        if (at < end) sink.put(*at++);
      } else {
        sink.put(c);
        ++at;
      }
    }
  }
}

}  // namespace

Line read_line(const Dialect& dialect, const char*& at, const char* end, Fields& fields) { return read(dialect, at, end, Collect{fields}); }
Line skip_line(const Dialect& dialect, const char*& at, const char* end) { return read(dialect, at, end, Nothing{}); }

}  // namespace gasell::csv
