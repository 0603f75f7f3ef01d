#include "compiler/functions/liveness.h"

#include "lang/ast_visit.h"

namespace gasell::functions {
namespace {

void add(Names& to, const Names& from) { to.insert(from.begin(), from.end()); }

void collect_reads(const ast::ExprRef& e, Names& names) {
  if (!e) return;
  if (const auto* name = std::get_if<ast::Name>(&e->node)) {
    if (name->binding.kind != ast::Binding::Kind::global) names.insert(name->id);
    return;
  }
  ast::visit_children(*e, [&](ast::ExprRef& child) { collect_reads(child, names); });
}

void collect_reads(const ast::Body& body, Names& names) {
  for (const ast::StmtRef& s : body)
    ast::visit_children(*s, [&](ast::ExprRef& e) { collect_reads(e, names); }, [&](ast::Body& inner) { collect_reads(inner, names); });
}

/// What an assignment to `target` binds, and what it reads to find the place.
void target_names(const ast::ExprRef& target, Names& bound, Names& read) {
  if (!target) return;
  std::visit(ast::Overloaded{[&](const ast::Name& n) { bound.insert(n.id); },
                             [&](const ast::Tuple& n) {
                               for (const ast::ExprRef& item : n.items) target_names(item, bound, read);
                             },
                             [&](const ast::List& n) {
                               for (const ast::ExprRef& item : n.items) target_names(item, bound, read);
                             },
                             [&](const ast::Starred& n) { target_names(n.value, bound, read); },
                             [&](const auto&) { collect_reads(target, read); }},
             target->node);
}

void walrus_names(const ast::ExprRef& e, Names& bound) {
  if (!e) return;
  if (const auto* named = std::get_if<ast::NamedExpr>(&e->node)) bound.insert(std::get<ast::Name>(named->target->node).id);
  ast::visit_children(*e, [&](ast::ExprRef& child) { walrus_names(child, bound); });
}

void collect_assigned(const ast::Body& body, Names& bound) {
  Names read;
  for (const ast::StmtRef& s : body) {
    ast::visit_children(
        *s, [&](ast::ExprRef& e) { walrus_names(e, bound); },
        [&](ast::Body& inner) {
          if (!std::holds_alternative<ast::FunctionDef>(s->node)) collect_assigned(inner, bound);
        });
    std::visit(ast::Overloaded{[&](const ast::Assign& n) {
                                 for (const ast::ExprRef& t : n.targets) target_names(t, bound, read);
                               },
                               [&](const ast::AugAssign& n) { target_names(n.target, bound, read); },
                               [&](const ast::AnnAssign& n) {
                                 if (n.value) target_names(n.target, bound, read);
                               },
                               [&](const ast::For& n) { target_names(n.target, bound, read); },
                               [&](const ast::With& n) {
                                 for (const ast::WithItem& item : n.items) target_names(item.target, bound, read);
                               },
                               [&](const ast::FunctionDef& n) { bound.insert(n.name); }, [](const auto&) {}},
               s->node);
  }
}

class Flow {
 public:
  explicit Flow(Liveness& result) : result_(result) {}

  Names before(const ast::Body& body, Names live) {
    for (size_t k = body.size(); k-- > 0;) {
      live = before(*body[k], body[k].get(), std::move(live));
      add(live, caught_);
    }
    return live;
  }

  /// The same for the body of a loop: `continue` leads behind it.
  Names iteration(const ast::Body& body, const Names& live) {
    loops_.push_back({live, live});
    Names result = before(body, live);
    loops_.pop_back();
    return result;
  }

