// pd.Timedelta.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "runtime/frame/time_formatting.h"
#include "runtime/frame/time_parsing.h"
#include "runtime/session/dict.h"
#include "runtime/session/number.h"
#include "runtime/session/type_objects.h"
#include "runtime/session/types.h"
#include "stdlib/datetime/objects.h"
#include "stdlib/named_tuple.h"
#include "stdlib/numpy/ndarray.h"
#include "stdlib/pandas/offsets.h"
#include "stdlib/pandas/times_objects.h"
#include "stdlib/pandas/timestamp.h"

namespace gasell::pandas {

using namespace frame;
using datetime::holds;

namespace {

const Timedelta& self_of(const Value& v) { return *v.as<Timedelta>(); }

[[noreturn]] void too_large() { raise("OverflowError", "Python int too large to convert to C long"); }

/// A Python number, or a NumPy scalar's.
std::optional<Value> number_of(Interpreter& in, const Value& v) {
  if (v.is_int() || v.is_float()) return v;
  if (auto* s = v.as<numpy::NumpyScalar>()) {
    Value number = numpy::python_value(s->value(in));
    if (number.is_int() || number.is_float()) return number;
  }
  return {};
}

Value of_float(double ns) {
  if (std::isnan(ns)) return nat_value();
  if (std::abs(ns) >= 9.2233720368547758e18) too_large();
  return timedelta_value(static_cast<int64_t>(ns));
}

Value of_keywords(Interpreter& in, const std::vector<std::pair<Value, Value>>& items) {
  static constexpr std::pair<std::string_view, int64_t> kUnits[] = {{"weeks", 7 * kDay},
                                                                    {"days", kDay},
                                                                    {"hours", kHour},
                                                                    {"minutes", kMinute},
                                                                    {"seconds", kSecond},
                                                                    {"milliseconds", kMillisecond},
                                                                    {"microseconds", kMicrosecond},
                                                                    {"nanoseconds", 1}};
  int64_t total = 0;
  double rest = 0;  // of floats, in nanoseconds
  for (const auto& [key, value] : items) {
    const std::string name = gasell::str(in, key);
    const auto* unit = std::find_if(std::begin(kUnits), std::end(kUnits), [&](const auto& u) { return u.first == name; });
    if (unit == std::end(kUnits))
      raise("ValueError",
            "cannot construct a Timedelta from the passed arguments, allowed keywords are [weeks, days, hours, minutes, seconds, "
            "milliseconds, "
            "microseconds, nanoseconds]");
    const auto number = number_of(in, value);
    if (!number) raise("TypeError", "Invalid type " + gasell::repr(in, type_object(type_of(value))) + ". Must be int or float.");
    if (number->is_float()) {
      rest += number->as_float() * static_cast<double>(unit->second);
      continue;
    }
    const auto part = checked_multiply(number->as_int(), unit->second);
    const auto sum = part ? checked_add(total, *part) : part;
    if (!sum) raise("OutOfBoundsTimedelta", "Python int too large to convert to C long");
    total = *sum;
  }
  const auto sum = std::abs(rest) < 9.2e18 ? checked_add(total, std::llround(rest)) : std::nullopt;
  if (!sum) raise("OutOfBoundsTimedelta", "Python int too large to convert to C long");
  return timedelta_value(*sum);
}

Value construct(Interpreter& in, std::span<Value> args) {
  enum { value, unit, keywords };
  std::vector<std::pair<Value, Value>> items;
  for (const Dict::Entry& e : args[keywords].as<Dict>()->entries())
    if (!e.key.is_absent()) items.emplace_back(e.key, e.value);
  if (is_missing(args[value])) {
    if (items.empty()) raise("ValueError", "cannot construct a Timedelta without a value/unit or descriptive keywords (days,seconds....)");
    return of_keywords(in, items);
  }
  const Value& v = args[value];
  if (v.is_none() || is_nat(v) || is_na(v)) return nat_value();
  if (const auto* s = v.as<Str>()) {
    if (!args[unit].is_none()) raise("ValueError", "unit must not be specified if the value is a str");
    return timedelta_value(parse_timedelta(s->value));
  }
  if (const auto ns = to_timedelta(in, v)) return timedelta_value(*ns);
  if (const auto number = number_of(in, v)) {
    int64_t size = 1;
    if (!args[unit].is_none()) {
      const std::string name = gasell::str(in, args[unit]);
      if (name == "M" || name == "Y" || name == "y")
        raise("ValueError", "Units 'M', 'Y' and 'y' do not represent unambiguous timedelta values and are not supported.");
      const auto known = timedelta_unit(name);
      if (!known) raise("ValueError", "invalid unit abbreviation: " + name);
      size = *known;
    }
    if (number->is_float()) return timedelta_value(scaled_time(number->as_float(), size));
    const auto ns = checked_multiply(number->as_int(), size);
    if (!ns)
      raise("OutOfBoundsTimedelta",
            "Cannot cast " + std::to_string(number->as_int()) + " from " + gasell::str(in, args[unit]) + " to 'ns' without overflow.");
    return timedelta_value(*ns);
  }
  raise("ValueError", "Value must be Timedelta, string, integer, float, timedelta or convertible, not " + type_of(v).name);
}

template <Rounding how>
Value round_to(Interpreter& in, std::span<Value> args) {
  const int64_t given = self_of(args[0]).nanoseconds, rounded = rounded_time(how, given, fixed_frequency_argument(in, args[1]));
  if (rounded == kNotATime)
    raise("OutOfBoundsTimedelta",
          "Cannot round " + gasell::str(in, args[0]) + " to freq=" + gasell::str(in, args[1]) + " without overflow");
  return timedelta_value(rounded);
}

int64_t part(const Value& v, int64_t unit, int64_t count) { return floor_modulo(floor_divide(self_of(v).nanoseconds, unit), count); }

Value components(Interpreter&, const Value& v) {
  return make_named_result("pandas._libs.tslibs.timedeltas", "Components",
                           {"days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"},
                           {Value::of(floor_divide(self_of(v).nanoseconds, kDay)), Value::of(part(v, kHour, 24)),
                            Value::of(part(v, kMinute, 60)), Value::of(part(v, kSecond, 60)), Value::of(part(v, kMillisecond, 1000)),
                            Value::of(part(v, kMicrosecond, 1000)), Value::of(part(v, 1, 1000))});
}

Value resolution(Interpreter&, const Value& v) {
  static constexpr std::pair<const char*, int64_t> kUnits[] = {{"D", kDay},    {"h", kHour},         {"min", kMinute},
                                                               {"s", kSecond}, {"ms", kMillisecond}, {"us", kMicrosecond}};
  for (const auto& [name, unit] : kUnits)
    if (self_of(v).nanoseconds % unit == 0) return make_str(name);
  return make_str("ns");
}

template <DurationField field>
Value get_field(Interpreter&, const Value& v) {
  return Value::of(duration_field(field, self_of(v).nanoseconds));
}

}  // namespace

const Type& timedelta_type() {
  static const NativeFunction constructor{"Timedelta", "value=object, unit=None, **kwargs", &construct,
                                          "A duration with a resolution of nanoseconds."};
  static const Type type = [] {
    using F = DurationField;
    Type t{"Timedelta", "pandas._libs.tslibs.timedeltas", &datetime::timedelta_type()};
    t.constructor = &constructor;
    t.methods = {
        {"total_seconds", "",
         [](Interpreter&, std::span<Value> args) { return Value::of(static_cast<double>(self_of(args[0]).nanoseconds) / 1e9); },
         "Seconds, with their fraction."},
        {"isoformat", "", [](Interpreter&, std::span<Value> args) { return make_str(timedelta_iso_text(self_of(args[0]).nanoseconds)); },
         "As ISO 8601."},
        {"floor", "freq", &round_to<Rounding::floor>, "Down to a multiple of freq."},
        {"ceil", "freq", &round_to<Rounding::ceil>, "Up to a multiple of freq."},
        {"round", "freq", &round_to<Rounding::round>, "To the nearest multiple of freq."},
        {"to_timedelta64", "", [](Interpreter&, std::span<Value> args) { return timedelta64_value(self_of(args[0]).nanoseconds); },
         "As np.timedelta64."},
        {"to_numpy", "dtype=None, copy=False",
         [](Interpreter&, std::span<Value> args) { return timedelta64_value(self_of(args[0]).nanoseconds); }, "As np.timedelta64."},
        {"to_pytimedelta", "",
         [](Interpreter&, std::span<Value> args) {
           return datetime::duration_value(static_cast<Int128>(std::nearbyint(static_cast<double>(self_of(args[0]).nanoseconds) / 1000)));
         },
         "As datetime.timedelta, of whole microseconds."},
        {"as_unit", "unit, round_ok=True", &in_unit, "Itself: nanoseconds are the only unit, others are refused."},
        {"__abs__", "", [](Interpreter&, std::span<Value> args) { return timedelta_value(std::abs(self_of(args[0]).nanoseconds)); },
         "abs(self)"},
    };
    t.properties = {
        {"days", &get_field<F::days>, nullptr, ""},
        {"seconds", &get_field<F::seconds>, nullptr, ""},
        {"microseconds", &get_field<F::microseconds>, nullptr, ""},
        {"nanoseconds", &get_field<F::nanoseconds>, nullptr, ""},
        {"value", [](Interpreter&, const Value& v) { return Value::of(self_of(v).nanoseconds); }, nullptr, "Nanoseconds."},
        {"asm8", [](Interpreter&, const Value& v) { return timedelta64_value(self_of(v).nanoseconds); }, nullptr, ""},
        {"components", &components, nullptr, "Days, hours … nanoseconds."},
        {"resolution_string", &resolution, nullptr, "The largest unit that it is a whole number of."},
        {"unit", [](Interpreter&, const Value&) { return make_str("ns"); }, nullptr, ""},
    };
    return t;
  }();
  static const bool registered =
      register_type_object(type, Value::make<datetime::TypeWithConstants>(
                                     type, datetime::TypeWithConstants::Constants{{"min", [] { return timedelta_value(INT64_MIN + 1); }},
                                                                                  {"max", [] { return timedelta_value(INT64_MAX); }},
                                                                                  {"resolution", [] { return timedelta_value(1); }}}));
  (void)registered;
  return type;
}

std::string Timedelta::repr(Interpreter&) { return "Timedelta('" + timedelta_repr_text(nanoseconds) + "')"; }
std::string Timedelta::str(Interpreter&) { return timedelta_repr_text(nanoseconds); }
int64_t Timedelta::hash(Interpreter&) { return hash_int(nanoseconds); }

std::optional<Value> Timedelta::compare(Interpreter& in, ast::CompareOp op, const Value& other) {
  const auto right = to_timedelta(in, other);
  if (!right) return {};
  if (*right == kNotATime) return Value::of(op == ast::CompareOp::ne);
  return Value::of(holds(op, nanoseconds, *right));
}

std::optional<Value> Timedelta::binary(Interpreter& in, ast::BinaryOp op, const Value& other) {
  using enum ast::BinaryOp;
  if (op == add && datetime::clock_of(other))
    return gasell::binary(in, op, gasell::call(in, type_object(timestamp_type()), {{other}, {}}), Value::of(this));
  const auto right = to_timedelta(in, other, op == add || op == sub);
  if (right && *right == kNotATime) {
    if (op == add || op == sub) return nat_value();
    if (op == div || op == floordiv) return Value::of(std::nan(""));
    return {};
  }
  if (right) {
    switch (op) {
      case add:
      case sub: {
        const auto sum = checked_add(nanoseconds, op == add ? *right : -*right);
        if (!sum) too_large();
        return timedelta_value(*sum);
      }
      case div: return gasell::binary(in, div, Value::of(nanoseconds), Value::of(*right));
      case floordiv: return Value::of(int_floordiv(nanoseconds, *right));
      case mod: return timedelta_value(int_mod(nanoseconds, *right));
      default: return {};
    }
  }
  if (other.is_none() && (op == add || op == sub)) return nat_value();
  if (other.is_bool()) return {};
  const auto number = number_of(in, other);
  if (!number) return {};
  const double ns = static_cast<double>(nanoseconds);
  switch (op) {
    case mul:
      if (number->is_float()) return of_float(ns * number->as_float());
      if (const auto product = checked_multiply(nanoseconds, number->as_int())) return timedelta_value(*product);
      too_large();
    case div:
      if (number->is_float() ? number->as_float() == 0 : number->as_int() == 0) raise("ZeroDivisionError", "division by zero");
      return of_float(number->is_float() ? ns / number->as_float() : int_truediv(nanoseconds, number->as_int()));
    case floordiv:
      if (number->is_int()) return timedelta_value(int_floordiv(nanoseconds, number->as_int()));
      return of_float(float_floordiv(ns, number->as_float()));
    case mod:
      if (number->is_int()) return timedelta_value(int_mod(nanoseconds, number->as_int()));
      return of_float(float_mod(ns, number->as_float()));
    default: return {};
  }
}

std::optional<Value> Timedelta::reflected(Interpreter& in, ast::BinaryOp op, const Value& other) {
  using enum ast::BinaryOp;
  if (op == add || op == mul) return binary(in, op, other);
  if (const auto left = to_timedelta(in, other)) {
    if (*left == kNotATime) return nat_value();
    return timedelta_value(*left).as<Timedelta>()->binary(in, op, Value::of(this));
  }
  if (op == sub)
    if (const auto moment = time_scalar(other))
      return gasell::binary(in, op, timestamp_value(moment->first, moment->second), Value::of(this));
  return {};
}

Value Timedelta::unary(Interpreter& in, ast::UnaryOp op) {
  if (op == ast::UnaryOp::neg) return timedelta_value(-nanoseconds);
  return op == ast::UnaryOp::pos ? Value::of(this) : Object::unary(in, op);
}

Value timedelta_value(int64_t ns) { return ns == kNotATime ? nat_value() : Value::make<Timedelta>(ns); }

std::optional<int64_t> to_timedelta(Interpreter&, const Value& v, bool texts) {
  if (const auto* t = v.as<Timedelta>()) return t->nanoseconds;
  if (const auto* d = v.as<datetime::Duration>()) {
    const Int128 ns = d->micros * 1000;
    if (ns != static_cast<int64_t>(ns)) raise("OutOfBoundsTimedelta", "Python int too large to convert to C long");
    return static_cast<int64_t>(ns);
  }
  if (is_nat(v)) return kNotATime;
  if (const auto* offset = v.as<Offset>(); offset && offset->is_tick()) return offset->steps().count;
  if (const auto ns = timedelta64_nanoseconds(v)) return ns;
  if (const auto* s = v.as<Str>(); s && texts) return parse_timedelta(s->value);
  return {};
}

}  // namespace gasell::pandas
