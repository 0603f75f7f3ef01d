#include "lang/layout.h"

#include <fmt/core.h>

#include <algorithm>

#include "lang/characters.h"
#include "lang/parser.h"
#include "lang/string_scan.h"

namespace gasell {

void fail_at(const SourceRef& source, Span span, std::string message, std::string hint, std::string kind) {
  throw Error(Diagnostic{Blame::user, std::move(kind), std::move(message), Label{source, span, {}}, {}, std::move(hint)});
}

void refuse_at(const SourceRef& source, Span span, std::string message, std::string hint, std::string kind) {
  throw Error(Diagnostic{Blame::limitation, std::move(kind), std::move(message), Label{source, span, {}}, {}, std::move(hint)});
}

namespace {

struct Bracket {
  char character;
  uint32_t offset;
};
/// Width of an indentation with tabs as Python measures it: to the next multiple of 8, and as one column. Where the two orders of
/// two lines differ, their nesting depends on the width of a tab.
struct Indent {
  int column, alternative;
};

class LayoutPass {
 public:
  LayoutPass(const SourceRef& source, Span range, bool one_line)
      : source_(source), text_(source->text()), at_(range.begin), end_(range.end), one_line_(one_line) {
    out_.source = source;
    out_.text.reserve(end_ - at_ + 16);
    out_.offsets.reserve(end_ - at_ + 16);
  }

  LaidOut run() {
    check_bytes();
    if (!one_line_) begin_line();
    while (at_ < end_) step();
    finish();
    out_.offsets.push_back(end_);
    return std::move(out_);
  }

 private:
  char peek(uint32_t distance = 1) const { return at_ + distance < end_ ? text_[at_ + distance] : '\0'; }
  static bool is_line_end(char c) { return c == '\n' || c == '\r'; }
  bool joined() const { return one_line_ || !brackets_.empty(); }
  [[noreturn]] void fail(Span span, std::string message, std::string kind = "SyntaxError") const {
    fail_at(source_, span, std::move(message), {}, std::move(kind));
  }
  [[noreturn]] void fail_unfinished(Span span, std::string message) const {
    throw UnfinishedText(Diagnostic{Blame::user, "SyntaxError", std::move(message), Label{source_, span, {}}, {}, {}});
  }

  void put(char c, uint32_t offset) {
    out_.text += c;
    out_.offsets.push_back(offset);
  }
  void copy_until(uint32_t end) {
    for (; at_ < end; ++at_) put(text_[at_], at_);
  }
  /// One space, unless a space or mark stands there already.
  void put_blank(uint32_t offset) {
    if (!out_.text.empty() && static_cast<unsigned char>(out_.text.back()) > ' ') put(' ', offset);
  }
  void put_mark(char mark, uint32_t offset) {
    if (!out_.text.empty() && out_.text.back() == ' ') {
      out_.text.pop_back();
      out_.offsets.pop_back();
    }
    put(mark, offset);
  }
  bool at_line_start() const { return out_.text.empty() || static_cast<unsigned char>(out_.text.back()) < ' '; }

  void check_bytes() {
    if (one_line_) return;
    for (size_t i = 0; i < text_.size();) {
      const CodePoint c = decode_utf8(text_, i);
      const auto offset = static_cast<uint32_t>(i);
      if (c.value == 0) fail({offset, offset + 1}, "source code cannot contain null bytes");
      if (c.value == kBadCodePoint)
        fail({offset, offset + 1}, fmt::format("(unicode error) 'utf-8' codec can't decode byte 0x{:02x} in position {}: invalid UTF-8",
                                               static_cast<unsigned char>(text_[i]), i));
      i += c.length;
    }
    if (text_.compare(0, 3, "\xEF\xBB\xBF") == 0) at_ = 3;
  }

  void skip_line_end() { at_ += text_[at_] == '\r' && peek() == '\n' ? 2 : 1; }

  void skip_comment() {
    while (at_ < end_ && !is_line_end(text_[at_])) ++at_;
  }

  void step() {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\f') {
      put_blank(at_++);
    } else if (is_line_end(c)) {
      const uint32_t offset = at_;
      skip_line_end();
      if (joined()) return put_blank(offset);
      put_mark(kNewlineMark, offset);
      begin_line();
    } else if (c == '#') {
      skip_comment();
    } else if (c == '\\') {
      continue_line();
    } else if (c == '(' || c == '[' || c == '{') {
      if (brackets_.size() >= kMaxNesting) fail({at_, at_ + 1}, "too many nested parentheses");
      brackets_.push_back({c, at_});
      put(c, at_++);
    } else if (c == ')' || c == ']' || c == '}') {
      close_bracket(c);
    } else if (string_prefix_length(std::string_view(text_).substr(0, end_), at_) >= 0) {
      copy_until(scan_string(source_, at_, end_).end);
    } else if (is_digit(c)) {
      // The whole literal, so that its letters are not taken for a string's prefix.
      uint32_t end = at_;
      while (end < end_ && (is_digit(text_[end]) || begins_name(static_cast<unsigned char>(text_[end]) < 0x80 ? text_[end] : 0))) ++end;
      copy_until(end);
    } else if (const auto length = static_cast<uint32_t>(name_length(std::string_view(text_).substr(0, end_), at_))) {
      copy_until(at_ + length);
    } else {
      check_character();
      put(c, at_++);
    }
  }

