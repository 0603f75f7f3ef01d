#include "tools/gasell/language_server/symbols.h"

#include <algorithm>

#include "lang/ast_visit.h"
#include "lang/class_definition.h"
#include "lang/marked_calls.h"
#include "lang/tokens.h"

namespace gasell::cli::lsp {

namespace {

using namespace ast;

class Collector {
 public:
  explicit Collector(const SourceRef& source) : source_(source) {}

  void body(Body& statements, std::vector<Definition>& definitions) {
    for (StmtRef& s : statements) statement(*s, definitions);
  }

  Symbols symbols;

 private:
  /// The function that a name lives in: the innermost for a local; for a cell that is taken, the next one around that owns it.
  const void* scope_of(const std::string& name, const Binding& binding) const {
    if (scopes_.empty() || binding.kind == Binding::Kind::global || binding.kind == Binding::Kind::unresolved) return nullptr;
    if (binding.kind == Binding::Kind::local || binding.slot < scopes_.back()->own_cells) return scopes_.back();
    for (size_t i = scopes_.size() - 1; i-- > 0;) {
      const FunctionScope& scope = *scopes_[i];
      for (int cell = 0; cell < scope.own_cells; ++cell)
        if (scope.cells[static_cast<size_t>(cell)] == name) return &scope;
    }
    return nullptr;
  }

  void add(Occurrence::Kind kind, Span span, const std::string& name, const void* scope, bool binds, std::string module = {}) {
    if (!name.empty() && name[0] != '.')
      symbols.occurrences.push_back({kind, span, name, scope, binds, classes_.contains(scope), std::move(module)});
  }

  /// The place of a name that stands somewhere in `span`.
  Span name_in(Span span, std::string_view name, bool last = false) const {
    Span found{span.begin, span.begin};
    const std::string& text = source_->text();
    for (const Token& token : scan_tokens(std::string_view(text).substr(span.begin, span.end - span.begin))) {
      const Span place{span.begin + token.span.begin, span.begin + token.span.end};
      if (token.kind != TokenKind::name || std::string_view(text).substr(place.begin, place.end - place.begin) != name) continue;
      found = place;
      if (!last) break;
    }
    return found;
  }

  void target(Expr& e) {
    if (auto* name = std::get_if<Name>(&e.node))
      return add(Occurrence::Kind::variable, e.span, name->id, scope_of(name->id, name->binding), true);
    if (std::holds_alternative<Tuple>(e.node) || std::holds_alternative<List>(e.node) || std::holds_alternative<Starred>(e.node)) {
      visit_children(e, [&](ExprRef& child) { target(*child); });
      return;
    }
    expression(e);
  }

  /// Names of a pattern are bound; what stands with dots or is called is read.
  void pattern(Expr& e) {
    if (auto* call = std::get_if<Call>(&e.node)) {
      expression(*call->callee);
      for (ExprRef& argument : call->args) pattern(*argument);
      for (Keyword& keyword : call->keywords) pattern(*keyword.value);
      return;
    }
    if (std::holds_alternative<Name>(e.node)) return target(e);
    if (std::holds_alternative<Attribute>(e.node)) return expression(e);
    visit_children(e, [&](ExprRef& child) { pattern(*child); });
  }

  void parameters(std::vector<Parameter>& params, const FunctionScope& scope) {
    for (Parameter& p : params) add(Occurrence::Kind::parameter, name_in(p.span, p.name), p.name, &scope, true);
  }

  void expression(Expr& e) {
    if (auto* name = std::get_if<Name>(&e.node)) {
      add(Occurrence::Kind::variable, e.span, name->id, scope_of(name->id, name->binding), false);
    } else if (auto* named = std::get_if<NamedExpr>(&e.node)) {
      target(*named->target);
      expression(*named->value);
    } else if (auto* lambda = std::get_if<Lambda>(&e.node)) {
      for (Parameter& p : lambda->params)
        if (p.default_value) expression(*p.default_value);
      scopes_.push_back(&lambda->scope);
      parameters(lambda->params, lambda->scope);
      expression(*lambda->body);
      scopes_.pop_back();
    } else if (auto* comprehension = std::get_if<Comprehension>(&e.node)) {
      expression(*comprehension->clauses[0].iter);
      scopes_.push_back(&comprehension->scope);
      for (size_t i = 0; i < comprehension->clauses.size(); ++i) {
        ComprehensionClause& clause = comprehension->clauses[i];
        if (i > 0) expression(*clause.iter);
        target(*clause.target);
        for (ExprRef& condition : clause.conditions) expression(*condition);
      }
      expression(*comprehension->element);
      if (comprehension->value) expression(*comprehension->value);
      scopes_.pop_back();
    } else if (const Call* one = marked_call(e, kCase); one && !one->args.empty()) {
      pattern(*one->args[0]);
      for (size_t i = 1; i < one->args.size(); ++i) expression(*one->args[i]);
    } else {
      if (const auto* call = std::get_if<Call>(&e.node))
        for (const Keyword& keyword : call->keywords) symbols.keywords.insert(keyword.name);
      visit_children(e, [&](ExprRef& child) { expression(*child); });
    }
  }

