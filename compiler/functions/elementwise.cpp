#include "compiler/functions/elementwise.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/functions/library.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

namespace {

const std::unordered_map<std::string_view, Elementwise>& numpy_table() {
  using O = ScalarOp;
  using R = Rule;
  static const std::unordered_map<std::string_view, Elementwise> kTable = {{"sqrt", {O::sqrt, R::floating}},
                                                                           {"cbrt", {O::cbrt, R::floating}},
                                                                           {"exp", {O::exp, R::floating}},
                                                                           {"exp2", {O::exp2, R::floating}},
                                                                           {"expm1", {O::expm1, R::floating}},
                                                                           {"log", {O::log, R::floating}},
                                                                           {"log2", {O::log2, R::floating}},
                                                                           {"log10", {O::log10, R::floating}},
                                                                           {"log1p", {O::log1p, R::floating}},
                                                                           {"hypot", {O::hypot, R::floating}},
                                                                           {"sin", {O::sin, R::floating}},
                                                                           {"cos", {O::cos, R::floating}},
                                                                           {"tan", {O::tan, R::floating}},
                                                                           {"arcsin", {O::asin, R::floating}},
                                                                           {"arccos", {O::acos, R::floating}},
                                                                           {"arctan", {O::atan, R::floating}},
                                                                           {"asin", {O::asin, R::floating}},
                                                                           {"acos", {O::acos, R::floating}},
                                                                           {"atan", {O::atan, R::floating}},
                                                                           {"arctan2", {O::atan2, R::floating}},
                                                                           {"atan2", {O::atan2, R::floating}},
                                                                           {"sinh", {O::sinh, R::floating}},
                                                                           {"cosh", {O::cosh, R::floating}},
                                                                           {"tanh", {O::tanh, R::floating}},
                                                                           {"arcsinh", {O::asinh, R::floating}},
                                                                           {"arccosh", {O::acosh, R::floating}},
                                                                           {"arctanh", {O::atanh, R::floating}},
                                                                           {"asinh", {O::asinh, R::floating}},
                                                                           {"acosh", {O::acosh, R::floating}},
                                                                           {"atanh", {O::atanh, R::floating}},
                                                                           {"floor", {O::floor, R::same}},
                                                                           {"ceil", {O::ceil, R::same}},
                                                                           {"trunc", {O::trunc, R::same}},
                                                                           {"rint", {O::rint, R::floating}},
                                                                           {"copysign", {O::copysign, R::floating}},
                                                                           {"nextafter", {O::nextafter, R::floating}},
                                                                           {"abs", {O::abs, R::same}},
                                                                           {"absolute", {O::abs, R::same}},
                                                                           {"fabs", {O::abs, R::floating}},
                                                                           {"negative", {O::neg, R::same}},
                                                                           {"sign", {O::sign, R::same}},
                                                                           {"conj", {O::conj, R::same}},
                                                                           {"conjugate", {O::conj, R::same}},
                                                                           {"minimum", {O::min, R::same}},
                                                                           {"maximum", {O::max, R::same}},
                                                                           {"fmin", {O::fmin, R::same}},
                                                                           {"fmax", {O::fmax, R::same}},
                                                                           {"fmod", {O::fmod, R::same}},
                                                                           {"bitwise_and", {O::bit_and, R::same}},
                                                                           {"bitwise_or", {O::bit_or, R::same}},
                                                                           {"bitwise_xor", {O::bit_xor, R::same}},
                                                                           {"invert", {O::bit_not, R::same}},
                                                                           {"left_shift", {O::shl, R::same}},
                                                                           {"right_shift", {O::shr, R::same}},
                                                                           {"isnan", {O::isnan, R::test}},
                                                                           {"isinf", {O::isinf, R::test}},
                                                                           {"isfinite", {O::isfinite, R::test}},
                                                                           {"signbit", {O::signbit, R::test}},
                                                                           {"logical_and", {O::logical_and, R::logical}},
                                                                           {"logical_or", {O::logical_or, R::logical}},
                                                                           {"logical_xor", {O::logical_xor, R::logical}},
                                                                           {"logical_not", {O::logical_not, R::logical}}};
  return kTable;
}

const std::unordered_map<std::string_view, Elementwise>& math_table() {
  using O = ScalarOp;
  using R = Rule;
  static const std::unordered_map<std::string_view, Elementwise> kTable = {
      {"sqrt", {O::sqrt, R::floating}},         {"cbrt", {O::cbrt, R::floating}},   {"exp", {O::exp, R::floating}},
      {"exp2", {O::exp2, R::floating}},         {"expm1", {O::expm1, R::floating}}, {"log2", {O::log2, R::floating}},
      {"log10", {O::log10, R::floating}},       {"log1p", {O::log1p, R::floating}}, {"sin", {O::sin, R::floating}},
      {"cos", {O::cos, R::floating}},           {"tan", {O::tan, R::floating}},     {"asin", {O::asin, R::floating}},
      {"acos", {O::acos, R::floating}},         {"atan", {O::atan, R::floating}},   {"atan2", {O::atan2, R::floating}},
      {"sinh", {O::sinh, R::floating}},         {"cosh", {O::cosh, R::floating}},   {"tanh", {O::tanh, R::floating}},
      {"asinh", {O::asinh, R::floating}},       {"acosh", {O::acosh, R::floating}}, {"atanh", {O::atanh, R::floating}},
      {"fabs", {O::abs, R::floating}},          {"hypot", {O::hypot, R::floating}}, {"fmod", {O::fmod, R::floating}},
      {"copysign", {O::copysign, R::floating}}, {"floor", {O::floor, R::whole}},    {"ceil", {O::ceil, R::whole}},
      {"trunc", {O::trunc, R::whole}},          {"isnan", {O::isnan, R::test}},     {"isinf", {O::isinf, R::test}},
      {"isfinite", {O::isfinite, R::test}},     {"pow", {O::pow, R::floating}}};
  return kTable;
}

bool is_extreme(ScalarOp op) { return op == ScalarOp::min || op == ScalarOp::max || op == ScalarOp::fmin || op == ScalarOp::fmax; }
/// Operations that leave booleans as they are.
bool keeps_booleans(ScalarOp op) { return op == ScalarOp::abs || op == ScalarOp::floor || op == ScalarOp::ceil || op == ScalarOp::trunc; }

/// The dtype in which it is computed; one that its operation does not have is the caller's to refuse.
DType computed_in(const Elementwise& e, std::span<const DType> types, DType common, bool arrays) {
  switch (e.rule) {
    case Rule::test: return common;
    case Rule::logical: return DType::boolean;
    case Rule::whole: return is_whole(common) ? DType::f64 : common;
    case Rule::floating:
      if (!arrays) return is_whole(common) ? DType::f64 : common;  // math's functions have no loops
      return first_loop(types, is_float_loop).value_or(common);
    case Rule::same: break;
  }
  const auto is_loop = [&](DType d) {
    if (is_complex(d) && is_extreme(e.op)) return true;
    if (d == DType::boolean && e.op == ScalarOp::conj) return false;
    return accepts(e.op, d) || (d == DType::boolean && keeps_booleans(e.op));
  };
  return first_loop(types, is_loop).value_or(common);
}

/// NumPy's order of complex numbers: by real parts, then imaginary ones; of numbers with NaN the first, or, for fmin and fmax, the other.
ExprRef complex_extreme(Lowering& l, ScalarOp op, const ExprRef& given_a, const ExprRef& given_b) {
  const ExprRef a = l.code().bind(given_a), b = l.code().bind(given_b);
  const auto is_nan = [](const ExprRef& z) { return ir::op(ScalarOp::isnan, {z}); };
  const bool largest = op == ScalarOp::max || op == ScalarOp::fmax, skips_nan = op == ScalarOp::fmin || op == ScalarOp::fmax;
  const ExprRef in_order = l.compare_numbers(largest ? ast::CompareOp::ge : ast::CompareOp::le, a, b);
  const ExprRef at_once = is_nan(skips_nan ? b : a), never = is_nan(skips_nan ? a : b);
  return select(both(ScalarOp::logical_or, at_once, both(ScalarOp::logical_and, negation(never), in_order)), a, b);
}

}  // namespace

