// Natives of the hidden module _texts: what the accessor .str and the operators of texts are made with. The column comes first.
#include <algorithm>
#include <cmath>
#include <map>

#include "lang/diagnostic.h"
#include "runtime/frame/text_functions.h"
#include "runtime/session/dict.h"
#include "runtime/session/str_text.h"
#include "runtime/session/types.h"
#include "stdlib/modules.h"
#include "stdlib/pandas/column_object.h"
#include "stdlib/pandas/texts.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell::pandas {

using namespace frame;

namespace {

using Args = std::span<Value>;

std::string text_argument(Interpreter& in, const Value& v) { return gasell::str(in, v); }
std::optional<std::string> optional_text(Interpreter& in, const Value& v) { return v.is_none() ? std::nullopt : std::optional(gasell::str(in, v)); }
std::optional<int64_t> optional_int(Interpreter& in, const Value& v) { return v.is_none() ? std::nullopt : std::optional(to_index(in, v)); }

Value mapped(Interpreter& in, const Value& column, const TextFunction& f) { return wrap_column(map_texts(in.engine(), column_of(column), f)); }
Value mapped(Interpreter& in, const Value& column, std::function<std::string(std::string_view)> f) {
  return mapped(in, column, TextFunction([f = std::move(f)](std::string_view text, std::string& out) {
                  out = f(text);
                  return true;
                }));
}
Value measured(Interpreter& in, const Value& column, DType dtype, const TextMeasure& f) {
  return wrap_column(measure_texts(in.engine(), column_of(column), dtype, f));
}
Value tested(Interpreter& in, const Value& column, std::function<bool(std::string_view)> f) {
  return measured(in, column, DType::boolean, [f = std::move(f)](std::string_view text) { return std::optional<double>(f(text)); });
}
Value list_of_columns(std::vector<Column> columns) {
  std::vector<Value> values;
  for (Column& c : columns) values.push_back(wrap_column(std::move(c)));
  return make_list(std::move(values));
}

// ---- case, classes, white space ----

Value change_case(Interpreter& in, Args args) {
  static const std::map<std::string, std::string (*)(std::string_view), std::less<>> kCases = {
      {"lower", &to_lower}, {"upper", &to_upper}, {"title", &to_title}, {"capitalize", &capitalize}, {"swapcase", &swap_case}, {"casefold", &case_fold}};
  return mapped(in, args[0], kCases.at(text_argument(in, args[1])));
}

Value is_class(Interpreter& in, Args args) { return tested(in, args[0], text_class(text_argument(in, args[1]))); }

Side side_of(Interpreter& in, const Value& v) {
  const std::string name = text_argument(in, v);
  if (name != "left" && name != "right" && name != "both") raise("ValueError", "Invalid side");
  return name == "left" ? Side::left : name == "right" ? Side::right : Side::both;
}

Value strip(Interpreter& in, Args args) {
  const Side side = side_of(in, args[1]);
  std::optional<std::u32string> characters;
  if (!args[2].is_none()) characters = decode(text_argument(in, args[2]));
  return mapped(in, args[0], [=](std::string_view text) { return std::string(strip_text(text, side, characters)); });
}

Value length_of(Interpreter& in, Args args) {
  return measured(in, args[0], DType::i64, [](std::string_view text) { return std::optional(static_cast<double>(code_point_count(text))); });
}

// ---- searching ----

Value contains(Interpreter& in, Args args) {
  const std::string pattern = text_argument(in, args[1]);
  const int64_t flags = to_index(in, args[3]);
  const bool regex = truth(in, args[2]);
  if (!regex && (flags & kRegexIgnoreCase)) {
    const std::string upper = to_upper(pattern);
    return tested(in, args[0], [=](std::string_view text) { return to_upper(text).find(upper) != std::string::npos; });
  }
  if (!regex || (flags == 0 && is_plain_text(pattern))) return tested(in, args[0], [=](std::string_view text) { return text.find(pattern) != text.npos; });
  const auto compiled = Regex::compile(pattern, flags);
  return wrap_column(measure_texts(in.engine(), column_of(args[0]), DType::boolean, TextMeasureMaker([&] {
    const auto match = std::make_shared<Regex::Matcher>(*compiled);
    return [match](std::string_view text) { return std::optional<double>(match->find(text, 0)); };
  })));
}

/// match(column, pattern, flags, whole)
Value match_pattern(Interpreter& in, Args args) {
  const auto compiled = Regex::compile(text_argument(in, args[1]), to_index(in, args[2]));
  const auto where = truth(in, args[3]) ? Regex::Matcher::Where::whole : Regex::Matcher::Where::at_start;
  return wrap_column(measure_texts(in.engine(), column_of(args[0]), DType::boolean, TextMeasureMaker([&] {
    const auto match = std::make_shared<Regex::Matcher>(*compiled);
    return [match, where](std::string_view text) { return std::optional<double>(match->find(text, 0, where)); };
  })));
}

Value count_matches(Interpreter& in, Args args) {
  const auto compiled = Regex::compile(text_argument(in, args[1]), to_index(in, args[2]));
  return wrap_column(measure_texts(in.engine(), column_of(args[0]), DType::i64, TextMeasureMaker([&] {
    const auto match = std::make_shared<Regex::Matcher>(*compiled);
    return [match](std::string_view text) {
      double count = 0;
      match->each(text, [&] {
        ++count;
        return true;
      });
      return std::optional(count);
    };
  })));
}

/// begins(column, texts, at_end)
Value begins(Interpreter& in, Args args) {
  std::vector<std::string> affixes;
  if (args[1].as<Tuple>())
    for (const Value& v : to_vector(in, args[1])) affixes.push_back(text_argument(in, v));
  else
    affixes.push_back(text_argument(in, args[1]));
  const bool at_end = truth(in, args[2]);
  return tested(in, args[0], [=](std::string_view text) {
    return std::any_of(affixes.begin(), affixes.end(), [&](const std::string& a) { return at_end ? text.ends_with(a) : text.starts_with(a); });
  });
}

/// find(column, part, from_right, start, stop, needed)
Value find(Interpreter& in, Args args) {
  const std::string part = text_argument(in, args[1]);
  const bool from_right = truth(in, args[2]), needed = truth(in, args[5]);
  const auto start = optional_int(in, args[3]), stop = optional_int(in, args[4]);
  return measured(in, args[0], DType::i64, [=](std::string_view text) {
    const int64_t place = find_text(text, part, from_right, start.value_or(0), stop);
    if (needed && place < 0) throw Error("ValueError", "substring not found");
    return std::optional(static_cast<double>(place));
  });
}

// ---- new texts ----

/// A match, as a function that makes replacements sees it.
const Type& match_type();
class MatchObject final : public Object {
 public:
  MatchObject(const Regex& regex, const Regex::Matcher& m, std::string_view text) : all_(text) {
    for (int g = 0; g <= regex.groups(); ++g) {
      const auto part = m.group(g);
      groups.push_back(part ? make_str(std::string(*part)) : Value());
      spans.emplace_back(part ? code_point_count(text.substr(0, m.begin(g))) : -1, part ? code_point_count(text.substr(0, m.end(g))) : -1);
      names.push_back(regex.name(g));
    }
  }
  const Type& type() const override { return match_type(); }
  std::string repr(Interpreter& in) override {
    return "<re.Match object; span=(" + std::to_string(spans[0].first) + ", " + std::to_string(spans[0].second) + "), match=" + gasell::repr(in, groups[0]) + ">";
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

 private:
  std::string all_;
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
        {"start", "group=0", [](Interpreter& in, Args args) { return Value::of(self_match(args[0]).spans[self_match(args[0]).place(in, args[1])].first); }, "Where it begins."},
        {"end", "group=0", [](Interpreter& in, Args args) { return Value::of(self_match(args[0]).spans[self_match(args[0]).place(in, args[1])].second); }, "Where it ends."},
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

/// The different texts of a column changed by something that only this thread may do.
Value mapped_here(Interpreter& in, const Value& column, const std::function<std::string(std::string_view)>& f) {
  const Column source = with_used_texts(in.engine(), column_of(column));
  DictionaryBuilder texts;
  for (int64_t i = 0; i < source.dictionary->size(); ++i) {
    if (in.engine().interrupt_flag()) throw Interrupted();
    texts.add(f((*source.dictionary)[i]));
  }
  Column result = source;
  result.dictionary = texts.finish(false);
  return wrap_column(std::move(result));
}

/// replace(column, old, new, n, regex, flags): `new` may be a function of a match.
Value replace(Interpreter& in, Args args) {
  const std::string old = text_argument(in, args[1]);
  const int64_t count = to_index(in, args[3]), flags = to_index(in, args[5]);
  const Value& with = args[2];
  if (!truth(in, args[4])) {
    const std::string text = text_argument(in, with);
    return mapped(in, args[0], TextFunction([=](std::string_view t, std::string& out) {
                    replace_text(t, old, text, count, out);
                    return true;
                  }));
  }
  const auto compiled = Regex::compile(old, flags);
  if (!with.as<Str>()) {
    Regex::Matcher match(*compiled);
    return mapped_here(in, args[0], [&](std::string_view text) {
      std::string out;
      size_t from = 0;
      int64_t left = count < 0 ? INT64_MAX : count;
      match.each(text, [&] {
        if (left-- <= 0) return false;
        out += text.substr(from, match.begin() - from);
        const Value made = gasell::call(in, with, Arguments{{Value::make<MatchObject>(*compiled, match, text)}, {}});
        out += need_text(in, made);
        from = match.end();
        return true;
      });
      out += text.substr(from);
      return out;
    });
  }
  const auto made = std::make_shared<RegexTemplate>(text_argument(in, with), *compiled);
  return wrap_column(map_texts(in.engine(), column_of(args[0]), TextFunctionMaker([&] {
    const auto match = std::make_shared<Regex::Matcher>(*compiled);
    return [=](std::string_view text, std::string& out) {
      replace_matches(text, *match, *made, count, out);
      return true;
    };
  })));
}

Value slice(Interpreter& in, Args args) {
  const auto start = optional_int(in, args[1]), stop = optional_int(in, args[2]);
  const int64_t step = optional_int(in, args[3]).value_or(1);
  if (step == 0) raise("ValueError", "slice step cannot be zero");
  return mapped(in, args[0], TextFunction([=](std::string_view text, std::string& out) {
                  slice_text(text, start, stop, step, out);
                  return true;
                }));
}

Value slice_replace(Interpreter& in, Args args) {
  const auto start = optional_int(in, args[1]), stop = optional_int(in, args[2]);
  const std::string with = optional_text(in, args[3]).value_or("");
  return mapped(in, args[0], TextFunction([=](std::string_view text, std::string& out) {
                  const auto [from, to] = clipped_bounds(code_point_count(text), start, stop);
                  const size_t begin = byte_offset(text, from);
                  out += text.substr(0, begin);
                  out += with;
                  out += text.substr(from < to ? byte_offset(text, to) : begin);
                  return true;
                }));
}

/// The code point at a place; missing where there is none.
Value get(Interpreter& in, Args args) {
  const int64_t place = to_index(in, args[1]);
  return mapped(in, args[0], TextFunction([=](std::string_view text, std::string& out) {
                  const int64_t length = code_point_count(text), at = place < 0 ? place + length : place;
                  if (at < 0 || at >= length) return false;
                  slice_text(text, at, at + 1, 1, out);
                  return true;
                }));
}

Value pad(Interpreter& in, Args args) {
  const int64_t width = to_index(in, args[1]);
  const Side side = side_of(in, args[2]);
  const std::string fill = text_argument(in, args[3]);
  return mapped(in, args[0], TextFunction([=](std::string_view text, std::string& out) {
                  pad_text(text, width, side, fill, out);
                  return true;
                }));
}

Value zfill(Interpreter& in, Args args) {
  const int64_t width = to_index(in, args[1]);
  return mapped(in, args[0], TextFunction([=](std::string_view text, std::string& out) {
                  zero_fill(text, width, out);
                  return true;
                }));
}

/// repeat(column, times): times is an int, or a list of as many.
Value repeat(Interpreter& in, Args args) {
  const auto put = [](std::string_view text, int64_t times, std::string& out) {
    for (int64_t i = 0; i < times; ++i) out += text;
  };
  if (args[1].is_int()) {
    const int64_t times = args[1].as_int();
    return mapped(in, args[0], TextFunction([=](std::string_view text, std::string& out) {
                    put(text, times, out);
                    return true;
                  }));
  }
  Column column = column_of(args[0]);
  const std::vector<Value> each = to_vector(in, args[1]);
  const ColumnData data = read(in.engine(), column);
  if (static_cast<int64_t>(each.size()) != data.count) raise("ValueError", "operands could not be broadcast together with shapes (" + std::to_string(data.count) + ",) (" + std::to_string(each.size()) + ",)");
  DictionaryBuilder texts;
  NewValues codes(in.engine(), DType::i32, data.count);
  for (int64_t i = 0; i < data.count; ++i) {
    const int32_t code = data.as<int32_t>()[i];
    std::string out;
    if (code >= 0) put((*column.dictionary)[code], to_index(in, each[static_cast<size_t>(i)]), out);
    texts.add(out);
    codes.as<int32_t>()[i] = code < 0 ? -1 : static_cast<int32_t>(i);
  }
  return wrap_column({text_type(), codes.node(), nullptr, texts.finish(false)});
}

/// join(column, separator): between the characters of each text.
Value join(Interpreter& in, Args args) {
  const std::string separator = text_argument(in, args[1]);
  return mapped(in, args[0], TextFunction([=](std::string_view text, std::string& out) {
                  for (size_t i = 0; i < text.size();) {
                    const auto length = static_cast<size_t>(decode_utf8(text, i).length);
                    if (i > 0) out += separator;
                    out += text.substr(i, length);
                    i += length;
                  }
                  return true;
                }));
}

Value wrap_lines(Interpreter& in, Args args) {
  const int64_t width = to_index(in, args[1]);
  return mapped(in, args[0], [=](std::string_view text) { return wrap_text(text, width); });
}

/// translate(column, table): a dict of code points to code points, texts or None.
Value translate(Interpreter& in, Args args) {
  std::map<char32_t, std::string> table;
  const auto* dict = args[1].as<Dict>();
  if (!dict) raise("TypeError", "the table of translate is a dict, as str.maketrans makes it");
  for (const Dict::Entry& e : dict->entries()) {
    if (e.key.is_absent() || !e.key.is_int()) continue;
    std::string to;
    if (e.value.is_int()) append_utf8(to, static_cast<char32_t>(e.value.as_int()));
    else if (!e.value.is_none()) to = text_argument(in, e.value);
    table[static_cast<char32_t>(e.key.as_int())] = to;
  }
  return mapped(in, args[0], TextFunction([=](std::string_view text, std::string& out) {
                  for (size_t i = 0; i < text.size();) {
                    const CodePoint c = decode_utf8(text, i);
                    const auto found = table.find(c.value);
                    if (found == table.end()) out += text.substr(i, static_cast<size_t>(c.length));
                    else out += found->second;
                    i += static_cast<size_t>(c.length);
                  }
                  return true;
                }));
}

/// remove(column, affix, at_end)
Value remove(Interpreter& in, Args args) {
  const std::string affix = text_argument(in, args[1]);
  const bool at_end = truth(in, args[2]);
  return mapped(in, args[0], [=](std::string_view text) {
    if (at_end ? text.ends_with(affix) : text.starts_with(affix)) at_end ? text.remove_suffix(affix.size()) : text.remove_prefix(affix.size());
    return std::string(text);
  });
}

// ---- several texts of each ----

/// The parts of texts: ("split", separator or None, most, regex, from_right, flags), ("findall", pattern, flags).
std::function<TextParts()> parts_maker(Interpreter& in, const Value& operation) {
  const std::vector<Value> what = to_vector(in, operation);
  if (text_argument(in, what[0]) == "findall") {
    const auto compiled = Regex::compile(text_argument(in, what[1]), to_index(in, what[2]));
    return [compiled]() -> TextParts {
      const auto match = std::make_shared<Regex::Matcher>(*compiled);
      return [match, compiled](std::string_view text, std::vector<std::optional<std::string>>& parts) {
        match->each(text, [&] {
          parts.emplace_back(match->group(compiled->groups() == 1 ? 1 : 0).value_or(std::string_view()));
          return true;
        });
      };
    };
  }
  const auto separator = optional_text(in, what[1]);
  const int64_t most = to_index(in, what[2]) == 0 ? -1 : to_index(in, what[2]);
  const bool from_right = truth(in, what[4]);
  if (separator && separator->empty()) raise("ValueError", "empty separator");
  if (!truth(in, what[3]))
    return [=]() -> TextParts {
      return [=](std::string_view text, std::vector<std::optional<std::string>>& parts) { split_text(text, separator, most, from_right, parts); };
    };
  const auto compiled = Regex::compile(*separator, to_index(in, what[5]));
  return [compiled, most]() -> TextParts {
    const auto match = std::make_shared<Regex::Matcher>(*compiled);
    return [match, compiled, most](std::string_view text, std::vector<std::optional<std::string>>& parts) {
      split_text(text, *match, most, compiled->groups(), parts);
    };
  };
}

Value part_columns(Interpreter& in, Args args) { return list_of_columns(split_texts(in.engine(), column_of(args[0]), parts_maker(in, args[1]))); }

/// part(column, operation, place): one part of each; missing where there are fewer.
Value part(Interpreter& in, Args args) {
  const auto make = parts_maker(in, args[1]);
  const int64_t place = to_index(in, args[2]);
  return wrap_column(map_texts(in.engine(), column_of(args[0]), TextFunctionMaker([&] {
    const auto parts = std::make_shared<std::vector<std::optional<std::string>>>();
    return [f = make(), parts, place](std::string_view text, std::string& out) {
      parts->clear();
      f(text, *parts);
      const auto count = static_cast<int64_t>(parts->size()), at = place < 0 ? place + count : place;
      if (at < 0 || at >= count || !(*parts)[static_cast<size_t>(at)]) return false;
      out = *(*parts)[static_cast<size_t>(at)];
      return true;
    };
  })));
}

Value part_counts(Interpreter& in, Args args) {
  const auto make = parts_maker(in, args[1]);
  return wrap_column(measure_texts(in.engine(), column_of(args[0]), DType::i64, TextMeasureMaker([&] {
    const auto parts = std::make_shared<std::vector<std::optional<std::string>>>();
    return [f = make(), parts](std::string_view text) {
      parts->clear();
      f(text, *parts);
      return std::optional(static_cast<double>(parts->size()));
    };
  })));
}

/// joined_parts(column, operation, separator)
Value joined_parts(Interpreter& in, Args args) {
  const auto make = parts_maker(in, args[1]);
  const std::string separator = text_argument(in, args[2]);
  return wrap_column(map_texts(in.engine(), column_of(args[0]), TextFunctionMaker([&] {
    const auto parts = std::make_shared<std::vector<std::optional<std::string>>>();
    return [f = make(), parts, separator](std::string_view text, std::string& out) {
      parts->clear();
      f(text, *parts);
      for (size_t k = 0; k < parts->size(); ++k) {
        if (k) out += separator;
        out += (*parts)[k].value_or("");
      }
      return true;
    };
  })));
}

/// part_lists(column, operation): a Python list for each row, or pd.NA.
Value part_lists(Interpreter& in, Args args) {
  const auto make = parts_maker(in, args[1]);
  const TextParts f = make();
  Column column = column_of(args[0]);
  const ColumnData data = read(in.engine(), column);
  std::vector<Value> lists;
  std::vector<std::optional<std::string>> parts;
  for (int64_t i = 0; i < data.count; ++i) {
    const int32_t code = data.as<int32_t>()[i];
    if (code < 0) {
      lists.push_back(na_value());
      continue;
    }
    parts.clear();
    f((*column.dictionary)[code], parts);
    std::vector<Value> items;
    for (auto& p : parts) items.push_back(p ? make_str(std::move(*p)) : Value());
    lists.push_back(make_list(std::move(items)));
  }
  return make_list(std::move(lists));
}

Value partition(Interpreter& in, Args args) {
  const std::string separator = text_argument(in, args[1]);
  const bool from_right = truth(in, args[2]);
  if (separator.empty()) raise("ValueError", "empty separator");
  return list_of_columns(split_texts(in.engine(), column_of(args[0]), [&]() -> TextParts {
    return [=](std::string_view text, std::vector<std::optional<std::string>>& parts) {
      const size_t at = from_right ? text.rfind(separator) : text.find(separator);
      if (at == text.npos) {
        parts = from_right ? std::vector<std::optional<std::string>>{"", "", std::string(text)} : std::vector<std::optional<std::string>>{std::string(text), "", ""};
        return;
      }
      parts = {std::string(text.substr(0, at)), separator, std::string(text.substr(at + separator.size()))};
    };
  }, 3));
}

std::shared_ptr<const Regex> pattern_with_groups(Interpreter& in, const Value& pattern, const Value& flags) {
  auto compiled = Regex::compile(text_argument(in, pattern), to_index(in, flags));
  if (compiled->groups() == 0) raise("ValueError", "pattern contains no capture groups");
  return compiled;
}

Value group_names(const Regex& regex) {
  std::vector<Value> names;
  for (int g = 1; g <= regex.groups(); ++g) names.push_back(regex.name(g).empty() ? Value::of(g - 1) : make_str(regex.name(g)));
  return make_list(std::move(names));
}

Value extract(Interpreter& in, Args args) {
  const auto compiled = pattern_with_groups(in, args[1], args[2]);
  const auto columns = split_texts(in.engine(), column_of(args[0]), [&]() -> TextParts {
    const auto match = std::make_shared<Regex::Matcher>(*compiled);
    return [match, compiled](std::string_view text, std::vector<std::optional<std::string>>& parts) {
      if (!match->find(text, 0)) return;
      for (int g = 1; g <= compiled->groups(); ++g) {
        const auto group = match->group(g);
        parts.push_back(group ? std::optional<std::string>(*group) : std::nullopt);
      }
    };
  }, compiled->groups());
  return make_tuple({list_of_columns(columns), group_names(*compiled)});
}

/// extractall(column, pattern, flags): (rows, numbers of the matches, columns, names)
Value extract_all(Interpreter& in, Args args) {
  const auto compiled = pattern_with_groups(in, args[1], args[2]);
  Regex::Matcher match(*compiled);
  Column column = column_of(args[0]);
  const ColumnData data = read(in.engine(), column);
  std::vector<Value> rows, numbers;
  const auto groups = static_cast<size_t>(compiled->groups());
  std::vector<DictionaryBuilder> texts(groups);
  std::vector<std::vector<int32_t>> codes(groups);
  for (int64_t i = 0; i < data.count; ++i) {
    const int32_t code = data.as<int32_t>()[i];
    if (code < 0) continue;
    int64_t number = 0;
    match.each((*column.dictionary)[code], [&] {
      rows.push_back(Value::of(i));
      numbers.push_back(Value::of(number++));
      for (size_t g = 0; g < groups; ++g) {
        const auto group = match.group(static_cast<int>(g) + 1);
        codes[g].push_back(group ? static_cast<int32_t>(texts[g].size()) : -1);
        if (group) texts[g].add(*group);
      }
      return true;
    });
  }
  std::vector<Column> columns;
  for (size_t g = 0; g < groups; ++g) {
    NewValues values(in.engine(), DType::i32, static_cast<int64_t>(codes[g].size()));
    std::copy(codes[g].begin(), codes[g].end(), values.as<int32_t>());
    columns.push_back({text_type(), values.node(), nullptr, texts[g].finish(false)});
  }
  return make_tuple({make_list(std::move(rows)), make_list(std::move(numbers)), list_of_columns(std::move(columns)), group_names(*compiled)});
}

/// dummies(column, separator): (the different parts, sorted; for each whether a text has it, as int64)
Value dummies(Interpreter& in, Args args) {
  const std::string separator = text_argument(in, args[1]);
  const Column column = with_used_texts(in.engine(), column_of(args[0]));
  std::map<std::string, std::vector<uint8_t>> found;
  const int64_t count = column.dictionary->size();
  std::vector<std::optional<std::string>> parts;
  Column copy = column;
  const ColumnData data = read(in.engine(), copy);
  std::vector<uint8_t> used(static_cast<size_t>(count));
  for (int64_t i = 0; i < data.count; ++i)
    if (data.as<int32_t>()[i] >= 0) used[static_cast<size_t>(data.as<int32_t>()[i])] = 1;
  for (int64_t i = 0; i < count; ++i) {
    if (!used[static_cast<size_t>(i)]) continue;
    parts.clear();
    split_text((*column.dictionary)[i], separator, -1, false, parts);
    for (const auto& p : parts) {
      if (p->empty()) continue;
      auto& flags = found[*p];
      flags.resize(static_cast<size_t>(count));
      flags[static_cast<size_t>(i)] = 1;
    }
  }
  std::vector<Value> names, columns;
  for (const auto& [name, flags] : found) {
    names.push_back(make_str(name));
    columns.push_back(wrap_column(number_column(of_codes<int64_t>(in.engine(), column, std::vector<int64_t>(flags.begin(), flags.end()), 0))));
  }
  return make_tuple({make_list(std::move(names)), make_list(std::move(columns))});
}

/// cat(columns, separator, na_rep)
Value cat(Interpreter& in, Args args) {
  std::vector<Column> columns;
  for (const Value& v : to_vector(in, args[0])) columns.push_back(column_of(v));
  const std::string separator = text_argument(in, args[1]);
  const auto missing = optional_text(in, args[2]);
  const size_t count = columns.size();
  return wrap_column(combine_texts(in.engine(), columns, [=](const std::optional<std::string_view>* row, std::string& out) {
    for (size_t k = 0; k < count; ++k) {
      if (!row[k] && !missing) return false;
      if (k) out += separator;
      out += row[k] ? *row[k] : std::string_view(*missing);
    }
    return true;
  }));
}

/// cat_all(column, separator, na_rep): one text of all.
Value cat_all(Interpreter& in, Args args) {
  Column column = column_of(args[0]);
  const ColumnData data = read(in.engine(), column);
  const std::string separator = text_argument(in, args[1]);
  const auto missing = optional_text(in, args[2]);
  std::string out;
  bool any = false;
  for (int64_t i = 0; i < data.count; ++i) {
    const int32_t code = data.as<int32_t>()[i];
    if (code < 0 && !missing) continue;
    if (any) out += separator;
    out += code < 0 ? std::string_view(*missing) : (*column.dictionary)[code];
    any = true;
  }
  return make_str(std::move(out));
}

/// add(a, b): columns or texts behind each other.
Value add(Interpreter& in, Args args) {
  if (const auto* s = args[1].as<Str>())
    return mapped(in, args[0], [with = s->value](std::string_view text) { return std::string(text) + with; });
  if (const auto* s = args[0].as<Str>())
    return mapped(in, args[1], [with = s->value](std::string_view text) { return with + std::string(text); });
  return wrap_column(combine_texts(in.engine(), {column_of(args[0]), column_of(args[1])}, [](const std::optional<std::string_view>* row, std::string& out) {
    if (!row[0] || !row[1]) return false;
    out += *row[0];
    out += *row[1];
    return true;
  }));
}

/// numbers(column, coerce): what to_numeric makes of texts: int64 where all are whole, else float64.
Value numbers(Interpreter& in, Args args) {
  Column column = with_used_texts(in.engine(), column_of(args[0]));
  const bool coerce = truth(in, args[1]);
  const ColumnData data = read(in.engine(), column);
  const auto count = static_cast<size_t>(column.dictionary->size());
  std::vector<double> reals(count);
  std::vector<int64_t> wholes(count);
  std::vector<uint8_t> state(count);  // 0: not looked at, 1: whole, 2: a float, 3: none
  bool whole = true;
  for (int64_t i = 0; i < data.count; ++i) {
    const int32_t code = data.as<int32_t>()[i];
    if (code < 0) {
      whole = false;
      continue;
    }
    const auto at = static_cast<size_t>(code);
    if (state[at] == 0) {
      const std::string_view text = (*column.dictionary)[code];
      const auto number = number_of_text(text);
      state[at] = !number ? 3 : number->whole ? 1 : 2;
      wholes[at] = number ? number->integer : 0;
      reals[at] = number ? number->real : std::nan("");
      if (!number && !coerce && !text.empty())
        raise("ValueError", "Unable to parse string \"" + std::string(text) + "\" at position " + std::to_string(i), "errors='coerce' makes NaN of it");
    }
    whole = whole && state[at] == 1;
  }
  Column result;
  result.values = whole ? of_codes<int64_t>(in.engine(), column, wholes, 0) : of_codes<double>(in.engine(), column, reals, std::nan(""));
  return wrap_column(number_column(result.values));
}

}  // namespace

std::string need_text(Interpreter& in, const Value& v) {
  if (const auto* s = v.as<Str>()) return s->value;
  raise("TypeError", "expected str instance, " + type_of(v).name + " found");
  (void)in;
}

}  // namespace gasell::pandas

namespace gasell {

Value make_text_natives(Interpreter&) {
  using namespace pandas;
  static const bool registered = [] {
    static const Type type{"PatternError", "re", exception_type("Exception")};
    register_exception(type);
    return true;
  }();
  (void)registered;
  static const std::vector<NativeFunction> kFunctions = {
      {"case", "column, name", change_case, "lower, upper …"},
      {"is_class", "column, name", is_class, "alpha, digit …"},
      {"strip", "column, side, characters", strip, "Without characters at the ends."},
      {"length", "column", length_of, "Code points."},
      {"contains", "column, pattern, regex, flags", contains, "Whether texts have a part."},
      {"match", "column, pattern, flags, whole", match_pattern, "Whether texts begin with a match."},
      {"count", "column, pattern, flags", count_matches, "How many matches."},
      {"begins", "column, texts, at_end", begins, "Whether texts begin or end so."},
      {"find", "column, part, from_right, start, stop, needed", find, "Where a part is."},
      {"replace", "column, old, new, n, regex, flags", replace, "Parts replaced."},
      {"slice", "column, start, stop, step", slice, "text[start:stop:step]"},
      {"slice_replace", "column, start, stop, text", slice_replace, "A slice replaced."},
      {"get", "column, place", get, "One character."},
      {"pad", "column, width, side, fill", pad, "Padded."},
      {"zfill", "column, width", zfill, "Zeros in front."},
      {"repeat", "column, times", repeat, "Repeated."},
      {"join", "column, separator", join, "A separator between the characters."},
      {"wrap", "column, width", wrap_lines, "Broken into lines."},
      {"translate", "column, table", translate, "Characters replaced."},
      {"remove", "column, affix, at_end", remove, "Without a prefix or suffix."},
      {"part_columns", "column, operation", part_columns, "The parts as columns."},
      {"part", "column, operation, place", part, "One part."},
      {"part_counts", "column, operation", part_counts, "How many parts."},
      {"part_lists", "column, operation", part_lists, "The parts as lists."},
      {"joined_parts", "column, operation, separator", joined_parts, "The parts with a separator."},
      {"partition", "column, separator, from_right", partition, "Before, separator, behind."},
      {"extract", "column, pattern, flags", extract, "(columns, names) of the groups of the first match."},
      {"extract_all", "column, pattern, flags", extract_all, "(rows, matches, columns, names) of all matches."},
      {"dummies", "column, separator", dummies, "(names, columns) of what texts have."},
      {"cat", "columns, separator, na_rep", cat, "Columns beside each other."},
      {"cat_all", "column, separator, na_rep", cat_all, "All texts in one."},
      {"add", "a, b", add, "Texts behind each other."},
      {"numbers", "column, coerce", numbers, "Texts as numbers."},
  };
  return make_module("_texts", kFunctions);
}

}  // namespace gasell
