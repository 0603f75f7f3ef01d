#include "compiler/ir/local_allocations.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "compiler/ir/transform.h"

namespace gasell::ir {
namespace {

constexpr int64_t kMostBytes = 1024;      // of one array
constexpr int64_t kMostTogether = 16384;  // of a function's, whose calls of itself may go deep

/// `call gasell_retain(address(context), address(array))` or gasell_release.
bool counts_references(const Stmt& s) {
  return s.kind == StmtKind::call && (s.source == "gasell_retain" || s.source == "gasell_release") && s.args.size() == 2 &&
         s.args[1]->kind == ExprKind::address;
}

class Localising {
 public:
  explicit Localising(const Kernel& kernel) {
    find(kernel.body);
    for (const std::string& name : seen_elsewhere_) local_.erase(name);
  }
  bool empty() const { return local_.empty(); }

  Body body(const Body& statements) {
    Body result;
    for (const StmtRef& s : statements) {
      if (counts_references(*s) && local_.count(s->args[1]->name)) continue;
      if (s->kind == StmtKind::allocate && local_.count(s->name)) {
        result.push_back(local_array(s->name, s->type, std::max<int64_t>(1, s->index->value.i)));
        continue;
      }
      Stmt changed = *s;
      changed.body = body(s->body);
      changed.orelse = body(s->orelse);
      result.push_back(make_statement(std::move(changed)));
    }
    return result;
  }

 private:
  void find(const Body& statements) {
    for (const StmtRef& s : statements) {
      if (s->kind == StmtKind::allocate) allocation(*s);
      if (s->kind == StmtKind::pointer || s->kind == StmtKind::point) seen_elsewhere_.insert(s->source);
      if (!counts_references(*s))
        for (const ExprRef& e : expressions_of(*s))
          visit(e, [this](const Expr& part) {
            if (part.kind == ExprKind::address) seen_elsewhere_.insert(part.name);
          });
      find(s->body);
      find(s->orelse);
    }
  }
  void allocation(const Stmt& s) {
    const bool constant = s.index->kind == ExprKind::constant;
    const int64_t bytes =
        constant && s.index->value.i <= kMostBytes ? std::max<int64_t>(1, s.index->value.i) * gasell::size_of(s.type) : kMostBytes + 1;
    if (bytes > kMostBytes || together_ + bytes > kMostTogether) return void(seen_elsewhere_.insert(s.name));
    together_ += bytes;
    local_.insert(s.name);
  }

  std::unordered_set<std::string> local_, seen_elsewhere_;
  int64_t together_ = 0;
};

}  // namespace

Kernel local_allocations(const Kernel& kernel) {
  if (!kernel.function) return kernel;
  Localising localising(kernel);
  return localising.empty() ? kernel : with_body(kernel, localising.body(kernel.body));
}

}  // namespace gasell::ir
