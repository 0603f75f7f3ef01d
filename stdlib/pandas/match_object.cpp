#include "stdlib/pandas/match_object.h"

#include "lang/diagnostic.h"
#include "runtime/frame/text_functions.h"
#include "runtime/session/dict.h"
#include "runtime/session/str_text.h"
#include "runtime/session/types.h"

namespace gasell::pandas {

using namespace frame;

namespace {

using Args = std::span<Value>;

const Type& match_type();
class MatchObject final : public Object {
 public:
  MatchObject(const Regex& regex, const Regex::Matcher& m, std::string_view text) {
    for (int g = 0; g <= regex.groups(); ++g) {
      const auto part = m.group(g);
      groups.push_back(part ? make_str(std::string(*part)) : Value());
      spans.emplace_back(part ? code_point_count(text.substr(0, m.begin(g))) : -1, part ? code_point_count(text.substr(0, m.end(g))) : -1);
      names.push_back(regex.name(g));
    }
  }
  const Type& type() const override { return match_type(); }
  std::string repr(Interpreter& in) override {
    return "<re.Match object; span=(" + std::to_string(spans[0].first) + ", " + std::to_string(spans[0].second) +
           "), match=" + gasell::repr(in, groups[0]) + ">";
  }
  Value get_item(Interpreter& in, const Value& index) override { return groups[place(in, index)]; }
  size_t place(Interpreter& in, const Value& index) const {
    if (const auto* s = index.as<Str>()) {
      for (size_t g = 1; g < names.size(); ++g)
        if (names[g] == s->value) return g;
    } else if (const int64_t g = gasell::to_index(in, index); g >= 0 && g < static_cast<int64_t>(groups.size())) {
      return static_cast<size_t>(g);
    }
    raise("IndexError", "no such group");
  }
  std::vector<Value> groups;
  std::vector<std::pair<int64_t, int64_t>> spans;  // in code points
  std::vector<std::string> names;
};

const MatchObject& self_match(const Value& v) { return *v.as<MatchObject>(); }

const Type& match_type() {
  static const Type type = [] {
    Type t{"Match", "re", &object_type()};
    t.methods = {
        {"group", "*groups",
         [](Interpreter& in, Args args) -> Value {
           const MatchObject& m = self_match(args[0]);
           const auto& asked = args[1].as<Tuple>()->items;
           if (asked.empty()) return m.groups[0];
           std::vector<Value> parts;
           for (const Value& v : asked) parts.push_back(m.groups[m.place(in, v)]);
           return parts.size() == 1 ? parts[0] : make_tuple(std::move(parts));
         },
         "The text of groups."},
        {"groups", "default=None",
         [](Interpreter&, Args args) {
           const MatchObject& m = self_match(args[0]);
           std::vector<Value> parts(m.groups.begin() + 1, m.groups.end());
           for (Value& v : parts)
             if (v.is_none()) v = args[1];
           return make_tuple(std::move(parts));
         },
         "The texts of all groups."},
        {"groupdict", "default=None",
         [](Interpreter& in, Args args) {
           const MatchObject& m = self_match(args[0]);
           Value dict = Value::make<Dict>();
           for (size_t g = 1; g < m.names.size(); ++g)
             if (!m.names[g].empty()) dict.as<Dict>()->insert(in, make_str(m.names[g]), m.groups[g].is_none() ? args[1] : m.groups[g]);
           return dict;
         },
         "The texts of the named groups."},
        {"start", "group=0",
         [](Interpreter& in, Args args) { return Value::of(self_match(args[0]).spans[self_match(args[0]).place(in, args[1])].first); },
         "Where it begins."},
        {"end", "group=0",
         [](Interpreter& in, Args args) { return Value::of(self_match(args[0]).spans[self_match(args[0]).place(in, args[1])].second); },
         "Where it ends."},
        {"span", "group=0",
         [](Interpreter& in, Args args) {
           const auto& [from, to] = self_match(args[0]).spans[self_match(args[0]).place(in, args[1])];
           return make_tuple({Value::of(from), Value::of(to)});
         },
         "Where it begins and ends."},
    };
    return t;
  }();
  return type;
}
}  // namespace

Value match_value(const Regex& regex, const Regex::Matcher& match, std::string_view text) {
  return Value::make<MatchObject>(regex, match, text);
}

}  // namespace gasell::pandas
