#include "compiler/ir/unrolled_size.h"

#include <algorithm>

#include "compiler/ir/transform.h"

namespace gasell::ir {
namespace {

/// Of a loop between constants; 0: of another, or of more than `most`.
int64_t rounds(const Stmt& s, int64_t most) {
  if (s.kind != StmtKind::loop || s.begin->kind != ExprKind::constant || s.end->kind != ExprKind::constant) return 0;
  const int64_t count = s.end->value.i - s.begin->value.i;
  return count > 0 && count <= most ? count : 0;
}

int64_t size_of(const ExprRef& e) {
  int64_t size = e->args.empty() ? 0 : 1;
  for (const ExprRef& a : e->args) size += size_of(a);
  return size;
}

int64_t size_of(const Body& body, int64_t most) {
  int64_t size = 0;
  for (const StmtRef& s : body) {
    for (const ExprRef& e : expressions_of(*s)) size += size_of(e);
    const bool repeats = s->kind == StmtKind::loop || s->kind == StmtKind::while_;
    const int64_t inside = size_of(s->body, most) + size_of(s->orelse, most), times = repeats ? rounds(*s, most) : 1;
    if (inside > 0 && times == 0) return most + 1;
    size = std::min(size + times * inside, most + 1);
  }
  return size;
}

}  // namespace

int64_t unrolled_size(const Stmt& loop, int64_t most) {
  const int64_t times = rounds(loop, most);
  return times > 0 ? std::min(times * size_of(loop.body, most), most + 1) : most + 1;
}

}  // namespace gasell::ir
