// Natives of _texts with regular expressions: searching, replacing, extracting.
#include <memory>

#include "lang/diagnostic.h"
#include "runtime/session/str_text.h"
#include "runtime/session/types.h"
#include "stdlib/pandas/match_object.h"
#include "stdlib/pandas/text_natives.h"
#include "stdlib/pandas/texts.h"

namespace gasell::pandas {

using namespace frame;

namespace {

Value contains(Interpreter& in, Args args) {
  const std::string pattern = text_argument(in, args[1]);
  const int64_t flags = to_index(in, args[3]);
  const bool regex = truth(in, args[2]);
  if (!regex && (flags & kRegexIgnoreCase)) {
    const std::string upper = to_upper(pattern);
    return tested(in, args[0], [=](std::string_view text) { return to_upper(text).find(upper) != std::string::npos; });
  }
  if (!regex || (flags == 0 && is_plain_text(pattern)))
    return tested(in, args[0], [=](std::string_view text) { return text.find(pattern) != text.npos; });
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
                                     return [match, where](std::string_view text) {
                                       return std::optional<double>(match->find(text, 0, where));
                                     };
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
        const Value made = gasell::call(in, with, Arguments{{match_value(*compiled, match, text)}, {}});
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
  const auto columns = split_texts(
      in.engine(), column_of(args[0]),
      [&]() -> TextParts {
        const auto match = std::make_shared<Regex::Matcher>(*compiled);
        return [match, compiled](std::string_view text, std::vector<std::optional<std::string>>& parts) {
          if (!match->find(text, 0)) return;
          for (int g = 1; g <= compiled->groups(); ++g) {
            const auto group = match->group(g);
            parts.push_back(group ? std::optional<std::string>(*group) : std::nullopt);
          }
        };
      },
      compiled->groups());
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
  return make_tuple(
      {make_list(std::move(rows)), make_list(std::move(numbers)), list_of_columns(std::move(columns)), group_names(*compiled)});
}

}  // namespace

std::vector<NativeFunction> text_pattern_functions() {
  return {
      {"contains", "column, pattern, regex, flags", contains, "Whether texts have a part."},
      {"match", "column, pattern, flags, whole", match_pattern, "Whether texts begin with a match."},
      {"count", "column, pattern, flags", count_matches, "How many matches."},
      {"replace", "column, old, new, n, regex, flags", replace, "Parts replaced."},
      {"extract", "column, pattern, flags", extract, "(columns, names) of the groups of the first match."},
      {"extract_all", "column, pattern, flags", extract_all, "(rows, matches, columns, names) of all matches."},
  };
}

}  // namespace gasell::pandas
