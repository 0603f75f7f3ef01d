#include "compiler/codegen/operations.h"

#include <llvm/IR/Module.h>

#include <cmath>

#include "compiler/codegen/device_library.h"
#include "compiler/codegen/emit.h"
#include "compiler/codegen/math_functions.h"
#include "compiler/math/evaluate.h"
#include "lang/diagnostic.h"

namespace gasell {

llvm::Type* Operations::element_type(DType t) {
  switch (t) {
    case DType::boolean:
    case DType::i8:
    case DType::u8: return b_.getInt8Ty();
    case DType::i16:
    case DType::u16: return b_.getInt16Ty();
    case DType::i32:
    case DType::u32: return b_.getInt32Ty();
    case DType::i64:
    case DType::u64: return b_.getInt64Ty();
    case DType::f32:
    case DType::c64: return b_.getFloatTy();
    case DType::f64:
    case DType::c128: return b_.getDoubleTy();
    case DType::f16: return b_.getHalfTy();
  }
  return nullptr;
}

llvm::AllocaInst* Operations::entry_alloca(llvm::Type* type, uint64_t align) {
  llvm::IRBuilder<> entry(&function_->getEntryBlock(), function_->getEntryBlock().begin());
  llvm::AllocaInst* memory = entry.CreateAlloca(type);
  memory->setAlignment(llvm::Align(align));
  return memory;
}

Register Operations::literal(const Scalar& s) {
  if (s.is_integral()) return {llvm::ConstantInt::get(register_type(s.type), static_cast<uint64_t>(s.i), is_signed(s.type)), nullptr};
  Register r{llvm::ConstantFP::get(register_type(s.type), s.c.real()), nullptr};
  if (is_complex(s.type)) r.im = llvm::ConstantFP::get(register_type(s.type), s.c.imag());
  return r;
}

llvm::Value* Operations::truth(const Register& r, DType type) {
  if (type == DType::boolean) return r.re;
  if (is_integer(type)) return b_.CreateICmpNE(r.re, llvm::ConstantInt::get(r.re->getType(), 0));
  llvm::Value* zero = llvm::ConstantFP::get(r.re->getType(), 0);
  llvm::Value* re = b_.CreateFCmpUNE(r.re, zero);
  return is_complex(type) ? b_.CreateOr(re, b_.CreateFCmpUNE(r.im, zero)) : re;
}

/// float64 goes to float16 by way of a float32 that is rounded to odd, which loses nothing that the second rounding looks at: few
/// processors have the one step.
llvm::Value* Operations::narrowed(llvm::Value* x, llvm::Type* to) {
  if (!to->isHalfTy() || !x->getType()->isDoubleTy()) return b_.CreateFPCast(x, to);
  llvm::Value* nearest = b_.CreateFPTrunc(x, b_.getFloatTy());
  llvm::Value* back = b_.CreateFPExt(nearest, x->getType());
  llvm::Value* bits = b_.CreateBitCast(nearest, b_.getInt32Ty());
  const auto size = [&](llvm::Value* v) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v); };
  llvm::Value* above = b_.CreateZExt(b_.CreateFCmpOGT(size(back), size(x)), b_.getInt32Ty());
  llvm::Value* odd = b_.CreateOr(b_.CreateSub(bits, above), b_.getInt32(1));
  llvm::Value* chosen = b_.CreateSelect(b_.CreateFCmpONE(back, x), odd, bits);
  return b_.CreateFPTrunc(b_.CreateBitCast(chosen, b_.getFloatTy()), to);
}

