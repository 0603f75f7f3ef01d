#include "runtime/io/csv/write.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "lang/diagnostic.h"
#include "runtime/device/workers.h"
#include "runtime/frame/calendar.h"
#include "runtime/frame/dictionary.h"
#include "runtime/frame/time_formatting.h"
#include "runtime/frame/time_zones.h"
#include "runtime/io/csv/field_text.h"

namespace gasell::csv {
namespace {

using frame::Logical;

constexpr int64_t kRowsATask = 4096;
constexpr int64_t kTasksAtOnce = 64;

/// What has been written of some rows.
using Buffer = fmt::memory_buffer;

void append(Buffer& to, std::string_view text) { to.append(text.data(), text.data() + text.size()); }

/// The text that `put(char*)`, one of field_text.h, makes.
template <class F>
void append_field(Buffer& to, const F& put) {
  const size_t size = to.size();
  to.try_reserve(size + kLongestField);
  to.try_resize(static_cast<size_t>(put(to.data() + size) - to.data()));
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
    plain_ = options.quoting != Quoting::all && options.decimal == '.' && !may_be_in_number(options.separator) &&
             !may_be_in_number(options.quote);
  }

  /// A field of text: quoted where it has to be.
  void put_text(Buffer& to, std::string_view text, bool numeric, bool alone) const {
    const Quoting quoting = options_.quoting;
    bool quoted = quoting == Quoting::all || (quoting == Quoting::non_numeric && !numeric);
    if (!quoted && quoting == Quoting::none) return put_escaped(to, text, alone);
    if (!quoted) quoted = needs_quotes(text) || (alone && text.empty());
    if (!quoted) {
      if (options_.double_quote && !options_.escape)
        append(to, text);
      else
        put_escaped(to, text, false);
      return;
    }
    to.push_back(options_.quote);
    for (const char c : text) {
      if (c == options_.quote || (options_.escape && c == options_.escape)) {
        if (c == options_.quote && options_.double_quote) {
          to.push_back(c);
        } else {
          if (!options_.escape) refuse_escape();
          to.push_back(options_.escape);
        }
      }
      to.push_back(c);
    }
    to.push_back(options_.quote);
  }