 private:
  Names before(const ast::Stmt& s, const ast::Stmt* key, Names live) {
    auto assign = [&](const ast::ExprRef& target) {
      Names bound, read;
      target_names(target, bound, read);
      for (const std::string& name : bound) live.erase(name);
      add(live, read);
    };
    std::visit(ast::Overloaded{[&](const ast::Assign& n) {
                                 for (const ast::ExprRef& t : n.targets) assign(t);
                                 collect_reads(n.value, live);
                               },
                               [&](const ast::AugAssign& n) { collect_reads(n.target, live), collect_reads(n.value, live); },
                               [&](const ast::AnnAssign& n) {
                                 if (n.value) assign(n.target), collect_reads(n.value, live);
                               },
                               [&](const ast::If& n) {
                                 result_.statements[key].after = live;
                                 add(result_.statements[key].after, caught_);
                                 Names other = before(n.orelse, live);
                                 live = before(n.body, std::move(live));
                                 add(live, other);
                                 collect_reads(n.test, live);
                               },
                               [&](const ast::While& n) { live = loop(key, nullptr, n.test, n.body, n.orelse, std::move(live)); },
                               [&](const ast::For& n) {
                                 live = loop(key, n.target, nullptr, n.body, n.orelse, std::move(live));
                                 collect_reads(n.iter, live);
                               },
                               [&](const ast::Break&) { live = loops_.empty() ? Names{} : loops_.back().after; },
                               [&](const ast::Continue&) { live = loops_.empty() ? Names{} : loops_.back().head; },
                               [&](const ast::Return& n) { live.clear(), collect_reads(n.value, live); },
                               [&](const ast::Raise& n) { live.clear(), collect_reads(n.exception, live), collect_reads(n.cause, live); },
                               [&](const ast::FunctionDef& n) {
                                 live.erase(n.name);
                                 collect_reads(n.body, live);
                                 for (const ast::Parameter& p : n.params) collect_reads(p.default_value, live);
                               },
                               [&](const ast::With& n) {
                                 live = before(n.body, std::move(live));
                                 for (const ast::WithItem& item : n.items) assign(item.target), collect_reads(item.context, live);
                               },
                               [&](const ast::Try& n) {
                                 result_.statements[key].after = live;
                                 add(result_.statements[key].after, caught_);
                                 // Behind finally an exception may go on to who catches it around.
                                 const Names ended = before(n.finalbody, std::move(live));
                                 Names handled = ended;
                                 for (const ast::ExceptHandler& h : n.handlers) add(handled, before(h.body, ended));
                                 live = before(n.orelse, ended);
                                 // Any place of the body may be the last that is reached.
                                 const Names around = caught_;
                                 add(caught_, handled);
                                 Names head = handled;
                                 add(head, live);
                                 result_.statements[key].head = std::move(head);
                                 live = before(n.body, std::move(live));
                                 add(live, handled);
                                 caught_ = around;
                               },
                               [&](const auto&) {
                                 ast::visit_children(
                                     const_cast<ast::Stmt&>(s), [&](ast::ExprRef& e) { collect_reads(e, live); },
                                     [&](ast::Body& body) { live = before(body, std::move(live)); });
                               }},
               s.node);
    return live;
  }

  /// Iterated until the head no longer grows.
  Names loop(const ast::Stmt* key, const ast::ExprRef& target, const ast::ExprRef& test, const ast::Body& body, const ast::Body& orelse,
             Names after) {
    const Names left = before(orelse, after);  // where the loop ends by itself
    Names head = left;
    collect_reads(test, head);
    for (;;) {
      loops_.push_back({after, head});
      Names inside = before(body, head);
      loops_.pop_back();
      if (target) {
        Names bound, read;
        target_names(target, bound, read);
        for (const std::string& name : bound) inside.erase(name);
        add(inside, read);
      }
      add(inside, left);
      collect_reads(test, inside);
      if (inside == head) break;
      add(head, inside);
    }
    result_.statements[key] = {after, head};
    add(result_.statements[key].after, caught_);
    add(result_.statements[key].head, caught_);
    result_.statements[key].after.insert(left.begin(), left.end());
    return head;
  }

  struct Loop {
    Names after, head;
  };
  Liveness& result_;
  std::vector<Loop> loops_;
  Names caught_;  // read where exceptions of the place are caught
};

}  // namespace

Liveness find_liveness(const ast::Body& body) {
  Liveness result;
  Flow(result).before(body, {});
  return result;
}

Names exposed_names(const ast::Body& body) {
  Liveness unused;
  return Flow(unused).before(body, {});
}

bool may_stay_unbound(const ast::Body& body, const std::string& name) {
  Liveness unused;
  return Flow(unused).iteration(body, {name}).count(name) > 0;
}

Names assigned_names(const ast::Body& body) {
  Names result;
  collect_assigned(body, result);
  return result;
}

bool only_augmented(const ast::Body& body, const std::string& name) {
  for (const ast::StmtRef& s : body) {
    Names bound, read;
    std::visit(ast::Overloaded{[&](const ast::Assign& n) {
                                 for (const ast::ExprRef& t : n.targets) target_names(t, bound, read);
                               },
                               [&](const ast::AnnAssign& n) { target_names(n.target, bound, read); },
                               [&](const ast::For& n) { target_names(n.target, bound, read); },
                               [&](const ast::FunctionDef& n) { bound.insert(n.name); }, [](const auto&) {}},
               s->node);
    bool others = bound.count(name) > 0;
    ast::visit_children(
        *s,
        [&](ast::ExprRef& e) {
          Names walrus;
          walrus_names(e, walrus);
          others = others || walrus.count(name);
        },
        [&](ast::Body& inner) { others = others || !only_augmented(inner, name); });
    if (others) return false;
  }
  return true;
}

Names read_names(const ast::ExprRef& e) {
  Names result;
  collect_reads(e, result);
  return result;
}

}  // namespace gasell::functions
