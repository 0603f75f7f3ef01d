// Functions of numbers in compiled functions: builtins, math, cmath and NumPy's elementwise functions, which take arrays, too.
#include <cmath>
#include <limits>
#include <unordered_map>

#include "compiler/functions/library.h"
#include "compiler/functions/lowering.h"

namespace gasell::functions {

using ir::constant_i64;
using Kind = Type::Kind;

namespace {

ExprRef both(ScalarOp op, ExprRef a, ExprRef b) { return ir::op(op, {std::move(a), std::move(b)}); }

bool is_whole(DType d) { return is_integer(d) || d == DType::boolean; }

/// How an elementwise function treats the dtypes of its operands.
enum class Rule : uint8_t {
  floating,  // integers become f64 (small ones f64 too, as Numba has it); floats and complex stay
  same,      // computed in the common dtype
  whole,     // math.floor: the result is i64
  logical,   // of truth values
  test,      // isnan: boolean of a number
};

struct Elementwise {
  ScalarOp op;
  Rule rule;
};

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

Value apply(Lowering& l, const CallSite& site, const Elementwise& e, bool arrays) {
  const int arity = info(e.op).arity;
  const Value* out = nullptr;
  if (site.args.size() == static_cast<size_t>(arity) + 1 && arrays) out = &site.args.back();
  if (const Value* named = site.keyword("out"); named && arrays) out = named;
  if (site.args.size() != static_cast<size_t>(arity) + (out && !site.keyword("out") ? 1 : 0))
    l.fail(site.span, site.name + " takes " + std::to_string(arity) + (arity == 1 ? " argument" : " arguments") + ", and " +
                          std::to_string(site.args.size()) + " were given");
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

// ---- builtins ----
Value len(Lowering& l, const CallSite& site) {
  if (site.args.size() != 1) l.fail(site.span, "len takes one argument");
  const Value& v = site.args[0];
  if (v.type.is_tuple()) return scalar_value(constant_i64(static_cast<int64_t>(v.items.size())));
  if (v.type.kind == Kind::text) return scalar_value(constant_i64(static_cast<int64_t>(v.type.text.size())));
  if (!v.type.is_array() || v.type.rank == 0) l.fail(v.span, describe(v.type) + " has no length");
  return scalar_value(v.extents()[0]);
}

Value absolute(Lowering& l, const CallSite& site) {
  if (site.args.size() != 1) l.fail(site.span, "abs takes one argument");
  Value v = site.args[0];
  if (v.type.is_scalar() && is_whole(v.type.dtype))
    v = scalar_value(ir::cast(v.scalar, kind(v.type.dtype) == 'u' ? DType::u64 : DType::i64));
  CallSite inner{site.span, "abs", {v}, {}};
  return apply(l, inner, {ScalarOp::abs, Rule::same}, true);
}

Value extreme(Lowering& l, const CallSite& site, ast::CompareOp op, const char* name) {
  std::vector<Value> items = site.args;
  if (items.size() == 1 && items[0].type.is_tuple())
    items = items[0].items;
  else if (items.size() == 1 && items[0].type.is_array())
    return library_method(name)(l, site);
  if (items.empty()) l.fail(site.span, std::string(name) + " of nothing");
  DType type = DType::boolean;
  for (size_t k = 0; k < items.size(); ++k) {
    const DType d = l.scalar(items[k], name)->type;
    type = k ? unify(Type::of(type), Type::of(d))->dtype : d;
  }
  ExprRef best = l.code().bind(ir::cast(l.scalar(items[0], name), type));
  // As Python's: a later item wins only where it is strictly better, so NaN stays where it stands.
  for (size_t k = 1; k < items.size(); ++k) {
    const ExprRef e = l.code().bind(ir::cast(l.scalar(items[k], name), type));
    best = l.code().bind(ir::op(ScalarOp::select, {l.compare_numbers(op, e, best), e, best}));
  }
  return scalar_value(best);
}
Value minimum(Lowering& l, const CallSite& site) { return extreme(l, site, ast::CompareOp::lt, "min"); }
Value maximum(Lowering& l, const CallSite& site) { return extreme(l, site, ast::CompareOp::gt, "max"); }

Value round_number(Lowering& l, const CallSite& site) {
  if (site.args.empty() || site.args.size() > 2) l.fail(site.span, "round takes a number, and how many digits");
  const ExprRef x = l.code().bind(l.scalar(site.args[0], "round"));
  if (site.args.size() == 1)
    return scalar_value(is_whole(x->type) ? ir::cast(x, DType::i64) : ir::cast(ir::op(ScalarOp::rint, {x}), DType::i64));
  const ExprRef digits = l.index_number(site.args[1], "round");
  if (is_whole(x->type)) return scalar_value(ir::cast(x, DType::i64));
  const DType type = x->type;
  const ExprRef scale = l.code().bind(both(ScalarOp::pow, ir::constant(Scalar::of_float(10, type)), ir::cast(digits, type)), "scale");
  const ExprRef rounded = both(ScalarOp::div, ir::op(ScalarOp::rint, {both(ScalarOp::mul, x, scale)}), scale);
  return scalar_value(ir::op(ScalarOp::select, {ir::op(ScalarOp::isfinite, {x}), rounded, x}));
}

Value divmod(Lowering& l, const CallSite& site) {
  if (site.args.size() != 2) l.fail(site.span, "divmod takes two numbers");
  return tuple_value({l.binary(ast::BinaryOp::floordiv, site.args[0], site.args[1], site.span),
                      l.binary(ast::BinaryOp::mod, site.args[0], site.args[1], site.span)});
}

Value power(Lowering& l, const CallSite& site) {
  if (site.args.size() != 2) l.fail(site.span, "pow takes two numbers");
  return l.binary(ast::BinaryOp::pow, site.args[0], site.args[1], site.span);
}

Value complex_number(Lowering& l, const CallSite& site) {
  if (site.args.empty() || site.args.size() > 2) l.fail(site.span, "complex takes one or two numbers");
  const ExprRef re = l.scalar(site.args[0], "complex");
  if (site.args.size() == 1) return scalar_value(ir::cast(re, DType::c128));
  return scalar_value(both(ScalarOp::make_complex, ir::cast(re, DType::f64), ir::cast(l.scalar(site.args[1], "complex"), DType::f64)));
}

// ---- math ----
Value logarithm(Lowering& l, const CallSite& site) {
  if (site.args.empty() || site.args.size() > 2) l.fail(site.span, "math.log takes a number, and a base");
  CallSite first{site.span, "math.log", {site.args[0]}, {}};
  const Value a = apply(l, first, {ScalarOp::log, Rule::floating}, false);
  if (site.args.size() == 1) return a;
  CallSite second{site.span, "math.log", {site.args[1]}, {}};
  return scalar_value(both(ScalarOp::div, a.scalar, apply(l, second, {ScalarOp::log, Rule::floating}, false).scalar));
}

Value scaled(Lowering& l, const CallSite& site, double factor) {
  if (site.args.size() != 1) l.fail(site.span, site.name + " takes one argument");
  const Value f = scalar_value(ir::constant(Scalar::of_float(factor)));
  return l.binary(ast::BinaryOp::mul, site.args[0], f, site.span);
}
Value degrees(Lowering& l, const CallSite& site) { return scaled(l, site, 180 / M_PI); }
Value radians(Lowering& l, const CallSite& site) { return scaled(l, site, M_PI / 180); }

/// Functions of the C library that the loop IR has no operation for.
Value c_function(Lowering& l, const CallSite& site) {
  const std::string name = site.name.substr(site.name.rfind('.') + 1);
  if (site.args.size() != 1) l.fail(site.span, site.name + " takes one number");
  const std::string result = l.code().fresh(name);
  l.code().emit(
      ir::call(result, DType::f64, name == "gamma" ? "tgamma" : name, {ir::cast(l.scalar(site.args[0], site.name.c_str()), DType::f64)}));
  return scalar_value(ir::variable(result, DType::f64));
}

Value angle(Lowering& l, const CallSite& site) {
  const Value& v = site.args.at(0);
  const DType real = is_whole(v.type.dtype) ? DType::f64 : real_of(v.type.dtype);
  return l.elementwise(
      {v}, real,
      [real](const std::vector<ExprRef>& p) {
        if (!is_complex(p[0]->type)) return both(ScalarOp::atan2, ir::constant(Scalar::of_int(0).cast(real)), ir::cast(p[0], real));
        return both(ScalarOp::atan2, ir::op(ScalarOp::imag, {p[0]}), ir::op(ScalarOp::real, {p[0]}));
      },
      site.span);
}

Value greatest_divisor(Lowering& l, const CallSite& site) {
  if (site.args.size() != 2) l.fail(site.span, "math.gcd takes two integers");
  const std::string a = l.code().fresh("a"), b = l.code().fresh("b");
  auto start = [&](const std::string& name, const Value& v) {
    l.code().emit(ir::var(name, ir::op(ScalarOp::abs, {l.index_number(v, "math.gcd")})));
  };
  start(a, site.args[0]), start(b, site.args[1]);
  const ExprRef x = ir::variable(a, DType::i64), y = ir::variable(b, DType::i64);
  l.code().open();
  const ExprRef rest = l.code().bind(x % y, "rest");
  l.code().emit(ir::assign(a, y));
  l.code().emit(ir::assign(b, rest));
  ir::Body body = l.code().close();
  l.code().emit(ir::while_(both(ScalarOp::ne, y, constant_i64(0)), std::move(body)));
  return scalar_value(l.code().snapshot(a, DType::i64, "gcd"));
}

// ---- NumPy ----
template <ast::BinaryOp op>
Value operation(Lowering& l, const CallSite& site) {
  const Value* out = site.argument(2, "out");
  if (site.args.size() < 2) l.fail(site.span, site.name + " takes two arguments");
  const Value v = l.binary(op, site.args[0], site.args[1], site.span);
  if (!out) return v;
  l.assign_elements(*out, v, site.span);
  return *out;
}
template <ast::CompareOp op>
Value comparison(Lowering& l, const CallSite& site) {
  if (site.args.size() != 2) l.fail(site.span, site.name + " takes two arguments");
  return l.compare(op, site.args[0], site.args[1], site.span);
}

Value where(Lowering& l, const CallSite& site) {
  if (site.args.size() == 1) return library_function("numpy.nonzero")(l, {site.span, "numpy.nonzero", site.args, {}});
  if (site.args.size() != 3) l.fail(site.span, "np.where takes a condition, or a condition and two values");
  const DType a = site.args[1].type.dtype, b = site.args[2].type.dtype;
  const DType type = promote(a, b);
  return l.elementwise(
      site.args, type,
      [type](const std::vector<ExprRef>& p) {
        return ir::op(ScalarOp::select, {ir::cast(p[0], DType::boolean), ir::cast(p[1], type), ir::cast(p[2], type)});
      },
      site.span);
}

Value clip(Lowering& l, const CallSite& site) {
  const Value *low = site.argument(1, "a_min"), *high = site.argument(2, "a_max");
  if (!low) low = site.keyword("min");
  if (!high) high = site.keyword("max");
  Value v = site.args.at(0);
  if (low && !low->type.is_none()) v = apply(l, {site.span, "clip", {v, *low}, {}}, {ScalarOp::max, Rule::same}, true);
  if (high && !high->type.is_none()) v = apply(l, {site.span, "clip", {v, *high}, {}}, {ScalarOp::min, Rule::same}, true);
  return v;
}

Value square(Lowering& l, const CallSite& site) { return l.binary(ast::BinaryOp::mul, site.args.at(0), site.args.at(0), site.span); }
Value reciprocal(Lowering& l, const CallSite& site) {
  return l.binary(ast::BinaryOp::div, scalar_value(ir::constant(Scalar::of_float(1))), site.args.at(0), site.span);
}

Value part(Lowering& l, const CallSite& site) {
  return l.attribute(site.args.at(0), site.name.substr(site.name.rfind('.') + 1), site.span);
}

Value rounded(Lowering& l, const CallSite& site) {
  const Value& v = site.args.at(0);
  const Value* decimals = site.argument(1, "decimals");
  if (is_whole(v.type.dtype)) return v;
  const ExprRef scale =
      decimals
          ? l.code().bind(both(ScalarOp::pow, ir::constant(Scalar::of_float(10)), ir::cast(l.index_number(*decimals, "round"), DType::f64)),
                          "scale")
          : nullptr;
  return l.elementwise(
      {v}, v.type.dtype,
      [scale](const std::vector<ExprRef>& p) {
        if (!scale) return ir::op(ScalarOp::rint, {p[0]});
        const ExprRef s = ir::cast(scale, p[0]->type);
        return both(ScalarOp::div, ir::op(ScalarOp::rint, {both(ScalarOp::mul, p[0], s)}), s);
      },
      v.span);
}

template <const std::unordered_map<std::string_view, Elementwise>& (*table)(), bool arrays>
Value from_table(Lowering& l, const CallSite& site) {
  return apply(l, site, table().at(std::string_view(site.name).substr(site.name.rfind('.') + 1)), arrays);
}

}  // namespace

LibraryFunction number_method(const std::string& path) {
  static const std::unordered_map<std::string_view, LibraryFunction> kMethods = {
      {".conjugate",
       [](Lowering& l, const CallSite& site) {
         return apply(l, {site.span, "conjugate", {site.args.at(0)}, {}}, {ScalarOp::conj, Rule::same}, true);
       }},
      {".conj",
       [](Lowering& l, const CallSite& site) {
         return apply(l, {site.span, "conj", {site.args.at(0)}, {}}, {ScalarOp::conj, Rule::same}, true);
       }},
      {".clip", clip},
      {".round", rounded},
  };
  const auto known = kMethods.find(path);
  return known == kMethods.end() ? nullptr : known->second;
}

LibraryFunction number_function(const std::string& path) {
  using B = ast::BinaryOp;
  using C = ast::CompareOp;
  static const std::unordered_map<std::string_view, LibraryFunction> kFunctions = {
      {"len", len},
      {"abs", absolute},
      {"min", minimum},
      {"max", maximum},
      {"round", round_number},
      {"divmod", divmod},
      {"pow", power},
      {"complex", complex_number},
      {"math.log", logarithm},
      {"math.degrees", degrees},
      {"math.radians", radians},
      {"math.gcd", greatest_divisor},
      {"math.erf", c_function},
      {"math.erfc", c_function},
      {"math.gamma", c_function},
      {"math.lgamma", c_function},
      {"numpy.angle", angle},
      {"numpy.degrees", degrees},
      {"numpy.rad2deg", degrees},
      {"numpy.radians", radians},
      {"numpy.deg2rad", radians},
      {"numpy.add", operation<B::add>},
      {"numpy.subtract", operation<B::sub>},
      {"numpy.multiply", operation<B::mul>},
      {"numpy.divide", operation<B::div>},
      {"numpy.true_divide", operation<B::div>},
      {"numpy.floor_divide", operation<B::floordiv>},
      {"numpy.mod", operation<B::mod>},
      {"numpy.remainder", operation<B::mod>},
      {"numpy.power", operation<B::pow>},
      {"numpy.equal", comparison<C::eq>},
      {"numpy.not_equal", comparison<C::ne>},
      {"numpy.less", comparison<C::lt>},
      {"numpy.less_equal", comparison<C::le>},
      {"numpy.greater", comparison<C::gt>},
      {"numpy.greater_equal", comparison<C::ge>},
      {"numpy.where", where},
      {"numpy.clip", clip},
      {"numpy.square", square},
      {"numpy.reciprocal", reciprocal},
      {"numpy.real", part},
      {"numpy.imag", part},
      {"numpy.round", rounded},
      {"numpy.around", rounded},
      {"numpy.round_", rounded},
  };
  if (const auto known = kFunctions.find(path); known != kFunctions.end()) return known->second;
  const auto dot = path.rfind('.');
  if (dot == std::string::npos) return nullptr;
  const std::string_view module = std::string_view(path).substr(0, dot), name = std::string_view(path).substr(dot + 1);
  if (module == "numpy" && numpy_table().count(name)) return from_table<numpy_table, true>;
  if (module == "math" && math_table().count(name)) return from_table<math_table, false>;
  if (module == "cmath" && numpy_table().count(name)) return from_table<numpy_table, true>;
  return nullptr;
}

std::optional<Scalar> library_constant(const std::string& path) {
  const auto dot = path.rfind('.');
  if (dot == std::string::npos) return {};
  const std::string_view module = std::string_view(path).substr(0, dot), name = std::string_view(path).substr(dot + 1);
  if (module != "numpy" && module != "math" && module != "cmath") return {};
  if (name == "pi") return Scalar::of_float(M_PI);
  if (name == "e") return Scalar::of_float(M_E);
  if (name == "tau" && module != "numpy") return Scalar::of_float(2 * M_PI);
  if (name == "inf" || name == "Inf") return Scalar::of_float(std::numeric_limits<double>::infinity());
  if (name == "nan" || name == "NaN") return Scalar::of_float(std::numeric_limits<double>::quiet_NaN());
  if (name == "euler_gamma") return Scalar::of_float(0.57721566490153286061);
  return {};
}

std::optional<DType> dtype_of_path(const std::string& path) {
  if (path == "int") return DType::i64;
  if (path == "float") return DType::f64;
  if (path == "bool") return DType::boolean;
  const auto dot = path.rfind('.');
  if (dot == std::string::npos) return {};
  const std::string module = path.substr(0, dot);
  std::string name = path.substr(dot + 1);
  if (module != "numpy" && module != "numba" && module != "numba.types") return {};
  static const std::unordered_map<std::string, std::string> kOthers = {
      {"bool_", "bool"},         {"intp", "int64"},          {"uintp", "uint64"},
      {"int_", "int64"},         {"uint", "uint64"},         {"float_", "float64"},
      {"double", "float64"},     {"single", "float32"},      {"half", ""},
      {"byte", "int8"},          {"ubyte", "uint8"},         {"short", "int16"},
      {"ushort", "uint16"},      {"intc", "int32"},          {"uintc", "uint32"},
      {"longlong", "int64"},     {"ulonglong", "uint64"},    {"csingle", "complex64"},
      {"cdouble", "complex128"}, {"complex_", "complex128"}, {"boolean", "bool"}};
  if (const auto other = kOthers.find(name); other != kOthers.end()) name = other->second;
  for (int k = 0; k < kDTypeCount; ++k)
    if (name_of(static_cast<DType>(k)) == name) return static_cast<DType>(k);
  return {};
}

std::optional<DType> dtype_argument(const Value& v) {
  if (v.type.kind == Kind::text) return dtype_from_name(v.type.text);
  if (v.type.kind == Kind::function && v.outside.kind == Outside::Kind::path) {
    if (v.outside.text == "complex") return DType::c128;
    return dtype_of_path(v.outside.text);
  }
  return {};
}

}  // namespace gasell::functions
