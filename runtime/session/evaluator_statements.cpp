// Assignments, loops, branches and the other plain statements.
#include <algorithm>

#include "lang/marked_calls.h"
#include "lang/parser.h"
#include "runtime/session/dict.h"
#include "runtime/session/generator.h"
#include "runtime/session/loop_target.h"
#include "runtime/session/types.h"

namespace gasell {
namespace {

struct ExpressionStatement final : StatementNode {
  Flow run(Frame& f) const override { return has_raised(f, value->attempt(f)) ? Flow::raised : Flow::next; }
  NodePtr value;
};

struct AssignStatement final : StatementNode {
  Flow run(Frame& f) const override {
    Value v = value->attempt(f);
    if (has_raised(f, v)) [[unlikely]]
      return Flow::raised;
    for (size_t i = 0; i + 1 < targets.size(); ++i) targets[i]->assign(f, v);
    targets.back()->assign(f, std::move(v));
    return Flow::next;
  }
  NodePtr value;
  std::vector<TargetPtr> targets;
};

/// a, b = x, y: no tuple is made.
struct ParallelAssignStatement final : StatementNode {
  Flow run(Frame& f) const override {
    StackValues room(f.session.stack, values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      room[i] = values[i]->attempt(f);
      if (has_raised(f, room[i])) [[unlikely]]
        return Flow::raised;
    }
    for (size_t i = 0; i < values.size(); ++i) (*targets)[i]->assign(f, std::move(room[i]));
    return Flow::next;
  }
  std::vector<NodePtr> values;
  TargetPtr target;
  const std::vector<TargetPtr>* targets = nullptr;  // of the target, as many as values
};

/// The items of a tuple that is written out, without `*`; null for other expressions.
const std::vector<ast::ExprRef>* plain_items(const ast::Expr& e) {
  const auto* tuple = std::get_if<ast::Tuple>(&e.node);
  if (!tuple) return nullptr;
  for (const ast::ExprRef& item : tuple->items)
    if (std::holds_alternative<ast::Starred>(item->node)) return nullptr;
  return &tuple->items;
}

struct UpdateStatement final : StatementNode {
  Flow run(Frame& f) const override { return target->update(f, op, *value, span); }
  TargetPtr target;
  UpdateOp op = nullptr;
  NodePtr value;
};

/// In a class's body: target: annotation = value. The annotations are a variable of the body.
struct AnnotatedStatement final : StatementNode {
  Flow run(Frame& f) const override {
    if (value) target->assign(f, value->evaluate(f));
    Value& kept = f.locals[annotations];
    if (kept.is_absent()) kept = make_dict();
    const Value* feature = f.code.globals->find("annotations");  // from __future__ import annotations
    const bool as_text = feature && type_of(*feature).name == "_Feature";
    kept.as<Dict>()->insert(f.in, make_str(name), as_text ? make_str(text) : annotation->evaluate(f));
    return Flow::next;
  }
  std::string name, text;
  TargetPtr target;
  NodePtr value, annotation;
  size_t annotations = 0;
};

/// if, elif …, else
struct IfStatement final : StatementNode {
  Flow run(Frame& f) const override {
    for (const auto& [condition, block] : branches) {
      if (condition->test(f)) return run_block(block, f);
    }
    return run_block(orelse, f);
  }
  std::vector<std::pair<NodePtr, Block>> branches;
  Block orelse;
};

struct WhileStatement final : StatementNode {
  Flow run(Frame& f) const override {
    while (condition->test(f)) {
      Flow flow = run_block(body, f);
      if (flow == Flow::break_loop) return Flow::next;
      if (flow > Flow::continue_loop) return flow;
      f.at = span;
      f.session.poll();
    }
    return run_block(orelse, f);
  }
  NodePtr condition;
  Block body, orelse;
};

struct ForStatement final : StatementNode {
  Flow run(Frame& f) const override {
    Value given = iterable->evaluate(f);
    f.at = iterable->span;
    LoopItems items(f.in, std::move(given), target);
    while (target.take(f, items)) {
      Flow flow = run_block(body, f);
      if (flow == Flow::break_loop) return Flow::next;
      if (flow > Flow::continue_loop) return flow;
      f.at = iterable->span;
      f.session.poll();
    }
    return run_block(orelse, f);
  }
  LoopTarget target;
  NodePtr iterable;
  Block body, orelse;
};

template <Flow flow>
struct JumpStatement final : StatementNode {
  Flow run(Frame&) const override { return flow; }
};

struct ReturnStatement final : StatementNode {
  Flow run(Frame& f) const override {
    Value v = value ? value->attempt(f) : Value();
    if (has_raised(f, v)) [[unlikely]]
      return Flow::raised;
    f.result = std::move(v);
    return Flow::return_value;
  }
  NodePtr value;
};

struct AssertStatement final : StatementNode {
  Flow run(Frame& f) const override {
    if (condition->test(f)) return Flow::next;
    std::vector<Value> args;
    if (message) args.push_back(message->evaluate(f));
    f.at = condition->span;
    throw Raised(Value::make<Exception>(*exception_type("AssertionError"), std::move(args)));
  }
  NodePtr condition, message;
};

struct DeleteStatement final : StatementNode {
  Flow run(Frame& f) const override {
    for (const TargetPtr& t : targets) t->remove(f);
    return Flow::next;
  }
  std::vector<TargetPtr> targets;
};

struct LowerStatement {
  Lowering& l;
  StatementPtr operator()(const ast::ExprStmt& s) const {
    auto node = std::make_unique<ExpressionStatement>();
    node->value = lower(l, s.value);
    return node;
  }
  StatementPtr operator()(const ast::Assign& s) const {
    if (const auto* items = s.targets.size() == 1 ? plain_items(*s.value) : nullptr; items && !items->empty()) {
      TargetPtr target = lower_target(l, s.targets[0]);
      const std::vector<TargetPtr>* targets = unpacked_targets(*target);
      if (targets && targets->size() == items->size()) {
        auto node = std::make_unique<ParallelAssignStatement>();
        for (const ast::ExprRef& item : *items) node->values.push_back(lower(l, item));
        node->target = std::move(target);
        node->targets = targets;
        return node;
      }
    }
    auto node = std::make_unique<AssignStatement>();
    node->value = lower(l, s.value);
    for (const ast::ExprRef& t : s.targets) node->targets.push_back(lower_target(l, t));
    return node;
  }
  StatementPtr operator()(const ast::AnnAssign& s) const {
    const auto& names = l.code.local_names;
    const auto kept = std::find(names.begin(), names.end(), "__annotations__");
    const auto* of = std::get_if<ast::Name>(&s.target->node);
    if (is_class_body(l.code) && of && kept != names.end()) {
      auto node = std::make_unique<AnnotatedStatement>();
      node->name = of->id;
      node->value = lower_optional(l, s.value);
      if (s.value) node->target = lower_target(l, s.target);
      node->annotation = lower(l, s.annotation);
      node->text = print(*s.annotation);
      node->annotations = static_cast<size_t>(kept - names.begin());
      return node;
    }
    if (!s.value) return std::make_unique<JumpStatement<Flow::next>>();
    auto node = std::make_unique<AssignStatement>();
    node->value = lower(l, s.value);
    node->targets.push_back(lower_target(l, s.target));
    return node;
  }
  StatementPtr operator()(const ast::AugAssign& s) const {
    auto node = std::make_unique<UpdateStatement>();
    node->target = lower_target(l, s.target);
    node->op = update_op(s.op);
    node->value = lower(l, s.value);
    return node;
  }
  StatementPtr operator()(const ast::If& s) const {
    if (const ast::Call* subject = ast::match_call(s)) return lower_match(l, *subject, s.body);
    auto node = std::make_unique<IfStatement>();
    const ast::If* branch = &s;
    while (true) {
      NodePtr condition = lower(l, branch->test);
      node->branches.emplace_back(std::move(condition), lower(l, branch->body));
      const auto* next = branch->orelse.size() == 1 ? std::get_if<ast::If>(&branch->orelse[0]->node) : nullptr;
      if (!next || ast::match_call(*next)) break;
      branch = next;
    }
    node->orelse = lower(l, branch->orelse);
    return node;
  }
  StatementPtr operator()(const ast::While& s) const {
    auto node = std::make_unique<WhileStatement>();
    node->condition = lower(l, s.test);
    node->body = lower(l, s.body);
    node->orelse = lower(l, s.orelse);
    return node;
  }
  StatementPtr operator()(const ast::For& s) const {
    auto node = std::make_unique<ForStatement>();
    node->iterable = lower(l, s.iter);
    node->target = LoopTarget(lower_target(l, s.target));
    node->body = lower(l, s.body);
    node->orelse = lower(l, s.orelse);
    return node;
  }
  StatementPtr operator()(const ast::Break&) const { return std::make_unique<JumpStatement<Flow::break_loop>>(); }
  StatementPtr operator()(const ast::Continue&) const { return std::make_unique<JumpStatement<Flow::continue_loop>>(); }
  StatementPtr operator()(const ast::Return& s) const {
    auto node = std::make_unique<ReturnStatement>();
    node->value = lower_optional(l, s.value);
    return node;
  }
  StatementPtr operator()(const ast::Assert& s) const {
    auto node = std::make_unique<AssertStatement>();
    node->condition = lower(l, s.test);
    node->message = lower_optional(l, s.message);
    return node;
  }
  StatementPtr operator()(const ast::Delete& s) const {
    auto node = std::make_unique<DeleteStatement>();
    for (const ast::ExprRef& t : s.targets) node->targets.push_back(lower_target(l, t));
    return node;
  }
  StatementPtr operator()(const auto&) const { return nullptr; }
};

/// `target := value`
struct NamedNode final : Node {
  Value evaluate(Frame& f) const override {
    Value v = value->evaluate(f);
    target->assign(f, v);
    return v;
  }
  TargetPtr target;
  NodePtr value;
};

struct LowerExpression {
  Lowering& l;
  const ast::ExprRef& ref;
  const ast::Expr& e = *ref;
  NodePtr operator()(const ast::Name& n) const { return lower_name(l, n.id, n.binding, e.span); }
  NodePtr operator()(const ast::Unary&) const { return lower_operator(l, e); }
  NodePtr operator()(const ast::Binary&) const { return lower_operator(l, e); }
  NodePtr operator()(const ast::BoolChain&) const { return lower_operator(l, e); }
  NodePtr operator()(const ast::Compare&) const { return lower_operator(l, e); }
  NodePtr operator()(const ast::Conditional&) const { return lower_operator(l, e); }
  NodePtr operator()(const ast::Call&) const {
    if (ast::yield_call(e))
      throw Error(Diagnostic{Blame::limitation,
                             "NotImplementedError",
                             "a yield in a lambda is not in Gasell",
                             Label{l.code.source, e.span, ""},
                             {},
                             "write a def"});
    return lower_call(l, e);
  }
  NodePtr operator()(const ast::Attribute&) const { return lower_access(l, e); }
  NodePtr operator()(const ast::Subscript&) const { return lower_access(l, e); }
  NodePtr operator()(const ast::Lambda&) const { return lower_function(l, ref); }
  NodePtr operator()(const ast::Comprehension&) const { return lower_comprehension(l, e); }
  NodePtr operator()(const ast::NamedExpr& n) const {
    auto node = std::make_unique<NamedNode>();
    node->span = e.span;
    node->value = lower(l, n.value);
    node->target = lower_target(l, n.target);
    return node;
  }
  NodePtr operator()(const ast::Starred&) const {
    throw Error(Diagnostic{Blame::user, "SyntaxError", "can't use starred expression here", Label{l.code.source, e.span, ""}, {}, ""});
  }
  NodePtr operator()(const auto&) const { return lower_display(l, e); }
};

}  // namespace

// ---- the one entrance for each kind of tree ----

StatementPtr lower(Lowering& l, const ast::StmtRef& s) {
  StatementPtr node;
  if (l.code.generator && ast::yields(s)) return lower_resumable(l, s);
  if (std::holds_alternative<ast::FunctionDef>(s->node)) {
    node = lower_definition(l, s);
  } else if (std::holds_alternative<ast::Import>(s->node) || std::holds_alternative<ast::ImportFrom>(s->node)) {
    node = lower_import(l, *s);
  } else if (std::holds_alternative<ast::Try>(s->node) || std::holds_alternative<ast::Raise>(s->node) ||
             std::holds_alternative<ast::With>(s->node)) {
    node = lower_try(l, *s);
  } else {
    node = std::visit(LowerStatement{l}, s->node);
  }
  if (node) node->span = s->span;
  return node;
}

Block lower(Lowering& l, const ast::Body& body) {
  Block block;
  for (const ast::StmtRef& s : body) {
    if (StatementPtr node = lower(l, s)) block.push_back(std::move(node));  // null: pass, global, nonlocal
  }
  return block;
}

NodePtr lower(Lowering& l, const ast::ExprRef& e) { return std::visit(LowerExpression{l, e}, e->node); }

NodePtr lower_optional(Lowering& l, const ast::ExprRef& e) { return e ? lower(l, e) : nullptr; }

}  // namespace gasell
