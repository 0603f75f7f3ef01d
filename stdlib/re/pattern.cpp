#include "stdlib/re/pattern.h"

#include <algorithm>
#include <charconv>

#include "runtime/session/dict.h"
#include "runtime/session/iterators.h"
#include "runtime/session/types.h"
#include "stdlib/bindings.h"
#include "stdlib/library.h"
#include "stdlib/modules.h"

namespace gasell::re {
namespace {

using Args = std::span<Value>;
using Where = frame::Regex::Matcher::Where;

constexpr int64_t kUnicode = 32;

/// re.error: what is wrong with a pattern, and where.
class PatternError final : public Exception {
 public:
  PatternError(const std::string& message, Value of) : Exception(error_type(), {make_str(message)}), pattern_(std::move(of)) {
    constexpr std::string_view kAt = " at position ";
    const size_t at = message.rfind(kAt);
    message_ = message.substr(0, at);
    if (at != message.npos) std::from_chars(message.data() + at + kAt.size(), message.data() + message.size(), position_);
  }
  std::optional<Value> get_attribute(Interpreter& in, std::string_view name) override {
    const Value none;
    if (name == "msg") return make_str(message_);
    if (name == "pattern") return pattern_;
    if (name == "pos") return position_ < 0 ? none : Value::of(position_);
    const std::string_view before =
        std::string_view(pattern_.as<Str>()->value).substr(0, static_cast<size_t>(std::max<int64_t>(0, position_)));
    if (name == "lineno") return position_ < 0 ? none : Value::of(static_cast<int64_t>(std::ranges::count(before, '\n')) + 1);
    if (name == "colno") return position_ < 0 ? none : Value::of(position_ - static_cast<int64_t>(before.rfind('\n') + 1) + 1);
    return Exception::get_attribute(in, name);
  }

 private:
  const Value pattern_;
  std::string message_;
  int64_t position_ = -1;
};

/// Runs what may refuse a pattern or a template.
template <class F>
auto guarded(const Value& pattern, F work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.diagnostic().kind != "PatternError") throw;
    throw Raised(Value::make<PatternError>(error.diagnostic().message, pattern));
  }
}

std::vector<int> closing_order(std::string_view pattern) {
  std::vector<int> order, open;
  int closed = 0;
  bool in_set = false;
  for (size_t k = 0; k < pattern.size(); ++k) {
    const char c = pattern[k];
    if (c == '\\') {
      ++k;
    } else if (in_set) {
      in_set = c != ']';
    } else if (c == '[') {
      in_set = true;
      if (k + 1 < pattern.size() && pattern[k + 1] == '^') ++k;
      if (k + 1 < pattern.size() && pattern[k + 1] == ']') ++k;
    } else if (c == '(') {
      const bool captures = k + 1 >= pattern.size() || pattern[k + 1] != '?' || pattern.substr(k).starts_with("(?P<");
      open.push_back(captures ? static_cast<int>(order.size()) : -1);
      if (captures) order.push_back(0);
    } else if (c == ')' && !open.empty()) {
      if (open.back() >= 0) order[static_cast<size_t>(open.back())] = ++closed;
      open.pop_back();
    }
  }
  return order;
}

/// What is searched: the text, from which byte on, and where it ends for the pattern.
struct Range {
  Value text;
  std::string_view bytes;
  size_t from;
  int64_t pos, endpos;
};
Range range_of(Interpreter& in, const Value& text, const Value& pos, const Value& endpos) {
  const auto* s = text.as<Str>();
  if (!s) raise("TypeError", "expected string or bytes-like object, got '" + type_of(text).name + "'");
  const int64_t size = s->size();
  const int64_t last = std::clamp<int64_t>(is_missing(endpos) ? size : to_index(in, endpos), 0, size);
  const int64_t first = std::clamp<int64_t>(is_missing(pos) ? 0 : to_index(in, pos), 0, size);
  return {text, std::string_view(s->value).substr(0, byte_of(*s, last)), byte_of(*s, first), first, last};
}

