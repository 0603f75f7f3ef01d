// Numbers of kernels as the math library's templates (math/number.h) take them: every operation of theirs becomes LLVM instructions, of
// scalars or of whole vectors.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include "compiler/math/functions.h"

namespace gasell::math {

/// Where the code goes.
struct Emission {
  llvm::IRBuilder<>& b;
  /// Where set: usual ways are taken always, and here is said, with an or, whether the argument was another.
  llvm::Value** rare = nullptr;
  /// The code may call functions of this program.
  bool calls_program = false;
};

struct EmittedTruth {
  Emission* e;
  llvm::Value* v;
  friend EmittedTruth operator&(EmittedTruth a, EmittedTruth b) { return {a.e, a.e->b.CreateAnd(a.v, b.v)}; }
  friend EmittedTruth operator|(EmittedTruth a, EmittedTruth b) { return {a.e, a.e->b.CreateOr(a.v, b.v)}; }
  friend EmittedTruth operator~(EmittedTruth a) { return {a.e, a.e->b.CreateNot(a.v)}; }
};

template <class T>
struct EmittedBits {
  Emission* e;
  llvm::Value* v;

  EmittedBits with(llvm::Value* value) const { return {e, value}; }
  llvm::Value* number(int64_t n) const { return llvm::ConstantInt::get(v->getType(), static_cast<uint64_t>(n), true); }
  friend EmittedBits operator+(EmittedBits a, EmittedBits b) { return a.with(a.e->b.CreateAdd(a.v, b.v)); }
  friend EmittedBits operator-(EmittedBits a, EmittedBits b) { return a.with(a.e->b.CreateSub(a.v, b.v)); }
  friend EmittedBits operator&(EmittedBits a, EmittedBits b) { return a.with(a.e->b.CreateAnd(a.v, b.v)); }
  friend EmittedBits operator|(EmittedBits a, EmittedBits b) { return a.with(a.e->b.CreateOr(a.v, b.v)); }
  friend EmittedBits operator^(EmittedBits a, EmittedBits b) { return a.with(a.e->b.CreateXor(a.v, b.v)); }
  friend EmittedBits operator+(EmittedBits a, int64_t b) { return a.with(a.e->b.CreateAdd(a.v, a.number(b))); }
  friend EmittedBits operator-(EmittedBits a, int64_t b) { return a.with(a.e->b.CreateSub(a.v, a.number(b))); }
  friend EmittedBits operator-(int64_t a, EmittedBits b) { return b.with(b.e->b.CreateSub(b.number(a), b.v)); }
  friend EmittedBits operator&(EmittedBits a, int64_t b) { return a.with(a.e->b.CreateAnd(a.v, a.number(b))); }
  friend EmittedBits operator|(EmittedBits a, int64_t b) { return a.with(a.e->b.CreateOr(a.v, a.number(b))); }
  friend EmittedBits operator^(EmittedBits a, int64_t b) { return a.with(a.e->b.CreateXor(a.v, a.number(b))); }
  friend EmittedBits operator<<(EmittedBits a, int n) { return a.with(a.e->b.CreateShl(a.v, static_cast<uint64_t>(n))); }
  friend EmittedBits operator>>(EmittedBits a, int n) { return a.with(a.e->b.CreateLShr(a.v, static_cast<uint64_t>(n))); }
  friend EmittedBits multiplied(EmittedBits a, EmittedBits b) { return a.with(a.e->b.CreateMul(a.v, b.v)); }
  friend EmittedBits multiplied_high(EmittedBits a, EmittedBits b) {
    llvm::Type* wide = a.v->getType()->getExtendedType();
    llvm::Value* product = a.e->b.CreateMul(a.e->b.CreateZExt(a.v, wide), a.e->b.CreateZExt(b.v, wide));
    return a.with(a.e->b.CreateTrunc(a.e->b.CreateLShr(product, a.v->getType()->getScalarSizeInBits()), a.v->getType()));
  }
  friend EmittedBits shifted_left(EmittedBits a, EmittedBits n) { return a.with(a.e->b.CreateShl(a.v, n.v)); }
  friend EmittedBits shifted_right(EmittedBits a, EmittedBits n) { return a.with(a.e->b.CreateLShr(a.v, n.v)); }
  friend EmittedTruth is_below(EmittedBits a, EmittedBits b) { return {a.e, a.e->b.CreateICmpULT(a.v, b.v)}; }
  friend EmittedTruth operator==(EmittedBits a, int64_t b) { return {a.e, a.e->b.CreateICmpEQ(a.v, a.number(b))}; }
  friend EmittedTruth operator!=(EmittedBits a, int64_t b) { return {a.e, a.e->b.CreateICmpNE(a.v, a.number(b))}; }
  friend EmittedTruth operator<(EmittedBits a, int64_t b) { return {a.e, a.e->b.CreateICmpSLT(a.v, a.number(b))}; }
  friend EmittedBits select(EmittedTruth c, EmittedBits a, EmittedBits b) { return a.with(a.e->b.CreateSelect(c.v, a.v, b.v)); }
};

template <class T>
struct Emitted {
  using Element = T;
  using Integer = EmittedBits<T>;
  using Condition = EmittedTruth;
  Emission* e;
  llvm::Value* v;

