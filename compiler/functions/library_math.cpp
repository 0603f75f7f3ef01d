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
  const Value f = scalar_value(ir::constant(Scalar::of_float(factor)));
  return l.binary(ast::BinaryOp::mul, site.args[0], f, site.span);
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
template <ast::BinaryOp op>
Value operation(Lowering& l, const CallSite& site) {
  const Value* out = site.argument(2, "out");
  const Value v = l.binary(op, site.args[0], site.args[1], site.span);
  if (!out) return v;
  l.assign_elements(*out, v, site.span);
  return *out;
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

Value clip(Lowering& l, const CallSite& site) {
  const Value *low = site.argument(1, "a_min"), *high = site.argument(2, "a_max");
  if (!low) low = site.keyword("min");
  if (!high) high = site.keyword("max");
  Value v = site.args[0];
  if (low && !low->type.is_none()) v = apply_elementwise(l, {site.span, "clip", {v, *low}, {}}, {ScalarOp::max, Rule::same}, true);
  if (high && !high->type.is_none()) v = apply_elementwise(l, {site.span, "clip", {v, *high}, {}}, {ScalarOp::min, Rule::same}, true);
  return v;
}

Value square(Lowering& l, const CallSite& site) { return l.binary(ast::BinaryOp::mul, site.args[0], site.args[0], site.span); }
Value reciprocal(Lowering& l, const CallSite& site) {
  return l.binary(ast::BinaryOp::div, scalar_value(ir::constant(Scalar::of_float(1))), site.args[0], site.span);
}

Value part(Lowering& l, const CallSite& site) { return l.attribute(site.args[0], site.name.substr(site.name.rfind('.') + 1), site.span); }

Value rounded(Lowering& l, const CallSite& site) {
  const Value& v = site.args[0];
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
        const auto real = [&](const ExprRef& x) {
          if (!scale) return ir::op(ScalarOp::rint, {x});
          const ExprRef s = ir::cast(scale, x->type);
          return both(ScalarOp::div, ir::op(ScalarOp::rint, {both(ScalarOp::mul, x, s)}), s);
        };
        if (!is_complex(p[0]->type)) return real(p[0]);
        return both(ScalarOp::make_complex, real(ir::op(ScalarOp::real, {p[0]})), real(ir::op(ScalarOp::imag, {p[0]})));
      },
      v.span);
}

}  // namespace

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
      {".clip", "a: operand, a_min: operand = None, a_max: operand = None, *, min: operand = None, max: operand = None", clip},
      {".round", "a: operand, decimals: int = 0", rounded},
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
      {"numpy.clip", "a: operand, a_min: operand = None, a_max: operand = None, *, min: operand = None, max: operand = None", clip},
      {"numpy.square", "x: operand", square},
      {"numpy.reciprocal", "x: operand", reciprocal},
      {"numpy.real", "val: operand", part},
      {"numpy.imag", "val: operand", part},
      {"numpy.round", "a: operand, decimals: int = 0", rounded},
      {"numpy.around", "a: operand, decimals: int = 0", rounded},
      {"numpy.round_", "a: operand, decimals: int = 0", rounded},
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
