#include "compiler/ir/propagate.h"

#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/transform.h"

namespace gasell::ir {
namespace {

class Propagation {
 public:
  explicit Propagation(const Kernel& kernel) {
    for (const Parameter& p : kernel.params) fixed_.insert(p.name);
  }

  Body body(const Body& statements) {
    Body result;
    for (const StmtRef& s : statements) {
      Stmt rewritten = rewrite_expressions(*s, [this](const ExprRef& e) {
        if (e->kind != ExprKind::variable) return e;
        const auto known = values_.find(e->name);
        return known == values_.end() ? e : known->second;
      });
      declare(rewritten);
      if (rewritten.kind == StmtKind::let) {
        const bool copy = rewritten.value->kind == ExprKind::variable && fixed_.count(rewritten.value->name);
        if (copy || rewritten.value->kind == ExprKind::constant) {
          values_[rewritten.name] = rewritten.value;
          continue;
        }
      }
      const bool never = rewritten.kind == StmtKind::if_ && rewritten.value->kind == ExprKind::constant && !rewritten.value->value.i;
      if (never && rewritten.orelse.empty()) continue;
      rewritten.body = body(rewritten.body);
      rewritten.orelse = body(rewritten.orelse);
      result.push_back(make_statement(std::move(rewritten)));
    }
    return result;
  }

 private:
  /// Blocks beside each other may give one name to different things.
  void declare(const Stmt& s) {
    switch (s.kind) {
      case StmtKind::let:
      case StmtKind::loop:
      case StmtKind::check:
      case StmtKind::call:
      case StmtKind::atomic:
      case StmtKind::simt:
        values_.erase(s.name);
        fixed_.insert(s.name);
        break;
      case StmtKind::var:
        values_.erase(s.name);
        fixed_.erase(s.name);
        break;
      default: break;
    }
  }

  std::unordered_map<std::string, ExprRef> values_;
  std::unordered_set<std::string> fixed_;  // names whose value never changes: everything but vars
};

}  // namespace

Kernel propagate_constants(const Kernel& kernel) { return with_body(kernel, Propagation(kernel).body(kernel.body)); }

}  // namespace gasell::ir
