// The functions as code of this program, for single numbers: constants, small arrays, and what kernels call for rare arguments.
#include "compiler/math/functions.h"

namespace gasell::math {
namespace {

template <class T>
T plain(ScalarOp op, T x, T y) {
  return compute(op, Number<T>{x}, Number<T>{y}).v;
}

#if defined(__x86_64__)
/// The same where the processor has fused multiply-adds: elsewhere they are calls of the C library, which gives the same bits.
template <class T>
[[gnu::target("avx2,fma"), gnu::flatten]] T fused(ScalarOp op, T x, T y) {
  return compute(op, Number<T>{x}, Number<T>{y}).v;
}
bool fuses() {
  static const bool known = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
  return known;
}
#else
template <class T>
T fused(ScalarOp op, T x, T y) {
  return plain(op, x, y);
}
constexpr bool fuses() { return false; }
#endif

}  // namespace

double evaluate(ScalarOp op, double x, double y) { return fuses() ? fused(op, x, y) : plain(op, x, y); }
float evaluate(ScalarOp op, float x, float y) { return fuses() ? fused(op, x, y) : plain(op, x, y); }

}  // namespace gasell::math
