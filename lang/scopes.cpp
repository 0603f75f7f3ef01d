#include "lang/scopes.h"

#include <fmt/core.h>

#include <deque>
#include <unordered_map>
#include <utility>

#include "lang/ast_visit.h"
#include "lang/class_definition.h"
#include "lang/large_stack.h"
#include "lang/layout.h"
#include "lang/marked_calls.h"

namespace gasell {
namespace {

using namespace ast;

/// What one scope knows of a name.
struct Symbol {
  bool bound = false, parameter = false, used = false, annotated = false;
  bool declared_global = false, declared_nonlocal = false;
  bool iteration_variable = false;  // of a comprehension
  bool captured = false;            // a local that an inner function uses
  int slot = -1;                    // of a local
  int cell = -1;                    // of a captured local, or of a name taken from an enclosing function
  bool passed = false;              // of a class's own name: methods use the enclosing function's of the same name
  int passed_cell = -1;

  bool local() const { return bound && !declared_global && !declared_nonlocal; }
};

struct Scope {
  enum class Kind { module, function, comprehension, class_body } kind = Kind::module;
  Scope* parent = nullptr;
  FunctionScope* out = nullptr;
  std::unordered_map<std::string, Symbol> symbols{};
  std::vector<std::string> order{};  // names in the order in which they were first bound
  std::vector<std::string> taken{};  // names from enclosing functions
  std::string_view comprehension{};  // what kind
};

class Resolver {
 public:
  explicit Resolver(Module& module) : module_(module) {}

  void run() {
    Scope& top = scopes_.emplace_back();
    body(top, module_.body, {});
    for (const Declaration& d : nonlocals_) check_nonlocal(d);
    for (const Reference& r : references_) capture(*r.scope, r.name);
    for (Scope& scope : scopes_) number(scope);
    for (const Reference& r : references_) *r.binding = find(*r.scope, r.name);
    for (Scope& scope : scopes_) fill(scope);
  }

 private:
  struct Reference {
    Scope* scope;
    std::string name;
    Binding* binding;
  };
  struct Declaration {
    Scope* scope;
    std::string name;
    Span span;
  };
  /// What the statements around allow.
  struct Place {
    bool in_loop = false;
  };

  [[noreturn]] void fail(Span span, std::string message) const { fail_at(module_.source, span, std::move(message)); }

  // ---- first pass: who binds and uses what ----

  Symbol& bind(Scope& scope, const std::string& name) {
    Symbol& symbol = scope.symbols[name];
    if (!symbol.bound) scope.order.push_back(name);
    symbol.bound = true;
    return symbol;
  }
  void bind(Scope& scope, const std::string& name, Binding& binding) {
    bind(scope, name);
    references_.push_back({&scope, name, &binding});
  }

  /// Inside a class `__name` is a name of that class alone: _Class__name.
  void mangle(std::string& name) const {
    if (class_name_.empty() || !name.starts_with("__") || name.ends_with("__")) return;
    const size_t begin = class_name_.find_first_not_of('_');
    if (begin != std::string::npos) name = "_" + class_name_.substr(begin) + name;
  }

  void class_definition(Scope& scope, FunctionDef& n, Call& maker) {
    for (size_t i = 0; i + 1 < n.decorators.size(); ++i) expression(scope, *n.decorators[i]);
    for (ExprRef& base : maker.args) expression(scope, *base);
    for (Keyword& keyword : maker.keywords) expression(scope, *keyword.value);
    bind(scope, n.name, n.binding);
    Scope& inner = scopes_.emplace_back(Scope{Scope::Kind::class_body, &scope, &n.scope});
    bind(inner, "__class__");
    const std::string around = std::exchange(class_name_, n.name);
    body(inner, n.body, {});
    class_name_ = around;
  }

  void use(Scope& scope, Name& name) {
    mangle(name.id);
    if (name.id == "super") references_.push_back({&scope, "__class__", &class_of_super_.emplace_back()});
    scope.symbols[name.id].used = true;
    references_.push_back({&scope, name.id, &name.binding});
  }

  void optional(Scope& scope, ExprRef& e) {
    if (e) expression(scope, *e);
  }

  void expression(Scope& scope, Expr& e) {
    if (yield_call(e)) check_yield(scope, e);
    if (auto* name = std::get_if<Name>(&e.node)) {
      use(scope, *name);
    } else if (auto* named = std::get_if<NamedExpr>(&e.node)) {
      expression(scope, *named->value);
      named_target(scope, *named->target);
    } else if (auto* lambda = std::get_if<Lambda>(&e.node)) {
      outer_parts(scope, lambda->params);
      Scope& inner = function(scope, lambda->scope, lambda->params);
      expression(inner, *lambda->body);
    } else if (auto* comprehension = std::get_if<Comprehension>(&e.node)) {
      enter_comprehension(scope, *comprehension);
    } else {
      if (auto* attribute = std::get_if<Attribute>(&e.node)) mangle(attribute->name);
      visit_children(e, [&](ExprRef& child) { expression(scope, *child); });
    }
  }

