// Loops of large functions as LLVM functions of their own: what LLVM takes for a function grows faster than the function, and loops that
// differ in names alone are compiled once.
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <tuple>

#include "compiler/codegen/emitter.h"
#include "compiler/ir/part.h"

namespace gasell {

using ir::StmtKind;

namespace {

constexpr int kFrom = 10;  // statements that may be parts: what calls of few would save, they cost

int count_parts(const ir::Body& body) {
  int count = 0;
  for (const ir::StmtRef& s : body) {
    const bool vectors = s->kind == StmtKind::loop && s->loop_kind == ir::LoopKind::simd;
    count += vectors ? 1 : count_parts(s->body) + count_parts(s->orelse);
  }
  return count;
}

/// How many statements from number k on may be a part; 0: they are none.
size_t candidate(const ir::Body& body, size_t k) {
  if (body[k]->kind == StmtKind::loop) return 1;
  // A loop that was cut into strips counts in a variable of its own.
  if (body[k]->kind != StmtKind::var || k + 1 == body.size() || body[k + 1]->kind != StmtKind::scope) return 0;
  for (size_t later = k + 2; later < body.size(); ++later)
    if (ir::reads(*body[later], body[k]->name)) return 0;
  return 2;
}

/// How often texts of parts come.
void count_texts(const ir::Body& body, std::unordered_map<std::string, int>& counts) {
  for (size_t k = 0; k < body.size(); ++k) {
    const size_t count = candidate(body, k);
    if (const auto part = count ? ir::part_of(std::span(body).subspan(k, count)) : std::nullopt) {
      ++counts[part->text];
      k += count - 1;
      continue;
    }
    count_texts(body[k]->body, counts);
    count_texts(body[k]->orelse, counts);
  }
}

/// Whether memory lies apart from all that other names stand for.
bool lies_apart(const llvm::Value* pointer) {
  const auto* argument = llvm::dyn_cast<llvm::Argument>(pointer);
  return argument ? argument->hasNoAliasAttr() : llvm::isa<llvm::AllocaInst>(pointer) || llvm::isNoAliasCall(pointer);
}
bool is_read_only(const llvm::Value* pointer) {
  const auto* argument = llvm::dyn_cast<llvm::Argument>(pointer);
  return argument && argument->hasNoAliasAttr() && argument->hasAttribute(llvm::Attribute::ReadOnly);
}

}  // namespace

void Emitter::choose_parts(const ir::Kernel& kernel) {
  const auto has = [&](const char* name) {
    return std::any_of(kernel.params.begin(), kernel.params.end(), [&](const ir::Parameter& p) { return p.name == name; });
  };
  shares_parts_ = kernel.function && !kernel.simt && !kernel.threads && !target_.check_bounds && has("error") && has("interrupt") &&
                  count_parts(kernel.body) >= kFrom;
  parts_.clear();
  if (!shares_parts_) return;
  std::unordered_map<std::string, int> counts;
  count_texts(kernel.body, counts);
  for (const auto& [text, count] : counts)
    if (count > 1) parts_.emplace(text, nullptr);
}

size_t Emitter::emit_part(const ir::Body& body, size_t k) {
  if (!shares_parts_) return 0;
  const size_t count = candidate(body, k);
  const auto part = count ? ir::part_of(std::span(body).subspan(k, count)) : std::nullopt;
  if (!part || !parts_.count(part->text)) return 0;

  // ---- what it is given ----
  std::vector<llvm::Value*> given;
  std::vector<bool> apart, read_only;  // one a value
  std::string key = part->text;
  bool pointers = false;
  for (const auto& name : part->free) pointers = pointers || (name.array && pointers_.count(name.name));
  const auto give = [&](llvm::Value* v, bool lies_apart_here, bool only_read) {
    given.push_back(v);
    apart.push_back(lies_apart_here);
    read_only.push_back(only_read);
    key += lies_apart_here ? only_read ? " in" : " apart" : " any";
  };
  for (const auto& name : part->free) {
    key += "\n" + std::string(name_of(name.type));
    if (name.array) {
      llvm::Value* pointer = array(name.name).pointer;
      const bool only_read = is_read_only(pointer);
      give(pointer, only_read || (!pointers && lies_apart(pointer)), only_read);
      continue;
    }
    const Register r = value(ir::variable(name.name, name.type));
    for (llvm::Value* v : {r.re, r.im})
      if (v) give(v, false, false);
  }
  for (const char* name : {"error", "interrupt"}) give(arrays_.at(name).pointer, false, false);

  llvm::Function*& function = parts_[key];
  if (!function) {
    std::vector<llvm::Type*> types;
    for (llvm::Value* v : given) types.push_back(v->getType());
    function = llvm::Function::Create(llvm::FunctionType::get(b_.getInt1Ty(), types, false), llvm::Function::InternalLinkage,
                                      function_->getName() + ".part", module_);
    for (const llvm::Attribute& a : function_->getAttributes().getFnAttrs()) function->addFnAttr(a);
    for (unsigned a = 0; a < given.size(); ++a) {
      if (apart[a]) function->addParamAttr(a, llvm::Attribute::NoAlias);
      if (read_only[a]) function->addParamAttr(a, llvm::Attribute::ReadOnly);
    }
    emit_part_body(*function, *part, std::span(body).subspan(k, count));
  }
  raise(b_.CreateCall(function, given), 1, {});  // the error that is noted stays
  return count;
}

/// Gives whether it ended with an error.
void Emitter::emit_part_body(llvm::Function& function, const ir::Part& part, std::span<const ir::StmtRef> statements) {
  const auto here = b_.saveIP();
  const auto around =
      std::tuple(std::exchange(values_, {}), std::exchange(variables_, {}), std::exchange(arrays_, {}), std::exchange(pointers_, {}),
                 std::exchange(scopes_, {}), std::exchange(function_, &function), std::exchange(access_group_, nullptr));
  b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", &function));
  auto argument = function.arg_begin();
  for (const auto& name : part.free) {
    if (name.array) {
      arrays_[name.name] = {&*argument++, name.type, name.name};
      continue;
    }
    Register r{&*argument++, nullptr};
    if (is_complex(name.type)) r.im = &*argument++;
    values_[name.name] = r;
  }
  arrays_["error"] = {&*argument++, DType::i64, "error"};
  arrays_["interrupt"] = {&*argument++, DType::u8, "interrupt"};
  llvm::BasicBlock* failed = block("failed");
  const bool shares = std::exchange(shares_parts_, false);
  with_raises(failed, [&] { this->statements(ir::Body(statements.begin(), statements.end())); });
  shares_parts_ = shares;
  b_.CreateRet(b_.getFalse());
  b_.SetInsertPoint(failed);
  b_.CreateRet(b_.getTrue());
  llvm::EliminateUnreachableBlocks(function);
  std::tie(values_, variables_, arrays_, pointers_, scopes_, function_, access_group_) = around;
  b_.restoreIP(here);
}

}  // namespace gasell