Value find(Interpreter& in, Args a, Where where) {
  const Range r = range_of(in, a[1], a[2], a[3]);
  if (r.pos > r.endpos) return {};
  frame::Regex::Matcher matcher(*a[0].as<Pattern>()->regex);
  if (!matcher.find(r.bytes, r.from, where)) return {};
  return Value::make<Match>(a[0], r.text, r.pos, r.endpos, matcher);
}
Value search(Interpreter& in, Args a) { return find(in, a, Where::anywhere); }
Value match(Interpreter& in, Args a) { return find(in, a, Where::at_start); }
Value fullmatch(Interpreter& in, Args a) { return find(in, a, Where::whole); }

/// Calls f(matcher) for each match, one after the other, until it returns false.
template <class F>
void each(Interpreter& in, const Pattern& pattern, const Range& r, F f) {
  frame::Regex::Matcher matcher(*pattern.regex);
  size_t from = r.from;
  bool empty_before = false;
  while (from <= r.bytes.size() && matcher.find(r.bytes, from, Where::anywhere, empty_before)) {
    poll(in);
    from = matcher.end();
    empty_before = matcher.begin() == matcher.end();
    if (!f(matcher)) return;
  }
}

Value findall(Interpreter& in, Args a) {
  const Pattern& pattern = *a[0].as<Pattern>();
  std::vector<Value> found;
  each(in, pattern, range_of(in, a[1], a[2], a[3]), [&](const frame::Regex::Matcher& m) {
    const auto text = [&](int group) { return make_str(std::string(m.group(group).value_or(std::string_view()))); };
    const int groups = pattern.regex->groups();
    if (groups <= 1) {
      found.push_back(text(groups));
      return true;
    }
    std::vector<Value> parts;
    for (int k = 1; k <= groups; ++k) parts.push_back(text(k));
    found.push_back(make_tuple(std::move(parts)));
    return true;
  });
  return make_list(std::move(found));
}

Value finditer(Interpreter& in, Args a) {
  static const Type type{"callable_iterator", "builtins", &object_type()};
  struct State {
    Value pattern;
    Range range;
    frame::Regex::Matcher matcher;
    size_t from;
    bool empty_before = false, done = false;
    State(const Value& p, Range r) : pattern(p), range(std::move(r)), matcher(*p.as<Pattern>()->regex), from(range.from) {}
  };
  const auto state = std::make_shared<State>(a[0], range_of(in, a[1], a[2], a[3]));
  return make_iterator(type, [state](Interpreter&) -> std::optional<Value> {
    State& s = *state;
    if (s.done || s.from > s.range.bytes.size() || !s.matcher.find(s.range.bytes, s.from, Where::anywhere, s.empty_before)) {
      s.done = true;
      return std::nullopt;
    }
    s.from = s.matcher.end();
    s.empty_before = s.matcher.begin() == s.matcher.end();
    return Value::make<Match>(s.pattern, s.range.text, s.range.pos, s.range.endpos, s.matcher);
  });
}

/// (the text with replacements, how many were made)
std::pair<Value, int64_t> replaced(Interpreter& in, Args a) {
  const Pattern& pattern = *a[0].as<Pattern>();
  const Range r = range_of(in, a[2], missing(), missing());
  const int64_t most = to_index(in, a[3]);
  std::optional<frame::RegexTemplate> by_template;
  const bool is_text = a[1].as<Str>() != nullptr;
  if (is_text) guarded(pattern.text, [&] { by_template.emplace(a[1].as<Str>()->value, *pattern.regex); });
  std::string result;
  size_t done = 0;
  int64_t count = 0, pieces = 0;  // as CPython's messages count them
  each(in, pattern, r, [&](const frame::Regex::Matcher& m) {
    const size_t begin = m.begin(), end = m.end();
    result += r.bytes.substr(done, begin - done);
    pieces += begin > done;
    if (is_text) {
      by_template->expand(m, result);
    } else {
      const Value given = call(in, a[1], {{Value::make<Match>(a[0], r.text, r.pos, r.endpos, m)}, {}});
      const auto* text = given.as<Str>();
      if (!text && !given.is_none())
        raise("TypeError", "sequence item " + std::to_string(pieces) + ": expected str instance, " + type_of(given).name + " found");
      if (text) result += text->value;
      pieces += text != nullptr;
    }
    done = end;
    return ++count != most;
  });
  if (count == 0) return {r.text, 0};
  result += r.bytes.substr(done);
  return {make_str(std::move(result)), count};
}
Value sub(Interpreter& in, Args a) { return replaced(in, a).first; }
Value subn(Interpreter& in, Args a) {
  auto [text, count] = replaced(in, a);
  return make_tuple({std::move(text), Value::of(count)});
}

