// Random columns of every type, for comparing operators of frames with their plain definitions.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "runtime/frame/column.h"
#include "runtime/frame/dictionary.h"
#include "runtime/frame/filling.h"

namespace frame_test {

using namespace gasell;
using namespace gasell::frame;

inline Engine& engine() {
  static Engine e([] {
    EngineOptions options = EngineOptions::from_environment();
    options.cache = false;
    return options;
  }());
  return e;
}

template <class T>
NodeRef node_of(const std::vector<T>& values) {
  NewValues memory(engine(), dtype_of<T>(), static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) memory.as<T>()[i] = values[i];
  return memory.node();
}
inline NodeRef flags_of(const std::vector<bool>& values) {
  NewValues memory(engine(), DType::boolean, static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) memory.as<bool>()[i] = values[i];
  return memory.node();
}

/// Values as texts that can be compared: equal ones are equal, "" is missing.
struct Plain {
  std::vector<std::string> key;               // for equality
  std::vector<std::optional<double>> number;  // for order and arithmetic; texts and categories: their rank
};

struct Random {
  Column column;
  Plain plain;
};

enum class Sort { boolean, i8, i32, i64, wide_i64, u16, f32, f64, text, category, datetime, nullable_i64, nullable_boolean, count };

/// `different`: about how many values.
inline Random random_column(Sort sort, int64_t n, int64_t different, double missing, std::mt19937_64& random) {
  Random result;
  Plain& plain = result.plain;
  const auto pick = [&] { return static_cast<int64_t>(random() % static_cast<uint64_t>(different)); };
  const auto is_missing = [&] { return static_cast<double>(random() % 1000) < missing * 1000; };
  const auto add = [&](bool there, double number) {
    plain.key.push_back(there ? "=" + std::to_string(number) : "");
    plain.number.push_back(there ? std::optional(number) : std::nullopt);
  };
  const auto integers = [&]<class T>(T, auto value, bool nullable) {
    std::vector<T> values;
    std::vector<bool> valid;
    for (int64_t i = 0; i < n; ++i) {
      const bool there = !nullable || !is_missing();
      const T v = value(pick());
      values.push_back(v);
      valid.push_back(there);
      add(there, static_cast<double>(v));
      if constexpr (sizeof(T) == 8) plain.key.back() = there ? "=" + std::to_string(v) : "";
    }
    result.column = {number_type(dtype_of<T>(), nullable), node_of(values), nullable ? flags_of(valid) : nullptr};
  };
  const auto floats = [&]<class T>(T) {
    std::vector<T> values;
    for (int64_t i = 0; i < n; ++i) {
      const bool there = !is_missing();
      T v = static_cast<T>(pick() - different / 2) / 4;
      if (v == 0 && random() % 2) v = -v;
      values.push_back(there ? v : std::numeric_limits<T>::quiet_NaN());
      add(there, static_cast<double>(v) + 0.0);
    }
    result.column = number_column(node_of(values));
  };
  switch (sort) {
    case Sort::boolean: integers(bool{}, [](int64_t v) { return v % 2 == 0; }, false); break;
    case Sort::i8: integers(int8_t{}, [](int64_t v) { return static_cast<int8_t>(v % 256 - 128); }, false); break;
    case Sort::i32: integers(int32_t{}, [&](int64_t v) { return static_cast<int32_t>(v - different / 2); }, false); break;
    case Sort::i64: integers(int64_t{}, [&](int64_t v) { return 7 - v * 3; }, false); break;
    case Sort::wide_i64:
      integers(
          int64_t{},
          [&](int64_t v) {
            return v == 0 ? INT64_MIN : v == 1 ? INT64_MAX : static_cast<int64_t>(static_cast<uint64_t>(v) * 0x9e3779b97f4a7c15U);
          },
          false);
      break;
    case Sort::u16: integers(uint16_t{}, [](int64_t v) { return static_cast<uint16_t>(v); }, false); break;
    case Sort::nullable_i64: integers(int64_t{}, [](int64_t v) { return v - 5; }, true); break;
    case Sort::nullable_boolean: integers(bool{}, [](int64_t v) { return v % 2 == 0; }, true); break;
    case Sort::f32: floats(float{}); break;
    case Sort::f64: floats(double{}); break;
    case Sort::datetime: {
      std::vector<int64_t> values;
      for (int64_t i = 0; i < n; ++i) {
        const bool there = !is_missing();
        const int64_t v = (pick() - 3) * 1'000'000'000;
        values.push_back(there ? v : kNotATime);
        add(there, static_cast<double>(v));
      }
      result.column = {datetime_type(), node_of(values)};
      break;
    }
    default: {
      const bool text = sort == Sort::text;
      DictionaryBuilder builder;
      std::vector<int64_t> shuffled;
      for (int64_t i = 0; i < different; ++i) shuffled.push_back(i);
      if (text) std::shuffle(shuffled.begin(), shuffled.end(), random);
      const auto text_of = [](int64_t i) {
        std::string digits = std::to_string(i);
        return "t" + std::string(8 - digits.size(), '0') + digits;
      };
      for (const int64_t i : shuffled) builder.add(text_of(i));
      const DictionaryRef dictionary = builder.finish(true);
      std::vector<int32_t> codes;
      for (int64_t i = 0; i < n; ++i) {
        const bool there = !is_missing();
        const int64_t code = pick();
        codes.push_back(there ? static_cast<int32_t>(code) : -1);
        add(there, static_cast<double>(shuffled[static_cast<size_t>(code)]));
      }
      result.column = {text_type(), node_of(codes), nullptr, dictionary};
      if (!text) {
        result.column = {{Logical::category, DType::i32, false, true}, node_of(codes)};
        result.column.categories = std::make_shared<Column>(text_column(engine(), dictionary));
      }
    }
  }
  return result;
}

/// What a column of results holds; nothing where it is missing. Texts by their codes.
inline std::vector<std::optional<double>> numbers(Column column) {
  const ColumnData data = read(engine(), column);
  return visit_values(column.type, data, [&](auto values) {
    std::vector<std::optional<double>> result;
    for (int64_t i = 0; i < data.count; ++i) {
      typename decltype(values)::Type v;
      const bool there = values.get(i, v) && !(column.type.has_codes() && static_cast<int64_t>(v) < 0);
      result.push_back(there ? std::optional(static_cast<double>(v)) : std::nullopt);
    }
    return result;
  });
}

}  // namespace frame_test
