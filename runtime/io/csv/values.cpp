#include "runtime/io/csv/values.h"

#include <fast_float/fast_float.h>

#include <algorithm>

namespace gasell::csv {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view stripped(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool equal_but_for_case(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() &&
         std::equal(text.begin(), text.end(), lower.begin(), [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
}

/// Without thousands separators between digits, and with a point.
std::string plain_number(std::string_view text, const ValueRules& rules) {
  std::string plain;
  bool fraction = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (rules.thousands && c == rules.thousands && !fraction && i > 0 && is_digit(text[i - 1])) continue;
    if (rules.decimal != '.' && c == '.') return {};
    fraction |= c == rules.decimal;
    plain += c == rules.decimal ? '.' : c;
  }
  return plain;
}

}  // namespace

MissingTexts::MissingTexts(std::vector<std::string> texts) : texts_(std::move(texts)) {
  std::sort(texts_.begin(), texts_.end());
  texts_.erase(std::unique(texts_.begin(), texts_.end()), texts_.end());
  const ValueRules none;
  for (const std::string& text : texts_) {
    if (text.size() < 64) lengths_ |= uint64_t{1} << text.size();
    if (!text.empty()) first_[static_cast<uint8_t>(text[0])] = true;
    if (const auto number = parse_float_text(text, none)) numbers_.push_back(*number);
  }
}

bool MissingTexts::find(std::string_view text) const { return std::binary_search(texts_.begin(), texts_.end(), text); }

const std::vector<std::string>& default_missing_texts() {
  static const std::vector<std::string> texts = {"",     "#N/A",   "#N/A N/A", "#NA",  "-1.#IND", "-1.#QNAN", "-NaN",
                                                 "-nan", "1.#IND", "1.#QNAN",  "<NA>", "N/A",     "NA",       "NULL",
                                                 "NaN",  "None",   "n/a",      "nan",  "null"};
  return texts;
}

std::optional<Integer> parse_integer_text(std::string_view text, const ValueRules& rules) {
  std::string plain;
  if (!rules.plain_numbers()) text = plain = plain_number(text, rules);
  text = stripped(text);
  Integer value;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    value.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return {};
  for (const char c : text) {
    if (!is_digit(c)) return {};
    const auto digit = static_cast<uint64_t>(c - '0');
    if (value.magnitude > (UINT64_MAX - digit) / 10) value.fits = false;
    value.magnitude = value.magnitude * 10 + digit;
  }
  return value;
}

std::optional<double> parse_float_text(std::string_view text, const ValueRules& rules) {
  std::string plain;
  if (!rules.plain_numbers()) text = plain = plain_number(text, rules);
  text = stripped(text);
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return {};
  double value;
  if (!is_digit(text[0]) && text[0] != '.') {
    if (!equal_but_for_case(text, "inf") && !equal_but_for_case(text, "infinity")) return {};
    value = std::numeric_limits<double>::infinity();
  } else {
    const auto [end, error] = fast_float::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size()) return {};
  }
  return negative ? -value : value;
}

std::optional<bool> parse_boolean_text(std::string_view text, const ValueRules& rules) {
  const auto among = [&](const std::vector<std::string>& texts) { return std::find(texts.begin(), texts.end(), text) != texts.end(); };
  if ((rules.boolean_words && equal_but_for_case(text, "true")) || among(rules.true_texts)) return true;
  if ((rules.boolean_words && equal_but_for_case(text, "false")) || among(rules.false_texts)) return false;
  return {};
}

Kind kind_of(std::string_view text, const ValueRules& rules) {
  if (const auto integer = parse_integer_text(text, rules)) {
    const uint64_t most = static_cast<uint64_t>(INT64_MAX) + integer->negative;
    if (!integer->fits || (integer->negative && integer->magnitude > most)) return Kind::integer;
    return integer->magnitude <= most ? Kind::i64 : Kind::u64;
  }
  if (parse_float_text(text, rules)) return Kind::f64;
  return parse_boolean_text(text, rules) ? Kind::boolean : Kind::text;
}

Kind wider(Kind kind, Kind other) {
  if (kind == Kind::nothing) return other;
  if (other == Kind::nothing) return kind;
  if (kind == Kind::boolean || other == Kind::boolean || kind == Kind::datetime || other == Kind::datetime)
    return kind == other ? kind : Kind::text;
  if (kind == Kind::u64 && other == Kind::i64) return Kind::integer;  // it is negative, or it would fit
  return std::max(kind, other);
}

}  // namespace gasell::csv