/// Scalar::cast's rules. Floats out of an integer's range give what x86's conversion gives; frozen, so that they are a value like any
/// other.
Register Operations::convert(const Register& r, DType from, DType to) {
  if (to == DType::boolean) return {truth(r, from), nullptr};
  if (from == DType::f16 && is_integer(to)) return convert(convert(r, from, DType::f32), DType::f32, to);
  if (to == DType::f16 && kind(from) != 'f' && kind(from) != 'c') return convert(convert(r, from, DType::f32), DType::f32, to);
  llvm::Type* type = register_type(to);
  const bool from_float = is_float(from) || is_complex(from);
  if (is_integer(to)) {
    if (!from_float) return {b_.CreateIntCast(r.re, type, is_signed(from)), nullptr};
    auto truncated = [&](llvm::Value* x, llvm::Type* as) {
      llvm::Value* integer = b_.CreateFreeze(b_.CreateFPToSI(x, as));
      if (!target_.emits_math) return integer;
      const unsigned bits = as->getIntegerBitWidth();
      llvm::Value* least = llvm::ConstantFP::get(x->getType(), -std::ldexp(1.0, static_cast<int>(bits) - 1));
      llvm::Value* fits = b_.CreateAnd(b_.CreateFCmpOGE(x, least), b_.CreateFCmpOLT(x, b_.CreateFNeg(least)));
      return b_.CreateSelect(fits, integer, llvm::ConstantInt::get(as, llvm::APInt::getSignedMinValue(bits)));
    };
    if (to == DType::u64) {
      llvm::Value* limit = llvm::ConstantFP::get(r.re->getType(), 9223372036854775808.0);
      llvm::Value* small = truncated(r.re, type);
      llvm::Value* large = b_.CreateXor(truncated(b_.CreateFSub(r.re, limit), type), b_.getInt64(uint64_t{1} << 63));
      return {b_.CreateSelect(b_.CreateFCmpOGE(r.re, limit), large, small), nullptr};
    }
    llvm::Type* wide = to == DType::i64 || to == DType::u32 ? b_.getInt64Ty() : b_.getInt32Ty();
    return {b_.CreateTrunc(truncated(r.re, wide), type), nullptr};
  }
  Register result;
  if (from_float) {
    result.re = narrowed(r.re, type);
    if (r.im) result.im = b_.CreateFPCast(r.im, type);
  } else {
    result.re = is_signed(from) ? b_.CreateSIToFP(r.re, type) : b_.CreateUIToFP(r.re, type);
  }
  if (!is_complex(to))
    result.im = nullptr;
  else if (!result.im)
    result.im = llvm::ConstantFP::get(type, 0);
  return result;
}

Register Operations::operation(ScalarOp op, DType type, const std::vector<Register>& args) {
  if (op == ScalarOp::select) {
    Register r{b_.CreateSelect(args[0].re, args[1].re, args[2].re), nullptr};
    if (args[1].im) r.im = b_.CreateSelect(args[0].re, args[1].im, args[2].im);
    return r;
  }
  if (type == DType::f16) {  // float32's operation, rounded
    std::vector<Register> wide;
    for (const Register& r : args) wide.push_back(convert(r, DType::f16, DType::f32));
    const Register result = operation(op, DType::f32, wide);
    return result_type(op, DType::f32) == DType::f32 ? convert(result, DType::f32, DType::f16) : result;
  }
  switch (op) {
    case ScalarOp::logical_and: return {b_.CreateAnd(truth(args[0], type), truth(args[1], type)), nullptr};
    case ScalarOp::logical_or: return {b_.CreateOr(truth(args[0], type), truth(args[1], type)), nullptr};
    case ScalarOp::logical_xor: return {b_.CreateXor(truth(args[0], type), truth(args[1], type)), nullptr};
    case ScalarOp::logical_not: return {b_.CreateNot(truth(args[0], type)), nullptr};
    case ScalarOp::make_complex: return {args[0].re, args[1].re};
    default: break;
  }
  if (is_complex(type)) return complex_operation(op, type, args);
  llvm::Value* a = args[0].re;
  llvm::Value* b = args.size() > 1 ? args[1].re : nullptr;
  if (is_float(type)) return {float_operation(op, type, a, b, args.size() > 2 ? args[2].re : nullptr), nullptr};
  return {integer_operation(op, type, a, b), nullptr};
}

