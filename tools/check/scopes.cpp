#include "tools/check/scopes.h"

#include <algorithm>

#include "lang/ast_visit.h"
#include "lang/class_definition.h"
#include "lang/marked_calls.h"

namespace gasell::check {

namespace {

using namespace ast;

bool is_marked(const std::string& name) { return name.starts_with('.'); }

class Walker {
 public:
  Walker(Scopes& scopes, Module& module) : scopes_(scopes) {
    const auto end = static_cast<uint32_t>(module.source->text().size());
    scope_ = &scopes_.all.emplace_back(VariableScope{VariableScope::Kind::module, nullptr, nullptr, {0, end}});
    body(module.body);
  }

 private:
  using Kind = Variable::Kind;

  Variable& variable(const std::string& name, const Binding& binding) {
    VariableScope* owner = scope_;
    if (binding.kind == Binding::Kind::cell) {
      const auto has = [&](const VariableScope& s) {
        return s.frame && std::find(s.frame->locals.begin(), s.frame->locals.end(), name) != s.frame->locals.end();
      };
      while (owner->parent && !has(*owner)) owner = owner->parent;
    } else if (binding.kind != Binding::Kind::local) {
      owner = &scopes_.module();
    }
    Variable& found = owner->variables[name];
    found.name = name;
    return found;
  }

  Variable& bind(const std::string& name, const Binding& binding, Span span, Kind kind) {
    Variable& found = variable(name, binding);
    if (found.bindings++ == 0) found.kind = kind;
    found.uses.push_back({span, true});
    return found;
  }

  void read(const Name& name, Span span) {
    if (is_marked(name.id)) return;
    Variable& found = variable(name.id, name.binding);
    ++found.reads;
    found.uses.push_back({span, false});
    if (name.binding.kind != Binding::Kind::global && name.binding.kind != Binding::Kind::unresolved) return;
    if (name.id == "locals" || name.id == "vars" || name.id == "eval" || name.id == "exec") scope_->looks_up_by_text = true;
    if (name.id == "globals" || name.id == "exec") scopes_.takes_everything = true;
  }

  void target(ExprRef& e, Kind kind = Kind::assigned) {
    if (!e) return;
    if (auto* name = std::get_if<Name>(&e->node)) {
      bind(name->id, name->binding, e->span, kind);
    } else if (auto* tuple = std::get_if<Tuple>(&e->node)) {
      for (ExprRef& item : tuple->items) target(item, Kind::unpacked);
    } else if (auto* list = std::get_if<List>(&e->node)) {
      for (ExprRef& item : list->items) target(item, Kind::unpacked);
    } else if (auto* starred = std::get_if<Starred>(&e->node)) {
      target(starred->value, Kind::unpacked);
    } else {
      visit_children(*e, [&](ExprRef& child) { expr(child); });
    }
  }

  /// Names of a pattern are bound; attributes and classes are read.
  void pattern(ExprRef& e) {
    if (auto* name = std::get_if<Name>(&e->node)) {
      bind(name->id, name->binding, e->span, Kind::captured);
    } else if (auto* call = std::get_if<Call>(&e->node)) {
      expr(call->callee);
      for (ExprRef& argument : call->args) pattern(argument);
      for (Keyword& keyword : call->keywords) pattern(keyword.value);
    } else if (std::holds_alternative<Attribute>(e->node)) {
      expr(e);
    } else {
      visit_children(*e, [&](ExprRef& child) { pattern(child); });
    }
  }

  void expr(ExprRef& e) {
    if (!e) return;
    if (auto* name = std::get_if<Name>(&e->node)) return read(*name, e->span);
    if (auto* lambda = std::get_if<Lambda>(&e->node)) {
      parameters_outside(lambda->params);
      inside(VariableScope::Kind::function, lambda->scope, e->span, [&] {
        bind_parameters(lambda->params);
        expr(lambda->body);
      });
      return;
    }
    if (auto* made = std::get_if<Comprehension>(&e->node)) {
      expr(made->clauses.front().iter);
      inside(VariableScope::Kind::comprehension, made->scope, e->span, [&] {
        for (ComprehensionClause& clause : made->clauses) {
          if (&clause != &made->clauses.front()) expr(clause.iter);
          target(clause.target, Kind::unpacked);
          for (ExprRef& condition : clause.conditions) expr(condition);
        }
        expr(made->element);
        expr(made->value);
      });
      return;
    }
    if (auto* named = std::get_if<NamedExpr>(&e->node)) {
      expr(named->value);
      target(named->target);
      return;
    }
    if (auto* call = std::get_if<Call>(&e->node)) {
      const auto* callee = std::get_if<Name>(&call->callee->node);
      if (callee && callee->id == kCase) {
        for (ExprRef& argument : call->args) pattern(argument);
        return;
      }
    }
    visit_children(*e, [&](ExprRef& child) { expr(child); });
  }