std::optional<DType> first_loop(std::span<const DType> operands, const std::function<bool(DType)>& is_loop) {
  static constexpr DType kLoops[] = {DType::boolean, DType::i8,  DType::u8,  DType::i16, DType::u16, DType::i32, DType::u32,
                                     DType::i64,     DType::u64, DType::f32, DType::f64, DType::c64, DType::c128};
  const auto is_fractional = [](DType d) { return !is_whole(d); };
  const bool mixed =
      std::any_of(operands.begin(), operands.end(), is_integer) && std::any_of(operands.begin(), operands.end(), is_fractional);
  const auto fits = [&](DType from, DType loop) {
    return (mixed && is_integer(from) && is_fractional(loop)) || promote(from, loop) == loop;
  };
  for (const DType loop : kLoops)
    if (is_loop(loop) && std::all_of(operands.begin(), operands.end(), [&](DType d) { return fits(d, loop); })) return loop;
  return {};
}

void need_same_kind(Lowering& l, DType result, DType out, Span at) {
  static constexpr std::string_view kKinds = "buifc";
  if (kKinds.find(kind(result)) > kKinds.find(kind(out)))
    l.fail(at, "a result of type " + std::string(name_of(result)) + " cannot be written into an array of " + std::string(name_of(out)),
           "give an array of that type, and convert it with .astype(...)");
}