Value split(Interpreter& in, Args a) {
  const Pattern& pattern = *a[0].as<Pattern>();
  const Range r = range_of(in, a[1], missing(), missing());
  const int64_t most = to_index(in, a[2]);
  std::vector<Value> parts;
  size_t done = 0;
  int64_t count = 0;
  if (most >= 0)
    each(in, pattern, r, [&](const frame::Regex::Matcher& m) {
      parts.push_back(make_str(std::string(r.bytes.substr(done, m.begin() - done))));
      for (int k = 1; k <= pattern.regex->groups(); ++k) {
        const auto group = m.group(k);
        parts.push_back(group ? make_str(std::string(*group)) : Value());
      }
      done = m.end();
      return ++count != most;
    });
  parts.push_back(make_str(std::string(r.bytes.substr(done))));
  return make_list(std::move(parts));
}

Value group_index(Interpreter& in, const Value& self) {
  const frame::Regex& regex = *self.as<Pattern>()->regex;
  Value result = make_dict();
  for (int k = 1; k <= regex.groups(); ++k)
    if (!regex.name(k).empty()) result.as<Dict>()->insert(in, make_str(regex.name(k)), Value::of(k));
  return result;
}

int64_t all_flags(const Pattern& pattern) {
  const int64_t flags = pattern.regex->flags();
  return flags & frame::kRegexAscii ? flags : flags | kUnicode;
}

Value compile(Interpreter& in, Args a) {
  const int64_t flags = to_index(in, a[1]);
  if (a[0].as<Pattern>()) {
    if (flags != 0) raise("ValueError", "cannot process flags argument with a compiled pattern");
    return a[0];
  }
  if (!a[0].as<Str>()) raise("TypeError", "first argument must be string or compiled pattern");
  constexpr int64_t kKnown =
      frame::kRegexIgnoreCase | frame::kRegexMultiline | frame::kRegexDotAll | frame::kRegexVerbose | frame::kRegexAscii | kUnicode;
  if (flags & ~kKnown) raise("NotImplementedError", "these flags of regular expressions are not in Gasell");
  if ((flags & kUnicode) && (flags & frame::kRegexAscii)) raise("ValueError", "ASCII and UNICODE flags are incompatible");
  return Value::make<Pattern>(a[0], flags & ~kUnicode);
}

}  // namespace

const Type& error_type() {
  static const Type& type = []() -> const Type& {
    static const Type made{"error", "re", exception_type("Exception")};
    register_exception(made);
    return made;
  }();
  return type;
}

