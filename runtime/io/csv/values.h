// What the texts of fields are: missing, or values of which types.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gasell::csv {

/// Texts that stand for missing values.
class MissingTexts {
 public:
  MissingTexts() = default;
  explicit MissingTexts(std::vector<std::string> texts);
  bool contains(std::string_view text) const {
    return text.size() < 64 && lengths_ >> text.size() & 1 && (text.empty() || first_[static_cast<uint8_t>(text[0])]) && find(text);
  }
  bool has_empty() const { return lengths_ & 1; }
  /// The numbers among them; columns of floats compare with these, too.
  const std::vector<double>& numbers() const { return numbers_; }

 private:
  bool find(std::string_view text) const;
  std::vector<std::string> texts_;  // sorted
  std::vector<double> numbers_;
  uint64_t lengths_ = 0;  // bit n: one of them has n bytes
  std::array<bool, 256> first_ = {};
};
/// pandas' default ones.
const std::vector<std::string>& default_missing_texts();

/// The rules of one column.
struct ValueRules {
  MissingTexts missing;
  char decimal = '.';
  char thousands = 0;
  std::vector<std::string> true_texts, false_texts;
  bool boolean_words = true;  // "True" and "false" are booleans, too
  bool plain_numbers() const { return decimal == '.' && !thousands; }
};

/// What a column can be read as. A column is the first of these that all its values are.
enum class Kind : uint8_t {
  nothing,  // all missing
  boolean,
  i64,
  u64,
  integer,  // integers that no 64 bits hold all; the column will be texts
  f64,
  datetime,
  text,
};

struct Integer {
  bool negative = false;
  bool fits = true;  // 64 bits without a sign
  uint64_t magnitude = 0;
};
std::optional<Integer> parse_integer_text(std::string_view text, const ValueRules& rules);
std::optional<double> parse_float_text(std::string_view text, const ValueRules& rules);
std::optional<bool> parse_boolean_text(std::string_view text, const ValueRules& rules);
/// Of a text that is not missing; never a datetime.
Kind kind_of(std::string_view text, const ValueRules& rules);
/// The first kind behind `kind` that may hold a value of the kind `other`, which `kind` does not.
Kind wider(Kind kind, Kind other);

}  // namespace gasell::csv