llvm::Value* Operations::integer_operation(ScalarOp op, DType type, llvm::Value* a, llvm::Value* b) {
  const bool is_signed_type = is_signed(type);
  llvm::Type* t = a->getType();
  llvm::Value* zero = llvm::ConstantInt::get(t, 0);
  switch (op) {
    case ScalarOp::add: return b_.CreateAdd(a, b);
    case ScalarOp::sub: return b_.CreateSub(a, b);
    case ScalarOp::mul: return b_.CreateMul(a, b);
    case ScalarOp::floordiv: return divide(op, is_signed_type, a, b);
    case ScalarOp::mod:
    case ScalarOp::fmod: return divide(op, is_signed_type, a, b);
    case ScalarOp::pow: return power(type, a, b);
    case ScalarOp::neg: return b_.CreateNeg(a);
    case ScalarOp::abs: return is_signed_type ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, b_.getFalse()) : a;
    case ScalarOp::sign: {
      llvm::Value* positive = b_.CreateZExt(is_signed_type ? b_.CreateICmpSGT(a, zero) : b_.CreateICmpNE(a, zero), t);
      return is_signed_type ? b_.CreateOr(positive, b_.CreateSExt(b_.CreateICmpSLT(a, zero), t)) : positive;
    }
    case ScalarOp::min:
    case ScalarOp::fmin: return b_.CreateBinaryIntrinsic(is_signed_type ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, b);
    case ScalarOp::max:
    case ScalarOp::fmax: return b_.CreateBinaryIntrinsic(is_signed_type ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a, b);
    case ScalarOp::mulhi: {
      const unsigned bits = t->getIntegerBitWidth();
      llvm::Type* wide = b_.getIntNTy(bits * 2);
      auto extend = [&](llvm::Value* v) { return is_signed_type ? b_.CreateSExt(v, wide) : b_.CreateZExt(v, wide); };
      return b_.CreateTrunc(b_.CreateLShr(b_.CreateMul(extend(a), extend(b)), bits), t);
    }
    case ScalarOp::bit_and: return b_.CreateAnd(a, b);
    case ScalarOp::bit_or: return b_.CreateOr(a, b);
    case ScalarOp::bit_xor: return b_.CreateXor(a, b);
    case ScalarOp::bit_not: return b_.CreateNot(a);
    case ScalarOp::shl:
    case ScalarOp::shr: {
      // Counts of the width or more: nothing is left (of a negative number, its sign).
      const unsigned bits = t->getIntegerBitWidth();
      llvm::Value* in_range = b_.CreateICmpULT(b, llvm::ConstantInt::get(t, bits));
      if (op == ScalarOp::shr && is_signed_type) return b_.CreateAShr(a, b_.CreateSelect(in_range, b, llvm::ConstantInt::get(t, bits - 1)));
      llvm::Value* count = b_.CreateSelect(in_range, b, zero);
      return b_.CreateSelect(in_range, op == ScalarOp::shl ? b_.CreateShl(a, count) : b_.CreateLShr(a, count), zero);
    }
    case ScalarOp::eq: return b_.CreateICmpEQ(a, b);
    case ScalarOp::ne: return b_.CreateICmpNE(a, b);
    case ScalarOp::lt: return is_signed_type ? b_.CreateICmpSLT(a, b) : b_.CreateICmpULT(a, b);
    case ScalarOp::le: return is_signed_type ? b_.CreateICmpSLE(a, b) : b_.CreateICmpULE(a, b);
    case ScalarOp::gt: return is_signed_type ? b_.CreateICmpSGT(a, b) : b_.CreateICmpUGT(a, b);
    case ScalarOp::ge: return is_signed_type ? b_.CreateICmpSGE(a, b) : b_.CreateICmpUGE(a, b);
    case ScalarOp::isnan:
    case ScalarOp::isinf: return b_.getFalse();
    case ScalarOp::isfinite: return b_.getTrue();
    case ScalarOp::signbit: return is_signed_type ? b_.CreateICmpSLT(a, zero) : b_.getFalse();
    case ScalarOp::floor:
    case ScalarOp::ceil:
    case ScalarOp::trunc:
    case ScalarOp::rint:
    case ScalarOp::conj:
    case ScalarOp::real: return a;
    case ScalarOp::imag: return zero;
    default: throw Error("SystemError", std::string(info(op).name) + " of integers reached the emitter", "", Blame::internal);
  }
}

