#include "stdlib/numpy/ufunc.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "lang/diagnostic.h"

namespace gasell::numpy {
namespace {

/// What NumPy does to booleans: + is or, * is and.
std::optional<ScalarOp> boolean_operation(ScalarOp op) {
  switch (op) {
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

/// The comparison of an array with a Python int that its dtype does not hold; null where that is not asked.
NodeRef beyond_range(const Ufunc& f, const Loop& loop, std::span<const Operand> operands) {
  if (f.loops != LoopClass::comparison || !is_integer(loop.in[0])) return {};
  for (size_t k = 0; k < 2; ++k) {
    const auto* c = operands[k].weak == 'i' ? operands[k].node->as<graph::ConstantNode>() : nullptr;
    if (c && !operands[1 - k].weak && !fits(c->value.i, loop.in[k])) return compare_out_of_range(f, operands[1 - k], c->value.i, k == 0);
  }
  return {};
}

/// int64 beside uint64, exactly: what is negative is less than all that the other dtype holds.
NodeRef compare_signs(ScalarOp op, const NodeRef& a, const NodeRef& b) {
  const bool swapped = is_signed(b->dtype);
  const NodeRef& with_sign = swapped ? b : a;
  const bool less = op == ScalarOp::lt || op == ScalarOp::le, greater = op == ScalarOp::gt || op == ScalarOp::ge;
  const NodeRef negative = graph::map(ScalarOp::lt, {with_sign, graph::constant(Scalar::of_int(0))});
  const NodeRef decided = graph::constant(Scalar::of_bool(op == ScalarOp::ne || (swapped ? greater : less)));
  return graph::map(ScalarOp::select, {negative, decided, graph::map(op, {graph::cast(a, DType::u64), graph::cast(b, DType::u64)})});
}

/// An operand in a dtype of a loop. OverflowError for a Python int that does not fit.
NodeRef in_loop(const Ufunc& f, const Operand& o, DType dtype) {
  const bool weak = o.weak && f.loops != LoopClass::logic && f.loops != LoopClass::negated;
  return graph::cast(weak ? cast_weak(o.node, dtype) : graph::cast(o.node, dtype), arithmetic_type(dtype));
}

std::vector<NodeRef> in_loop(const Ufunc& f, const Loop& loop, std::span<const Operand> operands) {
  std::vector<NodeRef> nodes;
  nodes.reserve(operands.size());
  for (size_t k = 0; k < operands.size(); ++k) nodes.push_back(in_loop(f, operands[k], loop.in[k]));
  return nodes;
}

/// The result of a ufunc that is a scalar operation, of operands in the dtypes of a loop.
NodeRef compute(const Ufunc& f, const Loop& loop, std::vector<NodeRef> nodes) {
  if (loop.in[0] == DType::boolean) {
    if (f.op == ScalarOp::abs) return nodes[0];
    if (const auto op = boolean_operation(f.op)) return graph::map(*op, std::move(nodes));
  }
  if (f.loops == LoopClass::rounding && !is_float(loop.in[0])) return nodes[0];
  if (f.op == ScalarOp::pow && is_signed(loop.in[1]))
    if (const auto* c = nodes[1]->as<graph::ConstantNode>(); c && c->value.i < 0 && nodes[0]->size() > 0)
      raise("ValueError", "Integers to negative integer powers are not allowed.");
  if (f.loops == LoopClass::comparison && loop.in[0] != loop.in[1]) return compare_signs(f.op, nodes[0], nodes[1]);
  if (loop.in[0] == DType::f16 && f.op == ScalarOp::nextafter) return compositions::half_neighbour(nodes[0], nodes[1]);
  if (is_complex(loop.in[0]))
    if (NodeRef result = complex_operation(f.op, nodes)) return result;
  return graph::map(f.op, std::move(nodes));
}

/// Whether an integer of a type may be negative once it is one of another type, which has a sign.
bool may_be_negative(DType from, DType to) { return kind(from) != 'u' || gasell::size_of(from) >= gasell::size_of(to); }

/// ValueError for a negative exponent, where there is something to its power; constants are looked at by compute().
void refuse_negative(Interpreter& in, const NodeRef& base, const NodeRef& exponent) {
  if (exponent->as<graph::ConstantNode>() || exponent->size() == 0 || base->size() == 0) return;
  std::vector<int> axes;
  for (int k = 0; k < exponent->rank(); ++k) axes.push_back(k);
  const NodeRef negative = graph::map(ScalarOp::lt, {exponent, graph::constant(Scalar::of_int(0).cast(exponent->dtype))});
  if (Array(graph::reduce(graph::ReduceOp::any, negative, axes)).elements(in.engine())[0].i)
    raise("ValueError", "Integers to negative integer powers are not allowed.");
}

}  // namespace

bool fits(int64_t v, DType t) { return Scalar::of_int(v).cast(t).i == v && !(t == DType::u64 && v < 0); }

const std::vector<Ufunc>& ufuncs() {
  static const std::vector<Ufunc> kTable = {
      {"add", LoopClass::sum, ScalarOp::add},
      {"subtract", LoopClass::subtraction, ScalarOp::sub},
      {"multiply", LoopClass::sum, ScalarOp::mul},
      {"divide", LoopClass::division, ScalarOp::div},
      {"floor_divide", LoopClass::quotient, ScalarOp::floordiv},
      {"remainder", LoopClass::quotient, ScalarOp::mod},
      {"fmod", LoopClass::quotient, ScalarOp::fmod},
      {"power", LoopClass::power, ScalarOp::pow},
      {"float_power", LoopClass::float_power, ScalarOp::pow},
      {"negative", LoopClass::negation, ScalarOp::neg},
      {"absolute", LoopClass::absolute, ScalarOp::abs},
      {"fabs", LoopClass::real, ScalarOp::abs},
      {"sign", LoopClass::sign, ScalarOp::sign},
      {"maximum", LoopClass::extreme, ScalarOp::max},
      {"minimum", LoopClass::extreme, ScalarOp::min},
      {"fmax", LoopClass::extreme, ScalarOp::fmax},
      {"fmin", LoopClass::extreme, ScalarOp::fmin},
      {"sqrt", LoopClass::inexact, ScalarOp::sqrt},
      {"cbrt", LoopClass::real, ScalarOp::cbrt},
      {"exp", LoopClass::inexact, ScalarOp::exp},
      {"exp2", LoopClass::inexact, ScalarOp::exp2},
      {"expm1", LoopClass::inexact, ScalarOp::expm1},
      {"log", LoopClass::inexact, ScalarOp::log},
      {"log2", LoopClass::inexact, ScalarOp::log2},
      {"log10", LoopClass::inexact, ScalarOp::log10},
      {"log1p", LoopClass::inexact, ScalarOp::log1p},
      {"hypot", LoopClass::reals, ScalarOp::hypot},
      {"sin", LoopClass::inexact, ScalarOp::sin},
      {"cos", LoopClass::inexact, ScalarOp::cos},
      {"tan", LoopClass::inexact, ScalarOp::tan},
      {"arcsin", LoopClass::inexact, ScalarOp::asin},
      {"arccos", LoopClass::inexact, ScalarOp::acos},
      {"arctan", LoopClass::inexact, ScalarOp::atan},
      {"arctan2", LoopClass::reals, ScalarOp::atan2},
      {"sinh", LoopClass::inexact, ScalarOp::sinh},
      {"cosh", LoopClass::inexact, ScalarOp::cosh},
      {"tanh", LoopClass::inexact, ScalarOp::tanh},
      {"arcsinh", LoopClass::inexact, ScalarOp::asinh},
      {"arccosh", LoopClass::inexact, ScalarOp::acosh},
      {"arctanh", LoopClass::inexact, ScalarOp::atanh},
      {"floor", LoopClass::rounding, ScalarOp::floor},
      {"ceil", LoopClass::rounding, ScalarOp::ceil},
      {"trunc", LoopClass::rounding, ScalarOp::trunc},
      {"rint", LoopClass::inexact, ScalarOp::rint},
      {"isnan", LoopClass::inspection, ScalarOp::isnan},
      {"isinf", LoopClass::inspection, ScalarOp::isinf},
      {"isfinite", LoopClass::inspection, ScalarOp::isfinite},
      {"signbit", LoopClass::sign_bit, ScalarOp::signbit},
      {"copysign", LoopClass::reals, ScalarOp::copysign},
      {"nextafter", LoopClass::reals, ScalarOp::nextafter},
      {"equal", LoopClass::comparison, ScalarOp::eq},
      {"not_equal", LoopClass::comparison, ScalarOp::ne},
      {"less", LoopClass::comparison, ScalarOp::lt},
      {"less_equal", LoopClass::comparison, ScalarOp::le},
      {"greater", LoopClass::comparison, ScalarOp::gt},
      {"greater_equal", LoopClass::comparison, ScalarOp::ge},
      {"logical_and", LoopClass::logic, ScalarOp::logical_and},
      {"logical_or", LoopClass::logic, ScalarOp::logical_or},
      {"logical_xor", LoopClass::logic, ScalarOp::logical_xor},
      {"logical_not", LoopClass::negated, ScalarOp::logical_not},
      {"bitwise_and", LoopClass::bits, ScalarOp::bit_and},
      {"bitwise_or", LoopClass::bits, ScalarOp::bit_or},
      {"bitwise_xor", LoopClass::bits, ScalarOp::bit_xor},
      {"invert", LoopClass::inversion, ScalarOp::bit_not},
      {"left_shift", LoopClass::shift, ScalarOp::shl},
      {"right_shift", LoopClass::shift, ScalarOp::shr},
      {"conjugate", LoopClass::number, ScalarOp::conj},
      {"positive", LoopClass::sign, ScalarOp::count_, compositions::positive},
      {"square", LoopClass::number, ScalarOp::count_, compositions::square},
      {"reciprocal", LoopClass::number, ScalarOp::count_, compositions::reciprocal},
      {"degrees", LoopClass::real, ScalarOp::count_, compositions::degrees},
      {"rad2deg", LoopClass::real, ScalarOp::count_, compositions::degrees},
      {"radians", LoopClass::real, ScalarOp::count_, compositions::radians},
      {"deg2rad", LoopClass::real, ScalarOp::count_, compositions::radians},
      {"heaviside", LoopClass::reals, ScalarOp::count_, compositions::heaviside},
      {"logaddexp", LoopClass::reals, ScalarOp::count_, compositions::logaddexp},
      {"logaddexp2", LoopClass::reals, ScalarOp::count_, compositions::logaddexp2},
      {"spacing", LoopClass::real, ScalarOp::count_, compositions::spacing},
      {"bitwise_count", LoopClass::count, ScalarOp::count_, compositions::bitwise_count},
      {"gcd", LoopClass::divisor, ScalarOp::count_, compositions::gcd},
      {"lcm", LoopClass::divisor, ScalarOp::count_, compositions::lcm},
      {"ldexp", LoopClass::scaling, ScalarOp::count_, compositions::ldexp},
      {"frexp", LoopClass::splitting, ScalarOp::count_, compositions::frexp},
      {"modf", LoopClass::parts, ScalarOp::count_, compositions::modf},
      {"divmod", LoopClass::remainders, ScalarOp::count_, compositions::divmod},
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
  // Whole numbers after the others, each by itself: of uint16, int8 and float32 the result is float32, though uint16 and int8 alone give
  // int32, which float32 does not hold.
  for (const bool whole : {false, true})
    for (const Operand& o : operands)
      if (!o.weak && (is_integer(o.node->dtype) || o.node->dtype == DType::boolean) == whole)
        strong = strong ? promote(*strong, o.node->dtype) : o.node->dtype;
  for (const Operand& o : operands)
    if (o.weak && (!weak || kOrder.find(o.weak) > kOrder.find(weak))) weak = o.weak;
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

namespace {

/// The results of a ufunc that is composed of operations, of operands in the dtypes of a loop.
void compose(Interpreter* in, const Ufunc& f, const Loop& loop, std::span<const NodeRef> nodes, std::span<NodeRef> results) {
  if (loop.in[0] == DType::f16 && f.composition == compositions::spacing)
    results[0] = compositions::half_spacing(nodes[0]);
  else
    f.composition(in, nodes, results);
  for (size_t k = 0; k < results.size(); ++k) results[k] = graph::cast(results[k], loop.out[k]);
}

}  // namespace

NodeRef apply(const Ufunc& f, std::span<const Operand> operands) {
  const Loop& loop = resolve(f.name, f.loops, operands);
  if (NodeRef decided = beyond_range(f, loop, operands)) return decided;
  std::vector<NodeRef> nodes = in_loop(f, loop, operands);
  if (!f.composition) return graph::cast(compute(f, loop, std::move(nodes)), loop.out[0]);
  NodeRef result;
  compose(nullptr, f, loop, nodes, {&result, 1});
  return result;
}

NodeRef apply(std::string_view name, std::span<const Operand> operands) { return apply(*find_ufunc(name), operands); }

void apply(Interpreter& in, const Ufunc& f, const Loop& loop, std::span<const Operand> operands, std::span<NodeRef> results) {
  results[0] = beyond_range(f, loop, operands);
  if (results[0]) return;
  std::vector<NodeRef> nodes = in_loop(f, loop, operands);
  if (f.composition) return compose(&in, f, loop, nodes, results);
  if (f.op == ScalarOp::pow && is_signed(loop.in[1]) && may_be_negative(operands[1].node->dtype, loop.in[1]))
    refuse_negative(in, nodes[0], nodes[1]);
  results[0] = graph::cast(compute(f, loop, std::move(nodes)), loop.out[0]);
}

void check_integer_power(Interpreter& in, std::span<const Operand> operands) {
  if (is_signed(operands[1].node->dtype) && is_signed(common_type(operands))) refuse_negative(in, operands[0].node, operands[1].node);
}

}  // namespace gasell::numpy