  template <class Work>
  void inside(VariableScope::Kind kind, const FunctionScope& frame, Span span, Work work) {
    VariableScope* const around = scope_;
    scope_ = &scopes_.all.emplace_back(VariableScope{kind, around, &frame, span});
    work();
    around->looks_up_by_text = around->looks_up_by_text || (scope_->looks_up_by_text && kind == VariableScope::Kind::comprehension);
    scope_ = around;
  }

  void parameters_outside(std::vector<Parameter>& params) {
    for (Parameter& p : params) expr(p.annotation), expr(p.default_value);
  }
  void bind_parameters(std::vector<Parameter>& params) {
    Binding local;
    local.kind = Binding::Kind::local;
    for (Parameter& p : params) bind(p.name, local, p.span, Kind::parameter);
  }

  void import_names(std::vector<ImportName>& names, const std::string* from) {
    for (ImportName& n : names) {
      const std::string bound = !n.as.empty() ? n.as : from ? n.name : n.name.substr(0, n.name.find('.'));
      Variable& found = bind(bound, n.binding, n.span, Kind::imported);
      found.module = from ? *from : n.as.empty() ? bound : n.name;
      found.member = from ? n.name : "";
      found.is_submodule_import = !from && n.as.empty() && bound != n.name;
    }
  }

  void body(Body& statements) {
    for (StmtRef& s : statements) statement(*s);
  }

  void statement(Stmt& s) {
    std::visit(Overloaded{[&](Assign& n) {
                            expr(n.value);
                            for (ExprRef& t : n.targets) target(t);
                          },
                          [&](AugAssign& n) {
                            expr(n.value);
                            expr(n.target);
                            target(n.target);
                          },
                          [&](AnnAssign& n) {
                            expr(n.annotation), expr(n.value);
                            target(n.target, n.value ? Kind::assigned : Kind::parameter);
                          },
                          [&](For& n) {
                            expr(n.iter);
                            target(n.target, Kind::unpacked);
                            body(n.body), body(n.orelse);
                          },
                          [&](With& n) {
                            for (WithItem& item : n.items) expr(item.context), target(item.target);
                            body(n.body);
                          },
                          [&](Delete& n) {
                            for (ExprRef& t : n.targets) expr(t);
                          },
                          [&](FunctionDef& n) { definition(n, s.span); }, [&](Import& n) { import_names(n.names, nullptr); },
                          [&](ImportFrom& n) { import_names(n.names, &n.module); },
                          [&](Try& n) {
                            body(n.body);
                            for (ExceptHandler& h : n.handlers) {
                              expr(h.type);
                              if (!h.name.empty()) bind(h.name, h.binding, h.span, Kind::exception);
                              body(h.body);
                            }
                            body(n.orelse), body(n.finalbody);
                          },
                          [&](auto&) { visit_children(s, [&](ExprRef& e) { expr(e); }, [&](Body& b) { body(b); }); }},
               s.node);
  }

  void definition(FunctionDef& n, Span span) {
    const bool is_class = class_call(n) != nullptr;
    for (ExprRef& decorator : n.decorators) expr(decorator);
    parameters_outside(n.params);
    expr(n.returns);
    bind(n.name, n.binding, n.name_span, is_class ? Kind::class_name : Kind::function).definition = &n;
    inside(is_class ? VariableScope::Kind::class_body : VariableScope::Kind::function, n.scope, span, [&] {
      bind_parameters(n.params);
      body(n.body);
    });
  }

  Scopes& scopes_;
  VariableScope* scope_ = nullptr;
};

}  // namespace

Scopes scopes_of(ast::Module& module) {
  Scopes scopes;
  Walker(scopes, module);
  return scopes;
}

}  // namespace gasell::check
