// Natives of the hidden module _frame that read JSON: objects as columns, anything else as lists and dicts.
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "lang/diagnostic.h"
#include "runtime/io/csv/csv.h"
#include "runtime/io/csv/text.h"
#include "runtime/io/csv/utf8.h"
#include "runtime/io/json_lines.h"
#include "runtime/io/json_tokens.h"
#include "runtime/io/remote/remote.h"
#include "runtime/session/dict.h"
#include "stdlib/pandas/column_object.h"
#include "stdlib/pandas/csv.h"

namespace gasell::pandas {
namespace {

using Args = std::span<Value>;

constexpr int kMostLevels = 1000;

std::vector<std::filesystem::path> paths_of(Interpreter& in, const Value& list, const csv::CsvOptions& options) {
  std::vector<std::filesystem::path> paths;
  for (const Value& v : to_vector(in, list))
    for (const std::filesystem::path& path : csv::files_of(str(in, v), options.storage)) paths.push_back(path);
  return paths;
}

/// read_json(source, is_text, rows, lines, encoding, encoding_errors, storage): (names, columns, rows) of objects, one a line or in one
/// list.
Value read_json(Interpreter& in, Args args) {
  std::optional<int64_t> rows;
  if (!args[2].is_none()) rows = to_index(in, args[2]);
  const JsonForm form = truth(in, args[3]) ? JsonForm::lines : JsonForm::list;
  csv::CsvOptions options;
  set_coding(options, str(in, args[4]), str(in, args[5]));
  options.storage = storage_options_of(in, args[6]);
  JsonTable table = truth(in, args[1]) ? gasell::read_json_text(in.engine(), str(in, args[0]), form, rows)
                                       : gasell::read_json(in.engine(), paths_of(in, args[0], options), form, rows, options);
  std::vector<Value> names, columns;
  for (const std::string& name : table.names) names.push_back(make_str(name));
  for (Column& column : table.columns) columns.push_back(wrap_column(std::move(column)));
  std::vector<Value> joined;
  for (bool truths : table.truths_as_numbers) joined.push_back(Value::of(truths));
  return make_tuple({make_list(std::move(names)), make_list(std::move(columns)), Value::of(table.rows), make_list(std::move(joined))});
}

std::string text_of(const JsonToken& token) {
  std::string text;
  if (token.escaped)
    put_unescaped(text, token.text);
  else
    text = token.text;
  return text;
}

Value number_of(std::string_view text) {
  int64_t whole = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, whole);
  if (stop == end && failure == std::errc{}) return Value::of(whole);
  if (stop == end)
    throw Error("NotImplementedError", "integers from 2**63 on within lists and dicts of JSON are not in Gasell",
                "a list of objects may hold them, one object a row", Blame::limitation);
  double real = 0;
  if (text.ends_with("Infinity")) return Value::of(text[0] == '-' ? -HUGE_VAL : HUGE_VAL);
  const auto [behind, beyond] = std::from_chars(text.data(), end, real);
  if (behind != end) throw WrongJson{"Expected object or value"};
  if (beyond == std::errc::result_out_of_range) real = std::strtod(std::string(text).c_str(), nullptr);  // infinite, or zero
  return Value::of(real);
}

Value value_at(Interpreter& in, JsonCursor& cursor, int level) {
  if (level > kMostLevels) throw WrongJson{"Reached object decoding depth limit"};
  cursor.skip_blanks();
  if (cursor.take('[')) {
    std::vector<Value> items;
    cursor.skip_blanks();
    if (cursor.take(']')) return make_list({});
    for (;;) {
      items.push_back(value_at(in, cursor, level + 1));
      cursor.skip_blanks();
      if (cursor.take(',')) continue;
      if (cursor.take(']')) return make_list(std::move(items));
      throw WrongJson{"Unexpected character found when decoding array value (2)"};
    }
  }
  if (cursor.take('{')) {
    Value dict = make_dict();
    for (;;) {
      cursor.skip_blanks();
      if (cursor.take('}')) return dict;
      JsonToken key{JsonToken::Kind::text, {}};
      key.text = cursor.key_of_member(key.escaped);
      Value value = value_at(in, cursor, level + 1);
      dict.as<Dict>()->insert(in, make_str(text_of(key)), std::move(value));
      cursor.skip_blanks();
      if (cursor.take(',')) continue;
      if (cursor.take('}')) return dict;
      throw WrongJson{"Unexpected character found when decoding object value"};
    }
  }
  const JsonToken token = cursor.value();
  switch (token.kind) {
    case JsonToken::Kind::null: return {};
    case JsonToken::Kind::boolean: return Value::of(token.text == kJsonTrue);
    case JsonToken::Kind::number: return number_of(token.text);
    case JsonToken::Kind::text: return make_str(text_of(token));
  }
  return {};
}

/// json_value(source, is_text, encoding, encoding_errors, storage): (whether it is a list of objects, the value otherwise): lists, dicts,
/// texts, numbers, True, False and None. Of a list of objects in another machine's file the second is the file's text, lest it is fetched
/// again; of others None.
Value json_value(Interpreter& in, Args args) {
  const std::string given = truth(in, args[1]) ? str(in, args[0]) : "";
  csv::Text text;
  bool fetched = false;
  if (truth(in, args[1])) {
    text = csv::text_of(given);
  } else {
    csv::CsvOptions options;
    set_coding(options, str(in, args[2]), str(in, args[3]));
    options.storage = storage_options_of(in, args[4]);
    const auto paths = paths_of(in, args[0], options);
    if (paths.size() != 1) raise("NotImplementedError", "read_json of several files reads lines or lists of objects");
    fetched = remote::is_remote(paths[0].string());
    text = csv::open_text(in.engine(), paths[0], options);
    if (!text.checked) csv::check_utf8(text.begin, text.end, text.origin(), text.shown);
  }
  try {
    JsonCursor cursor(text.begin, text.end);
    cursor.skip_blanks();
    JsonCursor inside = cursor;
    if (inside.take('[')) {
      inside.skip_blanks();
      if (inside.take('{')) return make_tuple({Value::of(true), fetched ? make_str(std::string(text.begin, text.end)) : Value()});
    }
    Value value = value_at(in, cursor, 0);
    cursor.finished();
    return make_tuple({Value::of(false), std::move(value)});
  } catch (const WrongJson& wrong) {
    raise("ValueError", wrong.message, text.shown.empty() ? "" : "in " + text.shown);
  }
}

}  // namespace

std::vector<NativeFunction> json_functions() {
  return {
      {"read_json", "source, is_text, rows, lines, encoding, encoding_errors, storage", read_json,
       "Columns of files or of a text of JSON objects."},
      {"json_value", "source, is_text, encoding, encoding_errors, storage", json_value,
       "(whether it is a list of objects, the value otherwise)."},
  };
}

}  // namespace gasell::pandas
