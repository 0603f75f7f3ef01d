#include "compiler/codegen/emit.h"

#include <llvm/IR/LLVMContext.h>

#include <cstdio>
#include <cstdlib>

#include "compiler/codegen/emitter.h"
#include "compiler/codegen/externals.h"
#include "compiler/codegen/math_functions.h"
#include "compiler/codegen/race_check.h"

namespace gasell {
namespace {

template <class T>
int64_t integer_power(int64_t base, int64_t exponent) {
  const Scalar operands[] = {Scalar::of_int(base, std::is_signed_v<T> ? DType::i64 : DType::u64),
                             Scalar::of_int(exponent, std::is_signed_v<T> ? DType::i64 : DType::u64)};
  return evaluate(ScalarOp::pow, operands).i;
}

void evaluate_complex(int32_t op, int32_t type, double* io) {
  const auto t = static_cast<DType>(type);
  const Scalar operands[] = {Scalar::of_complex({io[0], io[1]}, t), Scalar::of_complex({io[2], io[3]}, t)};
  const Scalar result = evaluate(static_cast<ScalarOp>(op), operands);
  io[4] = result.c.real();
  io[5] = result.c.imag();
}

/// Code without unwind tables calls this, so nothing can be thrown.
[[noreturn]] void out_of_bounds(const char* kernel, const char* array, int64_t index, const char* pointer, const char* begin,
                                const char* end, int64_t size) {
  std::fprintf(stderr, "gasell: internal error: kernel %s uses %s[%lld], which has elements %lld to %lld\n", kernel, array,
               static_cast<long long>(index), static_cast<long long>((begin - pointer) / size),
               static_cast<long long>((end - pointer) / size - 1));
  std::abort();
}

}  // namespace

std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext& context, const ir::Kernel& kernel, const Target& target,
                                          const std::string& symbol) {
  auto module = std::make_unique<llvm::Module>(symbol, context);
  module->setTargetTriple(target.triple);
  module->setDataLayout(target.data_layout);
  if (kernel.simt) {
    Target plain = target;
    plain.check_races = false;
    const auto emitter = target.grid ? make_simt_grid_emitter(context, *module, target)
                                     : make_simt_host_emitter(context, *module, plain, target.check_races);
    emitter->emit(kernel, symbol);
    return module;
  }
  (target.grid          ? make_grid_emitter
   : target.check_races ? make_race_emitter
                        : make_host_emitter)(context, *module, target)
      ->emit(kernel, symbol);
  return module;
}

namespace {

/// What LLVM calls where the processor has no conversions of float16.
float half_to_float(_Float16 v) { return v; }
_Float16 float_to_half(float v) { return static_cast<_Float16>(v); }

}  // namespace

void register_runtime_functions() {
  register_external("__extendhfsf2", reinterpret_cast<void*>(&half_to_float));
  register_external("__truncsfhf2", reinterpret_cast<void*>(&float_to_half));
  register_external("gasell_pow_i64", reinterpret_cast<void*>(&integer_power<int64_t>));
  register_external("gasell_pow_u64", reinterpret_cast<void*>(&integer_power<uint64_t>));
  register_math_functions();
  register_external("gasell_complex", reinterpret_cast<void*>(&evaluate_complex));
  register_external("gasell_out_of_bounds", reinterpret_cast<void*>(&out_of_bounds));
  register_external("gasell_race_unit", reinterpret_cast<void*>(&race_unit));
  register_external("gasell_race_barrier", reinterpret_cast<void*>(&race_barrier));
  register_external("gasell_race_access", reinterpret_cast<void*>(&race_access));
}

}  // namespace gasell
