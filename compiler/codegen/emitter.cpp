#include "compiler/codegen/emitter.h"

namespace gasell {

using ir::ExprKind;
using ir::ExprRef;
using ir::Stmt;
using ir::StmtKind;

// ---- statements ----
void Emitter::statements(const ir::Body& body) {
  const Places around = places_;  // what is found in here need not be known behind it
  for (size_t k = 0; k < body.size();) {
    if (const size_t count = emit_part(body, k))
      k += count;
    else
      k = next_statements(body, k);
  }
  places_ = around;
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
      for (int k = 0; k < parts; ++k) v.parts[k] = entry_alloca(variable_type(s.type), 8);
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
    case StmtKind::loop: {
      const Places around = places_;
      loop(s);
      places_ = around;
      break;
    }
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
    case StmtKind::prefetch: prefetch(s); break;
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

void Emitter::unroll_fully(llvm::BranchInst* back) {
  auto* full = llvm::MDNode::get(context_, {llvm::MDString::get(context_, "llvm.loop.unroll.full")});
  llvm::MDNode* id = llvm::MDNode::getDistinct(context_, {nullptr, full});
  id->replaceOperandWith(0, id);
  back->setMetadata(llvm::LLVMContext::MD_loop, id);
}

/// Memory of the one thread that runs here.
Emitter::Array Emitter::automatic_array(const Stmt& s) {
  const auto count = static_cast<uint64_t>(s.size) * (is_complex(s.type) ? 2 : 1);
  llvm::Type* memory = llvm::ArrayType::get(element_type(s.type), count);
  llvm::Value* pointer = entry_alloca(memory, 64);
  return {pointer, s.type, s.name, pointer, b_.CreateConstGEP1_64(memory, pointer, 1)};
}

llvm::Value* Emitter::extended(llvm::Value* narrow, DType type) const {
  // One value may be read as a number with a sign and as one without.
  const auto known = extended_.find(narrow);
  return known != extended_.end() && is_integer(type) && known->second.with_sign == is_signed(type) ? known->second.value : nullptr;
}
/// Registers of a grid's threads have 32 bits: what goes around a loop is extended once.
llvm::Type* Emitter::variable_type(DType type) {
  return target_.grid && is_integer(type) && gasell::size_of(type) < 4 ? b_.getInt32Ty() : register_type(type);
}
void Emitter::write_variable(const Variable& v, const Register& r) {
  llvm::Value* re = r.re;
  if (llvm::Type* type = variable_type(v.type); type != re->getType()) {
    llvm::Value* wide = extended(re, v.type);
    re = wide ? wide : b_.CreateIntCast(re, type, is_signed(v.type));
  }
  b_.CreateStore(re, v.parts[0]);
  if (r.im) b_.CreateStore(r.im, v.parts[1]);
}
Register Emitter::read_variable(const Variable& v) {
  Register r{b_.CreateLoad(variable_type(v.type), v.parts[0]), nullptr};
  if (llvm::Type* type = register_type(v.type); type != r.re->getType()) {
    llvm::Value* narrow = b_.CreateTrunc(r.re, type);
    extended_[narrow] = {std::exchange(r.re, narrow), is_signed(v.type)};
  }
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
  if (target_.grid && !is_complex(array.type)) return place(array, index);
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
llvm::Value* Emitter::as_register(llvm::Value* element, DType type) {
  return type == DType::boolean ? b_.CreateICmpNE(element, b_.getInt8(0)) : element;
}
/// Whether both parts of a number are read and written at once: in a GPU's memory, where complex numbers lie at multiples of their size.
bool Emitter::in_pairs(const Array& array) const {
  return is_complex(array.type) && target_.grid && !llvm::isa<llvm::AllocaInst>(array.pointer->stripPointerCasts());
}
Register Emitter::load_element(const Array& array, llvm::Value* index) {
  touch(array, index, false);
  if (in_pairs(array)) {
    auto* type = llvm::FixedVectorType::get(element_type(array.type), 2);
    llvm::LoadInst* pair = in_group(b_.CreateLoad(type, address(array, index, 0)), array.type);
    pair->setAlignment(llvm::Align(static_cast<uint64_t>(gasell::size_of(array.type))));
    if (array.fixed) pair->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
    return {b_.CreateExtractElement(pair, uint64_t{0}), b_.CreateExtractElement(pair, uint64_t{1})};
  }
  Register r{load_part(array, index, 0), nullptr};
  if (is_complex(array.type)) r.im = load_part(array, index, 1);
  r.re = as_register(r.re, array.type);
  return r;
}
void Emitter::store_element(const Array& array, llvm::Value* index, Register r) {
  if (array.type == DType::boolean) r.re = b_.CreateZExt(r.re, b_.getInt8Ty());
  touch(array, index, true);
  if (in_pairs(array)) {
    llvm::Value* pair = llvm::PoisonValue::get(llvm::FixedVectorType::get(element_type(array.type), 2));
    pair = b_.CreateInsertElement(b_.CreateInsertElement(pair, r.re, uint64_t{0}), r.im, uint64_t{1});
    in_group(b_.CreateStore(pair, address(array, index, 0)), array.type)
        ->setAlignment(llvm::Align(static_cast<uint64_t>(gasell::size_of(array.type))));
    return;
  }
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
      if (const auto known = loaded_.extract(e.get())) return {as_register(known.mapped(), e->type), nullptr};
      llvm::Value* index = value(e->args[0]).re;
      return load_element(array(e->name), index);
    }
    case ExprKind::bitcast: return {b_.CreateBitCast(value(e->args[0]).re, register_type(e->type)), nullptr};
    case ExprKind::cast: {
      const Register r = value(e->args[0]);
      const DType from = e->args[0]->type;
      if (is_integer(e->type) && gasell::size_of(e->type) >= 4)
        if (llvm::Value* wide = extended(r.re, from)) return {b_.CreateIntCast(wide, register_type(e->type), is_signed(from)), nullptr};
      return convert(r, e->args[0]->type, e->type);
    }
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
