#include "runtime/frame/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <mutex>

#include "lang/characters.h"
#include "lang/diagnostic.h"

namespace gasell::frame {
namespace {

constexpr size_t kJitStack = 32 << 10, kMostJitStack = 16 << 20;
constexpr size_t kMostKept = 256;  // compiled patterns

[[noreturn]] void refuse(const std::string& message, size_t position) {
  throw Error("PatternError", message + " at position " + std::to_string(position));
}

/// Python's pattern in PCRE2's words.
class Translation {
 public:
  Translation(std::string_view pattern, int64_t flags) : in_(pattern), flags(flags) {
    global_flags();
    while (at_ < in_.size()) step();
  }

  std::string out;

 private:
  const std::string_view in_;

 public:
  int64_t flags;

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0'; }
  void copy(size_t count) {
    out += in_.substr(at_, count);
    at_ += count;
  }

  /// "(?im)" at the beginning.
  void global_flags() {
    while (in_.substr(at_).starts_with("(?")) {
      size_t end = at_ + 2;
      while (end < in_.size() && std::isalpha(static_cast<unsigned char>(in_[end]))) ++end;
      const bool flag = end > at_ + 2 && std::string_view("aiLmsux").find(in_[at_ + 2]) != std::string_view::npos;
      if (!flag || end >= in_.size() || in_[end] != ')') return;
      for (const char c : in_.substr(at_ + 2, end - at_ - 2)) {
        switch (c) {
          case 'i': flags |= kRegexIgnoreCase; break;
          case 'm': flags |= kRegexMultiline; break;
          case 's': flags |= kRegexDotAll; break;
          case 'x': flags |= kRegexVerbose; break;
          case 'a': flags |= kRegexAscii; break;
          case 'u': break;
          case 'L': throw Error("ValueError", "cannot use LOCALE flag with a str pattern");
          default: refuse("unknown flag", at_ + 2);
        }
      }
      at_ = end + 1;
    }
  }

  void step() {
    const char c = peek();
    if (c == '\\') return escape(false);
    if (c == '[') return set();
    if (c == '(') return group();
    if (c == '{' && peek(1) == ',' && std::isdigit(static_cast<unsigned char>(peek(2)))) {  // {,n}
      out += "{0";
      ++at_;
      return;
    }
    if (c == '#' && (flags & kRegexVerbose)) {
      while (at_ < in_.size() && in_[at_] != '\n') ++at_;
      return;
    }
    copy(1);
  }

  void group() {
    if (peek(1) == '*') refuse("nothing to repeat", at_ + 1);
    if (peek(1) != '?') return copy(1);
    const char kind = peek(2);
    if (kind == 'P') {
      if (peek(3) != '<' && peek(3) != '=') refuse("unknown extension ?P" + std::string(1, peek(3)), at_ + 1);
      return copy(4);
    }
    if (kind == '<' && peek(3) != '=' && peek(3) != '!') refuse("unknown extension ?<" + std::string(1, peek(3)), at_ + 1);
    if (std::string_view(":=!<>#(").find(kind) != std::string_view::npos && kind != '\0') return copy(3);
    if (std::string_view("imsx-").find(kind) != std::string_view::npos && kind != '\0') {
      const size_t end = in_.find_first_not_of("imsx-", at_ + 2);
      if (end == in_.npos || in_[end] != ':') refuse("global flags not at the start of the expression", at_);
      return copy(end + 1 - at_);
    }
    refuse(std::string("unknown extension ?") + kind, at_ + 1);
  }

  /// A set in brackets, in which '[' is an ordinary character.
  void set() {
    const size_t begin = at_;
    copy(1);
    if (peek() == '^') copy(1);
    bool first = true;
    for (; at_ < in_.size(); first = false) {
      const char c = peek();
      if (c == ']' && !first) return copy(1);
      if (c == '\\') {
        escape(true);
      } else if (c == '[' || (c == ']' && first)) {
        out += '\\';
        copy(1);
      } else {
        copy(1);
      }
    }
    refuse("unterminated character set", begin);
  }

