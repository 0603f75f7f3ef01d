#include "compiler/ir/simt.h"

#include <functional>

namespace gasell::ir {
namespace {

using Kind = SimtFunction::Kind;

void for_each(const Body& body, const std::function<void(const Stmt&)>& f) {
  for (const StmtRef& s : body) {
    f(*s);
    for_each(s->body, f);
    for_each(s->orelse, f);
  }
}

}  // namespace

const SimtFunction* find_simt_function(std::string_view name) {
  static constexpr SimtFunction kFunctions[] = {
      {"tid_x", Kind::number, 0},
      {"tid_y", Kind::number, 0},
      {"tid_z", Kind::number, 0},
      {"ctaid_x", Kind::number, 0},
      {"ctaid_y", Kind::number, 0},
      {"ctaid_z", Kind::number, 0},
      {"ntid_x", Kind::number, 0},
      {"ntid_y", Kind::number, 0},
      {"ntid_z", Kind::number, 0},
      {"nctaid_x", Kind::number, 0},
      {"nctaid_y", Kind::number, 0},
      {"nctaid_z", Kind::number, 0},
      {"lane", Kind::number, 0},
      {"dynamic_shared", Kind::number, 0},
      {"line", Kind::line, 0},
      {"barrier", Kind::barrier, 0},
      {"barrier_count", Kind::barrier, 1},
      {"barrier_and", Kind::barrier, 1},
      {"barrier_or", Kind::barrier, 1},
      {"grid_barrier", Kind::grid, 0},
      {"warp_barrier", Kind::warp, 1},
      {"fence_block", Kind::fence, 0},
      {"fence", Kind::fence, 0},
      {"fence_system", Kind::fence, 0},
      {"shuffle_idx", Kind::shuffle, 3},
      {"shuffle_up", Kind::shuffle, 3},
      {"shuffle_down", Kind::shuffle, 3},
      {"shuffle_xor", Kind::shuffle, 3},
      {"vote_all", Kind::vote, 2},
      {"vote_any", Kind::vote, 2},
      {"vote_eq", Kind::vote, 2},
      {"vote_ballot", Kind::vote, 2},
      {"match_any", Kind::match, 2},
      {"match_all", Kind::match, 2},
      {"mma", Kind::product, 5},
      {"mma_rest", Kind::product, 1},
      {"active_mask", Kind::active, 0},
      {"popc", Kind::bits, 1},
      {"clz", Kind::bits, 1},
      {"ffs", Kind::bits, 1},
      {"brev", Kind::bits, 1},
      {"fma", Kind::fma, 3},
  };
  for (const SimtFunction& f : kFunctions)
    if (name == f.name) return &f;
  return nullptr;
}

int64_t static_shared_bytes(const Kernel& kernel) {
  int64_t bytes = 0;
  for_each(kernel.body, [&](const Stmt& s) {
    if (s.kind == StmtKind::local_array && s.space == Space::block) bytes += (s.size * size_of(s.type) + 15) / 16 * 16;
  });
  return bytes;
}

bool may_raise(const Kernel& kernel) {
  bool found = false;
  for_each(kernel.body, [&](const Stmt& s) {
    found = found || s.kind == StmtKind::raise || s.kind == StmtKind::check || s.kind == StmtKind::allocate || s.kind == StmtKind::call;
  });
  return found;
}

bool waits_together(const Kernel& kernel) {
  bool found = false;
  for_each(kernel.body, [&](const Stmt& s) {
    if (s.kind != StmtKind::simt) return;
    const Kind kind = find_simt_function(s.source)->kind;
    found = found || kind == Kind::barrier || kind == Kind::grid || kind == Kind::warp || kind == Kind::shuffle || kind == Kind::vote ||
            kind == Kind::match || kind == Kind::product;
  });
  return found;
}

bool waits_for_grid(const Kernel& kernel) {
  bool found = false;
  for_each(kernel.body, [&](const Stmt& s) { found = found || (s.kind == StmtKind::simt && s.source == "grid_barrier"); });
  return found;
}

}  // namespace gasell::ir