  void function(Stmt& s, FunctionDef& def, std::vector<Definition>& definitions) {
    const bool is_class = class_call(def) != nullptr;
    for (ExprRef& decorator : def.decorators) expression(*decorator);
    for (Parameter& p : def.params) {
      if (p.annotation) expression(*p.annotation);
      if (p.default_value) expression(*p.default_value);
    }
    if (def.returns) expression(*def.returns);
    add(is_class ? Occurrence::Kind::class_ : Occurrence::Kind::function, def.name_span, def.name, scope_of(def.name, def.binding), true);
    Definition definition{def.name, is_class, inside_class_, s.span, def.name_span, {}};
    const bool around = inside_class_;
    inside_class_ = is_class;
    if (is_class) classes_.insert(&def.scope);
    scopes_.push_back(&def.scope);
    parameters(def.params, def.scope);
    body(def.body, definition.inside);
    scopes_.pop_back();
    inside_class_ = around;
    definitions.push_back(std::move(definition));
  }

  void import_names(std::vector<ImportName>& names, const std::string& from) {
    for (ImportName& n : names) {
      const std::string bound = n.as.empty() ? n.name.substr(0, from.empty() ? n.name.find('.') : std::string::npos) : n.as;
      add(Occurrence::Kind::import, name_in(n.span, bound, !n.as.empty()), bound, scope_of(bound, n.binding), true,
          from.empty() ? n.name : from + "." + n.name);
    }
  }

  void statement(Stmt& s, std::vector<Definition>& definitions) {
    const auto read = [&](ExprRef& e) {
      if (e) expression(*e);
    };
    const auto inner = [&](Body& b) { body(b, definitions); };
    std::visit(Overloaded{[&](Assign& n) {
                            read(n.value);
                            for (ExprRef& e : n.targets) target(*e);
                          },
                          [&](AugAssign& n) { read(n.value), target(*n.target); },
                          [&](AnnAssign& n) { read(n.annotation), read(n.value), target(*n.target); },
                          [&](For& n) { read(n.iter), target(*n.target), inner(n.body), inner(n.orelse); },
                          [&](With& n) {
                            for (WithItem& item : n.items) {
                              read(item.context);
                              if (item.target) target(*item.target);
                            }
                            inner(n.body);
                          },
                          [&](FunctionDef& n) { function(s, n, definitions); }, [&](Import& n) { import_names(n.names, ""); },
                          [&](ImportFrom& n) { import_names(n.names, n.module); },
                          [&](Try& n) {
                            inner(n.body);
                            for (ExceptHandler& h : n.handlers) {
                              read(h.type);
                              if (!h.name.empty()) {
                                const uint32_t from = h.type ? h.type->span.end : h.span.begin;
                                add(Occurrence::Kind::variable, name_in({from, h.span.end}, h.name), h.name, scope_of(h.name, h.binding),
                                    true);
                              }
                              inner(h.body);
                            }
                            inner(n.orelse), inner(n.finalbody);
                          },
                          [&](auto&) { visit_children(s, read, inner); }},
               s.node);
  }

  SourceRef source_;
  std::vector<const FunctionScope*> scopes_;
  std::set<const void*> classes_;  // scopes of class statements
  bool inside_class_ = false;
};

}  // namespace

const Occurrence* Symbols::at(size_t offset) const {
  for (const Occurrence& one : occurrences)
    if (one.span.begin <= offset && offset <= one.span.end && one.span.begin < one.span.end) return &one;
  return nullptr;
}

std::vector<const Occurrence*> Symbols::same(const Occurrence& one) const {
  std::vector<const Occurrence*> found;
  for (const Occurrence& other : occurrences)
    if (other.name == one.name && other.scope == one.scope && other.span.begin < other.span.end) found.push_back(&other);
  return found;
}

const Occurrence* Symbols::binding(const Occurrence& one) const {
  for (const Occurrence* other : same(one))
    if (other->binds) return other;
  return nullptr;
}

Symbols symbols_of(Module& module) {
  Collector collector(module.source);
  std::vector<Definition> definitions;
  collector.body(module.body, definitions);
  Symbols symbols = std::move(collector.symbols);
  symbols.definitions = std::move(definitions);
  std::stable_sort(symbols.occurrences.begin(), symbols.occurrences.end(),
                   [](const Occurrence& a, const Occurrence& b) { return a.span.begin < b.span.begin; });
  for (const Occurrence& one : symbols.occurrences)
    if (one.binds && !one.scope && one.kind == Occurrence::Kind::variable && symbols.binding(one) == &one) symbols.variables.push_back(one);
  return symbols;
}

}  // namespace gasell::cli::lsp
