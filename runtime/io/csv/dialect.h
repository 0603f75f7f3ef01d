// How the bytes of a CSV file are parted into records and fields.
#pragma once

namespace gasell::csv {

/// Zero stands for "none" in `quote`, `escape` and `comment`.
struct Dialect {
  char separator = ',';
  bool whitespace = false;   // fields are parted by runs of blanks and tabs; `separator` is not used
  char quote = '"';          // opens a field at its beginning only; zero: quotes are text
  bool double_quote = true;  // two quotes within a quoted field are one
  char escape = 0;           // the next byte is text
  char comment = 0;          // the rest of the line is none
  char line_end = 0;         // zero: a line feed, a carriage return or both
  bool skip_initial_space = false;
  bool skip_blank_lines = true;

  /// Whether an even number of quotes before a line's end says that the record ends there (as long as quotes stand where they should).
  bool by_parity() const {
    return !whitespace && (double_quote || !quote) && !escape && !comment && !skip_initial_space && (!line_end || line_end == '\n');
  }

  bool ends_line(char c) const { return line_end ? c == line_end : c == '\n' || c == '\r'; }
};

}  // namespace gasell::csv
