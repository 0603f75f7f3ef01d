// The math library's functions (compiler/math) in code that LLVM makes.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <string>

#include "compiler/ir/scalar_op.h"
#include "lang/dtype.h"

namespace gasell {

/// op(x), or op(x, y), of f32 or f64 and of a function that math::has(), in place. The builder's block may change. With a `rare` that is
/// not null there are no branches: the result is then wrong for the few arguments that need one, and `rare` becomes true (an or with what
/// it was), so that the caller can begin anew. For kernels of GPUs.
llvm::Value* emit_math(llvm::IRBuilder<>& b, ScalarOp op, DType type, llvm::Value* x, llvm::Value* y, llvm::Value*& rare);

/// The same as a call of a function that define_math_functions() makes, and for which LLVM's vectoriser knows twins that take vectors: once
/// it has run, bodies are made for those that are called. For kernels of hosts.
llvm::Value* call_math(llvm::IRBuilder<>& b, ScalarOp op, DType type, llvm::Value* x, llvm::Value* y);

/// Bodies of what call_math() called, to be inlined. Bits are the same for scalars and vectors of any width.
bool define_math_functions(llvm::Module& module);

/// Changes with the functions' texts.
std::string math_version();

/// Lets kernels call this program's functions for the arguments that need no speed.
void register_math_functions();

}  // namespace gasell
