// The functions and constants of C's headers and of CUDA that bodies of kernels use.
#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>
#include <limits>
#include <numbers>
#include <unordered_map>

#include "compiler/c_kernels/translator.h"

namespace gasell::c_kernels {
namespace {

ExprRef both(ScalarOp op, ExprRef a, ExprRef b) { return ir::op(op, {std::move(a), std::move(b)}); }
ExprRef floating(double v, DType t) { return ir::constant(Scalar::of_float(v).cast(t)); }

/// Functions of floats by their name for doubles; the others are sinf, __sinf.
const std::unordered_map<std::string_view, ScalarOp>& float_functions() {
  using O = ScalarOp;
  static const std::unordered_map<std::string_view, ScalarOp> kTable = {
      {"sqrt", O::sqrt},      {"cbrt", O::cbrt},   {"exp", O::exp},     {"exp2", O::exp2},         {"expm1", O::expm1},
      {"log", O::log},        {"log2", O::log2},   {"log10", O::log10}, {"log1p", O::log1p},       {"sin", O::sin},
      {"cos", O::cos},        {"tan", O::tan},     {"asin", O::asin},   {"acos", O::acos},         {"atan", O::atan},
      {"sinh", O::sinh},      {"cosh", O::cosh},   {"tanh", O::tanh},   {"asinh", O::asinh},       {"acosh", O::acosh},
      {"atanh", O::atanh},    {"floor", O::floor}, {"ceil", O::ceil},   {"trunc", O::trunc},       {"rint", O::rint},
      {"fabs", O::abs},       {"pow", O::pow},     {"atan2", O::atan2}, {"hypot", O::hypot},       {"fmod", O::fmod},
      {"fmin", O::fmin},      {"fmax", O::fmax},   {"fma", O::fma},     {"copysign", O::copysign}, {"nextafter", O::nextafter},
      {"nearbyint", O::rint}, {"fdivide", O::div}};
  return kTable;
}

/// Those of CUDA that say how they round: as all of them round here.
const std::unordered_map<std::string_view, std::pair<ScalarOp, DType>>& rounded_functions() {
  using O = ScalarOp;
  static const std::unordered_map<std::string_view, std::pair<ScalarOp, DType>> kTable = {
      {"__fadd_rn", {O::add, DType::f32}}, {"__fsub_rn", {O::sub, DType::f32}}, {"__fmul_rn", {O::mul, DType::f32}},
      {"__fdiv_rn", {O::div, DType::f32}}, {"__fmaf_rn", {O::fma, DType::f32}}, {"__fsqrt_rn", {O::sqrt, DType::f32}},
      {"__dadd_rn", {O::add, DType::f64}}, {"__dsub_rn", {O::sub, DType::f64}}, {"__dmul_rn", {O::mul, DType::f64}},
      {"__ddiv_rn", {O::div, DType::f64}}, {"__fma_rn", {O::fma, DType::f64}},  {"__dsqrt_rn", {O::sqrt, DType::f64}},
      {"__fdividef", {O::div, DType::f32}}};
  return kTable;
}

const std::unordered_map<std::string_view, Scalar>& constants() {
  const auto real = [](double v) { return Scalar::of_float(v); };
  const auto single = [](double v) { return Scalar::of_float(v).cast(DType::f32); };
  static const std::unordered_map<std::string_view, Scalar> kTable = {
      {"true", Scalar::of_bool(true)},
      {"false", Scalar::of_bool(false)},
      {"M_PI", real(std::numbers::pi)},
      {"M_PI_2", real(std::numbers::pi / 2)},
      {"M_PI_4", real(std::numbers::pi / 4)},
      {"M_1_PI", real(std::numbers::inv_pi)},
      {"M_2_PI", real(2 * std::numbers::inv_pi)},
      {"M_2_SQRTPI", real(2 * std::numbers::inv_sqrtpi)},
      {"M_E", real(std::numbers::e)},
      {"M_LN2", real(std::numbers::ln2)},
      {"M_LN10", real(std::numbers::ln10)},
      {"M_LOG2E", real(std::numbers::log2e)},
      {"M_LOG10E", real(std::numbers::log10e)},
      {"M_SQRT2", real(std::numbers::sqrt2)},
      {"M_SQRT1_2", real(std::numbers::sqrt2 / 2)},
      {"INFINITY", single(INFINITY)},
      {"NAN", single(NAN)},
      {"CUDART_INF", real(INFINITY)},
      {"CUDART_INF_F", single(INFINITY)},
      {"CUDART_NAN", real(NAN)},
      {"CUDART_NAN_F", single(NAN)},
      {"CUDART_PI", real(std::numbers::pi)},
      {"CUDART_PI_F", single(std::numbers::pi)},
      {"DBL_MAX", real(DBL_MAX)},
      {"DBL_MIN", real(DBL_MIN)},
      {"DBL_EPSILON", real(DBL_EPSILON)},
      {"FLT_MAX", single(FLT_MAX)},
      {"FLT_MIN", single(FLT_MIN)},
      {"FLT_EPSILON", single(FLT_EPSILON)},
      {"CHAR_BIT", Scalar::of_int(8, DType::i32)},
      {"SCHAR_MIN", Scalar::of_int(INT8_MIN, DType::i32)},
      {"SCHAR_MAX", Scalar::of_int(INT8_MAX, DType::i32)},
      {"UCHAR_MAX", Scalar::of_int(UINT8_MAX, DType::i32)},
      {"SHRT_MIN", Scalar::of_int(INT16_MIN, DType::i32)},
      {"SHRT_MAX", Scalar::of_int(INT16_MAX, DType::i32)},
      {"USHRT_MAX", Scalar::of_int(UINT16_MAX, DType::i32)},
      {"INT_MIN", Scalar::of_int(INT32_MIN, DType::i32)},
      {"INT_MAX", Scalar::of_int(INT32_MAX, DType::i32)},
      {"UINT_MAX", Scalar::of_int(UINT32_MAX, DType::u32)},
      {"LONG_MIN", Scalar::of_int(INT64_MIN)},
      {"LONG_MAX", Scalar::of_int(INT64_MAX)},
      {"ULONG_MAX", Scalar::of_int(-1, DType::u64)},
      {"LLONG_MIN", Scalar::of_int(INT64_MIN)},
      {"LLONG_MAX", Scalar::of_int(INT64_MAX)},
      {"ULLONG_MAX", Scalar::of_int(-1, DType::u64)},
      {"INT32_MIN", Scalar::of_int(INT32_MIN, DType::i32)},
      {"INT32_MAX", Scalar::of_int(INT32_MAX, DType::i32)},
      {"UINT32_MAX", Scalar::of_int(UINT32_MAX, DType::u32)},
      {"INT64_MIN", Scalar::of_int(INT64_MIN)},
      {"INT64_MAX", Scalar::of_int(INT64_MAX)},
      {"UINT64_MAX", Scalar::of_int(-1, DType::u64)},
  };
  return kTable;
}

}  // namespace

std::optional<Value> Translator::known_name(const Token& name) {
  const auto found = constants().find(name.text);
  if (found == constants().end()) return {};
  return numeric(ir::constant(found->second), name.span);
}

std::optional<Value> Translator::known_function(const Token& name, std::vector<Value>& arguments, Span span) {
  std::vector<ExprRef> args;
  for (const Value& v : arguments) args.push_back(number(v));
  const std::string_view text = name.text;
  const auto takes = [&](size_t count) {
    if (args.size() != count)
      fail(span, "'" + std::string(text) + "' takes " + std::to_string(count) + (count == 1 ? " number, and " : " numbers, and ") +
                     std::to_string(args.size()) + (args.size() == 1 ? " is given" : " are given"));
  };
  const auto common = [&] {
    DType type = args.at(0)->type;
    for (const ExprRef& e : args) type = common_type(type, e->type);
    return promoted(type);
  };
  const auto as = [&](DType type) {
    for (size_t k = 0; k < args.size(); ++k) args[k] = convert(args[k], type, arguments[k].span);
  };
  const auto give = [&](ExprRef e) { return numeric(std::move(e), span); };
  const auto is_any = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), text) != names.end();
  };

  if (is_any({"min", "max"})) {
    takes(2);
    as(common());
    if (is_complex(args[0]->type)) fail(span, "complex numbers have no order");
    const bool is_min = text == "min";
    return give(both(is_float(args[0]->type) ? (is_min ? ScalarOp::fmin : ScalarOp::fmax) : (is_min ? ScalarOp::min : ScalarOp::max),
                     args[0], args[1]));
  }
  if (is_any({"abs", "labs", "llabs"})) {
    takes(1);
    const DType type = promoted(args[0]->type);
    return give(kind(type) == 'u' ? args[0] : ir::op(ScalarOp::abs, {ir::cast(args[0], text == "abs" ? type : DType::i64)}));
  }
  if (is_any({"isnan", "isinf", "isfinite", "signbit"})) {
    takes(1);
    const ScalarOp op = text == "isnan"      ? ScalarOp::isnan
                        : text == "isinf"    ? ScalarOp::isinf
                        : text == "isfinite" ? ScalarOp::isfinite
                                             : ScalarOp::signbit;
    return give(ir::op(op, {args[0]->type == DType::boolean ? ir::cast(args[0], DType::i32) : args[0]}));
  }
  if (is_any({"real", "imag", "conj", "norm", "arg"})) {
    takes(1);
    if (!is_complex(args[0]->type)) as(is_float(args[0]->type) ? complex_of(args[0]->type) : DType::c128);
    const ExprRef z = fixed(args[0], "z"), re = ir::op(ScalarOp::real, {z}), im = ir::op(ScalarOp::imag, {z});
    if (text == "real") return give(re);
    if (text == "imag") return give(im);
    if (text == "conj") return give(ir::op(ScalarOp::conj, {z}));
    if (text == "arg") return give(both(ScalarOp::atan2, im, re));
    return give(both(ScalarOp::add, both(ScalarOp::mul, re, re), both(ScalarOp::mul, im, im)));
  }
  if (const auto rounded = rounded_functions().find(text); rounded != rounded_functions().end()) {
    takes(static_cast<size_t>(info(rounded->second.first).arity));
    as(rounded->second.second);
    return give(ir::op(rounded->second.first, args));
  }

  // sin, sinf, __sinf: overloaded for what it is given, or of floats.
  std::string_view stem = text;
  bool single = false;
  const auto known = [](std::string_view t) {
    return float_functions().contains(t) || t == "rsqrt" || t == "round" || t == "exp10" || t == "lrint" || t == "llrint" ||
           t == "lround" || t == "llround" || t == "fdim" || t == "rcbrt" || t == "sinpi" || t == "cospi" || t == "saturate";
  };
  if (stem.starts_with("__")) stem.remove_prefix(2);
  if (!known(stem) && stem.ends_with('f')) {
    stem.remove_suffix(1);
    single = true;
  }
  if (!known(stem) || (text.starts_with("__") && !single && stem != "saturate")) return {};
  const auto op = float_functions().find(stem);
  const size_t arity = op != float_functions().end() ? static_cast<size_t>(info(op->second).arity) : stem == "fdim" ? 2 : 1;
  takes(arity);
  DType type = common();
  if (is_integer(type)) type = DType::f64;
  if (single || stem == "saturate") type = DType::f32;
  as(type);
  if (op != float_functions().end()) {
    if (!accepts(op->second, type)) fail(span, "'" + std::string(text) + "' is not defined for " + c_name(type));
    return give(ir::op(op->second, args));
  }
  if (is_complex(type)) fail(span, "'" + std::string(text) + "' is not defined for " + c_name(type));
  const ExprRef x = fixed(args[0], "x");
  if (stem == "rsqrt") return give(both(ScalarOp::div, floating(1, type), ir::op(ScalarOp::sqrt, {x})));
  if (stem == "rcbrt") return give(both(ScalarOp::div, floating(1, type), ir::op(ScalarOp::cbrt, {x})));
  if (stem == "exp10") return give(both(ScalarOp::pow, floating(10, type), x));
  if (stem == "sinpi" || stem == "cospi") {
    const ExprRef turned = both(ScalarOp::mul, x, floating(std::numbers::pi, type));
    return give(ir::op(stem == "sinpi" ? ScalarOp::sin : ScalarOp::cos, {turned}));
  }
  if (stem == "saturate") return give(both(ScalarOp::fmin, both(ScalarOp::fmax, x, floating(0, type)), floating(1, type)));
  if (stem == "fdim") {
    const ExprRef y = fixed(args[1], "y"), difference = both(ScalarOp::sub, x, y);
    return give(ir::op(ScalarOp::select, {both(ScalarOp::le, x, y), floating(0, type), difference}));
  }
  if (stem == "lrint" || stem == "llrint") return give(ir::cast(ir::op(ScalarOp::rint, {x}), DType::i64));
  // Halves go away from zero.
  const ExprRef whole = fixed(ir::op(ScalarOp::trunc, {x}), "whole");
  const ExprRef rest = ir::op(ScalarOp::abs, {both(ScalarOp::sub, x, whole)});
  const ExprRef away = both(ScalarOp::add, whole, both(ScalarOp::copysign, floating(1, type), x));
  const ExprRef rounded = ir::op(ScalarOp::select, {both(ScalarOp::ge, rest, floating(0.5, type)), away, whole});
  return give(stem == "round" ? rounded : ir::cast(rounded, DType::i64));
}

