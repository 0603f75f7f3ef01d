// How far the compiled math functions are from the truth, which is long double's rounded. `test_compiler "[accuracy-table]"` prints the
// table of docs/accuracy.md.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

#include "catch.h"
#include "unit/compiler/codegen_support.h"

using namespace gasell;
using namespace gasell::test;

namespace {

// Floats' unary functions are tried exhaustively when they change; these samples guard them.
constexpr double kMostOfDoubles = 2, kMostOfFloats = 1;
using Truth = long double (*)(long double, long double);

struct Row {
  ScalarOp op;
  Truth truth;
  /// Where samples are drawn: half of them uniform, half with uniform exponents (both signs where low is negative).
  double low, high;
};

#define UNARY(f) [](long double x, long double) { return std::f(x); }
// The widest ranges within which f64 and f32 neither overflow nor, but for the ends, underflow.
const Row kRows[] = {
    {ScalarOp::sqrt, UNARY(sqrt), 0, 1e30},
    {ScalarOp::cbrt, UNARY(cbrt), -1e30, 1e30},
    {ScalarOp::exp, UNARY(exp), -87, 88},
    {ScalarOp::exp2, UNARY(exp2), -126, 127},
    {ScalarOp::expm1, UNARY(expm1), -40, 88},
    {ScalarOp::log, UNARY(log), 0, 1e30},
    {ScalarOp::log2, UNARY(log2), 0, 1e30},
    {ScalarOp::log10, UNARY(log10), 0, 1e30},
    {ScalarOp::log1p, UNARY(log1p), -0.999, 1e30},
    {ScalarOp::sin, UNARY(sin), -1e6, 1e6},
    {ScalarOp::cos, UNARY(cos), -1e6, 1e6},
    {ScalarOp::tan, UNARY(tan), -1e6, 1e6},
    {ScalarOp::asin, UNARY(asin), -1, 1},
    {ScalarOp::acos, UNARY(acos), -1, 1},
    {ScalarOp::atan, UNARY(atan), -1e30, 1e30},
    {ScalarOp::sinh, UNARY(sinh), -88, 88},
    {ScalarOp::cosh, UNARY(cosh), -88, 88},
    {ScalarOp::tanh, UNARY(tanh), -40, 40},
    {ScalarOp::asinh, UNARY(asinh), -1e18, 1e18},
    {ScalarOp::acosh, UNARY(acosh), 1, 1e18},
    {ScalarOp::atanh, UNARY(atanh), -0.99999, 0.99999},
    {ScalarOp::pow, [](long double x, long double y) { return std::pow(x, y); }, 1e-3, 1e3},
    {ScalarOp::hypot, [](long double x, long double y) { return std::hypot(x, y); }, -1e18, 1e18},
    {ScalarOp::atan2, [](long double y, long double x) { return std::atan2(y, x); }, -1e18, 1e18},
};
#undef UNARY

double sample(std::mt19937_64& random, double low, double high) {
  const double u = static_cast<double>(random() >> 11) * 0x1p-53;
  if (random() & 1) return low + (high - low) * u;
  const double least = low > 0 ? low : 1e-30;
  const double magnitude = least * std::pow(high / least, u);
  const double signed_value = low < 0 && (random() & 1) ? -magnitude : magnitude;
  return std::clamp(signed_value, low, high);
}

/// |got - truth| in units of the last place of the truth.
template <class T>
double error_in_ulps(T got, long double truth) {
  if (std::isnan(got) || std::isinf(got)) return std::numeric_limits<double>::infinity();
  int exponent = 0;
  std::frexp(truth, &exponent);
  const int last =
      std::max(exponent - std::numeric_limits<T>::digits, std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - truth) / std::ldexp(1.0L, last));
}

struct Worst {
  double ulps = 0, x = 0, y = 0;
};

template <class T>
Worst worst_of(Jit& jit, const Row& row, size_t count) {
  const DType type = sizeof(T) == 4 ? DType::f32 : DType::f64;
  const auto arity = static_cast<size_t>(info(row.op).arity);
  const ir::Kernel kernel =
      elementwise(std::vector<DType>(arity, type), type, [&](std::vector<ir::ExprRef> args) { return ir::op(row.op, std::move(args)); });
  std::mt19937_64 random(11);
  std::vector<std::vector<T>> operands(arity, std::vector<T>(count));
  for (size_t k = 0; k < count; ++k)
    for (size_t a = 0; a < arity; ++a)
      operands[a][k] = static_cast<T>(a == 1 && row.op == ScalarOp::pow ? sample(random, -10, 10) : sample(random, row.low, row.high));
  std::vector<T> result(count);
  std::vector<void*> arrays;
  for (auto& o : operands) arrays.push_back(o.data());
  arrays.push_back(result.data());
  const auto n = static_cast<int64_t>(count);
  jit.compile(kernel).function(arrays.data(), &n, 0, (n + 99) / 100);
  Worst worst;
  for (size_t k = 0; k < count; ++k) {
    const T x = operands[0][k], y = arity > 1 ? operands[1][k] : T(0);
    const double ulps = error_in_ulps(result[k], row.truth(x, y));
    if (!(ulps <= worst.ulps)) worst = {ulps, static_cast<double>(x), static_cast<double>(y)};
  }
  return worst;
}

}  // namespace

TEST_CASE("math functions are within two units of the last place, of floats one") {
  Jit jit(without_disk());
  for (const Row& row : kRows) {
    for (const bool single : {false, true}) {
      const Worst worst = single ? worst_of<float>(jit, row, 20000) : worst_of<double>(jit, row, 20000);
      INFO(info(row.op).name << (single ? " of float32" : " of float64") << " at " << worst.x << ", " << worst.y);
      CHECK(worst.ulps <= (single ? kMostOfFloats : kMostOfDoubles));
    }
  }
}

TEST_CASE("the table of docs/accuracy.md", "[.][accuracy-table]") {
  Jit jit(without_disk());
  std::printf("| function | arguments | float64 | float32 |\n|---|---|---|---|\n");
  for (const Row& row : kRows) {
    const Worst f64 = worst_of<double>(jit, row, 2000000), f32 = worst_of<float>(jit, row, 2000000);
    std::printf("| %s | %g … %g | %.2f | %.2f |\n", std::string(info(row.op).name).c_str(), row.low, row.high, f64.ulps, f32.ulps);
    CHECK(f64.ulps <= kMostOfDoubles);
    CHECK(f32.ulps <= kMostOfFloats);
  }
}
