// Values as pandas prints them in a column, and the layout of printed tables.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lang/characters.h"
#include "runtime/frame/dictionary.h"
#include "runtime/frame/time_formatting.h"
#include "runtime/session/number.h"
#include "runtime/session/str_text.h"
#include "stdlib/numpy/print_options.h"
#include "stdlib/pandas/column_object.h"
#include "stdlib/pandas/library_values.h"
#include "stdlib/pandas/object_texts.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell::pandas {
namespace {

using Args = std::span<Value>;

/// Digits, a point, digits: what trailing zeros are cut from.
bool has_fixed_point(const std::string& s) {
  size_t i = 0;
  while (i < s.size() && s[i] == ' ') ++i;
  if (i < s.size() && (s[i] == '-' || s[i] == '+')) ++i;
  const size_t digits = i;
  while (i < s.size() && std::isdigit(static_cast<unsigned char>(s[i]))) ++i;
  if (i == digits || i == s.size() || s[i] != '.') return false;
  return std::all_of(s.begin() + static_cast<long>(i) + 1, s.end(), [](unsigned char c) { return std::isdigit(c); });
}

/// Zeros that end all numbers are cut, up to one behind the point.
void trim_zeros(std::vector<std::string>& texts) {
  std::vector<std::string*> numbers;
  for (std::string& t : texts)
    if (has_fixed_point(t)) numbers.push_back(&t);
  if (numbers.empty()) return;
  while (std::all_of(numbers.begin(), numbers.end(), [](const std::string* s) { return s->back() == '0'; }))
    for (std::string* s : numbers) s->pop_back();
  for (std::string* s : numbers)
    if (s->back() == '.') *s += '0';
}

std::string with_sign(std::string text, bool leading_space) { return leading_space && text[0] != '-' ? " " + text : text; }

std::vector<std::string> float_cells(const std::vector<double>& values, const std::vector<bool>& missing, const CellFormat& format) {
  const auto write = [&](bool exponent) {
    std::vector<std::string> texts;
    for (size_t i = 0; i < values.size(); ++i) {
      if (missing[i])
        texts.push_back(format.missing_float);
      else if (std::isinf(values[i]))
        texts.push_back(with_sign(values[i] < 0 ? "-inf" : "inf", format.leading_space));
      else
        texts.push_back(
            with_sign(exponent ? fmt::format("{:.{}e}", values[i], format.digits) : fmt::format("{:.{}f}", values[i], format.digits),
                      format.leading_space));
    }
    trim_zeros(texts);
    return texts;
  };
  std::vector<std::string> texts = write(false);
  size_t longest = 0;
  for (const std::string& t : texts) longest = std::max(longest, t.size());
  bool large = false, small = false;
  for (size_t i = 0; i < values.size(); ++i) {
    if (missing[i]) continue;
    const double a = std::abs(values[i]);
    large |= a > 1e6;
    small |= a > 0 && a < std::pow(10.0, -format.digits);
  }
  return small || (longest > static_cast<size_t>(format.digits) + 6 && large) ? write(true) : texts;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

std::string in_quotes(std::string text, const CellFormat& format) { return format.quoted && text != "NaT" ? "'" + text + "'" : text; }

/// All in the precision that one of them needs; dates alone where all are midnights of no zone.
std::vector<std::string> datetime_cells(const frame::ColumnData& data, const std::string& zone_name, const CellFormat& format) {
  const frame::TimeZone* zone = zone_name.empty() ? nullptr : &frame::TimeZone::named(zone_name);
  std::vector<int64_t> local(data.as<int64_t>(), data.as<int64_t>() + data.count);
  if (zone)
    for (int64_t& t : local)
      if (t != frame::kNotATime) t = frame::local_of_utc(*zone, t);
  const frame::TimePrecision precision = frame::precision_of(local);
  const bool dates = precision == frame::TimePrecision::date && (!zone || local.empty());
  std::vector<std::string> texts;
  for (size_t i = 0; i < local.size(); ++i) {
    // In quotes, and with a zone, each is written for itself, as str() does.
    std::string text = zone || (format.quoted && !dates) ? frame::timestamp_text(local[i]) : frame::time_text(local[i], precision);
    if (zone && local[i] != frame::kNotATime) text += frame::offset_text(frame::offset_of_utc(*zone, data.as<int64_t>()[i]), true);
    texts.push_back(format.quoted ? "'" + text + "'" : text);
  }
  return texts;
}

std::vector<std::string> timedelta_cells(const frame::ColumnData& data, const CellFormat& format) {
  constexpr int64_t kDay = 86'400'000'000'000;
  bool days = true;
  for (int64_t i = 0; i < data.count; ++i) {
    const int64_t t = data.as<int64_t>()[i];
    days = days && (t == frame::kNotATime || t % kDay == 0);
  }
  std::vector<std::string> texts;
  for (int64_t i = 0; i < data.count; ++i) {
    const int64_t t = data.as<int64_t>()[i];
    texts.push_back(in_quotes(days && t != frame::kNotATime ? fmt::format("{} days", t / kDay) : frame::timedelta_repr_text(t), format));
  }
  return texts;
}

}  // namespace

std::vector<std::string> format_cells(Interpreter& in, Column& column, const CellFormat& format) {
  if (column.type.logical == Logical::category) {
    Column plain = take_categories(in, column);
    std::vector<std::string> texts = format_cells(in, plain, format);
    if (plain.type.logical == Logical::text ||
        (plain.type.is_number() && !column.categories->type.nullable))  // as pandas shows categories that are missing
      for (std::string& t : texts)
        if (t == "<NA>" || t == " <NA>") t = t[0] == ' ' ? " " + format.missing_float : format.missing_float;
    return texts;
  }
  const frame::ColumnData data = frame::read(in.engine(), column);
  const std::string space = format.leading_space ? " " : "";
  if (has_library_values(column.type)) {
    std::vector<std::string> shown = texts_of_library_values(in, column, format.missing_float);
    for (std::string& text : shown) text = column.type.is_interval() || !format.quoted ? space + text : "'" + text + "'";
    return shown;
  }
  std::vector<std::string> texts;
  texts.reserve(static_cast<size_t>(data.count));
  switch (column.type.logical) {
    case Logical::text:
      for (int64_t i = 0; i < data.count; ++i) {
        const int32_t code = data.as<int32_t>()[i];
        const std::string_view text = code < 0 ? "<NA>" : (*column.dictionary)[code];
        if (column.type.objects == kAnyObject) {
          const Value value = code < 0 ? missing_of_code(code) : decode_object(in, text);
          if (value.is_float() && std::isnan(value.as_float())) {
            texts.push_back(format.quoted ? "nan" : space + format.missing_float);
            continue;
          }
          const std::string shown = format.quoted ? gasell::repr(in, value) : escaped(object_cell(in, value, format.digits));
          texts.push_back(value.is_float() ? with_sign(shown, format.leading_space) : space + shown);
          continue;
        }
        texts.push_back(code < 0 ? space + "<NA>" : format.quoted && column.type.objects.empty() ? str_repr(text) : space + escaped(text));
      }
      return texts;
    case Logical::datetime: return datetime_cells(data, column.type.zone, format);
    case Logical::timedelta: return timedelta_cells(data, format);
    default: break;
  }
  const DType dtype = column.type.dtype;
  const auto at = [&](int64_t i) { return Scalar::load(data.as<char>() + i * size_of(dtype), dtype); };
  if (is_float(dtype) && !data.valid && !column.type.nullable) {
    std::vector<double> values;
    std::vector<bool> missing;
    for (int64_t i = 0; i < data.count; ++i) {
      values.push_back(at(i).as_double());
      missing.push_back(std::isnan(values.back()));
    }
    return float_cells(values, missing, format);
  }
  for (int64_t i = 0; i < data.count; ++i) {
    if (data.valid && !data.valid[i]) {
      texts.push_back(space + "<NA>");
    } else if (is_float(dtype) && !format.quoted && std::isfinite(at(i).as_double())) {
      std::string shown = fmt::format("{:.{}f}", at(i).as_double(), format.digits);  // each by itself, never with an exponent
      if (shown.find('.') != std::string::npos) shown.erase(std::max(shown.find_last_not_of('0'), shown.find('.') + 1) + 1);
      texts.push_back(with_sign(shown, format.leading_space));
    } else if (is_float(dtype)) {
      std::vector<std::string> one = float_cells({at(i).as_double()}, {std::isnan(at(i).as_double())}, format);
      texts.push_back(one[0]);
    } else if (dtype == DType::boolean) {
      texts.push_back(space + (at(i).i ? "True" : "False"));
    } else {
      const std::string shown = numpy::scalar_str(at(i));
      texts.push_back(column.type.nullable ? space + shown : with_sign(shown, format.leading_space));
    }
  }
  return texts;
}

namespace {

int64_t width(std::string_view text) { return is_ascii(text) ? static_cast<int64_t>(text.size()) : code_point_count(text); }

std::string padded(std::string text, int64_t to, std::string_view mode) {
  const int64_t missing = to - width(text);
  if (missing <= 0) return text;
  const auto blanks = [](int64_t n) { return std::string(static_cast<size_t>(n), ' '); };
  if (mode == "left") return text + blanks(missing);
  if (mode == "right") return blanks(missing) + text;
  const int64_t left = missing / 2 + (missing & to & 1);  // as str.center
  return blanks(left) + text + blanks(missing - left);
}

std::vector<std::string> texts_of(Interpreter& in, const Value& list) {
  std::vector<std::string> texts;
  for (const Value& v : to_vector(in, list)) texts.push_back(gasell::str(in, v));
  return texts;
}
Value list_of(const std::vector<std::string>& texts) {
  std::vector<Value> values;
  for (const std::string& t : texts) values.push_back(make_str(t));
  return make_list(std::move(values));
}

Value cells(Interpreter& in, Args args) {
  CellFormat format;
  format.leading_space = truth(in, args[1]);
  format.missing_float = gasell::str(in, args[2]);
  format.digits = static_cast<int>(to_index(in, args[3]));
  format.quoted = truth(in, args[4]);
  return list_of(format_cells(in, column_of(args[0]), format));
}

/// fixed_width(texts, mode, minimum, most): all as wide as the widest, at least `minimum`; longer ones than `most` are cut.
Value fixed_width(Interpreter& in, Args args) {
  std::vector<std::string> texts = texts_of(in, args[0]);
  int64_t widest = args[2].is_none() ? 0 : to_index(in, args[2]);
  for (const std::string& t : texts) widest = std::max(widest, width(t));
  if (!args[3].is_none()) {
    const int64_t most = to_index(in, args[3]);
    widest = std::min(widest, most);
    for (std::string& t : texts)
      if (most > 3 && width(t) > widest) t = t.substr(0, byte_offset(t, widest - 3)) + "...";
  }
  const std::string mode = gasell::str(in, args[1]);
  for (std::string& t : texts) t = padded(std::move(t), widest, mode);
  return list_of(texts);
}

/// adjoin(space, columns): columns of texts beside each other, `space` blanks between them; a text of lines.
Value adjoin(Interpreter& in, Args args) {
  const int64_t space = to_index(in, args[0]);
  std::vector<std::vector<std::string>> columns;
  size_t rows = 0;
  for (const Value& v : to_vector(in, args[1])) {
    columns.push_back(texts_of(in, v));
    rows = std::max(rows, columns.back().size());
  }
  std::vector<int64_t> widths;
  for (size_t k = 0; k < columns.size(); ++k) {
    int64_t widest = 0;
    for (const std::string& t : columns[k]) widest = std::max(widest, width(t));
    widths.push_back(widest + (k + 1 < columns.size() ? space : 0));
  }
  std::string text;
  for (size_t r = 0; r < rows; ++r) {
    if (r) text += "\n";
    for (size_t k = 0; k < columns.size(); ++k) text += padded(r < columns[k].size() ? columns[k][r] : "", widths[k], "left");
  }
  return make_str(std::move(text));
}

Value justify(Interpreter& in, Args args) {
  std::vector<std::string> texts = texts_of(in, args[0]);
  for (std::string& t : texts) t = padded(std::move(t), to_index(in, args[1]), gasell::str(in, args[2]));
  return list_of(texts);
}

}  // namespace

std::vector<NativeFunction> cell_functions() {
  return {
      {"cells", "column, leading_space=True, missing_float='NaN', digits=6, quoted=False", cells,
       "The values as texts, as pandas prints them."},
      {"fixed_width", "texts, mode, minimum=None, most=None", fixed_width, "Texts of one width."},
      {"adjoin", "space, columns", adjoin, "Columns of texts beside each other."},
      {"justify", "texts, width, mode", justify, "Texts padded to a width: left, right, center."},
      {"terminal_columns", "", [](Interpreter&, Args) { return Value::of(numpy::terminal_columns()); },
       "The columns of the session's terminal; 0: there is none."},
      {"width", "text", [](Interpreter& in, Args args) { return Value::of(width(gasell::str(in, args[0]))); }, "Places that a text takes."},
  };
}

}  // namespace gasell::pandas
