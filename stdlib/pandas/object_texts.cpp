#include "stdlib/pandas/object_texts.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "runtime/frame/dictionary.h"
#include "runtime/frame/groups.h"
#include "runtime/session/dict.h"
#include "runtime/session/iterators.h"
#include "runtime/session/number.h"
#include "runtime/session/types.h"
#include "stdlib/datetime/objects.h"
#include "stdlib/pandas/column_object.h"
#include "stdlib/pandas/library_values.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell::pandas {
namespace {

// A value is a letter and what belongs to it: "i12;" "f0.5;" "s3:abc" "l2;" and two values.

/// Writes values. Of keys those that are equal have one text: True and 1.0 are 1.
class Encoder {
 public:
  Encoder(Interpreter& in, bool keys) : in_(in), keys_(keys) {}
  std::string out;

  bool value(const Value& v) {
    if (v.is_none())
      out += "n";
    else if (v.same(na_value()))
      out += "a";
    else if (v.same(nat_value()))
      out += "t";
    else if (v.is_bool())
      out += keys_ ? (truth(in_, v) ? "i1;" : "i0;") : truth(in_, v) ? "b1" : "b0";
    else if (v.is_int())
      out += fmt::format("i{};", v.as_int());
    else if (v.is_float())
      floating(v.as_float());
    else if (auto* s = v.as<Str>())
      text('s', s->value);
    else if (auto* scalar = v.as<numpy::NumpyScalar>())
      return !is_complex(scalar->dtype()) && value(numpy::python_value(scalar->value(in_)));
    else if (v.as<Tuple>())
      return all('u', to_vector(in_, v));
    else if (v.as<List>())
      return all('l', to_vector(in_, v));
    else if (v.as<ColumnObject>())
      return all('A', to_vector(in_, v));
    else if (auto* array = v.as<numpy::NdArray>())
      return array->array.rank() == 1 && all('A', to_vector(in_, v));
    else if (auto* dict = v.as<Dict>())
      return all('d', parts_of(*dict));
    else if (const auto parts = parts_of_library_value(v))
      return all('L', *parts);
    else if (objects_of(v) == "date")
      text('y', gasell::str(in_, v));
    else if (objects_of(v) == "time")
      text('c', gasell::str(in_, v));
    else if (const auto delta = to_timedelta(in_, v))
      out += fmt::format("D{};", *delta);
    else if (const auto time = time_scalar(v)) {
      out += fmt::format("T{};", time->first);
      text('s', time->second);
    } else
      return false;
    return true;
  }

 private:
  void floating(double x) {
    constexpr double kMost = 0x1p63;
    if (keys_ && std::trunc(x) == x && std::abs(x) < kMost)
      out += fmt::format("i{};", static_cast<int64_t>(x));
    else
      out += fmt::format("f{};", float_repr(x));
  }
  void text(char letter, std::string_view text) {
    out += fmt::format("{}{}:", letter, text.size());
    out += text;
  }
  bool all(char letter, const std::vector<Value>& values) {
    if (depth_ == kMostNested) raise("RecursionError", "maximum recursion depth exceeded while a column takes a value that holds others");
    ++depth_;
    out += fmt::format("{}{};", letter, values.size());
    const bool fine = std::all_of(values.begin(), values.end(), [&](const Value& v) { return value(v); });
    --depth_;
    return fine;
  }
  static std::vector<Value> parts_of(const Dict& dict) {
    std::vector<Value> parts;
    for (const Dict::Entry& entry : dict.entries()) {
      if (entry.key.is_absent()) continue;
      parts.push_back(entry.key);
      parts.push_back(entry.value);
    }
    return parts;
  }

  static constexpr int kMostNested = 200;
  Interpreter& in_;
  const bool keys_;
  int depth_ = 0;
};

/// Reads one value after the other.
class Decoder {
 public:
  Decoder(Interpreter& in, std::string_view text) : in_(in), text_(text) {}

  Value value() {
    switch (const char letter = text_.at(at_++)) {
      case 'n': return {};
      case 'a': return na_value();
      case 't': return nat_value();
      case 'b': return Value::of(text_.at(at_++) == '1');
      case 'i': return Value::of(integer(';'));
      case 'f': return floating();
      case 's': return make_str(std::string(body()));
      case 'y': return datetime::date_value(datetime::parse_iso_date(body()).value_or(0));
      case 'c': return Value::make<datetime::TimeOfDay>(datetime::parse_iso_clock(body()).value_or(datetime::Clock()).micros);
      case 'D': return timedelta_value(integer(';'));
      case 'T': {
        const int64_t ns = integer(';');
        ++at_;
        return timestamp_value(ns, std::string(body()));
      }
      default: return several(letter);
    }
  }

