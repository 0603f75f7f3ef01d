// Statements of generators: each that holds a yield keeps in its resume point where it stopped, and goes on there. Statements without
// yields run as everywhere.
#include <fmt/format.h>

#include "lang/ast_visit.h"
#include "lang/marked_calls.h"
#include "runtime/session/class.h"
#include "runtime/session/generator.h"

namespace gasell {
namespace {

[[noreturn]] void refuse(const Lowering& l, Span span, const std::string& what) {
  throw Error(Diagnostic{Blame::limitation,
                         "NotImplementedError",
                         what + " is not in Gasell",
                         Label{l.code.source, span, ""},
                         {},
                         "yield into a variable before"});
}

struct ResumableBlock final : StatementNode {
  Flow run(Frame& f) const override {
    int32_t& at = point_of(f, point).at;
    for (auto i = static_cast<size_t>(std::exchange(at, 0)); i < statements.size(); ++i) {
      const Flow flow = statements[i]->run(f);
      if (flow == Flow::yield_value) at = static_cast<int32_t>(i);
      if (flow != Flow::next) return flow;
    }
    return Flow::next;
  }
  int point = 0;
  Block statements;
};

/// targets = yield value
struct YieldStatement final : StatementNode {
  Flow run(Frame& f) const override {
    int32_t& at = point_of(f, point).at;
    if (std::exchange(at, 0) == 0) {
      f.result = value ? value->evaluate(f) : Value();
      at = 1;
      return Flow::yield_value;
    }
    f.at = span;
    Suspension& suspension = *f.suspension;
    if (!suspension.thrown.is_absent()) throw Raised(std::exchange(suspension.thrown, Value::absent()));
    for (const TargetPtr& target : targets) target->assign(f, suspension.sent);
    if (!suspension.sent.is_none()) suspension.sent = Value();
    return Flow::next;
  }
  int point = 0;
  NodePtr value;
  std::vector<TargetPtr> targets;
};

/// targets = yield from iterable
struct YieldFromStatement final : StatementNode {
  Flow run(Frame& f) const override {
    ResumePoint& point = point_of(f, this->point);
    Value iterator, sent, thrown = Value::absent();
    if (std::exchange(point.at, 0) == 0) {
      const Value iterable = value->evaluate(f);
      f.at = span;
      iterator = iterate(f.in, iterable);
    } else {
      f.at = span;
      iterator = std::exchange(point.value, Value());
      sent = std::exchange(f.suspension->sent, Value());
      thrown = std::exchange(f.suspension->thrown, Value::absent());
      if (!f.suspension->failed.is_absent()) throw Raised(std::exchange(f.suspension->failed, Value::absent()));
    }
    Value returned;
    if (std::optional<Value> item = advance(f, iterator, std::move(sent), std::move(thrown), returned)) {
      f.result = *std::move(item);
      f.suspension->delegate = iterator.as<Generator>();
      point.value = std::move(iterator);
      point.at = 1;
      return Flow::yield_value;
    }
    for (const TargetPtr& target : targets) target->assign(f, returned);
    return Flow::next;
  }

  /// What the iterator gives next; at its end nullopt, and what it returned.
  std::optional<Value> advance(Frame& f, const Value& iterator, Value sent, Value thrown, Value& returned) const {
    auto* generator = iterator.as<Generator>();
    if (!thrown.is_absent()) {
      const bool exits = is_instance(thrown, *exception_type("GeneratorExit"));
      const std::string method = exits ? "close" : "throw";
      if (!generator && !has_attribute(f.in, iterator, method)) throw Raised(std::move(thrown));
      if (exits) {
        if (generator)
          generator->close(f.in);
        else
          call(f.in, get_attribute(f.in, iterator, method), {});
        throw Raised(std::move(thrown));
      }
      if (!generator) return by_method(f, iterator, method, {thrown}, returned);
    }
    if (generator) {
      std::optional<Value> item = generator->resume(f.in, std::move(sent), std::move(thrown));
      if (!item) returned = generator->take_returned();
      return item;
    }
    if (!sent.is_none()) return by_method(f, iterator, "send", {sent}, returned);
    if (user_object(iterator)) return by_method(f, iterator, "__next__", {}, returned);
    return gasell::next(f.in, iterator);
  }

