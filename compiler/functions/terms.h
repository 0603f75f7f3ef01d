// Small makers of expressions that the lowering and its library share. A file says `using namespace terms`.
#pragma once

#include <algorithm>
#include <vector>

#include "compiler/ir/ir.h"

namespace gasell::functions::terms {

using ir::ExprRef;

inline ExprRef both(ScalarOp op, ExprRef a, ExprRef b) { return ir::op(op, {std::move(a), std::move(b)}); }
inline ExprRef negation(ExprRef a) { return ir::op(ScalarOp::logical_not, {std::move(a)}); }
inline ExprRef select(ExprRef condition, ExprRef yes, ExprRef no) {
  return ir::op(ScalarOp::select, {std::move(condition), std::move(yes), std::move(no)});
}
inline ExprRef boolean(bool v) { return ir::constant(Scalar::of_bool(v)); }
/// A constant of a type.
inline ExprRef number_of(int64_t v, DType type) { return ir::constant(Scalar::of_int(v).cast(type)); }

inline bool is_constant(const ExprRef& e) { return e->kind == ir::ExprKind::constant; }
inline bool is_one(const ExprRef& e) { return is_constant(e) && e->value.i == 1; }
inline bool is_whole(DType d) { return is_integer(d) || d == DType::boolean; }

/// Whether two expressions are the same constant or the same name.
inline bool same(const ExprRef& a, const ExprRef& b) {
  if (a == b) return true;
  if (!a || !b || a->kind != b->kind || a->type != b->type) return false;
  if (a->kind == ir::ExprKind::variable) return a->name == b->name;
  return is_constant(a) && a->value.same_bits(b->value);
}
inline bool same(const std::vector<ExprRef>& a, const std::vector<ExprRef>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ExprRef& x, const ExprRef& y) { return same(x, y); });
}

}  // namespace gasell::functions::terms
