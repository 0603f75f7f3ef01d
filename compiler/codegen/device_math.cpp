#include "compiler/codegen/device_math.h"

#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <initializer_list>
#include <string>

namespace gasell {
namespace {

using llvm::Value;

/// Polynomials and pieces of f64 numbers.
class Paths {
 public:
  Paths(llvm::IRBuilder<>& b, Value* x) : b_(b), x_(x) {}

  /// Both functions of the reduced argument are computed: choosing between their coefficients takes longer. Where a kernel has sin and cos
  /// of one argument, LLVM finds that they share all but the last steps.
  Value* sin_or_cos(bool cosine) {
    Value *quadrant = nullptr, *r = x_;
    Value* k = rounded(number(0x1.45f306dc9c883p-1), quadrant);
    for (const double part : {-0x1.921fb54442d18p0, -0x1.1a62633145c00p-54, -0x1.b839a252049c0p-104}) r = fma(k, number(part), r);  // pi/2
    Value* z = b_.CreateFMul(r, r);
    // The last step adds +0, so that sin(-0) is -0.
    Value* s = polynomial(z, {0x1.5d8ee783d04a3p-33, -0x1.ae5e5780d946ap-26, 0x1.71de356408466p-19, -0x1.a01a019bf9b59p-13,
                              0x1.111111110f7b0p-7, -0x1.5555555555548p-3, 0.0});
    s = fma(s, r, r);
    Value* c = polynomial(z, {-0x1.8fadd06635c83p-37, 0x1.1ee9ea6cae629p-29, -0x1.27e4f807d6047p-22, 0x1.a01a019caef34p-16,
                              -0x1.6c16c16c15162p-10, 0x1.555555555554cp-5, -0.5, 1.0});
    Value* odd = b_.CreateICmpNE(b_.CreateAnd(quadrant, b_.getInt32(1)), b_.getInt32(0));
    Value* chosen = cosine ? b_.CreateSelect(odd, s, c) : b_.CreateSelect(odd, c, s);
    Value* sign = b_.CreateShl(b_.CreateAnd(cosine ? b_.CreateAdd(quadrant, b_.getInt32(1)) : quadrant, b_.getInt32(2)), 30);
    return from_words(b_.CreateXor(high(chosen), sign), low(chosen));
  }
  /// From 65,536 on the reduction has too few digits.
  Value* sin_is_rare() { return b_.CreateICmpUGE(magnitude(), b_.getInt32(0x40f00000)); }

  Value* exp() {
    Value* n = nullptr;
    Value* k = rounded(number(0x1.71547652b82fep0), n);
    Value* r = fma(k, number(-0x1.abc9e3b39803fp-56), fma(k, number(-0x1.62e42fefa39efp-1), x_));
    Value* p = polynomial(
        r, {0x1.ad7effbbd58f0p-26, 0x1.28adce715d597p-22, 0x1.71df262e0a285p-19, 0x1.a01999adcf1f5p-16, 0x1.a01a0129b3a35p-13,
            0x1.6c16c1844afeep-10, 0x1.1111111127e85p-7, 0x1.55555555507f1p-5, 0x1.55555555554f9p-3, 0x1.000000000000ap-1, 1.0, 1.0});
    return from_words(b_.CreateAdd(high(p), b_.CreateShl(n, 20)), low(p));
  }
  /// Beyond 708 results are not normal numbers, or soon will not be.
  Value* exp_is_rare() { return b_.CreateICmpUGE(magnitude(), b_.getInt32(0x40862000)); }

  Value* log() {
    // x = m * 2^k with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh(s), s = (m - 1) / (m + 1), added up so that little is lost where m is
    // near 1.
    Value* top = high(x_);
    Value* exponent = b_.CreateAShr(b_.CreateSub(top, b_.getInt32(0x3fe6a09e)), 20);
    Value* m = from_words(b_.CreateSub(top, b_.CreateShl(exponent, 20)), low(x_));
    Value* k =
        b_.CreateFSub(from_words(b_.getInt32(0x43300000), b_.CreateXor(exponent, b_.getInt32(0x80000000))), number(0x1.00000800000p52));
    Value *f = b_.CreateFAdd(m, number(-1)), *d = b_.CreateFAdd(m, number(1));
    // A GPU starts from 20 bits; the step that follows makes all of them.
    const bool nvptx = b_.GetInsertBlock()->getModule()->getTargetTriple().starts_with("nvptx");
    Value* q = nvptx ? b_.CreateIntrinsic(llvm::Intrinsic::nvvm_rcp_approx_ftz_d, {}, {d}) : b_.CreateFDiv(number(1), d);
    Value* error = fma(b_.CreateFNeg(d), q, number(1));
    q = fma(fma(error, error, error), q, q);
    Value *s = b_.CreateFMul(f, q), *z = b_.CreateFMul(s, s);
    Value* p = polynomial(z, {0x1.2f15bc6321286p-3, 0x1.39a02ed83d63cp-3, 0x1.74664d76df83bp-3, 0x1.c71c51c66c4d9p-3, 0x1.249249423e536p-2,
                              0x1.999999997f8a7p-2, 0x1.5555555555593p-1});
    Value* half = b_.CreateFMul(b_.CreateFMul(number(0.5), f), f);
    Value* low_part = fma(s, fma(z, p, half), b_.CreateFMul(k, number(0x1.abc9e3b39803fp-56)));
    return fma(k, number(0x1.62e42fefa39efp-1), b_.CreateFSub(f, b_.CreateFSub(half, low_part)));
  }
  /// Zero, negative and subnormal numbers, infinity, NaN.
  Value* log_is_rare() { return b_.CreateICmpUGE(b_.CreateSub(high(x_), b_.getInt32(0x00100000)), b_.getInt32(0x7fe00000)); }