  void code_point(size_t digits) {
    uint32_t value = 0;
    for (size_t i = 0; i < digits; ++i) {
      const auto c = static_cast<unsigned char>(peek(2 + i));
      if (!std::isxdigit(c)) refuse("incomplete escape " + std::string(in_.substr(at_, 2 + i)), at_);
      value = value * 16 + static_cast<uint32_t>(std::isdigit(c) ? c - '0' : std::tolower(c) - 'a' + 10);
    }
    char text[16];
    std::snprintf(text, sizeof text, "\\x{%x}", value);
    out += text;
    at_ += 2 + digits;
  }

  void escape(bool in_set) {
    const char c = peek(1);
    if (at_ + 1 >= in_.size()) refuse("bad escape (end of pattern)", at_);
    switch (c) {
      case 'u': return code_point(4);
      case 'U': return code_point(8);
      case 'x': return code_point(2);
      case 'v': out += "\\x0b", at_ += 2; return;
      case 'Z':
        if (in_set) break;
        out += "\\z", at_ += 2;
        return;
      case 'A':
      case 'B':
        if (in_set) break;
        [[fallthrough]];
      case 'b':
      case 'd':
      case 'D':
      case 's':
      case 'S':
      case 'w':
      case 'W':
      case 'a':
      case 'f':
      case 'n':
      case 'r':
      case 't': return copy(2);
      default:
        // Letters that PCRE2 gives a meaning of its own.
        if (!std::isalpha(static_cast<unsigned char>(c))) {
          const CodePoint point = decode_utf8(in_, at_ + 1);
          if (point.length > 1) ++at_;  // a backslash before a letter of another script means nothing
          return copy(point.length > 1 ? static_cast<size_t>(point.length) : 2);
        }
    }
    if (c == 'N')
      throw Error("NotImplementedError", "named characters (\\N{…}) in patterns are not in Gasell",
                  "write the character itself, or \\uXXXX");
    refuse(std::string("bad escape \\") + c, at_);
  }

  size_t at_ = 0;
};

/// PCRE2's error in Python's words, where it has them.
[[noreturn]] void refuse_code(int error, size_t place, std::string_view pattern) {
  const auto opening = [&] {
    // The group that is not closed.
    std::vector<size_t> open;
    for (size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i] == '\\')
        ++i;
      else if (pattern[i] == '(')
        open.push_back(i);
      else if (pattern[i] == ')' && !open.empty())
        open.pop_back();
    }
    return open.empty() ? place : open.back();
  };
  switch (error) {
    case PCRE2_ERROR_MISSING_CLOSING_PARENTHESIS: refuse("missing ), unterminated subpattern", opening());
    case PCRE2_ERROR_UNMATCHED_CLOSING_PARENTHESIS: refuse("unbalanced parenthesis", place);
    case PCRE2_ERROR_QUANTIFIER_INVALID: refuse("nothing to repeat", place == 0 ? 0 : place - 1);
    case PCRE2_ERROR_LOOKBEHIND_NOT_FIXED_LENGTH: throw Error("PatternError", "look-behind requires fixed-width pattern");
    default: {
      PCRE2_UCHAR text[256] = {};
      pcre2_get_error_message(error, text, sizeof text);
      refuse(reinterpret_cast<const char*>(text), place);
    }
  }
}

pcre2_code* code_of(void* p) { return static_cast<pcre2_code*>(p); }
pcre2_match_data* data_of(void* p) { return static_cast<pcre2_match_data*>(p); }

}  // namespace

