#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "lang/diagnostic.h"
#include "runtime/device/workers.h"
#include "runtime/frame/dictionary.h"
#include "runtime/frame/time_formatting.h"
#include "runtime/io/json_lines.h"

namespace gasell {
namespace {

using frame::Logical;

constexpr int64_t kRowsATask = 4096;
constexpr int64_t kTasksAtOnce = 64;

void put_unit(std::string& to, uint32_t unit) { to += fmt::format("\\u{:04x}", unit); }

void put_text(std::string& to, std::string_view text, bool ascii) {
  to += '"';
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<uint8_t>(text[i]);
    switch (c) {
      case '"': to += "\\\""; continue;
      case '\\': to += "\\\\"; continue;
      case '/': to += "\\/"; continue;
      case '\b': to += "\\b"; continue;
      case '\f': to += "\\f"; continue;
      case '\n': to += "\\n"; continue;
      case '\r': to += "\\r"; continue;
      case '\t': to += "\\t"; continue;
      default: break;
    }
    if (c < 0x20) {
      put_unit(to, c);
    } else if (c < 0x80 || !ascii) {
      to += static_cast<char>(c);
    } else {
      const int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
      uint32_t point = c & (0x3fU >> more);
      for (int k = 0; k < more && i + 1 < text.size(); ++k) point = point << 6 | (static_cast<uint8_t>(text[++i]) & 0x3f);
      if (point < 0x10000) {
        put_unit(to, point);
      } else {
        put_unit(to, 0xd800 + ((point - 0x10000) >> 10));
        put_unit(to, 0xdc00 + ((point - 0x10000) & 0x3ff));
      }
    }
  }
  to += '"';
}

/// As pandas' encoder: so many digits behind the point at most, and one at least; an exponent where a number is very large or very small.
void put_float(std::string& to, double value, int precision) {
  if (!std::isfinite(value)) {
    to += "null";
    return;
  }
  const double magnitude = std::abs(value);
  if (magnitude > 1e16 || (magnitude != 0 && magnitude < 1e-15)) {
    to += fmt::format("{:.{}g}", value, std::max(1, precision));
    return;
  }
  const double scale = std::pow(10.0, precision);
  auto whole = static_cast<uint64_t>(magnitude);
  const double scaled = (magnitude - static_cast<double>(whole)) * scale;
  auto fraction = static_cast<uint64_t>(scaled);
  const double rest = scaled - static_cast<double>(fraction);
  if (rest > 0.5 || (rest == 0.5 && (fraction == 0 || fraction % 2))) ++fraction;
  if (static_cast<double>(fraction) >= scale) {
    fraction = 0;
    ++whole;
  }
  if (value < 0 && (whole || fraction)) to += '-';
  to += std::to_string(whole);
  std::string digits = precision > 0 ? fmt::format("{:0{}}", fraction, precision) : "0";
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  to += '.';
  to += digits;
}

/// A column's values, ready to be written.
struct Printed {
  const frame::Column* column;
  frame::ColumnData data;
  std::string key;  // `"name":`
  std::vector<std::string> categories;
};

void put_value(std::string& to, const Printed& source, int64_t row, const JsonOptions& options) {
  const frame::ColumnData& data = source.data;
  if (data.valid && !data.valid[row]) {
    to += "null";
    return;
  }
  switch (source.column->type.logical) {
    case Logical::text:
    case Logical::category: {
      const int32_t code = data.as<int32_t>()[row];
      if (code < 0)
        to += "null";
      else if (source.column->type.logical == Logical::text)
        put_text(to, (*source.column->dictionary)[code], options.force_ascii);
      else
        to += source.categories[static_cast<size_t>(code)];
      return;
    }
    case Logical::period: throw Error("NotImplementedError", "to_json() of periods is not in Gasell", "astype(str) makes texts of them");
    case Logical::datetime:
    case Logical::timedelta: {
      const int64_t ns = data.as<int64_t>()[row];
      if (ns == frame::kNotATime) {
        to += "null";
      } else if (!options.iso_dates) {
        to += std::to_string(ns / options.date_unit - (ns % options.date_unit < 0));
      } else if (source.column->type.logical == Logical::timedelta) {
        put_text(to, frame::timedelta_iso_text(ns), true);
      } else {
        const auto precision = options.date_unit == 1000000000 ? frame::TimePrecision::seconds
                               : options.date_unit == 1000000  ? frame::TimePrecision::milliseconds
                               : options.date_unit == 1000     ? frame::TimePrecision::microseconds
                                                               : frame::TimePrecision::nanoseconds;
        std::string text = frame::time_text(ns, precision);
        text[10] = 'T';
        if (!source.column->type.zone.empty()) text += 'Z';
        put_text(to, text, true);
      }
      return;
    }
    case Logical::number: break;
  }
  switch (source.column->values->dtype) {
    case DType::boolean: to += data.as<bool>()[row] ? "true" : "false"; return;
    case DType::i8: to += std::to_string(data.as<int8_t>()[row]); return;
    case DType::i16: to += std::to_string(data.as<int16_t>()[row]); return;
    case DType::i32: to += std::to_string(data.as<int32_t>()[row]); return;
    case DType::i64: to += std::to_string(data.as<int64_t>()[row]); return;
    case DType::u8: to += std::to_string(data.as<uint8_t>()[row]); return;
    case DType::u16: to += std::to_string(data.as<uint16_t>()[row]); return;
    case DType::u32: to += std::to_string(data.as<uint32_t>()[row]); return;
    case DType::u64: to += std::to_string(data.as<uint64_t>()[row]); return;
    case DType::f32: return put_float(to, static_cast<double>(data.as<float>()[row]), options.precision);
    case DType::f64: return put_float(to, data.as<double>()[row], options.precision);
    default: throw Error("NotImplementedError", "complex numbers in JSON are not in Gasell", "write .real and .imag", Blame::limitation);
  }
}

Printed printed(Engine& engine, const frame::Column& column, const JsonOptions& options) {
  frame::Column copy = column;
  Printed source{&column, frame::read(engine, copy), {}, {}};
  if (column.type.logical == Logical::category) {
    frame::Column categories = *column.categories;
    const Printed of_categories{&categories, frame::read(engine, categories), {}, {}};
    for (int64_t k = 0; k < categories.size(); ++k) put_value(source.categories.emplace_back(), of_categories, k, options);
  }
  return source;
}

/// A label as the key of an object: a text.
void put_key(std::string& to, const Printed& labels, int64_t row, const JsonOptions& options) {
  std::string text;
  put_value(text, labels, row, options);
  if (text.starts_with('"')) {
    to += text;
  } else {
    to += '"';
    to += text;
    to += '"';
  }
  to += ':';
}

/// The rows in parts that are made on all cores: put_row(text, row).
template <class F>
void put_rows(Engine& engine, int64_t rows, const std::function<void(std::string_view)>& put, const F& put_row) {
  const int64_t tasks = (rows + kRowsATask - 1) / kRowsATask;
  std::vector<std::string> texts(static_cast<size_t>(std::min(tasks, kTasksAtOnce)));
  for (int64_t first = 0; first < tasks; first += kTasksAtOnce) {
    const int64_t count = std::min(kTasksAtOnce, tasks - first);
    if (engine.interrupt_flag()) throw Interrupted();
    in_parallel(count, [&](int64_t k) {
      std::string& text = texts[static_cast<size_t>(k)];
      text.clear();
      const int64_t begin = (first + k) * kRowsATask;
      for (int64_t row = begin; row < std::min(rows, begin + kRowsATask); ++row) put_row(text, row);
    });
    for (int64_t k = 0; k < count; ++k) put(texts[static_cast<size_t>(k)]);
  }
}

/// `"index":[…]` of split.
void put_labels(Engine& engine, const Printed& labels, int64_t rows, const JsonOptions& options,
                const std::function<void(std::string_view)>& put) {
  put("\"index\":[");
  put_rows(engine, rows, put, [&](std::string& text, int64_t row) {
    if (row > 0) text += ',';
    put_value(text, labels, row, options);
  });
  put("],");
}

}  // namespace

