#include "stdlib/pandas/object_texts.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "runtime/session/dict.h"
#include "runtime/session/iterators.h"
#include "runtime/session/number.h"
#include "runtime/session/types.h"
#include "stdlib/datetime/objects.h"
#include "stdlib/pandas/column_object.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell::pandas {
namespace {

// A value is a letter and what belongs to it: "i12;" "f0.5;" "s3:abc" "l2;" and two values.

bool encode(Interpreter& in, const Value& v, std::string& out);

bool encode_all(Interpreter& in, char letter, const std::vector<Value>& values, std::string& out) {
  out += fmt::format("{}{};", letter, values.size());
  for (const Value& v : values)
    if (!encode(in, v, out)) return false;
  return true;
}

void encode_text(char letter, std::string_view text, std::string& out) {
  out += fmt::format("{}{}:", letter, text.size());
  out += text;
}

bool encode(Interpreter& in, const Value& v, std::string& out) {
  if (v.is_none())
    out += "n";
  else if (v.same(na_value()))
    out += "a";
  else if (v.same(nat_value()))
    out += "t";
  else if (v.is_bool())
    out += truth(in, v) ? "b1" : "b0";
  else if (v.is_int())
    out += fmt::format("i{};", v.as_int());
  else if (v.is_float())
    out += fmt::format("f{};", float_repr(v.as_float()));
  else if (auto* s = v.as<Str>())
    encode_text('s', s->value, out);
  else if (auto* scalar = v.as<numpy::NumpyScalar>()) {
    if (is_complex(scalar->dtype())) return false;
    return encode(in, numpy::python_value(scalar->value(in)), out);
  } else if (v.as<List>())
    return encode_all(in, 'l', to_vector(in, v), out);
  else if (v.as<Tuple>())
    return encode_all(in, 'u', to_vector(in, v), out);
  else if (v.as<ColumnObject>())
    return encode_all(in, 'A', to_vector(in, v), out);
  else if (auto* array = v.as<numpy::NdArray>())
    return array->array.rank() == 1 && encode_all(in, 'A', to_vector(in, v), out);
  else if (auto* dict = v.as<Dict>()) {
    std::vector<Value> parts;
    for (const Dict::Entry& entry : dict->entries()) {
      if (entry.key.is_absent()) continue;
      parts.push_back(entry.key);
      parts.push_back(entry.value);
    }
    return encode_all(in, 'd', parts, out);
  } else if (objects_of(v) == "date")
    encode_text('y', gasell::str(in, v), out);
  else if (objects_of(v) == "time")
    encode_text('c', gasell::str(in, v), out);
  else if (const auto delta = to_timedelta(in, v))
    out += fmt::format("D{};", *delta);
  else if (const auto time = time_scalar(v)) {
    out += fmt::format("T{};", time->first);
    encode_text('s', time->second, out);
  } else
    return false;
  return true;
}

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

std::optional<std::string> encode_object(Interpreter& in, const Value& v) {
  std::string out;
  if (!encode(in, v, out)) return {};
  return out;
}

Value decode_object(Interpreter& in, std::string_view text) { return Decoder(in, text).value(); }

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