  void check_yield(const Scope& scope, const Expr& e) const {
    if (scope.kind == Scope::Kind::function) return;
    if (scope.kind == Scope::Kind::comprehension) fail(e.span, fmt::format("'yield' inside {}", scope.comprehension));
    fail(e.span, "'yield' outside function");
  }

  /// The names of a pattern are bound, what it compares with is read.
  void pattern(Scope& scope, Expr& e) {
    std::visit(Overloaded{[&](Name& n) {
                            if (n.id != "_") target(scope, e);
                          },
                          [&](Tuple& n) {
                            for (ExprRef& item : n.items) pattern(scope, *item);
                          },
                          [&](List& n) {
                            for (ExprRef& item : n.items) pattern(scope, *item);
                          },
                          [&](Starred& n) { pattern(scope, *n.value); },
                          [&](Dict& n) {
                            for (auto& [key, value] : n.items) {
                              optional(scope, key);
                              pattern(scope, *value);
                            }
                          },
                          [&](Call& n) {
                            expression(scope, *n.callee);
                            for (ExprRef& argument : n.args) pattern(scope, *argument);
                            for (Keyword& keyword : n.keywords) pattern(scope, *keyword.value);
                          },
                          [&](NamedExpr& n) {
                            pattern(scope, *n.value);
                            target(scope, *n.target);
                          },
                          [&](Binary& n) {
                            if (n.op != BinaryOp::bit_or) return expression(scope, e);
                            pattern(scope, *n.left);
                            pattern(scope, *n.right);
                          },
                          [&](auto&) { expression(scope, e); }},
               e.node);
  }

  void outer_parts(Scope& scope, std::vector<Parameter>& params) {
    visit_children(params, [&](ExprRef& e) { expression(scope, *e); });
  }

  Scope& function(Scope& parent, FunctionScope& out, const std::vector<Parameter>& params) {
    Scope& scope = scopes_.emplace_back(Scope{Scope::Kind::function, &parent, &out});
    for (const Parameter& p : params) bind(scope, p.name).parameter = true;
    return scope;
  }

  void enter_comprehension(Scope& scope, Comprehension& c) {
    ++iterables_;
    expression(scope, *c.clauses[0].iter);
    --iterables_;
    Scope& inner = scopes_.emplace_back(Scope{Scope::Kind::comprehension, &scope, &c.scope});
    constexpr const char* kNames[] = {"list comprehension", "set comprehension", "dict comprehension", "generator expression"};
    inner.comprehension = kNames[static_cast<int>(c.kind)];
    bind(inner, ".0");
    for (size_t i = 0; i < c.clauses.size(); ++i) {
      ComprehensionClause& clause = c.clauses[i];
      target(inner, *clause.target);
      if (i > 0) {
        ++iterables_;
        expression(inner, *clause.iter);
        --iterables_;
      }
      for (ExprRef& condition : clause.conditions) expression(inner, *condition);
    }
    expression(inner, *c.element);
    optional(inner, c.value);
  }

  /// `:=` binds in the function (or module) around all comprehensions.
  void named_target(Scope& scope, Expr& e) {
    auto& name = std::get<Name>(e.node);
    if (iterables_ > 0) fail(e.span, "assignment expression cannot be used in a comprehension iterable expression");
    Scope* owner = &scope;
    for (; owner->kind == Scope::Kind::comprehension; owner = owner->parent)
      if (auto found = owner->symbols.find(name.id); found != owner->symbols.end() && found->second.bound)
        fail(e.span, fmt::format("assignment expression cannot rebind comprehension iteration variable '{}'", name.id));
    bind(*owner, name.id);
    references_.push_back({&scope, name.id, &name.binding});
  }

  void target(Scope& scope, Expr& e) {
    if (auto* name = std::get_if<Name>(&e.node)) {
      mangle(name->id);
      bind(scope, name->id, name->binding);
    } else if (auto* tuple = std::get_if<Tuple>(&e.node)) {
      for (ExprRef& item : tuple->items) target(scope, *item);
    } else if (auto* list = std::get_if<List>(&e.node)) {
      for (ExprRef& item : list->items) target(scope, *item);
    } else if (auto* starred = std::get_if<Starred>(&e.node)) {
      target(scope, *starred->value);
    } else {
      expression(scope, e);
    }
  }

