#include "runtime/io/arrow/conditions.h"

#include <charconv>
#include <functional>

namespace gasell::arrow {
namespace {

using Op = Condition::Op;

/// Wide enough for every int64, uint64 and double.
using Number = long double;

template <class T>
bool may_meet_between(Op op, const std::vector<T>& wanted, const T& low, const T& high) {
  const auto between = [&](const T& v) { return !(v < low) && !(high < v); };
  const auto only = [&](const T& v) { return low == v && high == v; };
  switch (op) {
    case Op::eq:
    case Op::in: return std::any_of(wanted.begin(), wanted.end(), between);
    case Op::ne:
    case Op::not_in: return std::none_of(wanted.begin(), wanted.end(), only);
    case Op::lt: return low < wanted[0];
    case Op::le: return !(wanted[0] < low);
    case Op::gt: return wanted[0] < high;
    case Op::ge: return !(high < wanted[0]);
  }
  return true;
}

/// The condition's values as numbers; empty where one is none, or NaN.
std::vector<Number> numbers(const Condition& condition) {
  std::vector<Number> found;
  for (const Condition::Value& v : condition.values) {
    if (const auto* i = std::get_if<int64_t>(&v))
      found.push_back(static_cast<Number>(*i));
    else if (const auto* d = std::get_if<double>(&v); d && *d == *d)
      found.push_back(static_cast<Number>(*d));
    else
      return {};
  }
  return found;
}
std::vector<std::string_view> texts(const Condition& condition) {
  std::vector<std::string_view> found;
  for (const Condition::Value& v : condition.values) {
    const auto* text = std::get_if<std::string>(&v);
    if (!text) return {};
    found.push_back(*text);
  }
  return found;
}

}  // namespace

bool may_meet(const Condition& condition, const FieldType& type, const ArrowChunk& chunk, int64_t rows) {
  if (condition.values.empty()) return condition.op != Op::in;
  const bool negative = condition.op == Op::ne || condition.op == Op::not_in;  // NaN and, in pandas, what is missing meet these
  if (negative && chunk.nulls != 0) return true;
  if (chunk.nulls == rows && rows > 0) return false;
  if (chunk.bounds == kTextBounds) {
    const std::vector<std::string_view> wanted = texts(condition);
    return wanted.empty() || may_meet_between<std::string_view>(condition.op, wanted, {chunk.low_text, static_cast<size_t>(chunk.low_size)},
                                                                {chunk.high_text, static_cast<size_t>(chunk.high_size)});
  }
  if (chunk.bounds == kNoBounds || (negative && chunk.bounds == kFloatBounds)) return true;
  const std::vector<Number> wanted = numbers(condition);
  if (wanted.empty()) return true;
  const auto bound = [&](int64_t integer, double real) {
    if (chunk.bounds == kFloatBounds) return static_cast<Number>(real);
    if (chunk.bounds == kUnsignedBounds) return static_cast<Number>(static_cast<uint64_t>(integer));
    return static_cast<Number>(integer) * static_cast<Number>(type.scale);
  };
  return may_meet_between<Number>(condition.op, wanted, bound(chunk.low, chunk.low_float), bound(chunk.high, chunk.high_float));
}

bool may_meet(const Condition& condition, const std::string& key) {
  if (condition.values.empty()) return condition.op != Op::in;
  if (const auto wanted = texts(condition); !wanted.empty()) return may_meet_between<std::string_view>(condition.op, wanted, key, key);
  const auto wanted = numbers(condition);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), value);
  if (wanted.empty() || error != std::errc{} || end != key.data() + key.size()) return true;
  const auto number = static_cast<Number>(value);
  return may_meet_between<Number>(condition.op, wanted, number, number);
}

}  // namespace gasell::arrow
