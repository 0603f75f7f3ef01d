// Operators of compiled functions, with the dtypes that Numba gives their results.
#include "compiler/functions/elementwise.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

namespace {

const char* symbol(ast::BinaryOp op) {
  static constexpr const char* kSymbols[] = {"+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^"};
  return kSymbols[static_cast<int>(op)];
}
const char* symbol(ast::CompareOp op) {
  static constexpr const char* kSymbols[] = {"==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"};
  return kSymbols[static_cast<int>(op)];
}

}  // namespace

Value Lowering::unary(ast::UnaryOp op, const Value& v, Span at) {
  auto apply = [this, op, v, at](ExprRef e) {
    const DType from = e->type;
    if (op == ast::UnaryOp::invert) {
      if (from == DType::boolean) return ir::op(ScalarOp::logical_not, {e});
      if (!is_integer(from)) fail(at, "bad operand type for ~: " + describe(v.type), "~ works on integers and booleans");
      return ir::op(ScalarOp::bit_not, {e});
    }
    if (op == ast::UnaryOp::neg) return ir::op(ScalarOp::neg, {e});
    return e;
  };
  if (v.type.is_array()) {
    if (op == ast::UnaryOp::neg && v.type.dtype == DType::boolean)
      fail(at, "the negative of a boolean array is not defined", "use ~ or np.logical_not");
    return elementwise({v}, v.type.dtype, [apply](const std::vector<ExprRef>& parts) { return apply(parts[0]); }, at);
  }
  ExprRef e = scalar(v, op == ast::UnaryOp::neg ? "-" : op == ast::UnaryOp::pos ? "+" : "~");
  if (op != ast::UnaryOp::invert || e->type != DType::boolean) {
    // Unsigned numbers keep their width for the operation, as Numba has it.
    if (kind(e->type) == 'u') return scalar_value(ir::cast(apply(e), DType::u64));
    if (is_integer(e->type) || e->type == DType::boolean) e = ir::cast(e, DType::i64);
  }
  return scalar_value(apply(e));
}

namespace {

/// x ** n of a constant n by squaring, as Numba has it.
ExprRef power_by_squaring(Code& code, ExprRef x, int64_t n) {
  ExprRef result;
  x = code.bind(x);
  for (uint64_t e = static_cast<uint64_t>(n < 0 ? -n : n); e; e >>= 1) {
    if (e & 1) result = result ? code.bind(both(ScalarOp::mul, result, x)) : x;
    if (e > 1) x = code.bind(both(ScalarOp::mul, x, x));
  }
  const ExprRef one = ir::constant(Scalar::of_int(1).cast(x->type));
  if (!result) return one;
  return n < 0 ? both(ScalarOp::div, one, result) : result;
}

}  // namespace

