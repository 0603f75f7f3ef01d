// Of kernels of threads, what every target shares: atomic operations, and functions of bits.
#include <map>

#include "compiler/codegen/emit.h"
#include "compiler/codegen/emitter.h"

namespace gasell {

using ir::Stmt;

namespace {

constexpr auto kOrder = llvm::AtomicOrdering::Monotonic;

}  // namespace

void Emitter::simt(const Stmt& s) { throw TargetLacks{s.source}; }

llvm::Value* Emitter::to_bits(llvm::Value* v) {
  llvm::Type* type = v->getType();
  if (type->isFloatingPointTy()) v = b_.CreateBitCast(v, b_.getIntNTy(type->getPrimitiveSizeInBits()));
  return b_.CreateZExt(v, b_.getInt64Ty());
}
llvm::Value* Emitter::from_bits(llvm::Value* bits, DType type) {
  llvm::Type* wanted = register_type(type);
  llvm::Value* v = b_.CreateTrunc(bits, b_.getIntNTy(wanted->getPrimitiveSizeInBits()));
  return wanted->isFloatingPointTy() ? b_.CreateBitCast(v, wanted) : v;
}

/// Where what stands there shall change: compares and exchanges until nobody came between. As Numba has it: max and min of floats do
/// nothing where either is NaN when they begin; nanmax and nanmin do nothing for NaN, and replace it.
llvm::Value* Emitter::compare_and_exchange_loop(const Stmt& s, llvm::Value* address, llvm::Value* operand) {
  llvm::Type *type = operand->getType(), *bits = b_.getIntNTy(type->getPrimitiveSizeInBits());
  const llvm::Align align(static_cast<uint64_t>(gasell::size_of(s.type)));
  llvm::LoadInst* first = b_.CreateAlignedLoad(bits, address, align);
  first->setAtomic(kOrder);
  llvm::BasicBlock *before = b_.GetInsertBlock(), *head = block("atomic"), *attempt = block("attempt"), *done = block("done");
  const bool skips_nan = s.operation == "nanmax" || s.operation == "nanmin", max = s.operation == "max" || s.operation == "nanmax";
  llvm::Value* early = b_.CreateFCmpUNO(operand, skips_nan ? operand : b_.CreateBitCast(first, type));
  b_.CreateCondBr(early, done, head);
  b_.SetInsertPoint(head);
  llvm::PHINode* old = b_.CreatePHI(bits, 2, "old");
  old->addIncoming(first, before);
  llvm::Value* current = b_.CreateBitCast(old, type);
  const auto predicate =
      skips_nan ? (max ? llvm::CmpInst::FCMP_ULT : llvm::CmpInst::FCMP_UGT) : (max ? llvm::CmpInst::FCMP_OLT : llvm::CmpInst::FCMP_OGT);
  b_.CreateCondBr(b_.CreateFCmp(predicate, current, operand), attempt, done);
  b_.SetInsertPoint(attempt);
  llvm::Value* exchanged = b_.CreateAtomicCmpXchg(address, old, b_.CreateBitCast(operand, bits), align, kOrder, kOrder);
  llvm::Value* seen = b_.CreateExtractValue(exchanged, 0);
  old->addIncoming(seen, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateExtractValue(exchanged, 1), done, head);
  b_.SetInsertPoint(done);
  llvm::PHINode* result = b_.CreatePHI(bits, 3);
  result->addIncoming(first, before);
  result->addIncoming(old, head);
  result->addIncoming(old, attempt);
  return b_.CreateBitCast(result, type);
}

llvm::Value* Emitter::load_at_once(llvm::Type* bits, llvm::Value* address) {
  llvm::LoadInst* load = b_.CreateAlignedLoad(bits, address, llvm::Align(bits->getPrimitiveSizeInBits() / 8));
  load->setAtomic(kOrder);
  return load;
}
void Emitter::store_at_once(llvm::Value* bits, llvm::Value* address) {
  b_.CreateAlignedStore(bits, address, llvm::Align(bits->getType()->getPrimitiveSizeInBits() / 8))->setAtomic(kOrder);
}

void Emitter::atomic(const Stmt& s) {
  using Op = llvm::AtomicRMWInst::BinOp;
  llvm::Value* index = value(s.index).re;
  const std::string& op = s.operation;
  llvm::Type* const type = register_type(s.type);
  llvm::Value* operand = s.args.empty() ? nullptr : value(s.args[0]).re;
  llvm::Value* replacement = s.args.size() > 1 ? value(s.args[1]).re : nullptr;
  const Array target = array(s.source);
  atomically_ = true;
  touch(target, index, op != "load");
  atomically_ = false;
  llvm::Value* at = address(target, index, 0);
  const bool real = type->isFloatingPointTy(), with_sign = is_signed(s.type);
  llvm::Type* bits = b_.getIntNTy(type->getPrimitiveSizeInBits());
  const llvm::Align align(static_cast<uint64_t>(gasell::size_of(s.type)));
  llvm::Value* old = nullptr;
  if (op == "load") {
    old = b_.CreateBitCast(load_at_once(bits, at), type);
  } else if (op == "store") {
    store_at_once(b_.CreateBitCast(operand, bits), at);
    old = operand;
  } else if (op == "cas") {
    llvm::Value *expected = b_.CreateBitCast(operand, bits), *wanted = b_.CreateBitCast(replacement, bits);
    old = b_.CreateBitCast(b_.CreateExtractValue(b_.CreateAtomicCmpXchg(at, expected, wanted, align, kOrder, kOrder), 0), type);
  } else if (op == "exch") {
    old = b_.CreateBitCast(b_.CreateAtomicRMW(Op::Xchg, at, b_.CreateBitCast(operand, bits), align, kOrder), type);
  } else if (real && (op == "max" || op == "min" || op == "nanmax" || op == "nanmin")) {
    old = compare_and_exchange_loop(s, at, operand);
  } else {
    const std::map<std::string, Op> known = {{"add", real ? Op::FAdd : Op::Add},
                                             {"sub", real ? Op::FSub : Op::Sub},
                                             {"max", with_sign ? Op::Max : Op::UMax},
                                             {"min", with_sign ? Op::Min : Op::UMin},
                                             {"nanmax", with_sign ? Op::Max : Op::UMax},
                                             {"nanmin", with_sign ? Op::Min : Op::UMin},
                                             {"inc", Op::UIncWrap},
                                             {"dec", Op::UDecWrap},
                                             {"and", Op::And},
                                             {"or", Op::Or},
                                             {"xor", Op::Xor}};
    const auto found = known.find(op);
    if (found == known.end()) throw TargetLacks{"atomic " + op};
    Op which = found->second;
    // GPUs add floats at once, and have no subtraction.
    if (which == Op::FSub) {
      operand = b_.CreateFNeg(operand);
      which = Op::FAdd;
    }
    old = b_.CreateAtomicRMW(which, at, operand, align, kOrder);
  }
  values_[s.name] = {old, nullptr};
}

void Emitter::simt_number(const Stmt& s) {
  std::vector<llvm::Value*> args;
  for (const ir::ExprRef& a : s.args) args.push_back(value(a).re);
  llvm::Value* result = nullptr;
  if (s.source == "fma") {
    result = b_.CreateIntrinsic(llvm::Intrinsic::fma, {args[0]->getType()}, {args[0], args[1], args[2]});
  } else if (s.source == "popc") {
    result = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, args[0]);
  } else if (s.source == "clz") {
    result = b_.CreateIntrinsic(llvm::Intrinsic::ctlz, {args[0]->getType()}, {args[0], b_.getFalse()});
  } else if (s.source == "brev") {
    result = b_.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, args[0]);
  } else {  // ffs: 1 + the number of zeros, 0 where there is no one
    llvm::Value* zeros = b_.CreateIntrinsic(llvm::Intrinsic::cttz, {args[0]->getType()}, {args[0], b_.getFalse()});
    llvm::Value* zero = llvm::ConstantInt::get(args[0]->getType(), 0);
    result = b_.CreateSelect(b_.CreateICmpEQ(args[0], zero), zero, b_.CreateAdd(zeros, llvm::ConstantInt::get(args[0]->getType(), 1)));
  }
  if (s.source != "fma" && s.source != "brev") result = b_.CreateZExtOrTrunc(result, register_type(s.type));
  values_[s.name] = {result, nullptr};
}

}  // namespace gasell
