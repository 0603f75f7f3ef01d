// math and cmath in compiled functions, and NumPy's functions of numbers that are more than one operation.
#include <cmath>
#include <limits>
#include <unordered_map>

#include "compiler/functions/elementwise.h"
#include "compiler/functions/library.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

namespace {

// ---- math ----
Value logarithm(Lowering& l, const CallSite& site) {
  CallSite first{site.span, "math.log", {site.args[0]}, {}};
  const Value a = apply_elementwise(l, first, {ScalarOp::log, Rule::floating}, false);
  if (site.args.size() == 1) return a;
  CallSite second{site.span, "math.log", {site.args[1]}, {}};
  return scalar_value(both(ScalarOp::div, a.scalar, apply_elementwise(l, second, {ScalarOp::log, Rule::floating}, false).scalar));
}

Value scaled(Lowering& l, const CallSite& site, double factor) {
  const Value& v = site.args[0];
  const DType type =
      site.name.starts_with("math.") ? (is_whole(v.type.dtype) ? DType::f64 : v.type.dtype) : *first_loop({{v.type.dtype}}, is_float_loop);
  return l.elementwise(
      {v}, type,
      [factor, type](const std::vector<ExprRef>& p) {
        return both(ScalarOp::mul, ir::cast(p[0], type), ir::constant(Scalar::of_float(factor).cast(type)));
      },
      site.span);
}
Value degrees(Lowering& l, const CallSite& site) { return scaled(l, site, 180 / M_PI); }
Value radians(Lowering& l, const CallSite& site) { return scaled(l, site, M_PI / 180); }

/// Functions of the C library that the loop IR has no operation for.
Value c_function(Lowering& l, const CallSite& site) {
  const std::string name = site.name.substr(site.name.rfind('.') + 1);
  const std::string result = l.code().fresh(name);
  l.code().emit(
      ir::call(result, DType::f64, name == "gamma" ? "tgamma" : name, {ir::cast(l.scalar(site.args[0], site.name.c_str()), DType::f64)}));
  return scalar_value(ir::variable(result, DType::f64));
}

Value angle(Lowering& l, const CallSite& site) {
  const Value& v = site.args[0];
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
/// What a function gives, or the array that it was to be written into.
Value written(Lowering& l, const Value& v, const Value* out, Span at) {
  if (!out || out->type.is_none()) return v;
  need_same_kind(l, v.type.dtype, out->type.dtype, at);
  l.assign_elements(*out, v, at);
  return *out;
}

template <ast::BinaryOp op>
Value operation(Lowering& l, const CallSite& site) {
  const Value* out = site.argument(2, "out");
  return written(l, l.ufunc(op, site.args[0], site.args[1], site.span), out, site.span);
}
template <ast::CompareOp op>
Value comparison(Lowering& l, const CallSite& site) {
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

/// Python's min and max of a value and a bound: what is no number in either leaves the value as it is.
ExprRef within(Lowering& l, const ExprRef& value, const ExprRef& bound, ast::CompareOp beyond) {
  const DType type = promote(value->type, bound->type);
  const ExprRef v = l.code().bind(ir::cast(value, type)), b = l.code().bind(ir::cast(bound, type));
  return select(l.compare_numbers(beyond, b, v), b, v);
}

/// Raises where an array for a result has another shape.
void need_shape(Lowering& l, const Value& v, const Value& out, const char* message, Span at) {
  ExprRef differ = boolean(v.type.rank != out.type.rank);
  for (size_t k = 0; k < v.extents().size() && v.type.rank == out.type.rank; ++k)
    differ = both(ScalarOp::logical_or, differ, both(ScalarOp::ne, v.extents()[k], out.extents()[k]));
  l.raise_if(differ, "ValueError", message, at);
}

/// The result has the array's dtype, whatever the bounds' are.
Value clip(Lowering& l, const CallSite& site) {
  const Value *low = site.argument(1, "a_min"), *high = site.argument(2, "a_max"), *out = site.argument(3, "out");
  if (!low) low = site.keyword("min");
  if (!high) high = site.keyword("max");
  if (low && low->type.is_none()) low = nullptr;
  if (high && high->type.is_none()) high = nullptr;
  if (out && out->type.is_none()) out = nullptr;
  const Value& a = site.args[0];
  if (!low && !high) {
    l.raise_if(boolean(true), "ValueError", "array_clip: must set either max or min", site.span);
    return a;
  }
  std::vector<Value> operands = {a};
  DType computed = a.type.dtype, result = computed;
  for (const Value* bound : {low, high}) {
    if (!bound) continue;
    operands.push_back(*bound);
    computed = promote(computed, bound->type.dtype);
    if (!a.type.is_array() || bound->type.is_array()) result = promote(result, bound->type.dtype);
  }
  if (is_complex(computed)) l.fail(site.span, site.name + " is not defined for " + std::string(name_of(computed)));
  if (out) result = computed;
  const Value v = l.elementwise(
      operands, result,
      [&l, low, high, result](const std::vector<ExprRef>& parts) {
        ExprRef x = parts[0];
        if (low) x = within(l, x, parts[1], ast::CompareOp::gt);
        if (high) x = within(l, x, parts[low ? 2 : 1], ast::CompareOp::lt);
        return ir::cast(x, result);
      },
      site.span);
  if (!out) return v;
  if (v.type.is_array() ? v.type.rank != out->type.rank : out->type.rank > 0)
    l.fail(out->span, site.name + " writes into an array of as many axes as its result, and this is " + describe(out->type));
  if (v.type.is_array()) need_shape(l, v, *out, "clip: the shape of the 'out' array does not match the shape of the result", site.span);
  return written(l, v, out, site.span);
}

Value square(Lowering& l, const CallSite& site) {
  const Value& v = site.args[0];
  const DType type = *first_loop({{v.type.dtype}}, is_number_loop);
  return l.elementwise(
      {v}, type,
      [&l, type](const std::vector<ExprRef>& parts) {
        const ExprRef x = l.code().bind(ir::cast(parts[0], type));
        return both(ScalarOp::mul, x, x);
      },
      site.span);
}

Value reciprocal(Lowering& l, const CallSite& site) {
  const Value& v = site.args[0];
  const DType type = *first_loop({{v.type.dtype}}, is_number_loop);
  return l.elementwise(
      {v}, type,
      [type](const std::vector<ExprRef>& parts) {
        const DType divides = is_integer(type) ? DType::f64 : type;
        return ir::cast(both(ScalarOp::div, number_of(1, divides), ir::cast(parts[0], divides)), type);
      },
      site.span);
}

Value part(Lowering& l, const CallSite& site) { return l.attribute(site.args[0], site.name.substr(site.name.rfind('.') + 1), site.span); }

Value rounded(Lowering& l, const CallSite& site) {
  const Value& v = site.args[0];
  const Value *decimals = site.argument(1, "decimals"), *out = site.argument(2, "out");
  const DType type = v.type.dtype;
  if (type == DType::boolean) l.fail(v.span, site.name + " needs numbers, and this is " + describe(v.type));
  std::optional<Decimals> digits;
  if (decimals) digits = decimals_of(l, l.index_number(*decimals, "round"));
  // Of one number the digits decide on the type before its value is known.
  const DType result = digits && !v.type.is_array() && is_float(type) ? DType::f64 : type;
  const Value r = l.elementwise(
      {v}, result,
      [&l, digits, result](const std::vector<ExprRef>& p) {
        const auto real = [&](const ExprRef& x) { return digits ? round_to(l, x, *digits) : ir::op(ScalarOp::rint, {x}); };
        if (!is_complex(p[0]->type)) return digits || !is_integer(p[0]->type) ? ir::cast(real(p[0]), result) : p[0];
        const DType part = real_of(result);
        return both(ScalarOp::make_complex, ir::cast(real(ir::op(ScalarOp::real, {p[0]})), part),
                    ir::cast(real(ir::op(ScalarOp::imag, {p[0]})), part));
      },
      v.span);
  if (!out || out->type.is_none()) return r;
  if (v.type.is_array()) need_shape(l, r, *out, "invalid output shape", site.span);
  if (r.type.rank > out->type.rank) return *out;  // and was refused
  l.assign_elements(*out, r, site.span);
  return *out;
}

}  // namespace

Decimals decimals_of(Lowering& l, const ExprRef& digits) {
  const auto ten_to = [&](const ExprRef& n) {
    return l.code().bind(both(ScalarOp::pow, ir::constant(Scalar::of_float(10)), ir::cast(n, DType::f64)), "scale");
  };
  const ExprRef n = l.code().bind(ir::op(ScalarOp::abs, {digits}));
  return {l.code().bind(both(ScalarOp::ge, digits, constant_i64(0))), ten_to(both(ScalarOp::min, n, constant_i64(22))),
          ten_to(both(ScalarOp::max, n - constant_i64(22), constant_i64(0)))};
}

ExprRef round_to(Lowering& l, const ExprRef& number, const Decimals& d) {
  const auto both_scales = [&](ScalarOp op, const ExprRef& v, const ExprRef& a, const ExprRef& b) { return both(op, both(op, v, a), b); };
  const ExprRef x = l.code().bind(ir::cast(number, DType::f64));
  const ExprRef large = l.code().bind(both_scales(ScalarOp::mul, x, d.second, d.first));
  const ExprRef scaled = select(d.behind_point, large, both_scales(ScalarOp::div, x, d.first, d.second));
  const ExprRef whole = l.code().bind(ir::op(ScalarOp::rint, {scaled}));
  const ExprRef back =
      select(d.behind_point, both_scales(ScalarOp::div, whole, d.first, d.second), both_scales(ScalarOp::mul, whole, d.first, d.second));
  const auto finite = [](const ExprRef& v) { return ir::op(ScalarOp::isfinite, {v}); };
  return select(both(ScalarOp::logical_and, finite(x), both(ScalarOp::logical_or, negation(d.behind_point), finite(large))), back, x);
}

LibraryFunction number_method(const std::string& path) {
  static const LibraryTable kMethods = {
      {".conjugate", "x: operand",
       [](Lowering& l, const CallSite& site) {
         return apply_elementwise(l, {site.span, "conjugate", {site.args[0]}, {}}, {ScalarOp::conj, Rule::same}, true);
       }},
      {".conj", "x: operand",
       [](Lowering& l, const CallSite& site) {
         return apply_elementwise(l, {site.span, "conj", {site.args[0]}, {}}, {ScalarOp::conj, Rule::same}, true);
       }},
      {".clip", "a: operand, a_min: operand = None, a_max: operand = None, out: out = None, *, min: operand = None, max: operand = None",
       clip},
      {".round", "a: operand, decimals: int = 0, out: out = None", rounded},
  };
  return kMethods.find(path);
}

LibraryFunction number_function(const std::string& path) {
  using B = ast::BinaryOp;
  using C = ast::CompareOp;
  static const LibraryTable kFunctions = {
      {"math.log", "x, base=None", logarithm},
      {"math.degrees", "x: real", degrees},
      {"math.radians", "x: real", radians},
      {"math.gcd", "a: int, b: int", greatest_divisor},
      {"math.erf", "x: real", c_function},
      {"math.erfc", "x: real", c_function},
      {"math.gamma", "x: real", c_function},
      {"math.lgamma", "x: real", c_function},
      {"numpy.angle", "z: operand", angle},
      {"numpy.degrees", "x: real | array[real] | point[real]", degrees},
      {"numpy.rad2deg", "x: real | array[real] | point[real]", degrees},
      {"numpy.radians", "x: real | array[real] | point[real]", radians},
      {"numpy.deg2rad", "x: real | array[real] | point[real]", radians},
      {"numpy.add", "x1: operand, x2: operand, out: out = None", operation<B::add>},
      {"numpy.subtract", "x1: operand, x2: operand, out: out = None", operation<B::sub>},
      {"numpy.multiply", "x1: operand, x2: operand, out: out = None", operation<B::mul>},
      {"numpy.divide", "x1: operand, x2: operand, out: out = None", operation<B::div>},
      {"numpy.true_divide", "x1: operand, x2: operand, out: out = None", operation<B::div>},
      {"numpy.floor_divide", "x1: operand, x2: operand, out: out = None", operation<B::floordiv>},
      {"numpy.mod", "x1: operand, x2: operand, out: out = None", operation<B::mod>},
      {"numpy.remainder", "x1: operand, x2: operand, out: out = None", operation<B::mod>},
      {"numpy.power", "x1: operand, x2: operand, out: out = None", operation<B::pow>},
      {"numpy.equal", "x1: operand, x2: operand", comparison<C::eq>},
      {"numpy.not_equal", "x1: operand, x2: operand", comparison<C::ne>},
      {"numpy.less", "x1: operand, x2: operand", comparison<C::lt>},
      {"numpy.less_equal", "x1: operand, x2: operand", comparison<C::le>},
      {"numpy.greater", "x1: operand, x2: operand", comparison<C::gt>},
      {"numpy.greater_equal", "x1: operand, x2: operand", comparison<C::ge>},
      {"numpy.where", "condition: values, x: operand = None, y: operand = None", where},
      {"numpy.clip",
       "a: operand, a_min: operand = None, a_max: operand = None, out: out = None, *, min: operand = None, max: operand = None", clip},
      {"numpy.square", "x: operand", square},
      {"numpy.reciprocal", "x: operand", reciprocal},
      {"numpy.real", "val: operand", part},
      {"numpy.imag", "val: operand", part},
      {"numpy.round", "a: operand, decimals: int = 0, out: out = None", rounded},
      {"numpy.around", "a: operand, decimals: int = 0, out: out = None", rounded},
  };
  return kFunctions.find(path);
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
    if (name_of(static_cast<DType>(k)) == name && static_cast<DType>(k) != DType::f16) return static_cast<DType>(k);
  return {};
}

std::optional<DType> dtype_argument(const Value& v) {
  const auto refuse_half = [](bool is_half) {
    if (is_half) throw Error("NotImplementedError", "float16 in compiled functions is not in Gasell", "give float32", Blame::limitation);
  };
  if (v.type.kind == Kind::text) {
    const auto named = dtype_from_name(v.type.text);
    refuse_half(named == DType::f16);
    return named;
  }
  if (v.type.kind == Kind::function && v.outside.kind == Outside::Kind::path) {
    refuse_half(v.outside.text == "numpy.float16" || v.outside.text == "numpy.half");
    if (v.outside.text == "complex") return DType::c128;
    return dtype_of_path(v.outside.text);
  }
  return {};
}

}  // namespace gasell::functions
