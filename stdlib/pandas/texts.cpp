// Natives of the hidden module _texts: what the accessor .str and the operators of texts are made with. The column comes first.
#include "stdlib/pandas/texts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "lang/diagnostic.h"
#include "runtime/session/dict.h"
#include "runtime/session/list_sequence.h"
#include "runtime/session/str_text.h"
#include "runtime/session/types.h"
#include "stdlib/modules.h"
#include "stdlib/pandas/text_natives.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell::pandas {

using namespace frame;

std::string text_argument(Interpreter& in, const Value& v) { return gasell::str(in, v); }
std::optional<std::string> optional_text(Interpreter& in, const Value& v) {
  return v.is_none() ? std::nullopt : std::optional(gasell::str(in, v));
}
std::optional<int64_t> optional_int(Interpreter& in, const Value& v) { return v.is_none() ? std::nullopt : std::optional(to_index(in, v)); }

Value mapped(Interpreter& in, const Value& column, const TextFunction& f) {
  return wrap_column(map_texts(in.engine(), column_of(column), f));
}
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

namespace {

// ---- case, classes, white space ----

Value change_case(Interpreter& in, Args args) {
  static const std::map<std::string, std::string (*)(std::string_view), std::less<>> kCases = {
      {"lower", &to_lower},        {"upper", &to_upper},     {"title", &to_title},
      {"capitalize", &capitalize}, {"swapcase", &swap_case}, {"casefold", &case_fold}};
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
  return measured(in, args[0], DType::i64,
                  [](std::string_view text) { return std::optional(static_cast<double>(code_point_count(text))); });
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
    return std::any_of(affixes.begin(), affixes.end(),
                       [&](const std::string& a) { return at_end ? text.ends_with(a) : text.starts_with(a); });
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
  require_memory(in, width, fill.size());
  return mapped(in, args[0], TextFunction([=](std::string_view text, std::string& out) {
                  pad_text(text, width, side, fill, out);
                  return true;
                }));
}

Value zfill(Interpreter& in, Args args) {
  const int64_t width = to_index(in, args[1]);
  require_memory(in, width);
  return mapped(in, args[0], TextFunction([=](std::string_view text, std::string& out) {
                  zero_fill(text, width, out);
                  return true;
                }));
}

/// repeat(column, times): times is an int, or a list of as many.
Value repeat(Interpreter& in, Args args) {
  const auto put = [&in](std::string_view text, int64_t times, std::string& out) {
    require_memory(in, times, text.size());
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
  if (static_cast<int64_t>(each.size()) != data.count)
    raise("ValueError", "operands could not be broadcast together with shapes (" + std::to_string(data.count) + ",) (" +
                            std::to_string(each.size()) + ",)");
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

Value normalize(Interpreter& in, Args args) {
  const std::string form = text_argument(in, args[1]);
  return mapped(in, args[0], [=](std::string_view text) { return normalized_text(text, form); });
}

/// translate(column, table): a dict of code points to code points, texts or None.
Value translate(Interpreter& in, Args args) {
  std::map<char32_t, std::string> table;
  const auto* dict = args[1].as<Dict>();
  if (!dict) raise("TypeError", "the table of translate is a dict, as str.maketrans makes it");
  for (const Dict::Entry& e : dict->entries()) {
    if (e.key.is_absent() || !e.key.is_int()) continue;
    std::string to;
    if (e.value.is_int())
      append_utf8(to, static_cast<char32_t>(e.value.as_int()));
    else if (!e.value.is_none())
      to = text_argument(in, e.value);
    table[static_cast<char32_t>(e.key.as_int())] = to;
  }
  return mapped(in, args[0], TextFunction([=](std::string_view text, std::string& out) {
                  for (size_t i = 0; i < text.size();) {
                    const CodePoint c = decode_utf8(text, i);
                    const auto found = table.find(c.value);
                    if (found == table.end())
                      out += text.substr(i, static_cast<size_t>(c.length));
                    else
                      out += found->second;
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
    if (at_end ? text.ends_with(affix) : text.starts_with(affix))
      at_end ? text.remove_suffix(affix.size()) : text.remove_prefix(affix.size());
    return std::string(text);
  });
}

// ---- columns beside each other, numbers ----

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
  return wrap_column(combine_texts(in.engine(), {column_of(args[0]), column_of(args[1])},
                                   [](const std::optional<std::string_view>* row, std::string& out) {
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
        raise("ValueError", "Unable to parse string \"" + std::string(text) + "\" at position " + std::to_string(i),
              "errors='coerce' makes NaN of it");
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
  static const std::vector<NativeFunction> kFunctions = [] {
    std::vector<NativeFunction> all = {
        {"case", "column, name", change_case, "lower, upper …"},
        {"is_class", "column, name", is_class, "alpha, digit …"},
        {"strip", "column, side, characters", strip, "Without characters at the ends."},
        {"length", "column", length_of, "Code points."},
        {"begins", "column, texts, at_end", begins, "Whether texts begin or end so."},
        {"find", "column, part, from_right, start, stop, needed", find, "Where a part is."},
        {"slice", "column, start, stop, step", slice, "text[start:stop:step]"},
        {"slice_replace", "column, start, stop, text", slice_replace, "A slice replaced."},
        {"get", "column, place", get, "One character."},
        {"pad", "column, width, side, fill", pad, "Padded."},
        {"zfill", "column, width", zfill, "Zeros in front."},
        {"repeat", "column, times", repeat, "Repeated."},
        {"join", "column, separator", join, "A separator between the characters."},
        {"wrap", "column, width", wrap_lines, "Broken into lines."},
        {"normalize", "column, form", normalize, "In a normal form of Unicode."},
        {"translate", "column, table", translate, "Characters replaced."},
        {"remove", "column, affix, at_end", remove, "Without a prefix or suffix."},
        {"cat", "columns, separator, na_rep", cat, "Columns beside each other."},
        {"cat_all", "column, separator, na_rep", cat_all, "All texts in one."},
        {"add", "a, b", add, "Texts behind each other."},
        {"numbers", "column, coerce", numbers, "Texts as numbers."},
    };
    for (auto part : {text_part_functions(), text_pattern_functions()})
      for (NativeFunction& f : part) all.push_back(std::move(f));
    return all;
  }();
  return make_module("_texts", kFunctions);
}

}  // namespace gasell