llvm::Value* Operations::power(DType type, llvm::Value* a, llvm::Value* b) {
  const bool s = is_signed(type);
  if (target_.emits_math) return power_by_squaring(s, a, b);
  llvm::Type* i64 = b_.getInt64Ty();
  auto callee = module_.getOrInsertFunction(s ? "gasell_pow_i64" : "gasell_pow_u64", llvm::FunctionType::get(i64, {i64, i64}, false));
  pure(callee);
  return b_.CreateTrunc(b_.CreateCall(callee, {b_.CreateIntCast(a, i64, s), b_.CreateIntCast(b, i64, s)}), a->getType());
}

/// In line, for GPUs; as evaluate() has it: of negative exponents only 1 and -1 leave something.
llvm::Value* Operations::power_by_squaring(bool is_signed_type, llvm::Value* a, llvm::Value* b) {
  llvm::Type* t = a->getType();
  llvm::Value *zero = llvm::ConstantInt::get(t, 0), *one = llvm::ConstantInt::get(t, 1), *minus_one = llvm::ConstantInt::getAllOnesValue(t);
  llvm::Value* negative = is_signed_type ? b_.CreateICmpSLT(b, zero) : b_.getFalse();
  auto is_odd = [&](llvm::Value* v) { return b_.CreateICmpNE(b_.CreateAnd(v, one), zero); };
  llvm::BasicBlock* before = b_.GetInsertBlock();
  auto* loop = llvm::BasicBlock::Create(b_.getContext(), "square", function_);
  auto* after = llvm::BasicBlock::Create(b_.getContext(), "power", function_);
  llvm::Value* first = b_.CreateSelect(negative, zero, b);
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  llvm::PHINode *exponent = b_.CreatePHI(t, 2), *base = b_.CreatePHI(t, 2), *product = b_.CreatePHI(t, 2);
  llvm::Value* next_product = b_.CreateSelect(is_odd(exponent), b_.CreateMul(product, base), product);
  llvm::Value* next_exponent = b_.CreateLShr(exponent, one);
  const std::pair<llvm::PHINode*, std::pair<llvm::Value*, llvm::Value*>> flows[] = {
      {exponent, {first, next_exponent}}, {base, {a, b_.CreateMul(base, base)}}, {product, {one, next_product}}};
  for (const auto& [phi, values] : flows) {
    phi->addIncoming(values.first, before);
    phi->addIncoming(values.second, loop);
  }
  b_.CreateCondBr(b_.CreateICmpNE(next_exponent, zero), loop, after);
  b_.SetInsertPoint(after);
  if (!is_signed_type) return next_product;
  llvm::Value* reciprocal = b_.CreateSelect(b_.CreateICmpEQ(a, one), one, zero);
  reciprocal = b_.CreateSelect(b_.CreateICmpEQ(a, minus_one), b_.CreateSelect(is_odd(b), minus_one, one), reciprocal);
  return b_.CreateSelect(negative, reciprocal, next_product);
}

void Operations::pure(llvm::FunctionCallee callee) {
  auto* f = llvm::cast<llvm::Function>(callee.getCallee());
  f->setDoesNotAccessMemory();
  f->setDoesNotThrow();
  f->addFnAttr(llvm::Attribute::WillReturn);
}

