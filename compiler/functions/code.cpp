#include "compiler/functions/code.h"

namespace gasell::functions {

ExprRef Code::bind(const ExprRef& e, std::string_view stem) {
  if (e->kind == ir::ExprKind::constant || e->kind == ir::ExprKind::variable) return e;
  const std::string name = fresh(stem);
  emit(ir::let(name, e));
  define(name, e);
  return ir::variable(name, e->type);
}

ExprRef Code::snapshot(const std::string& variable, DType type, std::string_view stem) {
  const std::string name = fresh(stem);
  emit(ir::let(name, ir::variable(variable, type)));
  return ir::variable(name, type);
}

ir::Body Code::close() {
  Block& block = blocks_.back();
  if (!block.dead && blocks_.size() > 1)
    for (const std::string& memory : block.owned) release(memory);
  ir::Body body = std::move(block.body);
  blocks_.pop_back();
  return body;
}

void Code::splice() {
  Block inner = std::move(blocks_.back());
  blocks_.pop_back();
  Block& outer = blocks_.back();
  outer.body.insert(outer.body.end(), inner.body.begin(), inner.body.end());
  outer.owned.insert(outer.owned.end(), inner.owned.begin(), inner.owned.end());
  outer.dead = outer.dead || inner.dead;
}

void Code::retain(const std::string& memory) {
  if (!counts_) return;
  emit(ir::call("", DType::i64, "gasell_retain", {ir::address("context"), ir::address(memory)}));
}
void Code::release(const std::string& memory) {
  if (!counts_) return;
  emit(ir::call("", DType::i64, "gasell_release", {ir::address("context"), ir::address(memory)}));
}

void Code::release_down_to(size_t depth) {
  for (size_t k = blocks_.size(); k-- > depth;)
    for (const std::string& memory : blocks_[k].owned) release(memory);
}

}  // namespace gasell::functions
