#include "runtime/io/csv/write.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <span>

#include "lang/diagnostic.h"
#include "runtime/device/workers.h"
#include "runtime/frame/dictionary.h"
#include "runtime/frame/time_formatting.h"
#include "runtime/frame/time_zones.h"

namespace gasell::csv {
namespace {

using frame::Logical;

constexpr int64_t kRowsATask = 4096;
constexpr int64_t kTasksAtOnce = 64;

/// The shortest digits that read back as the same number, as Python places them.
template <class T>
void put_shortest(std::string& to, T value) {
  if (std::isinf(value)) {
    to += value < 0 ? "-inf" : "inf";
    return;
  }
  char text[40];
  const char* const end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  const char* at = text;
  if (*at == '-') to += *at++;
  char digits[24];
  int count = 0;
  for (; *at != 'e'; ++at)
    if (*at != '.') digits[count++] = *at;
  ++at;
  const bool small = *at++ == '-';
  int exponent = 0;
  std::from_chars(at, end, exponent);
  if (small) exponent = -exponent;
  if (exponent >= -4 && exponent < 16) {
    if (exponent < 0) {
      to += "0.";
      to.append(static_cast<size_t>(-exponent - 1), '0');
      to.append(digits, static_cast<size_t>(count));
    } else if (exponent + 1 >= count) {
      to.append(digits, static_cast<size_t>(count));
      to.append(static_cast<size_t>(exponent + 1 - count), '0');
      to += ".0";
    } else {
      to.append(digits, static_cast<size_t>(exponent) + 1);
      to += '.';
      to.append(digits + exponent + 1, static_cast<size_t>(count - exponent - 1));
    }
    return;
  }
  to += digits[0];
  if (count > 1) {
    to += '.';
    to.append(digits + 1, static_cast<size_t>(count) - 1);
  }
  to += small ? "e-" : "e+";
  const int magnitude = std::abs(exponent);
  if (magnitude < 10) to += '0';
  to += std::to_string(magnitude);
}

template <class T>
void put_integer(std::string& to, T value) {
  char text[24];
  to.append(text, static_cast<size_t>(std::to_chars(text, text + sizeof text, value).ptr - text));
}

/// "%.2f", "%10.3e", "%g", "%d": one conversion of a number, with text around it.
bool is_float_format(const std::string& format) {
  int conversions = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') continue;
    if (++i < format.size() && format[i] == '%') continue;
    while (i < format.size() && std::strchr("-+ #0", format[i])) ++i;
    for (int digits = 0; i < format.size() && (std::isdigit(static_cast<unsigned char>(format[i])) || format[i] == '.'); ++i)
      if (++digits > 6) return false;
    if (i == format.size() || !std::strchr("eEfFgG", format[i])) return false;
    ++conversions;
  }
  return conversions == 1;
}

/// A column ready to be written: how a row's value becomes text.
struct Printer {
  frame::ColumnData data;
  const frame::Column* column = nullptr;
  frame::TimePrecision precision = frame::TimePrecision::nanoseconds;
  const frame::TimeZone* zone = nullptr;
  std::vector<std::string> texts;  // of categories
};

class Writer {
 public:
  Writer(const WriteOptions& options) : options_(options) {
    if (!options.float_format.empty() && !is_float_format(options.float_format))
      throw Error("ValueError", "unsupported format '" + options.float_format + "'", "'%.2f', '%.3e' and '%g' are formats of floats");
  }

  /// A field of text: quoted where it has to be.
  void put_text(std::string& to, std::string_view text, bool numeric, bool alone) const {
    const Quoting quoting = options_.quoting;
    bool quoted = quoting == Quoting::all || (quoting == Quoting::non_numeric && !numeric);
    if (!quoted && quoting == Quoting::none) return put_escaped(to, text, alone);
    if (!quoted) quoted = needs_quotes(text) || (alone && text.empty());
    if (!quoted) {
      if (options_.double_quote && !options_.escape)
        to.append(text);
      else
        put_escaped(to, text, false);
      return;
    }
    to += options_.quote;
    for (const char c : text) {
      if (c == options_.quote || (options_.escape && c == options_.escape)) {
        if (c == options_.quote && options_.double_quote) {
          to += c;
        } else {
          if (!options_.escape) refuse_escape();
          to += options_.escape;
        }
      }
      to += c;
    }
    to += options_.quote;
  }