ExprRef Lowering::binary_number(ast::BinaryOp op, ExprRef a, ExprRef b, Span at, bool checked) {
  using Op = ast::BinaryOp;
  DType type = common_number(a->type, b->type);
  auto refuse_zero = [&](const char* message) {
    if (!checked || !program_.options.python_errors || (b->kind == ir::ExprKind::constant && Scalar(b->value).cast(DType::boolean).i))
      return;
    b = code().bind(b);
    const ExprRef zero = both(ScalarOp::eq, b, ir::constant(Scalar::of_int(0).cast(b->type)));
    // Nothing comes after a division by the constant 0, but its type is that of the division: a function that ends there has it, too.
    if (b->kind == ir::ExprKind::constant)
      code().emit(ir::if_(zero, {ir::raise(site("ZeroDivisionError", message, at), {})}, {}));
    else
      raise_if(zero, "ZeroDivisionError", message, at);
  };
  switch (op) {
    case Op::add:
    case Op::sub:
    case Op::mul: {
      const ScalarOp operation = op == Op::add ? ScalarOp::add : op == Op::sub ? ScalarOp::sub : ScalarOp::mul;
      return both(operation, ir::cast(a, type), ir::cast(b, type));
    }
    case Op::div:
      if (!is_float(type) && !is_complex(type)) type = DType::f64;
      a = ir::cast(a, type), b = ir::cast(b, type);
      refuse_zero("division by zero");
      return both(ScalarOp::div, a, b);
    case Op::floordiv:
    case Op::mod:
      if (is_complex(type)) fail(at, std::string(symbol(op)) + " is not defined for complex numbers");
      a = ir::cast(a, type), b = ir::cast(b, type);
      refuse_zero(op == Op::mod      ? (is_integer(type) ? "integer modulo by zero" : "modulo by zero")
                  : is_integer(type) ? "integer division by zero"
                                     : "division by zero");
      return both(op == Op::mod ? ScalarOp::mod : ScalarOp::floordiv, a, b);
    case Op::pow: {
      const bool whole = b->kind == ir::ExprKind::constant && (is_integer(b->type) || b->type == DType::boolean);
      // Numba: a float to an integer power has the float's type.
      if (!is_integer(type) && is_integer(b->type)) type = is_float(a->type) || is_complex(a->type) ? a->type : type;
      if (whole && b->value.i >= (is_integer(type) ? 0 : -64) && b->value.i <= 64)
        return power_by_squaring(code(), ir::cast(a, type), b->value.i);
      return both(ScalarOp::pow, ir::cast(a, type), ir::cast(b, type));
    }
    case Op::lshift:
    case Op::rshift:
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor: {
      const bool shift = op == Op::lshift || op == Op::rshift;
      if (is_float(type) || is_complex(type))
        fail(at,
             std::string("unsupported operand types for ") + symbol(op) + ": " + std::string(name_of(a->type)) + " and " +
                 std::string(name_of(b->type)),
             "bits are operated on in integers: int(...)");
      if (!shift && a->type == DType::boolean && b->type == DType::boolean) type = DType::boolean;
      if (shift) type = kind(a->type) == 'u' ? DType::u64 : DType::i64;
      const ScalarOp operation = op == Op::lshift    ? ScalarOp::shl
                                 : op == Op::rshift  ? ScalarOp::shr
                                 : op == Op::bit_and ? ScalarOp::bit_and
                                 : op == Op::bit_or  ? ScalarOp::bit_or
                                                     : ScalarOp::bit_xor;
      return both(operation, ir::cast(a, type), ir::cast(b, type));
    }
    case Op::matmul: break;
  }
  fail(at, "@ multiplies matrices, not numbers");
}

namespace {

ScalarOp array_operation(ast::BinaryOp op, DType type) {
  using Op = ast::BinaryOp;
  switch (op) {
    case Op::add: return type == DType::boolean ? ScalarOp::logical_or : ScalarOp::add;
    case Op::sub: return ScalarOp::sub;
    case Op::mul: return type == DType::boolean ? ScalarOp::logical_and : ScalarOp::mul;
    case Op::div: return ScalarOp::div;
    case Op::floordiv: return ScalarOp::floordiv;
    case Op::mod: return ScalarOp::mod;
    case Op::pow: return ScalarOp::pow;
    case Op::lshift: return ScalarOp::shl;
    case Op::rshift: return ScalarOp::shr;
    case Op::bit_and: return ScalarOp::bit_and;
    case Op::bit_or: return ScalarOp::bit_or;
    default: return ScalarOp::bit_xor;
  }
}

/// The dtype in which NumPy's function of an operator computes.
std::optional<DType> array_dtype(ast::BinaryOp op, DType a, DType b) {
  using Op = ast::BinaryOp;
  const DType operands[] = {a, b};
  if (op == Op::div) return first_loop(operands, is_float_loop);
  const bool of_booleans = op == Op::bit_and || op == Op::bit_or || op == Op::bit_xor || op == Op::add || op == Op::mul;
  return first_loop(operands, [&](DType d) { return d == DType::boolean ? of_booleans : accepts(array_operation(op, d), d); });
}

}  // namespace

