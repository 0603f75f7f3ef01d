// Operations' division: of integers, rounded down and without traps, and of floats, without calls where a GPU would make them.
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>

#include "compiler/codegen/operations.h"

namespace gasell {

/// Floored division and remainder (fmod: truncated). No operands trap: a divisor of 0 or -1 is replaced by 1 and the result chosen
/// afterwards.
llvm::Value* Operations::divide(ScalarOp op, bool is_signed_type, llvm::Value* a, llvm::Value* b) {
  llvm::Type* t = a->getType();
  llvm::Value *zero = llvm::ConstantInt::get(t, 0), *one = llvm::ConstantInt::get(t, 1);
  llvm::Value* by_zero = b_.CreateICmpEQ(b, zero);
  const bool quotient = op == ScalarOp::floordiv;
  if (!is_signed_type) {
    llvm::Value* divisor = b_.CreateSelect(by_zero, one, b);
    llvm::Value* r = quotient ? b_.CreateUDiv(a, divisor) : b_.CreateURem(a, divisor);
    return b_.CreateSelect(by_zero, zero, r);
  }
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(b); constant && constant->getValue().sgt(1) && op != ScalarOp::fmod)
    return divide_by_positive(op, a, constant->getValue());
  llvm::Value* by_minus_one = b_.CreateICmpEQ(b, llvm::ConstantInt::getAllOnesValue(t));
  llvm::Value* divisor = b_.CreateSelect(b_.CreateOr(by_zero, by_minus_one), one, b);
  llvm::Value* rem = b_.CreateSRem(a, divisor);
  llvm::Value* signs_differ = b_.CreateICmpSLT(b_.CreateXor(rem, divisor), zero);
  llvm::Value* adjust = b_.CreateAnd(b_.CreateICmpNE(rem, zero), signs_differ);
  if (quotient) {
    llvm::Value* q = b_.CreateSub(b_.CreateSDiv(a, divisor), b_.CreateZExt(adjust, t));
    return b_.CreateSelect(by_zero, zero, b_.CreateSelect(by_minus_one, b_.CreateNeg(a), q));
  }
  llvm::Value* m = op == ScalarOp::fmod ? rem : b_.CreateAdd(rem, b_.CreateSelect(adjust, divisor, zero));
  return b_.CreateSelect(b_.CreateOr(by_zero, by_minus_one), zero, m);
}

/// Floored, of signed integers, without a correction afterwards: of a negative a, -1 - a is divided, which is not, and the quotient turned
/// back so.
llvm::Value* Operations::divide_by_positive(ScalarOp op, llvm::Value* a, const llvm::APInt& divisor) {
  llvm::Type* t = a->getType();
  const bool quotient = op == ScalarOp::floordiv;
  if (divisor.isPowerOf2())
    return quotient ? b_.CreateAShr(a, divisor.logBase2()) : b_.CreateAnd(a, llvm::ConstantInt::get(t, divisor - 1));
  llvm::Value* sign = b_.CreateAShr(a, t->getIntegerBitWidth() - 1);
  llvm::Value* q = b_.CreateXor(b_.CreateUDiv(b_.CreateXor(a, sign), llvm::ConstantInt::get(t, divisor)), sign);
  return quotient ? q : b_.CreateSub(a, b_.CreateMul(q, llvm::ConstantInt::get(t, divisor)));
}

/// Within an ulp or so of 1 / b, from the estimate that a GPU has, of 20 bits: P. Markstein, Computation of elementary functions on the IBM
/// RISC System/6000 processor, 1990. NaN for zeros and infinities.
llvm::Value* Operations::refined_reciprocal(llvm::Value* b, llvm::Value* estimate) {
  llvm::Value *less = b_.CreateFNeg(b), *one = llvm::ConstantFP::get(b->getType(), 1.0), *r = estimate;
  for (int step = 0; step < 2; ++step) r = fused(fused(less, r, one), r, r);
  return r;
}

llvm::Value* Operations::fused(llvm::Value* a, llvm::Value* b, llvm::Value* c) {
  return b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
}

/// q, which is a * reciprocal, with the correction that makes it division's quotient. NaN for infinities.
llvm::Value* Operations::corrected_quotient(llvm::Value* a, llvm::Value* b, llvm::Value* reciprocal, llvm::Value* q) {
  return fused(fused(b_.CreateFNeg(b), q, a), reciprocal, q);
}

/// Floats by way of doubles, whose 53 bits are enough that rounding twice is rounding once. Without branches: a GPU's own division calls a
/// function where operands are unusual, which takes the driver's compiler as long as a small kernel, and keeps elements from each other.
llvm::Value* Operations::quotient_in_doubles(llvm::Value* a, llvm::Value* b) {
  llvm::Type* wide = b_.getDoubleTy();
  llvm::Value *x = b_.CreateFPExt(a, wide), *y = b_.CreateFPExt(b, wide);
  llvm::Value* estimate = b_.CreateIntrinsic(llvm::Intrinsic::nvvm_rcp_approx_ftz_d, {}, {y});
  llvm::Value* r = refined_reciprocal(y, estimate);
  r = b_.CreateSelect(b_.CreateFCmpUNO(r, r), estimate, r);  // of zeros, infinities and NaNs the estimate is right
  llvm::Value* q = b_.CreateFMul(x, r);
  llvm::Value* corrected = corrected_quotient(x, y, r, q);
  // Zeros would lose their sign, and infinities become NaN.
  return b_.CreateFPTrunc(b_.CreateSelect(b_.CreateFCmpONE(corrected, llvm::ConstantFP::get(wide, 0)), corrected, q), a->getType());
}

llvm::Value* Operations::quotient(llvm::Value* a, llvm::Value* b) {
  return target_.quick_doubles && a->getType()->isFloatTy() ? quotient_in_doubles(a, b) : b_.CreateFDiv(a, b);
}

llvm::Value* Operations::quotient_by_count(llvm::Value* a, llvm::Value* b) {
  if (!target_.grid || !b->getType()->isDoubleTy()) return quotient(a, b);
  llvm::Value* reciprocal = refined_reciprocal(b, b_.CreateIntrinsic(llvm::Intrinsic::nvvm_rcp_approx_ftz_d, {}, {b}));
  return corrected_quotient(a, b, reciprocal, b_.CreateFMul(a, reciprocal));
}

}  // namespace gasell
