// def, lambda and comprehensions: code with a frame of its own.
#include <fmt/format.h>
#include <algorithm>

#include "lang/class_definition.h"
#include "runtime/session/class.h"
#include "runtime/session/dict.h"
#include "runtime/session/evaluator.h"
#include "runtime/session/iterators.h"
#include "runtime/session/set.h"
#include "runtime/session/types.h"

namespace gasell {

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

bool is_class_body(const FunctionCode& code) {
  const auto* def = code.definition ? std::get_if<ast::FunctionDef>(&code.definition->node) : nullptr;
  return def && ast::class_call(*def);
}

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
    Value above = base ? base->evaluate(f) : type_object(object_type());
    f.at = span;
    Value made = make(f, above);
    for (size_t i = wrappers.size(); i-- > 0;) {
      f.at = decorators[i]->span;
      made = call_positional(f.session, wrappers[i], {&made, 1});
    }
    target->assign(f, std::move(made));
    return Flow::next;
  }

  Value make(Frame& around, const Value& above) const {
    const CallDepth depth(around.session);
    const auto local_count = static_cast<size_t>(code->local_count);
    StackValues room(around.session.stack, local_count + static_cast<size_t>(code->cell_count));
    Frame f{around.session, around.in, *code, room.begin(), room.begin() + local_count, {}, {}, ++around.session.activations};
    const RunningFrame running(f);
    fill_cells(f, captured_cells(around, *code));
    try {
      run_block(code->body, f);
      return finish(f, above);
    } catch (const Raised& raised) {
      note_place(f, static_cast<Exception&>(*raised.value.object()));
      throw;
    } catch (const Error& error) {
      Value value = exception_from_error(error);
      note_place(f, static_cast<Exception&>(*value.object()));
      throw Raised(std::move(value));
    }
  }

  Value finish(Frame& f, const Value& above) const {
    f.at = span;
    Members members;
    if (doc) members.set("__doc__", make_str(*doc));
    Cell* own_class = nullptr;  // what super() in its methods reads
    for (size_t i = 0; i < code->local_names.size(); ++i) {
      const int cell = cell_of_local[i];
      auto* holder = cell >= 0 ? static_cast<Cell*>(f.cells[cell].object()) : nullptr;
      if (code->local_names[i] == "__class__") {
        own_class = holder;
        continue;
      }
      const Value& value = holder ? holder->value : f.locals[i];
      if (!value.is_absent()) members.set(code->local_names[i], value);
    }
    const Value* module = code->globals->find("__name__");
    Value made = Class::make(module ? module_of_class(gasell::str(f.in, *module)) : "__main__", code->name, code->qualified_name, above,
                             std::move(members));
    if (own_class) own_class->value = made;
    return made;
  }

  std::vector<NodePtr> decorators;
  NodePtr base;
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
    TargetPtr target;
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
  Steps(const ComprehensionCode& c, Cursor first) : comprehension_(c), cursors_(c.clauses.size()) { cursors_[0] = std::move(first); }

  /// Moves to the next element; false at the end.
  bool advance(Frame& f) {
    const auto& clauses = comprehension_.clauses;
    while (level_ >= 0) {
      auto level = static_cast<size_t>(level_);
      const ComprehensionCode::Clause& clause = clauses[level];
      Value item;
      f.at = clause.span;
      if (!cursors_[level].next(f.in, item)) {
        --level_;
        continue;
      }
      if ((++polled_ & 63) == 0) f.session.poll();
      clause.target->assign(f, std::move(item));
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
      cursors_[level + 1] = Cursor(f.in, std::move(iterable));
      ++level_;
    }
    return false;
  }

 private:
  const ComprehensionCode& comprehension_;
  std::vector<Cursor> cursors_;
  int level_ = 0;
  unsigned polled_ = 0;
};

