// What a pattern has found.
#include "runtime/session/dict.h"
#include "runtime/session/types.h"
#include "stdlib/re/pattern.h"

namespace gasell::re {
namespace {

using Args = std::span<Value>;

Match& self_of(Args a) { return *a[0].as<Match>(); }

Value match_group(Interpreter& in, Args a) {
  const Match& m = self_of(a);
  const std::vector<Value>& wanted = a[1].as<Tuple>()->items;
  if (wanted.empty()) return m.group_value(0, {});
  if (wanted.size() == 1) return m.group_value(m.number_of(in, wanted[0]), {});
  std::vector<Value> parts;
  for (const Value& name : wanted) parts.push_back(m.group_value(m.number_of(in, name), {}));
  return make_tuple(std::move(parts));
}

Value match_groups(Interpreter&, Args a) {
  const Match& m = self_of(a);
  std::vector<Value> parts;
  for (int k = 1; k <= m.made_by().regex->groups(); ++k) parts.push_back(m.group_value(k, a[1]));
  return make_tuple(std::move(parts));
}

Value match_groupdict(Interpreter& in, Args a) {
  const Match& m = self_of(a);
  Value result = make_dict();
  const frame::Regex& regex = *m.made_by().regex;
  for (int k = 1; k <= regex.groups(); ++k)
    if (!regex.name(k).empty()) result.as<Dict>()->insert(in, make_str(regex.name(k)), m.group_value(k, a[1]));
  return result;
}

Value match_start(Interpreter& in, Args a) { return Value::of(self_of(a).span(self_of(a).number_of(in, a[1])).first); }
Value match_end(Interpreter& in, Args a) { return Value::of(self_of(a).span(self_of(a).number_of(in, a[1])).second); }
Value match_span(Interpreter& in, Args a) {
  const auto [begin, behind] = self_of(a).span(self_of(a).number_of(in, a[1]));
  return make_tuple({Value::of(begin), Value::of(behind)});
}

Value match_expand(Interpreter& in, Args a) {
  const Match& m = self_of(a);
  std::string result;
  frame::RegexTemplate(str(in, a[1]), *m.made_by().regex).expand(m, result);
  return make_str(std::move(result));
}

}  // namespace

Match::Match(Value made_by_pattern, Value whole, int64_t first, int64_t last, const frame::Regex::Matcher& found)
    : pattern(std::move(made_by_pattern)), text(std::move(whole)), pos(first), endpos(last) {
  for (int k = 0; k <= made_by().regex->groups(); ++k) bytes_.emplace_back(found.begin(k), found.end(k));
}

const Type& Match::type() const {
  static const Type type{"Match",
                         "re",
                         &object_type(),
                         {{"group", "*groups", match_group, "What groups matched, by number or name; without arguments the whole."},
                          {"groups", "default=None", match_groups, "What all groups matched."},
                          {"groupdict", "default=None", match_groupdict, "What the groups with names matched."},
                          {"start", "group=0, /", match_start, "Where a group begins, -1 where it took no part."},
                          {"end", "group=0, /", match_end, "Where a group ends, -1 where it took no part."},
                          {"span", "group=0, /", match_span, "(start, end) of a group."},
                          {"expand", "template", match_expand, "The template with what its references matched."}},
                         {{"string", [](Interpreter&, const Value& self) { return self.as<Match>()->text; }},
                          {"re", [](Interpreter&, const Value& self) { return self.as<Match>()->pattern; }},
                          {"pos", [](Interpreter&, const Value& self) { return Value::of(self.as<Match>()->pos); }},
                          {"endpos", [](Interpreter&, const Value& self) { return Value::of(self.as<Match>()->endpos); }},
                          {"lastindex",
                           [](Interpreter&, const Value& self) {
                             const int last = self.as<Match>()->last_group();
                             return last ? Value::of(last) : Value();
                           }},
                          {"lastgroup", [](Interpreter&, const Value& self) {
                             const Match& m = *self.as<Match>();
                             const int last = m.last_group();
                             return last && !m.made_by().regex->name(last).empty() ? make_str(m.made_by().regex->name(last)) : Value();
                           }}}};
  return type;
}

std::string Match::repr(Interpreter& in) {
  const auto [begin, behind] = span(0);
  const std::string shown = gasell::repr(in, group_value(0, {}));
  const Str all(shown);
  return "<re.Match object; span=(" + std::to_string(begin) + ", " + std::to_string(behind) +
         "), match=" + shown.substr(0, byte_of(all, std::min<int64_t>(all.size(), 50))) + ">";
}

Value Match::get_item(Interpreter& in, const Value& index) { return group_value(number_of(in, index), {}); }

int Match::number_of(Interpreter& in, const Value& wanted) const {
  const frame::Regex& regex = *made_by().regex;
  if (const auto* name = wanted.as<Str>()) {
    if (const auto number = regex.group_named(name->value)) return *number;
  } else if (const int64_t number = gasell::to_index(in, wanted); number >= 0 && number <= regex.groups()) {
    return static_cast<int>(number);
  }
  raise("IndexError", "no such group");
}

std::optional<std::string_view> Match::group(int number) const {
  const auto [begin, behind] = bytes_[static_cast<size_t>(number)];
  if (begin == std::string_view::npos) return {};
  return std::string_view(text.as<Str>()->value).substr(begin, behind - begin);
}

Value Match::group_value(int number, const Value& instead) const {
  const auto found = group(number);
  return found ? make_str(std::string(*found)) : instead;
}

std::pair<int64_t, int64_t> Match::span(int number) const {
  const auto [begin, behind] = bytes_[static_cast<size_t>(number)];
  if (begin == std::string_view::npos) return {-1, -1};
  return {character_of(*text.as<Str>(), begin), character_of(*text.as<Str>(), behind)};
}

int Match::last_group() const {
  const std::vector<int>& closing = made_by().closing;
  int last = 0;
  for (int k = 1; k < static_cast<int>(bytes_.size()); ++k) {
    const auto at = static_cast<size_t>(k), before = static_cast<size_t>(last);
    if (bytes_[at].first == std::string_view::npos) continue;
    if (last == 0 || std::pair(bytes_[at].second, closing[at - 1]) > std::pair(bytes_[before].second, closing[before - 1])) last = k;
  }
  return last;
}

}  // namespace gasell::re
