// Expressions of compiled functions: names, constants, conditions.
#include "compiler/functions/library.h"
#include "compiler/functions/lowering.h"
#include "lang/ast_visit.h"
#include "lang/marked_calls.h"

namespace gasell::functions {

using ir::constant_i64;
using namespace terms;
using Kind = Type::Kind;

Value Lowering::expression(const ast::ExprRef& e) {
  const Span at = e->span;
  Value v = std::visit(ast::Overloaded{
                           [&](const ast::NoneLiteral&) { return none_value(); },
                           [&](const ast::EllipsisLiteral&) {
                             Value v;
                             v.type.kind = Kind::ellipsis;
                             return v;
                           },
                           [&](const ast::BoolLiteral& n) { return scalar_value(boolean(n.value)); },
                           [&](const ast::IntLiteral& n) { return scalar_value(constant_i64(n.value)); },
                           [&](const ast::BigIntLiteral&) -> Value { unsupported(at, "an integer of more than 64 bits"); },
                           [&](const ast::BytesLiteral&) -> Value { unsupported(at, "bytes"); },
                           [&](const ast::FloatLiteral& n) {
                             return scalar_value(ir::constant(n.imaginary ? Scalar::of_complex({0, n.value}) : Scalar::of_float(n.value)));
                           },
                           [&](const ast::StringLiteral& n) { return text_value(n.value); },
                           [&](const ast::Name& n) { return name(n, at); },
                           [&](const ast::Tuple& n) {
                             std::vector<Value> items;
                             for (const ast::ExprRef& item : n.items) {
                               items.push_back(expression(item));
                               if (items.back().scalar) items.back().scalar = code().bind(items.back().scalar);
                               if (items.back().lazy) items.back() = materialise(items.back(), at);
                             }
                             return tuple_value(std::move(items));
                           },
                           [&](const ast::Unary& n) {
                             const Value operand = expression(n.operand);
                             return n.op == ast::UnaryOp::logical_not ? scalar_value(both(ScalarOp::eq, truth(operand), boolean(false)))
                                                                      : unary(n.op, operand, at);
                           },
                           [&](const ast::Binary& n) {
                             const Value left = expression(n.left);
                             return binary(n.op, left, expression(n.right), at);
                           },
                           [&](const ast::BoolChain& n) { return bool_chain(n, at); },
                           [&](const ast::Compare& n) { return comparison(n, at); },
                           [&](const ast::Conditional& n) { return conditional(n, at); },
                           [&](const ast::Call&) {
                             if (ast::yield_call(*e)) unsupported(at, "a generator", "build a list, or leave the function undecorated");
                             return call(*e);
                           },
                           [&](const ast::Attribute& n) { return attribute(expression(n.value), n.name, at); },
                           [&](const ast::Subscript& n) { return subscript(expression(n.value), n.index, at); },
                           [&](const ast::NamedExpr& n) {
                             assign(n.target, expression(n.value));
                             return name(std::get<ast::Name>(n.target->node), at);
                           },
                           [&](const ast::Slice& n) {
                             Value v;
                             v.type.kind = Kind::slice;
                             for (const ast::ExprRef& part : {n.lower, n.upper, n.step})
                               v.items.push_back(part ? expression(part) : none_value());
                             for (const Value& item : v.items) v.type.items.push_back(item.type);
                             return v;
                           },
                           [&](const ast::Lambda& n) { return nested_lambda(n, e); },
                           [&](const ast::List& n) { return list_display(n, e); },
                           [&](const ast::Comprehension& n) { return comprehension(n, e); },
                           [&](const ast::Dict& n) { return dict_display(n, e); },
                           [&](const ast::Set& n) { return set_display(n, e); },
                           [&](const ast::FString&) -> Value { unsupported(at, "an f-string"); },
                           [&](const ast::Starred&) -> Value { unsupported(at, "*"); },
                       },
                       e->node);
  v.span = at;
  return v;
}

// ---- names ----
Value Lowering::name(const ast::Name& n, Span at) {
  if (n.binding.kind != ast::Binding::Kind::global) {
    if (const auto bound = env_.find(n.id); bound != env_.end()) {
      if (bound->second.defined) {
        raise_if(ir::op(ScalarOp::logical_not, {bound->second.defined}), "UnboundLocalError",
                 "cannot access local variable '" + n.id + "' where it is not associated with a value", at);
        bound->second.defined = nullptr;
      }
      return bound->second.value;
    }
    if (!is_taken(n.id)) {
      if (untyped_.count(n.id) && !giving_up_) throw Untyped{};
      if (unknown_.count(n.id)) throw Unknown{at, "the type of '" + n.id + "' is not known"};
      code().emit(ir::raise(
          site("UnboundLocalError", "cannot access local variable '" + n.id + "' where it is not associated with a value", at), {}));
      code().kill();
      throw Unreachable{};
    }
    if (enclosing_) return enclosing_->name(n, at);
  }
  return from_outside(function_.outside(n.id), n.id, at);
}

Value Lowering::from_outside(const Outside& outside, const std::string& name, Span at) {
  switch (outside.kind) {
    case Outside::Kind::unknown: fail_as("NameError", at, "name '" + name + "' is not defined");
    case Outside::Kind::number: return scalar_value(ir::constant(outside.value));
    case Outside::Kind::text: return text_value(outside.text);
    case Outside::Kind::none: return none_value();
    case Outside::Kind::tuple: {
      std::vector<Value> items;
      for (const Outside& item : outside.items) items.push_back(from_outside(item, name, at));
      Value v = tuple_value(std::move(items));
      v.type.named = outside.named;
      return v;
    }
    case Outside::Kind::array: {
      for (size_t k = 0; k < program_.captured.size(); ++k)
        if (program_.captured[k].array == outside.array) return program_.captured_values[k];
      ArrayValue a;
      a.memory = code().fresh(name);
      a.offset = constant_i64(0);
      a.root = ++program_.roots;
      program_.captured_parameters.push_back({ir::Parameter::Kind::in, a.memory, outside.type.dtype});
      for (int k = 0; k < outside.type.rank * (outside.type.layout == Layout::c ? 1 : 2); ++k) {
        const std::string number = code().fresh(name);
        program_.captured_parameters.push_back({ir::Parameter::Kind::scalar, number, DType::i64});
        (k < outside.type.rank ? a.extents : a.strides).push_back(ir::variable(number, DType::i64));
      }
      if (outside.type.layout == Layout::c) a.strides = c_strides(a.extents);
      a.is_whole();
      program_.captured.push_back(outside);
      program_.captured_values.push_back(array_value(outside.type.dtype, outside.type.layout, std::move(a), true));
      return program_.captured_values.back();
    }
    case Outside::Kind::path:
      if (outside.text == "numpy.newaxis") return none_value();
      if (const auto constant = library_constant(outside.text)) return scalar_value(ir::constant(*constant));
      if (const auto limit = limit_of_dtype(outside.text)) return scalar_value(ir::constant(*limit));
      if (auto value = cuda_value(*this, outside.text)) return *std::move(value);
      [[fallthrough]];
    case Outside::Kind::module:
    case Outside::Kind::named:
    case Outside::Kind::function: {
      Value v;
      v.type.kind = Kind::function;
      v.type.text = outside.kind == Outside::Kind::function ? outside.function->name : outside.text;
      v.outside = outside;
      return v;
    }
    case Outside::Kind::other: break;
  }
  fail(at, "'" + name + "' is " + outside.text + ", which a compiled function cannot use", "give numbers, arrays, tuples and functions");
}

// ---- conversions ----
ExprRef Lowering::scalar(const Value& v, const char* what) {
  if (v.type.is_scalar()) return v.scalar;
  if (v.type.is_array() && v.type.rank == 0) return element(v, {});
  if (v.type.kind == Kind::optional && v.type.items[0].is_scalar()) {
    raise_if(ir::op(ScalarOp::logical_not, {v.present}), "TypeError", std::string(what) + " needs a number, and this is None", v.span);
    return v.items[0].scalar;
  }
  fail(v.span, std::string(what) + " needs a number, and this is " + describe(v.type));
}

Value Lowering::there(const Value& v, Span at) {
  if (v.type.kind != Kind::optional) return v;
  raise_if(negation(v.present), "TypeError", "expected " + to_string(v.type.items[0]) + ", got None", at);
  Value item = v.items[0];
  item.span = v.span;
  return item;
}

ExprRef Lowering::number(const Value& v, DType type) { return ir::cast(scalar(v, "this operation"), type); }

ExprRef Lowering::index_number(const Value& v, const char* what) {
  const ExprRef e = scalar(v, what);
  if (!is_integer(e->type) && e->type != DType::boolean)
    fail(v.span, std::string(what) + " needs an integer, and this is " + describe(v.type), "convert it with int(...)");
  return ir::cast(e, DType::i64);
}

ExprRef Lowering::truth(const Value& v) {
  switch (v.type.kind) {
    case Kind::none: return boolean(false);
    case Kind::text: return boolean(!v.type.text.empty());
    case Kind::tuple: return boolean(!v.items.empty());
    case Kind::list: return both(ScalarOp::ne, list_length(v), constant_i64(0));
    case Kind::table: return both(ScalarOp::ne, table_length(v), constant_i64(0));
    case Kind::range: return both(ScalarOp::ne, range_count(*this, v, v.span), constant_i64(0));
    case Kind::scalar: return ir::cast(v.scalar, DType::boolean);
    case Kind::optional: return both(ScalarOp::logical_and, v.present, truth(v.items[0]));
    case Kind::array:
      if (v.type.rank == 0) return ir::cast(element(v, {}), DType::boolean);
      fail(v.span, "the truth of an array with more than one element is ambiguous", "use np.any(...) or np.all(...)");
    default: return boolean(true);
  }
}

// ---- conditions ----
Value Lowering::choose(ExprRef condition, const std::function<Value()>& yes, const std::function<Value()>& no, Span at) {
  condition = code().bind(condition, "if");
  if (condition->kind == ir::ExprKind::constant) return condition->value.i ? yes() : no();
  Environment before = env_;
  const size_t depth = code().depth(), loops = loops_.size();
  std::optional<Unknown> unknown;
  auto lower = [&](const std::function<Value()>& f) {
    env_ = before;
    code().open();
    Value v;
    try {
      v = f();
    } catch (const Unknown& found) {
      // Of a function that calls itself one way may say the type; this code is not the last.
      if (unknown) throw;
      unknown = found;
      while (code().depth() > depth + 1) code().discard();
      loops_.resize(loops);
      v.type.kind = Kind::ellipsis;
      return std::tuple{Branch{code().take(), env_}, v, false};
    }
    if (v.lazy) v = materialise(v, at);
    v.span = at;
    const bool plain = code().is_empty() && v.type.is_scalar();
    env_["(value)"] = {v, nullptr};
    return std::tuple{Branch{code().take(), env_}, v, plain};
  };
  auto [yes_branch, a, plain_a] = lower(yes);
  auto [no_branch, b, plain_b] = lower(no);
  if (unknown) {
    program_.skipped.push_back({unknown->at, function_.source, unknown->why});
    Branch& known = a.type.kind == Kind::ellipsis ? no_branch : yes_branch;
    env_ = std::move(known.environment);
    env_.erase("(value)");
    code().put(std::move(known.block));
    code().splice();
    return a.type.kind == Kind::ellipsis ? b : a;
  }
  if (plain_a && plain_b) {
    const auto type = unify(a.type, b.type);
    env_ = std::move(before);
    return scalar_value(ir::op(ScalarOp::select, {condition, ir::cast(a.scalar, type->dtype), ir::cast(b.scalar, type->dtype)}));
  }
  Names names{"(value)"};
  for (const auto& [name, binding] : yes_branch.environment)
    if (!before.count(name)) names.insert(name);
  for (const auto& [name, binding] : no_branch.environment)
    if (!before.count(name)) names.insert(name);
  merge_branches(condition, names, std::move(yes_branch), std::move(no_branch));
  Value result = env_.at("(value)").value;
  env_.erase("(value)");
  return result;
}

Value Lowering::conditional(const ast::Conditional& e, Span at) {
  return choose(truth(expression(e.test)), [&] { return expression(e.body); }, [&] { return expression(e.orelse); }, at);
}

Value Lowering::bool_chain(const ast::BoolChain& e, Span at) {
  std::function<Value(size_t)> rest = [&](size_t k) -> Value {
    Value first = expression(e.values[k]);
    if (k + 1 == e.values.size()) return first;
    if (first.scalar) first.scalar = code().bind(first.scalar);
    const ExprRef test = truth(first);
    const auto more = [&] { return rest(k + 1); };
    const auto stop = [&] { return first; };
    return e.op == ast::BoolOp::logical_and ? choose(test, more, stop, at) : choose(test, stop, more, at);
  };
  return rest(0);
}

Value Lowering::comparison(const ast::Compare& e, Span at) {
  std::function<Value(Value, size_t)> rest = [&](Value left, size_t k) -> Value {
    if (left.scalar) left.scalar = code().bind(left.scalar);
    Value right = expression(e.comparators[k]);
    if (right.scalar && k + 1 < e.ops.size()) right.scalar = code().bind(right.scalar);
    Value first = compare(e.ops[k], left, right, at);
    first.span = at;
    if (k + 1 == e.ops.size()) return first;
    return choose(truth(first), [&] { return rest(right, k + 1); }, [&] { return scalar_value(boolean(false)); }, at);
  };
  return rest(expression(e.left), 0);
}

}  // namespace gasell::functions
