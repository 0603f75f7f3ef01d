#include "compiler/ir/place_barriers.h"

#include <map>
#include <set>
#include <string>

#include "compiler/ir/text.h"
#include "compiler/ir/transform.h"

namespace gasell::ir {
namespace {

/// Who uses an array's elements: "" anybody, else the threads that own them.
struct Uses {
  std::set<std::string> reads, writes;
  bool operator==(const Uses&) const = default;
};
using Accesses = std::map<std::string, Uses>;

void join(Accesses& into, const Accesses& more) {
  for (const auto& [array, uses] : more) {
    into[array].reads.insert(uses.reads.begin(), uses.reads.end());
    into[array].writes.insert(uses.writes.begin(), uses.writes.end());
  }
}

bool conflict(const std::set<std::string>& a, const std::set<std::string>& b) {
  for (const std::string& one : a)
    for (const std::string& other : b)
      if (one.empty() || one != other) return true;
  return false;
}
bool conflict(const Accesses& before, const Accesses& after) {
  for (const auto& [array, now] : after) {
    const auto found = before.find(array);
    if (found == before.end()) continue;
    const Uses& then = found->second;
    if (conflict(then.writes, now.reads) || conflict(then.writes, now.writes) || conflict(then.reads, now.writes)) return true;
  }
  return false;
}

class Placement {
 public:
  /// `pending`: what was used since the last barrier of this space, by the time the body begins; on return, by its end.
  Body body(const Body& statements, Space space, Accesses& pending) {
    Body result;
    for (const StmtRef& s : statements) {
      if (s->kind == StmtKind::local_array) spaces_[s->name] = s->space;
      if (s->kind == StmtKind::barrier && s->space >= space) pending.clear();
      if (s->kind == StmtKind::loop && s->loop_kind != LoopKind::within) {
        meet(result, space, pending, own_accesses(*s, space));
        result.push_back(s->loop_kind == LoopKind::across ? across(*s, space, pending) : repeated(*s, space, pending));
      } else if (s->kind == StmtKind::while_) {
        meet(result, space, pending, own_accesses(*s, space));
        result.push_back(repeated(*s, space, pending));
      } else if (s->kind == StmtKind::if_) {
        meet(result, space, pending, own_accesses(*s, space));
        Stmt branches = *s;
        Accesses orelse = pending;
        branches.body = body(s->body, space, pending);
        branches.orelse = body(s->orelse, space, orelse);
        join(pending, orelse);
        result.push_back(make_statement(std::move(branches)));
      } else {
        Accesses now;
        gather(*s, space, "", "", now);
        meet(result, space, pending, now);
        result.push_back(s);
      }
    }
    return result;
  }

 private:
  void meet(Body& result, Space space, Accesses& pending, const Accesses& now) {
    if (conflict(pending, now)) {
      result.push_back(barrier(space));
      pending.clear();
    }
    join(pending, now);
  }

  /// A loop's end meets its beginning.
  StmtRef repeated(const Stmt& s, Space space, Accesses& pending) {
    Accesses once = pending;
    body(s.body, space, once);
    join(once, own_accesses(s, space));
    Accesses again = pending;
    join(again, once);
    Stmt result = s;
    result.body = body(s.body, space, again);
    join(pending, again);
    return make_statement(std::move(result));
  }

  /// Warps go their own ways: their memory is put in order inside, the block's before and after the loop.
  StmtRef across(const Stmt& s, Space space, Accesses& pending) {
    Stmt result = s;
    Accesses warps;
    result.body = body(s.body, Space::warp, warps);
    if (!warps.empty()) result.body.push_back(barrier(Space::warp));
    (void)space;
    (void)pending;
    return make_statement(std::move(result));
  }

  /// What a statement itself uses of the space's arrays: all of an across loop's body, else its conditions and bounds.
  Accesses own_accesses(const Stmt& s, Space space) {
    Accesses now;
    if (s.kind == StmtKind::loop && s.loop_kind == LoopKind::across) {
      declare(s.body);
      gather(s, space, "", "", now);
    } else {
      for (const ExprRef& e : expressions_of(s)) gather(e, space, "", "", now);
    }
    return now;
  }
  void declare(const Body& statements) {
    for (const StmtRef& s : statements) {
      if (s->kind == StmtKind::local_array) spaces_[s->name] = s->space;
      declare(s->body);
      declare(s->orelse);
    }
  }

  bool concerns(const std::string& array, Space space) const {
    const auto found = spaces_.find(array);
    return found != spaces_.end() && found->second == space;
  }

  void gather(const Stmt& s, Space space, const std::string& element, const std::string& owner, Accesses& now) {
    for (const ExprRef& e : expressions_of(s)) gather(e, space, element, owner, now);
    if (s.kind == StmtKind::store && concerns(s.name, space)) now[s.name].writes.insert(who(s.index, element, owner));
    const bool owns =
        s.kind == StmtKind::loop && s.loop_kind == LoopKind::within && s.begin->kind == ExprKind::constant && s.begin->value.i == 0;
    const std::string inner_element = owns ? s.name : element, inner_owner = owns ? "within " + print(s.width) : owner;
    for (const Body* nested : {&s.body, &s.orelse})
      for (const StmtRef& inner : *nested) gather(*inner, space, inner_element, inner_owner, now);
  }
  void gather(const ExprRef& e, Space space, const std::string& element, const std::string& owner, Accesses& now) {
    if (e->kind == ExprKind::load && concerns(e->name, space)) now[e->name].reads.insert(who(e->args[0], element, owner));
    for (const ExprRef& a : e->args) gather(a, space, element, owner, now);
  }
  static std::string who(const ExprRef& index, const std::string& element, const std::string& owner) {
    return index->kind == ExprKind::variable && index->name == element ? owner : "";
  }

  std::map<std::string, Space> spaces_;
};

}  // namespace

Kernel place_barriers(const Kernel& kernel) {
  Accesses pending;
  return with_body(kernel, Placement().body(kernel.body, Space::block, pending));
}

}  // namespace gasell::ir