Value apply_elementwise(Lowering& l, const CallSite& site, const Elementwise& e, bool arrays) {
  const int arity = info(e.op).arity;
  const Value* out = nullptr;
  if (site.args.size() == static_cast<size_t>(arity) + 1 && arrays) out = &site.args.back();
  if (const Value* named = site.keyword("out"); named && arrays) out = named;
  if (site.args.size() != static_cast<size_t>(arity) + (out && !site.keyword("out") ? 1 : 0))
    l.fail(site.span, site.name + " takes " + std::to_string(arity) + (arity == 1 ? " argument" : " arguments") + ", and " +
                          std::to_string(site.args.size()) + " were given");
  if (out && out->type.is_none()) out = nullptr;
  if (out && !out->type.is_array())
    l.fail(out->span, site.name + " writes into an array where it is given one more argument, and this is " + describe(out->type));
  const std::vector<Value> operands(site.args.begin(), site.args.begin() + arity);
  std::vector<DType> types;
  bool any_array = false;
  for (const Value& v : operands) {
    if (!v.type.is_array() && !v.type.is_scalar() && v.type.kind != Kind::optional)
      l.fail(v.span, site.name + " needs a number" + (arrays ? " or an array" : "") + ", and this is " + describe(v.type));
    if (v.type.is_array() && !arrays)
      l.fail(v.span, site.name + " needs a number, and this is " + describe(v.type),
             "numpy has the function for arrays: np." + site.name.substr(site.name.find('.') + 1));
    any_array = any_array || v.type.is_array();
    if (v.type.is_scalar() && is_complex(v.type.dtype) && site.name.starts_with("math."))
      l.fail(v.span, site.name + " is of real numbers, and this is " + describe(v.type),
             "np." + site.name.substr(5) + " takes complex numbers");
    types.push_back(v.type.kind == Kind::optional ? v.type.items[0].dtype : v.type.dtype);
  }
  DType common = types[0];
  for (const DType d : types) common = promote(common, d);
  const DType in = computed_in(e, types, common, arrays);
  const bool identity = in == DType::boolean && !accepts(e.op, in);
  const bool extreme = is_complex(in) && is_extreme(e.op);
  const bool of_magnitudes = e.op == ScalarOp::abs && e.rule == Rule::floating;  // fabs
  if ((!identity && !extreme && !accepts(e.op, in)) || (is_complex(in) && of_magnitudes))
    l.fail(site.span, site.name + " is not defined for " + std::string(name_of(in)));
  DType result = identity || extreme ? in : result_type(e.op, in);
  auto one = [&l, op = e.op, in, identity, extreme](const std::vector<ExprRef>& parts) {
    if (identity) return ir::cast(parts[0], in);
    if (extreme) return complex_extreme(l, op, ir::cast(parts[0], in), ir::cast(parts[1], in));
    std::vector<ExprRef> args;
    for (const ExprRef& p : parts) args.push_back(ir::cast(p, in));
    return ir::op(op, args);
  };
  if (!any_array) {
    std::vector<ExprRef> parts;
    for (const Value& v : operands) parts.push_back(l.scalar(v, site.name.c_str()));
    if (e.rule == Rule::whole && is_whole(common)) return scalar_value(ir::cast(parts[0], DType::i64));
    const ExprRef r = one(parts);
    return scalar_value(e.rule == Rule::whole ? ir::cast(r, DType::i64) : l.code().bind(r, "f"));
  }
  const Value v = l.elementwise(operands, result, one, site.span);
  if (!out) return v;
  need_same_kind(l, result, out->type.dtype, site.span);
  l.assign_elements(*out, v, site.span);
  return *out;
}

namespace {

template <const std::unordered_map<std::string_view, Elementwise>& (*table)(), bool arrays>
Value from_table(Lowering& l, const CallSite& site) {
  const Elementwise& e = table().at(std::string_view(site.name).substr(site.name.rfind('.') + 1));
  const bool one = info(e.op).arity == 1;
  const char* const parameters = !arrays ? (one ? "x" : "x, y")
                                 : one   ? "x: operand, out: out = None"
                                         : "x1: operand, x2: operand, out: out = None";
  return apply_elementwise(l, checked(l, site, parameters), e, arrays);
}

/// cmath's functions are NumPy's of one complex number.
Value of_complex(Lowering& l, const CallSite& site) {
  const Elementwise& e = numpy_table().at(std::string_view(site.name).substr(site.name.rfind('.') + 1));
  CallSite one = checked(l, site, "z: number");
  if (e.rule != Rule::test && !is_complex(one.args[0].type.dtype)) one.args[0] = scalar_value(l.number(one.args[0], DType::c128));
  return apply_elementwise(l, one, e, true);
}

}  // namespace

LibraryFunction elementwise_function(const std::string& path) {
  const auto dot = path.rfind('.');
  if (dot == std::string::npos) return nullptr;
  const std::string_view module = std::string_view(path).substr(0, dot), name = std::string_view(path).substr(dot + 1);
  if (module == "numpy" && numpy_table().count(name)) return from_table<numpy_table, true>;
  if (module == "math" && math_table().count(name)) return from_table<math_table, false>;
  static const std::unordered_set<std::string_view> kComplex = {"sqrt",  "exp",   "sin",   "cos",   "tan",     "asin",
                                                                "acos",  "atan",  "sinh",  "cosh",  "tanh",    "asinh",
                                                                "acosh", "atanh", "isnan", "isinf", "isfinite"};
  if (module == "cmath" && kComplex.count(name)) return of_complex;
  return nullptr;
}

}  // namespace gasell::functions
