#include "stdlib/numpy/ufunc.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "lang/diagnostic.h"

namespace gasell::numpy {
namespace {

using Rule = Ufunc::Rule;

NodeRef map1(ScalarOp op, NodeRef a) { return graph::map(op, {std::move(a)}); }

[[noreturn]] void unsupported(const Ufunc& f) {
  raise("TypeError", std::string("ufunc '") + f.name +
                         "' not supported for the input types, and the inputs could not be safely coerced to any supported types according "
                         "to the casting rule ''safe''");
}

DType floating_type(DType t, bool all_double) {
  if (is_float(t) || is_complex(t)) return t;
  return !all_double && size_of(t) <= 2 ? DType::f32 : DType::f64;
}

/// The dtype that operands are brought to.
DType compute_type(const Ufunc& f, DType common) {
  const char k = kind(common);
  if (k == 'c' && !f.complex) unsupported(f);
  switch (f.rule) {
    case Rule::number: return k == 'b' ? DType::i8 : common;
    case Rule::floating: return floating_type(common, false);
    case Rule::division: return floating_type(common, true);
    case Rule::bits:
      if (k == 'f' || k == 'c') unsupported(f);
      return common;
    case Rule::shift:
      if (k == 'f' || k == 'c') unsupported(f);
      return k == 'b' ? DType::i8 : common;
    case Rule::logical: return DType::boolean;
    default: return common;
  }
}

/// What NumPy does to booleans: + is or, * is and, - is refused.
std::optional<ScalarOp> boolean_operation(const Ufunc& f) {
  switch (f.op) {
    case ScalarOp::add:
    case ScalarOp::max:
    case ScalarOp::fmax:
    case ScalarOp::bit_or: return ScalarOp::logical_or;
    case ScalarOp::mul:
    case ScalarOp::min:
    case ScalarOp::fmin:
    case ScalarOp::bit_and: return ScalarOp::logical_and;
    case ScalarOp::bit_xor: return ScalarOp::logical_xor;
    case ScalarOp::bit_not: return ScalarOp::logical_not;
    case ScalarOp::abs: return ScalarOp::count_;  // itself
    case ScalarOp::sub:
      raise("TypeError",
            "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or the logical_xor "
            "function instead.");
    case ScalarOp::sign:
      raise("TypeError", "ufunc 'sign' did not contain a loop with signature matching types <class 'numpy.dtypes.BoolDType'> -> None");
    case ScalarOp::neg:
      raise("TypeError",
            "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or the logical_not function instead.");
    default: return {};
  }
}

/// Comparison of Python ints outside the array's dtype is decided by their value.
NodeRef compare_out_of_range(const Ufunc& f, const Operand& array, int64_t value, bool swapped) {
  const bool above = value > 0;  // the number lies above everything the dtype holds
  bool result = false;
  switch (f.op) {
    case ScalarOp::ne: result = true; break;
    case ScalarOp::lt:
    case ScalarOp::le: result = above != swapped; break;
    case ScalarOp::gt:
    case ScalarOp::ge: result = above == swapped; break;
    default: break;
  }
  return graph::constant(Scalar::of_bool(result), array.node->shape);
}

/// Complex numbers are ordered by their real parts, then by their imaginary ones; those with a NaN in either part are not.
NodeRef lexicographic(ScalarOp strict, ScalarOp op, const NodeRef& a, const NodeRef& b) {
  const NodeRef ar = graph::map(ScalarOp::real, {a}), br = graph::map(ScalarOp::real, {b});
  const NodeRef ai = graph::map(ScalarOp::imag, {a}), bi = graph::map(ScalarOp::imag, {b});
  const auto both = [](const NodeRef& x, const NodeRef& y) { return graph::map(ScalarOp::logical_and, {x, y}); };
  const NodeRef numbers = both(graph::map(ScalarOp::eq, {ai, ai}), graph::map(ScalarOp::eq, {bi, bi}));
  const NodeRef tie = both(graph::map(ScalarOp::eq, {ar, br}), graph::map(op, {ai, bi}));
  return graph::map(ScalarOp::logical_or, {both(graph::map(strict, {ar, br}), numbers), tie});
}

/// x / |x|, part by part; zero for zero, along the real axis when the real part is infinite, along the other one when |x| is.
NodeRef complex_direction(const NodeRef& x) {
  const NodeRef re = graph::map(ScalarOp::real, {x}), im = graph::map(ScalarOp::imag, {x});
  const NodeRef size = graph::map(ScalarOp::hypot, {re, im});
  const NodeRef zero = graph::constant(Scalar::of_int(0).cast(re->dtype)), complex_zero = graph::constant(Scalar::of_int(0).cast(x->dtype));
  const NodeRef nan = graph::constant(Scalar::of_complex({NAN, NAN}).cast(x->dtype));
  const NodeRef infinite = graph::map(ScalarOp::isinf, {size}), along_real = graph::map(ScalarOp::isinf, {re});
  const auto choose = [](const NodeRef& condition, const NodeRef& a, const NodeRef& b) {
    return graph::map(ScalarOp::select, {condition, a, b});
  };
  const auto part = [&](const NodeRef& of, const NodeRef& at_infinity) {
    return choose(infinite, at_infinity, graph::map(ScalarOp::div, {of, size}));
  };
  const NodeRef direction = graph::map(ScalarOp::make_complex, {part(re, choose(along_real, graph::map(ScalarOp::sign, {re}), zero)),
                                                                part(im, choose(along_real, zero, graph::map(ScalarOp::sign, {im})))});
  const NodeRef undefined = graph::map(ScalarOp::logical_and, {along_real, graph::map(ScalarOp::isinf, {im})});
  return choose(graph::map(ScalarOp::eq, {x, complex_zero}), complex_zero, choose(undefined, nan, direction));
}

/// Complex numbers to small whole powers are products, exact where those are.
NodeRef whole_power(const NodeRef& x, int n, const Shape& shape) {
  const NodeRef one = graph::constant(Scalar::of_float(1).cast(x->dtype), shape);
  NodeRef result, square = x;
  for (int left = std::abs(n); left; left >>= 1) {
    if (left & 1) result = result ? graph::map(ScalarOp::mul, {result, square}) : square;
    if (left > 1) square = graph::map(ScalarOp::mul, {square, square});
  }
  if (!result) return one;
  return graph::broadcast_to(n < 0 ? graph::map(ScalarOp::div, {one, result}) : result, shape);
}

}  // namespace

bool fits(int64_t v, DType t) { return Scalar::of_int(v).cast(t).i == v && !(t == DType::u64 && v < 0); }

const std::vector<Ufunc>& ufuncs() {
  static const std::vector<Ufunc> kTable = {
      {"add", 2, ScalarOp::add, Rule::number},
      {"subtract", 2, ScalarOp::sub, Rule::number},
      {"multiply", 2, ScalarOp::mul, Rule::number},
      {"divide", 2, ScalarOp::div, Rule::division},
      {"true_divide", 2, ScalarOp::div, Rule::division},
      {"floor_divide", 2, ScalarOp::floordiv, Rule::number, false},
      {"remainder", 2, ScalarOp::mod, Rule::number, false},
      {"mod", 2, ScalarOp::mod, Rule::number, false},
      {"fmod", 2, ScalarOp::fmod, Rule::number, false},
      {"power", 2, ScalarOp::pow, Rule::number},
      {"pow", 2, ScalarOp::pow, Rule::number},
      {"float_power", 2, ScalarOp::pow, Rule::division},
      {"negative", 1, ScalarOp::neg, Rule::number},
      {"absolute", 1, ScalarOp::abs, Rule::number},
      {"abs", 1, ScalarOp::abs, Rule::number},
      {"fabs", 1, ScalarOp::abs, Rule::floating, false},
      {"sign", 1, ScalarOp::sign, Rule::number},
      {"maximum", 2, ScalarOp::max, Rule::ordered},
      {"minimum", 2, ScalarOp::min, Rule::ordered},
      {"fmax", 2, ScalarOp::fmax, Rule::ordered},
      {"fmin", 2, ScalarOp::fmin, Rule::ordered},
      {"sqrt", 1, ScalarOp::sqrt, Rule::floating},
      {"cbrt", 1, ScalarOp::cbrt, Rule::floating, false},
      {"exp", 1, ScalarOp::exp, Rule::floating},
      {"exp2", 1, ScalarOp::exp2, Rule::floating, false},
      {"expm1", 1, ScalarOp::expm1, Rule::floating, false},
      {"log", 1, ScalarOp::log, Rule::floating},
      {"log2", 1, ScalarOp::log2, Rule::floating, false},
      {"log10", 1, ScalarOp::log10, Rule::floating, false},
      {"log1p", 1, ScalarOp::log1p, Rule::floating, false},
      {"hypot", 2, ScalarOp::hypot, Rule::floating, false},
      {"sin", 1, ScalarOp::sin, Rule::floating},
      {"cos", 1, ScalarOp::cos, Rule::floating},
      {"tan", 1, ScalarOp::tan, Rule::floating},
      {"arcsin", 1, ScalarOp::asin, Rule::floating},
      {"arccos", 1, ScalarOp::acos, Rule::floating},
      {"arctan", 1, ScalarOp::atan, Rule::floating},
      {"asin", 1, ScalarOp::asin, Rule::floating},
      {"acos", 1, ScalarOp::acos, Rule::floating},
      {"atan", 1, ScalarOp::atan, Rule::floating},
      {"arctan2", 2, ScalarOp::atan2, Rule::floating, false},
      {"atan2", 2, ScalarOp::atan2, Rule::floating, false},
      {"sinh", 1, ScalarOp::sinh, Rule::floating},
      {"cosh", 1, ScalarOp::cosh, Rule::floating},
      {"tanh", 1, ScalarOp::tanh, Rule::floating},
      {"arcsinh", 1, ScalarOp::asinh, Rule::floating},
      {"arccosh", 1, ScalarOp::acosh, Rule::floating},
      {"arctanh", 1, ScalarOp::atanh, Rule::floating},
      {"asinh", 1, ScalarOp::asinh, Rule::floating},
      {"acosh", 1, ScalarOp::acosh, Rule::floating},
      {"atanh", 1, ScalarOp::atanh, Rule::floating},
      {"floor", 1, ScalarOp::floor, Rule::rounding, false},
      {"ceil", 1, ScalarOp::ceil, Rule::rounding, false},
      {"trunc", 1, ScalarOp::trunc, Rule::rounding, false},
      {"rint", 1, ScalarOp::rint, Rule::floating, false},
      {"isnan", 1, ScalarOp::isnan, Rule::inspection},
      {"isinf", 1, ScalarOp::isinf, Rule::inspection},
      {"isfinite", 1, ScalarOp::isfinite, Rule::inspection},
      {"signbit", 1, ScalarOp::signbit, Rule::floating, false},
      {"copysign", 2, ScalarOp::copysign, Rule::floating, false},
      {"nextafter", 2, ScalarOp::nextafter, Rule::floating, false},
      {"equal", 2, ScalarOp::eq, Rule::comparison},
      {"not_equal", 2, ScalarOp::ne, Rule::comparison},
      {"less", 2, ScalarOp::lt, Rule::comparison},
      {"less_equal", 2, ScalarOp::le, Rule::comparison},
      {"greater", 2, ScalarOp::gt, Rule::comparison},
      {"greater_equal", 2, ScalarOp::ge, Rule::comparison},
      {"logical_and", 2, ScalarOp::logical_and, Rule::logical},
      {"logical_or", 2, ScalarOp::logical_or, Rule::logical},
      {"logical_xor", 2, ScalarOp::logical_xor, Rule::logical},
      {"logical_not", 1, ScalarOp::logical_not, Rule::logical},
      {"bitwise_and", 2, ScalarOp::bit_and, Rule::bits},
      {"bitwise_or", 2, ScalarOp::bit_or, Rule::bits},
      {"bitwise_xor", 2, ScalarOp::bit_xor, Rule::bits},
      {"invert", 1, ScalarOp::bit_not, Rule::bits},
      {"bitwise_not", 1, ScalarOp::bit_not, Rule::bits},
      {"bitwise_invert", 1, ScalarOp::bit_not, Rule::bits},
      {"left_shift", 2, ScalarOp::shl, Rule::shift},
      {"bitwise_left_shift", 2, ScalarOp::shl, Rule::shift},
      {"bitwise_right_shift", 2, ScalarOp::shr, Rule::shift},
      {"right_shift", 2, ScalarOp::shr, Rule::shift},
      {"conjugate", 1, ScalarOp::conj, Rule::number},
      {"conj", 1, ScalarOp::conj, Rule::number},
  };
  return kTable;
}

const Ufunc* find_ufunc(std::string_view name) {
  static const std::map<std::string_view, const Ufunc*> kByName = [] {
    std::map<std::string_view, const Ufunc*> m;
    for (const Ufunc& f : ufuncs()) m.emplace(f.name, &f);
    return m;
  }();
  const auto found = kByName.find(name);
  return found == kByName.end() ? nullptr : found->second;
}

DType common_type(std::span<const Operand> operands) {
  std::optional<DType> strong;
  char weak = 0;
  static constexpr std::string_view kOrder = "bifc";
  for (const Operand& o : operands) {
    if (!o.weak)
      strong = strong ? promote(*strong, o.node->dtype) : o.node->dtype;
    else if (!weak || kOrder.find(o.weak) > kOrder.find(weak))
      weak = o.weak;
  }
  if (strong) return weak ? promote_weak(*strong, weak) : *strong;
  return weak == 'b' ? DType::boolean : weak == 'i' ? DType::i64 : weak == 'f' ? DType::f64 : DType::c128;
}

NodeRef cast_weak(const NodeRef& node, DType dtype) {
  const auto* c = node->as<graph::ConstantNode>();
  if (c && c->value.type == DType::i64 && is_integer(dtype) && !fits(c->value.i, dtype))
    raise("OverflowError", "Python integer " + std::to_string(c->value.i) + " out of bounds for " + std::string(name_of(dtype)));
  return graph::cast(node, dtype);
}

NodeRef assigned_number(const Operand& number, DType dtype) {
  const auto* c = number.node->as<graph::ConstantNode>();
  if (number.weak == 'c' && is_integer(dtype))
    raise("TypeError", "int() argument must be a string, a bytes-like object or a real number, not 'complex'");
  if (number.weak == 'c' && is_float(dtype)) raise("TypeError", "float() argument must be a string or a real number, not 'complex'");
  if (number.weak != 'f' || !c || !is_integer(dtype)) return cast_weak(number.node, dtype);
  const double value = c->value.c.real();
  if (std::isnan(value)) raise("ValueError", "cannot convert float NaN to integer");
  if (std::isinf(value)) raise("OverflowError", "cannot convert float infinity to integer");
  if (!(std::fabs(value) < 9223372036854775808.0)) {
    if (dtype == DType::u64 && value > 0 && value < 18446744073709551616.0) return graph::cast(number.node, dtype);
    raise("OverflowError", "Python int too large to convert to C long");
  }
  return cast_weak(graph::constant(Scalar::of_int(static_cast<int64_t>(value)), number.node->shape), dtype);
}

/// Of several operands, each with a dtype of its own: np.copysign of int8 and uint16 is float32, though both together are int32.
DType common_floating_type(std::span<const Operand> operands) {
  std::vector<Operand> floating(operands.begin(), operands.end());
  if (std::none_of(operands.begin(), operands.end(), [](const Operand& o) { return o.weak != 0; }))
    for (Operand& o : floating) o.node = graph::constant(Scalar::of_int(0).cast(floating_type(o.node->dtype, false)));
  return common_type(floating);
}

NodeRef apply(const Ufunc& f, std::span<const Operand> operands, std::optional<DType> dtype) {
  if (f.rule == Rule::inspection) return map1(f.op, operands[0].node);
  const DType common = dtype ? *dtype : f.rule == Rule::floating ? common_floating_type(operands) : common_type(operands);
  if (f.rule == Rule::comparison && is_integer(common)) {
    for (size_t k = 0; k < 2; ++k) {
      const auto* c = operands[k].weak == 'i' ? operands[k].node->as<graph::ConstantNode>() : nullptr;
      if (c && !operands[1 - k].weak && !fits(c->value.i, common)) return compare_out_of_range(f, operands[1 - k], c->value.i, k == 0);
    }
  }
  if (common == DType::boolean && (f.rule == Rule::number || f.rule == Rule::ordered || f.rule == Rule::bits)) {
    if (const auto op = boolean_operation(f)) {
      std::vector<NodeRef> nodes;
      for (const Operand& o : operands) nodes.push_back(graph::cast(o.node, DType::boolean));
      return *op == ScalarOp::count_ ? nodes[0] : graph::map(*op, std::move(nodes));
    }
  }
  const DType type =
      compute_type(f, f.op == ScalarOp::pow && std::string_view(f.name) == "float_power" ? promote(common, DType::f64) : common);
  if (f.rule == Rule::rounding && !is_float(type)) return graph::cast(operands[0].node, type);
  if (f.op == ScalarOp::neg && kind(type) == 'b') unsupported(f);
  std::vector<NodeRef> nodes;
  for (const Operand& o : operands)
    nodes.push_back(o.weak && f.rule != Rule::logical ? cast_weak(o.node, type) : graph::cast(o.node, type));
  if (f.op == ScalarOp::pow && is_integer(type)) {
    if (const auto* c = nodes[1]->as<graph::ConstantNode>(); c && is_signed(type) && c->value.i < 0)
      raise("ValueError", "Integers to negative integer powers are not allowed.");
  }
  if (is_complex(type)) {
    if (f.op == ScalarOp::pow)
      if (const auto* c = nodes[1]->as<graph::ConstantNode>();
          c && c->value.c.imag() == 0 && std::abs(c->value.c.real()) < 100 && std::trunc(c->value.c.real()) == c->value.c.real())
        return whole_power(nodes[0], static_cast<int>(c->value.c.real()), graph::broadcast_shapes({nodes[0]->shape, nodes[1]->shape}));
    const ScalarOp strict = f.op == ScalarOp::lt || f.op == ScalarOp::le ? ScalarOp::lt : ScalarOp::gt;
    if (f.op == ScalarOp::lt || f.op == ScalarOp::le || f.op == ScalarOp::gt || f.op == ScalarOp::ge)
      return lexicographic(strict, f.op, nodes[0], nodes[1]);
    if (f.op == ScalarOp::sign) return complex_direction(nodes[0]);
    if (f.op == ScalarOp::max || f.op == ScalarOp::min || f.op == ScalarOp::fmax || f.op == ScalarOp::fmin) {
      const bool larger = f.op == ScalarOp::max || f.op == ScalarOp::fmax;
      const bool keeps_nan = f.op == ScalarOp::max || f.op == ScalarOp::min;
      const NodeRef first = lexicographic(larger ? ScalarOp::gt : ScalarOp::lt, larger ? ScalarOp::ge : ScalarOp::le, nodes[0], nodes[1]);
      return graph::map(
          ScalarOp::select,
          {graph::map(ScalarOp::logical_or, {first, graph::map(ScalarOp::isnan, {nodes[keeps_nan ? 0 : 1]})}), nodes[0], nodes[1]});
    }
  }
  return graph::map(f.op, std::move(nodes));
}

NodeRef apply(std::string_view name, std::span<const Operand> operands) { return apply(*find_ufunc(name), operands); }

void check_integer_power(Interpreter& in, std::span<const Operand> operands) {
  const NodeRef& exponent = operands[1].node;
  const DType common = common_type(operands);
  if (!is_integer(common) || !is_signed(common) || !is_integer(exponent->dtype) || !is_signed(exponent->dtype) ||
      exponent->as<graph::ConstantNode>() || exponent->size() == 0)
    return;
  std::vector<int> axes;
  for (int k = 0; k < exponent->rank(); ++k) axes.push_back(k);
  const NodeRef negative = graph::map(ScalarOp::lt, {exponent, graph::constant(Scalar::of_int(0).cast(exponent->dtype))});
  if (Array(graph::reduce(graph::ReduceOp::any, negative, axes)).elements(in.engine())[0].i)
    raise("ValueError", "Integers to negative integer powers are not allowed.");
}

namespace {

constexpr std::string_view kCastings[] = {"no", "equiv", "safe", "same_kind", "unsafe"};

std::string dtype_repr(DType t) { return "dtype('" + std::string(name_of(t)) + "')"; }

[[noreturn]] void refuse_cast(std::string_view name, const std::string& what, DType from, DType to, Casting casting) {
  raise("UFuncTypeError", "Cannot cast ufunc '" + std::string(name) + "' " + what + " from " + dtype_repr(from) + " to " + dtype_repr(to) +
                              " with casting rule '" + std::string(kCastings[static_cast<size_t>(casting)]) + "'");
}

/// Whether dtype= names a type that the ufunc gives: np.sqrt has no loop of integers, np.equal none of anything but bool.
bool has_loop(const Ufunc& f, DType dtype) {
  const bool real = kind(dtype) != 'c';
  switch (f.rule) {
    case Rule::comparison:
    case Rule::logical:
    case Rule::inspection: return dtype == DType::boolean;
    case Rule::floating:
    case Rule::division: return is_float(dtype) || (f.complex && !real && f.op != ScalarOp::abs);
    case Rule::bits: return is_integer(dtype) || dtype == DType::boolean;
    case Rule::shift: return is_integer(dtype);
    default: return real || (f.complex && f.op != ScalarOp::abs);
  }
}

/// The casts of operands to the dtype that is computed in, under dtype= and casting=. Python's numbers have no dtype to lose anything of
/// but their kind.
void check_casts(const Ufunc& f, std::span<const Operand> operands, DType to, Casting casting) {
  for (size_t k = 0; k < operands.size(); ++k) {
    const Operand& o = operands[k];
    const DType from = o.node->dtype;
    const bool kept = o.weak ? can_cast(from, to, Casting::same_kind) || casting == Casting::unsafe : can_cast(from, to, casting);
    if (!kept) refuse_cast(f.name, operands.size() == 1 ? "input" : "input " + std::to_string(k), from, to, casting);
  }
}

}  // namespace

Casting casting_of(Interpreter& in, const Value& name) {
  const std::string given = str(in, name);
  const auto* found = std::find(std::begin(kCastings), std::end(kCastings), given);
  if (found == std::end(kCastings))
    raise("ValueError", "casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe' (got '" + given + "')");
  return static_cast<Casting>(found - std::begin(kCastings));
}

bool can_cast(DType from, DType to, Casting casting) {
  static constexpr std::string_view kOrder = "buifc";
  switch (casting) {
    case Casting::no:
    case Casting::equiv: return from == to;
    case Casting::safe: return promote(from, to) == to;
    case Casting::same_kind: return kOrder.find(kind(from)) <= kOrder.find(kind(to));
    case Casting::unsafe: break;
  }
  return true;
}

Value give(Interpreter& in, std::string_view name, const NodeRef& result, const Value& out, Casting casting) {
  const auto* tuple = out.as<Tuple>();
  const Value target = tuple && tuple->items.size() == 1 ? tuple->items[0] : out;
  if (target.is_none() || is_missing(target)) return wrap_reduced(in, result);
  auto* array = target.as<NdArray>();
  if (!array) raise("TypeError", "return arrays must be of ArrayType");
  if (!array->array.writable()) raise("ValueError", "output array is read-only");
  if (!can_cast(result->dtype, array->array.dtype(), casting)) refuse_cast(name, "output", result->dtype, array->array.dtype(), casting);
  const Shape shape = graph::broadcast_shapes({result->shape, array->array.shape()});
  if (shape != array->array.shape())
    raise("ValueError", "non-broadcastable output operand with shape " + graph::to_string(array->array.shape()) +
                            " doesn't match the broadcast shape " + graph::to_string(shape));
  array->array.assign(in.engine(), result);
  return target;
}

namespace {

template <int inputs>
Value call_ufunc(Interpreter& in, const Ufunc& f, std::span<Value> args) {
  std::vector<Operand> operands;
  for (int k = 0; k < inputs; ++k) operands.push_back(operand(in, args[static_cast<size_t>(k)]));
  const Value &out = args[inputs], &dtype = args[inputs + 1], &where = args[inputs + 2];
  const bool masked = !is_missing(where) && !(where.is_bool() && where.as_int());
  const Casting casting = is_missing(args[inputs + 3]) ? Casting::same_kind : casting_of(in, args[inputs + 3]);
  auto loop = to_dtype(in, dtype);
  if (loop) {
    if (!has_loop(f, *loop))
      raise("TypeError", std::string("No loop matching the specified signature and casting was found for ufunc ") + f.name);
    const bool of_bools = f.rule == Rule::comparison || f.rule == Rule::logical || f.rule == Rule::inspection;
    const bool of_complex = f.op == ScalarOp::abs && is_complex(operands[0].node->dtype);
    if (of_bools || of_complex)
      loop.reset();  // the dtype of the result, not of what is computed in
    else
      check_casts(f, operands, *loop, casting);
  } else if (casting < Casting::safe && inputs == 2 && f.rule != Rule::logical) {
    check_casts(f, operands, common_type(operands), casting);
  }
  if (f.op == ScalarOp::pow) check_integer_power(in, operands);
  NodeRef result = apply(f, operands, loop);
  if (out.is_none() || is_missing(out)) {
    if (masked)
      raise("NotImplementedError", std::string("np.") + f.name + "(…, where=…) without out leaves elements undefined and is refused",
            "give out=, or use np.where(condition, a, b)");
    return wrap(result);
  }
  const auto* tuple = out.as<Tuple>();
  const Value target = tuple && tuple->items.size() == 1 ? tuple->items[0] : out;
  if (masked && target.as<NdArray>()) {
    const Operand old{target.as<NdArray>()->node(), 0};
    const DType type = old.node->dtype;
    if (!can_cast(result->dtype, type, casting)) give(in, f.name, result, target, casting);  // raises
    result = graph::map(ScalarOp::select, {graph::cast(as_node(in, where), DType::boolean), graph::cast(result, type), old.node});
  }
  return give(in, f.name, result, target, casting);
}

/// NativeFunction has a plain function pointer: one instantiation a line of the table.
template <size_t index>
Value entry(Interpreter& in, std::span<Value> args) {
  const Ufunc& f = ufuncs()[index];
  return f.inputs == 1 ? call_ufunc<1>(in, f, args) : call_ufunc<2>(in, f, args);
}

constexpr size_t kUfuncs = 96;

template <size_t... index>
std::vector<NativeFunction> entries(std::index_sequence<index...>) {
  std::vector<NativeFunction> functions;
  ((index < ufuncs().size()
        ? functions.push_back({ufuncs()[index].name,
                               ufuncs()[index].inputs == 1 ? "x, /, out=None, *, dtype=None, where=True, casting=missing"
                                                           : "x1, x2, /, out=None, *, dtype=None, where=True, casting=missing",
                               &entry<index>, "Element-wise; operands are broadcast and promoted as NumPy 2 does."})
        : void()),
   ...);
  return functions;
}

}  // namespace

std::vector<NativeFunction> ufunc_functions() {
  if (ufuncs().size() > kUfuncs) throw Error("SystemError", "more ufuncs than kUfuncs", "", Blame::internal);
  return entries(std::make_index_sequence<kUfuncs>());
}

}  // namespace gasell::numpy
