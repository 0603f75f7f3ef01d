#include "compiler/codegen/emitter.h"

namespace gasell {

using ir::ExprKind;
using ir::ExprRef;
using ir::Stmt;
using ir::StmtKind;

// ---- statements ----
void Emitter::statements(const ir::Body& body) {
  for (const ir::StmtRef& s : body) statement(*s);
  // Behind a leave or a raise: what comes is emitted where no way leads to.
  if (b_.GetInsertBlock()->getTerminator()) b_.SetInsertPoint(block("behind"));
}

void Emitter::statement(const Stmt& s) {
  // Blocks beside each other may give one name to different things.
  variables_.erase(s.kind == StmtKind::assign ? "" : s.name);
  pointers_.erase(s.kind == StmtKind::local_array || s.kind == StmtKind::allocate ? s.name : "");
  switch (s.kind) {
    case StmtKind::let: values_[s.name] = value(s.value); break;
    case StmtKind::var: {
      const int parts = is_complex(s.type) ? 2 : 1;
      Variable v{{}, s.type};
      for (int k = 0; k < parts; ++k) v.parts[k] = entry_alloca(register_type(s.type), 8);
      variables_[s.name] = v;
      write_variable(v, value(s.value));
      break;
    }
    case StmtKind::assign: write_variable(variables_.at(s.name), value(s.value)); break;
    case StmtKind::local_array: arrays_[s.name] = local_array(s); break;
    case StmtKind::store: {
      llvm::Value* index = value(s.index).re;
      const Register element = value(s.value);
      store_element(array(s.name), index, element);
      break;
    }
    case StmtKind::loop: loop(s); break;
    case StmtKind::if_: {
      llvm::BasicBlock *then = block("then"), *orelse = block("else"), *join = block("join");
      b_.CreateCondBr(value(s.value).re, then, orelse);
      b_.SetInsertPoint(then);
      statements(s.body);
      b_.CreateBr(join);
      b_.SetInsertPoint(orelse);
      statements(s.orelse);
      b_.CreateBr(join);
      b_.SetInsertPoint(join);
      break;
    }
    case StmtKind::while_: {
      llvm::BasicBlock *head = block("while"), *body = block("body"), *exit = block("exit");
      b_.CreateBr(head);
      b_.SetInsertPoint(head);
      b_.CreateCondBr(value(s.value).re, body, exit);
      b_.SetInsertPoint(body);
      statements(s.body);
      repeats(s, b_.CreateBr(head));
      b_.SetInsertPoint(exit);
      break;
    }
    case StmtKind::barrier: barrier(s.space); break;
    default: function_statement(s);
  }
}

llvm::BranchInst* Emitter::counted_loop(const Stmt& s, llvm::Value* first, llvm::Value* last, llvm::Value* step) {
  return counted_loop(s.name, first, last, step, [&](llvm::Value* i) {
    values_[s.name] = {i, nullptr};
    iteration(s, first);
    statements(s.body);
  });
}

llvm::BranchInst* Emitter::counted_loop(const std::string& name, llvm::Value* first, llvm::Value* last, llvm::Value* step,
                                        const std::function<void(llvm::Value*)>& body_of) {
  llvm::BasicBlock *before = b_.GetInsertBlock(), *body = block("loop"), *exit = block("exit");
  b_.CreateCondBr(b_.CreateICmpSLT(first, last), body, exit);
  b_.SetInsertPoint(body);
  llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2, name);
  i->addIncoming(first, before);
  body_of(i);
  llvm::Value* next = b_.CreateNSWAdd(i, step);
  i->addIncoming(next, b_.GetInsertBlock());
  llvm::BranchInst* back = b_.CreateCondBr(b_.CreateICmpSLT(next, last), body, exit);
  b_.SetInsertPoint(exit);
  return back;
}