  void body(Scope& scope, Body& statements, Place place) {
    for (StmtRef& s : statements) statement(scope, *s, place);
  }

  void statement(Scope& scope, Stmt& s, Place place) {
    std::visit(Overloaded{[&](ExprStmt& n) { expression(scope, *n.value); },
                          [&](Assign& n) {
                            expression(scope, *n.value);
                            for (ExprRef& t : n.targets) target(scope, *t);
                          },
                          [&](AugAssign& n) {
                            expression(scope, *n.value);
                            target(scope, *n.target);
                          },
                          [&](AnnAssign& n) {
                            expression(scope, *n.annotation);
                            optional(scope, n.value);
                            annotated_target(scope, *n.target);
                          },
                          [&](If& n) {
                            if (const Call* one = case_call(n)) {
                              pattern(scope, *one->args[0]);
                              if (one->args.size() > 1) expression(scope, *one->args[1]);
                            } else if (const Call* match = match_call(n)) {
                              expression(scope, *match->args[0]);
                            } else {
                              expression(scope, *n.test);
                            }
                            body(scope, n.body, place);
                            body(scope, n.orelse, place);
                          },
                          [&](While& n) {
                            expression(scope, *n.test);
                            body(scope, n.body, {true});
                            body(scope, n.orelse, place);
                          },
                          [&](For& n) {
                            expression(scope, *n.iter);
                            target(scope, *n.target);
                            body(scope, n.body, {true});
                            body(scope, n.orelse, place);
                          },
                          [&](Break&) {
                            if (!place.in_loop) fail(s.span, "'break' outside loop");
                          },
                          [&](Continue&) {
                            if (!place.in_loop) fail(s.span, "'continue' not properly in loop");
                          },
                          [](Pass&) {},
                          [&](Return& n) {
                            if (scope.kind != Scope::Kind::function) fail(s.span, "'return' outside function");
                            optional(scope, n.value);
                          },
                          [&](FunctionDef& n) {
                            mangle(n.name);
                            if (const Call* maker = class_call(n)) return class_definition(scope, n, const_cast<Call&>(*maker));
                            for (ExprRef& d : n.decorators) expression(scope, *d);
                            outer_parts(scope, n.params);
                            optional(scope, n.returns);
                            bind(scope, n.name, n.binding);
                            Scope& inner = function(scope, n.scope, n.params);
                            body(inner, n.body, {});
                          },
                          [&](Import& n) {
                            for (ImportName& name : n.names)
                              bind(scope, name.as.empty() ? name.name.substr(0, name.name.find('.')) : name.as, name.binding);
                          },
                          [&](ImportFrom& n) {
                            for (ImportName& name : n.names) bind(scope, name.as.empty() ? name.name : name.as, name.binding);
                          },
                          [&](With& n) {
                            for (WithItem& item : n.items) {
                              expression(scope, *item.context);
                              if (item.target) target(scope, *item.target);
                            }
                            body(scope, n.body, place);
                          },
                          [&](Assert& n) { expression(scope, *n.test), optional(scope, n.message); },
                          [&](Delete& n) {
                            for (ExprRef& t : n.targets) target(scope, *t);
                          },
                          [&](Global& n) {
                            for (const std::string& name : n.names) declare(scope, name, s.span, true);
                          },
                          [&](Nonlocal& n) {
                            for (const std::string& name : n.names) declare(scope, name, s.span, false);
                          },
                          [&](Raise& n) { optional(scope, n.exception), optional(scope, n.cause); },
                          [&](Try& n) {
                            body(scope, n.body, place);
                            for (ExceptHandler& h : n.handlers) {
                              optional(scope, h.type);
                              if (!h.name.empty()) bind(scope, h.name, h.binding);
                              body(scope, h.body, place);
                            }
                            body(scope, n.orelse, place);
                            body(scope, n.finalbody, place);
                          }},
               s.node);
  }

  void annotated_target(Scope& scope, Expr& e) {
    if (auto* name = std::get_if<Name>(&e.node)) {
      Symbol& symbol = scope.symbols[name->id];
      if (scope.kind == Scope::Kind::function && (symbol.declared_global || symbol.declared_nonlocal))
        fail(e.span, fmt::format("annotated name '{}' can't be {}", name->id, symbol.declared_global ? "global" : "nonlocal"));
      symbol.annotated = true;
      if (scope.kind == Scope::Kind::class_body) bind(scope, "__annotations__");
    }
    target(scope, e);
  }