Regex::Regex(std::string_view pattern, int64_t flags) {
  const Translation t(pattern, flags);
  flags_ = t.flags;
  uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C;
  if (!(t.flags & kRegexAscii)) options |= PCRE2_UCP;
  if (t.flags & kRegexIgnoreCase) options |= PCRE2_CASELESS;
  if (t.flags & kRegexMultiline) options |= PCRE2_MULTILINE;
  if (t.flags & kRegexDotAll) options |= PCRE2_DOTALL;
  if (t.flags & kRegexVerbose) options |= PCRE2_EXTENDED;
  int error = 0;
  PCRE2_SIZE place = 0;
  std::unique_ptr<pcre2_compile_context, void (*)(pcre2_compile_context*)> context(pcre2_compile_context_create(nullptr),
                                                                                   pcre2_compile_context_free);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  code_ = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(t.out.data()), t.out.size(), options, &error, &place, context.get());
  if (!code_) refuse_code(error, place, pattern);
  pcre2_jit_compile(code_of(code_), PCRE2_JIT_COMPLETE);  // without it patterns are interpreted

  uint32_t groups = 0, count = 0, size = 0;
  PCRE2_SPTR table = nullptr;
  pcre2_pattern_info(code_of(code_), PCRE2_INFO_CAPTURECOUNT, &groups);
  pcre2_pattern_info(code_of(code_), PCRE2_INFO_NAMECOUNT, &count);
  pcre2_pattern_info(code_of(code_), PCRE2_INFO_NAMEENTRYSIZE, &size);
  pcre2_pattern_info(code_of(code_), PCRE2_INFO_NAMETABLE, &table);
  names_.resize(groups + 1);
  for (uint32_t i = 0; i < count; ++i, table += size)
    names_[static_cast<size_t>(table[0] << 8 | table[1])] = reinterpret_cast<const char*>(table + 2);
}

Regex::~Regex() { pcre2_code_free(code_of(code_)); }

std::shared_ptr<const Regex> Regex::compile(std::string_view pattern, int64_t flags) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::pair<std::string, int64_t>, std::shared_ptr<const Regex>>;
  std::lock_guard lock(mutex);
  if (known.size() > kMostKept) known.clear();
  std::shared_ptr<const Regex>& regex = known[{std::string(pattern), flags}];
  if (!regex) {
    try {
      regex.reset(new Regex(pattern, flags));
    } catch (...) {
      known.erase({std::string(pattern), flags});
      throw;
    }
  }
  return regex;
}

std::optional<int> Regex::group_named(std::string_view name) const {
  for (size_t i = 1; i < names_.size(); ++i)
    if (names_[i] == name) return static_cast<int>(i);
  return {};
}

namespace {

/// The memory that compiled patterns work in: one for each thread, since a match is over before another begins there, and to map it takes
/// longer than most matches.
pcre2_jit_stack* stack_of_thread(void*) {
  struct Free {
    void operator()(pcre2_jit_stack* stack) const { pcre2_jit_stack_free(stack); }
  };
  static thread_local const std::unique_ptr<pcre2_jit_stack, Free> stack(pcre2_jit_stack_create(kJitStack, kMostJitStack, nullptr));
  return stack.get();
}

}  // namespace

Regex::Matcher::Matcher(const Regex& regex)
    : regex_(regex),
      data_(pcre2_match_data_create_from_pattern(code_of(regex.code_), nullptr)),
      context_(pcre2_match_context_create(nullptr)) {
  if (!data_ || !context_) throw Error("MemoryError", "no memory for a regular expression");
  pcre2_jit_stack_assign(static_cast<pcre2_match_context*>(context_), stack_of_thread, nullptr);
}

Regex::Matcher::~Matcher() {
  pcre2_match_data_free(data_of(data_));
  pcre2_match_context_free(static_cast<pcre2_match_context*>(context_));
}