size_t byte_of(const Str& text, int64_t character) {
  if (text.ascii()) return static_cast<size_t>(character);
  size_t byte = 0;
  while (byte < text.value.size()) {
    if ((static_cast<unsigned char>(text.value[byte]) & 0xC0) != 0x80 && character-- == 0) break;
    ++byte;
  }
  return byte;
}
int64_t character_of(const Str& text, size_t byte) {
  if (text.ascii()) return static_cast<int64_t>(byte);
  return std::count_if(text.value.begin(), text.value.begin() + static_cast<std::ptrdiff_t>(byte),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

Pattern::Pattern(const Value& pattern, int64_t flags)
    : text(pattern),
      given_flags(flags),
      regex(guarded(text, [&] { return frame::Regex::compile(text.as<Str>()->value, flags); })),
      closing(closing_order(text.as<Str>()->value)) {
  closing.resize(static_cast<size_t>(regex->groups()));
}

const Type& Pattern::type() const {
  static const Type type{
      "Pattern",
      "re",
      &object_type(),
      {{"search", "string, pos=missing, endpos=missing", search, "The first match anywhere in a text, or None."},
       {"match", "string, pos=missing, endpos=missing", match, "A match at the beginning of a text, or None."},
       {"fullmatch", "string, pos=missing, endpos=missing", fullmatch, "A match of a whole text, or None."},
       {"findall", "string, pos=missing, endpos=missing", findall, "What all matches, or their groups, are."},
       {"finditer", "string, pos=missing, endpos=missing", finditer, "All matches, one after the other."},
       {"sub", "repl, string, count=0", sub, "The text with matches replaced, by a template or by what repl(match) gives."},
       {"subn", "repl, string, count=0", subn, "(what sub() gives, how many were replaced)."},
       {"split", "string, maxsplit=0", split, "What stands between matches, and their groups."}},
      {{"pattern", [](Interpreter&, const Value& self) { return self.as<Pattern>()->text; }},
       {"flags", [](Interpreter&, const Value& self) { return Value::of(all_flags(*self.as<Pattern>())); }},
       {"groups", [](Interpreter&, const Value& self) { return Value::of(self.as<Pattern>()->regex->groups()); }},
       {"groupindex", group_index}}};
  return type;
}

std::string Pattern::repr(Interpreter& in) {
  static constexpr std::pair<int64_t, const char*> kNames[] = {{frame::kRegexIgnoreCase, "re.IGNORECASE"},
                                                               {frame::kRegexMultiline, "re.MULTILINE"},
                                                               {frame::kRegexDotAll, "re.DOTALL"},
                                                               {frame::kRegexVerbose, "re.VERBOSE"},
                                                               {frame::kRegexAscii, "re.ASCII"}};
  std::string names;
  for (const auto& [flag, name] : kNames)
    if (regex->flags() & flag) names += (names.empty() ? "" : "|") + std::string(name);
  const std::string shown = gasell::repr(in, text);
  const Str all(shown);
  return "re.compile(" + shown.substr(0, byte_of(all, std::min<int64_t>(all.size(), 200))) + (names.empty() ? "" : ", " + names) + ")";
}

int64_t Pattern::hash(Interpreter& in) { return gasell::hash(in, make_tuple({text, Value::of(all_flags(*this))})); }

std::optional<Value> Pattern::compare(Interpreter&, ast::CompareOp op, const Value& other) {
  const auto* pattern = other.as<Pattern>();
  if (!pattern || (op != ast::CompareOp::eq && op != ast::CompareOp::ne)) return std::nullopt;
  const bool same = text.as<Str>()->value == pattern->text.as<Str>()->value && all_flags(*this) == all_flags(*pattern);
  return Value::of(same == (op == ast::CompareOp::eq));
}

}  // namespace gasell::re

namespace gasell {

Value make_re_natives(Interpreter&) {
  static const std::vector<NativeFunction> table = {{"compile", "pattern, flags", re::compile, "A compiled pattern."}};
  return make_module("_re", table);
}

Value make_re(Interpreter&) {
  Value module = Value::make<LibraryModule>("re");
  for (const char* name : {"error", "PatternError"}) set_member(module, name, type_object(re::error_type()));
  static const std::pair<const char*, int64_t> kFlags[] = {
      {"I", 2},        {"IGNORECASE", 2}, {"M", 8},        {"MULTILINE", 8}, {"S", 16},      {"DOTALL", 16}, {"U", 32},
      {"UNICODE", 32}, {"X", 64},         {"VERBOSE", 64}, {"A", 256},       {"ASCII", 256}, {"NOFLAG", 0}};
  for (const auto& [name, flag] : kFlags) set_member(module, name, Value::of(flag));
  return module;
}

}  // namespace gasell