void write_json(Engine& engine, const std::vector<std::string>& names, const std::vector<std::string>& name_values,
                std::vector<frame::Column> columns, frame::Column labels, const JsonOptions& options,
                const std::function<void(std::string_view)>& put) {
  std::vector<frame::Column*> all{&labels};
  for (frame::Column& column : columns) all.push_back(&column);
  frame::force(engine, all);
  std::vector<Printed> sources;
  for (size_t i = 0; i < columns.size(); ++i) {
    sources.push_back(printed(engine, columns[i], options));
    put_text(sources.back().key, names[i], options.force_ascii);
    sources.back().key += ':';
  }
  const Printed label = printed(engine, labels, options);
  const int64_t rows = labels.size();
  const auto put_object = [&](std::string& text, int64_t row) {
    text += '{';
    for (size_t i = 0; i < sources.size(); ++i) {
      if (i) text += ',';
      text += sources[i].key;
      put_value(text, sources[i], row, options);
    }
    text += '}';
  };
  const auto put_list = [&](std::string& text, int64_t row) {
    if (row > 0) text += ',';
    text += '[';
    for (size_t i = 0; i < sources.size(); ++i) {
      if (i) text += ',';
      put_value(text, sources[i], row, options);
    }
    text += ']';
  };
  switch (options.layout) {
    case JsonLayout::lines:
      put_rows(engine, rows, put, [&](std::string& text, int64_t row) {
        put_object(text, row);
        text += '\n';
      });
      return;
    case JsonLayout::records:
      put("[");
      put_rows(engine, rows, put, [&](std::string& text, int64_t row) {
        if (row > 0) text += ',';
        put_object(text, row);
      });
      put("]");
      return;
    case JsonLayout::index:
      put("{");
      put_rows(engine, rows, put, [&](std::string& text, int64_t row) {
        if (row > 0) text += ',';
        put_key(text, label, row, options);
        put_object(text, row);
      });
      put("}");
      return;
    case JsonLayout::values:
      put("[");
      put_rows(engine, rows, put, put_list);
      put("]");
      return;
    case JsonLayout::columns:
      put("{");
      for (size_t i = 0; i < sources.size(); ++i) {
        put((i ? "," : "") + sources[i].key + "{");
        put_rows(engine, rows, put, [&](std::string& text, int64_t row) {
          if (row > 0) text += ',';
          put_key(text, label, row, options);
          put_value(text, sources[i], row, options);
        });
        put("}");
      }
      put("}");
      return;
    case JsonLayout::split:
      put(fmt::format("{{\"columns\":[{}],", fmt::join(name_values, ",")));
      if (options.with_labels) put_labels(engine, label, rows, options, put);
      put("\"data\":[");
      put_rows(engine, rows, put, put_list);
      put("]}");
  }
}

void write_json_series(Engine& engine, const std::string& name_value, frame::Column column, frame::Column labels,
                       const JsonOptions& options, const std::function<void(std::string_view)>& put) {
  frame::force(engine, {&column, &labels});
  const Printed source = printed(engine, column, options), label = printed(engine, labels, options);
  const int64_t rows = labels.size();
  const bool keyed = options.layout == JsonLayout::index;
  if (options.layout == JsonLayout::split) {
    put(fmt::format("{{\"name\":{},", name_value));
    if (options.with_labels) put_labels(engine, label, rows, options, put);
    put("\"data\":");
  }
  put(keyed ? "{" : "[");
  put_rows(engine, rows, put, [&](std::string& text, int64_t row) {
    if (row > 0) text += ',';
    if (keyed) put_key(text, label, row, options);
    put_value(text, source, row, options);
  });
  put(keyed ? "}" : "]");
  if (options.layout == JsonLayout::split) put("}");
}

}  // namespace gasell