/// A function of our own math library: in place, or as a call for which the vectoriser knows twins.
llvm::Value* Operations::elementary(ScalarOp op, DType type, llvm::Value* a, llvm::Value* b) {
  return target_.emits_math ? emit_math(b_, op, type, a, b, rare_) : call_math(b_, op, type, a, b);
}
/// The C library's remainder, of emitted kernels libclc's of doubles: its own of floats takes subnormal numbers for zeros, and the
/// remainder of two floats is one, so that nothing is rounded.
llvm::Value* Operations::remainder(DType type, llvm::Value* a, llvm::Value* b) {
  if (!target_.emits_math) return b_.CreateFRem(a, b);
  llvm::Type* f64 = b_.getDoubleTy();
  auto callee = module_.getOrInsertFunction(kDeviceRemainder, llvm::FunctionType::get(f64, {f64, f64}, false));
  pure(callee);
  return b_.CreateFPCast(b_.CreateCall(callee, {b_.CreateFPCast(a, f64), b_.CreateFPCast(b, f64)}), register_type(type));
}
llvm::Value* Operations::intrinsic(llvm::Intrinsic::ID id, llvm::Value* a) { return b_.CreateUnaryIntrinsic(id, a); }

llvm::Value* Operations::float_operation(ScalarOp op, DType type, llvm::Value* a, llvm::Value* b, llvm::Value* c) {
  if (math::has(op)) return elementary(op, type, a, b);
  llvm::Type* t = a->getType();
  auto number = [&](double v) { return llvm::ConstantFP::get(t, v); };
  auto is_nan = [&](llvm::Value* v) { return b_.CreateFCmpUNO(v, v); };
  auto copysign = [&](llvm::Value* x, llvm::Value* s) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x, s); };
  switch (op) {
    case ScalarOp::add: return b_.CreateFAdd(a, b);
    case ScalarOp::sub: return b_.CreateFSub(a, b);
    case ScalarOp::mul: return b_.CreateFMul(a, b);
    case ScalarOp::div: return quotient(a, b);
    case ScalarOp::div_count: return quotient_by_count(a, b);
    case ScalarOp::fma: return b_.CreateIntrinsic(llvm::Intrinsic::fma, {t}, {a, b, c});
    case ScalarOp::neg: return b_.CreateFNeg(a);
    case ScalarOp::abs: return intrinsic(llvm::Intrinsic::fabs, a);
    case ScalarOp::sign: {
      llvm::Value* s = b_.CreateSelect(b_.CreateFCmpOGT(a, number(0)), number(1),
                                       b_.CreateSelect(b_.CreateFCmpOLT(a, number(0)), number(-1), number(0)));
      return b_.CreateSelect(is_nan(a), a, s);
    }
    case ScalarOp::min: return b_.CreateSelect(is_nan(a), a, b_.CreateSelect(b_.CreateFCmpOLT(a, b), a, b));
    case ScalarOp::max: return b_.CreateSelect(is_nan(a), a, b_.CreateSelect(b_.CreateFCmpOGT(a, b), a, b));
    case ScalarOp::fmin: return b_.CreateSelect(is_nan(b), a, b_.CreateSelect(b_.CreateFCmpOLT(a, b), a, b));
    case ScalarOp::fmax: return b_.CreateSelect(is_nan(b), a, b_.CreateSelect(b_.CreateFCmpOGT(a, b), a, b));
    case ScalarOp::mod: {
      // np.mod: the sign of the divisor; a zero remainder too.
      llvm::Value* r = remainder(type, a, b);
      llvm::Value* differs = b_.CreateXor(b_.CreateFCmpOLT(r, number(0)), b_.CreateFCmpOLT(b, number(0)));
      llvm::Value* adjusted = b_.CreateSelect(differs, b_.CreateFAdd(r, b), r);
      return b_.CreateSelect(b_.CreateFCmpOEQ(r, number(0)), copysign(number(0), b), adjusted);
    }
    case ScalarOp::floordiv: {
      // np.floor_divide, from the exact remainder.
      llvm::Value* r = remainder(type, a, b);
      llvm::Value* q = quotient(b_.CreateFSub(a, r), b);
      llvm::Value* differs =
          b_.CreateAnd(b_.CreateFCmpONE(r, number(0)), b_.CreateXor(b_.CreateFCmpOLT(r, number(0)), b_.CreateFCmpOLT(b, number(0))));
      q = b_.CreateSelect(differs, b_.CreateFSub(q, number(1)), q);
      llvm::Value* f = intrinsic(llvm::Intrinsic::floor, q);
      f = b_.CreateSelect(b_.CreateFCmpOGT(b_.CreateFSub(q, f), number(0.5)), b_.CreateFAdd(f, number(1)), f);
      llvm::Value* exact = quotient(a, b);
      f = b_.CreateSelect(b_.CreateFCmpOEQ(q, number(0)), copysign(number(0), exact), f);
      return b_.CreateSelect(b_.CreateFCmpOEQ(b, number(0)), exact, f);
    }
    case ScalarOp::fmod: return remainder(type, a, b);
    case ScalarOp::copysign: return copysign(a, b);
    case ScalarOp::floor: return intrinsic(llvm::Intrinsic::floor, a);
    case ScalarOp::ceil: return intrinsic(llvm::Intrinsic::ceil, a);
    case ScalarOp::trunc: return intrinsic(llvm::Intrinsic::trunc, a);
    case ScalarOp::rint: return intrinsic(llvm::Intrinsic::roundeven, a);
    case ScalarOp::sqrt: return intrinsic(llvm::Intrinsic::sqrt, a);
    case ScalarOp::eq: return b_.CreateFCmpOEQ(a, b);
    case ScalarOp::ne: return b_.CreateFCmpUNE(a, b);
    case ScalarOp::lt: return b_.CreateFCmpOLT(a, b);
    case ScalarOp::le: return b_.CreateFCmpOLE(a, b);
    case ScalarOp::gt: return b_.CreateFCmpOGT(a, b);
    case ScalarOp::ge: return b_.CreateFCmpOGE(a, b);
    case ScalarOp::isnan: return is_nan(a);
    case ScalarOp::isinf: return b_.CreateFCmpOEQ(intrinsic(llvm::Intrinsic::fabs, a), llvm::ConstantFP::getInfinity(t));
    case ScalarOp::isfinite: return b_.CreateFCmpOLT(intrinsic(llvm::Intrinsic::fabs, a), llvm::ConstantFP::getInfinity(t));
    case ScalarOp::signbit: {
      llvm::Type* bits = b_.getIntNTy(t->getScalarSizeInBits());
      return b_.CreateICmpSLT(b_.CreateBitCast(a, bits), llvm::ConstantInt::get(bits, 0));
    }
    case ScalarOp::conj:
    case ScalarOp::real: return a;
    case ScalarOp::imag: return number(0);
    default: throw Error("SystemError", std::string(info(op).name) + " of floats reached the emitter", "", Blame::internal);
  }
}