  void put_value(Buffer& to, const Printer& printer, int64_t row, bool alone) const {
    const frame::Column& column = *printer.column;
    if (printer.data.valid && !printer.data.valid[row]) return put_text(to, options_.missing, false, alone);
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
        if (utc == frame::kNotATime) return put_text(to, options_.missing, false, alone);
        if (printer.zone || !options_.date_format.empty()) return put_text(to, datetime_text(printer, utc), false, alone);
        char text[kLongestField];
        return put_text(to, {text, put_time(text, utc, printer.precision)}, false, alone);
      }
      case Logical::timedelta: {
        const int64_t ns = printer.data.as<int64_t>()[row];
        if (ns == frame::kNotATime) return put_text(to, options_.missing, false, alone);
        const bool days = printer.precision == frame::TimePrecision::date;
        return put_text(to, days ? fmt::format("{} days", ns / frame::kDay) : frame::timedelta_repr_text(ns), false, alone);
      }
      case Logical::period:  // the library's texts write them as texts
      case Logical::number: break;
    }
    switch (column.values->dtype) {
      case DType::boolean: return put_text(to, printer.data.as<bool>()[row] ? "True" : "False", true, alone);
      case DType::i8: return put_whole(to, int64_t{printer.data.as<int8_t>()[row]}, alone);
      case DType::i16: return put_whole(to, int64_t{printer.data.as<int16_t>()[row]}, alone);
      case DType::i32: return put_whole(to, int64_t{printer.data.as<int32_t>()[row]}, alone);
      case DType::i64: return put_whole(to, printer.data.as<int64_t>()[row], alone);
      case DType::u8: return put_whole(to, uint64_t{printer.data.as<uint8_t>()[row]}, alone);
      case DType::u16: return put_whole(to, uint64_t{printer.data.as<uint16_t>()[row]}, alone);
      case DType::u32: return put_whole(to, uint64_t{printer.data.as<uint32_t>()[row]}, alone);
      case DType::u64: return put_whole(to, printer.data.as<uint64_t>()[row], alone);
      case DType::f32: return put_real(to, printer.data.as<float>()[row], alone);
      case DType::f64: return put_real(to, printer.data.as<double>()[row], alone);
      default: throw Error("NotImplementedError", "complex numbers in CSV files are not in Gasell", "write .real and .imag");
    }
  }

 private:
  static bool may_be_in_number(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '+' || c == '-' || c == '.'; }
  /// Quotes that are not doubled are escaped instead.
  bool needs_quotes(std::string_view text) const {
    for (const char c : text)
      if (c == options_.separator || c == '\n' || c == '\r' || (options_.double_quote && c == options_.quote)) return true;
    return false;
  }
  [[noreturn]] static void refuse_escape() { throw Error("Error", "need to escape, but no escapechar set", "escapechar='\\\\'"); }
  void put_escaped(Buffer& to, std::string_view text, bool alone) const {
    if (alone && text.empty()) throw Error("Error", "single empty field record must be quoted", "na_rep= gives missing values a text");
    for (const char c : text) {
      if (c == options_.separator || c == '\n' || c == '\r' || (options_.escape && c == options_.escape) || c == options_.quote) {
        if (!options_.escape) refuse_escape();
        to.push_back(options_.escape);
      }
      to.push_back(c);
    }
  }

  template <class T>
  void put_whole(Buffer& to, T value, bool alone) const {
    if (plain_) return append_field(to, [&](char* at) { return put_integer(at, value); });
    char text[kLongestField];
    put_text(to, {text, put_integer(text, value)}, true, alone);
  }

  /// Where fields may have quotes pandas makes Python's floats of narrow ones.
  template <class T>
  char* shortest(char* to, T value) const {
    return options_.quoting == Quoting::minimal ? put_float(to, value) : put_float(to, static_cast<double>(value));
  }

  template <class T>
  void put_real(Buffer& to, T value, bool alone) const {
    if (std::isnan(value)) return put_text(to, options_.missing, false, alone);
    if (plain_ && options_.float_format.empty()) return append_field(to, [&](char* at) { return shortest(at, value); });
    char text[512];
    char* end = text;
    if (options_.float_format.empty())
      end = shortest(text, value);
    else
      end +=
          std::clamp<int>(std::snprintf(text, sizeof text, options_.float_format.c_str(), static_cast<double>(value)), 0, sizeof text - 1);
    if (options_.decimal != '.') std::replace(text, end, '.', options_.decimal);
    put_text(to, {text, end}, true, alone);
  }

  std::string datetime_text(const Printer& printer, int64_t utc) const {
    const int64_t local = printer.zone ? frame::local_of_utc(*printer.zone, utc) : utc;
    if (!options_.date_format.empty()) return frame::strftime_text(options_.date_format, local, printer.zone, utc);
    std::string text = frame::time_text(local, printer.precision);
    if (printer.zone) text += frame::offset_text(frame::offset_of_utc(*printer.zone, utc), true);
    return text;
  }

  const WriteOptions& options_;
  bool plain_ = false;  // what numbers look like needs no quotes
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
  const auto put_names = [&](const std::vector<std::string>& texts) {
    Buffer line;
    for (size_t i = 0; i < texts.size(); ++i) {
      if (i) line.push_back(options.separator);
      writer.put_text(line, texts[i], false, texts.size() == 1);
    }
    append(line, options.line_end);
    put({line.data(), line.size()});
  };
  for (const std::vector<std::string>& line : options.lines_above) put_names(line);
  if (options.header) put_names(names);
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
    } else if (type.logical == Logical::timedelta) {
      const std::span times(printer.data.as<int64_t>(), static_cast<size_t>(printer.data.count));
      if (std::all_of(times.begin(), times.end(), [](int64_t ns) { return ns == frame::kNotATime || ns % frame::kDay == 0; }))
        printer.precision = frame::TimePrecision::date;
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
        Buffer text;
        if (categories[i].type.logical == Logical::text)
          append(text, (*categories[i].dictionary)[of_categories.data.as<int32_t>()[k]]);
        else
          values.put_value(text, of_categories, k, false);
        printer.texts.emplace_back(text.data(), text.size());
      }
    }
  }
  const int64_t rows = columns[0].size(), tasks = (rows + kRowsATask - 1) / kRowsATask;
  // One task of each turn hands on what the turn before has made.
  std::vector<Buffer> made(static_cast<size_t>(std::min(tasks, kTasksAtOnce))), next(made.size());
  for (int64_t first = 0, before = 0; first < tasks || before > 0; first += kTasksAtOnce) {
    const int64_t count = std::clamp<int64_t>(tasks - first, 0, kTasksAtOnce);
    if (engine.interrupt_flag()) throw Interrupted();
    in_parallel(count + 1, [&](int64_t task) {
      if (task == 0) {
        for (int64_t k = 0; k < before; ++k) put({made[static_cast<size_t>(k)].data(), made[static_cast<size_t>(k)].size()});
        return;
      }
      Buffer& text = next[static_cast<size_t>(task - 1)];
      text.clear();
      const int64_t begin = (first + task - 1) * kRowsATask;
      for (int64_t row = begin; row < std::min(rows, begin + kRowsATask); ++row) {
        for (size_t i = 0; i < printers.size(); ++i) {
          if (i) text.push_back(options.separator);
          writer.put_value(text, printers[i], row, alone);
        }
        append(text, options.line_end);
      }
    });
    std::swap(made, next);
    before = count;
  }
}

}  // namespace gasell::csv
