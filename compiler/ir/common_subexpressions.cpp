#include "compiler/ir/common_subexpressions.h"

#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/text.h"
#include "compiler/ir/transform.h"

namespace gasell::ir {
namespace {

class Elimination {
 public:
  Body body(const Body& statements) {
    Body result;
    const auto outer = named_;
    for (const StmtRef& s : statements) {
      Stmt rewritten = rewrite_expressions(*s, [this](const ExprRef& e) {
        const auto same = e->kind == ExprKind::variable ? renamed_.find(e->name) : renamed_.end();
        return same == renamed_.end() ? e : variable(same->second, e->type);
      });
      if (rewritten.kind == StmtKind::var) variables_.insert(rewritten.name);
      renamed_.erase(rewritten.name);
      if (const std::string text = value_of(rewritten); !text.empty()) {
        const auto [known, fresh] = named_.emplace(text, rewritten.name);
        if (!fresh) {
          renamed_[rewritten.name] = known->second;
          continue;
        }
      }
      rewritten.body = body(rewritten.body);
      rewritten.orelse = body(rewritten.orelse);
      result.push_back(make_statement(std::move(rewritten)));
    }
    named_ = outer;
    return result;
  }

 private:
  /// What a let or a check gives its name, as a text; empty where that changes with time. A check that is the same as one before it finds
  /// nothing new.
  std::string value_of(const Stmt& s) const {
    const auto fixed = [this](const ExprRef& e) {
      return is_constant_over_time(e, [this](const std::string& name) { return !variables_.count(name); });
    };
    if (s.kind == StmtKind::let && fixed(s.value)) return print(s.value);
    if (s.kind == StmtKind::check && fixed(s.value) && fixed(s.end)) return print(s.value) + " of " + print(s.end);
    return "";
  }

  std::unordered_map<std::string, std::string> named_;    // value's text → name
  std::unordered_map<std::string, std::string> renamed_;  // name → earlier name
  std::unordered_set<std::string> variables_;
};

}  // namespace

Kernel eliminate_common_subexpressions(const Kernel& kernel) { return with_body(kernel, Elimination().body(kernel.body)); }

}  // namespace gasell::ir