Value Lowering::binary(ast::BinaryOp op, const Value& given_a, const Value& given_b, Span at) {
  const auto operand = [&](const Value& v) { return v.type.kind == Kind::optional && !v.type.items[0].is_scalar() ? there(v, at) : v; };
  const Value a = operand(given_a), b = operand(given_b);
  if (op == ast::BinaryOp::matmul) {
    CallSite site{at, "@", {a, b}, {}};
    return library_function("numpy.matmul")(*this, site);
  }
  auto is_number = [](const Value& v) {
    return v.type.is_scalar() || v.type.is_array() || (v.type.kind == Kind::optional && v.type.items[0].is_scalar());
  };
  if (a.type.is_tuple() && b.type.is_tuple() && op == ast::BinaryOp::add) {
    std::vector<Value> items = a.items;
    items.insert(items.end(), b.items.begin(), b.items.end());
    return tuple_value(std::move(items));
  }
  if (a.type.is_tuple() && b.is_constant() && is_integer(b.scalar->type) && op == ast::BinaryOp::mul) {
    std::vector<Value> items;
    for (int64_t k = 0; k < b.scalar->value.i && items.size() < 1000; ++k) items.insert(items.end(), a.items.begin(), a.items.end());
    return tuple_value(std::move(items));
  }
  if (a.type.is_list() && ((b.type.is_list() && op == ast::BinaryOp::add) || (b.type.is_scalar() && op == ast::BinaryOp::mul))) {
    CallSite site{at, "list", {a, b}, {}};
    return library_function(op == ast::BinaryOp::add ? "list.concatenated" : "list.repeated")(*this, site);
  }
  if (a.type.is_table() && b.type.is_table() && a.type.text == "set" && b.type.text == "set") {
    CallSite site{at, symbol(op), {a, b}, {}};
    switch (op) {
      case ast::BinaryOp::bit_and: return library_function("set.intersection")(*this, site);
      case ast::BinaryOp::bit_or: return library_function("set.union")(*this, site);
      case ast::BinaryOp::bit_xor: return library_function("set.symmetric_difference")(*this, site);
      case ast::BinaryOp::sub: return library_function("set.difference")(*this, site);
      default: break;
    }
  }
  if (a.type.kind == Kind::text && b.type.kind == Kind::text && op == ast::BinaryOp::add) return text_value(a.type.text + b.type.text);
  if (!is_number(a) || !is_number(b))
    fail(at, std::string("unsupported operand types for ") + symbol(op) + ": " + describe(a.type) + " and " + describe(b.type));
  if (!a.type.is_array() && !b.type.is_array())
    return scalar_value(binary_number(op, scalar(a, symbol(op)), scalar(b, symbol(op)), at, true));
  return ufunc(op, a, b, at);
}

Value Lowering::ufunc(ast::BinaryOp op, const Value& given_a, const Value& given_b, Span at) {
  const auto operand = [&](const Value& v) { return v.type.is_array() ? v : scalar_value(scalar(v, symbol(op))); };
  const Value a = operand(given_a), b = operand(given_b);
  const DType da = a.type.dtype, db = b.type.dtype;
  const std::optional<DType> loop = array_dtype(op, da, db);
  if (!loop)
    fail(at, std::string("unsupported dtypes for ") + symbol(op) + ": " + std::string(name_of(da)) + " and " + std::string(name_of(db)));
  const DType type = *loop;
  const ScalarOp operation = array_operation(op, type);
  // A constant power is a product.
  const bool square = op == ast::BinaryOp::pow && b.is_constant() && is_whole(db) && b.scalar->value.i >= 1 && b.scalar->value.i <= 64;
  const int64_t exponent = square ? b.scalar->value.i : 0;
  return elementwise(
      {a, b}, type,
      [this, operation, type, square, exponent](const std::vector<ExprRef>& parts) {
        if (square) return power_by_squaring(code(), ir::cast(parts[0], type), exponent);
        return both(operation, ir::cast(parts[0], type), ir::cast(parts[1], type));
      },
      at);
}