Register Operations::complex_operation(ScalarOp op, DType type, const std::vector<Register>& args) {
  const Register& a = args[0];
  const Register b = args.size() > 1 ? args[1] : Register{};
  switch (op) {
    case ScalarOp::add: return {b_.CreateFAdd(a.re, b.re), b_.CreateFAdd(a.im, b.im)};
    case ScalarOp::sub: return {b_.CreateFSub(a.re, b.re), b_.CreateFSub(a.im, b.im)};
    case ScalarOp::mul:
      return {b_.CreateFSub(b_.CreateFMul(a.re, b.re), b_.CreateFMul(a.im, b.im)),
              b_.CreateFAdd(b_.CreateFMul(a.re, b.im), b_.CreateFMul(a.im, b.re))};
    case ScalarOp::div: return complex_quotient(a, b);
    case ScalarOp::neg: return {b_.CreateFNeg(a.re), b_.CreateFNeg(a.im)};
    case ScalarOp::conj: return {a.re, b_.CreateFNeg(a.im)};
    case ScalarOp::real: return {a.re, nullptr};
    case ScalarOp::imag: return {a.im, nullptr};
    case ScalarOp::abs: return {elementary(ScalarOp::hypot, real_of(type), a.re, a.im), nullptr};
    case ScalarOp::eq: return {b_.CreateAnd(b_.CreateFCmpOEQ(a.re, b.re), b_.CreateFCmpOEQ(a.im, b.im)), nullptr};
    case ScalarOp::ne: return {b_.CreateOr(b_.CreateFCmpUNE(a.re, b.re), b_.CreateFCmpUNE(a.im, b.im)), nullptr};
    case ScalarOp::isnan: return {b_.CreateFCmpUNO(a.re, a.im), nullptr};
    case ScalarOp::isinf:
    case ScalarOp::isfinite: {
      const DType real = real_of(type);
      llvm::Value *re = float_operation(op, real, a.re, nullptr, nullptr), *im = float_operation(op, real, a.im, nullptr, nullptr);
      return {op == ScalarOp::isinf ? b_.CreateOr(re, im) : b_.CreateAnd(re, im), nullptr};
    }
    default: return complex_call(op, type, a, b);
  }
}

