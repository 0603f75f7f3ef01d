// What the words of an expression stand for: names, calls, conversions, elements of arrays, members.
#include <algorithm>

#include "compiler/c_kernels/translator.h"

namespace gasell::c_kernels {

using ir::constant_i64;

namespace {

ExprRef both(ScalarOp op, ExprRef a, ExprRef b) { return ir::op(op, {std::move(a), std::move(b)}); }
ExprRef zero_of(DType t) { return ir::constant(Scalar::of_int(0).cast(t)); }

}  // namespace

Value Translator::primary() {
  const Token t = peek();
  if (t.kind == Token::Kind::number) {
    take();
    return numeric(ir::constant(t.value), t.span);
  }
  if (t.is("(")) {
    take();
    Value v = comma_expression();
    const Token close = expect(")", "the expression");
    v.span = join(t.span, close.span);
    return v;
  }
  if (t.kind == Token::Kind::text) unknown(t.span, "texts are not in Gasell's kernels", "print what the kernel gives");
  if (t.kind != Token::Kind::name)
    fail(t.span, t.kind == Token::Kind::end ? "an expression belongs here, and the text ends"
                                            : "an expression belongs here, and this is '" + std::string(t.text) + "'");
  if ((t.is("std") || t.is("thrust")) && peek(1).is("::")) {
    take(), take();
    return primary();
  }
  if (t.is("static_cast")) {
    take();
    expect("<", "static_cast");
    const DType type = number_type("static_cast");
    expect(">", "the type");
    expect("(", "static_cast<T>");
    const Value v = comma_expression();
    const Token close = expect(")", "the expression");
    return numeric(convert(number(v), type, v.span), join(t.span, close.span));
  }
  if (begins_type()) {  // T(x), complex<float>(re, im)
    const DType type = number_type("a conversion");
    const bool braces = peek().is("{");
    if (!braces)
      expect("(", "a type in an expression");
    else
      take();
    std::vector<Value> parts;
    while (!peek().is(braces ? "}" : ")")) {
      parts.push_back(assignment());
      if (!accept(",")) break;
    }
    const Span span = join(t.span, expect(braces ? "}" : ")", "the value").span);
    if (parts.empty()) return numeric(zero_of(type), span);
    if (parts.size() == 1) return numeric(convert(number(parts[0]), type, parts[0].span), span);
    if (!is_complex(type) || parts.size() > 2) fail(span, c_name(type) + " is made of one number");
    const DType part = real_of(type);
    return numeric(
        ir::op(ScalarOp::make_complex, {convert(number(parts[0]), part, parts[0].span), convert(number(parts[1]), part, parts[1].span)}),
        span);
  }
  take();
  Symbol* s = find(t.text);
  if (!s || s->kind == Symbol::Kind::function) {
    const bool has_types = s && peek().is("<") && std::any_of(s->functions.begin(), s->functions.end(), [](const Definition& d) {
                             return !d.type_parameters.empty();
                           });
    std::vector<DType> types;
    if (has_types) {
      take();
      while (!peek().is(">")) {
        types.push_back(number_type("a template"));
        if (!accept(",")) break;
      }
      expect(">", "the types");
    }
    if (peek().is("(")) {
      if (!s && t.text.starts_with("atomic")) return atomic(t, t.span);
      std::vector<Value> given = arguments();
      const Span span = join(t.span, tokens_->words[at_ - 1].span);
      if (s) return call_function(s->functions, t, std::move(types), std::move(given), span);
      if (auto v = known_function(t, given, span)) return *v;
      unknown(t.span, "the function '" + std::string(t.text) + "' is not known", "math.h's functions and those of the preamble are");
    }
    if (auto v = known_name(t)) return *v;
    if (s) fail(t.span, "the function '" + std::string(t.text) + "' needs its arguments: " + std::string(t.text) + "(...)");
    for (const char* word : {"threadIdx", "blockIdx", "blockDim", "gridDim"})
      if (t.is(word)) unknown(t.span, "'" + std::string(word) + "' is for raw kernels", "'i' is the place of the element");
    fail(t.span, "'" + std::string(t.text) + "' is not declared");
  }
  Value v;
  v.span = t.span;
  v.dtype = s->dtype;
  v.is_const = s->is_const;
  switch (s->kind) {
    case Symbol::Kind::number: return numeric(s->number, t.span);
    case Symbol::Kind::variable:
      v.kind = Value::Kind::variable;
      v.name = s->name;
      break;
    case Symbol::Kind::element:
      v.kind = Value::Kind::element;
      v.name = s->name;
      v.offset = s->offset;
      break;
    case Symbol::Kind::array:
      v.kind = Value::Kind::array;
      v.array = s->array.get();
      v.name = std::string(t.text);
      v.offset = constant_i64(0);
      break;
    case Symbol::Kind::indexer:
      v.kind = Value::Kind::index;
      v.number = s->number;
      v.offset = s->offset;
      break;
    default: fail(t.span, "'" + std::string(t.text) + "' is a type");
  }
  return v;
}

std::vector<Value> Translator::arguments() {
  expect("(", "a function");
  std::vector<Value> result;
  while (!peek().is(")")) {
    Value v = assignment();
    // What later arguments change must not change earlier ones.
    result.push_back(std::move(v));
    if (!accept(",")) break;
  }
  expect(")", "the arguments");
  return result;
}

ExprRef Translator::checked(ExprRef k, const ExprRef& extent, Span at, const std::string& what) {
  k = fixed(k, "k");
  if (!checks_bounds_) return k;
  const bool constant = k->kind == ir::ExprKind::constant && extent->kind == ir::ExprKind::constant;
  if (constant && k->value.i >= 0 && k->value.i < extent->value.i) return k;
  functions::Site site;
  site.exception = "IndexError";
  site.message = "index {0} is out of bounds for " + what + " with size {1}";
  site.span = at;
  site.source = tokens_->source;
  site.function = kernel_name_;
  sites.push_back(std::move(site));
  const ExprRef outside = both(ScalarOp::logical_or, both(ScalarOp::lt, k, constant_i64(0)), both(ScalarOp::ge, k, extent));
  code_.emit(ir::if_(outside, {ir::raise(static_cast<int64_t>(sites.size()), {k, extent})}, {}));
  return k;
}

ExprRef Translator::offset_of(const Array& array, ExprRef linear) {
  if (array.contiguous || array.extents.empty()) return linear;
  ExprRef offset = constant_i64(0), rest = linear;
  for (size_t k = array.extents.size(); k-- > 0;) {
    const ExprRef quotient = k ? code_.bind(rest / array.extents[k], "q") : constant_i64(0);
    const ExprRef here = k ? code_.bind(rest - quotient * array.extents[k], "r") : rest;
    offset = offset + here * array.strides[k];
    rest = quotient;
  }
  return code_.bind(offset, "offset");
}

Value Translator::index(const Value& base, Span open) {
  if (base.kind != Value::Kind::array)
    fail(join(base.span, open),
         base.kind == Value::Kind::element ? "this is an element already, not an array" : "this is no array, so it has no elements",
         base.kind == Value::Kind::element ? "a parameter that is indexed is declared raw: 'raw T y'" : "");
  const Value at = comma_expression();
  const Span span = join(base.span, expect("]", "the index").span);
  const ExprRef k = whole(at, "an index");
  const Array& array = *base.array;
  Value v;
  v.dtype = array.dtype;
  v.span = span;
  v.is_const = base.is_const;
  v.name = array.memory;
  if (!array.is_local) {
    ExprRef size = constant_i64(1);
    for (const ExprRef& e : array.extents) size = size * e;
    v.kind = Value::Kind::element;
    v.offset = offset_of(array, checked(k, code_.bind(size, "size"), span, "'" + base.name + "'"));
    return v;
  }
  const ExprRef inside =
      checked(k, array.extents[base.axis], span,
              array.extents.size() > 1 ? "axis " + std::to_string(base.axis) + " of '" + base.name + "'" : "'" + base.name + "'");
  v.offset = code_.bind(base.offset + inside * array.strides[base.axis], "offset");
  v.axis = base.axis + 1;
  if (v.axis == array.extents.size()) {
    v.kind = Value::Kind::element;
  } else {
    v.kind = Value::Kind::array;
    v.array = base.array;
    v.name = base.name;
  }
  return v;
}

Value Translator::member(const Value& base, const Token& name) {
  const Span span = join(base.span, name.span);
  const auto call = [&] {
    expect("(", "a method");
    return join(span, expect(")", "the method's '('").span);
  };
  if (base.kind == Value::Kind::index) {
    if (name.is("size")) return call(), numeric(base.number, span);
    if (name.is("get")) return call(), numeric(base.offset, span);
    unknown(name.span, "an indexer has size() and get()");
  }
  if (base.kind == Value::Kind::array) {
    const Array& array = *base.array;
    if (name.is("size")) {
      call();
      ExprRef size = constant_i64(1);
      for (const ExprRef& e : array.extents) size = size * e;
      return numeric(size, span);
    }
    if (name.is("ndim")) return numeric(ir::constant(Scalar::of_int(static_cast<int64_t>(array.extents.size()), DType::i32)), span);
    if (name.is("shape") || name.is("strides")) {
      call();
      expect("[", "shape()");
      const Value axis = conditional();
      const Span all = join(span, expect("]", "the axis").span);
      const ExprRef e = number(axis);
      if (e->kind != ir::ExprKind::constant || e->value.i < 0 || e->value.i >= static_cast<int64_t>(array.extents.size()))
        fail(axis.span, "an axis is a constant from 0 to below " + std::to_string(array.extents.size()));
      const auto k = static_cast<size_t>(e->value.i);
      return numeric(name.is("shape") ? array.extents[k] : array.strides[k] * constant_i64(size_of(array.dtype)), all);
    }
    unknown(name.span, "an array of a kernel has size(), shape()[k], strides()[k], ndim and elements");
  }
  const ExprRef e = number(base);
  if (is_complex(e->type) && (name.is("real") || name.is("imag"))) {
    call();
    return numeric(ir::op(name.is("real") ? ScalarOp::real : ScalarOp::imag, {e}), span);
  }
  if (is_complex(e->type) && (name.is("x") || name.is("y")))
    return numeric(ir::op(name.is("x") ? ScalarOp::real : ScalarOp::imag, {e}), span);
  fail(name.span, c_name(e->type) + " has no member '" + std::string(name.text) + "'");
}

}  // namespace gasell::c_kernels