  void put_value(std::string& to, const Printer& printer, int64_t row, bool alone) const {
    const frame::Column& column = *printer.column;
    if (printer.data.valid && !printer.data.valid[row]) return put_text(to, options_.missing, false, alone);
    const auto number = [&](const auto& put) {
      if (options_.quoting != Quoting::all && options_.separator != '.' && options_.separator != '-') return put(to);
      std::string text;
      put(text);
      put_text(to, text, true, alone);
    };
    switch (column.type.logical) {
      case Logical::text: {
        const int32_t code = printer.data.as<int32_t>()[row];
        return put_text(to, code < 0 ? std::string_view(options_.missing) : (*column.dictionary)[code], false, alone);
      }
      case Logical::category: {
        const int32_t code = printer.data.as<int32_t>()[row];
        return put_text(to, code < 0 ? std::string_view(options_.missing) : printer.texts[static_cast<size_t>(code)], false, alone);
      }
      case Logical::datetime: {
        const int64_t utc = printer.data.as<int64_t>()[row];
        return put_text(to, utc == frame::kNotATime ? options_.missing : datetime_text(printer, utc), false, alone);
      }
      case Logical::timedelta: {
        const int64_t ns = printer.data.as<int64_t>()[row];
        return put_text(to, ns == frame::kNotATime ? options_.missing : frame::timedelta_repr_text(ns), false, alone);
      }
      case Logical::number: break;
    }
    switch (column.values->dtype) {
      case DType::boolean: return put_text(to, printer.data.as<bool>()[row] ? "True" : "False", true, alone);
      case DType::i8: return number([&](std::string& t) { put_integer(t, static_cast<int>(printer.data.as<int8_t>()[row])); });
      case DType::i16: return number([&](std::string& t) { put_integer(t, printer.data.as<int16_t>()[row]); });
      case DType::i32: return number([&](std::string& t) { put_integer(t, printer.data.as<int32_t>()[row]); });
      case DType::i64: return number([&](std::string& t) { put_integer(t, printer.data.as<int64_t>()[row]); });
      case DType::u8: return number([&](std::string& t) { put_integer(t, static_cast<unsigned>(printer.data.as<uint8_t>()[row])); });
      case DType::u16: return number([&](std::string& t) { put_integer(t, printer.data.as<uint16_t>()[row]); });
      case DType::u32: return number([&](std::string& t) { put_integer(t, printer.data.as<uint32_t>()[row]); });
      case DType::u64: return number([&](std::string& t) { put_integer(t, printer.data.as<uint64_t>()[row]); });
      case DType::f32: return put_float(to, printer.data.as<float>()[row], alone);
      case DType::f64: return put_float(to, printer.data.as<double>()[row], alone);
      default: throw Error("NotImplementedError", "complex numbers in CSV files are not in Gasell", "write .real and .imag");
    }
  }

 private:
  /// Quotes that are not doubled are escaped instead.
  bool needs_quotes(std::string_view text) const {
    for (const char c : text)
      if (c == options_.separator || c == '\n' || c == '\r' || (options_.double_quote && c == options_.quote)) return true;
    return false;
  }
  [[noreturn]] static void refuse_escape() { throw Error("Error", "need to escape, but no escapechar set", "escapechar='\\\\'"); }
  void put_escaped(std::string& to, std::string_view text, bool alone) const {
    if (alone && text.empty()) throw Error("Error", "single empty field record must be quoted", "na_rep= gives missing values a text");
    for (const char c : text) {
      if (c == options_.separator || c == '\n' || c == '\r' || (options_.escape && c == options_.escape) || c == options_.quote) {
        if (!options_.escape) refuse_escape();
        to += options_.escape;
      }
      to += c;
    }
  }

  template <class T>
  void put_float(std::string& to, T value, bool alone) const {
    if (std::isnan(value)) return put_text(to, options_.missing, false, alone);
    const size_t begin = to.size();
    if (options_.float_format.empty()) {
      put_shortest(to, value);
    } else {
      char text[512];
      const int count = std::snprintf(text, sizeof text, options_.float_format.c_str(), static_cast<double>(value));
      to.append(text, static_cast<size_t>(std::clamp<int>(count, 0, sizeof text - 1)));
    }
    if (options_.decimal != '.') std::replace(to.begin() + static_cast<std::ptrdiff_t>(begin), to.end(), '.', options_.decimal);
    if (options_.quoting != Quoting::all && !needs_quotes(std::string_view(to).substr(begin))) return;
    const std::string text = to.substr(begin);
    to.resize(begin);
    put_text(to, text, true, alone);
  }

