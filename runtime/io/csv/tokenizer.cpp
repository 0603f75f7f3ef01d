#include "runtime/io/csv/tokenizer.h"

#include <cstring>

namespace gasell::csv {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Moves behind the line's end that is at `at`.
void take_line_end(const Dialect& d, const char*& at, const char* end) {
  const bool maybe_two = *at == '\r' && !d.line_end;
  ++at;
  if (maybe_two && at < end && *at == '\n') ++at;
}

void take_rest(const Dialect& d, const char*& at, const char* end) {
  while (at < end && !d.ends_line(*at)) ++at;
  if (at < end) take_line_end(d, at, end);
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
    if (p == end || d.ends_line(*p)) {
      at = p;
      if (p < end) take_line_end(d, at, end);
      return Line::nothing;
    }
  }
  if (d.whitespace) skip_blanks(true);
  if (at < end && comments(*at)) {
    take_rest(d, at, end);
    return Line::nothing;
  }

  for (;;) {  // a field at a time
    if (d.skip_initial_space) skip_blanks(false);
    bool quoted = false;
    if (at < end && d.quote && *at == d.quote && *at != d.line_end) {
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
      } else if (d.ends_line(c)) {
        sink.end_field();
        take_line_end(d, at, end);
        return Line::record;
      } else if (separates(c)) {
        if (d.whitespace)
          skip_blanks(true);
        else
          ++at;
        if (d.whitespace && (at == end || d.ends_line(*at) || comments(*at))) continue;  // blanks at the end begin no field
        sink.end_field();
        break;
      } else if (comments(c)) {
        sink.end_field();
        take_rest(d, at, end);
        return Line::record;
      } else if (d.escape && c == d.escape) {
        if (++at == end) return Line::escaping;
        sink.put(*at++);
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
