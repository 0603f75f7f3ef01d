// def, lambda and comprehensions: code with a frame of its own.
#include <fmt/format.h>
#include <algorithm>

#include "lang/class_definition.h"
#include "lang/marked_calls.h"
#include "runtime/session/class.h"
#include "runtime/session/dict.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/generator.h"
#include "runtime/session/set.h"
#include "runtime/session/type_unions.h"
#include "runtime/session/types.h"

namespace gasell {

bool is_class_body(const FunctionCode& code) {
  const auto* def = code.definition ? std::get_if<ast::FunctionDef>(&code.definition->node) : nullptr;
  return def && ast::class_call(*def);
}

void fill_scope(FunctionCode& code, const ast::FunctionScope& scope, size_t parameters) {
  code.local_count = static_cast<int>(scope.locals.size());
  code.own_cells = scope.own_cells;
  code.cell_count = static_cast<int>(scope.cells.size());
  code.local_names = scope.locals;
  code.cell_names = scope.cells;
  for (size_t i = 0; i < parameters; ++i) {
    if (scope.cell_of_local[i] >= 0) code.captured_parameters.emplace_back(static_cast<int>(i), scope.cell_of_local[i]);
  }
  for (const ast::Binding& cell : scope.captured) code.captures.push_back(cell.slot);
}

namespace {

std::shared_ptr<FunctionCode> make_code(Lowering& l, std::string name, const ast::FunctionScope& scope, size_t parameters) {
  auto code = std::make_shared<FunctionCode>();
  code->qualified_name = l.code.qualified_name.empty() ? name : l.code.qualified_name + (is_class_body(l.code) ? "." : ".<locals>.") + name;
  code->name = std::move(name);
  code->source = l.code.source;
  code->globals = l.code.globals;
  fill_scope(*code, scope, parameters);
  return code;
}

void fill_signature(FunctionCode& code, const std::vector<ast::Parameter>& params) {
  for (const ast::Parameter& p : params) {
    bool variadic = p.kind == ast::Parameter::Kind::var_positional || p.kind == ast::Parameter::Kind::var_keyword;
    code.signature.parameters.push_back({p.name, static_cast<Signature::Kind>(p.kind), !p.default_value && !variadic,
                                         code.globals->library ? rule_of(p) : ParameterRule::read});
  }
  index_parameters(code.signature);
  code.simple = code.signature.positional == static_cast<int>(params.size()) && !code.signature.ruled;
}
static_assert(static_cast<int>(Signature::Kind::var_keyword) == static_cast<int>(ast::Parameter::Kind::var_keyword));

/// Makes a function value: evaluates the defaults, takes the cells.
struct FunctionMaker {
  FunctionMaker(Lowering& l, const std::vector<ast::Parameter>& params) {
    for (const ast::Parameter& p : params) defaults.push_back(lower_optional(l, p.default_value));
  }
  Value make(Frame& f) const {
    std::vector<Value> values;
    values.reserve(defaults.size());
    for (const NodePtr& d : defaults) values.push_back(d ? d->evaluate(f) : Value::absent());
    return Value::make<Function>(code, std::move(values), captured_cells(f, *code));
  }
  std::vector<NodePtr> defaults;
  std::shared_ptr<FunctionCode> code;
};

struct LambdaNode final : Node {
  explicit LambdaNode(FunctionMaker m) : maker(std::move(m)) {}
  Value evaluate(Frame& f) const override { return maker.make(f); }
  FunctionMaker maker;
};

struct DefinitionNode final : StatementNode {
  explicit DefinitionNode(FunctionMaker m) : maker(std::move(m)) {}
  Flow run(Frame& f) const override {
    std::vector<Value> wrappers;
    for (const NodePtr& d : decorators) wrappers.push_back(d->evaluate(f));
    Value function = maker.make(f);
    for (size_t i = wrappers.size(); i-- > 0;) {
      f.at = decorators[i]->span;
      function = call_positional(f.session, wrappers[i], {&function, 1});
    }
    target->assign(f, std::move(function));
    return Flow::next;
  }
  std::vector<NodePtr> decorators;
  FunctionMaker maker;
  TargetPtr target;
};

/// The module that a class says it is of. In a text of the library, whose name is its path, that is the folder: "decimal".
std::string module_of_class(std::string name) {
  if (!name.ends_with(".gsl")) return name;
  name.resize(name.rfind('/'));
  std::ranges::replace(name, '/', '.');
  return name.starts_with('_') ? name.substr(1) : name;
}

/// class C(base): the body runs in a frame of its own; its variables become the members.
struct ClassNode final : StatementNode {
  Flow run(Frame& f) const override {
    std::vector<Value> wrappers;
    for (const NodePtr& d : decorators) wrappers.push_back(d->evaluate(f));
    std::vector<Value> above;
    for (const NodePtr& base : bases) {
      above.push_back(base->evaluate(f));
      if (const Value* origin = alias_origin(above.back())) above.back() = Value(*origin);
    }
    std::vector<std::pair<std::string, Value>> given;
    for (const auto& [name, value] : keywords) given.emplace_back(name, value->evaluate(f));
    f.at = span;
    Value made = make(f, std::move(above), std::move(given));
    for (size_t i = wrappers.size(); i-- > 0;) {
      f.at = decorators[i]->span;
      made = call_positional(f.session, wrappers[i], {&made, 1});
    }
    target->assign(f, std::move(made));
    return Flow::next;
  }