 private:
  Value* number(double v) { return llvm::ConstantFP::get(b_.getDoubleTy(), v); }
  Value* fma(Value* a, Value* b, Value* c) { return b_.CreateIntrinsic(llvm::Intrinsic::fma, {b_.getDoubleTy()}, {a, b, c}); }
  /// Horner's scheme, the highest coefficient first.
  Value* polynomial(Value* x, std::initializer_list<double> coefficients) {
    Value* p = nullptr;
    for (const double c : coefficients) p = p ? fma(p, x, number(c)) : number(c);
    return p;
  }
  /// x * factor rounded to an integer, as a float and (its low 32 bits) as an integer: 1.5 * 2^52 has its units in the last place.
  Value* rounded(Value* factor, Value*& integer) {
    Value *shift = number(0x1.8p52), *shifted = fma(x_, factor, shift);
    integer = low(shifted);
    return b_.CreateFSub(shifted, shift);
  }
  Value* low(Value* v) { return b_.CreateTrunc(b_.CreateBitCast(v, b_.getInt64Ty()), b_.getInt32Ty()); }
  Value* high(Value* v) { return b_.CreateTrunc(b_.CreateLShr(b_.CreateBitCast(v, b_.getInt64Ty()), 32), b_.getInt32Ty()); }
  Value* magnitude() { return b_.CreateAnd(high(x_), b_.getInt32(0x7fffffff)); }
  Value* from_words(Value* top, Value* bottom) {
    Value* bits = b_.CreateOr(b_.CreateShl(b_.CreateZExt(top, b_.getInt64Ty()), 32), b_.CreateZExt(bottom, b_.getInt64Ty()));
    return b_.CreateBitCast(bits, b_.getDoubleTy());
  }

  llvm::IRBuilder<>& b_;
  Value* x_;
};

/// The library's function: __nv_sinf, _Z3sinf.
std::string library_name(MathLibrary library, std::string_view name, DType type, size_t arity) {
  const bool single = type == DType::f32;
  if (library == MathLibrary::libdevice) return "__nv_" + std::string(name) + (single ? "f" : "");
  return "_Z" + std::to_string(name.size()) + std::string(name) + std::string(arity, single ? 'f' : 'd');
}

class Library {
 public:
  Library(llvm::IRBuilder<>& b, MathLibrary library, DType type, llvm::Type* t) : b_(b), library_(library), type_(type), t_(t) {}

  llvm::CallInst* call(std::string_view name, const std::vector<Value*>& arguments) {
    llvm::Module* module = b_.GetInsertBlock()->getModule();
    auto callee = module->getOrInsertFunction(library_name(library_, name, type_, arguments.size()),
                                              llvm::FunctionType::get(t_, std::vector<llvm::Type*>(arguments.size(), t_), false));
    auto* function = llvm::cast<llvm::Function>(callee.getCallee());
    function->setDoesNotAccessMemory();
    function->setDoesNotThrow();
    function->addFnAttr(llvm::Attribute::WillReturn);
    return b_.CreateCall(callee, arguments);
  }