  void declare(Scope& scope, const std::string& name, Span span, bool global) {
    const std::string_view word = global ? "global" : "nonlocal";
    if (!global && scope.kind == Scope::Kind::module) fail(span, "nonlocal declaration not allowed at module level");
    Symbol& symbol = scope.symbols[name];
    if (symbol.parameter) fail(span, fmt::format("name '{}' is parameter and {}", name, word));
    if (symbol.used) fail(span, fmt::format("name '{}' is used prior to {} declaration", name, word));
    if (symbol.annotated) fail(span, fmt::format("annotated name '{}' can't be {}", name, word));
    if (symbol.bound) fail(span, fmt::format("name '{}' is assigned to before {} declaration", name, word));
    if (global ? symbol.declared_nonlocal : symbol.declared_global) fail(span, fmt::format("name '{}' is nonlocal and global", name));
    (global ? symbol.declared_global : symbol.declared_nonlocal) = true;
    if (!global) nonlocals_.push_back({&scope, name, span});
  }

  // ---- second pass: where each name lives ----

  /// The function around `scope` that owns `name`, or null for a global.
  static Scope* owner(Scope& scope, const std::string& name) {
    for (Scope* s = &scope; s && s->kind != Scope::Kind::module; s = s->parent) {
      if (s->kind == Scope::Kind::class_body && s != &scope && name != "__class__") continue;  // methods do not see the class's names
      const auto found = s->symbols.find(name);
      if (found == s->symbols.end()) continue;
      if (found->second.declared_global) return nullptr;
      if (found->second.local()) return s;
    }
    return nullptr;
  }

  void check_nonlocal(const Declaration& d) const {
    if (!owner(*d.scope, d.name)) fail(d.span, fmt::format("no binding for nonlocal '{}' found", d.name));
  }

  /// Marks the owner's local as captured and every function between as one that passes it on.
  void capture(Scope& scope, const std::string& name) const {
    Scope* from = owner(scope, name);
    if (!from || from == &scope) return;
    from->symbols[name].captured = true;
    for (Scope* s = &scope; s != from; s = s->parent) {
      Symbol& symbol = s->symbols[name];
      bool& known = passes_on(*s, symbol) ? symbol.passed : symbol.captured;
      if (!std::exchange(known, true)) s->taken.push_back(name);
    }
  }

  /// Whether the name is the class's own, so that what its methods take from around is another variable.
  static bool passes_on(const Scope& scope, const Symbol& symbol) { return scope.kind == Scope::Kind::class_body && symbol.local(); }

  /// Slots for locals; cells for captured locals, then for names taken from around.
  static void number(Scope& scope) {
    if (!scope.out) return;
    int slots = 0, cells = 0;
    for (const std::string& name : scope.order) {
      Symbol& symbol = scope.symbols[name];
      if (!symbol.local()) continue;
      symbol.slot = slots++;
      if (symbol.captured) symbol.cell = cells++;
    }
    for (const std::string& name : scope.taken) {
      Symbol& symbol = scope.symbols[name];
      (symbol.passed ? symbol.passed_cell : symbol.cell) = cells++;
    }
  }

  static Binding find(Scope& scope, const std::string& name) {
    if (!owner(scope, name)) return {Binding::Kind::global, -1};
    const Symbol& symbol = scope.symbols[name];
    if (symbol.cell >= 0) return {Binding::Kind::cell, symbol.cell};
    return {Binding::Kind::local, symbol.slot};
  }

  static void fill(Scope& scope) {
    if (!scope.out) return;
    FunctionScope& out = *scope.out;
    out = {};
    for (const std::string& name : scope.order) {
      const Symbol& symbol = scope.symbols[name];
      if (!symbol.local()) continue;
      out.locals.push_back(name);
      out.cell_of_local.push_back(symbol.cell);
      if (symbol.cell >= 0) out.cells.push_back(name);
    }
    out.own_cells = static_cast<int>(out.cells.size());
    for (const std::string& name : scope.taken) {
      out.cells.push_back(name);
      const Symbol& around = scope.parent->symbols[name];
      out.captured.push_back(around.passed ? Binding{Binding::Kind::cell, around.passed_cell} : find(*scope.parent, name));
    }
  }

  Module& module_;
  std::deque<Scope> scopes_;
  std::vector<Reference> references_;
  std::vector<Declaration> nonlocals_;
  std::deque<Binding> class_of_super_;  // what super() without arguments reads: __class__ of the class around
  std::string class_name_;              // of the class around the current place
  int iterables_ = 0;                   // comprehension iterables around the current place
};

}  // namespace

void resolve_scopes(ast::Module& module) {
  run_on_large_stack([&] { Resolver(module).run(); });
}

}  // namespace gasell