  /// Runs the body; its variables are the members.
  Members run_body(Frame& around, Value& own_class) const {
    const CallDepth depth(around.session);
    const auto local_count = static_cast<size_t>(code->local_count);
    StackValues room(around.session.stack, local_count + static_cast<size_t>(code->cell_count));
    Frame f{around.session, around.in, *code, room.begin(), room.begin() + local_count, {}, {}, ++around.session.activations};
    const RunningFrame running(f);
    fill_cells(f, captured_cells(around, *code));
    try {
      if (run_block(code->body, f) == Flow::raised) throw_raised(f.session);
    } catch (const Raised& raised) {
      note_place(f, static_cast<Exception&>(*raised.value.object()));
      throw;
    } catch (const Error& error) {
      Value value = exception_from_error(error);
      note_place(f, static_cast<Exception&>(*value.object()));
      throw Raised(std::move(value));
    }
    Members members;
    if (doc) members.set("__doc__", make_str(*doc));
    for (size_t i = 0; i < code->local_names.size(); ++i) {
      const int cell = cell_of_local[i];
      if (code->local_names[i] == "__class__") {
        if (cell >= 0) own_class = f.cells[cell];
        continue;
      }
      const Value& value = cell >= 0 ? static_cast<Cell*>(f.cells[cell].object())->value : f.locals[i];
      if (!value.is_absent()) members.set(code->local_names[i], value);
    }
    return members;
  }

  Value make(Frame& f, std::vector<Value> above, std::vector<std::pair<std::string, Value>> given) const {
    Value own_class;  // the cell that super() in the methods reads
    Members members = run_body(f, own_class);
    f.at = span;
    if (const auto* maker = above.size() == 1 ? above[0].as<Builtin>() : nullptr; maker && maker->function.name == "NamedTuple") {
      const Value body = make_dict();
      for (const auto& [name, value] : members.entries()) body.as<Dict>()->insert(f.in, make_str(name), value);
      return call(f.in, above[0], {{make_str(code->name)}, {{"_body", body}}});
    }
    const Value* module = code->globals->find("__name__");
    auto* cell = own_class.as<Cell>();
    return Class::make(f.in, module ? module_of_class(gasell::str(f.in, *module)) : "__main__", code->name, code->qualified_name,
                       std::move(above), std::move(given), std::move(members), cell ? &cell->value : nullptr);
  }

  std::vector<NodePtr> decorators;
  std::vector<NodePtr> bases;
  std::vector<std::pair<std::string, NodePtr>> keywords;
  std::shared_ptr<FunctionCode> code;
  std::vector<int> cell_of_local;
  std::optional<std::string> doc;
  TargetPtr target;
};

// ---- comprehensions ----

/// The lowered clauses; run by Steps.
struct ComprehensionCode {
  struct Clause {
    NodePtr iterable;  // null for the first, which the enclosing frame evaluates
    LoopTarget target;
    std::vector<NodePtr> conditions;
    Span span;
  };
  std::shared_ptr<FunctionCode> code;
  std::vector<Clause> clauses;
  NodePtr element, value;
};

/// A state of the nested loops, resumed for every element.
class Steps {
 public:
  Steps(const ComprehensionCode& c, LoopItems first) : comprehension_(c), items_(c.clauses.size()) { items_[0] = std::move(first); }

  /// Moves to the next element; false at the end.
  bool advance(Frame& f) {
    const auto& clauses = comprehension_.clauses;
    while (level_ >= 0) {
      auto level = static_cast<size_t>(level_);
      const ComprehensionCode::Clause& clause = clauses[level];
      f.at = clause.span;
      if (!clause.target.take(f, items_[level])) {
        --level_;
        continue;
      }
      if ((++polled_ & 63) == 0) f.session.poll();
      bool keep = true;
      for (const NodePtr& condition : clause.conditions) {
        if (!condition->test(f)) {
          keep = false;
          break;
        }
      }
      if (!keep) continue;
      if (level + 1 == clauses.size()) return true;
      Value iterable = clauses[level + 1].iterable->evaluate(f);
      f.at = clauses[level + 1].span;
      items_[level + 1] = LoopItems(f.in, std::move(iterable), clauses[level + 1].target);
      ++level_;
    }
    return false;
  }

