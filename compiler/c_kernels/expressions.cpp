// Expressions of C as those of the loop IR: conversions and operators.
#include <algorithm>
#include <array>

#include "compiler/c_kernels/translator.h"
#include "compiler/ir/transform.h"

namespace gasell::c_kernels {

using ir::constant_i64;

namespace {

ExprRef both(ScalarOp op, ExprRef a, ExprRef b) { return ir::op(op, {std::move(a), std::move(b)}); }
ExprRef boolean(bool v) { return ir::constant(Scalar::of_bool(v)); }
ExprRef zero_of(DType t) { return ir::constant(Scalar::of_int(0).cast(t)); }

/// Whether it may be computed where C would not: it looks into no memory.
bool is_free(const ExprRef& e) {
  bool loads = false;
  ir::visit(e, [&](const ir::Expr& part) { loads = loads || part.kind == ir::ExprKind::load; });
  return !loads;
}

struct Level {
  std::array<std::string_view, 4> operators;
};
constexpr std::array<Level, 10> kLevels = {{{{"||"}},
                                            {{"&&"}},
                                            {{"|"}},
                                            {{"^"}},
                                            {{"&"}},
                                            {{"==", "!="}},
                                            {{"<", ">", "<=", ">="}},
                                            {{"<<", ">>"}},
                                            {{"+", "-"}},
                                            {{"*", "/", "%"}}}};

constexpr std::array<std::string_view, 11> kAssignments = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};

}  // namespace

Value Translator::numeric(ExprRef e, Span span) const {
  Value v;
  v.kind = Value::Kind::number;
  v.dtype = e->type;
  v.number = std::move(e);
  v.span = span;
  return v;
}

ExprRef Translator::number(const Value& v) {
  switch (v.kind) {
    case Value::Kind::number: return v.number;
    case Value::Kind::variable: return ir::variable(v.name, v.dtype);
    case Value::Kind::element: return ir::load(v.name, v.dtype, v.offset);
    case Value::Kind::array: fail(v.span, "this is an array, and a number belongs here", "an element: y[k]");
    case Value::Kind::index: fail(v.span, "this is no number", "_ind.size() is the number of elements");
    case Value::Kind::nothing: fail(v.span, "this gives nothing, and a number belongs here");
  }
  return nullptr;
}

ExprRef Translator::truth(const Value& v) {
  const ExprRef e = number(v);
  if (is_complex(e->type)) fail(v.span, "a complex number is no condition");
  return ir::cast(e, DType::boolean);
}

ExprRef Translator::convert(ExprRef e, DType to, Span span) {
  if (is_complex(e->type) && !is_complex(to))
    fail(span, "a complex number does not become " + c_name(to) + " by itself", "real(z), imag(z), abs(z)");
  return ir::cast(std::move(e), to);
}

ExprRef Translator::fixed(ExprRef e, std::string_view stem) {
  if (e->kind == ir::ExprKind::constant) return e;
  const std::string name = code_.fresh(stem);
  code_.emit(ir::let(name, e));
  return ir::variable(name, e->type);
}

ExprRef Translator::whole(const Value& v, const char* what) {
  const ExprRef e = number(v);
  if (!is_integer(e->type) && e->type != DType::boolean) fail(v.span, std::string(what) + " is an integer, and this is " + c_name(e->type));
  return ir::cast(e, DType::i64);
}

void Translator::store(const Value& place, ExprRef value, Span span) {
  if (!place.is_place()) fail(place.span, "this is no place that can be assigned to");
  if (place.is_const)
    fail(place.span, "this is constant: only what the kernel gives may be assigned to", "an output's name stands in out_params");
  value = convert(std::move(value), place.dtype, span);
  if (place.kind == Value::Kind::variable) return code_.emit(ir::assign(place.name, std::move(value)));
  stored.insert(place.name);
  code_.emit(ir::store(place.name, place.offset, std::move(value)));
}

Value Translator::comma_expression() {
  Value v = assignment();
  while (peek().is(",")) {
    take();
    v = assignment();
  }
  return v;
}

Value Translator::assignment() {
  const Depth depth(*this);
  Value left = conditional();
  for (const std::string_view op : kAssignments) {
    if (!peek().is(op)) continue;
    take();
    return assign(left, op.substr(0, op.size() - 1), assignment(), left.span);
  }
  return left;
}