/// A generator expression under way; its frame lives here between elements.
class Generator final : public Object {
 public:
  Generator(std::shared_ptr<const ComprehensionCode> c, Cursor first, std::vector<Value> captured)
      : comprehension_(std::move(c)),
        values_(static_cast<size_t>(comprehension_->code->local_count + comprehension_->code->cell_count), Value::absent()),
        captured_(std::move(captured)),
        steps_(*comprehension_, std::move(first)) {}
  const Type& type() const override { return generator_type(); }
  std::string repr(Interpreter&) override { return fmt::format("<generator object <genexpr> at {}>", static_cast<const void*>(this)); }
  Value iterate(Interpreter&) override { return Value::of(this); }

  std::optional<Value> next(Interpreter& in) override {
    if (running_) raise("ValueError", "generator already executing");
    if (ended_) return {};
    Session& session = Evaluator::session(in);
    CallDepth depth(session);
    const FunctionCode& code = *comprehension_->code;
    Frame f{session, in, code, values_.data(), values_.data() + code.local_count};
    f.activation = ++session.activations;
    RunningFrame running(f);
    if (!started_) fill_cells(f, captured_);
    started_ = true;
    running_ = true;
    try {
      std::optional<Value> element;
      if (steps_.advance(f)) {
        element = comprehension_->element->evaluate(f);
      } else {
        ended_ = true;
      }
      running_ = false;
      return element;
    } catch (const Raised& raised) {
      running_ = false;
      ended_ = true;
      note_place(f, static_cast<Exception&>(*raised.value.object()));
      throw;
    } catch (...) {
      running_ = false;
      ended_ = true;
      throw;
    }
  }

 private:
  std::shared_ptr<const ComprehensionCode> comprehension_;
  std::vector<Value> values_, captured_;
  Steps steps_;
  bool started_ = false, running_ = false, ended_ = false;
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
    Cursor cursor(f.in, std::move(iterable));
    if (kind == ast::ComprehensionKind::generator) {
      return Value::make<Generator>(comprehension, std::move(cursor), captured_cells(f, *comprehension->code));
    }
    InnerFrame inner(f, *comprehension->code);
    Frame& g = inner.frame;
    Steps steps(*comprehension, std::move(cursor));
    const Node& element = *comprehension->element;
    if (kind == ast::ComprehensionKind::list) {
      std::vector<Value> items;
      while (steps.advance(g)) items.push_back(element.evaluate(g));
      return make_list(std::move(items));
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

Value generator_close(Interpreter&, std::span<Value>) { return {}; }

}  // namespace

const Type& generator_type() {
  static const Type type{
      "generator", "builtins", &object_type(), {{"close", "", generator_close, "does nothing: there is nothing to clean up"}}};
  return type;
}

NodePtr lower_function(Lowering& l, const ast::ExprRef& e) {
  const auto& lambda = std::get<ast::Lambda>(e->node);
  FunctionMaker maker(l, lambda.params);
  maker.code = make_code(l, "<lambda>", lambda.scope, lambda.params.size());
  maker.code->lambda = e;
  fill_signature(*maker.code, lambda.params);
  Lowering inner{l.session, *maker.code};
  maker.code->expression = lower(inner, lambda.body);
  auto node = std::make_unique<LambdaNode>(std::move(maker));
  node->span = e->span;
  return node;
}

static StatementPtr lower_class(Lowering& l, const ast::StmtRef& s, const ast::FunctionDef& def, const ast::Call& maker) {
  auto node = std::make_unique<ClassNode>();
  for (size_t i = 0; i + 1 < def.decorators.size(); ++i) node->decorators.push_back(lower(l, def.decorators[i]));
  if (!maker.args.empty()) node->base = lower(l, maker.args[0]);
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
  maker.code->definition = s;
  fill_signature(*maker.code, def.params);
  Lowering inner{l.session, *maker.code};
  maker.code->body = lower(inner, def.body);
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
    lowered.target = lower_target(inner, clause.target);
    for (const ast::ExprRef& condition : clause.conditions) lowered.conditions.push_back(lower(inner, condition));
    made.clauses.push_back(std::move(lowered));
  }
  made.element = lower(inner, c.element);
  made.value = lower_optional(inner, c.value);
  return node;
}

}  // namespace gasell