 private:
  const ComprehensionCode& comprehension_;
  std::vector<LoopItems> items_;
  int level_ = 0;
  unsigned polled_ = 0;
};

/// A generator expression under way.
class ExpressionGenerator final : public Generator {
 public:
  ExpressionGenerator(Session& session, std::shared_ptr<const ComprehensionCode> c, LoopItems first, std::vector<Value> captured)
      : Generator(session, c->code), comprehension_(std::move(c)), steps_(*comprehension_, std::move(first)) {
    captured_ = std::move(captured);
  }

 private:
  Flow step(Frame& f) override {
    if (!suspension_.thrown.is_absent()) throw Raised(std::exchange(suspension_.thrown, Value::absent()));
    if (!steps_.advance(f)) return Flow::next;
    f.result = comprehension_->element->evaluate(f);
    return Flow::yield_value;
  }

  std::shared_ptr<const ComprehensionCode> comprehension_;
  Steps steps_;
};

/// The frame of a comprehension that runs to its end at once. An exception's place is told by the frame around it.
struct InnerFrame {
  InnerFrame(Frame& around, const FunctionCode& code)
      : outer(around),
        room(around.session.stack, static_cast<size_t>(code.local_count + code.cell_count)),
        frame{around.session, around.in, code, room.begin(), room.begin() + code.local_count} {
    frame.activation = around.activation;
    fill_cells(frame, captured_cells(around, code));
  }
  ~InnerFrame() { outer.at = frame.at; }
  InnerFrame(const InnerFrame&) = delete;
  InnerFrame& operator=(const InnerFrame&) = delete;