  Emitted with(llvm::Value* value) const { return {e, value}; }
  llvm::Value* number(double d) const { return llvm::ConstantFP::get(v->getType(), d); }
  friend Emitted operator+(Emitted a, Emitted b) { return a.with(a.e->b.CreateFAdd(a.v, b.v)); }
  friend Emitted operator-(Emitted a, Emitted b) { return a.with(a.e->b.CreateFSub(a.v, b.v)); }
  friend Emitted operator*(Emitted a, Emitted b) { return a.with(a.e->b.CreateFMul(a.v, b.v)); }
  friend Emitted operator/(Emitted a, Emitted b) { return a.with(a.e->b.CreateFDiv(a.v, b.v)); }
  friend Emitted operator+(Emitted a, double b) { return a + a.with(a.number(b)); }
  friend Emitted operator-(Emitted a, double b) { return a - a.with(a.number(b)); }
  friend Emitted operator-(double a, Emitted b) { return b.with(b.number(a)) - b; }
  friend Emitted operator*(Emitted a, double b) { return a * a.with(a.number(b)); }
  friend Emitted operator/(double a, Emitted b) { return b.with(b.number(a)) / b; }
  friend Emitted operator-(Emitted a) { return a.with(a.e->b.CreateFNeg(a.v)); }
  friend EmittedTruth operator<(Emitted a, Emitted b) { return {a.e, a.e->b.CreateFCmpOLT(a.v, b.v)}; }
  friend EmittedTruth operator<(Emitted a, double b) { return {a.e, a.e->b.CreateFCmpOLT(a.v, a.number(b))}; }
  friend EmittedTruth operator<=(Emitted a, double b) { return {a.e, a.e->b.CreateFCmpOLE(a.v, a.number(b))}; }
  friend EmittedTruth operator>(Emitted a, double b) { return {a.e, a.e->b.CreateFCmpOGT(a.v, a.number(b))}; }
  friend EmittedTruth operator>=(Emitted a, double b) { return {a.e, a.e->b.CreateFCmpOGE(a.v, a.number(b))}; }
  friend EmittedTruth operator==(Emitted a, double b) { return {a.e, a.e->b.CreateFCmpOEQ(a.v, a.number(b))}; }

