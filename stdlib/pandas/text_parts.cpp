// Natives of _texts that make several texts of each: split, findall, partition, get_dummies.
#include <map>
#include <memory>

#include "lang/diagnostic.h"
#include "runtime/frame/regex.h"
#include "runtime/session/types.h"
#include "stdlib/pandas/text_natives.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell::pandas {

using namespace frame;

namespace {

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
      return [=](std::string_view text, std::vector<std::optional<std::string>>& parts) {
        split_text(text, separator, most, from_right, parts);
      };
    };
  const auto compiled = Regex::compile(*separator, to_index(in, what[5]));
  return [compiled, most]() -> TextParts {
    const auto match = std::make_shared<Regex::Matcher>(*compiled);
    return [match, compiled, most](std::string_view text, std::vector<std::optional<std::string>>& parts) {
      split_text(text, *match, most, compiled->groups(), parts);
    };
  };
}

Value part_columns(Interpreter& in, Args args) {
  return list_of_columns(split_texts(in.engine(), column_of(args[0]), parts_maker(in, args[1])));
}

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
  return list_of_columns(split_texts(
      in.engine(), column_of(args[0]),
      [&]() -> TextParts {
        return [=](std::string_view text, std::vector<std::optional<std::string>>& parts) {
          const size_t at = from_right ? text.rfind(separator) : text.find(separator);
          if (at == text.npos) {
            parts = from_right ? std::vector<std::optional<std::string>>{"", "", std::string(text)}
                               : std::vector<std::optional<std::string>>{std::string(text), "", ""};
            return;
          }
          parts = {std::string(text.substr(0, at)), separator, std::string(text.substr(at + separator.size()))};
        };
      },
      3));
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
    columns.push_back(
        wrap_column(number_column(of_codes<int64_t>(in.engine(), column, std::vector<int64_t>(flags.begin(), flags.end()), 0))));
  }
  return make_tuple({make_list(std::move(names)), make_list(std::move(columns))});
}

}  // namespace

std::vector<NativeFunction> text_part_functions() {
  return {
      {"part_columns", "column, operation", part_columns, "The parts as columns."},
      {"part", "column, operation, place", part, "One part."},
      {"part_counts", "column, operation", part_counts, "How many parts."},
      {"part_lists", "column, operation", part_lists, "The parts as lists."},
      {"joined_parts", "column, operation, separator", joined_parts, "The parts with a separator."},
      {"partition", "column, separator, from_right", partition, "Before, separator, behind."},
      {"dummies", "column, separator", dummies, "(names, columns) of what texts have."},
  };
}

}  // namespace gasell::pandas
