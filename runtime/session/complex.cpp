#include <cmath>

#include "runtime/session/big_integer.h"
#include "runtime/session/number.h"
#include "runtime/session/objects.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

using Args = std::span<Value>;
using C = std::complex<double>;

/// A number as complex; nullopt for anything else.
std::optional<C> as_complex(const Value& v) {
  if (v.is_int() || v.is_bool()) return C(static_cast<double>(v.as_int()));
  if (v.is_float()) return C(v.as_float());
  if (const auto* c = v.as<Complex>()) return c->value;
  if (const auto* big = v.as<BigInt>()) return C(to_double(big->value));
  return std::nullopt;
}

std::optional<Value> apply(ast::BinaryOp op, C a, C b) {
  switch (op) {
    case ast::BinaryOp::add: return Value::make<Complex>(C(a.real() + b.real(), a.imag() + b.imag()));
    case ast::BinaryOp::sub: return Value::make<Complex>(C(a.real() - b.real(), a.imag() - b.imag()));
    case ast::BinaryOp::mul:
      return Value::make<Complex>(C(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()));
    case ast::BinaryOp::div: return Value::make<Complex>(complex_divide(a, b));
    case ast::BinaryOp::pow: return Value::make<Complex>(complex_pow(a, b));
    default: return std::nullopt;
  }
}

C part(Interpreter& in, const Value& v, bool second) {
  if (const auto c = as_complex(v)) return *c;
  if (v.is_object() && !v.as<Str>()) {
    if (!second)
      if (const auto z = v.object()->to_complex(in)) return *as_complex(*z);
    if (const auto f = v.object()->to_float(in)) return f->as_float();
  }
  if (second && v.as<Str>()) raise("TypeError", "complex() second arg can't be a string");
  raise("TypeError", second ? "complex() second argument must be a number, not '" + type_of(v).name + "'"
                            : "complex() first argument must be a string or a number, not '" + type_of(v).name + "'");
}

Value construct(Interpreter& in, Args args) {
  const bool second = !is_missing(args[1]);
  if (const auto* s = args[0].as<Str>()) {
    if (second) raise("TypeError", "complex() can't take second arg if first is a string");
    return Value::make<Complex>(parse_complex(s->value));
  }
  C z = part(in, args[0], false);
  if (second) {
    const C w = part(in, args[1], true);
    // real + imag*1j, keeping the signs of zeros where both are real.
    z = {args[1].as<Complex>() ? z.real() - w.imag() : z.real(), args[0].is_object() ? z.imag() + w.real() : w.real()};
  }
  return Value::make<Complex>(z);
}

Value real(Interpreter&, const Value& self) { return Value::of(self.as<Complex>()->value.real()); }
Value imag(Interpreter&, const Value& self) { return Value::of(self.as<Complex>()->value.imag()); }

}  // namespace

const Type& complex_type() {
  static const NativeFunction constructor{"complex", "real=0, imag=missing", construct, "A complex number from its parts or from text."};
  static const Type t{
      "complex",
      "builtins",
      &object_type(),
      {{"conjugate", "self, /", [](Interpreter&, Args a) { return Value::make<Complex>(std::conj(a[0].as<Complex>()->value)); },
        "With the imaginary part negated."}},
      {{"real", real, nullptr, "The real part."}, {"imag", imag, nullptr, "The imaginary part."}},
      &constructor};
  return t;
}

const Type& Complex::type() const { return complex_type(); }
std::string Complex::repr(Interpreter&) { return complex_repr(value); }
std::string Complex::format(Interpreter&, std::string_view spec) { return format_complex(value, spec); }
int64_t Complex::hash(Interpreter&) { return hash_complex(value); }
std::optional<Value> Complex::to_complex(Interpreter&) { return Value::of(this); }

std::optional<Value> Complex::compare(Interpreter&, ast::CompareOp op, const Value& other) {
  if (op != ast::CompareOp::eq && op != ast::CompareOp::ne) return std::nullopt;
  bool same = false;
  if (other.is_int() || other.is_bool()) {
    same = value.imag() == 0 && compare_int_float(other.as_int(), value.real()) == 0;
  } else if (const auto o = as_complex(other)) {
    same = value == *o;
  } else {
    return std::nullopt;
  }
  return Value::of(same == (op == ast::CompareOp::eq));
}

std::optional<Value> Complex::binary(Interpreter&, ast::BinaryOp op, const Value& other) {
  const auto o = as_complex(other);
  return o ? apply(op, value, *o) : std::nullopt;
}

std::optional<Value> Complex::reflected(Interpreter&, ast::BinaryOp op, const Value& other) {
  const auto o = as_complex(other);
  return o ? apply(op, *o, value) : std::nullopt;
}

Value Complex::unary(Interpreter& in, ast::UnaryOp op) {
  switch (op) {
    case ast::UnaryOp::neg: return Value::make<Complex>(-value);
    case ast::UnaryOp::pos: return Value::of(this);
    default: return Object::unary(in, op);
  }
}

}  // namespace gasell
