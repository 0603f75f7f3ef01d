#include "compiler/functions/elementwise.h"

#include <unordered_map>

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

}  // namespace

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
  std::optional<DType> common;
  bool any_array = false, narrow = false;  // narrow: integers that fit f32
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
    const DType d = v.type.kind == Kind::optional ? v.type.items[0].dtype : v.type.dtype;
    common = common ? promote(*common, d) : d;
    if (v.type.is_array() && is_whole(d) && size_of(d) < 4) narrow = true;
  }
  DType in = *common;
  if (e.rule == Rule::floating || e.rule == Rule::whole) in = is_whole(in) ? (narrow && size_of(in) < 4 ? DType::f32 : DType::f64) : in;
  if (e.rule == Rule::logical) in = DType::boolean;
  if (e.rule == Rule::same && in == DType::boolean && !accepts(e.op, in))
    in = e.op == ScalarOp::abs || e.op == ScalarOp::floor || e.op == ScalarOp::ceil || e.op == ScalarOp::trunc ? in : DType::i8;
  const bool identity = in == DType::boolean && !accepts(e.op, in);
  if (!identity && !accepts(e.op, in)) l.fail(site.span, site.name + " is not defined for " + std::string(name_of(in)));
  DType result = identity ? in : result_type(e.op, in);
  auto one = [op = e.op, in, identity](const std::vector<ExprRef>& parts) {
    if (identity) return ir::cast(parts[0], in);
    std::vector<ExprRef> args;
    for (const ExprRef& p : parts) args.push_back(ir::cast(p, in));
    return ir::op(op, args);
  };
  if (!any_array) {
    std::vector<ExprRef> parts;
    for (const Value& v : operands) parts.push_back(l.scalar(v, site.name.c_str()));
    if (e.rule == Rule::whole && is_whole(*common)) return scalar_value(ir::cast(parts[0], DType::i64));
    const ExprRef r = one(parts);
    return scalar_value(e.rule == Rule::whole ? ir::cast(r, DType::i64) : l.code().bind(r, "f"));
  }
  const Value v = l.elementwise(operands, result, one, site.span);
  if (!out) return v;
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

}  // namespace

LibraryFunction elementwise_function(const std::string& path) {
  const auto dot = path.rfind('.');
  if (dot == std::string::npos) return nullptr;
  const std::string_view module = std::string_view(path).substr(0, dot), name = std::string_view(path).substr(dot + 1);
  if (module == "numpy" && numpy_table().count(name)) return from_table<numpy_table, true>;
  if (module == "math" && math_table().count(name)) return from_table<math_table, false>;
  if (module == "cmath" && numpy_table().count(name)) return from_table<numpy_table, true>;
  return nullptr;
}

}  // namespace gasell::functions