Value Translator::assign(const Value& place, std::string_view operation, Value value, Span span) {
  if (!operation.empty()) {
    const Value before = numeric(number(place), place.span);
    value = binary_numbers(operation, before, value, join(span, value.span));
  }
  store(place, number(value), value.span);
  return place;
}

Value Translator::conditional() {
  const Value test = binary(0);
  if (!peek().is("?")) return test;
  take();
  const ExprRef condition = fixed(truth(test), "condition");
  code_.open();
  const Value yes = assignment();
  Code::Block yes_block = code_.take();
  expect(":", "what '?' gives");
  code_.open();
  const Value no = assignment();
  Code::Block no_block = code_.take();
  const Span span = join(test.span, no.span);
  if (yes.kind == Value::Kind::nothing && no.kind == Value::Kind::nothing) {
    code_.emit(ir::if_(condition, std::move(yes_block.body), std::move(no_block.body)));
    Value v;
    v.span = span;
    return v;
  }
  code_.put(std::move(yes_block));
  ExprRef a = number(yes);
  yes_block = code_.take();
  code_.put(std::move(no_block));
  ExprRef b = number(no);
  no_block = code_.take();
  const DType type = a->type == b->type ? a->type : common_type(a->type, b->type);
  a = ir::cast(a, type), b = ir::cast(b, type);
  if (yes_block.body.empty() && no_block.body.empty() && is_free(a) && is_free(b))
    return numeric(ir::op(ScalarOp::select, {condition, a, b}), span);
  const std::string chosen = code_.fresh("chosen");
  code_.emit(ir::var(chosen, zero_of(type)));
  yes_block.body.push_back(ir::assign(chosen, a));
  no_block.body.push_back(ir::assign(chosen, b));
  code_.emit(ir::if_(condition, std::move(yes_block.body), std::move(no_block.body)));
  return numeric(code_.snapshot(chosen, type, "choice"), span);
}

Value Translator::binary(int level) {
  if (level == static_cast<int>(kLevels.size())) return unary();
  Value left = binary(level + 1);
  for (;;) {
    std::string_view op;
    for (const std::string_view candidate : kLevels[static_cast<size_t>(level)].operators)
      if (!candidate.empty() && peek().is(candidate)) op = candidate;
    if (op.empty()) return left;
    take();
    if (level < 2) {
      left = logical(op == "&&", left, [&] { return binary(level + 1); }, left.span);
      continue;
    }
    const Value right = binary(level + 1);
    left = binary_numbers(op, left, right, join(left.span, right.span));
  }
}

Value Translator::logical(bool is_and, Value left, const std::function<Value()>& right, Span span) {
  const ExprRef first = fixed(truth(left), "first");
  code_.open();
  const Value v = right();
  const ExprRef second = truth(v);
  ir::Body body = code_.close();
  span = join(span, v.span);
  if (body.empty() && is_free(second)) return numeric(both(is_and ? ScalarOp::logical_and : ScalarOp::logical_or, first, second), span);
  const std::string both_name = code_.fresh("both");
  code_.emit(ir::var(both_name, boolean(!is_and)));
  body.push_back(ir::assign(both_name, second));
  code_.emit(is_and ? ir::if_(first, std::move(body), {ir::assign(both_name, boolean(false))}) : ir::if_(first, {}, std::move(body)));
  return numeric(code_.snapshot(both_name, DType::boolean, "truth"), span);
}

