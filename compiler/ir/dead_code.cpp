#include "compiler/ir/dead_code.h"

#include <unordered_set>

#include "compiler/ir/transform.h"

namespace gasell::ir {
namespace {

class Liveness {
 public:
  explicit Liveness(const Kernel& kernel) {
    for (const Parameter& p : kernel.params) live_.insert(p.name);
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
      if ((kept.kind == StmtKind::loop || kept.kind == StmtKind::if_) && kept.body.empty() && kept.orelse.empty()) continue;
      result.push_back(make_statement(std::move(kept)));
    }
    return result;
  }

 private:
  /// Control flow is kept (an endless while is not ours to end); the rest when what it writes is read.
  bool is_live(const Stmt& s) const {
    return s.kind == StmtKind::loop || s.kind == StmtKind::if_ || s.kind == StmtKind::while_ || s.kind == StmtKind::barrier || live_.count(s.name) != 0;
  }

  /// Marks what live statements read; true when that was news.
  bool grow(const Body& statements) {
    const size_t before = live_.size();
    for (const StmtRef& s : statements) {
      if (is_live(*s))
        for (const ExprRef& e : expressions_of(*s))
          visit(e, [this](const Expr& part) {
            if (part.kind == ExprKind::variable || part.kind == ExprKind::load) live_.insert(part.name);
          });
      grow(s->body);
      grow(s->orelse);
    }
    return live_.size() != before;
  }

  std::unordered_set<std::string> live_;
};

}  // namespace

Kernel eliminate_dead_code(const Kernel& kernel) { return {kernel.name, kernel.params, Liveness(kernel).body(kernel.body), kernel.threads}; }

}  // namespace gasell::ir