bool Regex::Matcher::find(std::string_view text, size_t from, Where where, bool not_empty_here) {
  text_ = text;
  uint32_t options = not_empty_here ? PCRE2_NOTEMPTY_ATSTART : 0;
  if (where != Where::anywhere) options |= PCRE2_ANCHORED;
  if (where == Where::whole) options |= PCRE2_ENDANCHORED;
  const char* bytes = text.data() ? text.data() : "";
  const int found = pcre2_match(code_of(regex_.code_), reinterpret_cast<PCRE2_SPTR>(bytes), text.size(), from, options, data_of(data_),
                                static_cast<pcre2_match_context*>(context_));
  if (found > 0) return true;
  if (found == PCRE2_ERROR_NOMATCH) return false;
  if (found == PCRE2_ERROR_MATCHLIMIT || found == PCRE2_ERROR_JIT_STACKLIMIT || found == PCRE2_ERROR_DEPTHLIMIT ||
      found == PCRE2_ERROR_HEAPLIMIT)
    throw Error("RuntimeError", "a regular expression needs too many steps for a text of " + std::to_string(text.size()) + " bytes",
                "patterns such as (a+)+ try every way to divide a text; write them without nested repetition");
  PCRE2_UCHAR message[256] = {};
  pcre2_get_error_message(found, message, sizeof message);
  throw Error("RuntimeError", std::string("regular expression: ") + reinterpret_cast<const char*>(message));
}

size_t Regex::Matcher::begin(int group) const { return pcre2_get_ovector_pointer(data_of(data_))[2 * group]; }
size_t Regex::Matcher::end(int group) const { return pcre2_get_ovector_pointer(data_of(data_))[2 * group + 1]; }
std::optional<std::string_view> Regex::Matcher::group(int group) const {
  const size_t from = begin(group);
  if (from == PCRE2_UNSET) return {};
  return text_.substr(from, end(group) - from);
}

RegexTemplate::RegexTemplate(std::string_view text, const Regex& regex) {
  Part part;
  const auto put_group = [&](int group, size_t place) {
    if (group > regex.groups()) refuse("invalid group reference " + std::to_string(group), place);
    part.group = group;
    parts_.push_back(std::move(part));
    part = {};
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      part.literal += text[i];
      continue;
    }
    if (++i == text.size()) refuse("bad escape (end of pattern)", i - 1);
    const char c = text[i];
    if (c == 'g') {
      const size_t end = text.find('>', i);
      if (i + 1 >= text.size() || text[i + 1] != '<') refuse("missing <", i + 1);
      if (end == text.npos) refuse("missing >, unterminated name", i + 2);
      const std::string name(text.substr(i + 2, end - i - 2));
      if (name.empty()) refuse("missing group name", i + 2);
      const bool number = std::all_of(name.begin(), name.end(), [](unsigned char d) { return std::isdigit(d); });
      const auto group = number ? std::optional(std::atoi(name.c_str())) : regex.group_named(name);
      if (!group) throw Error("IndexError", "unknown group name '" + name + "'");
      put_group(*group, i + 2);
      i = end;
    } else if (c >= '1' && c <= '9') {
      int group = c - '0';
      if (i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1]))) group = group * 10 + (text[++i] - '0');
      put_group(group, i);
    } else {
      switch (c) {
        case 'n': part.literal += '\n'; break;
        case 't': part.literal += '\t'; break;
        case 'r': part.literal += '\r'; break;
        case 'a': part.literal += '\a'; break;
        case 'b': part.literal += '\b'; break;
        case 'f': part.literal += '\f'; break;
        case 'v': part.literal += '\v'; break;
        case '0': part.literal += '\0'; break;
        case '\\': part.literal += '\\'; break;
        default:
          if (std::isalpha(static_cast<unsigned char>(c))) refuse(std::string("bad escape \\") + c, i - 1);
          part.literal += '\\';
          part.literal += c;
      }
    }
  }
  if (!part.literal.empty()) parts_.push_back(std::move(part));
}

bool is_plain_text(std::string_view pattern) { return pattern.find_first_of("\\^$.|?*+()[]{}") == pattern.npos; }

}  // namespace gasell::frame