Value Translator::binary_numbers(std::string_view op, const Value& left, const Value& right, Span span) {
  ExprRef a = number(left), b = number(right);
  const auto wants_integers = [&] {
    for (const Value* v : {&left, &right})
      if (const DType t = number(*v)->type; is_float(t) || is_complex(t))
        fail(v->span, "'" + std::string(op) + "' is of integers, and this is " + c_name(t), op == "%" ? "fmod(a, b)" : "");
  };
  if (op == "<<" || op == ">>") {
    wants_integers();
    const DType type = promoted(a->type);
    return numeric(both(op == "<<" ? ScalarOp::shl : ScalarOp::shr, ir::cast(a, type), ir::cast(b, type)), span);
  }
  const DType type = common_type(a->type, b->type);
  a = ir::cast(a, type), b = ir::cast(b, type);
  if (is_complex(type) && (op == "<" || op == ">" || op == "<=" || op == ">="))
    fail(span, "complex numbers have no order", "compare abs(z) or real(z)");
  if (op == "%") {
    wants_integers();
    return numeric(both(ScalarOp::fmod, a, b), span);
  }
  if (op == "&" || op == "|" || op == "^") {
    wants_integers();
    return numeric(both(op == "&" ? ScalarOp::bit_and : op == "|" ? ScalarOp::bit_or : ScalarOp::bit_xor, a, b), span);
  }
  if (op == "/") {
    if (!is_integer(type)) return numeric(both(ScalarOp::div, a, b), span);
    if (kind(type) == 'u') return numeric(both(ScalarOp::floordiv, a, b), span);
    // C rounds towards zero: what the remainder leaves divides evenly.
    a = fixed(a, "a"), b = fixed(b, "b");
    return numeric(both(ScalarOp::floordiv, both(ScalarOp::sub, a, both(ScalarOp::fmod, a, b)), b), span);
  }
  static const std::map<std::string_view, ScalarOp> kOperations = {{"+", ScalarOp::add}, {"-", ScalarOp::sub}, {"*", ScalarOp::mul},
                                                                   {"==", ScalarOp::eq}, {"!=", ScalarOp::ne}, {"<", ScalarOp::lt},
                                                                   {">", ScalarOp::gt},  {"<=", ScalarOp::le}, {">=", ScalarOp::ge}};
  return numeric(both(kOperations.at(op), a, b), span);
}

Value Translator::step(const Value& place, int by, bool before, Span span) {
  if (is_complex(place.dtype) || place.dtype == DType::boolean)
    fail(span, "'++' and '--' are of numbers in order, and this is " + c_name(place.dtype));
  const ExprRef was = fixed(number(place), "before");
  store(place, both(by > 0 ? ScalarOp::add : ScalarOp::sub, was, ir::constant(Scalar::of_int(1).cast(place.dtype))), span);
  return before ? place : numeric(was, span);
}

Value Translator::unary() {
  const Depth depth(*this);
  const Token t = peek();
  if (t.is("++") || t.is("--")) {
    take();
    const Value v = unary();
    return step(v, t.is("++") ? 1 : -1, true, join(t.span, v.span));
  }
  if (t.is("!")) {
    take();
    const Value v = unary();
    return numeric(ir::op(ScalarOp::logical_not, {truth(v)}), join(t.span, v.span));
  }
  if (t.is("-") || t.is("+") || t.is("~")) {
    take();
    const Value v = unary();
    const ExprRef e = number(v);
    const ExprRef wide = ir::cast(e, promoted(e->type));
    if (t.is("~") && !is_integer(wide->type)) fail(v.span, "'~' is of integers, and this is " + c_name(e->type));
    return numeric(t.is("-") ? ir::op(ScalarOp::neg, {wide}) : t.is("~") ? ir::op(ScalarOp::bit_not, {wide}) : wide, join(t.span, v.span));
  }
  if (t.is("*")) unknown(t.span, "pointers are not in Gasell", "a raw array is indexed: y[k]");
  if (t.is("&"))
    unknown(t.span, "addresses are not in Gasell, but in atomic operations: atomicAdd(&y[k], x)", "a raw array is indexed: y[k]");
  if (t.is("sizeof")) {
    take();
    expect("(", "sizeof");
    const DType type = begins_type() ? number_type("sizeof") : number(comma_expression())->type;
    const Token close = expect(")", "sizeof's type");
    return numeric(ir::constant(Scalar::of_int(size_of(type), DType::u64)), join(t.span, close.span));
  }
  if (t.is("(")) return parenthesised_or_cast();
  return postfix();
}

Value Translator::parenthesised_or_cast() {
  if (!begins_type(1)) return postfix();
  const Token open = take();
  const DType type = number_type("a conversion");
  expect(")", "the type");
  const Value v = unary();
  const ExprRef e = number(v);
  return numeric(convert(e, type, v.span), join(open.span, v.span));
}

Value Translator::postfix() {
  Value v = primary();
  for (;;) {
    const Token t = peek();
    if (t.is("[")) {
      take();
      v = index(v, t.span);
    } else if (t.is("++") || t.is("--")) {
      take();
      v = step(v, t.is("++") ? 1 : -1, false, join(v.span, t.span));
    } else if (t.is(".")) {
      take();
      v = member(v, expect_name("'.'"));
    } else if (t.is("->")) {
      unknown(t.span, "pointers are not in Gasell");
    } else {
      return v;
    }
  }
}

}  // namespace gasell::c_kernels