  friend Emitted fma(Emitted a, Emitted b, Emitted c) {
    return a.with(a.e->b.CreateIntrinsic(llvm::Intrinsic::fma, {a.v->getType()}, {a.v, b.v, c.v}));
  }
  friend Emitted fma(Emitted a, double b, Emitted c) { return fma(a, a.with(a.number(b)), c); }
  friend Emitted fma(Emitted a, Emitted b, double c) { return fma(a, b, a.with(a.number(c))); }
  friend Emitted fma(Emitted a, double b, double c) { return fma(a, a.with(a.number(b)), a.with(a.number(c))); }
  friend Emitted abs(Emitted a) { return a.with(a.e->b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a.v)); }
  friend Emitted sqrt(Emitted a) { return a.with(a.e->b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a.v)); }
  friend Emitted copysign(Emitted a, Emitted b) { return a.with(a.e->b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, a.v, b.v)); }
  friend EmittedTruth is_nan(Emitted a) { return {a.e, a.e->b.CreateFCmpUNO(a.v, a.v)}; }
  friend Emitted select(EmittedTruth c, Emitted a, Emitted b) { return a.with(a.e->b.CreateSelect(c.v, a.v, b.v)); }
  friend Emitted select(EmittedTruth c, double a, Emitted b) { return select(c, b.with(b.number(a)), b); }
  friend Emitted select(EmittedTruth c, Emitted a, double b) { return select(c, a, a.with(a.number(b))); }
  friend Integer bits(Emitted a) {
    llvm::Type *t = a.v->getType(), *scalar = a.e->b.getIntNTy(t->getScalarSizeInBits());
    const auto* vector = llvm::dyn_cast<llvm::VectorType>(t);
    return {a.e, a.e->b.CreateBitCast(a.v, vector ? llvm::VectorType::get(scalar, vector->getElementCount()) : scalar)};
  }
  friend Emitted from_bits(Emitted like, Integer i) { return like.with(like.e->b.CreateBitCast(i.v, like.v->getType())); }
  friend Emitted literal(Emitted like, double value) { return like.with(like.number(value)); }

  template <class F>
  friend Emitted rarely(EmittedTruth c, Emitted usual, F f) {
    Emission& e = *c.e;
    if (e.rare) {
      *e.rare = e.b.CreateOr(*e.rare, c.v);
      return usual;
    }
    const bool vector = c.v->getType()->isVectorTy();
    llvm::BasicBlock* before = e.b.GetInsertBlock();
    llvm::LLVMContext& context = before->getContext();
    auto* unusual = llvm::BasicBlock::Create(context, "rare", before->getParent());
    auto* join = llvm::BasicBlock::Create(context, "join", before->getParent());
    e.b.CreateCondBr(vector ? e.b.CreateOrReduce(c.v) : c.v, unusual, join, llvm::MDBuilder(context).createUnlikelyBranchWeights());
    e.b.SetInsertPoint(unusual);
    llvm::Value* computed = f().v;
    if (vector) computed = e.b.CreateSelect(c.v, computed, usual.v);
    unusual = e.b.GetInsertBlock();
    e.b.CreateBr(join);
    e.b.SetInsertPoint(join);
    llvm::PHINode* result = e.b.CreatePHI(usual.v->getType(), 2);
    result->addIncoming(usual.v, before);
    result->addIncoming(computed, unusual);
    return usual.with(result);
  }
};

inline Emitted<double> widened(Emitted<float> x) {
  llvm::IRBuilder<>& b = x.e->b;
  llvm::Type* t = x.v->getType();
  const auto* vector = llvm::dyn_cast<llvm::VectorType>(t);
  return {x.e, b.CreateFPExt(x.v, vector ? llvm::VectorType::get(b.getDoubleTy(), vector->getElementCount()) : b.getDoubleTy())};
}
inline Emitted<float> narrowed(Emitted<double> x) {
  llvm::IRBuilder<>& b = x.e->b;
  const auto* vector = llvm::dyn_cast<llvm::VectorType>(x.v->getType());
  return {x.e, b.CreateFPTrunc(x.v, vector ? llvm::VectorType::get(b.getFloatTy(), vector->getElementCount()) : b.getFloatTy())};
}

/// Of scalars.
EmittedBits<double> two_over_pi(Emitted<double> like, EmittedBits<double> index);

/// A call: of this program's function of the same name where the code may call it, else of one in the module.
Emitted<double> of_large(Trigonometric which, Emitted<double> x);
Emitted<float> of_large(Trigonometric which, Emitted<float> x);

}  // namespace gasell::math
