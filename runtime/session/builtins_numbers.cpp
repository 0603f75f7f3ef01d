// abs, round, pow, divmod, sum, min, max, bin, oct, hex.
#include <cmath>

#include "runtime/session/big_integer.h"
#include "runtime/session/builtins.h"
#include "runtime/session/format_spec.h"
#include "runtime/session/number.h"
#include "runtime/session/objects.h"
#include "runtime/session/range.h"

namespace gasell {
namespace {

using Args = std::span<Value>;

bool is_whole(const Value& v) { return v.is_int() || v.is_bool(); }  // of 64 bits

/// Calls a method that an object may have.
std::optional<Value> ask(Interpreter& in, const Value& v, std::string_view method, std::vector<Value> args) {
  if (!v.is_object() || !has_attribute(in, v, method)) return std::nullopt;
  return call(in, get_attribute(in, v, method), Arguments{std::move(args), {}});
}

/// v rounded to a multiple of 10 ** digits, ties to the even multiple.
Value round_integer(const BigInteger& v, int64_t digits) {
  // Half of the unit is more than any number of so few bits.
  if (digits > bit_length(v)) return Value::of(0);
  const BigInteger unit = integer_power(10, digits);
  BigInteger quotient, rest;
  floor_divide(v, unit, quotient, rest);
  const BigInteger doubled = 2 * rest;
  if (doubled > unit || (doubled == unit && (quotient & 1) != 0)) ++quotient;
  return make_integer(quotient * unit);
}

Value round_value(Interpreter& in, Args args) {
  const Value& v = args[0];
  if (is_integer(v)) {
    const int64_t digits = args[1].is_none() ? 0 : to_index(in, args[1]);
    if (digits >= 0) return v.is_bool() ? Value::of(v.as_int()) : v;
    return round_integer(integer_of(v), digits == INT64_MIN ? INT64_MAX : -digits);
  }
  if (v.is_float()) {
    if (!args[1].is_none()) return Value::of(round_to_digits(v.as_float(), to_index(in, args[1])));
    double r = std::round(v.as_float());
    if (std::abs(v.as_float() - r) == 0.5) r = 2.0 * std::round(v.as_float() / 2.0);
    return float_to_integer(r);
  }
  auto rounded = args[1].is_none() ? ask(in, v, "__round__", {}) : ask(in, v, "__round__", {args[1]});
  if (rounded) return *rounded;
  raise("TypeError", "type " + type_of(v).name + " doesn't define __round__ method");
}

Value divide_with_rest(Interpreter& in, Args args) {
  const Value &a = args[0], &b = args[1];
  if (is_whole(a) && is_whole(b) && b.as_int() != -1)
    return make_tuple({Value::of(int_floordiv(a.as_int(), b.as_int())), Value::of(int_mod(a.as_int(), b.as_int()))});
  if (is_integer(a) && is_integer(b)) return make_tuple({binary(in, ast::BinaryOp::floordiv, a, b), binary(in, ast::BinaryOp::mod, a, b)});
  const auto number = [](const Value& v) { return is_integer(v) || v.is_float(); };
  if (number(a) && number(b)) {
    const double x = to_double(in, a), y = to_double(in, b);
    if (y == 0) raise("ZeroDivisionError", "float divmod()");
    return make_tuple({Value::of(float_floordiv(x, y)), Value::of(float_mod(x, y))});
  }
  if (auto r = ask(in, a, "__divmod__", {b}); r && !r->same(not_implemented())) return *r;
  if (auto r = ask(in, b, "__rdivmod__", {a}); r && !r->same(not_implemented())) return *r;
  const bool other = b.is_object() && !b.as<Str>() && !b.as<List>() && !b.as<Tuple>() && !b.as<Complex>();
  if (other) return make_tuple({binary(in, ast::BinaryOp::floordiv, a, b), binary(in, ast::BinaryOp::mod, a, b)});
  raise("TypeError", "unsupported operand type(s) for divmod(): '" + type_of(a).name + "' and '" + type_of(b).name + "'");
}

Value extreme(Interpreter& in, Args args, const char* name, ast::CompareOp better) {
  const auto& given = args[0].as<Tuple>()->items;
  const Value &key = args[1], &otherwise = args[2];
  if (given.empty()) raise("TypeError", std::string(name) + " expected at least 1 argument, got 0");
  if (given.size() > 1 && !is_missing(otherwise)) {
    raise("TypeError", std::string("Cannot specify a default for ") + name + "() with multiple positional arguments");
  }
  if (const auto* range = given[0].as<Range>(); range && range->count > 0 && given.size() == 1 && key.is_none())
    return Value::of(range->at((better == ast::CompareOp::lt) == (range->step > 0) ? 0 : range->count - 1));
  const Value items = iterate(in, given.size() > 1 ? args[0] : given[0]);
  std::optional<Value> best, best_key;
  while (auto v = next(in, items)) {
    Value k = key.is_none() ? *v : call(in, key, Arguments{{*v}, {}});
    if (!best || truth(in, compare(in, better, k, *best_key))) {
      best = std::move(*v);
      best_key = std::move(k);
    }
  }
  if (best) return *best;
  if (!is_missing(otherwise)) return otherwise;
  raise("ValueError", std::string(name) + "() arg is an empty sequence");
}

Value based(Interpreter& in, Args args, const char* spec) {
  const auto* big = args[0].as<BigInt>();
  return make_str(big ? format_big_int(big->value, spec) : format_int(to_index(in, args[0]), spec));
}

}  // namespace

Value absolute(Interpreter& in, const Value& v) {
  if (is_whole(v)) {
    if (v.as_int() == INT64_MIN) return unary(in, ast::UnaryOp::neg, v);
    return Value::of(v.as_int() < 0 ? -v.as_int() : v.as_int());
  }
  if (const auto* big = v.as<BigInt>()) return make_integer(abs(big->value));
  if (v.is_float()) return Value::of(std::abs(v.as_float()));
  if (const auto* c = v.as<Complex>()) {
    const double r = std::hypot(c->value.real(), c->value.imag());
    if (std::isinf(r) && std::isfinite(c->value.real()) && std::isfinite(c->value.imag()))
      raise("OverflowError", "absolute value too large");
    return Value::of(r);
  }
  if (auto r = ask(in, v, "__abs__", {})) return *r;
  raise("TypeError", "bad operand type for abs(): '" + type_of(v).name + "'");
}

Value add_all(Interpreter& in, const Value& iterable, const Value& start) {
  if (start.as<Str>()) raise("TypeError", "sum() can't sum strings [use ''.join(seq) instead]");
  if (const auto* range = iterable.as<Range>(); range && start.is_int()) {
    int64_t sum = 0;
    const auto items = range->sum();
    if (items && !__builtin_add_overflow(*items, start.as_int(), &sum)) return Value::of(sum);
    const BigInteger ends = BigInteger(range->at(0)) + range->at(range->count - 1);
    return make_integer(ends * range->count / 2 + start.as_int());
  }
  const Value items = iterate(in, iterable);
  Value total = start;
  while (auto v = next(in, items)) {
    if (total.is_int() && v->is_int()) {
      int64_t sum = 0;
      const bool more = __builtin_add_overflow(total.as_int(), v->as_int(), &sum);
      total = more ? big_binary(ast::BinaryOp::add, total.as_int(), v->as_int()) : Value::of(sum);
    } else if (total.is_float() && v->is_float()) {
      total = Value::of(total.as_float() + v->as_float());
    } else {
      total = binary(in, ast::BinaryOp::add, total, *v);
    }
  }
  return total;
}

Value power(Interpreter& in, const Value& a, const Value& b, const Value& m) {
  if (is_missing(m) || m.is_none()) return binary(in, ast::BinaryOp::pow, a, b);
  if (!is_integer(a) || !is_integer(b) || !is_integer(m))
    raise("TypeError", "pow() 3rd argument not allowed unless all arguments are integers");
  if (!is_whole(a) || !is_whole(b) || !is_whole(m)) return make_integer(power_modulo(in, integer_of(a), integer_of(b), integer_of(m)));
  return Value::of(int_pow_mod(a.as_int(), b.as_int(), m.as_int()));
}

std::vector<NativeFunction> number_functions() {
  return {
      {"abs", "x, /", [](Interpreter& in, Args a) { return absolute(in, a[0]); }, "The absolute value."},
      {"round", "number, ndigits=None", round_value, "Rounded to ndigits decimals, ties to even; an int without ndigits."},
      {"pow", "base, exp, mod=None", [](Interpreter& in, Args a) { return power(in, a[0], a[1], a[2]); },
       "base ** exp, or that modulo mod."},
      {"divmod", "x, y, /", divide_with_rest, "(x // y, x % y)."},
      {"sum", "iterable, /, start=0", [](Interpreter& in, Args a) { return add_all(in, a[0], a[1]); },
       "start plus the items, added from left to right."},
      {"min", "*args, key=None, default=missing", [](Interpreter& in, Args a) { return extreme(in, a, "min", ast::CompareOp::lt); },
       "The smallest item of an iterable, or of the arguments."},
      {"max", "*args, key=None, default=missing", [](Interpreter& in, Args a) { return extreme(in, a, "max", ast::CompareOp::gt); },
       "The largest item of an iterable, or of the arguments."},
      {"bin", "number, /", [](Interpreter& in, Args a) { return based(in, a, "#b"); }, "Binary text of an int: '0b101'."},
      {"oct", "number, /", [](Interpreter& in, Args a) { return based(in, a, "#o"); }, "Octal text of an int: '0o17'."},
      {"hex", "number, /", [](Interpreter& in, Args a) { return based(in, a, "#x"); }, "Hexadecimal text of an int: '0xff'."},
  };
}

}  // namespace gasell