ExprRef Lowering::compare_numbers(ast::CompareOp op, ExprRef a, ExprRef b) {
  using Op = ast::CompareOp;
  static constexpr ScalarOp kOps[] = {ScalarOp::eq, ScalarOp::ne, ScalarOp::lt, ScalarOp::le, ScalarOp::gt, ScalarOp::ge};
  const auto operation = kOps[static_cast<size_t>(op)];
  // A negative number is below every unsigned one.
  const bool ua = a->type == DType::u64, ub = b->type == DType::u64;
  if (ua != ub && (is_integer(a->type) && is_integer(b->type)) && (kind(a->type) == 'i' || kind(b->type) == 'i')) {
    a = code().bind(a), b = code().bind(b);
    const ExprRef& s = ua ? b : a;
    const ExprRef negative = both(ScalarOp::lt, s, ir::constant(Scalar::of_int(0).cast(s->type)));
    const ExprRef plain = both(operation, ir::cast(a, DType::u64), ir::cast(b, DType::u64));
    const bool a_is_signed = !ua;
    const bool when_negative =
        op == Op::ne || ((op == Op::lt || op == Op::le) && a_is_signed) || ((op == Op::gt || op == Op::ge) && !a_is_signed);
    return ir::op(ScalarOp::select, {negative, boolean(when_negative), plain});
  }
  const DType type = promote(a->type, b->type);
  a = ir::cast(a, type), b = ir::cast(b, type);
  if (!is_complex(type) || op == Op::eq || op == Op::ne) return both(operation, a, b);
  // As NumPy orders elements: by their real parts, then by their imaginary ones.
  a = code().bind(a), b = code().bind(b);
  const auto parts = [&](ScalarOp by, ScalarOp part) { return both(by, ir::op(part, {a}), ir::op(part, {b})); };
  const ScalarOp strict = op == Op::lt || op == Op::le ? ScalarOp::lt : ScalarOp::gt;
  return both(ScalarOp::logical_or, parts(strict, ScalarOp::real),
              both(ScalarOp::logical_and, parts(ScalarOp::eq, ScalarOp::real), parts(operation, ScalarOp::imag)));
}

