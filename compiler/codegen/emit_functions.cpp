// The statements that only compiled functions have: ways out, checked indices, memory, pointers, calls.
#include <llvm/IR/MDBuilder.h>

#include "compiler/codegen/emitter.h"

namespace gasell {

using ir::Stmt;
using ir::StmtKind;

void Emitter::function_statement(const Stmt& s) {
  switch (s.kind) {
    case StmtKind::scope: {
      llvm::BasicBlock* behind = scopes_[s.name] = block("behind");
      const auto body = [&] {
        statements(s.body);
        b_.CreateBr(behind);
      };
      if (s.catches)
        with_raises(behind, body);
      else
        body();
      b_.SetInsertPoint(behind);
      break;
    }
    case StmtKind::leave: b_.CreateBr(scopes_.at(s.name)); break;
    case StmtKind::raise: {
      std::vector<llvm::Value*> values;
      for (const ir::ExprRef& a : s.args) values.push_back(value(a).re);
      raise(nullptr, s.size, values);
      break;
    }
    case StmtKind::check: check(s); break;
    case StmtKind::allocate: allocate(s); break;
    case StmtKind::pointer: {
      Pointer pointer{{}, s.type};
      const Array source = s.value ? array_at(s) : s.source.empty() ? null_array(s) : array(s.source);
      llvm::Value* const parts[] = {source.pointer, source.memory_begin, source.memory_end};
      for (int k = 0; k < 3; ++k)
        if (parts[k]) pointer.parts[k] = entry_alloca(b_.getPtrTy(), 8);
      pointers_[s.name] = pointer;
      point(pointer, source);
      break;
    }
    case StmtKind::point: point(pointers_.at(s.name), array(s.source)); break;
    case StmtKind::call: call(s); break;
    case StmtKind::poll: poll(); break;
    case StmtKind::atomic: atomic(s); break;
    case StmtKind::simt: simt(s); break;
    default: break;
  }
}

void Emitter::poll() {
  llvm::LoadInst* asked = b_.CreateAlignedLoad(b_.getInt8Ty(), arrays_.at("interrupt").pointer, llvm::Align(1));
  // No order with other accesses, which would keep LLVM from holding their elements in registers; but never only once for a whole loop.
  asked->setAtomic(llvm::AtomicOrdering::Unordered);
  asked->setVolatile(true);
  raise(b_.CreateICmpNE(asked, b_.getInt8(0)), ir::kInterrupted, {});
}

void Emitter::raise(llvm::Value* condition, int64_t site, const std::vector<llvm::Value*>& values) {
  if (!raise_.block) {
    raise_.block = block("raise");
    llvm::IRBuilder<> there(raise_.block);
    for (llvm::PHINode*& phi : raise_.values) phi = there.CreatePHI(there.getInt64Ty(), 4);
  }
  raise_.values[0]->addIncoming(b_.getInt64(static_cast<uint64_t>(site)), b_.GetInsertBlock());
  for (size_t k = 0; k < 3; ++k) raise_.values[k + 1]->addIncoming(k < values.size() ? values[k] : b_.getInt64(0), b_.GetInsertBlock());
  if (!condition) return void(b_.CreateBr(raise_.block));
  llvm::BasicBlock* good = block("good");
  b_.CreateCondBr(condition, raise_.block, good, llvm::MDBuilder(context_).createUnlikelyBranchWeights());
  b_.SetInsertPoint(good);
}

void Emitter::note_errors(llvm::BasicBlock* exit) {
  if (!raise_.block) return;
  const auto here = b_.saveIP();
  b_.SetInsertPoint(raise_.block);
  // The first error stays: the kernel's threads may have one each.
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::Value* slot = arrays_.at("error").pointer;
  const auto order = llvm::AtomicOrdering::Monotonic;
  llvm::Value* exchanged = b_.CreateAtomicCmpXchg(slot, b_.getInt64(0), raise_.values[0], llvm::Align(8), order, order);
  llvm::BasicBlock* note = block("note");
  b_.CreateCondBr(b_.CreateExtractValue(exchanged, 1), note, exit);
  b_.SetInsertPoint(note);
  for (unsigned k = 1; k < 4; ++k) b_.CreateAlignedStore(raise_.values[k], b_.CreateConstInBoundsGEP1_64(i64, slot, k), llvm::Align(8));
  note_place(slot);
  b_.CreateBr(exit);
  b_.restoreIP(here);
}

/// Nearly all indices are counted from the front: on the host the others are looked at apart, so that an element waits for one comparison
/// alone.
void Emitter::check(const Stmt& s) {
  llvm::Value *index = value(s.value).re, *extent = value(s.end).re, *zero = b_.getInt64(0);
  if (target_.grid || llvm::isa<llvm::Constant>(index)) {
    llvm::Value* from_front = b_.CreateAdd(index, b_.CreateSelect(b_.CreateICmpSLT(index, zero), extent, zero), s.name);
    raise(b_.CreateICmpUGE(from_front, extent), s.size, {index, extent});
    values_[s.name] = {from_front, nullptr};
    return;
  }
  llvm::BasicBlock *here = b_.GetInsertBlock(), *outside = block("outside"), *inside = block("inside");
  b_.CreateCondBr(b_.CreateICmpULT(index, extent), inside, outside, llvm::MDBuilder(context_).createLikelyBranchWeights());
  b_.SetInsertPoint(outside);
  llvm::Value* from_front = b_.CreateAdd(index, extent);
  raise(b_.CreateICmpUGE(from_front, extent), s.size, {index, extent});
  llvm::BasicBlock* counted = b_.GetInsertBlock();
  b_.CreateBr(inside);
  b_.SetInsertPoint(inside);
  llvm::PHINode* place = b_.CreatePHI(b_.getInt64Ty(), 2, s.name);
  place->addIncoming(index, here);
  place->addIncoming(from_front, counted);
  values_[s.name] = {place, nullptr};
}

/// gasell_allocate(context, bytes) gives memory that begins where a cache line does, or null.
void Emitter::allocate(const Stmt& s) {
  const auto size = static_cast<uint64_t>(gasell::size_of(s.type));
  llvm::Type *ptr = b_.getPtrTy(), *i64 = b_.getInt64Ty();
  auto callee = module_.getOrInsertFunction("gasell_allocate", llvm::FunctionType::get(ptr, {ptr, i64}, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  function->addFnAttr(llvm::Attribute::WillReturn);
  function->setMemoryEffects(llvm::MemoryEffects::inaccessibleOrArgMemOnly());
  function->addRetAttr(llvm::Attribute::NoAlias);
  function->addRetAttr(llvm::Attribute::getWithAlignment(context_, llvm::Align(64)));
  llvm::Value* bytes = b_.CreateMul(value(s.index).re, b_.getInt64(size));
  llvm::Value* memory = b_.CreateCall(callee, {arrays_.at("context").pointer, bytes}, s.name);
  raise(b_.CreateIsNull(memory), s.size, {bytes});
  Array array{memory, s.type, s.name};
  if (target_.check_bounds) {
    array.memory_begin = memory;
    array.memory_end = b_.CreateGEP(b_.getInt8Ty(), memory, bytes);
  }
  arrays_[s.name] = array;
}

Emitter::Array Emitter::null_array(const Stmt& s) {
  llvm::Value* null = llvm::ConstantPointerNull::get(b_.getPtrTy());
  Array array{null, s.type, s.name};
  if (target_.check_bounds) array.memory_begin = array.memory_end = null;
  return array;
}

/// Memory whose end is not known: all of it counts as within bounds.
Emitter::Array Emitter::array_at(const Stmt& s) {
  Array array{b_.CreateIntToPtr(value(s.value).re, b_.getPtrTy()), s.type, s.name};
  if (target_.check_bounds) {
    array.memory_begin = llvm::ConstantPointerNull::get(b_.getPtrTy());
    array.memory_end = b_.CreateIntToPtr(b_.getInt64(~uint64_t{0}), b_.getPtrTy());
  }
  return array;
}

void Emitter::point(const Pointer& pointer, const Array& array) {
  llvm::Value* const parts[] = {array.pointer, array.memory_begin, array.memory_end};
  for (int k = 0; k < 3; ++k)
    if (pointer.parts[k]) b_.CreateStore(b_.CreateAddrSpaceCast(parts[k], b_.getPtrTy()), pointer.parts[k]);
}

/// By externals.h's convention: integers, booleans and addresses are 64 bits wide, floats f64.
void Emitter::call(const Stmt& s) {
  llvm::Type *i64 = b_.getInt64Ty(), *f64 = b_.getDoubleTy();
  std::vector<llvm::Type*> types;
  std::vector<llvm::Value*> arguments;
  for (const ir::ExprRef& a : s.args) {
    llvm::Value* v = value(a).re;
    arguments.push_back(is_float(a->type) ? b_.CreateFPExt(v, f64) : b_.CreateIntCast(v, i64, is_signed(a->type)));
    types.push_back(arguments.back()->getType());
  }
  llvm::Type* result = s.name.empty() ? b_.getVoidTy() : is_float(s.type) ? f64 : i64;
  auto callee = module_.getOrInsertFunction(s.source, llvm::FunctionType::get(result, types, false));
  llvm::Value* given = b_.CreateCall(callee, arguments);
  if (s.name.empty()) return;
  if (s.type == DType::boolean)
    given = b_.CreateICmpNE(given, b_.getInt64(0));
  else
    given = is_float(s.type) ? b_.CreateFPTrunc(given, register_type(s.type)) : b_.CreateTrunc(given, register_type(s.type));
  values_[s.name] = {given, nullptr};
}

}  // namespace gasell