Value Translator::atomic(const Token& name, Span span) {
  static const std::unordered_map<std::string_view, std::pair<const char*, size_t>> kOperations = {
      {"atomicAdd", {"add", 1}}, {"atomicSub", {"sub", 1}},   {"atomicMax", {"max", 1}}, {"atomicMin", {"min", 1}},
      {"atomicAnd", {"and", 1}}, {"atomicOr", {"or", 1}},     {"atomicXor", {"xor", 1}}, {"atomicInc", {"inc", 1}},
      {"atomicDec", {"dec", 1}}, {"atomicExch", {"exch", 1}}, {"atomicCAS", {"cas", 2}}};
  const auto operation = kOperations.find(name.text);
  if (operation == kOperations.end()) unknown(name.span, "the function '" + std::string(name.text) + "' is not known");
  expect("(", "a function");
  if (!accept("&")) fail(peek().span, "an atomic operation takes a place: " + std::string(name.text) + "(&y[k], x)");
  const Value place = unary();
  if (place.kind != Value::Kind::element || place.is_const)
    fail(place.span, "an atomic operation changes an element of an output", "a parameter among out_params: 'raw T y'");
  const DType type = place.dtype;
  if (is_complex(type) || type == DType::boolean) fail(place.span, "an atomic operation is of integers and floats, not of " + c_name(type));
  std::vector<ExprRef> args;
  while (accept(",")) {
    const Value v = assignment();
    args.push_back(fixed(convert(number(v), type, v.span), "given"));
  }
  span = join(span, expect(")", "the arguments").span);
  if (args.size() != operation->second.second) fail(span, "'" + std::string(name.text) + "' takes another number of arguments");
  stored.insert(place.name);
  if (!in_threads_) unknown(span, "atomic operations are of kernels that run as threads");
  const std::string before = code_.fresh("before");
  code_.emit(ir::atomic(before, operation->second.first, place.name, type, place.offset, std::move(args)));
  return numeric(ir::variable(before, type), span);
}

}  // namespace gasell::c_kernels