  static std::optional<Value> by_method(Frame& f, const Value& iterator, const std::string& name, std::vector<Value> args,
                                        Value& returned) {
    try {
      return call(f.in, get_attribute(f.in, iterator, name), {std::move(args), {}});
    } catch (const Raised& raised) {
      if (!is_instance(raised.value, *exception_type("StopIteration"))) throw;
      const auto& given = static_cast<Exception&>(*raised.value.object()).args;
      returned = given.empty() ? Value() : given[0];
      return {};
    }
  }

  int point = 0;
  NodePtr value;
  std::vector<TargetPtr> targets;
};

/// if, elif …, else. at: 1 + the branch.
struct ResumableIf final : StatementNode {
  Flow run(Frame& f) const override {
    int32_t& at = point_of(f, point).at;
    int32_t branch = std::exchange(at, 0) - 1;
    if (branch < 0) {
      branch = 0;
      while (branch < static_cast<int32_t>(branches.size()) && branches[static_cast<size_t>(branch)].first &&
             !branches[static_cast<size_t>(branch)].first->test(f))
        ++branch;
      if (branch == static_cast<int32_t>(branches.size())) return Flow::next;
    }
    const Flow flow = run_block(branches[static_cast<size_t>(branch)].second, f);
    if (flow == Flow::yield_value) at = branch + 1;
    return flow;
  }
  int point = 0;
  std::vector<std::pair<NodePtr, Block>> branches;  // a null condition: else
};

/// at: 1 in the body, 2 in `else`, 3 in what comes before the condition.
struct ResumableWhile final : StatementNode {
  Flow run(Frame& f) const override {
    int32_t& at = point_of(f, point).at;
    int32_t from = std::exchange(at, 0);
    while (from != 2) {
      if (from != 1) {
        const Flow flow = run_block(before, f);
        if (flow == Flow::yield_value) at = 3;
        if (flow != Flow::next) return flow;
        if (!condition->test(f)) break;
      }
      from = 0;
      const Flow flow = run_block(body, f);
      if (flow == Flow::break_loop) return Flow::next;
      if (flow == Flow::yield_value) at = 1;
      if (flow > Flow::continue_loop) return flow;
      f.at = span;
      f.session.poll();
    }
    const Flow flow = run_block(orelse, f);
    if (flow == Flow::yield_value) at = 2;
    return flow;
  }
  int point = 0;
  Block before;
  NodePtr condition;
  Block body, orelse;
};

/// at: 1 in the body, 2 in `else`.
struct ResumableFor final : StatementNode {
  Flow run(Frame& f) const override {
    ResumePoint& point = point_of(f, this->point);
    int32_t from = std::exchange(point.at, 0);
    if (from != 2) {
      const Leaving leaving(point);
      if (from == 0) {
        Value given = iterable->evaluate(f);
        f.at = iterable->span;
        point.items = LoopItems(f.in, std::move(given), target);
      }
      while (from == 1 || target.take(f, point.items)) {
        from = 0;
        const Flow flow = run_block(body, f);
        if (flow == Flow::break_loop) return Flow::next;
        if (flow == Flow::yield_value) point.at = 1;
        if (flow > Flow::continue_loop) return flow;
        f.at = iterable->span;
        f.session.poll();
      }
    }
    const Flow flow = run_block(orelse, f);
    if (flow == Flow::yield_value) point.at = 2;
    return flow;
  }
  /// Lets go of the items where the loop ends and does not wait.
  struct Leaving {
    explicit Leaving(ResumePoint& p) : point(p) {}
    ~Leaving() {
      if (point.at == 0) point.items = LoopItems();
    }
    Leaving(const Leaving&) = delete;
    Leaving& operator=(const Leaving&) = delete;
    ResumePoint& point;
  };
  int point = 0;
  LoopTarget target;
  NodePtr iterable;
  Block body, orelse;
};

// ---- expressions ----

/// Takes the yields out of expressions: what they give, and what is evaluated before them, goes into variables without a name.
class Unfolder {
 public:
  Unfolder(Lowering& l, Block& before) : l_(l), before_(before) {}