  std::string datetime_text(const Printer& printer, int64_t utc) const {
    const int64_t local = printer.zone ? frame::local_of_utc(*printer.zone, utc) : utc;
    if (!options_.date_format.empty()) return frame::strftime_text(options_.date_format, local, printer.zone, utc);
    std::string text = frame::time_text(local, printer.precision);
    if (printer.zone) text += frame::offset_text(frame::offset_of_utc(*printer.zone, utc), true);
    return text;
  }

  const WriteOptions& options_;
};

/// What a column's times need: nothing behind the date where all are midnights.
frame::TimePrecision precision_of_times(const Printer& printer) {
  const auto* times = printer.data.as<int64_t>();
  if (!printer.zone) return frame::precision_of({times, static_cast<size_t>(printer.data.count)});
  std::vector<int64_t> local;
  for (int64_t i = 0; i < printer.data.count; ++i)
    if (times[i] != frame::kNotATime) local.push_back(frame::local_of_utc(*printer.zone, times[i]));
  return std::max(frame::TimePrecision::seconds, frame::precision_of(local));
}

}  // namespace

void write_csv(Engine& engine, const std::vector<std::string>& names, std::vector<frame::Column> columns, const WriteOptions& options,
               const std::function<void(std::string_view)>& put) {
  const Writer writer(options);
  const bool alone = columns.size() == 1;
  if (options.header) {
    std::string line;
    for (size_t i = 0; i < names.size(); ++i) {
      if (i) line += options.separator;
      writer.put_text(line, names[i], false, names.size() == 1);
    }
    put(line + options.line_end);
  }
  if (columns.empty()) return;
  std::vector<frame::Column*> all;
  for (frame::Column& c : columns) all.push_back(&c);
  frame::force(engine, all);
  std::vector<Printer> printers(columns.size());
  std::vector<frame::Column> categories(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    Printer& printer = printers[i];
    printer.column = &columns[i];
    printer.data = frame::read(engine, columns[i]);
    const frame::ColumnType& type = columns[i].type;
    if (type.logical == Logical::datetime) {
      if (!type.zone.empty()) printer.zone = &frame::TimeZone::named(type.zone);
      if (options.date_format.empty()) printer.precision = precision_of_times(printer);
    } else if (type.logical == Logical::category) {
      categories[i] = *columns[i].categories;
      Printer of_categories;
      of_categories.column = &categories[i];
      of_categories.data = frame::read(engine, categories[i]);
      WriteOptions plain;
      plain.separator = '\0';
      plain.quote = '\0';
      const Writer values(plain);
      if (categories[i].type.logical == Logical::datetime) of_categories.precision = precision_of_times(of_categories);
      for (int64_t k = 0; k < categories[i].size(); ++k) {
        std::string text;
        if (categories[i].type.logical == Logical::text)
          text = (*categories[i].dictionary)[of_categories.data.as<int32_t>()[k]];
        else
          values.put_value(text, of_categories, k, false);
        printer.texts.push_back(std::move(text));
      }
    }
  }
  const int64_t rows = columns[0].size(), tasks = (rows + kRowsATask - 1) / kRowsATask;
  std::vector<std::string> texts(static_cast<size_t>(std::min(tasks, kTasksAtOnce)));
  for (int64_t first = 0; first < tasks; first += kTasksAtOnce) {
    const int64_t count = std::min(kTasksAtOnce, tasks - first);
    if (engine.interrupt_flag()) throw Interrupted();
    in_parallel(count, [&](int64_t k) {
      std::string& text = texts[static_cast<size_t>(k)];
      text.clear();
      const int64_t begin = (first + k) * kRowsATask;
      for (int64_t row = begin; row < std::min(rows, begin + kRowsATask); ++row) {
        for (size_t i = 0; i < printers.size(); ++i) {
          if (i) text += options.separator;
          writer.put_value(text, printers[i], row, alone);
        }
        text += options.line_end;
      }
    });
    for (int64_t k = 0; k < count; ++k) put(texts[static_cast<size_t>(k)]);
  }
}

}  // namespace gasell::csv