Value Lowering::compare(ast::CompareOp op, const Value& a, const Value& b, Span at) {
  using Op = ast::CompareOp;
  if (op == Op::is || op == Op::is_not) {
    const bool positive = op == Op::is;
    if (a.type.is_none() || b.type.is_none()) {  // np.newaxis is None, too
      const Value& other = a.type.is_none() ? b : a;
      if (other.type.is_none()) return scalar_value(boolean(positive));
      if (other.type.kind == Kind::optional) return scalar_value(positive ? ir::op(ScalarOp::logical_not, {other.present}) : other.present);
      return scalar_value(boolean(!positive));
    }
    if (a.type.is_scalar() && b.type.is_scalar() && a.type == b.type)
      return scalar_value(compare_numbers(positive ? Op::eq : Op::ne, a.scalar, b.scalar));
    fail(at, std::string("'") + symbol(op) + "' compares with None", "compare values with ==");
  }
  if (op == Op::in || op == Op::not_in) {
    if (b.type.is_table()) return scalar_value(both(op == Op::in ? ScalarOp::ge : ScalarOp::lt, table_find(b, a, at), constant_i64(0)));
    if (b.type.is_list() || b.type.is_array() || b.type.kind == Kind::range) {
      CallSite site{at, "in", {b, a}, {}};
      const Value found = library_function("list.contains")(*this, site);
      return op == Op::in ? found : scalar_value(negation(truth(found)));
    }
    if (!b.type.is_tuple()) unsupported(at, std::string("'") + symbol(op) + "' with " + describe(b.type), "it works with a tuple");
    ExprRef any = boolean(false);
    for (const Value& item : b.items) {
      const Value same = compare(Op::eq, a, item, at);
      any = both(ScalarOp::logical_or, any, truth(same));
    }
    return scalar_value(op == Op::in ? any : ir::op(ScalarOp::logical_not, {any}));
  }
  if ((op == Op::eq || op == Op::ne) && (a.type.is_none() || b.type.is_none()))
    return compare(op == Op::eq ? Op::is : Op::is_not, a, b, at);
  if (a.type.kind == Kind::text && b.type.kind == Kind::text && (op == Op::eq || op == Op::ne))
    return scalar_value(boolean((a.type.text == b.type.text) == (op == Op::eq)));
  if (a.type.is_tuple() && b.type.is_tuple() && (op == Op::eq || op == Op::ne)) {
    ExprRef all = boolean(a.items.size() == b.items.size());
    for (size_t k = 0; k < a.items.size() && k < b.items.size(); ++k)
      all = both(ScalarOp::logical_and, all, truth(compare(Op::eq, a.items[k], b.items[k], at)));
    return scalar_value(op == Op::eq ? all : ir::op(ScalarOp::logical_not, {all}));
  }
  if (a.type.is_tuple() && b.type.is_tuple()) {  // in the order of the first items that differ
    const size_t n = std::min(a.items.size(), b.items.size());
    ExprRef result =
        compare_numbers(op, constant_i64(static_cast<int64_t>(a.items.size())), constant_i64(static_cast<int64_t>(b.items.size())));
    const Op strict = op == Op::le ? Op::lt : op == Op::ge ? Op::gt : op;
    for (size_t k = n; k-- > 0;)
      result = both(ScalarOp::logical_or, truth(compare(strict, a.items[k], b.items[k], at)),
                    both(ScalarOp::logical_and, truth(compare(Op::eq, a.items[k], b.items[k], at)), result));
    return scalar_value(code().bind(result));
  }
  if (a.type.is_table() && b.type.is_table() && a.type.text == b.type.text) {
    if (a.type.text != "set" && op != Op::eq && op != Op::ne) fail(at, "dicts have no order");
    CallSite site{at, "compare", {a, b}, {}};
    if (op == Op::gt || op == Op::ge) std::swap(site.args[0], site.args[1]);
    if (op == Op::eq || op == Op::ne) {
      const Value same_tables = library_function(a.type.text + ".equal")(*this, site);
      return op == Op::eq ? same_tables : scalar_value(negation(truth(same_tables)));
    }
    return library_function(op == Op::lt || op == Op::gt ? "set.within" : "set.issubset")(*this, site);
  }
  if (a.type.is_list() && b.type.is_list()) {
    CallSite site{at, "compare", {a, b}, {}};
    if (op == Op::eq || op == Op::ne) {
      const Value same_lists = library_function("list.equal")(*this, site);
      return op == Op::eq ? same_lists : scalar_value(negation(truth(same_lists)));
    }
    if (op == Op::gt || op == Op::ge) std::swap(site.args[0], site.args[1]);
    return library_function(op == Op::lt || op == Op::gt ? "list.before" : "list.not_behind")(*this, site);
  }
  if (a.type.is_array() || b.type.is_array()) {
    for (const Value* v : {&a, &b})
      if (!v->type.is_array() && !v->type.is_scalar())
        fail(at, std::string("unsupported operand types for ") + symbol(op) + ": " + describe(a.type) + " and " + describe(b.type));
    return elementwise(
        {a, b}, DType::boolean, [this, op](const std::vector<ExprRef>& parts) { return compare_numbers(op, parts[0], parts[1]); }, at);
  }
  for (const Value* v : {&a, &b}) {
    const bool number = v->type.is_scalar() || v->type.kind == Kind::optional;
    if (!number) {
      if ((op == Op::eq || op == Op::ne) && a.type.kind != b.type.kind) return scalar_value(boolean(op == Op::ne));
      fail(at, std::string("unsupported operand types for ") + symbol(op) + ": " + describe(a.type) + " and " + describe(b.type));
    }
  }
  const ExprRef x = scalar(a, symbol(op)), y = scalar(b, symbol(op));
  if ((is_complex(x->type) || is_complex(y->type)) && op != Op::eq && op != Op::ne) fail(at, "complex numbers have no order");
  return scalar_value(compare_numbers(op, x, y));
}

}  // namespace gasell::functions
