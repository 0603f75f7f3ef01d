// Regular expressions as Python's module re has them, over runtime/frame/regex.h: compiled patterns and their matches.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/frame/regex.h"
#include "runtime/session/objects.h"

namespace gasell::re {

class Pattern final : public Object {
 public:
  /// Throws Raised re.error for what is no pattern.
  Pattern(const Value& text, int64_t flags);
  const Type& type() const override;
  std::string repr(Interpreter& in) override;
  int64_t hash(Interpreter& in) override;
  std::optional<Value> compare(Interpreter& in, ast::CompareOp op, const Value& other) override;

  const Value text;  // a Str
  const int64_t given_flags;
  std::shared_ptr<const frame::Regex> regex;
  /// In which order the groups are closed in the pattern, from group 1 on.
  std::vector<int> closing;
};

class Match final : public Object {
 public:
  /// What a matcher has found in the first bytes of a text; positions are characters.
  Match(Value pattern, Value text, int64_t pos, int64_t endpos, const frame::Regex::Matcher& found);
  const Type& type() const override;
  std::string repr(Interpreter& in) override;
  Value get_item(Interpreter& in, const Value& index) override;

  Pattern& made_by() const { return *pattern.as<Pattern>(); }
  /// A group by number or name. IndexError "no such group".
  int number_of(Interpreter& in, const Value& group) const;
  /// What a group matched; nothing where it took no part.
  std::optional<std::string_view> group(int number) const;
  Value group_value(int number, const Value& instead) const;
  /// Where it begins and ends, in characters; -1 where it took no part.
  std::pair<int64_t, int64_t> span(int number) const;
  /// The group that was closed last, 0 where none was.
  int last_group() const;

  const Value pattern, text;
  const int64_t pos, endpos;

 private:
  std::vector<std::pair<size_t, size_t>> bytes_;
};

/// re.error, which is known to `except` once this was called.
const Type& error_type();

/// Bytes of UTF-8 before a character, and characters before a byte.
size_t byte_of(const Str& text, int64_t character);
int64_t character_of(const Str& text, size_t byte);

}  // namespace gasell::re