  ast::ExprRef expression(const ast::ExprRef& e) {
    if (!ast::yields(e)) return e;
    if (ast::yield_call(*e)) {
      const ast::ExprRef variable = new_variable(e->span);
      yield(e, {variable});
      return variable;
    }
    if (const auto* n = std::get_if<ast::Conditional>(&e->node)) return conditional(*n, e->span);
    if (const auto* n = std::get_if<ast::BoolChain>(&e->node)) return chain(*n, e->span);
    if (const auto* n = std::get_if<ast::Compare>(&e->node); n && n->ops.size() > 1)
      refuse(l_, e->span, "a yield in a chain of comparisons");
    if (std::holds_alternative<ast::Lambda>(e->node)) refuse(l_, e->span, "a yield in a lambda's defaults");
    auto copy = std::make_shared<ast::Expr>(*e);
    if (auto* comprehension = std::get_if<ast::Comprehension>(&copy->node)) {
      comprehension->clauses[0].iter = expression(comprehension->clauses[0].iter);
      return copy;
    }
    if (auto* named = std::get_if<ast::NamedExpr>(&copy->node)) {
      named->value = expression(named->value);
      return copy;
    }
    std::vector<ast::ExprRef*> children;
    ast::visit_children(*copy, [&](ast::ExprRef& child) { children.push_back(&child); });
    in_order(children);
    return copy;
  }

  /// Expressions that are evaluated one after the other.
  void in_order(const std::vector<ast::ExprRef*>& children) {
    size_t last = children.size();
    while (last > 0 && !ast::yields(*children[last - 1])) --last;
    for (size_t i = 0; i < last; ++i) *children[i] = i + 1 < last ? kept(expression(*children[i])) : expression(*children[i]);
  }

  /// The value in a variable of its own, unless it is a constant.
  ast::ExprRef kept(const ast::ExprRef& e) {
    if (const auto* starred = std::get_if<ast::Starred>(&e->node))
      return std::make_shared<ast::Expr>(e->span, ast::Starred{kept(starred->value)});
    if (std::holds_alternative<ast::StringLiteral>(e->node) || std::holds_alternative<ast::IntLiteral>(e->node)) return e;
    const ast::ExprRef variable = new_variable(e->span);
    assign(before_, variable, e);
    return variable;
  }

  /// targets = yield …
  void yield(const ast::ExprRef& e, const std::vector<ast::ExprRef>& targets) {
    const ast::Call* from = ast::marked_call(*e, ast::kYieldFrom);
    const ast::Call& call = *ast::yield_call(*e);
    if (from) {
      add(std::make_unique<YieldFromStatement>(), e->span, call, targets);
    } else {
      add(std::make_unique<YieldStatement>(), e->span, call, targets);
    }
  }

  ast::ExprRef new_variable(Span span) {
    return std::make_shared<ast::Expr>(span, ast::Name{"", {ast::Binding::Kind::local, l_.code.local_count++}});
  }
  void assign(Block& block, const ast::ExprRef& target, const ast::ExprRef& value) {
    block.push_back(lower(l_, std::make_shared<ast::Stmt>(ast::Stmt{value->span, ast::Assign{{target}, value}})));
  }

 private:
  template <class S>
  void add(std::unique_ptr<S> node, Span span, const ast::Call& call, const std::vector<ast::ExprRef>& targets) {
    const ast::ExprRef value = call.args.empty() ? nullptr : expression(call.args[0]);
    node->span = span;
    node->point = new_resume_point(l_);
    node->value = lower_optional(l_, value);
    for (const ast::ExprRef& target : targets) node->targets.push_back(lower_target(l_, target));
    before_.push_back(std::move(node));
  }

