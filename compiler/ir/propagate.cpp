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
      if (rewritten.kind == StmtKind::let) {
        const bool copy = rewritten.value->kind == ExprKind::variable && fixed_.count(rewritten.value->name);
        if (copy || rewritten.value->kind == ExprKind::constant) {
          values_[rewritten.name] = rewritten.value;
          continue;
        }
        fixed_.insert(rewritten.name);
      }
      if (rewritten.kind == StmtKind::loop) fixed_.insert(rewritten.name);
      rewritten.body = body(rewritten.body);
      rewritten.orelse = body(rewritten.orelse);
      result.push_back(make_statement(std::move(rewritten)));
    }
    return result;
  }

 private:
  std::unordered_map<std::string, ExprRef> values_;
  std::unordered_set<std::string> fixed_;  // names whose value never changes: everything but vars
};

}  // namespace

Kernel propagate_constants(const Kernel& kernel) { return {kernel.name, kernel.params, Propagation(kernel).body(kernel.body), kernel.threads}; }

}  // namespace gasell::ir
