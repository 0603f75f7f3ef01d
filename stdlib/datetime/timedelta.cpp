// datetime.timedelta.
#include <fmt/format.h>

#include <cmath>

#include "runtime/session/type_objects.h"
#include "runtime/session/types.h"
#include "stdlib/datetime/objects.h"
#include "stdlib/numpy/ndarray.h"

namespace gasell::datetime {
namespace {

using Args = std::span<Value>;

Duration self_of(const Value& v) { return Duration(*duration_micros(v)); }

/// An int, or a float (np.float64 is one); nothing for all else.
std::optional<Value> number_of(Interpreter& in, const Value& v) {
  if (v.is_int() || v.is_float()) return v;
  if (v.is_bool()) return Value::of(v.as_int());
  if (auto* s = v.as<numpy::NumpyScalar>(); s && s->dtype() == DType::f64) return Value::of(s->value(in).as_double());
  return {};
}

/// a / b to the nearest whole number, of two equally near ones the even one.
Int128 nearest_quotient(Int128 a, Int128 b) {
  if (b < 0) a = -a, b = -b;
  Int128 whole = a / b, rest = a % b;
  if (rest < 0) rest += b, --whole;
  const Int128 twice = 2 * rest;
  return twice > b || (twice == b && whole % 2 != 0) ? whole + 1 : whole;
}

/// A finite float as digits * 2**exponent.
struct BinaryNumber {
  explicit BinaryNumber(double v) {
    if (std::isnan(v)) raise("ValueError", "cannot convert NaN to integer ratio");
    if (std::isinf(v)) raise("OverflowError", "cannot convert Infinity to integer ratio");
    const double fraction = std::frexp(v, &exponent);
    digits = static_cast<int64_t>(std::ldexp(fraction, 53));
    exponent -= 53;
    while (digits != 0 && digits % 2 == 0) digits /= 2, ++exponent;
  }
  int64_t digits = 0;
  int exponent = 0;
};

[[noreturn]] void too_large() { raise("OverflowError", "Python int too large to convert to C int"); }

/// What both factors' bits leave room for.
bool fits_shifted(Int128 v, int by) {
  int bits = 0;
  for (UInt128 rest = v < 0 ? -static_cast<UInt128>(v) : static_cast<UInt128>(v); rest != 0; rest >>= 1) ++bits;
  return by >= 0 && bits + by < 127;
}

Int128 scaled(Int128 micros, double factor) {
  const BinaryNumber f(factor);
  const Int128 product = micros * f.digits;
  if (f.exponent >= 0) {
    if (!fits_shifted(product, f.exponent)) too_large();
    return product * (Int128{1} << f.exponent);
  }
  return f.exponent < -126 ? 0 : nearest_quotient(product, Int128{1} << -f.exponent);
}

Int128 divided(Int128 micros, double divisor) {
  const BinaryNumber d(divisor);
  if (d.digits == 0) raise("ZeroDivisionError", "division by zero");
  if (d.exponent > 0) return d.exponent > 70 ? 0 : nearest_quotient(micros, Int128{d.digits} * (Int128{1} << d.exponent));
  if (!fits_shifted(micros, -d.exponent)) too_large();
  return nearest_quotient(micros * (Int128{1} << -d.exponent), d.digits);
}

Int128 floor_quotient(Int128 a, Int128 b) {
  if (b == 0) raise("ZeroDivisionError", "integer division or modulo by zero");
  const Int128 whole = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? whole - 1 : whole;
}

Value construct(Interpreter& in, Args args) {
  static constexpr std::pair<const char*, int64_t> kUnits[] = {
      {"days", kMicrosADay},       {"seconds", kMicrosASecond}, {"microseconds", 1},       {"milliseconds", 1000},
      {"minutes", kMicrosAMinute}, {"hours", kMicrosAnHour},    {"weeks", 7 * kMicrosADay}};
  Int128 total = 0;
  double rest = 0;  // of floats: less than a microsecond of each
  for (size_t k = 0; k < std::size(kUnits); ++k) {
    const auto& [name, unit] = kUnits[k];
    const auto number = number_of(in, args[k]);
    if (!number)
      raise("TypeError", fmt::format("unsupported type for timedelta {} component: {}", name,
                                     type_of(args[k]).module == "numpy" ? "numpy." + type_of(args[k]).name : type_of(args[k]).name));
    if (number->is_int()) {
      total += Int128{number->as_int()} * unit;
      continue;
    }
    double whole;
    const double fraction = std::modf(number->as_float(), &whole);
    if (std::isnan(whole)) raise("ValueError", "cannot convert float NaN to integer");
    if (std::isinf(whole)) raise("OverflowError", "cannot convert float infinity to integer");
    if (std::abs(whole) > 1e24) too_large();
    total += static_cast<Int128>(whole) * unit;
    double whole_micros;
    rest += std::modf(fraction * static_cast<double>(unit), &whole_micros);
    total += static_cast<Int128>(whole_micros);
  }
  // Ties go to the even sum.
  const int odd = static_cast<int>(total & 1);
  double rounded = std::round(rest);
  if (std::abs(rounded - rest) == 0.5) rounded = 2.0 * std::round((rest + odd) * 0.5) - odd;
  return duration_value(total + static_cast<Int128>(rounded));
}

}  // namespace

const Type& timedelta_type() {
  static const NativeFunction constructor{"timedelta", "days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0",
                                          &construct, "A duration with a resolution of microseconds."};
  static const Type type = [] {
    Type t{"timedelta", "datetime", &object_type()};
    t.constructor = &constructor;
    t.properties = {
        {"days", [](Interpreter&, const Value& v) { return Value::of(self_of(v).days()); }, nullptr, ""},
        {"seconds", [](Interpreter&, const Value& v) { return Value::of(self_of(v).rest() / kMicrosASecond); }, nullptr, ""},
        {"microseconds", [](Interpreter&, const Value& v) { return Value::of(self_of(v).rest() % kMicrosASecond); }, nullptr, ""}};
    t.methods = {
        {"total_seconds", "", [](Interpreter&, Args a) { return Value::of(static_cast<double>(self_of(a[0]).micros) / 1e6); },
         "Seconds, with their fraction."},
        {"__abs__", "",
         [](Interpreter&, Args a) { return duration_value(self_of(a[0]).micros < 0 ? -self_of(a[0]).micros : self_of(a[0]).micros); },
         "abs(self)"}};
    return t;
  }();
  constexpr Int128 kLongest = Int128{999'999'999} * kMicrosADay;
  static const bool registered = register_type_object(
      type,
      Value::make<TypeWithConstants>(type, TypeWithConstants::Constants{{"min", [] { return duration_value(-kLongest); }},
                                                                        {"max", [] { return duration_value(kLongest + kMicrosADay - 1); }},
                                                                        {"resolution", [] { return duration_value(1); }}}));
  (void)registered;
  return type;
}

int64_t Duration::days() const { return static_cast<int64_t>(floor_quotient(micros, kMicrosADay)); }

std::string Duration::repr(Interpreter&) {
  std::string parts;
  const auto add = [&](const char* name, int64_t value) {
    if (value) parts += fmt::format("{}{}={}", parts.empty() ? "" : ", ", name, value);
  };
  add("days", days());
  add("seconds", rest() / kMicrosASecond);
  add("microseconds", rest() % kMicrosASecond);
  return "datetime.timedelta(" + (parts.empty() ? "0" : parts) + ")";
}

std::string Duration::str(Interpreter&) {
  const int64_t d = days(), seconds = rest() / kMicrosASecond, fraction = rest() % kMicrosASecond;
  std::string text = d ? fmt::format("{} day{}, ", d, d == 1 || d == -1 ? "" : "s") : "";
  text += fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  return fraction ? text + fmt::format(".{:06}", fraction) : text;
}

/// As the pd.Timedelta that equals it, where nanoseconds have room for it.
int64_t Duration::hash(Interpreter&) {
  const Int128 nanoseconds = micros * 1000;
  return hash_int(static_cast<int64_t>(nanoseconds));
}

std::optional<Value> Duration::compare(Interpreter&, ast::CompareOp op, const Value& other) {
  const auto* d = other.as<Duration>();
  return d ? std::optional(Value::of(holds(op, micros, d->micros))) : std::nullopt;
}

std::optional<Value> Duration::binary(Interpreter& in, ast::BinaryOp op, const Value& other) {
  using enum ast::BinaryOp;
  if (const auto* d = other.as<Duration>()) {
    switch (op) {
      case add: return duration_value(micros + d->micros);
      case sub: return duration_value(micros - d->micros);
      case floordiv: {
        const Int128 count = floor_quotient(micros, d->micros);
        if (count != static_cast<int64_t>(count)) raise_int_overflow("//");
        return Value::of(static_cast<int64_t>(count));
      }
      case mod: return duration_value(micros - floor_quotient(micros, d->micros) * d->micros);
      case div:
        if (d->micros == 0) raise("ZeroDivisionError", "division by zero");
        return Value::of(static_cast<double>(static_cast<long double>(micros) / static_cast<long double>(d->micros)));
      default: return {};
    }
  }
  if (op != mul && op != div && op != floordiv) return {};
  const auto number = other.is_object() && op == mul ? std::nullopt : number_of(in, other);
  if (!number) return {};
  if (number->is_float())
    return op == mul   ? std::optional(duration_value(scaled(micros, number->as_float())))
           : op == div ? std::optional(duration_value(divided(micros, number->as_float())))
                       : std::nullopt;
  const int64_t n = number->as_int();
  if (op == mul) {
    if (micros != 0 && !fits_shifted(micros, 63)) too_large();
    return duration_value(micros * n);
  }
  if (n == 0) raise("ZeroDivisionError", "integer division or modulo by zero");
  return duration_value(op == div ? nearest_quotient(micros, n) : floor_quotient(micros, n));
}

std::optional<Value> Duration::reflected(Interpreter& in, ast::BinaryOp op, const Value& other) {
  return op == ast::BinaryOp::mul ? binary(in, op, other) : std::nullopt;
}

Value Duration::unary(Interpreter& in, ast::UnaryOp op) {
  if (op == ast::UnaryOp::neg) return duration_value(-micros);
  return op == ast::UnaryOp::pos ? Value::of(this) : Object::unary(in, op);
}

Value duration_value(Int128 micros) {
  const Int128 days = floor_quotient(micros, kMicrosADay);
  if (days < -999'999'999 || days > 999'999'999)
    raise("OverflowError", days == static_cast<int32_t>(days)
                               ? fmt::format("days={}; must have magnitude <= 999999999", static_cast<int64_t>(days))
                               : "Python int too large to convert to C int");
  return Value::make<Duration>(micros);
}

}  // namespace gasell::datetime