  /// variable = e, with the statements that this needs.
  Block assigned(const ast::ExprRef& variable, const ast::ExprRef& e) {
    Block block;
    Unfolder inner(l_, block);
    const ast::ExprRef value = inner.expression(e);
    inner.assign(block, variable, value);
    return block;
  }
  Block resumable(Block statements) {
    auto block = std::make_unique<ResumableBlock>();
    block->point = new_resume_point(l_);
    block->statements = std::move(statements);
    Block result;
    result.push_back(std::move(block));
    return result;
  }

  ast::ExprRef conditional(const ast::Conditional& n, Span span) {
    const ast::ExprRef test = expression(n.test), variable = new_variable(span);
    auto node = std::make_unique<ResumableIf>();
    node->span = span;
    node->point = new_resume_point(l_);
    node->branches.emplace_back(lower(l_, test), resumable(assigned(variable, n.body)));
    node->branches.emplace_back(nullptr, resumable(assigned(variable, n.orelse)));
    before_.push_back(std::move(node));
    return variable;
  }

  ast::ExprRef chain(const ast::BoolChain& n, Span span) {
    const ast::ExprRef variable = new_variable(span);
    ast::ExprRef test = variable;
    if (n.op == ast::BoolOp::logical_or) test = std::make_shared<ast::Expr>(span, ast::Unary{ast::UnaryOp::logical_not, variable});
    Block rest;
    for (size_t i = n.values.size(); i-- > 0;) {
      Block block = assigned(variable, n.values[i]);
      if (!rest.empty()) {
        auto node = std::make_unique<ResumableIf>();
        node->span = span;
        node->point = new_resume_point(l_);
        node->branches.emplace_back(lower(l_, test), resumable(std::move(rest)));
        block.push_back(std::move(node));
      }
      rest = std::move(block);
    }
    for (StatementPtr& s : rest) before_.push_back(std::move(s));
    return variable;
  }

  Lowering& l_;
  Block& before_;
};

// ---- statements ----

struct LowerResumable {
  Lowering& l;
  const ast::StmtRef& s;

  StatementPtr operator()(const ast::ExprStmt& n) const {
    Block before;
    Unfolder unfolder(l, before);
    if (!ast::yield_call(*n.value)) return rest();
    unfolder.yield(n.value, {});
    return sequence(l, std::move(before), nullptr);
  }
  StatementPtr operator()(const ast::Assign& n) const {
    bool plain = ast::yield_call(*n.value) != nullptr;
    for (const ast::ExprRef& target : n.targets) plain = plain && !ast::yields(target);
    if (!plain) return assignment(n);
    Block before;
    Unfolder(l, before).yield(n.value, n.targets);
    return sequence(l, std::move(before), nullptr);
  }
  StatementPtr operator()(const ast::AnnAssign& n) const { return LowerResumable{l, s}(ast::Assign{{n.target}, n.value}); }
  StatementPtr operator()(const ast::AugAssign& n) const {
    Block before;
    Unfolder unfolder(l, before);
    auto target = std::make_shared<ast::Expr>(*n.target);
    ast::visit_children(*target, [&](ast::ExprRef& part) { part = unfolder.kept(unfolder.expression(part)); });
    const ast::ExprRef old = unfolder.kept(target), operand = unfolder.expression(n.value);
    before.push_back(lower(l, std::make_shared<ast::Stmt>(ast::Stmt{s->span, ast::AugAssign{old, n.op, operand}})));
    unfolder.assign(before, target, old);
    return sequence(l, std::move(before), nullptr);
  }
  StatementPtr operator()(const ast::If& n) const {
    Block before;
    if (const ast::Call* subject = ast::match_call(n)) {
      const ast::Call without{subject->callee, {without_yields(l, subject->args[0], before)}, {}};
      return sequence(l, std::move(before), lower_match(l, without, n.body));
    }
    auto node = std::make_unique<ResumableIf>();
    node->point = new_resume_point(l);
    node->branches.emplace_back(lower(l, without_yields(l, n.test, before)), lower_block(l, n.body));
    const ast::If* branch = &n;
    while (true) {
      const auto* next = branch->orelse.size() == 1 ? std::get_if<ast::If>(&branch->orelse[0]->node) : nullptr;
      if (!next || ast::yields(next->test) || ast::match_call(*next)) break;
      branch = next;
      node->branches.emplace_back(lower(l, branch->test), lower_block(l, branch->body));
    }
    if (!branch->orelse.empty()) node->branches.emplace_back(nullptr, lower_block(l, branch->orelse));
    node->span = s->span;
    return sequence(l, std::move(before), std::move(node));
  }
  StatementPtr operator()(const ast::While& n) const {
    auto node = std::make_unique<ResumableWhile>();
    node->span = s->span;
    node->point = new_resume_point(l);
    Block before;
    const ast::ExprRef test = without_yields(l, n.test, before);
    if (!before.empty()) node->before.push_back(sequence(l, std::move(before), nullptr));
    node->condition = lower(l, test);
    node->body = lower_block(l, n.body);
    node->orelse = lower_block(l, n.orelse);
    return node;
  }
  StatementPtr operator()(const ast::For& n) const {
    if (ast::yields(n.target)) refuse(l, n.target->span, "a yield in the target of a loop");
    Block before;
    auto node = std::make_unique<ResumableFor>();
    node->span = s->span;
    node->point = new_resume_point(l);
    node->iterable = lower(l, without_yields(l, n.iter, before));
    node->target = LoopTarget(lower_target(l, n.target));
    node->body = lower_block(l, n.body);
    node->orelse = lower_block(l, n.orelse);
    return sequence(l, std::move(before), std::move(node));
  }
  StatementPtr operator()(const ast::Try&) const { return lower_resumable_try(l, *s); }
  StatementPtr operator()(const ast::With&) const { return lower_resumable_try(l, *s); }
  StatementPtr operator()(const ast::FunctionDef& n) const { refuse(l, n.name_span, "a yield in a definition's head"); }
  StatementPtr operator()(const auto&) const { return rest(); }

