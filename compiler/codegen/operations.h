// Arithmetic on registers: the table of scalar operations as LLVM instructions and calls.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include <string_view>
#include <vector>

#include "compiler/codegen/target.h"
#include "compiler/ir/scalar_op.h"

namespace gasell {

/// A scalar in registers: booleans are i1, complex numbers a pair.
struct Register {
  llvm::Value* re = nullptr;
  llvm::Value* im = nullptr;
};

class Operations {
 protected:
  Operations(llvm::LLVMContext& context, llvm::Module& module, const Target& target) : module_(module), target_(target), b_(context) {}

  llvm::Type* element_type(DType t);
  /// A float as a narrower one, rounded once.
  llvm::Value* narrowed(llvm::Value* x, llvm::Type* to);
  llvm::Type* register_type(DType t) { return t == DType::boolean ? b_.getInt1Ty() : element_type(t); }
  /// Memory of the function that is being emitted.
  llvm::AllocaInst* entry_alloca(llvm::Type* type, uint64_t align);

  Register literal(const Scalar& s);
  Register convert(const Register& r, DType from, DType to);
  /// `type` is that of the operands (of select's alternatives). Throws TargetLacks (emit.h).
  Register operation(ScalarOp op, DType type, const std::vector<Register>& args);

  llvm::Module& module_;
  const Target& target_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  /// Where set: functions with a way for usual arguments (math_functions.h) take it always and say here, with an or, whether the argument
  /// was another.
  llvm::Value* rare_ = nullptr;

 private:
  llvm::Value* truth(const Register& r, DType type);
  llvm::Value* integer_operation(ScalarOp op, DType type, llvm::Value* a, llvm::Value* b);
  llvm::Value* divide(ScalarOp op, bool is_signed_type, llvm::Value* a, llvm::Value* b);
  llvm::Value* divide_by_positive(ScalarOp op, llvm::Value* a, const llvm::APInt& divisor);
  llvm::Value* quotient(llvm::Value* a, llvm::Value* b);
  llvm::Value* quotient_by_count(llvm::Value* a, llvm::Value* b);
  llvm::Value* quotient_in_doubles(llvm::Value* a, llvm::Value* b);
  llvm::Value* refined_reciprocal(llvm::Value* b, llvm::Value* estimate);
  llvm::Value* corrected_quotient(llvm::Value* a, llvm::Value* b, llvm::Value* reciprocal, llvm::Value* q);
  llvm::Value* fused(llvm::Value* a, llvm::Value* b, llvm::Value* c);
  llvm::Value* power(DType type, llvm::Value* a, llvm::Value* b);
  llvm::Value* power_by_squaring(bool is_signed_type, llvm::Value* a, llvm::Value* b);
  llvm::Value* float_operation(ScalarOp op, DType type, llvm::Value* a, llvm::Value* b, llvm::Value* c);
  Register complex_operation(ScalarOp op, DType type, const std::vector<Register>& args);
  Register complex_quotient(const Register& a, const Register& b);
  Register complex_call(ScalarOp op, DType type, const Register& a, const Register& b);
  llvm::Value* elementary(ScalarOp op, DType type, llvm::Value* a, llvm::Value* b);
  llvm::Value* remainder(DType type, llvm::Value* a, llvm::Value* b);
  llvm::Value* intrinsic(llvm::Intrinsic::ID id, llvm::Value* a);
  static void pure(llvm::FunctionCallee callee);
};

}  // namespace gasell