  void check_character() const {
    const CodePoint c = decode_utf8(text_, at_);
    if (c.value >= ' ' && c.value < 0x7F) return;
    const Span span{at_, at_ + static_cast<uint32_t>(c.length)};
    if (c.value < ' ' || c.value == 0x7F || display_width(c.value) == 0 || c.value == 0xA0)
      fail(span, fmt::format("invalid non-printable character U+{:04X}", static_cast<uint32_t>(c.value)));
    fail(span, fmt::format("invalid character '{}' (U+{:04X})", text_.substr(at_, c.length), static_cast<uint32_t>(c.value)));
  }

  void continue_line() {
    const uint32_t offset = at_++;
    if (at_ >= end_) fail_unfinished({offset, offset + 1}, "unexpected EOF while parsing");
    if (!is_line_end(text_[at_])) fail({at_, at_ + 1}, "unexpected character after line continuation character");
    skip_line_end();
    if (at_ >= end_) fail_unfinished({offset, offset + 1}, "unexpected EOF while parsing");
    put_blank(offset);
  }

  void close_bracket(char c) {
    const char opener = c == ')' ? '(' : c == ']' ? '[' : '{';
    if (brackets_.empty()) fail({at_, at_ + 1}, fmt::format("unmatched '{}'", c));
    const Bracket open = brackets_.back();
    if (open.character != opener) {
      const int line = source_->position(open.offset).line;
      const auto place = line == source_->position(at_).line ? std::string() : fmt::format(" on line {}", line);
      throw Error(Diagnostic{Blame::user,
                             "SyntaxError",
                             fmt::format("closing parenthesis '{}' does not match opening parenthesis '{}'{}", c, open.character, place),
                             Label{source_, {at_, at_ + 1}, {}},
                             {Label{source_, {open.offset, open.offset + 1}, "opened here"}},
                             {}});
    }
    brackets_.pop_back();
    put(c, at_++);
  }

  /// Measures the indentation of the next line that holds something and puts the marks of blocks that begin or end there.
  void begin_line() {
    for (;;) {
      const uint32_t start = at_;
      Indent indent{0, 0};
      for (bool fixed = false; at_ < end_; ++at_) {  // a backslash fixes the width at what stands before it
        const char c = text_[at_];
        if (c == '\\' && is_line_end(peek())) {
          ++at_;
          at_ += text_[at_] == '\r' && peek() == '\n' ? 1 : 0;
          fixed = true;
          if (at_ + 1 >= end_) fail_unfinished({start, end_}, "unexpected EOF while parsing");
        } else if (c == ' ') {
          if (!fixed) ++indent.column, ++indent.alternative;
        } else if (c == '\t') {
          if (!fixed) indent.column = (indent.column / 8 + 1) * 8, ++indent.alternative;
        } else if (c == '\f') {
          if (!fixed) indent = {0, 0};
        } else {
          break;
        }
      }
      if (at_ >= end_) return;
      if (text_[at_] == '#') skip_comment();
      if (at_ >= end_) return;
      if (is_line_end(text_[at_])) {
        skip_line_end();
        continue;
      }
      return place_line(start, indent);
    }
  }

  void place_line(uint32_t start, Indent indent) {
    const Indent top = indents_.back();
    const Span blanks{start, at_};
    auto check_tabs = [&](bool consistent) {
      if (!consistent) fail(blanks, "inconsistent use of tabs and spaces in indentation", "TabError");
    };
    if (indent.column == top.column) return check_tabs(indent.alternative == top.alternative);
    if (indent.column > top.column) {
      check_tabs(indent.alternative > top.alternative);
      if (indents_.size() >= kMaxIndents) fail(blanks, "too many levels of indentation", "IndentationError");
      indents_.push_back(indent);
      return put_mark(kIndentMark, at_);
    }
    while (indents_.back().column > indent.column) {
      indents_.pop_back();
      put_mark(kDedentMark, at_);
    }
    if (indents_.back().column != indent.column) fail(blanks, "unindent does not match any outer indentation level", "IndentationError");
    check_tabs(indents_.back().alternative == indent.alternative);
  }

  void finish() {
    if (!brackets_.empty()) {
      const Bracket open = brackets_.back();
      fail_unfinished({open.offset, open.offset + 1}, fmt::format("'{}' was never closed", open.character));
    }
    if (one_line_) return;
    if (!at_line_start()) put_mark(kNewlineMark, end_);
    for (; indents_.size() > 1; indents_.pop_back()) put_mark(kDedentMark, end_);
  }

  const SourceRef& source_;
  const std::string& text_;
  uint32_t at_, end_;
  const bool one_line_;
  std::vector<Bracket> brackets_;
  std::vector<Indent> indents_{{0, 0}};
  LaidOut out_;
};

}  // namespace

LaidOut lay_out(const SourceRef& source) { return LayoutPass(source, {0, static_cast<uint32_t>(source->text().size())}, false).run(); }
LaidOut lay_out_field(const SourceRef& source, Span span) { return LayoutPass(source, span, true).run(); }

}  // namespace gasell