 private:
  int64_t integer(char end) {
    int64_t number = 0;
    std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    at_ = text_.find(end, at_) + 1;
    return number;
  }
  Value floating() {
    const size_t end = text_.find(';', at_);
    const std::string_view digits = text_.substr(at_, end - at_);
    at_ = end + 1;
    double number = 0;
    if (digits == "nan")
      number = std::nan("");
    else if (digits == "inf" || digits == "-inf")
      number = digits[0] == '-' ? -HUGE_VAL : HUGE_VAL;
    else
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return Value::of(number);
  }
  std::string_view body() {
    const auto size = static_cast<size_t>(integer(':'));
    at_ += size;
    return text_.substr(at_ - size, size);
  }
  Value several(char letter) {
    std::vector<Value> values(static_cast<size_t>(integer(';')));
    for (Value& v : values) v = value();
    if (letter == 'u') return make_tuple(std::move(values));
    if (letter == 'L') return library_value_of_parts(in_, values);
    if (letter == 'A') {
      Column column = make_column(in_, make_list(std::move(values)), {});
      return column.type.is_number() && !column.validity ? numpy::wrap_array(column.values) : wrap_column(std::move(column));
    }
    if (letter != 'd') return make_list(std::move(values));
    Value dict = make_dict();
    for (size_t k = 0; k + 1 < values.size(); k += 2) dict.as<Dict>()->insert(in_, values[k], values[k + 1]);
    return dict;
  }

  Interpreter& in_;
  std::string_view text_;
  size_t at_ = 0;
};

std::string joined(Interpreter& in, const std::vector<Value>& values, bool quoted) {
  constexpr size_t kMost = 100;  // display.max_seq_items
  std::string text;
  for (size_t k = 0; k < values.size() && k < kMost; ++k) text += (k ? ", " : "") + object_cell(in, values[k], -1, quoted);
  return values.size() > kMost ? text + ", ..." : text;
}

}  // namespace

frame::ColumnType any_object_type() {
  frame::ColumnType type = frame::text_type();
  type.objects = kAnyObject;
  return type;
}

int32_t code_of_missing(const Value& v) { return v.is_none() ? -2 : v.same(na_value()) ? -3 : v.same(nat_value()) ? -4 : -1; }

Value missing_of_code(int64_t code) {
  switch (code) {
    case -2: return {};
    case -3: return na_value();
    case -4: return nat_value();
    default: return Value::of(std::nan(""));
  }
}

std::optional<std::string> encode_object(Interpreter& in, const Value& v) {
  Encoder encoder(in, false);
  if (!encoder.value(v)) return {};
  return std::move(encoder.out);
}

Value decode_object(Interpreter& in, std::string_view text) { return Decoder(in, text).value(); }

Column object_keys(Interpreter& in, Column column) {
  const frame::ColumnData codes = frame::read(in.engine(), column);
  std::vector<int32_t> of_text(static_cast<size_t>(column.dictionary->size()), -1);
  frame::DistinctTexts distinct;
  frame::NewValues keys(in.engine(), DType::i32, codes.count);
  for (int64_t row = 0; row < codes.count; ++row) {
    const int32_t code = codes.as<int32_t>()[row];
    int32_t key = code < 0 ? -1 : of_text[static_cast<size_t>(code)];
    if (code >= 0 && key < 0) {
      Encoder encoder(in, true);
      encoder.value(decode_object(in, (*column.dictionary)[code]));
      key = of_text[static_cast<size_t>(code)] = distinct.add(encoder.out);
    }
    keys.as<int32_t>()[row] = key;
  }
  return {any_object_type(), keys.node(), nullptr, distinct.finish()};
}

std::string object_cell(Interpreter& in, const Value& v, int digits, bool quoted) {
  if (v.is_float() && digits >= 0 && std::isfinite(v.as_float())) {
    std::string text = fmt::format("{:.{}f}", v.as_float(), digits);
    while (text.ends_with('0') && !text.ends_with(".0")) text.pop_back();
    return text;
  }
  if (v.as<List>() || v.as<ColumnObject>() || v.as<numpy::NdArray>()) return "[" + joined(in, to_vector(in, v), quoted) + "]";
  if (auto* tuple = v.as<Tuple>()) return "(" + joined(in, tuple->items, quoted) + (tuple->items.size() == 1 ? ",)" : ")");
  if (auto* dict = v.as<Dict>()) {
    std::string text;
    for (const Dict::Entry& entry : dict->entries())
      if (!entry.key.is_absent())
        text += (text.empty() ? "" : ", ") + object_cell(in, entry.key, -1, true) + ": " + object_cell(in, entry.value, -1, true);
    return "{" + text + "}";
  }
  return quoted && v.as<Str>() ? "'" + v.as<Str>()->value + "'" : gasell::str(in, v);
}

}  // namespace gasell::pandas
