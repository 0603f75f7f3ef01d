#include "compiler/ir/dead_code.h"

#include <unordered_set>

#include "compiler/ir/transform.h"

namespace gasell::ir {
namespace {

class Liveness {
 public:
  explicit Liveness(const Kernel& kernel) {
    for (const Parameter& p : kernel.params) live_.insert(p.name);
    reach(kernel.body);
    while (grow(kernel.body)) {
    }
  }

  Body body(const Body& statements) const {
    Body result;
    for (const StmtRef& s : statements) {
      if (!is_live(*s)) continue;
      Stmt kept = *s;
      kept.body = body(s->body);
      kept.orelse = body(s->orelse);
      if ((kept.kind == StmtKind::loop || kept.kind == StmtKind::if_ || kept.kind == StmtKind::scope) && kept.body.empty() &&
          kept.orelse.empty())
        continue;
      result.push_back(make_statement(std::move(kept)));
    }
    return result;
  }

 private:
  /// Control flow is kept (an endless while is not ours to end), what may raise, and calls; the rest when what it writes is read.
  bool is_live(const Stmt& s) const {
    switch (s.kind) {
      case StmtKind::let:
      case StmtKind::var:
      case StmtKind::assign:
      case StmtKind::local_array:
      case StmtKind::store:
      case StmtKind::allocate: return live_.count(s.name) != 0;
      default: return true;
    }
  }

  /// Pointers, and all that they may point to, count as read: who stores through one of their names is not followed.
  void reach(const Body& statements) {
    for (const StmtRef& s : statements) {
      if (s->kind == StmtKind::pointer || s->kind == StmtKind::point) live_.insert({s->name, s->source});
      if (s->kind == StmtKind::atomic) live_.insert(s->source);
      // Other threads read it, and under other names where the launch gives its size.
      if (s->kind == StmtKind::local_array && s->space == Space::block) live_.insert(s->name);
      reach(s->body);
      reach(s->orelse);
    }
  }

  /// Marks what live statements read; true when that was news.
  bool grow(const Body& statements) {
    const size_t before = live_.size();
    for (const StmtRef& s : statements) {
      if (is_live(*s))
        for (const ExprRef& e : expressions_of(*s))
          visit(e, [this](const Expr& part) {
            if (part.kind == ExprKind::variable || part.kind == ExprKind::load || part.kind == ExprKind::address) live_.insert(part.name);
          });
      grow(s->body);
      grow(s->orelse);
    }
    return live_.size() != before;
  }

  std::unordered_set<std::string> live_;
};

}  // namespace

Kernel eliminate_dead_code(const Kernel& kernel) { return with_body(kernel, Liveness(kernel).body(kernel.body)); }

}  // namespace gasell::ir