  StatementPtr assignment(const ast::Assign& n) const {
    Block before;
    Unfolder unfolder(l, before);
    ast::Assign copy{{}, unfolder.expression(n.value)};
    bool target_yields = false;
    for (const ast::ExprRef& target : n.targets) target_yields = target_yields || ast::yields(target);
    if (target_yields) copy.value = unfolder.kept(copy.value);
    for (const ast::ExprRef& target : n.targets) {
      auto changed = std::make_shared<ast::Expr>(*target);
      if (ast::yields(target)) {
        if (n.targets.size() > 1) refuse(l, target->span, "a yield in one target of several");
        ast::visit_children(*changed, [&](ast::ExprRef& part) { part = unfolder.kept(unfolder.expression(part)); });
      }
      copy.targets.push_back(std::move(changed));
    }
    return sequence(l, std::move(before), lower(l, std::make_shared<ast::Stmt>(ast::Stmt{s->span, std::move(copy)})));
  }

  /// A statement without blocks.
  StatementPtr rest() const {
    Block before;
    auto copy = std::make_shared<ast::Stmt>(*s);
    std::vector<ast::ExprRef*> children;
    ast::visit_children(*copy, [&](ast::ExprRef& e) { children.push_back(&e); }, [](ast::Body&) {});
    Unfolder(l, before).in_order(children);
    return sequence(l, std::move(before), lower(l, copy));
  }
};

}  // namespace

ast::ExprRef without_yields(Lowering& l, const ast::ExprRef& e, Block& before) { return Unfolder(l, before).expression(e); }

StatementPtr sequence(Lowering& l, Block before, StatementPtr last) {
  if (last) before.push_back(std::move(last));
  if (before.size() == 1) return std::move(before[0]);
  auto block = std::make_unique<ResumableBlock>();
  block->point = new_resume_point(l);
  block->statements = std::move(before);
  return block;
}

Block lower_block(Lowering& l, const ast::Body& body) {
  if (!l.code.generator || !ast::yields(body)) return lower(l, body);
  Block block;
  block.push_back(sequence(l, lower(l, body), nullptr));
  return block;
}

StatementPtr lower_resumable(Lowering& l, const ast::StmtRef& s) { return std::visit(LowerResumable{l, s}, s->node); }

}  // namespace gasell