/// Memory of the one thread that runs here.
Emitter::Array Emitter::automatic_array(const Stmt& s) {
  const auto count = static_cast<uint64_t>(s.size) * (is_complex(s.type) ? 2 : 1);
  llvm::Type* memory = llvm::ArrayType::get(element_type(s.type), count);
  llvm::Value* pointer = entry_alloca(memory, 64);
  return {pointer, s.type, s.name, pointer, b_.CreateConstGEP1_64(memory, pointer, 1)};
}

void Emitter::write_variable(const Variable& v, const Register& r) {
  b_.CreateStore(r.re, v.parts[0]);
  if (r.im) b_.CreateStore(r.im, v.parts[1]);
}
Register Emitter::read_variable(const Variable& v) {
  Register r{b_.CreateLoad(register_type(v.type), v.parts[0]), nullptr};
  if (is_complex(v.type)) r.im = b_.CreateLoad(register_type(v.type), v.parts[1]);
  return r;
}

// ---- memory ----
Emitter::Array Emitter::array(const std::string& name) {
  const auto pointer = pointers_.find(name);
  if (pointer == pointers_.end()) return arrays_.at(name);
  const auto part = [&](int k) -> llvm::Value* {
    llvm::AllocaInst* slot = pointer->second.parts[k];
    return slot ? b_.CreateLoad(slot->getAllocatedType(), slot) : nullptr;
  };
  return {part(0), pointer->second.type, name, part(1), part(2)};
}

llvm::Value* Emitter::address(const Array& array, llvm::Value* index, int part) {
  if (is_complex(array.type)) index = b_.CreateNSWAdd(b_.CreateShl(index, 1, "", false, true), b_.getInt64(static_cast<uint64_t>(part)));
  return b_.CreateInBoundsGEP(element_type(array.type), array.pointer, index);
}
template <class Instruction>
Instruction* Emitter::in_group(Instruction* access, DType type) {
  access->setAlignment(llvm::Align(static_cast<uint64_t>(gasell::size_of(real_of(type)))));
  if (access_group_) access->setMetadata(llvm::LLVMContext::MD_access_group, access_group_);
  return access;
}
llvm::Value* Emitter::load_part(const Array& array, llvm::Value* index, int part) {
  llvm::LoadInst* load = in_group(b_.CreateLoad(element_type(array.type), address(array, index, part)), array.type);
  if (array.fixed) load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
  return load;
}
Register Emitter::load_element(const Array& array, llvm::Value* index) {
  touch(array, index, false);
  Register r{load_part(array, index, 0), nullptr};
  if (is_complex(array.type)) r.im = load_part(array, index, 1);
  if (array.type == DType::boolean) r.re = b_.CreateICmpNE(r.re, b_.getInt8(0));
  return r;
}
void Emitter::store_element(const Array& array, llvm::Value* index, Register r) {
  if (array.type == DType::boolean) r.re = b_.CreateZExt(r.re, b_.getInt8Ty());
  touch(array, index, true);
  in_group(b_.CreateStore(r.re, address(array, index, 0)), array.type);
  if (r.im) in_group(b_.CreateStore(r.im, address(array, index, 1)), array.type);
}

// ---- expressions ----
Register Emitter::value(const ExprRef& e) {
  switch (e->kind) {
    case ExprKind::constant: return literal(e->value);
    case ExprKind::variable:
      if (auto v = variables_.find(e->name); v != variables_.end()) return read_variable(v->second);
      return values_.at(e->name);
    case ExprKind::load: {
      llvm::Value* index = value(e->args[0]).re;
      return load_element(array(e->name), index);
    }
    case ExprKind::bitcast: return {b_.CreateBitCast(value(e->args[0]).re, register_type(e->type)), nullptr};
    case ExprKind::cast: return convert(value(e->args[0]), e->args[0]->type, e->type);
    case ExprKind::address: return {b_.CreatePtrToInt(array(e->name).pointer, b_.getInt64Ty()), nullptr};
    case ExprKind::op: {
      std::vector<Register> args;
      for (const ExprRef& a : e->args) args.push_back(value(a));
      return operation(e->op, e->args[e->op == ScalarOp::select ? 1 : 0]->type, args);
    }
  }
  return {};
}

}  // namespace gasell