/// Smith's division, as evaluate() has it: by the larger part of the divisor.
Register Operations::complex_quotient(const Register& a, const Register& b) {
  llvm::Value *size_re = intrinsic(llvm::Intrinsic::fabs, b.re), *size_im = intrinsic(llvm::Intrinsic::fabs, b.im);
  llvm::Value* by_re = b_.CreateFCmpOGE(size_re, size_im);
  llvm::Value *larger = b_.CreateSelect(by_re, b.re, b.im), *smaller = b_.CreateSelect(by_re, b.im, b.re);
  llvm::Value *same = b_.CreateSelect(by_re, a.re, a.im), *other = b_.CreateSelect(by_re, a.im, a.re);
  llvm::Value* ratio = b_.CreateFDiv(smaller, larger);
  llvm::Value* scale = b_.CreateFDiv(llvm::ConstantFP::get(a.re->getType(), 1), b_.CreateFAdd(larger, b_.CreateFMul(smaller, ratio)));
  llvm::Value* re = b_.CreateFMul(b_.CreateFAdd(same, b_.CreateFMul(other, ratio)), scale);
  llvm::Value* crossed = b_.CreateFMul(same, ratio);
  llvm::Value* im = b_.CreateFMul(b_.CreateSelect(by_re, b_.CreateFSub(other, crossed), b_.CreateFSub(crossed, other)), scale);
  llvm::Value* zero = llvm::ConstantFP::get(a.re->getType(), 0);
  llvm::Value* by_zero = b_.CreateAnd(b_.CreateFCmpOEQ(size_re, zero), b_.CreateFCmpOEQ(size_im, zero));
  return {b_.CreateSelect(by_zero, b_.CreateFDiv(a.re, size_re), re), b_.CreateSelect(by_zero, b_.CreateFDiv(a.im, size_re), im)};
}

/// The rest is computed by evaluate(), out of line: gasell_complex(operation, dtype, operands, result).
Register Operations::complex_call(ScalarOp op, DType type, const Register& a, const Register& b) {
  if (!target_.calls_runtime) throw TargetLacks{std::string(info(op).name) + " of complex numbers"};
  llvm::Type *f64 = b_.getDoubleTy(), *i32 = b_.getInt32Ty(), *ptr = b_.getPtrTy();
  llvm::AllocaInst* io = entry_alloca(llvm::ArrayType::get(f64, 6), 16);
  auto callee = module_.getOrInsertFunction("gasell_complex", llvm::FunctionType::get(b_.getVoidTy(), {i32, i32, ptr}, false));
  llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotThrow();
  llvm::Value* parts[] = {a.re, a.im, b.re, b.im};
  for (unsigned k = 0; k < 4; ++k)
    if (parts[k]) b_.CreateStore(b_.CreateFPCast(parts[k], f64), b_.CreateConstGEP1_64(f64, io, k));
  b_.CreateCall(callee, {b_.getInt32(static_cast<uint32_t>(op)), b_.getInt32(static_cast<uint32_t>(type)), io});
  llvm::Type* t = register_type(type);
  auto result = [&](unsigned k) { return b_.CreateFPCast(b_.CreateLoad(f64, b_.CreateConstGEP1_64(f64, io, k)), t); };
  llvm::Value* re = result(4);
  return {re, result(5)};
}

}  // namespace gasell