  /// libclc's own look up tables at places that depend on the argument, far outside of them for large ones.
  Value* sinh(Value* x) {
    Value *a = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x), *half = number(0.5);
    Value *t = call("expm1", {a}), *next = b_.CreateFAdd(t, number(1)), *fraction = b_.CreateFDiv(t, next);
    Value* below_1 = b_.CreateFMul(half, b_.CreateFSub(b_.CreateFMul(number(2), t), b_.CreateFMul(t, fraction)));
    Value* above_1 = b_.CreateFMul(half, b_.CreateFAdd(t, fraction));
    Value* small = b_.CreateSelect(b_.CreateFCmpOLT(a, number(1)), below_1, above_1);
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign,
                                    b_.CreateSelect(b_.CreateFCmpOLT(a, number(kBothMatter)), small, half_exp(a)), x);
  }
  Value* cosh(Value* x) {
    Value *a = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x), *half = number(0.5), *e = call("exp", {a});
    Value* small = b_.CreateFAdd(b_.CreateFMul(half, e), b_.CreateFDiv(half, e));
    return b_.CreateSelect(b_.CreateFCmpOLT(a, number(kBothMatter)), small, half_exp(a));
  }
  /// libdevice's own can round up to infinity next to the largest number. Where one argument is too small to matter, the result is the
  /// other.
  Value* hypot(const std::vector<Value*>& arguments) {
    Value *a = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, arguments[0]),
          *b = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, arguments[1]);
    Value* first = b_.CreateFCmpOGE(a, b);
    Value *large = b_.CreateSelect(first, a, b), *small = b_.CreateSelect(first, b, a);
    Value* alone = b_.CreateFCmpOLE(small, b_.CreateFMul(large, number(type_ == DType::f32 ? 0x1p-13 : 0x1p-28)));
    return b_.CreateSelect(alone, large, call("hypot", arguments));
  }

  /// libclc's own of floats takes subnormal numbers for zeros. The remainder of two floats is one, so that nothing is rounded.
  Value* remainder_of_floats(const std::vector<Value*>& arguments) {
    Library doubles(b_, library_, DType::f64, b_.getDoubleTy());
    return b_.CreateFPTrunc(
        doubles.call("fmod", {b_.CreateFPExt(arguments[0], b_.getDoubleTy()), b_.CreateFPExt(arguments[1], b_.getDoubleTy())}), t_);
  }

  /// libclc's functions that give +0 for -0.
  Value* with_signed_zero(std::string_view name, Value* x) { return b_.CreateSelect(b_.CreateFCmpOEQ(x, number(0)), x, call(name, {x})); }

 private:
  static constexpr double kBothMatter = 22;  // from here on exp(-a) is too small to change exp(a)

  Value* number(double v) { return llvm::ConstantFP::get(t_, v); }
  /// exp(a) / 2, also where exp(a) overflows and its half does not.
  Value* half_exp(Value* a) {
    Value* large = b_.CreateFCmpOGT(a, number(type_ == DType::f32 ? 88 : 709));
    Value* e = call("exp", {b_.CreateSelect(large, b_.CreateFMul(number(0.5), a), a)});
    return b_.CreateFMul(b_.CreateFMul(number(0.5), e), b_.CreateSelect(large, e, number(1)));
  }

  llvm::IRBuilder<>& b_;
  MathLibrary library_;
  DType type_;
  llvm::Type* t_;
};

}  // namespace

Value* emit_device_math(llvm::IRBuilder<>& b, MathLibrary which, std::string_view name, DType type, const std::vector<Value*>& arguments,
                        Value*& rare) {
  Value* x = arguments[0];
  Library library(b, which, type, x->getType());
  const bool trigonometric = name == "sin" || name == "cos";
  if (type != DType::f64 || !(trigonometric || name == "exp" || name == "log")) {
    if (which == MathLibrary::libclc) {
      if (name == "sinh") return library.sinh(x);
      if (name == "cosh") return library.cosh(x);
      if (name == "fmod" && type == DType::f32) return library.remainder_of_floats(arguments);
      if (name == "tan" || name == "atan" || name == "expm1") return library.with_signed_zero(name, x);
    }
    if (which == MathLibrary::libdevice && name == "hypot") return library.hypot(arguments);
    return library.call(name, arguments);
  }
  Paths paths(b, x);
  Value* usual = trigonometric ? paths.sin_or_cos(name == "cos") : name == "exp" ? paths.exp() : paths.log();
  Value* is_rare = trigonometric ? paths.sin_is_rare() : name == "exp" ? paths.exp_is_rare() : paths.log_is_rare();
  if (rare) {
    rare = b.CreateOr(rare, is_rare);
    return usual;
  }
  llvm::LLVMContext& context = b.getContext();
  llvm::BasicBlock* before = b.GetInsertBlock();
  auto* unusual = llvm::BasicBlock::Create(context, "rare", before->getParent());
  auto* join = llvm::BasicBlock::Create(context, "join", before->getParent());
  b.CreateCondBr(is_rare, unusual, join, llvm::MDBuilder(context).createUnlikelyBranchWeights());
  b.SetInsertPoint(unusual);
  llvm::CallInst* called = library.call(name, arguments);
  called->addFnAttr(llvm::Attribute::NoInline);  // once a kernel, out of the way
  b.CreateBr(join);
  b.SetInsertPoint(join);
  llvm::PHINode* result = b.CreatePHI(b.getDoubleTy(), 2);
  result->addIncoming(usual, before);
  result->addIncoming(called, unusual);
  return result;
}

}  // namespace gasell