  Frame& outer;
  StackValues room;
  Frame frame;
};

struct ComprehensionNode final : Node {
  Value evaluate(Frame& f) const override {
    Value iterable = first->evaluate(f);
    f.at = first->span;
    LoopItems items(f.in, std::move(iterable), comprehension->clauses[0].target);
    if (kind == ast::ComprehensionKind::generator) {
      return Value::make<ExpressionGenerator>(f.session, comprehension, std::move(items), captured_cells(f, *comprehension->code));
    }
    InnerFrame inner(f, *comprehension->code);
    Frame& g = inner.frame;
    Steps steps(*comprehension, std::move(items));
    const Node& element = *comprehension->element;
    if (kind == ast::ComprehensionKind::list) {
      std::vector<Value> made;
      while (steps.advance(g)) made.push_back(element.evaluate(g));
      return make_list(std::move(made));
    }
    if (kind == ast::ComprehensionKind::set) {
      Value made = Value::make<Set>();
      while (steps.advance(g)) {
        Value v = element.evaluate(g);
        g.at = element.span;
        static_cast<Set*>(made.object())->insert(g.in, v);
      }
      return made;
    }
    Value made = make_dict();
    while (steps.advance(g)) {
      Value key = element.evaluate(g);
      Value value = comprehension->value->evaluate(g);
      g.at = element.span;
      static_cast<Dict*>(made.object())->insert(g.in, key, std::move(value));
    }
    return made;
  }
  ast::ComprehensionKind kind = ast::ComprehensionKind::list;
  NodePtr first;
  std::shared_ptr<ComprehensionCode> comprehension;
};

}  // namespace

namespace {

void lower_body(Session& session, FunctionCode& code, const ast::ExprRef& e, const ast::Lambda& lambda) {
  code.lambda = e;
  fill_signature(code, lambda.params);
  Lowering inner{session, code};
  code.expression = lower(inner, lambda.body);
}

void lower_body(Session& session, FunctionCode& code, const std::shared_ptr<const ast::Stmt>& s, const ast::FunctionDef& def) {
  code.definition = s;
  fill_signature(code, def.params);
  code.generator = ast::yields(def.body);
  Lowering inner{session, code};
  code.body = lower_block(inner, def.body);
}

}  // namespace

std::shared_ptr<FunctionCode> lower_again(Session& session, const FunctionText& text, GlobalScope& globals) {
  auto code = std::make_shared<FunctionCode>();
  code->name = text.name;
  code->qualified_name = text.qualified_name;
  code->source = text.source;
  code->globals = &globals;
  if (text.lambda) {
    const auto& lambda = std::get<ast::Lambda>(text.lambda->node);
    fill_scope(*code, lambda.scope, lambda.params.size());
    lower_body(session, *code, std::const_pointer_cast<ast::Expr>(text.lambda), lambda);
  } else {
    const auto& def = std::get<ast::FunctionDef>(text.definition->node);
    fill_scope(*code, def.scope, def.params.size());
    lower_body(session, *code, text.definition, def);
  }
  return code;
}

NodePtr lower_function(Lowering& l, const ast::ExprRef& e) {
  const auto& lambda = std::get<ast::Lambda>(e->node);
  FunctionMaker maker(l, lambda.params);
  maker.code = make_code(l, "<lambda>", lambda.scope, lambda.params.size());
  lower_body(l.session, *maker.code, e, lambda);
  auto node = std::make_unique<LambdaNode>(std::move(maker));
  node->span = e->span;
  return node;
}

static StatementPtr lower_class(Lowering& l, const ast::StmtRef& s, const ast::FunctionDef& def, const ast::Call& maker) {
  auto node = std::make_unique<ClassNode>();
  for (size_t i = 0; i + 1 < def.decorators.size(); ++i) node->decorators.push_back(lower(l, def.decorators[i]));
  for (const ast::ExprRef& base : maker.args) {
    if (std::holds_alternative<ast::Starred>(base->node))
      throw Error(Diagnostic{
          Blame::limitation, "NotImplementedError", "bases after * are not in Gasell", Label{l.code.source, base->span, ""}, {}, ""});
    node->bases.push_back(lower(l, base));
  }
  for (const ast::Keyword& keyword : maker.keywords) {
    if (keyword.name.empty())
      throw Error(Diagnostic{Blame::limitation,
                             "NotImplementedError",
                             "keywords of a class after ** are not in Gasell",
                             Label{l.code.source, keyword.span, ""},
                             {},
                             ""});
    node->keywords.emplace_back(keyword.name, lower(l, keyword.value));
  }
  node->code = make_code(l, def.name, def.scope, 0);
  node->code->definition = s;
  node->cell_of_local = def.scope.cell_of_local;
  Lowering inner{l.session, *node->code};
  node->code->body = lower(inner, def.body);
  const auto* first = def.body.empty() ? nullptr : std::get_if<ast::ExprStmt>(&def.body[0]->node);
  const auto* text = first ? std::get_if<ast::StringLiteral>(&first->value->node) : nullptr;
  if (text) node->doc = text->value;
  node->target = lower_name_target(l, def.name, def.binding, def.name_span);
  return node;
}

StatementPtr lower_definition(Lowering& l, const ast::StmtRef& s) {
  const auto& def = std::get<ast::FunctionDef>(s->node);
  if (const ast::Call* maker = ast::class_call(def)) return lower_class(l, s, def, *maker);
  std::vector<NodePtr> decorators;
  for (const ast::ExprRef& d : def.decorators) decorators.push_back(lower(l, d));
  FunctionMaker maker(l, def.params);
  maker.code = make_code(l, def.name, def.scope, def.params.size());
  lower_body(l.session, *maker.code, s, def);
  auto node = std::make_unique<DefinitionNode>(std::move(maker));
  node->decorators = std::move(decorators);
  node->target = lower_name_target(l, def.name, def.binding, def.name_span);
  return node;
}

NodePtr lower_comprehension(Lowering& l, const ast::Expr& e) {
  const auto& c = std::get<ast::Comprehension>(e.node);
  static constexpr const char* kNames[] = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"};
  auto node = std::make_unique<ComprehensionNode>();
  node->span = e.span;
  node->kind = c.kind;
  node->first = lower(l, c.clauses[0].iter);
  node->comprehension = std::make_shared<ComprehensionCode>();
  ComprehensionCode& made = *node->comprehension;
  made.code = make_code(l, kNames[static_cast<int>(c.kind)], c.scope, 0);
  Lowering inner{l.session, *made.code};
  for (size_t i = 0; i < c.clauses.size(); ++i) {
    const ast::ComprehensionClause& clause = c.clauses[i];
    ComprehensionCode::Clause lowered;
    lowered.span = clause.iter->span;
    if (i > 0) lowered.iterable = lower(inner, clause.iter);
    lowered.target = LoopTarget(lower_target(inner, clause.target));
    for (const ast::ExprRef& condition : clause.conditions) lowered.conditions.push_back(lower(inner, condition));
    made.clauses.push_back(std::move(lowered));
  }
  made.element = lower(inner, c.element);
  made.value = lower_optional(inner, c.value);
  return node;
}

}  // namespace gasell
