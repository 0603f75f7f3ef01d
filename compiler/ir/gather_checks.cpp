#include "compiler/ir/gather_checks.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/transform.h"

namespace gasell::ir {
namespace {

bool loads(const Stmt& s) {
  bool found = false;
  for (const ExprRef& e : expressions_of(s)) visit(e, [&](const Expr& part) { found = found || part.kind == ExprKind::load; });
  return found;
}

/// The names that checks of a body are computed from.
std::unordered_set<std::string> asked_by_checks(const Body& statements) {
  std::unordered_set<std::string> asked;
  for (auto s = statements.rbegin(); s != statements.rend(); ++s) {
    if ((*s)->kind != StmtKind::check && !((*s)->kind == StmtKind::let && asked.count((*s)->name))) continue;
    for (const ExprRef& e : expressions_of(**s))
      visit(e, [&](const Expr& part) {
        if (part.kind == ExprKind::variable) asked.insert(part.name);
      });
  }
  return asked;
}

Body gather(const Body& statements) {
  const std::unordered_set<std::string> asked = asked_by_checks(statements);
  Body result;
  std::unordered_map<std::string, size_t> places;  // of names that this run of lets and checks gives
  size_t front = 0;                                // what moves goes here
  for (const StmtRef& s : statements) {
    const bool check = s->kind == StmtKind::check, let = s->kind == StmtKind::let;
    if (!check && !let) {
      Stmt inner = *s;
      inner.body = gather(s->body);
      inner.orelse = gather(s->orelse);
      result.push_back(make_statement(std::move(inner)));
      places.clear();
      front = result.size();
      continue;
    }
    // What no check needs stays where it is: divisions beside each other stay there.
    if (let && (loads(*s) || !asked.count(s->name))) {
      places[s->name] = result.size();
      result.push_back(s);
      continue;
    }
    for (const ExprRef& e : expressions_of(*s))
      visit(e, [&](const Expr& part) {
        if (const auto known = places.find(part.name); part.kind == ExprKind::variable && known != places.end())
          front = std::max(front, known->second + 1);
      });
    result.insert(result.begin() + static_cast<std::ptrdiff_t>(front), s);
    for (auto& [name, place] : places)
      if (place >= front) ++place;
    places[s->name] = front++;
  }
  return result;
}

}  // namespace

Kernel gather_checks(const Kernel& kernel) { return kernel.simt ? with_body(kernel, gather(kernel.body)) : kernel; }

}  // namespace gasell::ir
