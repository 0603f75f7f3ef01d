// Operators: arithmetic, comparison chains, and/or/not, the conditional expression. Numbers take a short way.
#include "runtime/session/evaluator.h"
#include "runtime/session/operand.h"
#include "runtime/session/operations_numbers.h"

namespace gasell {
namespace {

/// Two operands, evaluated from left to right. Variables are not copied where both stand for themselves.
struct Operands {
  Operand left, right;
  /// Calls `work` with both values.
  auto with(Frame& f, const auto& work) const {
    const Value* const known = right.place(f);
    if (const Value* a = known ? left.place(f) : nullptr) return work(*a, *known);
    const Value a = left.node->evaluate(f);
    if (const Value* b = right.place(f)) return work(a, *b);
    return work(a, right.node->evaluate(f));
  }
};

template <ast::BinaryOp op>
struct BinaryNode final : Node {
  Value evaluate(Frame& f) const override {
    return operands.with(f, [&](const Value& a, const Value& b) { return of(f, a, b); });
  }
  Value attempt(Frame& f) const override {
    const Value* const known = operands.right.place(f);
    if (const Value* a = known ? operands.left.place(f) : nullptr) return of(f, *a, *known);
    const Value a = operands.left.node->attempt(f);
    if (has_raised(f, a)) [[unlikely]]
      return Value::absent();
    if (const Value* b = operands.right.place(f)) return of(f, a, *b);
    const Value b = operands.right.node->attempt(f);
    if (has_raised(f, b)) [[unlikely]]
      return Value::absent();
    return of(f, a, b);
  }
  Value of(Frame& f, const Value& a, const Value& b) const {
    f.at = span;
    if constexpr (op != ast::BinaryOp::matmul) {
      if (a.is_int() && b.is_int()) return int_binary<op>(a.as_int(), b.as_int());
    }
    if constexpr (is_float_operator(op)) {
      if (a.is_float() && b.is_float()) return float_binary<op>(a.as_float(), b.as_float());
    }
    return binary(f.in, op, a, b);
  }
  explicit BinaryNode(Operands o) : operands(std::move(o)) {}
  const Operands operands;
};

template <ast::BinaryOp op>
NodePtr make_binary(NodePtr left, NodePtr right) {
  return std::make_unique<BinaryNode<op>>(Operands{Operand(std::move(left)), Operand(std::move(right))});
}

NodePtr make_binary(ast::BinaryOp op, NodePtr a, NodePtr b) {
  using enum ast::BinaryOp;
  switch (op) {
    case add: return make_binary<add>(std::move(a), std::move(b));
    case sub: return make_binary<sub>(std::move(a), std::move(b));
    case mul: return make_binary<mul>(std::move(a), std::move(b));
    case div: return make_binary<div>(std::move(a), std::move(b));
    case floordiv: return make_binary<floordiv>(std::move(a), std::move(b));
    case mod: return make_binary<mod>(std::move(a), std::move(b));
    case pow: return make_binary<pow>(std::move(a), std::move(b));
    case matmul: return make_binary<matmul>(std::move(a), std::move(b));
    case lshift: return make_binary<lshift>(std::move(a), std::move(b));
    case rshift: return make_binary<rshift>(std::move(a), std::move(b));
    case bit_and: return make_binary<bit_and>(std::move(a), std::move(b));
    case bit_or: return make_binary<bit_or>(std::move(a), std::move(b));
    case bit_xor: return make_binary<bit_xor>(std::move(a), std::move(b));
  }
  return nullptr;
}

struct UnaryNode final : Node {
  UnaryNode(ast::UnaryOp o, NodePtr v) : op(o), operand(std::move(v)) {}
  Value evaluate(Frame& f) const override {
    Value v = operand->evaluate(f);
    f.at = span;
    return unary(f.in, op, v);
  }
  ast::UnaryOp op;
  NodePtr operand;
};

struct NotNode final : Node {
  explicit NotNode(NodePtr v) : operand(std::move(v)) {}
  Value evaluate(Frame& f) const override { return Value::of(!operand->test(f)); }
  bool test(Frame& f) const override { return !operand->test(f); }
  NodePtr operand;
};

/// One comparison, specialised so that a test of numbers makes no value.
template <ast::CompareOp op>
struct CompareNode final : Node {
  static constexpr bool kOrdering = op <= ast::CompareOp::ge;
  explicit CompareNode(Operands o) : operands(std::move(o)) {}
  Value evaluate(Frame& f) const override {
    return operands.with(f, [&](const Value& a, const Value& b) {
      if constexpr (kOrdering) {
        if (a.is_int() && b.is_int()) return Value::of(ordered<op>(a.as_int(), b.as_int()));
        if (a.is_float() && b.is_float()) return Value::of(ordered<op>(a.as_float(), b.as_float()));
      }
      f.at = span;
      return compare(f.in, op, a, b);
    });
  }
  bool test(Frame& f) const override {
    return operands.with(f, [&](const Value& a, const Value& b) {
      if constexpr (kOrdering) {
        if (a.is_int() && b.is_int()) return ordered<op>(a.as_int(), b.as_int());
        if (a.is_float() && b.is_float()) return ordered<op>(a.as_float(), b.as_float());
      }
      f.at = span;
      const Value v = compare(f.in, op, a, b);
      return v.is_bool() ? v.as_int() != 0 : truth(f.in, v);
    });
  }
  const Operands operands;
};

template <ast::CompareOp op>
NodePtr make_compare(NodePtr left, NodePtr right) {
  return std::make_unique<CompareNode<op>>(Operands{Operand(std::move(left)), Operand(std::move(right))});
}

NodePtr make_compare(ast::CompareOp op, NodePtr a, NodePtr b) {
  using Op = ast::CompareOp;
  switch (op) {
    case Op::eq: return make_compare<Op::eq>(std::move(a), std::move(b));
    case Op::ne: return make_compare<Op::ne>(std::move(a), std::move(b));
    case Op::lt: return make_compare<Op::lt>(std::move(a), std::move(b));
    case Op::le: return make_compare<Op::le>(std::move(a), std::move(b));
    case Op::gt: return make_compare<Op::gt>(std::move(a), std::move(b));
    case Op::ge: return make_compare<Op::ge>(std::move(a), std::move(b));
    case Op::is: return make_compare<Op::is>(std::move(a), std::move(b));
    case Op::is_not: return make_compare<Op::is_not>(std::move(a), std::move(b));
    case Op::in: return make_compare<Op::in>(std::move(a), std::move(b));
    case Op::not_in: return make_compare<Op::not_in>(std::move(a), std::move(b));
  }
  return nullptr;
}

/// a < b < c: each operand once, and no further than the first false.
struct CompareChain final : Node {
  Value evaluate(Frame& f) const override {
    Value a = first->evaluate(f);
    Value result;
    for (size_t i = 0; i < ops.size(); ++i) {
      Value b = operands[i]->evaluate(f);
      f.at = span;
      result = compare(f.in, ops[i], a, b);
      if (i + 1 < ops.size() && !truth(f.in, result)) return result;
      a = std::move(b);
    }
    return result;
  }
  NodePtr first;
  std::vector<ast::CompareOp> ops;
  std::vector<NodePtr> operands;
};

template <bool conjunction>
struct BoolNode final : Node {
  Value evaluate(Frame& f) const override {
    for (size_t i = 0; i + 1 < values.size(); ++i) {
      Value v = values[i]->evaluate(f);
      f.at = values[i]->span;
      if (truth(f.in, v) != conjunction) return v;
    }
    return values.back()->evaluate(f);
  }
  bool test(Frame& f) const override {
    for (const NodePtr& v : values) {
      if (v->test(f) != conjunction) return !conjunction;
    }
    return conjunction;
  }
  std::vector<NodePtr> values;
};

struct ConditionalNode final : Node {
  Value evaluate(Frame& f) const override { return (condition->test(f) ? body : orelse)->evaluate(f); }
  Value attempt(Frame& f) const override { return (condition->test(f) ? body : orelse)->attempt(f); }
  NodePtr condition, body, orelse;
};

template <ast::BinaryOp op>
Value update_with(Interpreter& in, const Value& old, const Value& operand) {
  if constexpr (op != ast::BinaryOp::matmul) {
    if (old.is_int() && operand.is_int()) return int_binary<op>(old.as_int(), operand.as_int());
  }
  if constexpr (is_float_operator(op)) {
    if (old.is_float() && operand.is_float()) return float_binary<op>(old.as_float(), operand.as_float());
  }
  return in_place(in, op, old, operand);
}

}  // namespace

UpdateOp update_op(ast::BinaryOp op) {
  using enum ast::BinaryOp;
  switch (op) {
    case add: return update_with<add>;
    case sub: return update_with<sub>;
    case mul: return update_with<mul>;
    case div: return update_with<div>;
    case floordiv: return update_with<floordiv>;
    case mod: return update_with<mod>;
    case pow: return update_with<pow>;
    case matmul: return update_with<matmul>;
    case lshift: return update_with<lshift>;
    case rshift: return update_with<rshift>;
    case bit_and: return update_with<bit_and>;
    case bit_or: return update_with<bit_or>;
    case bit_xor: return update_with<bit_xor>;
  }
  return nullptr;
}

NodePtr lower_operator(Lowering& l, const ast::Expr& e) {
  NodePtr node;
  if (const auto* b = std::get_if<ast::Binary>(&e.node)) {
    NodePtr left = lower(l, b->left);
    node = make_binary(b->op, std::move(left), lower(l, b->right));
  } else if (const auto* u = std::get_if<ast::Unary>(&e.node)) {
    if (u->op == ast::UnaryOp::logical_not) {
      node = std::make_unique<NotNode>(lower(l, u->operand));
    } else {
      node = std::make_unique<UnaryNode>(u->op, lower(l, u->operand));
    }
  } else if (const auto* c = std::get_if<ast::Compare>(&e.node)) {
    NodePtr left = lower(l, c->left);
    if (c->ops.size() == 1) {
      node = make_compare(c->ops[0], std::move(left), lower(l, c->comparators[0]));
    } else {
      auto chain = std::make_unique<CompareChain>();
      chain->first = std::move(left);
      chain->ops = c->ops;
      for (const ast::ExprRef& operand : c->comparators) chain->operands.push_back(lower(l, operand));
      node = std::move(chain);
    }
  } else if (const auto* chain = std::get_if<ast::BoolChain>(&e.node)) {
    std::vector<NodePtr> values;
    for (const ast::ExprRef& v : chain->values) values.push_back(lower(l, v));
    if (chain->op == ast::BoolOp::logical_and) {
      auto all = std::make_unique<BoolNode<true>>();
      all->values = std::move(values);
      node = std::move(all);
    } else {
      auto any = std::make_unique<BoolNode<false>>();
      any->values = std::move(values);
      node = std::move(any);
    }
  } else {
    const auto& choice = std::get<ast::Conditional>(e.node);
    auto conditional = std::make_unique<ConditionalNode>();
    conditional->condition = lower(l, choice.test);
    conditional->body = lower(l, choice.body);
    conditional->orelse = lower(l, choice.orelse);
    node = std::move(conditional);
  }
  node->span = e.span;
  return node;
}

}  // namespace gasell
